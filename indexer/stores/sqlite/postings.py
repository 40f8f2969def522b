"""Rows that carry a key, read for all keys by one statement with one row.

Python's sqlite3 releases the interpreter's lock at every row, and a thread that computes keeps it
for five milliseconds, so a look-up that steps from key to key would wait once a key.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

_CARRIERS = (
    "SELECT group_concat(coalesce(numbers, ''), ';') FROM ("
    "SELECT (SELECT group_concat(rowid, ' ') FROM "
    "(SELECT rowid FROM postings WHERE postings MATCH j.value LIMIT ?)) AS numbers "
    "FROM json_each(?) j ORDER BY j.key LIMIT -1)"
)


def either(spellings: Sequence[str]) -> str:
    """Return the FTS5 expression that matches a key in any of its spellings."""
    return " OR ".join(f'"{spelling}"' for spelling in spellings)


def carriers(db: sqlite3.Connection, matching: Sequence[str], most: int) -> list[list[int]]:
    """Return the numbers of the rows that carry each key, only the oldest `most` of them.

    `matching`: the expressions of the keys, by `either`.
    """
    if not matching:
        return []
    joined: str = db.execute(_CARRIERS, (most, json.dumps(matching))).fetchone()[0]
    return [list(map(int, numbers.split())) for numbers in joined.split(";")]
