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
# `labelling.*` below: journals of earlier versions lack the last of these columns.
_LATER_COLUMNS = {"reviewer": "''", "undos": "'[]'"}
_FIRST_UNDO = 2  # in the column `restored`: 0 stands for none, 1 for an undo by nobody known
_HISTORY = (
    "SELECT count(id), coalesce(sum(restored > 0), 0), labelling.* FROM labelling "
    "LEFT JOIN labelled ON job = number GROUP BY number ORDER BY number DESC"
)


@dataclass(frozen=True, slots=True)
class LabelJob:
    """One labelling.

    `at`: when it began, ISO 8601 in UTC. `documents`: how many it changed; `restored`: how many of
    these have their labels back by an undo. `reviewer`: who made it, empty where that is not known.
    `undone_by`: who undid it or a part of it, in the order of the undos, as far as that is known.
    """

    number: int
    at: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    documents: int
    restored: int
    reviewer: str = ""
    undone_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelEvent:
    """The labels of one document before and after labelling `number`; `at` and `reviewer` as in
    `LabelJob`. `undone`: it has those of before again; `undone_at` and `undone_by` say since when
    and by whom, and are empty where that is not known.
    """

    number: int
    at: str
    reviewer: str
    id: str
    path: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    undone: bool
    undone_at: str = ""
    undone_by: str = ""


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
            columns = {row[1] for row in db.execute("PRAGMA table_info(labelling)")}
            for name, value in _LATER_COLUMNS.items():
                if name not in columns:
                    column = f"{name} TEXT NOT NULL DEFAULT {value}"
                    db.execute(f"ALTER TABLE labelling ADD COLUMN {column}")

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
        at = _now()
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

    def record_restored(self, job: int, ids: Iterable[str], reviewer: str = "") -> None:
        """Record that these documents have their labels back, since now and by this reviewer."""
        with self._transaction() as db:
            select = "SELECT undos FROM labelling WHERE number = ?"
            undos = _unpack(db.execute(select, (job,)).fetchone()[0])
            packed = _pack([*undos, [_now(), reviewer]])
            db.execute("UPDATE labelling SET undos = ? WHERE number = ?", (packed, job))
            db.executemany(
                "UPDATE labelled SET restored = ? WHERE job = ? AND id = ?",
                [(_FIRST_UNDO + len(undos), job, id) for id in ids],
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
    number, at, _added, _removed, reviewer, undos = (*labelling, "", "[]")[:6]
    labels = _unpack(before), _unpack(after)
    undo = _unpack(undos)[restored - _FIRST_UNDO] if restored >= _FIRST_UNDO else ("", "")
    return LabelEvent(number, at, reviewer, id, path, *labels, bool(restored), *undo)


def _label_job(
    documents: int,
    restored: int,
    number: int,
    at: str,
    added: str,
    removed: str,
    reviewer: str = "",
    undos: str = "[]",
) -> LabelJob:
    names = tuple(dict.fromkeys(name for _at, name in _unpack(undos) if name))
    labels = _unpack(added), _unpack(removed)
    return LabelJob(number, at, *labels, documents, restored, reviewer, names)


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def _pack(values: Iterable[Any]) -> str:
    return json.dumps(list(values))


def _unpack(packed: str) -> tuple[Any, ...]:
    return tuple(json.loads(packed))
