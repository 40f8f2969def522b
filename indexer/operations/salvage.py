"""A damaged journal made into a new one with every entry that can still be read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from indexer.jobs.journal import TABLES
from indexer.system.durable_files import make_private, move_aside, rename_durably

_PAGE, _MOST = 4096, 1 << 30


def salvage(path: Path) -> tuple[int, str]:
    """Put a new journal in place of a damaged one, with every entry that can be read: how many, and
    where the old one is.
    """
    half, kept = Path(f"{path}.half"), 0
    for temporary in (half, Path(f"{path}.torn")):
        temporary.unlink(missing_ok=True)
        make_private(temporary, path)
    torn = path.read_bytes()
    pages = (
        int.from_bytes(torn[28:32], "big") * _PAGE
    )  # as the header counts them; what is missing reads as no row
    Path(f"{path}.torn").write_bytes(
        torn + bytes(max(-len(torn) % _PAGE, min(pages - len(torn), _MOST)))
    )
    with (
        closing(sqlite3.connect(half)) as new,
        closing(sqlite3.connect(f"{path}.torn")) as old,
        new,
    ):
        for table, made in _tables(old):
            new.execute(made)
            for row in _legible(old, table):
                marks = ", ".join("?" * len(row))
                kept += new.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", row).rowcount
    aside = move_aside(str(path))
    rename_durably(str(half), str(path))
    for suffix in ("", "-journal"):
        Path(f"{path}.torn{suffix}").unlink(missing_ok=True)
    return kept, aside


def _tables(db: sqlite3.Connection) -> list[tuple[str, str]]:
    """Name and definition of each table of ours that a damaged journal still tells."""
    try:
        found = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
    except sqlite3.DatabaseError:
        return []
    return [(name, made) for name, made in found if name in TABLES]


def _legible(db: sqlite3.Connection, table: str) -> Iterator[tuple[Any, ...]]:
    """The rows before the first damage, and those behind the last one."""
    for order in ("", " ORDER BY 1 DESC"):
        try:
            yield from db.execute(f"SELECT * FROM {table}{order}")
        except sqlite3.DatabaseError:
            continue
        return
