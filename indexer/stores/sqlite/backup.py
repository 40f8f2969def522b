"""Backup and restore of a SQLite file in use, by SQLite's own backup: one consistent snapshot."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from indexer.errors import MappingMismatch, StoreDamaged, UsageError
from indexer.system.files import make_private, rename_durably

APPLICATION_ID = 0x6E666F6C  # "nfol", in bytes 68 to 71 of the file
_PAGES = 4096  # copied at once; writers wait for no more than that


def copy_out(file: str, target: str, *, replace: bool) -> None:
    """Copy the database of a file into `target`, one file without a log.

    With `replace`, a store that lies there is replaced once this copy is whole. The copy has the
    permissions of the file. Raises `UsageError` for a target that exists, unless it may be replaced
    and is a store that nobody uses, `StoreDamaged` when the copy is corrupt, and errors of SQLite
    and of the operating system.
    """
    _check_target(Path(target), replace=replace)
    half = f"{target}.half"
    Path(half).unlink(missing_ok=True)
    try:
        make_private(Path(half), Path(file))
        with (
            closing(_open_to_read(file)) as source,
            closing(sqlite3.connect(half, isolation_level=None)) as copy,
        ):
            source.backup(copy, pages=_PAGES)
            copy.execute("PRAGMA journal_mode = DELETE").fetchone()
            check_sound(copy, file)
        rename_durably(half, target)
    finally:
        Path(half).unlink(missing_ok=True)


def copy_in(source: str, db: sqlite3.Connection) -> None:
    """Replace the database of a connection by that of a file: everything or, after any error,
    nothing.

    Raises `MappingMismatch` when the connection is to the database of another program.
    """
    if not _is_ours(db) and db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
        (_, _, path) = db.execute("PRAGMA database_list").fetchone()
        raise MappingMismatch(index=path, problems=("it is the SQLite file of another program",))
    with closing(_open_to_read(source)) as copy:
        copy.backup(db)


def check_copy(source: str) -> None:
    """Raise `StoreDamaged` for a file that is not a sound copy of a store."""
    with closing(_open_to_read(source)) as copy:
        if not _is_ours(copy):
            raise StoreDamaged(path=source, reason="it is not a copy of a store")
        check_sound(copy, source)


def _open_to_read(file: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{Path(file).absolute().as_uri()}?mode=ro", uri=True)


def _is_ours(db: sqlite3.Connection) -> bool:
    return bool(db.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID)


def _check_target(target: Path, *, replace: bool) -> None:
    """Raise `UsageError` unless the target is missing, empty, or a store that may be replaced.

    A log next to it belongs to a store in use, and would be applied to the copy.
    """
    if not target.exists() or (target.is_file() and not target.stat().st_size):
        return
    if not _is_store(target):
        raise UsageError(
            f"{target} exists, and is not a copy of a store; name another file, or remove it"
        )
    if not replace:
        raise UsageError(f"{target} is a store already; --replace replaces it by the copy")
    log = Path(f"{target}-wal")
    if log.exists() and log.stat().st_size:
        raise UsageError(f"{target} is in use; name another file, or end what uses it")


def _is_store(file: Path) -> bool:
    try:
        with closing(_open_to_read(str(file))) as db:
            return _is_ours(db)
    except sqlite3.DatabaseError:
        return False


def check_sound(db: sqlite3.Connection, path: str) -> None:
    """Raise `StoreDamaged` when SQLite's own check of pages, columns and types fails."""
    (result,) = db.execute("PRAGMA quick_check(1)").fetchone()
    if result != "ok":
        raise StoreDamaged(path=path, reason=str(result))
