"""Counts of a SQLite file: its rows are read once, families by their index where possible."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from indexer.model import Scope
from indexer.stores.base import Counts
from indexer.stores.sqlite import parts_sql as parts


def count_rows(db: sqlite3.Connection, scope: Scope) -> Counts:
    """Return the counts of a scope; the bytes are those of the whole file.

    Rows are counted once as long as they do not change.
    """
    totals = parts.kept_reads(db).totals
    if scope not in totals:
        totals[scope] = _count_rows(db, scope)
    counts = totals[scope]
    (page_count,) = db.execute("PRAGMA page_count").fetchone()
    (page_size,) = db.execute("PRAGMA page_size").fetchone()
    return replace(
        counts,
        by_status=dict(counts.by_status),
        by_content_type=dict(counts.by_content_type),
        by_recipe=dict(counts.by_recipe),
        size_bytes=int(page_count) * int(page_size),
    )


def _count_rows(db: sqlite3.Connection, scope: Scope) -> Counts:
    within = parts.within(db, scope) or "1"
    kinds = (
        "SELECT status, content_type, recipe, count(*) "
        f"FROM documents d WHERE {within} GROUP BY 1, 2, 3"
    )
    by_status, by_type, by_recipe = _sum_by_name(db.execute(kinds).fetchall())
    families = f"SELECT count(*) FROM (SELECT DISTINCT in_family FROM documents d WHERE {within})"
    return Counts(
        documents=parts.count(db, scope),
        by_status=by_status,
        by_content_type=by_type,
        by_recipe=by_recipe,
        families=db.execute(families).fetchone()[0],
        parts=parts.count(db, "parts"),
    )


def _sum_by_name(
    rows: Iterable[tuple[str, str, str, int]],
) -> tuple[dict[Any, int], dict[str, int], dict[str, int]]:
    """Return the number of rows of each status, content type and recipe, the most frequent first,
    ties by name.
    """
    sums: tuple[Counter[str], ...] = Counter(), Counter(), Counter()
    for *names, count in rows:
        for total, name in zip(sums, names, strict=True):
            total[name] += count
    by_status, by_type, by_recipe = (
        dict(sorted(total.items(), key=lambda item: (-item[1], item[0]))) for total in sums
    )
    return by_status, by_type, by_recipe
