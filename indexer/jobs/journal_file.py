"""The SQLite file of a journal: opening, locking, its format, and what its errors mean."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from indexer.errors import StoreBusy, StoreDamaged, StoreError, StoreStopped

FORMAT = 1  # of the journal, in its `user_version`; those before it had none
TABLES = ("failure", "labelling", "labelled", "job")
MOVE_AWAY = "move it away: what failed is then tried again, and labellings can no longer be undone"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS failure (
    id TEXT PRIMARY KEY, path TEXT NOT NULL, source TEXT NOT NULL, extractor TEXT NOT NULL, \
error TEXT NOT NULL, at REAL
) WITHOUT ROWID
"""
_COLUMNS_WITHOUT_TIME = 5  # of a journal of version 0.1


def open_journal(path: Path | None) -> sqlite3.Connection:
    """Open and lock a journal, creating it if need be; without a path it is in memory.

    The lock lives as long as the connection.

    Raises `StoreBusy` while another job holds it, `StoreDamaged`, `StoreError`, and `StoreStopped`
    when it cannot be written.
    """
    try:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            _check_regular(path)
        connection = sqlite3.connect(path or ":memory:", timeout=0.2, check_same_thread=False)
        try:
            lock_and_upgrade(connection, path)
        except BaseException:
            connection.close()
            raise
    except sqlite3.DatabaseError as error:
        raise journal_error(error, path) from error
    except OSError as error:
        raise StoreStopped(
            reason=f"{path} cannot be created ({error})", remedy="make its folder writable"
        ) from error
    return connection


def connect_journal(path: Path) -> sqlite3.Connection:
    """Open an existing journal to read it, without holding its lock.

    The file may be written: a change that a loss of power left half done is rolled back by whoever
    reads next.
    """
    _check_regular(path)
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=0.2)


def lock_and_upgrade(connection: sqlite3.Connection, path: Path | None) -> None:
    """Lock the journal, check that it is whole, and upgrade one of an earlier nearfold."""
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("PRAGMA synchronous = FULL")
    with connection:
        connection.execute("BEGIN EXCLUSIVE")
        check_whole(connection, path)
        check_format(connection, path)
        connection.execute(_SCHEMA)
        columns = connection.execute("PRAGMA table_info(failure)").fetchall()
        if len(columns) == _COLUMNS_WITHOUT_TIME:
            connection.execute("ALTER TABLE failure ADD COLUMN at REAL")
        if _format_of(connection) < FORMAT:
            connection.execute(f"PRAGMA user_version = {FORMAT}")


def check_format(connection: sqlite3.Connection, path: Path | None) -> None:
    """Refuse the file of another program, and the journal of a newer nearfold.

    What a newer nearfold remembers there could be lost.
    """
    number = _format_of(connection)
    if number > FORMAT:
        raise StoreError(
            f"the journal {path} was written by a newer nearfold "
            f"(format {number}, this one knows {FORMAT}); upgrade nearfold"
        )
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    tables = {name for (name,) in rows if not name.startswith("sqlite_")}
    unknown = tables - set(TABLES)
    if unknown:
        raise StoreError(
            f"{path} is the SQLite file of another program "
            f"(it has a table {min(unknown)}); move it away"
        )


def check_whole(connection: sqlite3.Connection, path: Path | None) -> None:
    """Raise `sqlite3.DatabaseError` for a file that ends within a page.

    SQLite reads what is missing of a torn page as zeros, and so would silently know of fewer
    failures.
    """
    width = connection.execute("PRAGMA page_size").fetchone()[0]
    if path is not None and path.stat().st_size % width:
        raise sqlite3.DatabaseError("its last page is torn")


def journal_error(
    error: sqlite3.DatabaseError,
    path: Path | None,
    file: str = "the journal",
    remedy_of_damage: str = MOVE_AWAY,
) -> Exception:
    """Return nearfold's error for one of SQLite about a `file`, as messages call it."""
    if "locked" in str(error):
        return StoreBusy(what=f"{file} {path}", holder="another nearfold process")
    if "Could not decode" in str(error):
        reason = "a text in it is not UTF-8"
        return StoreDamaged(path=str(path), reason=reason, remedy=remedy_of_damage)
    if not isinstance(error, sqlite3.OperationalError):
        return StoreDamaged(path=str(path), reason=str(error), remedy=remedy_of_damage)
    if "disk I/O error" in str(error):
        remedy = "check the disk and its free space"
    else:
        remedy = "free disk space, or make its folder writable"
    return StoreStopped(reason=f"{path}: {error}", remedy=remedy)


def _format_of(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _check_regular(path: Path) -> None:
    """Raise `StoreError` for a folder or a FIFO, out of which SQLite would wait forever to read."""
    if path.exists() and not path.is_file():
        raise StoreError(f"the journal {path} is not a regular file; move it away")
