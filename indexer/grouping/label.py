"""Labels: put on documents and carried to the members of their families, with a journal that can be
undone.

A reviewer who has judged one document may tag its near duplicates the same way, or have them queued
for a closer look. Which of the two is right depends on the label: near duplicates of what is not
responsive may be tagged without review, those of what is responsive should be looked at (Dimm,
"What is a near-dupe, really?").
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from indexer.errors import UnknownNumber, UsageError
from indexer.grouping.label_journal import LabelChange, LabelJob, LabelJournal, history
from indexer.grouping.label_names import label_names, trim_label
from indexer.jobs.history import record_job
from indexer.jobs.journal import journal_path
from indexer.model import Query, Row
from indexer.recipe import Recipe
from indexer.similarity.measures import FeatureSet, jaccard
from indexer.similarity.sides import feature_set
from indexer.stores.base import Store
from indexer.stores.requirements import require_recipe
from indexer.stores.row_limits import rows_of, storable_labels

Reason: TypeAlias = Literal["label", "similarity"]


@dataclass(frozen=True, slots=True)
class LabelUpdate:
    """A document whose labels change. `similarity` to the nearest document that was named; None for
    one that was named.
    """

    id: str
    path: str
    family: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """A member of a family that is left for review: `label`, since a document of its family carries
    a label that asks for it; `similarity`, since it is less similar to the documents that were
    named than was asked.
    """

    id: str
    path: str
    family: str
    labels: tuple[str, ...]
    similarity: float
    reason: Reason


@dataclass(frozen=True, slots=True)
class LabelResult:
    """What a labelling changed, or would change on a dry run; `job` undoes it, None when there is
    nothing to undo.

    `unchanged` documents had the labels already. `provisional`: members that are in their family on
    arrival only, not yet by `group`. All lists by family, then id.
    """

    job: int | None
    changes: tuple[LabelUpdate, ...]
    review: tuple[ReviewItem, ...]
    unchanged: int
    provisional: int
    absent: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UndoResult:
    """What became of a labelling that was undone: labels given back, kept because they changed
    since, documents gone.
    """

    job: int
    restored: tuple[LabelChange, ...]
    changed_since: tuple[LabelUpdate, ...]
    absent: tuple[str, ...]


def label(
    store: Store,
    ids: Sequence[str] = (),
    *,
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
    carrying: str | None = None,
    family: bool = False,
    review: Collection[str] = (),
    threshold: float = 0.0,
    dry_run: bool = False,
) -> LabelResult:
    """Add and remove labels of documents, named by id or by a label that they carry, and of all
    members of their families.

    With `family` what is done to a document is done to the others of its family as well, but for
    those that are left for review: all others of a family in which a document carries, or is given,
    a label of `review` (who carries it itself was judged already), and those whose `jaccard`
    similarity to every document named in their family is below `threshold`. `dry_run` changes
    nothing.

    Labels lose the white space around them; what they may hold says `label_names`. Any label may be
    removed, whatever it holds. What changes is in the journal before it is written, so that
    `undo_labels` can restore it, also after a run cut short. Raises `UsageError`, `StoreBusy` while
    another job works on the store, and `StoreError` when nothing was indexed yet.
    """
    recipe = require_recipe(store)
    added, removed = _checked(add, remove, threshold)
    store.refresh()
    wanted = dict.fromkeys([*ids, *(_carriers(store, carrying) if carrying is not None else ())])
    if not wanted and carrying is None:
        raise UsageError("name documents by id, or by a label that they carry")
    with LabelJournal(journal_path(store.address)) as journal, record_job(journal, "label") as told:
        named = {row.id: replace(row, text="") for row in rows_of(store, list(wanted))}
        plan = _Plan(added, removed)
        for row in named.values():
            plan.change(row)
        if family:
            _to_families(
                store, recipe, named.keys(), plan, frozenset(trim_label(review)), threshold
            )
        changes = tuple(sorted(plan.changes, key=lambda one: (one.family, one.id)))
        job = None
        if changes and not dry_run:
            job = journal.begin(
                added,
                removed,
                [LabelChange(one.id, one.path, one.before, one.after) for one in changes],
            )
            store.relabel({one.id: one.after for one in changes})
            store.refresh()
            told.counts.update(changed=len(changes))
    queue = tuple(sorted(plan.review, key=lambda one: (one.family, one.id)))
    return LabelResult(
        job,
        changes,
        queue,
        plan.unchanged,
        plan.provisional,
        tuple(id for id in wanted if id not in named),
    )


def undo_labels(store: Store, job: int, *, dry_run: bool = False) -> UndoResult:
    """Give documents back the labels that they had before a labelling, unless their labels changed
    since.

    A document that has these labels already counts as restored. Raises `UnknownNumber`,
    `UsageError` for a job that was undone, `StoreBusy` while another job works on the store, and
    `StoreError` when nothing was indexed yet.
    """
    require_recipe(store)
    with (
        LabelJournal(journal_path(store.address)) as journal,
        record_job(journal, "undo_labels") as told,
    ):
        if not journal.knows(job):
            raise UnknownNumber(
                what="labelling", number=job, remedy="`nearfold label --history` lists them"
            )
        changes = journal.changes(job)
        if not changes:
            raise UsageError(f"labelling {job} was undone already")
        now = {row.id: row for row in rows_of(store, [one.id for one in changes])}
        fitting = [
            one
            for one in changes
            if one.id in now and set(now[one.id].labels) in (set(one.after), set(one.before))
        ]
        if not dry_run:
            store.relabel(
                {one.id: one.before for one in fitting if now[one.id].labels != one.before}
            )
            store.refresh()
            journal.restored(job, [one.id for one in fitting])
            told.counts.update(restored=len(fitting))
    restored = {one.id for one in fitting}
    strays = [(one, now[one.id]) for one in changes if one.id in now and one.id not in restored]
    since = tuple(
        LabelUpdate(row.id, row.path, row.family, one.after, row.labels) for one, row in strays
    )
    return UndoResult(
        job, tuple(fitting), since, tuple(one.id for one in changes if one.id not in now)
    )


def label_history(store: Store) -> tuple[LabelJob, ...]:
    """The labellings of a store, the last one first; no job is kept out. Raises `StoreBusy` while
    one works on the store.
    """
    require_recipe(store)
    return history(journal_path(store.address))


class _Plan:
    """What would change."""

    def __init__(self, added: tuple[str, ...], removed: tuple[str, ...]) -> None:
        self.added, self._removed = added, removed
        self.changes: list[LabelUpdate] = []
        self.review: list[ReviewItem] = []
        self.unchanged = self.provisional = 0

    def after(self, row: Row) -> tuple[str, ...]:
        """The labels of a document once it is labelled; new ones come last."""
        return tuple(
            one
            for one in dict.fromkeys((*row.labels, *self.added))
            if one.strip() not in self._removed
        )

    def change(self, row: Row, similarity: float | None = None) -> None:
        after = self.after(row)
        if set(after) == set(row.labels):
            self.unchanged += 1
            return
        self.changes.append(
            LabelUpdate(row.id, row.path, row.family, row.labels, after, similarity)
        )
        self.provisional += row.provisional and similarity is not None


def _checked(
    add: Iterable[str], remove: Iterable[str], threshold: float
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Both without repetitions, as a store would keep them; raises `UsageError` for what cannot be
    done.
    """
    given = storable_labels({"add": label_names(add), "remove": trim_label(remove)})
    if not 0 <= threshold <= 1:
        raise UsageError(f"a threshold must lie between 0 and 1, not {threshold}")
    if not (given["add"] or given["remove"]):
        raise UsageError("say which labels to add or to remove")
    if both := sorted(set(given["add"]) & set(given["remove"])):
        raise UsageError(f"cannot add and remove {', '.join(both)} at once")
    return tuple(given["add"]), tuple(given["remove"])


def _to_families(
    store: Store,
    recipe: Recipe,
    named: Collection[str],
    plan: _Plan,
    review: frozenset[str],
    threshold: float,
) -> None:
    """Do to the members of families what is done to the documents named in them, or leave them for
    review.
    """
    for name, ids in _families_of(store, named):
        heads = list(rows_of(store, [id for id in ids if id in named]))
        others = list(rows_of(store, [id for id in ids if id not in named]))
        carried = {one for row in heads for one in plan.after(row)} | {
            one for row in others for one in row.labels
        }
        near = _Nearest(heads, recipe)
        for row in others:
            similarity = near.similarity(row)
            reason: Reason | None = (
                "label" if review & carried else "similarity" if similarity < threshold else None
            )
            if reason is None:
                plan.change(row, similarity)
            elif not review & set(row.labels):
                plan.review.append(
                    ReviewItem(row.id, row.path, name, row.labels, similarity, reason)
                )


def _families_of(store: Store, named: Collection[str]) -> Iterator[tuple[str, list[str]]]:
    """The families of these documents, by name, each with all its documents, by id."""
    families: dict[str, list[str]] = defaultdict(list)
    for id, name in store.members(
        "family", sorted({row.family for row in rows_of(store, list(named))})
    ):
        families[name].append(id)
    yield from sorted((name, sorted(ids)) for name, ids in families.items())


class _Nearest:
    """How similar documents are to the nearest of some, by `jaccard`."""

    def __init__(self, heads: Sequence[Row], recipe: Recipe) -> None:
        self._recipe = recipe
        self._exact = {row.exact for row in heads}
        self._sets: list[FeatureSet] = [feature_set(row.text, recipe) for row in heads]

    def similarity(self, row: Row) -> float:
        if row.exact in self._exact:
            return 1.0
        features = feature_set(row.text, self._recipe)
        return max((jaccard(features, one) for one in self._sets), default=0.0)


def _carriers(store: Store, label: str) -> Iterator[str]:
    return (hit.id for hit in store.search(Query("", (("labels", label),))).hits)
