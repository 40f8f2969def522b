"""Labelling of documents and of the members of their families, which can be undone.

A reviewer who has judged one document may tag its near duplicates the same way, or have them queued
for a closer look. Which of the two is right depends on the label: near duplicates of documents that
are not responsive may be tagged without review, near duplicates of responsive ones should be looked
at (Dimm, "What is a near-dupe, really?").
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

from indexer.coding import Coding, CodingRule, label_names, trim_label
from indexer.comparing.measures import ComparedText, measure_pair
from indexer.comparing.reasons import explain
from indexer.defaults import MEASURE
from indexer.documents.base import PARENT
from indexer.errors import UnknownNumber, UsageError
from indexer.fingerprinting.fingerprint import rows_with_symbols
from indexer.jobs.review_file import review_file
from indexer.model import Mark, Query, Row
from indexer.recipe import Recipe
from indexer.stores.abilities import FullStore
from indexer.stores.fields import rows_of, storable_labels
from indexer.stores.journal import Journal, journal_path, read_journal, record_job
from indexer.stores.maintenance import Shareable
from indexer.stores.requirements import require_recipe, require_updatable, require_writable
from indexer.wording import count_of

# Attachment families: a mail and its attachments, by the metadata `parent_id` of attachments.

_MAX_SEARCHES = 20
MARKED = 200  # members of groups whose marks are read


def mail_of(row: Row) -> str:
    """Return the id of the mail to which a document is attached; its own id if it is no attachment.

    The mail may be missing from the store.
    """
    return row.metadata.get(PARENT) or row.id


def mail_documents(store: FullStore, mails: Sequence[str]) -> Iterator[Row]:
    """Yield the documents with these ids and their attachments, by id, without their texts.

    Up to 20 mails take a search each, more of them one pass over the store.
    """
    if len(mails) > _MAX_SEARCHES:
        wanted = set(mails)
        for row in store.scan():
            if mail_of(row) in wanted:
                yield replace(row, text="")
        return
    ids = set(mails)
    for mail in mails:
        ids.update(hit.id for hit in store.search(Query("", ((f"metadata.{PARENT}", mail),))).hits)
    for row in rows_of(store, sorted(ids)):
        yield replace(row, text="")


# Journal of labellings: the labels of each document before and after, so that they can be undone.

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

    `at`: the time when it began, ISO 8601 in UTC. `documents`: how many it changed; `restored`: how
    many of these have their labels back by an undo. `reviewer`: who made it, empty where that is
    not known.
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
        """Record the coming change durably, and return the number of the job."""
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


Reason: TypeAlias = Literal["label", "similarity", "named"]


@dataclass(frozen=True, slots=True)
class LabelOptions:
    """Options of `label`: what is added and removed, and what is done to families.

    `add`, `remove`: labels, one at least in both; they lose the white space around them, and
    repetitions. What an added label may hold is stated by `label_names`; any label may be removed.
    `family`: do the same to the other members of the documents' families; with `others` to these
    members alone, so that the documents keep their labels.
    `review`: leave all others of a family for review if a document in it carries, or gets, one of
    these labels; a document that carries it itself was judged, and is not listed.
    `threshold`: leave members of families for review whose similarity to every document named in
    their family is below it, by the default measure; from 0 (none) to 1.
    `leave`: ids of members that `family` leaves for review.
    `attachments`: a mail and its attachments are one unit: what is done to one of them is done to
    all, but not to those that are left for review, nor with `others` to documents that were named.
    `note`: a note on each document that changes, such as the reason.

    Raises `UsageError` for labels that cannot be stored, labels that are both added and removed,
    no labels at all, `others` without `family`, and a threshold out of its range.
    """

    add: Sequence[str] = ()
    remove: Sequence[str] = ()
    family: bool = False
    review: Collection[str] = ()
    threshold: float = 0.0
    others: bool = False
    attachments: bool = False
    leave: Collection[str] = ()
    note: str = ""

    def __post_init__(self) -> None:
        names = storable_labels({"add": label_names(self.add), "remove": trim_label(self.remove)})
        object.__setattr__(self, "add", tuple(names["add"]))
        object.__setattr__(self, "remove", tuple(names["remove"]))
        object.__setattr__(self, "note", self.note.strip())
        if self.others and not self.family:
            raise UsageError("--others selects members of a group; give --family too")
        if not 0 <= self.threshold <= 1:
            raise UsageError(f"a threshold must lie between 0 and 1, not {self.threshold}")
        if not (self.add or self.remove):
            raise UsageError("give labels to add (--label) or to remove (--remove)")
        both = sorted(set(self.add) & set(self.remove))
        if both:
            raise UsageError(f"cannot add and remove {', '.join(both)} at once")


@dataclass(frozen=True, slots=True)
class LabelUpdate:
    """A document whose labels change.

    `similarity` is to the nearest document that was named, and `marks` are the differences from it,
    of the first `MARKED` members; none for one that was named itself, and for one that changes
    because it belongs to the same mail as `attached_with`.
    """

    id: str
    path: str
    family: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    similarity: float | None = None
    attached_with: str | None = None
    marks: tuple[Mark, ...] = ()

    @property
    def lost(self) -> tuple[str, ...]:
        """Return the labels that the document has no more."""
        return tuple(label for label in self.before if label not in self.after)


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """A member of a family that is left for review.

    `reason`: `label` if a document of its family carries a label of `review`, `similarity` if its
    own, to the nearest document that was named, is below `threshold`, `named` if `leave` has it.
    """

    id: str
    path: str
    family: str
    labels: tuple[str, ...]
    similarity: float
    reason: Reason


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """A rule of the coding that a labelling would break, and the ids of the documents of which."""

    label: str
    needs: str
    ids: tuple[str, ...]

    def __str__(self) -> str:
        rule = CodingRule(self.label, self.needs)
        return f"{rule}, which {count_of(len(self.ids), 'document')} would not have"


@dataclass(frozen=True, slots=True)
class LabelResult:
    """The changes that a labelling made, or would make on a dry run.

    `job` is its number for `undo_labels`, None when there is nothing to undo. `unchanged` documents
    had the labels already. `provisional`: members that are in their family on arrival only, not yet
    by `group`. All lists by family, then id. `state`: a digest of the labels that the documents
    had; `conflict`: they were not the labels of `seen`, and nothing was written. `waits`: it is
    written once the job ends that works on the store. `broken`: the rules of the coding that keep a
    dry run from being written.
    """

    job: int | None
    changes: tuple[LabelUpdate, ...]
    review: tuple[ReviewItem, ...]
    unchanged: int
    provisional: int
    absent: tuple[str, ...]
    state: str = ""
    conflict: bool = False
    waits: bool = False
    broken: tuple[BrokenRule, ...] = ()


def label(
    store: FullStore,
    ids: Sequence[str],
    options: LabelOptions,
    *,
    carrying: str | None = None,
    dry_run: bool = False,
    seen: str = "",
    reviewer: str = "",
) -> LabelResult:
    """Add and remove labels of documents, and of their families if the options say so.

    A label of a field that has one value (`define_coding`) replaces the other one of the field.
    Documents are named by id, or by a label that they carry (`carrying`). `dry_run` changes
    nothing, also while another job works on the store. `seen`: the `state` of a dry run, or the
    `labels_state` of the fields to change alone; if a document that would change has other labels
    by now, or other ones of these fields, nothing is written, and the result is a `conflict`.
    `reviewer`: whose labelling it is. What changes is in the journal before it is
    written, so that `undo_labels` can restore it, also after a run cut short. Raises `UsageError`,
    also where `labels` hold what other programs keep there and is no text, and for a label that is
    no value of its field or breaks a rule, `StoreBusy` while another job works on the store, and
    `StoreError` when nothing was indexed yet.
    """
    recipe = require_updatable(store) if dry_run else require_writable(store)
    store.refresh()
    carriers = _carriers(store, carrying) if carrying is not None else ()
    distinct = dict.fromkeys([*ids, *carriers])
    if not distinct and carrying is None:
        raise UsageError("give documents by id, or by a label that they have")
    if dry_run:
        return _planned(store, recipe, list(distinct), options)[0]
    with (
        LabelJournal(journal_path(store.address)) as journal,
        record_job(journal, "label") as record,
    ):
        result, state_of_fields = _planned(store, recipe, list(distinct), options)
        if not result.changes:
            return result
        if seen not in ("", result.state, state_of_fields):
            return replace(result, conflict=True)
        if result.broken:
            rules = "; ".join(map(str, result.broken))
            raise UsageError(f"nothing is labelled, because of the rules: {rules}")
        if options.note:
            ids = [change.id for change in result.changes]
            review_file(store).add_notes(ids, reviewer, options.note)
        job = write_labels(store, journal, options.add, options.remove, result.changes, reviewer)
        record.counts.update(changed=len(result.changes))
    return replace(result, job=job)


def _planned(
    store: FullStore, recipe: Recipe, ids: Sequence[str], options: LabelOptions
) -> tuple[LabelResult, str]:
    """Return what a labelling would change, as the documents are now, and the state of the fields
    that it is about.
    """
    named = {row.id: replace(row, text="") for row in rows_of(store, ids)}
    coding = review_file(store).coding()
    coding.check(options.add)
    plan = _Plan(options, coding)
    for row in named.values():
        if not options.others:
            plan.change(row)
    if options.family:
        _label_families(store, recipe, named.keys(), plan)
    if options.attachments:
        _label_attachments(store, named.keys(), plan)
    if isinstance(store.maintenance, Shareable):
        store.maintenance.check_labels([change.id for change in plan.changes])
    changed = (*options.add, *options.remove)
    of_fields = [(id, coding.related(labels, changed)) for id, labels in plan.states]
    result = LabelResult(
        job=None,
        changes=tuple(sorted(plan.changes, key=_by_family)),
        review=tuple(sorted(plan.review, key=_by_family)),
        unchanged=plan.unchanged,
        provisional=plan.provisional,
        absent=tuple(id for id in ids if id not in named),
        state=labels_state(plan.states),
        broken=_broken(store, coding, plan),
    )
    return result, labels_state(of_fields)


def _broken(store: FullStore, coding: Coding, plan: _Plan) -> tuple[BrokenRule, ...]:
    """Return the rules that planned changes would break."""
    ids: defaultdict[CodingRule, list[str]] = defaultdict(list)
    noted = review_file(store).noted() if coding.rules else set()
    for change in plan.changes:
        has_note = change.id in noted
        notes = has_note, has_note or bool(plan.options.note)
        for rule in coding.broken(change.before, change.after, notes):
            ids[rule].append(change.id)
    return tuple(BrokenRule(rule.label, rule.needs, tuple(ids[rule])) for rule in ids)


def labels_state(states: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Return a digest of the labels of documents, as (id, labels); the order does not matter.

    >>> labels_state([("a", ["x", "y"])]) == labels_state([("a", ["y", "x"])])
    True
    """
    lines = sorted(json.dumps([id, sorted(labels)]) for id, labels in states)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:32]


class _Plan:
    """Changes of labels, and members left for review, before anything is written."""

    def __init__(self, options: LabelOptions, coding: Coding) -> None:
        self.options = options
        self._coding = coding
        self.changes: list[LabelUpdate] = []
        self.review: list[ReviewItem] = []
        self.states: list[tuple[str, Sequence[str]]] = []
        self.mails: dict[str, str] = {}
        self.unchanged = 0
        self.provisional = 0

    def after(self, row: Row) -> tuple[str, ...]:
        """Return the labels of a document once it is labelled; new ones come last."""
        labels = self._coding.added(row.labels, self.options.add)
        return tuple(label for label in labels if label.strip() not in self.options.remove)

    def change(
        self,
        row: Row,
        similarity: float | None = None,
        attached_with: str | None = None,
        marks: tuple[Mark, ...] = (),
    ) -> None:
        """Plan the change of a document's labels; the other values as in `LabelUpdate`."""
        self.states.append((row.id, row.labels))
        self.mails[row.id] = mail_of(row)
        after = self.after(row)
        if set(after) == set(row.labels):
            self.unchanged += 1
            return
        update = LabelUpdate(
            row.id, row.path, row.family, row.labels, after, similarity, attached_with, marks
        )
        self.changes.append(update)
        self.provisional += row.provisional and similarity is not None


def _by_family(item: LabelUpdate | ReviewItem) -> tuple[str, str]:
    return item.family, item.id


def write_labels(
    store: FullStore,
    journal: LabelJournal,
    added: Sequence[str],
    removed: Sequence[str],
    updates: Sequence[LabelUpdate],
    reviewer: str,
) -> int:
    """Write changes to the journal, then to the store; return the number of the job."""
    changes = [LabelChange(item.id, item.path, item.before, item.after) for item in updates]
    job = journal.begin(added, removed, changes, reviewer)
    store.labels.relabel({item.id: item.after for item in updates})
    store.refresh()
    return job


def _label_families(store: FullStore, recipe: Recipe, named: Collection[str], plan: _Plan) -> None:
    """Plan the same change for the other members of families, or leave them for review."""
    review = frozenset(trim_label(plan.options.review))
    remaining = MARKED
    for name, ids in _families_of(store, named):
        representatives = list(rows_of(store, [id for id in ids if id in named]))
        members = list(rows_of(store, [id for id in ids if id not in named]))
        judged = [row.labels if plan.options.others else plan.after(row) for row in representatives]
        labels = frozenset().union(*judged, *(row.labels for row in members))
        of_family = _NamedDocuments(representatives, recipe)
        for row in members:
            member = _Member(row, of_family)
            similarity = member.similarity()
            reason: Reason | None = None
            if review & labels:
                reason = "label"
            elif row.id in plan.options.leave:
                reason = "named"
            elif similarity < plan.options.threshold:
                reason = "similarity"
            if reason is None:
                marks = member.marks() if remaining > 0 else ()
                remaining -= 1
                plan.change(row, similarity, marks=marks)
            elif not review & set(row.labels):
                item = ReviewItem(row.id, row.path, name, row.labels, similarity, reason)
                plan.review.append(item)


def _label_attachments(store: FullStore, named: Collection[str], plan: _Plan) -> None:
    """Plan the same change for the other documents of the mails of those that change."""
    first = {mail: id for id, mail in reversed(plan.mails.items())}
    settled = {*named, *plan.mails, *(item.id for item in plan.review)}
    for row in mail_documents(store, list(first)):
        if row.id not in settled:
            plan.change(row, attached_with=first[mail_of(row)])


def _families_of(store: FullStore, named: Collection[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the families of these documents, by name, each with all its documents, by id."""
    families: dict[str, list[str]] = defaultdict(list)
    names = sorted({row.family for row in rows_of(store, list(named))})
    for id, name in store.families.members("family", names):
        families[name].append(id)
    yield from sorted((name, sorted(ids)) for name, ids in families.items())


class _NamedDocuments:
    """The documents of a family that were named, to whose nearest the others are compared."""

    def __init__(self, rows: Sequence[Row], recipe: Recipe) -> None:
        self.rows, self.recipe = rows, recipe
        self.exact = {row.exact for row in rows_with_symbols(rows, recipe)}
        self.texts = [ComparedText(row.text, recipe) for row in rows]


class _Member:
    """A document next to the nearest named one, measured once by the default measure."""

    def __init__(self, row: Row, named: _NamedDocuments) -> None:
        self._row, self._named = row, named
        self._text = ComparedText(row.text, named.recipe)

    @cached_property
    def _similarities(self) -> list[float]:
        return [measure_pair(MEASURE, self._text, each).similarity for each in self._named.texts]

    def similarity(self) -> float:
        """Return the similarity to the nearest document; 0 if there are none."""
        if next(rows_with_symbols([self._row], self._named.recipe)).exact in self._named.exact:
            return 1.0
        return max(self._similarities, default=0.0)

    def marks(self) -> tuple[Mark, ...]:
        """Return the marks next to the nearest document; none if there are none."""
        values = self._similarities
        if not values:
            return ()
        nearest = values.index(max(values))
        embedded = self._named.rows[nearest].embedded, self._row.embedded
        return explain(self._named.texts[nearest], self._text, embedded=embedded).marks


def _carriers(store: FullStore, name: str) -> Iterator[str]:
    return (hit.id for hit in store.search(Query("", (("labels", name),))).hits)


# Undoing and listing of labellings.


@dataclass(frozen=True, slots=True)
class UndoResult:
    """The result of undoing labelling `job`.

    `restored`: documents with their labels back; `changed_since`: documents whose labels changed
    after the labelling, which keep them; `absent`: documents that are no longer there. `waits`: it
    is done once the job ends that works on the store.
    """

    job: int
    restored: tuple[LabelChange, ...]
    changed_since: tuple[LabelUpdate, ...]
    absent: tuple[str, ...]
    waits: bool = False


def undo_labels(
    store: FullStore, job: int, *, dry_run: bool = False, reviewer: str = ""
) -> UndoResult:
    """Restore the labels that documents had before a labelling, unless these changed since.

    `reviewer`: whose undo it is, for the history.

    A document that has these labels already counts as restored. Raises `UnknownNumber`,
    `UsageError` for a job that was undone, `StoreBusy` while another job works on the store, and
    `StoreError` when nothing was indexed yet.
    """
    require_writable(store)
    with (
        LabelJournal(journal_path(store.address)) as journal,
        record_job(journal, "undo_labels") as record,
    ):
        changes = _changes_of(journal, job)
        ids = [change.id for change in changes]
        rows = {row.id: row for row in rows_of(store, ids)}
        restored: list[LabelChange] = []
        changed_since: list[LabelUpdate] = []
        for change in changes:
            row = rows.get(change.id)
            if row is None:
                continue
            if set(row.labels) in (set(change.after), set(change.before)):
                restored.append(change)
            else:
                update = LabelUpdate(row.id, row.path, row.family, change.after, row.labels)
                changed_since.append(update)
        if not dry_run:
            _restore(store, restored, rows)
            journal.record_restored(job, [change.id for change in restored], reviewer)
            record.counts.update(restored=len(restored))
    absent = tuple(change.id for change in changes if change.id not in rows)
    return UndoResult(job, tuple(restored), tuple(changed_since), absent)


def label_history(store: FullStore) -> tuple[LabelJob, ...]:
    """Return the labellings of a store, the last one first, without locking its journal.

    Raises `StoreBusy` while a job works on the store.
    """
    require_recipe(store)
    return history(journal_path(store.address))


def label_events_of(store: FullStore, id: str | None = None) -> tuple[LabelEvent, ...]:
    """Return every change of a document's labels, or of all documents, the last one first.

    Locks no journal. Raises `StoreBusy` while a job works on the store.
    """
    require_recipe(store)
    return label_events(journal_path(store.address), id)


def _changes_of(journal: LabelJournal, job: int) -> list[LabelChange]:
    """Return the changes of a job that were not undone. Raises `UnknownNumber` and `UsageError`."""
    if not journal.has_job(job):
        raise UnknownNumber(
            what="labelling", number=job, remedy="`nearfold label --history` lists them"
        )
    changes = journal.changes(job)
    if not changes:
        raise UsageError(
            f"labelling {job} was undone already; `nearfold label --history` lists the others"
        )
    return changes


def _restore(store: FullStore, changes: Sequence[LabelChange], rows: dict[str, Row]) -> None:
    """Give these documents their labels back; those that have them already are not written."""
    different = [change for change in changes if rows[change.id].labels != change.before]
    store.labels.relabel({change.id: change.before for change in different})
    store.refresh()
