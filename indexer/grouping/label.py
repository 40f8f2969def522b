"""Labelling of documents and of the members of their families, which can be undone.

A reviewer who has judged one document may tag its near duplicates the same way, or have them queued
for a closer look. Which of the two is right depends on the label: near duplicates of what is not
responsive may be tagged without review, those of what is responsive should be looked at (Dimm,
"What is a near-dupe, really?").
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from indexer.defaults import MEASURE
from indexer.errors import UsageError
from indexer.grouping.attachment_families import mail_documents, mail_of
from indexer.grouping.label_journal import LabelChange, LabelJournal
from indexer.grouping.label_names import label_names, trim_label
from indexer.jobs.history import record_job
from indexer.jobs.journal import journal_path
from indexer.model import Query, Row
from indexer.recipe import Recipe
from indexer.similarity.measures import measure_pair
from indexer.similarity.sides import Side
from indexer.stores.abilities import FullStore
from indexer.stores.maintenance import Shareable
from indexer.stores.requirements import require_updatable, require_writable
from indexer.stores.row_limits import rows_of, storable_labels

Reason: TypeAlias = Literal["label", "similarity"]


@dataclass(frozen=True, slots=True)
class LabelOptions:
    """Options of `label`: what is added and removed, and what is done to families.

    `add`, `remove`: labels, one at least in both; they lose the white space around them, and
    repetitions. What an added label may hold is stated by `label_names`; any label may be removed.
    `family`: do the same to the other members of the documents' families; with `others` to these
    members alone, so that the documents keep their labels.
    `review`: with `family`, leave all others of a family for review in which a document carries,
    or gets, one of these labels; a document that carries it itself was judged, and is not listed.
    `threshold`: with `family`, leave members for review whose similarity to every document named in
    their family is below it, by the default measure; from 0 (none) to 1.
    `attachments`: a mail and its attachments are one unit: what is done to one of them is done to
    all, but not to those that are left for review, nor with `others` to documents that were named.

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

    def __post_init__(self) -> None:
        names = storable_labels({"add": label_names(self.add), "remove": trim_label(self.remove)})
        object.__setattr__(self, "add", tuple(names["add"]))
        object.__setattr__(self, "remove", tuple(names["remove"]))
        if self.others and not self.family:
            raise UsageError("the others are those of a family; ask for the family too (--family)")
        if not 0 <= self.threshold <= 1:
            raise UsageError(f"a threshold must lie between 0 and 1, not {self.threshold}")
        if not (self.add or self.remove):
            raise UsageError("say which labels to add (--label) or to remove (--remove)")
        both = sorted(set(self.add) & set(self.remove))
        if both:
            raise UsageError(f"cannot add and remove {', '.join(both)} at once")


@dataclass(frozen=True, slots=True)
class LabelUpdate:
    """A document whose labels change.

    `similarity` is to the nearest document that was named; None for one that was named itself, and
    for one that changes because it belongs to the same mail as `attached_with`.
    """

    id: str
    path: str
    family: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    similarity: float | None = None
    attached_with: str | None = None

    @property
    def lost(self) -> tuple[str, ...]:
        """Return the labels that the document has no more."""
        return tuple(label for label in self.before if label not in self.after)


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """A member of a family that is left for review.

    `reason`: `label` if a document of its family carries a label of `review`, `similarity` if its
    own, to the nearest document that was named, is below `threshold`.
    """

    id: str
    path: str
    family: str
    labels: tuple[str, ...]
    similarity: float
    reason: Reason


@dataclass(frozen=True, slots=True)
class LabelResult:
    """The changes that a labelling made, or would make on a dry run.

    `job` is its number for `undo_labels`, None when there is nothing to undo. `unchanged` documents
    had the labels already. `provisional`: members that are in their family on arrival only, not yet
    by `group`. All lists by family, then id. `state`: a digest of the labels that the documents
    had; `conflict`: they were not those of `seen`, and nothing was written. `waits`: it is
    written once the job ends that works on the store.
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

    Documents are named by id, or by a label that they carry (`carrying`). `dry_run` changes
    nothing, also while another job works on the store. `seen`: the `state` of a dry run; if a
    document that would change has other labels by now, nothing is written, and the result is a
    `conflict`. `reviewer`: whose labelling it is. What changes is in the journal before it is
    written, so that `undo_labels` can restore it, also after a run cut short. Raises `UsageError`,
    also where `labels` hold what other programs keep there and is no text, `StoreBusy` while
    another job works on the store, and `StoreError` when nothing was indexed yet.
    """
    recipe = require_updatable(store) if dry_run else require_writable(store)
    store.refresh()
    carriers = _carriers(store, carrying) if carrying is not None else ()
    distinct = dict.fromkeys([*ids, *carriers])
    if not distinct and carrying is None:
        raise UsageError("name documents by id, or by a label that they carry")
    if dry_run:
        return _planned(store, recipe, list(distinct), options)
    with (
        LabelJournal(journal_path(store.address)) as journal,
        record_job(journal, "label") as record,
    ):
        result = _planned(store, recipe, list(distinct), options)
        if not result.changes:
            return result
        if seen not in ("", result.state):
            return replace(result, conflict=True)
        job = write_labels(store, journal, options.add, options.remove, result.changes, reviewer)
        record.counts.update(changed=len(result.changes))
    return replace(result, job=job)


def _planned(
    store: FullStore, recipe: Recipe, ids: Sequence[str], options: LabelOptions
) -> LabelResult:
    """Return what a labelling would change, as the documents are now."""
    named = {row.id: replace(row, text="") for row in rows_of(store, ids)}
    plan = _Plan(options)
    for row in named.values():
        if not options.others:
            plan.change(row)
    if options.family:
        _label_families(store, recipe, named.keys(), plan)
    if options.attachments:
        _label_attachments(store, named.keys(), plan)
    if isinstance(store.maintenance, Shareable):
        store.maintenance.check_labels([change.id for change in plan.changes])
    return LabelResult(
        job=None,
        changes=tuple(sorted(plan.changes, key=_by_family)),
        review=tuple(sorted(plan.review, key=_by_family)),
        unchanged=plan.unchanged,
        provisional=plan.provisional,
        absent=tuple(id for id in ids if id not in named),
        state=labels_state(plan.states),
    )


def labels_state(states: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Return a digest of the labels of documents, as (id, labels); the order does not matter.

    >>> labels_state([("a", ["x", "y"])]) == labels_state([("a", ["y", "x"])])
    True
    """
    lines = sorted(json.dumps([id, sorted(labels)]) for id, labels in states)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:32]


class _Plan:
    """Changes of labels, and members left for review, before anything is written."""

    def __init__(self, options: LabelOptions) -> None:
        self.options = options
        self.changes: list[LabelUpdate] = []
        self.review: list[ReviewItem] = []
        self.states: list[tuple[str, Sequence[str]]] = []
        self.mails: dict[str, str] = {}
        self.unchanged = 0
        self.provisional = 0

    def after(self, row: Row) -> tuple[str, ...]:
        """Return the labels of a document once it is labelled; new ones come last."""
        labels = dict.fromkeys((*row.labels, *self.options.add))
        return tuple(label for label in labels if label.strip() not in self.options.remove)

    def change(
        self, row: Row, similarity: float | None = None, attached_with: str | None = None
    ) -> None:
        """Plan the change of a document's labels; the other values as in `LabelUpdate`."""
        self.states.append((row.id, row.labels))
        self.mails[row.id] = mail_of(row)
        after = self.after(row)
        if set(after) == set(row.labels):
            self.unchanged += 1
            return
        update = LabelUpdate(
            row.id, row.path, row.family, row.labels, after, similarity, attached_with
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
    for name, ids in _families_of(store, named):
        heads = list(rows_of(store, [id for id in ids if id in named]))
        members = list(rows_of(store, [id for id in ids if id not in named]))
        judged = [row.labels if plan.options.others else plan.after(row) for row in heads]
        labels = frozenset().union(*judged, *(row.labels for row in members))
        nearest = _Nearest(heads, recipe)
        for row in members:
            similarity = nearest.similarity(row)
            reason: Reason | None = None
            if review & labels:
                reason = "label"
            elif similarity < plan.options.threshold:
                reason = "similarity"
            if reason is None:
                plan.change(row, similarity)
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


class _Nearest:
    """Similarity to the nearest of some documents, by the default measure."""

    def __init__(self, heads: Sequence[Row], recipe: Recipe) -> None:
        self._recipe = recipe
        self._exact = {row.exact for row in heads}
        self._sides = [Side(row.text, recipe) for row in heads]

    def similarity(self, row: Row) -> float:
        """Return the similarity of a document to the nearest one; 0 if there are none."""
        if row.exact in self._exact:
            return 1.0
        side = Side(row.text, self._recipe)
        values = (measure_pair(MEASURE, side, head).similarity for head in self._sides)
        return max(values, default=0.0)


def _carriers(store: FullStore, name: str) -> Iterator[str]:
    return (hit.id for hit in store.search(Query("", (("labels", name),))).hits)
