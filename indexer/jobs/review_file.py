"""The work and notes of reviewers next to a store: the name of the matter, the fields of coding,
assignments of families to reviewers, documents that were put into the family of another one, notes
on documents, saved searches, terms to highlight.

Servers of one store share the file, which is next to the journal.
"""

from __future__ import annotations

import itertools
import json
import re
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

from indexer.coding import NO_CODING, Coding, CodingField, CodingRule
from indexer.errors import QueryError, StoreDamaged, UsageError
from indexer.stores.base import Store
from indexer.stores.journal import LazyFile, connect_journal, journal_error, journal_path
from indexer.stores.query_syntax import CONDITION_FORM, FIELD_NAMES
from indexer.wording import well_formed

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS assignment (family TEXT PRIMARY KEY, reviewer TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS note (number INTEGER PRIMARY KEY AUTOINCREMENT, "
    "id TEXT NOT NULL, at TEXT NOT NULL, reviewer TEXT NOT NULL, text TEXT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS note_id ON note (id)",
    "CREATE TABLE IF NOT EXISTS joined "
    "(id TEXT PRIMARY KEY, other TEXT NOT NULL, reviewer TEXT NOT NULL, at TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS search "
    "(name TEXT PRIMARY KEY, address TEXT NOT NULL, reviewer TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS term "
    "(text TEXT PRIMARY KEY, color INTEGER NOT NULL, reviewer TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS coding (kind TEXT NOT NULL, text TEXT NOT NULL)",
)
_FIELD, _RULE, _MATTER = "field", "rule", "matter"  # kinds of coding
COLORS = 6  # in which terms are highlighted
_MOVE_AWAY = "move it away: notes, assignments and saved searches are lost then"
_TIMEOUT_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Note:
    """A note on a document: when it was written, ISO 8601 in UTC, and by whom."""

    at: str
    reviewer: str
    text: str


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """A search or work list that was saved: path and query of its page, and who saved it."""

    name: str
    address: str
    reviewer: str


@dataclass(frozen=True, slots=True)
class SavedTerm:
    """Words that every page highlights, as a query writes them, the number of their colour from 1
    to 6, and who saved them.
    """

    text: str
    color: int
    reviewer: str


def review_path(journal: Path | None) -> Path | None:
    """Return the path of the file; None for a journal in memory."""
    return None if journal is None else Path(f"{journal}.review")


def joined_documents(store: Store) -> dict[str, str]:
    """Return the documents of a store that reviewers put into the family of another one."""
    return review_file(store).joined()


def review_file(store: Store) -> ReviewFile:
    """Return the review file of a store."""
    return ReviewFile(review_path(journal_path(store.address)))


def stored_coding(store: Store) -> Coding:
    """Return the fields and rules of a store."""
    return review_file(store).coding()


def with_labels(text: str, coding: Coding) -> str:
    """Return a query in which values of coding fields, as `privilege:none`, are labels.

    Raises `QueryError` for a value that the field does not have, and for a wildcard after a name
    of several words.

    >>> from indexer.coding import CodingField
    >>> with_labels("ferry NOT p:yes", Coding((CodingField("p", ("yes", "no")),)))
    'ferry NOT label:"p=yes"'
    """
    fields = {field.name.lower(): field for field in coding.fields if field.name}
    names = "|".join(map(re.escape, fields.keys() - set(FIELD_NAMES)))
    if not names or ":" not in text:
        return text

    def as_label(match: re.Match[str]) -> str:
        if match["phrase"]:
            return match["phrase"]
        field = fields[match["name"].lower()]
        value = match["quoted"] or match["word"] or ""
        if match["word"] and value.endswith("*"):
            if " " in field.name:
                fault = f"a name of words takes no wildcard; write {field.name}:{field.values[0]}"
                raise QueryError(text, match.start("name"), fault)
            return f"{match[2]}label:{field.label(value)}"
        if field.label(value) not in field.labels:
            known = ", ".join(field.values)
            fault = f"{value!r} is no value of {field.name}; its values are: {known}"
            raise QueryError(text, match.start("name"), fault)
        return f'{match[2]}label:"{field.label(value)}"'

    return re.sub(CONDITION_FORM.format(names), as_label, text, flags=re.IGNORECASE)


def define_coding(
    store: Store, fields: Iterable[CodingField] = (), rules: Iterable[CodingRule] = ()
) -> Coding:
    """Add or replace fields and rules of a store, or remove them, and return all of them.

    A field without values is removed, and a rule that needs `nothing`. Labels stay as they are.
    Raises `UsageError` for a rule about what no field has.
    """
    return review_file(store).define(fields, rules)


class ReviewFile:
    """The fields of coding, assignments of families, joined documents, notes, saved searches and
    terms.

    Safe for threads and processes.

    Raises `StoreStopped` when the file cannot be written, `StoreDamaged` when it is not whole.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        error_of = partial(
            journal_error, path=path, file="the review file", remedy_of_damage=_MOVE_AWAY
        )
        self._file = LazyFile(partial(_open, path), error_of)

    def coding(self) -> Coding:
        """Return the fields and rules of the store, in the order in which they were defined.

        Raises `StoreDamaged` for some that cannot be parsed.
        """
        if self._is_absent():
            return NO_CODING
        with self._file.transaction() as db:
            return self._coding_in(db)

    def _coding_in(self, db: sqlite3.Connection) -> Coding:
        rows = db.execute("SELECT kind, text FROM coding ORDER BY rowid").fetchall()
        try:
            fields = tuple(CodingField.parse(text) for kind, text in rows if kind == _FIELD)
            return Coding(
                fields, tuple(CodingRule.parse(text) for kind, text in rows if kind == _RULE)
            )
        except UsageError as error:
            raise StoreDamaged(
                path=str(self._path), reason=str(error), remedy=_MOVE_AWAY
            ) from error

    def define(self, fields: Iterable[CodingField], rules: Iterable[CodingRule]) -> Coding:
        """Add, replace or remove fields and rules, as `define_coding` does."""
        with self._file.transaction() as db:
            db.execute("BEGIN IMMEDIATE")  # others wait, so that none loses what they define
            coding = self._coding_in(db).changed(fields, rules)
            rows = [(_FIELD, str(field)) for field in coding.fields]
            rows += [(_RULE, str(rule)) for rule in coding.rules]
            db.execute("DELETE FROM coding WHERE kind != ?", (_MATTER,))
            db.executemany("INSERT INTO coding VALUES (?, ?)", rows)
        return coding

    def matter(self) -> str:
        """Return the name of what is reviewed, empty if nobody gave one."""
        if self._is_absent():
            return ""
        with self._file.transaction() as db:
            select = "SELECT text FROM coding WHERE kind = ?"
            return "".join(text for (text,) in db.execute(select, (_MATTER,)))

    def name_matter(self, name: str) -> None:
        """Name what is reviewed; an empty name removes the one that was given before."""
        with self._file.transaction() as db:
            db.execute("DELETE FROM coding WHERE kind = ?", (_MATTER,))
            if name:
                db.execute("INSERT INTO coding VALUES (?, ?)", (_MATTER, well_formed(name)))

    def assignments(self) -> dict[str, str]:
        """Return the reviewer of each family that has one."""
        if self._is_absent():
            return {}
        with self._file.transaction() as db:
            return dict(db.execute("SELECT family, reviewer FROM assignment").fetchall())

    def assign(self, families: Iterable[str], reviewer: str) -> None:
        """Give families to a reviewer, also those that others have; nobody's if it is empty."""
        names = [(well_formed(family),) for family in families]
        with self._file.transaction() as db:
            db.executemany("DELETE FROM assignment WHERE family = ?", names)
            if reviewer:
                rows = [(*name, reviewer) for name in names]
                db.executemany("INSERT INTO assignment VALUES (?, ?)", rows)

    def claim(self, family: str, reviewer: str) -> bool:
        """Give a family to a reviewer unless another one has it; return whether it is theirs."""
        with self._file.transaction() as db:
            db.execute("INSERT OR IGNORE INTO assignment VALUES (?, ?)", (family, reviewer))
            select = "SELECT reviewer FROM assignment WHERE family = ?"
            return bool(db.execute(select, (family,)).fetchone()[0] == reviewer)

    def move(self, families: Mapping[str, str]) -> None:
        """Give the reviewer of each family the one it is mapped to, unless another one has that."""
        with self._file.transaction() as db:
            for old, new in families.items():
                update = "UPDATE OR IGNORE assignment SET family = ? WHERE family = ?"
                db.execute(update, (new, old))
                db.execute("DELETE FROM assignment WHERE family = ?", (old,))

    def joined(self) -> dict[str, str]:
        """Return the documents that reviewers put into the family of another one, each with that
        one, in the order in which they did.
        """
        if self._is_absent():
            return {}
        with self._file.transaction() as db:
            return dict(db.execute("SELECT id, other FROM joined ORDER BY rowid").fetchall())

    def join(self, id: str, other: str, reviewer: str) -> None:
        """Remember that a document belongs to the family of another one."""
        at = datetime.now(timezone.utc).isoformat(timespec="seconds")
        with self._file.transaction() as db:
            db.execute("DELETE FROM joined WHERE id = ?", (id,))
            db.execute("INSERT INTO joined VALUES (?, ?, ?, ?)", (id, other, reviewer, at))

    def separate(self, id: str) -> None:
        """Forget that a document belongs to the family of another one."""
        with self._file.transaction() as db:
            db.execute("DELETE FROM joined WHERE id = ?", (id,))

    def notes(self, id: str) -> tuple[Note, ...]:
        """Return the notes on a document, the oldest first."""
        if self._is_absent():
            return ()
        select = "SELECT at, reviewer, text FROM note WHERE id = ? ORDER BY number"
        with self._file.transaction() as db:
            return tuple(Note(*row) for row in db.execute(select, (id,)))

    def noted(self) -> set[str]:
        """Return the documents that have notes."""
        if self._is_absent():
            return set()
        with self._file.transaction() as db:
            return {id for (id,) in db.execute("SELECT id FROM note")}

    def reviewed(self) -> set[str]:
        """Return the documents that have notes, that reviewers put into the family of another one,
        or into whose family they put one.
        """
        if self._is_absent():
            return set()
        select = "SELECT id FROM note UNION SELECT id FROM joined UNION SELECT other FROM joined"
        with self._file.transaction() as db:
            return {id for (id,) in db.execute(select)}

    def add_notes(self, ids: Iterable[str], reviewer: str, text: str) -> None:
        """Write a note on each of these documents."""
        at = datetime.now(timezone.utc).isoformat(timespec="seconds")
        rows = [(id, at, reviewer, well_formed(text)) for id in ids]
        with self._file.transaction() as db:
            insert = "INSERT INTO note (id, at, reviewer, text) VALUES (?, ?, ?, ?)"
            db.executemany(insert, rows)

    def merge(self, ids: Mapping[str, str]) -> None:
        """Move notes, joined groups and reviewers from each id to the one that it is mapped to."""
        if self._is_absent():
            return
        with self._file.transaction() as db:
            for old, new in ids.items():
                db.execute("UPDATE note SET id = ? WHERE id = ?", (new, old))
                db.execute("UPDATE OR IGNORE joined SET id = ? WHERE id = ?", (new, old))
                db.execute("UPDATE joined SET other = ? WHERE other = ?", (new, old))
                db.execute("DELETE FROM joined WHERE id = ? OR id = other", (old,))
        self.move(ids)

    def searches(self) -> tuple[SavedSearch, ...]:
        """Return the saved searches by name."""
        if self._is_absent():
            return ()
        with self._file.transaction() as db:
            rows = db.execute("SELECT name, address, reviewer FROM search ORDER BY name")
            return tuple(SavedSearch(*row) for row in rows)

    def save_search(self, name: str, address: str, reviewer: str) -> SavedSearch:
        """Save a search unless there is one of that name; return the one of that name."""
        values = (well_formed(name), well_formed(address), reviewer)
        with self._file.transaction() as db:
            db.execute("INSERT OR IGNORE INTO search VALUES (?, ?, ?)", values)
            select = "SELECT name, address, reviewer FROM search WHERE name = ?"
            return SavedSearch(*db.execute(select, values[:1]).fetchone())

    def delete_search(self, name: str) -> bool:
        """Delete a saved search; return whether there was one of that name."""
        with self._file.transaction() as db:
            delete = "DELETE FROM search WHERE name = ?"
            return db.execute(delete, (well_formed(name),)).rowcount > 0

    def terms(self) -> tuple[SavedTerm, ...]:
        """Return the terms to highlight, in the order in which they were saved."""
        if self._is_absent():
            return ()
        with self._file.transaction() as db:
            rows = db.execute("SELECT text, color, reviewer FROM term ORDER BY rowid")
            return tuple(SavedTerm(*row) for row in rows)

    def save_term(self, text: str, reviewer: str) -> None:
        """Save a term, unless it is saved, in the colour that the fewest have."""
        with self._file.transaction() as db:
            used = dict(db.execute("SELECT color, count(*) FROM term GROUP BY color").fetchall())
            color = min(range(1, COLORS + 1), key=lambda number: used.get(number, 0))
            values = (well_formed(text), color, reviewer)
            db.execute("INSERT OR IGNORE INTO term VALUES (?, ?, ?)", values)

    def delete_term(self, text: str) -> bool:
        """Delete a term; return whether there was such a one."""
        with self._file.transaction() as db:
            delete = "DELETE FROM term WHERE text = ?"
            return db.execute(delete, (well_formed(text),)).rowcount > 0

    def replace(self, source: Path) -> None:
        """Replace all of it by a copy, in one step."""
        with self._file.transaction() as db, closing(connect_journal(source)) as copy:
            copy.backup(db)
            _create(db)

    def _is_absent(self) -> bool:
        return not self._file.is_open and (self._path is None or not self._path.exists())


def _open(path: Path | None) -> sqlite3.Connection:
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(
        path or ":memory:", timeout=_TIMEOUT_SECONDS, check_same_thread=False
    )
    _create(connection)
    return connection


def _create(db: sqlite3.Connection) -> None:
    """Create the tables that are absent, as in a file of an earlier nearfold."""
    for statement in _SCHEMA:
        db.execute(statement)


def check_review(path: Path) -> None:
    """Raise `StoreDamaged` for a file that is not whole, or holds no notes and assignments."""
    try:
        with closing(connect_journal(path)) as db:
            (report,) = db.execute("PRAGMA quick_check(1)").fetchone()
            for table in ("assignment", "note"):
                db.execute(f"SELECT * FROM {table} LIMIT 0")
    except sqlite3.DatabaseError as error:
        report = str(error)
    if report != "ok":
        raise StoreDamaged(
            path=str(path),
            reason=report,
            remedy="move it away: notes and assignments are not put back then",
        )


# Requests that wait for the job that holds a store's journal: files in a folder next to it. They
# are stored durably, in order, and removed after they are done. Each process writes a file of its
# own, which it locks; a process that starts takes over the requests of those that ended.

_WAITING = (
    "CREATE TABLE IF NOT EXISTS waiting "
    "(number INTEGER PRIMARY KEY AUTOINCREMENT, request TEXT NOT NULL)"
)
_LOSES_WAITING = "move it away: the labellings that wait are lost then"


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
            remedy_of_damage=_LOSES_WAITING,
        )
        self._file = LazyFile(partial(_open_waiting, folder), error_of)

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


def _open_waiting(folder: Path | None) -> sqlite3.Connection:
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
            connection.execute(_WAITING)
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
            own.execute(_WAITING.replace("waiting", "other.waiting", 1))
            own.execute("INSERT INTO waiting (request) SELECT request FROM other.waiting")
            own.execute("DELETE FROM other.waiting")
    finally:
        own.execute("DETACH other")
