"""The rows that filters leave, kept for the searches of other words under the same filters."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from indexer.stores.sqlite import parts_sql as parts
from indexer.stores.sqlite.ranking import known_rows, read_numbers

HOLDS = "nearfold_holds"  # a function of Python, called for each row
MOST_FILTERS = 8  # whose rows are kept, 4 bytes each
_FEW = 8  # one in so many rows, of which each is looked up


def rows_under(
    db: sqlite3.Connection, conditions: Sequence[str], values: Sequence[str | float], matches: int
) -> NDArray[np.int32] | None:
    """Return the numbers of all rows for which conditions on documents `d` hold.

    None where it takes less time to look up each of the `matches` of a search.
    """
    cache = parts.read_cache(db).filtered
    where = " AND ".join(conditions)
    key = where, tuple(values)
    if key in cache:
        cache.move_to_end(key)
        return cache[key]
    if HOLDS in where or matches * _FEW < known_rows(db):
        return None
    sql = f"SELECT d.number AS number FROM documents d WHERE {where}"
    cache[key] = read_numbers(db, sql, values).astype(np.int32)
    if len(cache) > MOST_FILTERS:
        cache.popitem(last=False)
    return cache[key]
