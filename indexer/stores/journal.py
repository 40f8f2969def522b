"""The journal of a store: failures to retry, the lock of the running job, the history of jobs.

Rows themselves say which files are done. A file that failed has no row, so its failure is kept
here: the next run reports it again without reading it again, until the file or the extractor
changes or a retry is requested.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from indexer.errors import StoreBusy, StoreDamaged, StoreError, StoreStopped
from indexer.model import Scope
from indexer.stores.address import MEMORY, StoreAddress
from indexer.system.failpoints import reached
from indexer.system.files import make_private, rename_durably, state_folder
from indexer.system.logs import event, job_context, span

# The SQLite file of a journal: opening, locking, its format, and what its errors mean.

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


# A SQLite file next to a journal, opened when it is first needed.


class LazyFile:
    """A SQLite file that is opened by its first transaction; thread-safe.

    `open_file` opens it; `error_of` returns nearfold's error for one of SQLite, which is raised.
    """

    def __init__(
        self,
        open_file: Callable[[], sqlite3.Connection],
        error_of: Callable[[sqlite3.DatabaseError], Exception],
    ) -> None:
        self._open_file, self._error_of = open_file, error_of
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    @property
    def is_open(self) -> bool:
        """True after the first transaction."""
        return self._connection is not None

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Yield the file in one durable transaction; others wait for its end."""
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = self._open_file()
                with self._connection as db:
                    yield db
            except sqlite3.DatabaseError as error:
                raise self._error_of(error) from error

    def close(self) -> None:
        """Close the file, as the end of the process does."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()


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

    Next to the embedded store's file, else in the user's state folder. None for a store in memory:
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
        recorded = self.failures(list(ids))
        with self._transaction() as db:
            db.executemany("DELETE FROM failure WHERE id = ?", [(id,) for id in recorded])

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


# The history of a store's jobs: the last 200, and the last `group`.

KEPT = 200  # jobs
_SETTINGS = "settings"  # their key among the counts
INTERRUPTED = "cut short"
_TABLE = (
    "CREATE TABLE IF NOT EXISTS job (number INTEGER PRIMARY KEY AUTOINCREMENT, "
    "id TEXT NOT NULL, command TEXT NOT NULL, "
    "began REAL NOT NULL, seconds REAL, outcome TEXT, counts TEXT NOT NULL)"
)
_BEGUN = "INSERT INTO job (id, command, began, counts) VALUES (?, ?, ?, '{}')"
_FINISHED = (
    "INSERT OR REPLACE INTO job (number, id, command, began, seconds, outcome, counts) "
    "VALUES ((SELECT number FROM job WHERE id = ?), ?, ?, ?, ?, ?, ?)"
)
_GROUPED = "command = 'group' AND outcome = 'done'"
# The last `group` of documents and of parts stay: families are kept to their options.
_FORGET = (
    "DELETE FROM job WHERE number <= (SELECT max(number) FROM job) - ? AND number NOT IN "
    f"(SELECT max(number) FROM job WHERE {_GROUPED} "
    f"GROUP BY json_extract(counts, '$.{_SETTINGS}.of'))"
)
_COLUMNS = "SELECT id, command, began, seconds, outcome, counts FROM job"
_SELECT = f"{_COLUMNS} ORDER BY number DESC"
_SELECT_GROUPED = f"{_COLUMNS} WHERE {_GROUPED} ORDER BY number DESC"


@dataclass(frozen=True, slots=True)
class JobSummary:
    """One job: its command, when it ran, how it ended, and what it counted.

    `began` is in seconds since 1970 UTC. `seconds`: how long it took. `outcome` is `done`,
    `stopped` (it was interrupted), `failed: KIND` with the class of the error, or `cut short`,
    without `seconds`, for a job whose process ended in the middle. `settings`: the options that
    decided its result, by their names on the command line, where the command records them.
    """

    id: str
    command: str
    began: float
    seconds: float | None
    outcome: str
    counts: dict[str, int]
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class JobRecorder:
    """The record of a running job, which adds to `counts` and may set `settings`.

    It sets `stopped` when it ends before its work is done.
    """

    id: str
    counts: dict[str, int] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    stopped: bool = False


@contextlib.contextmanager
def record_job(journal: Journal, command: str) -> Iterator[JobRecorder]:
    """Record the job that runs inside: a row of the history, two events of the log, one span.

    Errors pass through. A row that cannot be written stops no job.
    """
    job = JobRecorder(secrets.token_hex(6))
    started = time.monotonic()
    with job_context(job.id), span(command, job=job.id):
        event("job_began", command=command)
        _change(journal, _TABLE, ())
        start_time = time.time()
        _change(journal, _BEGUN, (job.id, command, start_time))
        outcome = "done"
        try:
            yield job
            outcome = "stopped" if job.stopped else outcome
        except (KeyboardInterrupt, SystemExit, GeneratorExit):
            outcome = "stopped"
            raise
        except BaseException as error:
            outcome = f"failed: {type(error).__name__}"
            raise
        finally:
            seconds = round(time.monotonic() - started, 3)
            summary = JobSummary(
                job.id, command, start_time, seconds, outcome, job.counts, job.settings
            )
            _finish(journal, summary)


def job_history(path: Path | None) -> tuple[JobSummary, ...]:
    """Return the jobs in a journal, the last one first, without holding it.

    Raises `StoreBusy` while a job holds it.
    """
    return read_journal(path, "job", _SELECT, _summary)


def group_settings(address: StoreAddress, of: Scope = "documents") -> dict[str, Any]:
    """Return the settings of the last complete `group` of documents, or of parts, of a store.

    Empty when none is known here. Raises `StoreBusy` while a job holds the journal.
    """
    for job in read_journal(journal_path(address), "job", _SELECT_GROUPED, _summary):
        if job.settings.get("of") == of:
            return job.settings
    return {}


def known_group_settings(address: StoreAddress, of: Scope = "documents") -> dict[str, Any]:
    """Return the settings as `group_settings` does; empty while a job holds the journal."""
    try:
        return group_settings(address, of)
    except StoreBusy:
        return {}


def last_job(path: Path | None) -> str | None:
    """Return the id of the last job in a journal, empty if there is none; None while one runs."""
    jobs = last_jobs(path, 1)
    return jobs if jobs is None else "".join(jobs)


def last_jobs(path: Path | None, limit: int) -> tuple[str, ...] | None:
    """Return the ids of the last jobs in a journal, the last one first; None while one runs."""
    try:
        return tuple(job.id for job in job_history(path)[:limit])
    except StoreBusy:
        return None


def format_settings(settings: Mapping[str, Any]) -> str:
    """Return settings as options of a command, without the version of the rules.

    >>> format_settings({"threshold": 0.8, "rules": 1, "require": ["lcs=0.9", "overlap=0.9"]})
    '--threshold 0.8 --require lcs=0.9 --require overlap=0.9'
    """
    options = []
    for name, value in settings.items():
        if name == "rules":
            continue
        values = value if isinstance(value, list) else [value]
        options += [f"--{name.replace('_', '-')} {item}" for item in values]
    return " ".join(options)


def _summary(
    id: str,
    command: str,
    start_time: float,
    seconds: float | None,
    outcome: str | None,
    counts: str,
) -> JobSummary:
    numbers = json.loads(counts)
    settings = numbers.pop(_SETTINGS, {})
    return JobSummary(id, command, start_time, seconds, outcome or INTERRUPTED, numbers, settings)


def _finish(journal: Journal, summary: JobSummary) -> None:
    # A restored journal may have no table of jobs, and has no row of its own restoring.
    _change(journal, _TABLE, ())
    settings = {_SETTINGS: summary.settings} if summary.settings else {}
    counts = json.dumps({**summary.counts, **settings})
    row = (summary.id, summary.command, summary.began, summary.seconds, summary.outcome, counts)
    _change(journal, _FINISHED, (summary.id, *row))
    _change(journal, _FORGET, (KEPT,))
    event(
        "job_ended",
        command=summary.command,
        outcome=summary.outcome,
        seconds=summary.seconds or 0.0,
        counts=dict(summary.counts),
    )


def _change(journal: Journal, statement: str, values: tuple[object, ...]) -> None:
    try:
        journal.execute(statement, values)
    except StoreError as error:
        event("summary_lost", "warning", kind=type(error).__name__)
