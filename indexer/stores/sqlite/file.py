"""One SQLite file: opening, creating, transactions, and what its errors mean.

Write-ahead log with `synchronous=FULL`: a committed transaction survives kill -9 and loss of power
alike.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from indexer import mappings
from indexer.errors import (
    MappingMismatch,
    RecipeMismatch,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreStopped,
    UnsupportedOperation,
)
from indexer.recipe import Recipe
from indexer.stores.address import MEMORY
from indexer.stores.sqlite.connections import Readers, open_connection
from indexer.stores.sqlite.file_backup import (
    APPLICATION_ID,
    check_copy,
    check_sound,
    copy_in,
    copy_out,
)
from indexer.system.durable_files import move_aside
from indexer.system.failpoints import reached
from indexer.system.keyed_recipes import with_key
from indexer.system.logs import event

FORMAT = 3
PATIENCE_SECONDS = 5.0
_PRAGMAS = ("synchronous = FULL", "cache_size = -65536", "wal_autocheckpoint = 4000")
_READING = ("query_only = ON", "cache_size = -8192")


class File:
    """A connection that is opened when first needed, shared by threads under one lock; others that
    read while it is busy.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._recipe: Recipe | None = None
        self._changes: int | None = None
        self._identity: tuple[int, int] | None = None
        self._readers = Readers(self._open_reader)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One consistent view of the file. Raises `StoreError` when it was never prepared."""
        with _translated(self.path), self._view() as db:
            db.execute("BEGIN")
            try:
                yield db
            finally:
                db.execute("COMMIT")

    @contextmanager
    def _view(self) -> Iterator[sqlite3.Connection]:
        """The connection of this file when it is free, else one of those that only read."""
        if self._lock.acquire(blocking=not self._may_be_read_beside()):
            try:
                yield self._prepared()
            finally:
                self._lock.release()
        else:
            with self._readers.taken() as db:
                yield db

    def _may_be_read_beside(self) -> bool:
        """Whether another connection sees what this one does: the file is open, prepared, and still
        there.
        """
        return self.path != MEMORY and self._recipe is not None and self._stat() == self._identity

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One durable transaction: everything or, after any exception, nothing."""
        with self._lock, _translated(self.path):
            db = self._prepared()
            self._same_file()
            with _transaction(db):
                yield db

    def create(self, recipe: Recipe) -> None:
        """Make the file and its tables where they are missing, and hold it to `recipe`."""
        with self._lock, _translated(self.path):
            db = self._connection or self._connect(create=True)
            _check(db, self.path)
            db.execute("PRAGMA journal_mode = WAL").fetchone()
            with _transaction(db):
                if _number(db, "user_version") < FORMAT:
                    _migrate(db)
                if (stored := _recipe(db)) is None:
                    db.execute(
                        "INSERT INTO store VALUES ('recipe', ?)", (json.dumps(recipe.settings),)
                    )
                elif stored.id != recipe.id:
                    raise RecipeMismatch(
                        stored=stored.name,
                        requested=recipe.name,
                        difference=stored.difference(recipe),
                    )
            self._recipe = recipe

    def recipe(self) -> Recipe | None:
        """The recipe that the file holds, None when there is no file, or an empty one."""
        with _translated(self.path):
            if not self._lock.acquire(blocking=not self._may_be_read_beside()):
                with self._readers.taken() as db:
                    _check(db, self.path)
                    return _recipe(db)
            try:
                return self._known_recipe()
            finally:
                self._lock.release()

    def _known_recipe(self) -> Recipe | None:
        if self._exists():
            db = self._connection or self._connect(create=False)
            changes = _number(db, "data_version")
            if (
                self._recipe is None or changes != self._changes
            ):  # another process may have given it another one
                _check(db, self.path)
                _upgrade(db)
                self._recipe = _recipe(db) if _number(db, "user_version") else None
                self._changes = changes
        return self._recipe

    def copy(self, target: str) -> None:
        """Copy the database, as it is at one moment, into another file."""
        self._prepared()
        with _translated(target):
            copy_out(self.path, target)

    def replace(self, source: str) -> None:
        """Put the database of another file in place of this one's, in one step; what cannot be read
        here is moved aside.
        """
        with (
            _translated(source),
            closing(
                sqlite3.connect(f"{Path(source).absolute().as_uri()}?mode=ro", uri=True)
            ) as kept,
        ):
            check_copy(source)
            _check(kept, source)
        with self._lock, _translated(self.path):
            try:
                db = self._connection or self._connect(create=True)
                _number(db, "user_version")
            except sqlite3.DatabaseError:
                self.close()
                move_aside(self.path)
                db = self._connect(create=True)
            copy_in(source, db)
            db.execute("PRAGMA journal_mode = WAL").fetchone()
            self._recipe = self._changes = None

    def check_sound(self) -> None:
        """Raise `StoreDamaged` when SQLite finds that the file does not hold together."""
        with self._lock, _translated(self.path):
            if self._connection is not None:
                check_sound(self._connection, self.path)

    def forget_recipe(self) -> None:
        """Read the recipe anew when it is next asked for."""
        with self._lock:
            self._recipe = None

    def close(self) -> None:
        """Close every connection; calling it twice is no error."""
        with self._lock, _translated(self.path):
            self._readers.close()
            if self._connection is not None:
                reached("before_checkpoint", sqlite3.OperationalError)
                self._connection.close()
                reached("after_checkpoint", sqlite3.OperationalError)
            self._connection = self._recipe = self._identity = None

    def _exists(self) -> bool:
        return self._connection is not None or (self.path != MEMORY and Path(self.path).exists())

    def _prepared(self) -> sqlite3.Connection:
        if self.recipe() is None or self._connection is None:
            raise StoreError(
                f"there is no store at {self.path} yet; run `nearfold index PATH` first, or check --store"
            )
        return self._connection

    def _connect(self, create: bool) -> sqlite3.Connection:
        self._connection, self._identity = (
            open_connection(self._place(create), _PRAGMAS, PATIENCE_SECONDS),
            self._stat(),
        )
        return self._connection

    def _open_reader(self) -> sqlite3.Connection:
        return open_connection(self._place(create=False), _READING, PATIENCE_SECONDS)

    def _place(self, create: bool) -> str:
        if (
            self.path != MEMORY and Path(self.path).exists() and not Path(self.path).is_file()
        ):  # a FIFO is waited for, for ever
            raise StoreError(f"{self.path} is no regular file; give --store another")
        return (
            MEMORY
            if self.path == MEMORY
            else f"{Path(self.path).absolute().as_uri()}?mode={'rwc' if create else 'rw'}"
        )

    def _stat(self) -> tuple[int, int] | None:
        if self.path == MEMORY:
            return None
        try:
            found = os.stat(self.path)  # noqa: PTH116 - cheaper than Path in every transaction
        except FileNotFoundError:
            return (0, 0)
        return found.st_dev, found.st_ino

    def _same_file(self) -> None:
        """SQLite would go on writing into a file that was removed, and lose what it
        acknowledges.
        """
        if self._stat() != self._identity:
            raise StoreStopped(
                reason=f"{self.path} was removed or replaced",
                remedy="put the file back or remove it",
            )


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        reached("before_commit", sqlite3.OperationalError)
        db.execute("COMMIT")
        reached("after_commit", sqlite3.OperationalError)
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


@contextmanager
def _translated(path: str) -> Iterator[None]:
    """Raise SQLite's errors as ours. They are told apart by their text: Python 3.10 gives no
    code.
    """
    try:
        yield
    except sqlite3.Error as error:
        raise _meaning(path, str(error)) from error


def _meaning(path: str, text: str) -> StoreError:
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
            f"{path} cannot be opened; check that its folder exists and that you may read and write both"
        )
    if "fts5" in text and "no such" in text:
        return UnsupportedOperation(
            store="this Python's SQLite",
            what="search texts (it has no FTS5)",
            instead="use another Python",
        )
    if "Could not decode" in text:  # and then what could not be: a document
        return StoreDamaged(path=path, reason="a text in it is not UTF-8")
    if any(sign in text for sign in ("not a database", "malformed", "corrupt", "no such")):
        return StoreDamaged(path=path, reason=text)
    return StoreError(f"{path}: {text}; run `nearfold doctor`")


def _check(db: sqlite3.Connection, path: str) -> None:
    """Refuse a file of another program, or of a newer nearfold, or whose end is missing."""
    owner, version = _number(db, "application_id"), _number(db, "user_version")
    empty = (
        owner == version == 0 and not db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    )
    if owner != APPLICATION_ID and not empty:
        raise MappingMismatch(index=path, problems=("it is the SQLite file of another program",))
    if (
        path != MEMORY
        and Path(path).stat().st_size % _number(db, "page_size")
        and not _logged(path)
    ):
        raise sqlite3.DatabaseError(
            "malformed: the last page is torn"
        )  # SQLite would read the missing part as zeros
    if version > FORMAT:
        raise StoreError(
            f"{path} was written by a newer nearfold (format {version}, this one knows {FORMAT}); "
            "upgrade nearfold, or give --store another file"
        )


def _logged(path: str) -> bool:
    """Whether the log holds pages that are to be written over those of the file."""
    log = Path(f"{path}-wal")
    return log.exists() and log.stat().st_size > 0


def _upgrade(db: sqlite3.Connection) -> None:
    """Bring a file of an earlier nearfold to this format, whoever opens it first."""
    if 0 < (found := _number(db, "user_version")) < FORMAT:
        with _transaction(db):
            _migrate(db)
        event("store_upgraded", counts={"from": found, "to": FORMAT})


def _migrate(db: sqlite3.Connection) -> None:
    """Bring the file to this format, one numbered step after the other, inside the caller's
    transaction.
    """
    for step in range(_number(db, "user_version") + 1, FORMAT + 1):
        for statement in _statements(mappings.read(f"sqlite-{step:04}.sql")):
            db.execute(statement)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {FORMAT}")


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _number(db: sqlite3.Connection, pragma: str) -> int:
    return int(db.execute(f"PRAGMA {pragma}").fetchone()[0])


def _recipe(db: sqlite3.Connection) -> Recipe | None:
    found = db.execute("SELECT value FROM store WHERE name = 'recipe'").fetchone()
    return with_key(Recipe(**json.loads(found[0]))) if found else None
