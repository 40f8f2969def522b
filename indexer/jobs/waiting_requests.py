"""Requests that wait for the job that holds a store's journal: files in a folder next to it.

Requests are stored durably, in order, and removed after they are done. Each process writes a file
of its own, which it locks; a process that starts takes over the requests of those that ended.
"""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from indexer.stores.journal import LazyFile, journal_error

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS waiting "
    "(number INTEGER PRIMARY KEY AUTOINCREMENT, request TEXT NOT NULL)"
)
_MOVE_AWAY = "move it away: the labellings that wait are lost then"


def waiting_path(journal: Path | None) -> Path | None:
    """Return the folder where requests wait for a journal; None for one in memory."""
    return None if journal is None else Path(f"{journal}.labels")


class WaitingRequests:
    """The requests of this process that wait, as JSON; thread-safe.

    Raises `StoreStopped` when the file cannot be written, `StoreDamaged` when it is not whole.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        error_of = partial(
            journal_error,
            path=folder,
            file="the waiting labellings in",
            remedy_of_damage=_MOVE_AWAY,
        )
        self._file = LazyFile(partial(_open, folder), error_of)

    def put(self, request: Mapping[str, Any]) -> int:
        """Keep a request durably, and return its number; numbers grow."""
        with self._file.transaction() as db:
            row = (json.dumps(request),)
            cursor = db.execute("INSERT INTO waiting (request) VALUES (?)", row)
            return cursor.lastrowid or 0

    def stored(self) -> list[tuple[int, dict[str, Any]]]:
        """Return the requests that wait, each with its number, in the order in which they came.

        Requests of processes that have ended are among them, and from now on this one's.
        """
        if not self._file.is_open and (self._folder is None or not self._folder.exists()):
            return []
        with self._file.transaction() as db:
            rows = db.execute("SELECT number, request FROM waiting ORDER BY number").fetchall()
        return [(number, json.loads(request)) for number, request in rows]

    def remove(self, number: int) -> None:
        """Remove a request that was done."""
        with self._file.transaction() as db:
            db.execute("DELETE FROM waiting WHERE number = ?", (number,))

    def close(self) -> None:
        """Close the file, as the end of the process does."""
        self._file.close()


def _open(folder: Path | None) -> sqlite3.Connection:
    """Lock the first file that no other process has, and take over what waits in the others."""
    if folder is None:
        return _lock(":memory:")
    folder.mkdir(parents=True, exist_ok=True)
    for number in itertools.count(1):
        try:
            own = _lock(f"{folder}/{number}")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            continue
        break
    for other in sorted(folder.glob("*")):
        if other.name.isdecimal() and int(other.name) != number:
            _take_over(own, other)
    return own


def _lock(path: str) -> sqlite3.Connection:
    """Open a file and lock it as long as the connection lives."""
    connection = sqlite3.connect(path, timeout=0, check_same_thread=False)
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA synchronous = FULL")
        with connection:
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute(_SCHEMA)
    except BaseException:
        connection.close()
        raise
    return connection


def _take_over(own: sqlite3.Connection, other: Path) -> None:
    """Move the requests of ended processes, in one transaction; leave all others."""
    try:
        own.execute("ATTACH ? AS other", (str(other),))
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            return
        raise
    try:
        with own:
            own.execute("BEGIN EXCLUSIVE")
            own.execute(_SCHEMA.replace("waiting", "other.waiting", 1))
            own.execute("INSERT INTO waiting (request) SELECT request FROM other.waiting")
            own.execute("DELETE FROM other.waiting")
    finally:
        own.execute("DETACH other")
