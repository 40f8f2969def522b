"""Connections to a SQLite file, with the functions that our queries use."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from indexer.stores.sqlite.families_sql import sorted_set

MOST = 4


def open_connection(place: str, pragmas: Sequence[str], patience: float) -> sqlite3.Connection:
    """A connection without transactions of its own, that threads may hand on; `patience`: seconds
    to wait for a writer.
    """
    db = sqlite3.connect(
        place, uri=True, timeout=patience, isolation_level=None, check_same_thread=False
    )
    try:
        for pragma in pragmas:
            db.execute(f"PRAGMA {pragma}")
        db.create_function("nearfold_holds", 3, _holds, deterministic=True)
        db.create_function("nearfold_set", 1, sorted_set, deterministic=True)
    except BaseException:
        db.close()
        raise
    return db


class Readers:
    """Connections that only read, so that a short question need not wait until a long one is
    answered.

    At most `MOST`, each in the hands of one thread at a time; opened when first needed, then kept.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._room = threading.BoundedSemaphore(MOST)
        self._lock = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._closed = 0

    @contextmanager
    def taken(self) -> Iterator[sqlite3.Connection]:
        """A connection that nobody else has, as soon as there is one; raises what connecting
        does.
        """
        with self._room:
            with self._lock:
                db, opened = self._idle.pop() if self._idle else None, self._closed
            db = db or self._connect()
            try:
                yield db
            finally:
                with self._lock:
                    kept = opened == self._closed
                    if kept:
                        self._idle.append(db)
                if not kept:
                    db.close()

    def close(self) -> None:
        """Close those that nobody has now, and the others when they are given back."""
        with self._lock:
            self._closed += 1
            idle, self._idle = self._idle, []
        for db in idle:
            db.close()


def _holds(packed: str, name: str | None, value: str) -> bool:
    """Whether a JSON object has that member with that value or, without a name, a JSON array that
    item.

    SQLite's own JSON functions end a string at NUL.
    """
    found = json.loads(packed)
    return value in found if name is None else found.get(name) == value
