"""The journal of a store: files that could not be read or stored, and the lock of the running job.

Rows themselves say which files are done. A file that failed has no row, so its failure is kept
here: the next run reports it again without reading it again, until the file or the extractor
changes or a retry is requested.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from indexer.errors import StoreBusy, StoreDamaged
from indexer.jobs.journal_file import (
    MOVE_AWAY,
    check_format,
    check_whole,
    connect_journal,
    journal_error,
    lock_and_upgrade,
    open_journal,
)
from indexer.stores.address import MEMORY, StoreAddress
from indexer.system.durable_files import make_private, rename_durably
from indexer.system.failpoints import reached
from indexer.system.state_folder import state_folder

_BATCH = 500  # ids in one statement
_ALL_FAILURES = "SELECT * FROM failure ORDER BY path"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Failure:
    """A file that could not be read, or was refused by the store.

    `source` is a digest of the file's content, `extractor` what read it or tried, `at` when it was
    recorded: in seconds since 1970 UTC, None for failures recorded before times were kept. What has
    no content that could be recognised again, such as a folder that may not be read, is `unread`:
    its source is empty, and its id is made of path and error.
    """

    id: str
    path: str
    source: str
    extractor: str
    error: str
    at: float | None = None

    @classmethod
    def unread_at(cls, path: str, error: str) -> Failure:
        """Return the failure of something that was not even read."""
        digest = hashlib.sha256(json.dumps([path, error]).encode()).hexdigest()
        return cls(f"unread:{digest[:32]}", path, source="", extractor="", error=error)

    @property
    def unread(self) -> bool:
        """Return whether nothing is known of it but its path."""
        return not self.source


def journal_path(address: StoreAddress) -> Path | None:
    """Return where the journal of a store lies.

    Beside the embedded store's file, else in the user's state folder. None for a store in memory:
    its journal dies with it.
    """
    if address.file is None:
        digest = hashlib.sha256(address.url.encode()).hexdigest()
        return state_folder() / f"{digest[:16]}.jobs"
    return None if address.file == MEMORY else Path(f"{address.file}.jobs")


def stored_failures(path: Path | None) -> tuple[Failure, ...] | None:
    """Return the failures in a journal by path, without holding it.

    Empty when there is no journal, None while a job holds it.
    """
    try:
        return read_journal(path, "failure", _ALL_FAILURES, Failure)
    except StoreBusy:
        return None


def read_journal(
    path: Path | None,
    table: str,
    select: str,
    parse: Callable[..., T],
    values: Sequence[object] = (),
) -> tuple[T, ...]:
    """Return the rows of a SELECT on a journal, each parsed from its columns, without holding it.

    Empty when there is no such table. Raises `StoreBusy` while a job holds the journal, and
    `StoreDamaged` when `parse` raises a `TypeError` or `ValueError`.
    """
    if path is None or not path.exists():
        return ()
    try:
        with closing(connect_journal(path)) as connection:
            check_format(connection, path)
            of_table = "SELECT 1 FROM sqlite_master WHERE name = ?"
            if connection.execute(of_table, (table,)).fetchone() is None:
                return ()
            return tuple(parse(*row) for row in connection.execute(select, values))
    except sqlite3.DatabaseError as error:
        raise journal_error(error, path) from error
    except (TypeError, ValueError) as error:
        raise StoreDamaged(
            path=str(path),
            reason=f"a row of its table {table} cannot be parsed",
            remedy=MOVE_AWAY,
        ) from error


def copy_journal(path: Path, target: Path) -> None:
    """Copy a journal into a file, whole or not at all. Raises `StoreBusy` while a job holds it."""
    half = Path(f"{target}.half")
    half.unlink(missing_ok=True)
    try:
        with closing(connect_journal(path)) as source:
            source.execute("SELECT 1 FROM sqlite_master").fetchall()
            make_private(half, path)
            with closing(sqlite3.connect(half)) as copy:
                source.backup(copy)
        rename_durably(str(half), str(target))
    except sqlite3.DatabaseError as error:
        raise journal_error(error, path) from error
    finally:
        half.unlink(missing_ok=True)


def check_journal(path: Path) -> None:
    """Raise `StoreDamaged` for a journal that is not whole.

    Raises `StoreError` for one of a newer nearfold or of another program.
    """
    try:
        with closing(connect_journal(path)) as connection:
            check_whole(connection, path)
            check_format(connection, path)
            (report,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        raise journal_error(error, path) from error
    if report != "ok":
        raise StoreDamaged(path=str(path), reason=str(report), remedy=MOVE_AWAY)


class Journal:
    """The failures of one store, on disk. Holding it open keeps every other job on that store out.

    Raises `StoreBusy` when another job holds it. A job that was killed holds nothing: the lock dies
    with the process.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._connection = open_journal(path)

    def failures(self, ids: Sequence[str]) -> dict[str, Failure]:
        """Return the remembered failures among these ids."""
        failures = {}
        with self._query() as db:
            for start in range(0, len(ids), _BATCH):
                batch = ids[start : start + _BATCH]
                marks = ",".join("?" * len(batch))
                for row in db.execute(f"SELECT * FROM failure WHERE id IN ({marks})", batch):
                    failures[row[0]] = Failure(*row)
        return failures

    def __iter__(self) -> Iterator[Failure]:
        with self._query() as db:
            return iter([Failure(*row) for row in db.execute(_ALL_FAILURES)])

    def __len__(self) -> int:
        with self._query() as db:
            return int(db.execute("SELECT count(*) FROM failure").fetchone()[0])

    def record(self, failures: Iterable[Failure]) -> None:
        """Remember failures, durably, with the time.

        A later one of the same id replaces the earlier.
        """
        rows = [(f.id, f.path, f.source, f.extractor, f.error, time.time()) for f in failures]
        with self._transaction() as db:
            db.executemany("INSERT OR REPLACE INTO failure VALUES (?, ?, ?, ?, ?, ?)", rows)

    def forget(self, ids: Iterable[str]) -> None:
        """Forget failures, as when a file could be read after all."""
        with self._transaction() as db:
            db.executemany("DELETE FROM failure WHERE id = ?", [(id,) for id in ids])

    def execute(self, statement: str, values: Sequence[object]) -> None:
        """Change what is not part of a job's own state, such as its summary.

        The change is durable, and passes no failpoint.
        """
        with self._query() as db, db:
            db.execute(statement, values)

    @contextmanager
    def _query(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection; raise errors of SQLite as nearfold's."""
        try:
            yield self._connection
        except sqlite3.DatabaseError as error:
            raise journal_error(error, self._path) from error

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection in one durable transaction.

        Everything is written or, after any exception, nothing.
        """
        with self._query() as db:
            with db:
                yield db
                reached("before_journal", sqlite3.OperationalError)
            reached("after_journal", sqlite3.OperationalError)

    def replace(self, source: Path) -> None:
        """Replace the journal by a copy of another one, in one step, brought to this format."""
        with self._query() as db:
            with closing(connect_journal(source)) as backup:
                check_format(backup, source)
                backup.backup(db)
            lock_and_upgrade(db, None)

    def close(self) -> None:
        """Release the lock."""
        self._connection.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
