"""Rows that carry a key, read for all keys by one statement with one row.

Python's sqlite3 releases the interpreter's lock at every row, and a thread that computes keeps it
for five milliseconds, so a look-up that steps from key to key would wait once a key.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_CARRIERS = (
    "SELECT group_concat(coalesce(numbers, ''), ';') FROM ("
    "SELECT (SELECT group_concat(rowid, ' ') FROM "
    "(SELECT rowid FROM {0} WHERE {0} MATCH j.value LIMIT ?)) AS numbers "
    "FROM json_each(?) j ORDER BY j.key LIMIT -1)"
)


def either(spellings: Sequence[str]) -> str:
    """Return the FTS5 expression that matches a key in any of its spellings."""
    return " OR ".join(f'"{spelling}"' for spelling in spellings)


def carriers(
    db: sqlite3.Connection, matching: Sequence[str], most: int, table: str = "postings"
) -> list[NDArray[np.int64]]:
    """Return the numbers of the rows that carry each key, only the oldest `most` of them.

    `matching`: the expressions of the keys, by `either`, or those of words in the table `fulltext`.
    A negative `most` stands for any number.
    """
    if not matching:
        return []
    joined: str = db.execute(_CARRIERS.format(table), (most, json.dumps(matching))).fetchone()[0]
    return [parse_numbers(numbers) for numbers in joined.split(";")]


def parse_numbers(joined: str) -> NDArray[np.int64]:
    """Return numbers that SQLite joined by blanks; none of an empty string."""
    return np.fromstring(joined, dtype=np.int64, sep=" ") if joined else np.zeros(0, dtype=np.int64)
