"""A SQLite file beside a journal that is opened when it is first needed."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class LazyFile:
    """A SQLite file that is opened by its first transaction; safe to share by threads.

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
