"""One SQLite file: connections, creation, transactions.

Write-ahead log with `synchronous=FULL`: a committed transaction survives kill -9 and loss of power
alike.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from indexer.errors import StoreBusy, StoreDamaged, StoreError, StoreStopped, UnsupportedOperation
from indexer.model import Scope
from indexer.recipe import Recipe
from indexer.stores.address import MEMORY
from indexer.stores.base import Counts
from indexer.stores.requirements import require_same_recipe
from indexer.stores.sqlite.connections import Connection, Readers, open_connection
from indexer.stores.sqlite.file_format import (
    FORMAT,
    check_copy,
    check_format,
    check_sound,
    copy_in,
    copy_out,
    migrate,
    pragma_number,
    recipe_in_use,
    stored_recipe,
    transaction,
    upgrade,
)
from indexer.stores.sqlite.rows import count_scope, in_scope, move_keys, record_attachments
from indexer.system.failpoints import reached
from indexer.system.files import move_aside

# Errors of SQLite as errors of a store.


@contextmanager
def translate_errors(path: str) -> Iterator[None]:
    """Raise SQLite's errors as ours, by their text: Python 3.10 gives no code."""
    try:
        yield
    except sqlite3.Error as error:
        raise _store_error(path, str(error)) from error


def _store_error(path: str, text: str) -> StoreError:
    """Return the error that a message of SQLite means."""
    if "locked" in text:
        return StoreBusy(what=path, holder="another process")
    if "disk is full" in text:
        return StoreStopped(reason=f"no space is left for {path}", remedy="free some space")
    if "readonly" in text:
        return StoreStopped(
            reason=f"{path} is read-only", remedy="allow writing to the file and its folder"
        )
    if "disk I/O error" in text:
        return StoreStopped(
            reason=f"the disk that holds {path} reports an error",
            remedy="check the disk and its free space",
        )
    if "unable to open" in text:
        return StoreError(
            f"{path} cannot be opened; "
            "check that its folder exists and that you may read and write both" + slash_hint(path)
        )
    if "fts5" in text and "no such" in text:
        return UnsupportedOperation(
            store="this Python's SQLite",
            operation="search texts (it has no FTS5)",
            alternative="use another Python",
        )
    if "Could not decode" in text:  # what follows in the text is of a document
        return StoreDamaged(path=path, reason="a text in it is not UTF-8")
    if any(sign in text for sign in ("not a database", "malformed", "corrupt", "no such")):
        return StoreDamaged(path=path, reason=text)
    return StoreError(f"{path}: {text}; run `nearfold doctor`")


def slash_hint(path: str) -> str:
    """Return how to write the absolute path that a relative one may be meant for, or nothing."""
    meant = Path("/", path)
    if Path(path).is_absolute() or Path(path).parent.exists() or not meant.parent.is_dir():
        return ""
    return f"; for {meant} write four slashes: sqlite:///{meant}"


# Counts of a SQLite file: its rows are read once, families by their index.

ReadTransaction: TypeAlias = AbstractContextManager[Connection]


class KnownCounts:
    """The counts of a file by scope, for all its connections, until the file changes.

    A connection of its own watches the file: its `data_version` changes with each commit of
    another one. So no count waits for a connection in use, and none repeats what another read.
    """

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._watcher: Connection | None = None
        self._lock = threading.Lock()
        self._counting = threading.Lock()
        self._known: tuple[int, dict[Scope, Counts]] = (-1, {})

    def get(self, scope: Scope, open_read: Callable[[], ReadTransaction]) -> Counts:
        """Return the counts of a scope; `open_read` lends the connection that counts.

        Threads that ask meanwhile wait for the same count.
        """
        with self._counting:
            state, size = self._watch()
            if self._known[0] != state:
                self._known = state, {}
            totals = self._known[1]
            if scope in totals:
                return _copied(totals[scope], size)
            with open_read() as db:
                counts = count_rows(db, scope)
            if self._watch()[0] == state:
                totals[scope] = counts
            return _copied(counts, size)

    def version(self) -> int:
        """Return a number that each commit to the file makes another one."""
        return self._watch()[0]

    @contextmanager
    def kept_through(self, db: Connection) -> Iterator[None]:
        """Keep the counts through a transaction of `db` that changes none of them.

        They are given up if another connection commits meanwhile.
        """
        known, version = self._known, pragma_number(db, "data_version")
        is_current = self._watcher is not None and self._watch()[0] == known[0]
        yield
        if is_current:
            state, _ = self._watch()
            if pragma_number(db, "data_version") == version and self._known is known:
                self._known = state, known[1]

    def close(self) -> None:
        """Close the connection that watches; the next count opens another."""
        with self._lock:
            if self._watcher is not None:
                self._watcher.close()
            self._watcher, self._known = None, (-1, {})

    def _watch(self) -> tuple[int, int]:
        """Return the state of the file, and its size in bytes."""
        with self._lock:
            if self._watcher is None:
                self._watcher = self._connect()
                self._known = -1, {}
            return pragma_number(self._watcher, "data_version"), _size(self._watcher)


def count_rows(db: Connection, scope: Scope) -> Counts:
    """Count the rows of a scope; the bytes are of the whole file."""
    within = in_scope(db, scope) or "1"
    kinds = (
        "SELECT status, content_type, recipe, count(*), sum(family = '') "
        f"FROM documents d WHERE {within} GROUP BY 1, 2, 3"
    )
    rows = db.execute(kinds).fetchall()
    by_status, by_type, by_recipe = _sum_by_name(row[:4] for row in rows)
    # a family counts where its principal is not: that one is of its own family, by an empty name
    others = (
        "SELECT count(*) FROM (SELECT DISTINCT family AS name FROM documents d "
        f"WHERE family <> '' AND {within}) WHERE NOT EXISTS "
        f"(SELECT 1 FROM documents d WHERE d.id = name AND d.family = '' AND {within})"
    )
    return Counts(
        documents=sum(row[3] for row in rows),
        by_status=by_status,
        by_content_type=by_type,
        by_recipe=by_recipe,
        families=sum(row[4] for row in rows) + db.execute(others).fetchone()[0],
        parts=count_scope(db, "parts"),
        size_bytes=_size(db),
    )


def _copied(counts: Counts, size: int) -> Counts:
    """Return the same counts with a size, in dictionaries of their own."""
    return replace(
        counts,
        by_status=dict(counts.by_status),
        by_content_type=dict(counts.by_content_type),
        by_recipe=dict(counts.by_recipe),
        size_bytes=size,
    )


def _size(db: Connection) -> int:
    return pragma_number(db, "page_count") * pragma_number(db, "page_size")


def _sum_by_name(
    rows: Iterable[tuple[str, str, str, int]],
) -> tuple[dict[Any, int], dict[str, int], dict[str, int]]:
    """Return the number of rows of each status, content type and recipe, the most frequent first,
    ties by name.
    """
    sums: tuple[Counter[str], ...] = Counter(), Counter(), Counter()
    for *names, count in rows:
        for total, name in zip(sums, names, strict=True):
            total[name] += count
    by_status, by_type, by_recipe = (
        dict(sorted(total.items(), key=lambda item: (-item[1], item[0]))) for total in sums
    )
    return by_status, by_type, by_recipe


PATIENCE_SECONDS = 5.0
TURN_SECONDS = 30.0  # SQLite lets any of those that wait write next, not the first
_PRAGMAS = ("synchronous = FULL", "cache_size = -65536", "wal_autocheckpoint = 4000")
_LARGEST_LOG = 64 << 20  # bytes of the write-ahead log, after which it begins anew
_CHECKPOINT_SECONDS = 2.0  # that readers of the log may take for it
_READER = ("query_only = ON", "cache_size = -8192")


class File:
    """A SQLite file with one connection that writes, and others that read while it is busy.

    Connections are opened when first needed; threads share the first under one lock.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._connection: Connection | None = None
        self._recipe: Recipe | None = None
        self._changes: int | None = None
        self._identity: tuple[int, int] | None = None
        self._readers = Readers(self._open_reader)
        self._counts = KnownCounts(self._open_reader)
        self._largest_log = _LARGEST_LOG
        self._writer: int | None = None  # the thread that has a transaction open

    @contextmanager
    def reader(self) -> Iterator[Connection]:
        """Give one consistent view of the file, inside `writing` the view of its transaction.

        Raises `StoreError` when it was never prepared.
        """
        with translate_errors(self.path), self._view() as db:
            if db.in_transaction:
                yield db
                return
            db.execute("BEGIN")
            try:
                yield db
            finally:
                db.execute("COMMIT")

    @contextmanager
    def _view(self) -> Iterator[Connection]:
        """Lend the connection of this file when it is free, else one of those that only read."""
        if self._lock.acquire(blocking=not self._has_other_readers()):
            try:
                yield self._prepared()
            finally:
                self._lock.release()
        else:
            with self._readers.connection() as db:
                yield db

    def _has_other_readers(self) -> bool:
        """Return whether another connection reads the same: the file is open, prepared, and not
        removed.
        """
        return self.path != MEMORY and self._recipe is not None and self._stat() == self._identity

    def counts(self, scope: Scope) -> Counts:
        """Return the counts of a scope, inside `writing` as its transaction sees them."""
        self.recipe()
        if self._writer == threading.get_ident() or not self._has_other_readers():
            with self.reader() as db:
                return count_rows(db, scope)
        with translate_errors(self.path):
            return self._counts.get(scope, self.reader)

    def version(self) -> int | None:
        """Return a number that each commit to the file makes another one; None in memory."""
        if not self._has_other_readers():
            return None
        self.recipe()
        with translate_errors(self.path):
            return self._counts.version()

    @contextmanager
    def relabelling(self) -> Iterator[Connection]:
        """Run a transaction, as `writing` does, that changes nothing but labels."""
        with self._lock, translate_errors(self.path):
            is_own = self._writer is None and self._has_other_readers()
            kept = self._counts.kept_through(self._prepared()) if is_own else nullcontext()
            with kept, self.writing() as db:
                yield db

    @contextmanager
    def writing(self, patience: float | None = None) -> Iterator[Connection]:
        """Run one durable transaction: everything or, after any exception, nothing.

        Inside another one of the same thread it is a part of that. `patience`: seconds to wait for
        another writer, `PATIENCE_SECONDS` by default.
        """
        with self._lock, translate_errors(self.path):
            db = self._prepared()
            if db.in_transaction:
                yield db
                return
            self._same_file()
            db.execute(f"PRAGMA busy_timeout = {int(1000 * (patience or PATIENCE_SECONDS))}")
            with transaction(db):
                self._writer = threading.get_ident()
                try:
                    yield db
                finally:
                    self._writer = None
            self._limit_log(db)

    def _limit_log(self, db: Connection) -> None:
        """Let the write-ahead log begin anew if it is large, though others read it all the time.

        SQLite copies it into the file by itself, but writes on at its end as long as one of
        several readers is in it. Where a reader stays too long, as a backup does, it grows on, and
        is tried again when it has grown as much once more. What was written is safe in either.
        """
        log = Path(f"{self.path}-wal")
        with suppress(FileNotFoundError, sqlite3.OperationalError):
            if log.stat().st_size > self._largest_log:
                db.execute(f"PRAGMA busy_timeout = {int(1000 * _CHECKPOINT_SECONDS)}")
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                self._largest_log = log.stat().st_size + _LARGEST_LOG

    def create(self, recipe: Recipe) -> None:
        """Create the file and its tables where they are missing; raise `RecipeMismatch` when it has
        another recipe.

        Later numbered statistics of an online recipe are recorded, earlier ones are not.
        """
        with self._lock, translate_errors(self.path):
            db = self._connection or self._connect(create=True)
            check_format(db, self.path)
            self._upgrade(db)
            db.execute("PRAGMA journal_mode = WAL").fetchone()
            with transaction(db):
                if pragma_number(db, "user_version") < FORMAT:
                    migrate(db)
                stored = self._recipe_in_use(db)
                require_same_recipe(stored, recipe)
                if stored is None:
                    record_attachments(db, True)
                if stored is None or recipe.statistics_number > stored.statistics_number:
                    settings = json.dumps(recipe.settings)
                    db.execute("INSERT OR REPLACE INTO store VALUES ('recipe', ?)", (settings,))
                    stored = recipe
            self._recipe = stored

    def _recipe_in_use(self, db: Connection) -> Recipe | None:
        """Return the stored recipe; None for that of an empty store in memory, which a search in a
        new one has set.
        """
        is_empty = self.path == MEMORY and not db.execute("SELECT 1 FROM documents").fetchone()
        return None if is_empty else stored_recipe(db)

    def recipe(self) -> Recipe | None:
        """Return the recipe of the file, None when there is no file, or an empty one."""
        with translate_errors(self.path):
            if not self._lock.acquire(blocking=not self._has_other_readers()):
                with self._readers.connection() as db:
                    check_format(db, self.path)
                    return stored_recipe(db)
            try:
                return self._known_recipe()
            finally:
                self._lock.release()

    def _known_recipe(self) -> Recipe | None:
        if self._exists():
            db = self._connection or self._connect(create=False)
            changes = pragma_number(db, "data_version")
            # Another process may have changed the recipe.
            if self._recipe is None or changes != self._changes:
                check_format(db, self.path)
                self._upgrade(db)
                self._recipe = stored_recipe(db) if pragma_number(db, "user_version") else None
                self._changes = changes
        return self._recipe

    def _upgrade(self, db: Connection) -> None:
        """Bring a file of an earlier nearfold to this format, or go on where that was stopped."""
        upgrade(db)
        if not pragma_number(db, "user_version"):
            return
        while db.execute("SELECT 1 FROM store WHERE name = 'keys_moved'").fetchone():
            with transaction(db):
                move_keys(db, recipe_in_use(db))

    def copy(self, target: str, *, replace: bool) -> None:
        """Copy the database, as one consistent snapshot, into another file."""
        self._prepared()
        with translate_errors(target):
            copy_out(self.path, target, replace=replace)

    def replace(self, source: str) -> None:
        """Replace the database by the content of another file, in one step.

        A file that cannot be read is moved aside first.
        """
        uri = f"{Path(source).absolute().as_uri()}?mode=ro"
        try:
            with translate_errors(source), closing(sqlite3.connect(uri, uri=True)) as copy:
                check_copy(source)
                check_format(copy, source)
        except StoreDamaged as error:
            advice = "give a file that `nearfold backup` wrote"
            raise StoreDamaged(path=source, reason=error.reason, remedy=advice) from error
        with self._lock, translate_errors(self.path):
            try:
                db = self._connection or self._connect(create=True)
                pragma_number(db, "user_version")
            except sqlite3.DatabaseError:
                self.close()
                move_aside(self.path)
                db = self._connect(create=True)
            copy_in(source, db)
            db.execute("PRAGMA journal_mode = WAL").fetchone()
            self._recipe = self._changes = db.cached = None

    def check_sound(self) -> None:
        """Raise `StoreDamaged` when SQLite finds that the file is corrupt."""
        with self._lock, translate_errors(self.path):
            if self._connection is not None:
                check_sound(self._connection, self.path)

    def forget_recipe(self) -> None:
        """Read the recipe again when it is next needed."""
        with self._lock:
            self._recipe = None

    def forget_reads(self) -> None:
        """Discard what connections keep, except those in use."""
        self._readers.forget_reads()
        if self._lock.acquire(blocking=False):
            try:
                if self._connection is not None:
                    self._connection.cached = None
            finally:
                self._lock.release()

    def close(self) -> None:
        """Close every connection; calling it twice is not an error."""
        with self._lock, translate_errors(self.path):
            self._readers.close()
            self._counts.close()
            if self._connection is not None:
                reached("before_checkpoint", sqlite3.OperationalError)
                self._connection.close()
                reached("after_checkpoint", sqlite3.OperationalError)
            self._connection = self._recipe = self._identity = None

    def _exists(self) -> bool:
        return self._connection is not None or (self.path != MEMORY and Path(self.path).exists())

    def _prepared(self) -> Connection:
        if self.recipe() is None or self._connection is None:
            raise StoreError(
                f"there is no store at {self.path} yet; "
                "run `nearfold index PATH` first, or check --store" + slash_hint(self.path)
            )
        return self._connection

    def _connect(self, create: bool) -> Connection:
        self._connection = open_connection(self._uri(create), _PRAGMAS, PATIENCE_SECONDS)
        self._identity = self._stat()
        return self._connection

    def _open_reader(self) -> Connection:
        return open_connection(self._uri(create=False), _READER, PATIENCE_SECONDS)

    def _uri(self, create: bool) -> str:
        if self.path == MEMORY:
            return MEMORY
        path = Path(self.path)
        if path.exists() and not path.is_file():  # opening a FIFO would block for ever
            raise StoreError(f"{self.path} is not a regular file; give --store another")
        return f"{path.absolute().as_uri()}?mode={'rwc' if create else 'rw'}"

    def _stat(self) -> tuple[int, int] | None:
        if self.path == MEMORY:
            return None
        try:
            status = os.stat(self.path)  # noqa: PTH116 - cheaper than Path in every transaction
        except FileNotFoundError:
            return (0, 0)
        return status.st_dev, status.st_ino

    def _same_file(self) -> None:
        """Raise `StoreStopped` when the file was removed or replaced.

        SQLite would go on writing into the removed file, and lose what it acknowledges.
        """
        if self._stat() != self._identity:
            raise StoreStopped(
                reason=f"{self.path} was removed or replaced",
                remedy="put the file back or remove it",
            )
