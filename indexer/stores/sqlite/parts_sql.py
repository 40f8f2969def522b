"""What SQLite keeps apart: documents and their parts are rows of one table, whose keys are posted
under different spellings.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence

from indexer.model import Row, Scope

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
    """How many rows there are of a scope. Parts are counted by their index, documents as what is
    left.
    """
    if scope == "documents":
        return count(db, "both") - count(db, "parts")
    table = "documents d INDEXED BY documents_by_parent" if scope == "parts" else "documents d"
    return int(db.execute(f"SELECT count(*) FROM {table} WHERE {WITHIN[scope]}").fetchone()[0])


def within(db: sqlite3.Connection, scope: Scope) -> str | None:
    """The condition that rows `d` of a scope keep; None where every row does, which need not be
    read to see it.
    """
    divided = db.execute("SELECT 1 FROM documents WHERE parent IS NOT NULL LIMIT 1").fetchone()
    return None if scope == "both" or (scope == "documents" and not divided) else WITHIN[scope]


def parts_of(db: sqlite3.Connection, parents: Sequence[str]) -> Iterator[str]:
    """The ids of the parts of these documents."""
    for start in range(0, len(parents), _CHUNK):
        chunk = parents[start : start + _CHUNK]
        found = db.execute(
            f"SELECT id FROM documents WHERE parent IN ({', '.join('?' * len(chunk))})", chunk
        )
        yield from (id for (id,) in found)


def replaced(db: sqlite3.Connection, rows: Iterable[Row]) -> tuple[dict[str, Row], list[str]]:
    """Documents and their parts by id, to be written; and the parts that these documents have no
    more.
    """
    written = {one.id: one for row in rows for one in (row, *(row.parts or ()))}
    divided = [row.id for row in written.values() if row.parts is not None]
    return written, [id for id in parts_of(db, divided) if id not in written]


def kind(db: sqlite3.Connection) -> str | None:
    """How documents are divided."""
    found = db.execute("SELECT value FROM store WHERE name = 'parts'").fetchone()
    return found[0] if found else None


def keep(db: sqlite3.Connection, divided: str) -> None:
    """Record how documents are divided."""
    db.execute("INSERT OR REPLACE INTO store VALUES ('parts', ?)", (divided,))
