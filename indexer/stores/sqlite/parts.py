"""Documents and their parts in SQLite: rows of one table, whose keys are posted with different
prefixes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence

from indexer.model import Row, Scope
from indexer.stores.sqlite.connections import Connection
from indexer.stores.sqlite.read_cache import ReadCache

WITHIN: Mapping[Scope, str] = {
    "documents": "d.parent IS NULL",
    "parts": "d.parent IS NOT NULL",
    "both": "1",
}
PART = "p"  # before the keys of parts
PREFIXES: Mapping[Scope, tuple[str, ...]] = {
    "documents": ("",),
    "parts": (PART,),
    "both": ("", PART),
}
_CHUNK = 500


def count(db: sqlite3.Connection, scope: Scope) -> int:
    """Count the rows of a scope: parts by their index, documents as the rest."""
    if scope == "documents":
        return count(db, "both") - count(db, "parts")
    table = "documents d INDEXED BY documents_by_parent" if scope == "parts" else "documents d"
    return int(db.execute(f"SELECT count(*) FROM {table} WHERE {WITHIN[scope]}").fetchone()[0])


def read_cache(db: sqlite3.Connection) -> ReadCache:
    """Return the cache of a connection; an empty one where it has none."""
    return db.read_cache() if isinstance(db, Connection) else ReadCache()


def known_count(db: sqlite3.Connection, scope: Scope) -> int:
    """Return `count`, remembered as long as the file does not change: it reads a whole index."""
    known = read_cache(db).counts
    if scope not in known:
        known[scope] = count(db, scope)
    return known[scope]


def within(db: sqlite3.Connection, scope: Scope) -> str | None:
    """Return the condition that holds for rows `d` of a scope; None where it holds for every row,
    so that rows need not be read for it.
    """
    divided = db.execute("SELECT 1 FROM documents WHERE parent IS NOT NULL LIMIT 1").fetchone()
    return None if scope == "both" or (scope == "documents" and not divided) else WITHIN[scope]


def parts_of(db: sqlite3.Connection, parents: Sequence[str]) -> Iterator[str]:
    """Yield the ids of the parts of these documents."""
    for start in range(0, len(parents), _CHUNK):
        chunk = parents[start : start + _CHUNK]
        marks = ", ".join("?" * len(chunk))
        rows = db.execute(f"SELECT id FROM documents WHERE parent IN ({marks})", chunk)
        yield from (id for (id,) in rows)


def with_parts(db: sqlite3.Connection, rows: Iterable[Row]) -> tuple[dict[str, Row], list[str]]:
    """Return documents and their parts by id, to be written, and the ids of parts that these
    documents no longer have.
    """
    rows_with_parts = {}
    for row in rows:
        for entry in (row, *(row.parts or ())):
            rows_with_parts[entry.id] = entry
    divided = [row.id for row in rows_with_parts.values() if row.parts is not None]
    return rows_with_parts, [id for id in parts_of(db, divided) if id not in rows_with_parts]


def kind(db: sqlite3.Connection) -> str | None:
    """Return how documents are divided; None when they are not."""
    row = db.execute("SELECT value FROM store WHERE name = 'parts'").fetchone()
    return row[0] if row else None


def record_kind(db: sqlite3.Connection, kind: str) -> None:
    """Record how documents are divided."""
    db.execute("INSERT OR REPLACE INTO store VALUES ('parts', ?)", (kind,))
