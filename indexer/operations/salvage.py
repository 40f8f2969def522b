"""Rebuild a damaged journal from every entry that can still be read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from indexer.jobs.journal_file import TABLES
from indexer.system.durable_files import make_private, move_aside, rename_durably

_PAGE = 4096  # bytes
_MOST_PADDING = 1 << 30  # bytes


def salvage(path: Path) -> tuple[int, str]:
    """Replace a damaged journal by a new one with every entry that can be read.

    Returns the number of entries and the path of the damaged file.
    """
    half = Path(f"{path}.half")
    torn = Path(f"{path}.torn")
    for temporary in (half, torn):
        temporary.unlink(missing_ok=True)
        make_private(temporary, path)
    torn.write_bytes(_padded(path.read_bytes()))
    with closing(sqlite3.connect(half)) as new, closing(sqlite3.connect(torn)) as old, new:
        entries = _copy_entries(old, new)
    damaged_file = move_aside(str(path))
    rename_durably(str(half), str(path))
    for suffix in ("", "-journal"):
        Path(f"{torn}{suffix}").unlink(missing_ok=True)
    return entries, damaged_file


def _padded(data: bytes) -> bytes:
    """Return a database file with zeros for the pages that its header counts and it lacks; they are
    read as no rows.
    """
    size = int.from_bytes(data[28:32], "big") * _PAGE
    return data + bytes(max(-len(data) % _PAGE, min(size - len(data), _MOST_PADDING)))


def _copy_entries(old: sqlite3.Connection, new: sqlite3.Connection) -> int:
    entries = 0
    for table, definition in _tables(old):
        new.execute(definition)
        for row in _readable_rows(old, table):
            marks = ", ".join("?" * len(row))
            insert = f"INSERT OR IGNORE INTO {table} VALUES ({marks})"
            entries += new.execute(insert, row).rowcount
    return entries


def _tables(db: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return name and definition of each journal table that can still be read."""
    try:
        tables = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
    except sqlite3.DatabaseError:
        return []
    return [(name, definition) for name, definition in tables if name in TABLES]


def _readable_rows(db: sqlite3.Connection, table: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows before the first damage, and those after the last one."""
    for order in ("", " ORDER BY 1 DESC"):
        try:
            yield from db.execute(f"SELECT * FROM {table}{order}")
        except sqlite3.DatabaseError:
            continue
        return
