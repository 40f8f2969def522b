"""Journal of labellings: the labels of each document before and after, so that they can be undone.

Its tables are in the file of the store's journal.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from indexer.jobs.journal import Journal, read_journal

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS labelling (number INTEGER PRIMARY KEY AUTOINCREMENT, "
    "at TEXT NOT NULL, added TEXT NOT NULL, removed TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS labelled (job INTEGER NOT NULL, id TEXT NOT NULL, "
    "path TEXT NOT NULL, before TEXT NOT NULL, after TEXT NOT NULL, "
    "restored INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (job, id)) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS labelled_id ON labelled (id)",
)
_COLUMNS = ("number", "at", "added", "removed", "reviewer")
_REVIEWER = "ALTER TABLE labelling ADD COLUMN reviewer TEXT NOT NULL DEFAULT ''"
# `labelling.*`: journals of earlier versions have no reviewers.
_HISTORY = (
    "SELECT count(id), coalesce(sum(restored), 0), labelling.* FROM labelling "
    "LEFT JOIN labelled ON job = number GROUP BY number ORDER BY number DESC"
)


@dataclass(frozen=True, slots=True)
class LabelJob:
    """One labelling.

    `at`: when it began, ISO 8601 in UTC. `documents`: how many it changed; `restored`: how many of
    these have their labels back by an undo. `reviewer`: who made it, empty where that is not known.
    """

    number: int
    at: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    documents: int
    restored: int
    reviewer: str = ""


@dataclass(frozen=True, slots=True)
class LabelEvent:
    """The labels of one document before and after labelling `number`; `at` and `reviewer` as in
    `LabelJob`. `undone`: it has those of before again.
    """

    number: int
    at: str
    reviewer: str
    id: str
    path: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    undone: bool


@dataclass(frozen=True, slots=True)
class LabelChange:
    """The labels of one document before and after a job."""

    id: str
    path: str
    before: tuple[str, ...]
    after: tuple[str, ...]


class LabelJournal(Journal):
    """A store's journal with its labellings. Numbers count up from 1 and are never given twice."""

    def __init__(self, path: Path | None) -> None:
        super().__init__(path)
        with self._transaction() as db:
            for statement in _SCHEMA:
                db.execute(statement)
            columns = db.execute("PRAGMA table_info(labelling)").fetchall()
            if len(columns) < len(_COLUMNS):
                db.execute(_REVIEWER)

    def __enter__(self) -> LabelJournal:
        return self

    def begin(
        self,
        added: Iterable[str],
        removed: Iterable[str],
        changes: Iterable[LabelChange],
        reviewer: str = "",
    ) -> int:
        """Record durably what is about to change, and return the number of the job."""
        at = datetime.now(timezone.utc).isoformat(timespec="seconds")
        rows = [
            (change.id, change.path, _pack(change.before), _pack(change.after))
            for change in changes
        ]
        with self._transaction() as db:
            cursor = db.execute(
                "INSERT INTO labelling (at, added, removed, reviewer) VALUES (?, ?, ?, ?)",
                (at, _pack(added), _pack(removed), reviewer),
            )
            job = cursor.lastrowid or 0
            db.executemany(
                "INSERT INTO labelled VALUES (?, ?, ?, ?, ?, 0)", [(job, *row) for row in rows]
            )
        return job

    def changes(self, job: int) -> list[LabelChange]:
        """Return the changes of a job that no undo has restored, by id."""
        select = (
            "SELECT id, path, before, after FROM labelled "
            "WHERE job = ? AND NOT restored ORDER BY id"
        )
        with self._query() as db:
            rows = db.execute(select, (job,)).fetchall()
        return [
            LabelChange(id, path, _unpack(before), _unpack(after))
            for id, path, before, after in rows
        ]

    def record_restored(self, job: int, ids: Iterable[str]) -> None:
        """Record that these documents have their labels back."""
        with self._transaction() as db:
            db.executemany(
                "UPDATE labelled SET restored = 1 WHERE job = ? AND id = ?",
                [(job, id) for id in ids],
            )

    def has_job(self, job: int) -> bool:
        """Return whether there was a labelling with this number."""
        with self._query() as db:
            return (
                db.execute("SELECT 1 FROM labelling WHERE number = ?", (job,)).fetchone()
                is not None
            )


def history(path: Path | None) -> tuple[LabelJob, ...]:
    """Return every labelling in a journal, the last one first, without locking it.

    Raises `StoreBusy` while a job holds it.
    """
    return read_journal(
        path,
        "labelling",
        _HISTORY,
        _label_job,
    )


def label_events(path: Path | None, id: str | None = None) -> tuple[LabelEvent, ...]:
    """Return every change of a document's labels in a journal, or of all documents, the last one
    first, without locking it.

    Raises `StoreBusy` while a job holds it.
    """
    of = "" if id is None else "WHERE id = ? "
    select = (
        "SELECT id, path, before, after, restored, labelling.* FROM labelled "
        f"JOIN labelling ON job = number {of}ORDER BY number DESC, path, id"
    )
    return read_journal(path, "labelling", select, _label_event, () if id is None else (id,))


def _label_event(
    id: str, path: str, before: str, after: str, restored: int, *labelling: Any
) -> LabelEvent:
    number, at, _added, _removed, *reviewer = labelling
    labels = _unpack(before), _unpack(after)
    return LabelEvent(number, at, "".join(reviewer), id, path, *labels, bool(restored))


def _label_job(
    documents: int,
    restored: int,
    number: int,
    at: str,
    added: str,
    removed: str,
    reviewer: str = "",
) -> LabelJob:
    return LabelJob(number, at, _unpack(added), _unpack(removed), documents, restored, reviewer)


def _pack(labels: Iterable[str]) -> str:
    return json.dumps(list(labels))


def _unpack(packed: str) -> tuple[str, ...]:
    return tuple(json.loads(packed))
