"""Grouping: the families and clusters of a whole store, written back to it.

The result depends on the documents and the settings alone, not on the order in which they came or
on what was grouped before.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from indexer.clustering.families import (
    ConnectedTexts,
    Graph,
    Principal,
    Visit,
    assign_principals,
    principal_order,
    sum_similarities,
)
from indexer.errors import UsageError
from indexer.grouping.account import GroupResult, account
from indexer.jobs.history import record_job
from indexer.jobs.journal import Journal, journal_path
from indexer.joins.bands import CapReport
from indexer.joins.copies import PairFilter
from indexer.joins.slot_bounds import similarity_intervals
from indexer.matching.band_pairs import BandPairs
from indexer.matching.collection import Collection, Entry, collect, gather
from indexer.matching.likely_pairs import find_band_pairs
from indexer.matching.limits import ALMOST_ONE, CAP, check_measure, memory_budget
from indexer.matching.text_pairs import AT_ONCE
from indexer.matching.verification import MatchContext, Verifier
from indexer.model import Assignment
from indexer.recipe import Recipe
from indexer.similarity.rescore import Z999
from indexer.sketch.plan import plan_for_recall
from indexer.stores.base import Store
from indexer.stores.requirements import require_recipe, scope_view
from indexer.system.progress_callback import Progress, no_progress
from indexer.system.spill_files import DEFAULT_MEGABYTES

RECALL = 0.998
_ASSIGNED = ("family", "principal", "similarity", "cluster", "provisional")


@dataclass(frozen=True, slots=True)
class Settings:
    """How families are made. Bands are planned so that 99.8 % of the pairs at the lower threshold
    share one.
    """

    threshold: float = 0.8
    measure: str = "jaccard"
    principal: Principal = "longest"
    cluster_threshold: float | None = None
    cap: int = CAP

    @property
    def chained(self) -> float:
        """The threshold of clusters: that of families unless it was given."""
        return self.threshold if self.cluster_threshold is None else self.cluster_threshold

    @property
    def least(self) -> float:
        """The lower of both thresholds, for which bands are planned."""
        return min(self.threshold, self.chained)

    def check(self, recipe: Recipe) -> None:
        """Raise `UsageError` or `UnknownMeasure` for what cannot be done."""
        self.check_values()
        if not recipe.minhash:
            raise UsageError(
                f"recipe {recipe.name} has no MinHash slots to make families by; index with another recipe"
            )

    def check_values(self) -> None:
        """Raise `UsageError` for a value out of its range, `UnknownMeasure` for a name that is
        none, whatever the recipe.
        """
        check_measure(self.measure)
        for value in (self.threshold, self.chained):
            if not 0 < value <= 1:
                raise UsageError(f"a threshold must lie between 0 (exclusive) and 1, not {value}")
        if self.cap < 2:
            raise UsageError(f"the cap must be 2 or more, not {self.cap}")


@dataclass(slots=True)
class FamilyAssignments:
    """The family fields of every document of a collection, in its order, and what caps left out on
    the way.
    """

    assignments: list[Assignment]
    capped: CapReport = field(default_factory=CapReport)


def group(
    store: Store,
    *,
    threshold: float = 0.8,
    measure: str = "jaccard",
    principal: Principal = "longest",
    cluster_threshold: float | None = None,
    cap: int = CAP,
    memory: int = DEFAULT_MEGABYTES,
    within: Literal["labels"] | None = None,
    write: bool = True,
    of: Literal["documents", "parts"] = "documents",
    progress: Progress = no_progress,
) -> GroupResult:
    """Make the families and clusters of a store, and write them back unless `write` is False.

    Complete documents are visited in principal order (`longest`, `first` by time, `central` by
    summed similarity to their matches); each joins the most similar earlier principal that shares a
    band and whose `measure` is `threshold` or more, or becomes one. Truncated documents come last
    and only join. Clusters connect documents through any chain of pairs at `cluster_threshold`
    (default: `threshold`). `cap`: of a band that more distinct texts share, all are compared with
    the first in principal order only. `memory`: megabytes for slots and pairs, what does not fit is
    written to temporary files; the families themselves take about 1 KB a document beside it.
    `within` labels: families and clusters are those that the documents of each set of labels would
    have alone, so that who may see one member may see all; the store is read once more for each
    set. `of` parts: families and clusters of clauses, across documents and within them; those of
    documents stay.

    Run again it gives the same families, also when it was cut short before. Raises `UsageError`,
    `UnknownMeasure`, `StoreBusy` while another job works on the store, and `StoreError` when
    nothing was indexed yet.
    """
    recipe = require_recipe(store)
    settings = Settings(threshold, measure, principal, cluster_threshold, cap)
    settings.check(recipe)
    store = scope_view(store, of)
    with Journal(journal_path(store.address)) as journal, record_job(journal, "group") as job:
        pairs: list[tuple[Entry, Assignment]] = []
        capped = CapReport()
        for collection in _compartments(store, recipe, within, progress, memory):
            made = assign_families(
                collection, Verifier(store, collection, measure), settings, progress
            )
            pairs += zip(collection.entries, made.assignments, strict=True)
            capped = capped.merge(made.capped)
        changed = [after for before, after in sorted(pairs, key=_turn) if not _same(before, after)]
        if write:
            store.assign(changed)
            store.refresh()
        done = account(pairs, len(changed), capped)
        job.counts.update(documents=done.documents, families=done.families, changed=done.changed)
    return done


def _compartments(
    store: Store, recipe: Recipe, within: Literal["labels"] | None, progress: Progress, memory: int
) -> Iterator[Collection]:
    """The whole store, or the documents of one set of labels after the other, by their names."""
    if within is None:
        yield collect(store, recipe, progress, memory_budget(memory))
        return
    store.refresh()
    sizes = Counter(frozenset(row.labels) for row in store.scan())
    for labels in sorted(sizes, key=sorted):
        rows = (row for row in store.scan() if frozenset(row.labels) == labels)
        yield gather(rows, recipe, sizes[labels], progress, memory_budget(memory))


def assign_families(
    collection: Collection, verifier: Verifier, settings: Settings, progress: Progress = no_progress
) -> FamilyAssignments:
    """The families and clusters of a collection, nothing written."""
    entries, settings_order = collection.entries, settings.principal
    layout = plan_for_recall(min(settings.least, ALMOST_ONE), RECALL, collection.slots.shape[1])
    everything = PairFilter(collection.documents, None, None)
    order = _order(collection, "longest" if settings_order == "central" else settings_order, [])
    rank = _text_rank(collection, order)
    least = fewest_equal(settings.measure, collection.slots.shape[1], settings.least)
    context = MatchContext(collection, verifier, everything, progress)
    found = find_band_pairs(context, layout, rank, least, settings.threshold, settings.cap)
    if settings_order == "central":
        order = _order(
            collection, "central", _sums(collection, verifier, found, settings.threshold)
        )
    joined = _joined(collection, verifier, found, order, settings, progress)
    clusters = _clusters(collection, verifier, found, order, joined, settings)
    made = []
    for place, entry in enumerate(entries):
        head, similarity = joined.get(place, (place, None))
        leads = head == place and entry.status == "complete"
        made.append(Assignment(entry.id, entries[head].id, leads, similarity, clusters.get(place)))
    return FamilyAssignments(made, found.capped)


def fewest_equal(measure: str, width: int, threshold: float) -> int:
    """The fewest of `width` slots equal in a pair that is not ruled out: its 99.9 % interval ends
    at the threshold or above.

    For `estimate` the slots are the measure, and other measures are not ruled out by slots.

    >>> fewest_equal("jaccard", 128, 0.8), fewest_equal("overlap", 128, 0.8)
    (88, 0)
    """
    return (
        int(np.argmax(similarity_intervals(width, Z999)[1] >= threshold))
        if measure == "jaccard"
        else 0
    )


def _order(collection: Collection, kind: Principal, sums: list[float]) -> list[int]:
    """Documents with keys in principal order, the truncated ones after all others."""
    texts, central = collection.documents.texts, np.zeros(len(collection.entries))
    if sums:
        central[texts >= 0] = np.array(sums)[texts[texts >= 0]]
    rows = [
        (entry.words, entry.modified, entry.status == "complete") for entry in collection.entries
    ]
    words, modified = [row[0] for row in rows], [row[1] for row in rows]
    order = principal_order(kind, words, modified, central.tolist(), collection.entries.ids)
    return sorted(
        (place for place in order if texts[place] >= 0), key=lambda place: not rows[place][2]
    )


def _text_rank(collection: Collection, order: list[int]) -> NDArray[np.int64]:
    """For each text the first place in the order of a document that carries it."""
    rank = np.zeros(len(collection.documents), dtype=np.int64)
    for place, document in reversed(list(enumerate(order))):
        rank[_text(collection, document)] = place
    return rank


def _sums(
    collection: Collection, verifier: Verifier, found: BandPairs, threshold: float
) -> list[float]:
    def similar() -> Iterator[tuple[int, int, float]]:
        for left, right, _ in found.blocks(size=AT_ONCE):
            values = verifier.similarities(left, right, threshold)
            kept = values >= threshold
            yield from zip(
                left[kept].tolist(), right[kept].tolist(), values[kept].tolist(), strict=True
            )

    return sum_similarities(similar(), collection.documents.sizes.tolist())


def _joined(
    collection: Collection,
    verifier: Verifier,
    found: BandPairs,
    order: list[int],
    settings: Settings,
    progress: Progress,
) -> dict[int, tuple[int, float | None]]:
    least = fewest_equal(settings.measure, collection.slots.shape[1], settings.threshold)
    similar = partial(verifier.measure_with, least=settings.threshold)
    near = ((left, right) for left, right, _ in found.blocks(least))
    graph = Graph(near, len(collection.documents), collection.budget)

    def visits() -> Iterator[Visit]:
        for done, document in enumerate(order):
            progress("grouping", done, len(order))
            yield Visit(
                document,
                _text(collection, document),
                collection.entries[document].status == "complete",
            )

    return assign_principals(
        visits(), graph, len(collection.documents), similar, settings.threshold
    )


def _clusters(
    collection: Collection,
    verifier: Verifier,
    found: BandPairs,
    order: list[int],
    joined: dict[int, tuple[int, float | None]],
    settings: Settings,
) -> dict[int, str]:
    """The cluster of each document that is in one: the id of its first document in principal
    order.
    """
    chains = ConnectedTexts(len(collection.documents))
    if settings.chained <= settings.threshold:
        for document, (head, _) in joined.items():
            chains.join(_text(collection, document), _text(collection, head))
    similar = partial(verifier.measure_pairs, least=settings.chained)
    for left, right in found.nearest_first():
        chains.extend(
            list(zip(left.tolist(), right.tolist(), strict=True)), similar, settings.chained
        )
    members: dict[int, list[int]] = defaultdict(list)
    for document in order:
        members[chains.root(_text(collection, document))].append(document)
    several = (places for places in members.values() if len(places) > 1)
    return {place: collection.entries[places[0]].id for places in several for place in places}


def _text(collection: Collection, document: int) -> int:
    return int(collection.documents.texts[document])


def _turn(change: tuple[Entry, Assignment]) -> int:
    """Principals are written first, and those that were principals last, so that every member has
    one at any moment.
    """
    before, after = change
    return 0 if after.principal else 2 if before.principal is not False else 1


def _same(before: Entry, after: Assignment) -> bool:
    return all(getattr(before, name) == getattr(after, name) for name in _ASSIGNED)
