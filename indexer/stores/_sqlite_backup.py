"""A SQLite file copied while it is in use, and put back, by SQLite's own backup: one consistent moment, whatever is written."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from indexer.errors import StoreDamaged

_PAGES = 4096  # copied at once; writers wait for no more than that


def copy_out(file: str, target: str) -> None:
    """Copy the database of a file into `target`, one file without a log; an earlier one is replaced when this is whole.

    Raises `StoreDamaged` when the copy is not sound, and SQLite's and the operating system's errors.
    """
    half = f"{target}.half"
    Path(half).unlink(missing_ok=True)
    try:
        with closing(_reading(file)) as source, closing(sqlite3.connect(half, isolation_level=None)) as copy:
            source.backup(copy, pages=_PAGES)
            copy.execute("PRAGMA journal_mode = DELETE").fetchone()
            _check_sound(copy, file)
        rename_durably(half, target)
    finally:
        Path(half).unlink(missing_ok=True)


def copy_in(source: str, db: sqlite3.Connection) -> None:
    """Put the database of a file in place of what a connection has: everything, or, after any error, nothing."""
    with closing(_reading(source)) as kept:
        _check_sound(kept, source)
        kept.backup(db)


def rename_durably(half: str, target: str) -> None:
    """Give a finished file its name, in place of an earlier one: after a loss of power there is the one or the other, whole."""
    with Path(half).open("rb+") as written:
        os.fsync(written.fileno())
    os.replace(half, target)  # noqa: PTH105 - as everywhere beside SQLite, paths are text
    if os.name == "posix":  # elsewhere a folder cannot be synced
        folder = os.open(Path(target).absolute().parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _reading(file: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{Path(file).absolute().as_uri()}?mode=ro", uri=True)


def _check_sound(db: sqlite3.Connection, path: str) -> None:
    (told,) = db.execute("PRAGMA quick_check(1)").fetchone()
    if told != "ok":
        raise StoreDamaged(path=path, reason=str(told))
