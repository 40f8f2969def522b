"""Connections to a SQLite file, with the functions that our queries use."""

from __future__ import annotations

import json
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache

from indexer.stores.fields import named_date
from indexer.stores.query_syntax import MAX_WORDS, FieldValue
from indexer.stores.sqlite.read_cache import ReadCache

MAX_CONNECTIONS = 4
# the other characters than `WORD_CHARACTERS`: Python takes long to compile those
_NO_WORD = r"\x00-/:-@\[-`{-\x7f"


def open_connection(path: str, pragmas: Sequence[str], timeout: float) -> Connection:
    """Open a connection without implicit transactions, which threads may pass on.

    `timeout`: seconds to wait for a writer.
    """
    db = sqlite3.connect(
        path,
        uri=True,
        timeout=timeout,
        isolation_level=None,
        check_same_thread=False,
        factory=Connection,
    )
    try:
        for pragma in pragmas:
            db.execute(f"PRAGMA {pragma}")
        db.create_function("nearfold_holds", 3, _holds, deterministic=True)
        db.create_function("nearfold_holds_value", 4, _holds_value, deterministic=True)
        db.create_function("nearfold_date", 3, _date, deterministic=True)
        db.create_function("nearfold_member", 2, _member, deterministic=True)
        db.create_function("nearfold_set", 1, sorted_set, deterministic=True)
    except BaseException:
        db.close()
        raise
    return db


class Connection(sqlite3.Connection):
    """A connection with a cache of what was read by it.

    `cached`: the state of the file, by `PRAGMA data_version` and the changes of this connection,
    and the cache, which is valid in that state.
    """

    cached: tuple[tuple[int, int], ReadCache] | None = None

    def read_cache(self) -> ReadCache:
        """Return the cache of what was read since the last change."""
        state = self._state()
        if self.cached is None or self.cached[0] != state:
            self.cached = state, ReadCache()
        return self.cached[1]

    def keep_reads(self, cache: ReadCache) -> None:
        """Keep what was read before this transaction changed what it does not depend on."""
        self.cached = self._state(), cache

    def _state(self) -> tuple[int, int]:
        return int(self.execute("PRAGMA data_version").fetchone()[0]), self.total_changes


class Readers:
    """Connections that only read, so that a short read need not wait for a long one.

    At most `MAX_CONNECTIONS`, each used by one thread at a time; opened when first needed, then
    pooled.
    """

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._slots = threading.BoundedSemaphore(MAX_CONNECTIONS)
        self._lock = threading.Lock()
        self._idle: list[Connection] = []
        self._closed = 0

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Lend a connection as soon as one is free; raises what connecting does."""
        with self._slots:
            with self._lock:
                db = self._idle.pop() if self._idle else None
                times_closed = self._closed
            db = db or self._connect()
            try:
                yield db
            finally:
                with self._lock:
                    is_current = times_closed == self._closed
                    if is_current:
                        self._idle.append(db)
                if not is_current:
                    db.close()

    def forget_reads(self) -> None:
        """Discard what the idle connections keep."""
        with self._lock:
            for db in self._idle:
                db.cached = None

    def close(self) -> None:
        """Close the idle connections now, and the others when they are returned."""
        with self._lock:
            self._closed += 1
            idle, self._idle = self._idle, []
        for db in idle:
            db.close()


def _holds(packed: str, name: str | None, value: str) -> bool:
    """Return whether a JSON object has a member with that value or, without a name, whether a JSON
    array has that item.

    SQLite's own JSON functions end a string at NUL.
    """
    decoded = json.loads(packed)
    return value in decoded if name is None else decoded.get(name) == value


def _member(packed: str, name: str) -> str:
    """Return a member of a JSON object of texts, empty without one."""
    return str(json.loads(packed).get(name, ""))


def _date(metadata: str, content_type: str, modified: int | None) -> int | None:
    return named_date(json.loads(metadata), content_type, modified)[0]


def _holds_value(stored: str, field: str, text: str, is_prefix: int) -> bool:
    """Return whether a value is among labels as a JSON array, in a path, or in metadata as a JSON
    object.
    """
    if field == "label":
        labels = json.loads(stored)
        return any(label.startswith(text) for label in labels) if is_prefix else text in labels
    whole = stored if field == "path" else json.loads(stored).get(field, "")
    return bool(_value_pattern(field, text, is_prefix).search(whole)) if text else bool(whole)


@lru_cache(maxsize=MAX_WORDS)  # a query has no more values, each compared with every row
def _value_pattern(field: str, text: str, is_prefix: int) -> re.Pattern[str]:
    value = FieldValue(field, text, bool(is_prefix))
    start = f"(?<![^{_NO_WORD}])" if value.starts else ""
    end = f"(?![^{_NO_WORD}])" if value.ends else ""
    return re.compile(f"{start}{value.pattern()}{end}")


def sorted_set(packed: str) -> str:
    """Return a JSON array of texts, sorted and without repetitions.

    >>> sorted_set('["b", "a", "b"]')
    '["a", "b"]'
    """
    return json.dumps(sorted(set(json.loads(packed)))) if packed != "[]" else packed
