"""Which rows carry a key, asked of all keys at once.

The answer is one row: Python's sqlite3 gives the interpreter's lock away at every row, and a thread
that computes keeps it for five milliseconds, so a look-up that steps from key to key would wait as
often.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

_CARRIERS = (
    "SELECT group_concat(coalesce(numbers, ''), ';') FROM (SELECT (SELECT group_concat(rowid, ' ') FROM "
    "(SELECT rowid FROM postings WHERE postings MATCH j.value LIMIT ?)) AS numbers FROM json_each(?) j ORDER BY j.key LIMIT -1)"
)


def either(spellings: Sequence[str]) -> str:
    """What matches a key in any of its spellings."""
    return " OR ".join(f'"{one}"' for one in spellings)


def carriers(db: sqlite3.Connection, matching: Sequence[str], most: int) -> list[list[int]]:
    """The rows that carry each key, of those with more than `most` the oldest; keys are given as
    `either` spells them.
    """
    if not matching:
        return []
    found: str = db.execute(_CARRIERS, (most, json.dumps(matching))).fetchone()[0]
    return [list(map(int, numbers.split())) for numbers in found.split(";")]
