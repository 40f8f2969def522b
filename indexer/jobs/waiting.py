"""Requests that wait for the job that holds a store's journal: a file beside the journal.

Requests are stored durably, in order, and removed after they are done.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from indexer.jobs.journal_file import journal_error

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS waiting "
    "(number INTEGER PRIMARY KEY AUTOINCREMENT, request TEXT NOT NULL)"
)
_TIMEOUT_SECONDS = 10


def waiting_path(journal: Path | None) -> Path | None:
    """Return where requests wait for a journal; None for one in memory."""
    return None if journal is None else Path(f"{journal}.waiting")


class WaitingRequests:
    """The requests that wait, as JSON, in the order in which they came; safe to share by threads.

    Raises `StoreStopped` when the file cannot be written, `StoreDamaged` when it is not whole.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def put(self, request: Mapping[str, Any]) -> int:
        """Keep a request durably, and return its number; numbers grow."""
        with self._file() as db:
            row = (json.dumps(request),)
            cursor = db.execute("INSERT INTO waiting (request) VALUES (?)", row)
            return cursor.lastrowid or 0

    def first(self) -> tuple[int, dict[str, Any]] | None:
        """Return the number of the request that waits longest, and the request; None without."""
        if self._path is not None and self._connection is None and not self._path.exists():
            return None
        with self._file() as db:
            select = "SELECT number, request FROM waiting ORDER BY number LIMIT 1"
            row = db.execute(select).fetchone()
        return None if row is None else (row[0], json.loads(row[1]))

    def remove(self, number: int) -> None:
        """Remove a request that was done."""
        with self._file() as db:
            db.execute("DELETE FROM waiting WHERE number = ?", (number,))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()

    @contextmanager
    def _file(self) -> Iterator[sqlite3.Connection]:
        """Yield the file in one durable transaction."""
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = self._open()
                with self._connection as db:
                    yield db
            except sqlite3.DatabaseError as error:
                raise journal_error(error, self._path) from error

    def _open(self) -> sqlite3.Connection:
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(
            self._path or ":memory:", timeout=_TIMEOUT_SECONDS, check_same_thread=False
        )
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(_SCHEMA)
        return connection
