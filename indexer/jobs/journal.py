"""What a job must remember beside the store: which files could not be read or stored, and that
nobody else is working.

Rows themselves say which files are done. A file that failed has no row, so its failure is kept
here: the next run reports it again without reading it again, until the file or the extractor
changes or a retry is asked for.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from indexer.errors import StoreBusy, StoreDamaged, StoreError, StoreStopped
from indexer.stores.address import MEMORY, StoreAddress
from indexer.system.durable_files import make_private, rename_durably
from indexer.system.failpoints import reached

FORMAT = 1  # of the journal, in its `user_version`; those before it had none
_SCHEMA = """
CREATE TABLE IF NOT EXISTS failure (
    id TEXT PRIMARY KEY, path TEXT NOT NULL, source TEXT NOT NULL, extractor TEXT NOT NULL, error TEXT NOT NULL, at REAL
) WITHOUT ROWID
"""
_WITHOUT_TIME = 5  # columns of a journal of version 0.1
_BATCH = 500
T = TypeVar("T")
TABLES = ("failure", "labelling", "labelled", "job")
_ANEW = "move it away: what failed is then tried again, and labellings can no longer be undone"


@dataclass(frozen=True, slots=True)
class Failure:
    """A file that could not be read, or was refused by the store.

    `source` tells the file's content, `extractor` what read it or tried, `at` when it was recorded:
    in seconds since 1970 UTC, None for failures recorded before times were kept. What has no
    content that could be told again, such as a folder that may not be read, is `unread`: its source
    is empty, and its id is made of path and error.
    """

    id: str
    path: str
    source: str
    extractor: str
    error: str
    at: float | None = None

    @classmethod
    def unread_at(cls, path: str, error: str) -> Failure:
        """The failure of something that was not even read."""
        return cls(
            f"unread:{hashlib.sha256(json.dumps([path, error]).encode()).hexdigest()[:32]}",
            path,
            "",
            "",
            error,
        )

    @property
    def unread(self) -> bool:
        """Whether nothing is known of it but its path."""
        return not self.source


def journal_path(address: StoreAddress) -> Path | None:
    """Where the journal of a store lies: beside the embedded store's file, else in the user's state
    folder.

    None for a store in memory: its journal dies with it.
    """
    if address.file is None:
        state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
        return state / "nearfold" / f"{hashlib.sha256(address.url.encode()).hexdigest()[:16]}.jobs"
    return None if address.file == MEMORY else Path(f"{address.file}.jobs")


def stored_failures(path: Path | None) -> tuple[Failure, ...] | None:
    """The failures in a journal by path, without holding it; none when there is no journal, None
    while a job holds it.
    """
    try:
        return read_journal(path, "failure", "SELECT * FROM failure ORDER BY path", Failure)
    except StoreBusy:
        return None


def read_journal(
    path: Path | None, table: str, select: str, made: Callable[..., T]
) -> tuple[T, ...]:
    """What is made of the rows that a SELECT finds in a journal, without holding it; nothing when
    there is no such table.

    Raises `StoreBusy` while a job holds the journal, and `StoreDamaged` when nothing can be made of
    a row.
    """
    if path is None or not path.exists():
        return ()
    try:
        with closing(_reading(path)) as connection:
            _check_format(connection, path)
            known = connection.execute(
                "SELECT 1 FROM sqlite_master WHERE name = ?", (table,)
            ).fetchone()
            return tuple(made(*row) for row in connection.execute(select)) if known else ()
    except sqlite3.DatabaseError as error:
        raise _translated(error, path) from error
    except (TypeError, ValueError) as error:
        raise StoreDamaged(
            path=str(path), reason=f"a row of its table {table} makes no sense", remedy=_ANEW
        ) from error


def copy_journal(path: Path, target: Path) -> None:
    """Copy a journal into a file, whole or not at all. Raises `StoreBusy` while a job holds it."""
    half = Path(f"{target}.half")
    half.unlink(missing_ok=True)
    try:
        with closing(_reading(path)) as source:
            source.execute("SELECT 1 FROM sqlite_master").fetchall()
            make_private(half, path)
            with closing(sqlite3.connect(half)) as copy:
                source.backup(copy)
        rename_durably(str(half), str(target))
    except sqlite3.DatabaseError as error:
        raise _translated(error, path) from error
    finally:
        half.unlink(missing_ok=True)


def check_journal(path: Path) -> None:
    """Raise `StoreDamaged` for a journal that is not whole, `StoreError` for one of a newer
    nearfold or of another program.
    """
    try:
        with closing(_reading(path)) as connection:
            _check_whole(connection, path)
            _check_format(connection, path)
            (told,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        raise _translated(error, path) from error
    if told != "ok":
        raise StoreDamaged(path=str(path), reason=str(told), remedy=_ANEW)


def _reading(path: Path) -> sqlite3.Connection:
    """May be written, for a change that a loss of power left half done is taken back by whoever
    reads next.
    """
    _check_place(path)
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=0.2)


class Journal:
    """The failures of one store, on disk. Holding it open keeps every other job on that store out.

    Raises `StoreBusy` when another job holds it. A job that was killed holds nothing: the lock dies
    with the process.
    """

    def __init__(self, path: Path | None) -> None:
        self._path, self._connection = path, _locked(path)

    def failures(self, ids: Sequence[str]) -> dict[str, Failure]:
        """The remembered failures among these ids."""
        found = {}
        with self._asking() as db:
            for start in range(0, len(ids), _BATCH):
                part = ids[start : start + _BATCH]
                marks = ",".join("?" * len(part))
                for row in db.execute(f"SELECT * FROM failure WHERE id IN ({marks})", part):
                    found[row[0]] = Failure(*row)
        return found

    def __iter__(self) -> Iterator[Failure]:
        with self._asking() as db:
            return iter(
                [Failure(*row) for row in db.execute("SELECT * FROM failure ORDER BY path")]
            )

    def __len__(self) -> int:
        with self._asking() as db:
            return int(db.execute("SELECT count(*) FROM failure").fetchone()[0])

    def record(self, failures: Iterable[Failure]) -> None:
        """Remember failures, durably, with the time; a later one of the same id replaces the
        earlier.
        """
        rows = [(f.id, f.path, f.source, f.extractor, f.error, time.time()) for f in failures]
        with self._changing() as db:
            db.executemany("INSERT OR REPLACE INTO failure VALUES (?, ?, ?, ?, ?, ?)", rows)

    def forget(self, ids: Iterable[str]) -> None:
        """Forget failures, as when a file could be read after all."""
        with self._changing() as db:
            db.executemany("DELETE FROM failure WHERE id = ?", [(id,) for id in ids])

    def keep(self, statement: str, values: Sequence[object]) -> None:
        """Change what is no part of a job's own state, such as its summary: durably, and past all
        failpoints.
        """
        with self._asking() as db, db:
            db.execute(statement, values)

    @contextmanager
    def _asking(self) -> Iterator[sqlite3.Connection]:
        """The connection; what SQLite raises comes as an error of ours."""
        try:
            yield self._connection
        except sqlite3.DatabaseError as error:
            raise _translated(error, self._path) from error

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """One durable transaction: everything or, after any exception, nothing."""
        with self._asking() as db:
            with db:
                yield db
                reached("before_journal", sqlite3.OperationalError)
            reached("after_journal", sqlite3.OperationalError)

    def replace(self, source: Path) -> None:
        """Put a copy of a journal in place of what is remembered here, in one step, and bring it to
        this format.
        """
        with self._asking() as db:
            with closing(_reading(source)) as kept:
                _check_format(kept, source)
                kept.backup(db)
            _prepare(db, None)

    def close(self) -> None:
        """Let the next job in."""
        self._connection.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _locked(path: Path | None) -> sqlite3.Connection:
    """Open the journal with an exclusive lock that lives as long as the connection."""
    try:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            _check_place(path)
        connection = sqlite3.connect(path or ":memory:", timeout=0.2, check_same_thread=False)
        try:
            _prepare(connection, path)
        except BaseException:
            connection.close()
            raise
    except sqlite3.DatabaseError as error:
        raise _translated(error, path) from error
    except OSError as error:
        raise StoreStopped(
            reason=f"{path} cannot be created ({error})", remedy="make its folder writable"
        ) from error
    return connection


def _prepare(connection: sqlite3.Connection, path: Path | None) -> None:
    """Lock the journal, and bring one of an earlier nearfold to this format."""
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("PRAGMA synchronous = FULL")
    with connection:
        connection.execute("BEGIN EXCLUSIVE")
        _check_whole(connection, path)
        _check_format(connection, path)
        connection.execute(_SCHEMA)
        if len(connection.execute("PRAGMA table_info(failure)").fetchall()) == _WITHOUT_TIME:
            connection.execute("ALTER TABLE failure ADD COLUMN at REAL")
        if connection.execute("PRAGMA user_version").fetchone()[0] < FORMAT:
            connection.execute(f"PRAGMA user_version = {FORMAT}")


def _check_place(path: Path) -> None:
    """SQLite waits for ever for what comes out of a FIFO."""
    if path.exists() and not path.is_file():
        raise StoreError(f"the journal {path} is no regular file; move it away")


def _check_format(connection: sqlite3.Connection, path: Path | None) -> None:
    """Refuse the file of another program, and the journal of a newer nearfold: what it remembers
    there could be lost.
    """
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    if found > FORMAT:
        raise StoreError(
            f"the journal {path} was written by a newer nearfold (format {found}, this one knows {FORMAT}); upgrade nearfold"
        )
    tables = {
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    }
    if strange := {name for name in tables if not name.startswith("sqlite_")} - set(TABLES):
        raise StoreError(
            f"{path} is the SQLite file of another program (it has a table {min(strange)}); move it away"
        )


def _check_whole(connection: sqlite3.Connection, path: Path | None) -> None:
    """SQLite reads what is missing of a torn page as zeros, and so would silently know of fewer
    failures.
    """
    width = connection.execute("PRAGMA page_size").fetchone()[0]
    if path is not None and path.stat().st_size % width:
        raise sqlite3.DatabaseError("its last page is torn")


def _translated(error: sqlite3.DatabaseError, path: Path | None) -> Exception:
    if "locked" in str(error):
        return StoreBusy(what=f"the journal {path}", holder="another nearfold job")
    if "Could not decode" in str(error):
        return StoreDamaged(path=str(path), reason="a text in it is not UTF-8", remedy=_ANEW)
    if isinstance(error, sqlite3.OperationalError):
        failing = "disk I/O error" in str(error)
        remedy = (
            "check the disk and its free space"
            if failing
            else "free some space, or make its folder writable"
        )
        return StoreStopped(reason=f"{path}: {error}", remedy=remedy)
    return StoreDamaged(path=str(path), reason=str(error), remedy=_ANEW)
