"""Counts of a SQLite file: its rows are read once, families by their index."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any, TypeAlias

from indexer.model import Scope
from indexer.stores.base import Counts
from indexer.stores.sqlite import parts_sql as parts
from indexer.stores.sqlite.connections import Connection
from indexer.stores.sqlite.file_format import pragma_number

Reading: TypeAlias = AbstractContextManager[Connection]


class KnownCounts:
    """The counts of a file by scope, for all its connections, until the file changes.

    A connection of its own watches the file: its `data_version` changes with each commit of
    another one. So no count waits for a connection in use, and none repeats what another read.
    """

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._watcher: Connection | None = None
        self._lock = threading.Lock()
        self._counting = threading.Lock()
        self._known: tuple[int, dict[Scope, Counts]] = (-1, {})

    def get(self, scope: Scope, reading: Callable[[], Reading]) -> Counts:
        """Return the counts of a scope; `reading` lends the connection that counts.

        Threads that ask meanwhile wait for the same count.
        """
        with self._counting:
            state, size = self._watch()
            if self._known[0] != state:
                self._known = state, {}
            totals = self._known[1]
            if scope in totals:
                return _copied(totals[scope], size)
            with reading() as db:
                counts = count_rows(db, scope)
            if self._watch()[0] == state:
                totals[scope] = counts
            return _copied(counts, size)

    @contextmanager
    def kept_through(self, db: Connection) -> Iterator[None]:
        """Keep the counts through a transaction of `db` that changes none of them.

        They are given up if another connection commits meanwhile.
        """
        known, version = self._known, pragma_number(db, "data_version")
        is_current = self._watcher is not None and self._watch()[0] == known[0]
        yield
        if is_current:
            state, _ = self._watch()
            if pragma_number(db, "data_version") == version and self._known is known:
                self._known = state, known[1]

    def close(self) -> None:
        """Close the connection that watches; the next count opens another."""
        with self._lock:
            if self._watcher is not None:
                self._watcher.close()
            self._watcher, self._known = None, (-1, {})

    def _watch(self) -> tuple[int, int]:
        """Return the state of the file, and its size in bytes."""
        with self._lock:
            if self._watcher is None:
                self._watcher = self._connect()
                self._known = -1, {}
            return pragma_number(self._watcher, "data_version"), _size(self._watcher)


def count_rows(db: Connection, scope: Scope) -> Counts:
    """Count the rows of a scope; the bytes are those of the whole file."""
    within = parts.within(db, scope) or "1"
    kinds = (
        "SELECT status, content_type, recipe, count(*), sum(family = '') "
        f"FROM documents d WHERE {within} GROUP BY 1, 2, 3"
    )
    rows = db.execute(kinds).fetchall()
    by_status, by_type, by_recipe = _sum_by_name(row[:4] for row in rows)
    # a family counts where its principal is not: that one is of its own family, by an empty name
    others = (
        "SELECT count(*) FROM (SELECT DISTINCT family AS name FROM documents d "
        f"WHERE family <> '' AND {within}) WHERE NOT EXISTS "
        f"(SELECT 1 FROM documents d WHERE d.id = name AND d.family = '' AND {within})"
    )
    return Counts(
        documents=sum(row[3] for row in rows),
        by_status=by_status,
        by_content_type=by_type,
        by_recipe=by_recipe,
        families=sum(row[4] for row in rows) + db.execute(others).fetchone()[0],
        parts=parts.count(db, "parts"),
        size_bytes=_size(db),
    )


def _copied(counts: Counts, size: int) -> Counts:
    """Return the same counts with a size, in dictionaries of their own."""
    return replace(
        counts,
        by_status=dict(counts.by_status),
        by_content_type=dict(counts.by_content_type),
        by_recipe=dict(counts.by_recipe),
        size_bytes=size,
    )


def _size(db: Connection) -> int:
    return pragma_number(db, "page_count") * pragma_number(db, "page_size")


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
