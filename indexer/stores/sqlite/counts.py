"""What is in a SQLite file, in figures: its rows are read once, families by their index where that
tells.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable
from typing import Any

from indexer.model import Scope
from indexer.stores.base import Counts
from indexer.stores.sqlite import parts_sql as parts


def count_rows(db: sqlite3.Connection, scope: Scope) -> Counts:
    """The counts of a scope; the bytes are those of the whole file."""
    within = parts.within(db, scope) or "1"
    kinds = f"SELECT status, content_type, count(*) FROM documents d WHERE {within} GROUP BY 1, 2"
    by_status, by_type = _summed(db.execute(kinds).fetchall())
    families = f"SELECT count(*) FROM (SELECT DISTINCT family FROM documents d WHERE {within})"
    pages, width = (
        int(db.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("page_count", "page_size")
    )
    rows, divided = parts.count(db, scope), parts.count(db, "parts")
    return Counts(
        rows, by_status, by_type, db.execute(families).fetchone()[0], pages * width, divided
    )


def _summed(found: Iterable[tuple[str, str, int]]) -> tuple[dict[Any, int], dict[str, int]]:
    """How often each status and each content type was counted, the most frequent first, ties by
    name.
    """
    sums: tuple[Counter[str], Counter[str]] = Counter(), Counter()
    for *names, count in found:
        for total, name in zip(sums, names, strict=True):
            total[name] += count
    by_status, by_type = (
        dict(sorted(total.items(), key=lambda one: (-one[1], one[0]))) for total in sums
    )
    return by_status, by_type
