"""Assignment of families and clusters to a collection of documents; nothing is written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from indexer.clustering.field_order import FieldOrder, Value, parse_order
from indexer.clustering.principals import (
    ConnectedTexts,
    Graph,
    Principal,
    Visit,
    assign_principals,
    principal_order,
    sum_similarities,
)
from indexer.defaults import FOLD, MEASURE
from indexer.errors import UsageError
from indexer.joins.bands import CapReport
from indexer.joins.copies import PairFilter
from indexer.joins.slot_bounds import similarity_intervals
from indexer.matching.band_pairs import BandPairs
from indexer.matching.collection import Collection
from indexer.matching.likely_pairs import find_band_pairs
from indexer.matching.limits import CAP, check_cap, check_threshold
from indexer.matching.text_pairs import AT_ONCE
from indexer.matching.verification import MatchContext, Verifier
from indexer.model import Assignment, Row
from indexer.recipe import Recipe
from indexer.similarity.criteria import NO_CRITERIA, Criteria
from indexer.similarity.measures import check_measure
from indexer.similarity.rescore import Z999
from indexer.sketch.bbit import FULL
from indexer.sketch.plan import ALMOST_ONE, Plan, plan, plan_for_recall
from indexer.system.progress_callback import Progress, no_progress

RECALL = 0.998
_SETTINGS = ("threshold", "measure", "principal", "cluster_threshold", "within", "of")
NAMED_ORDERS: tuple[str, ...] = get_args(Principal)


@dataclass(frozen=True, slots=True)
class GroupOptions:
    """Options of `group`: how families and clusters are made.

    `threshold`: the least similarity of a member to its principal; above 0, at most 1.
    `measure`: the measure that decides, one of those that `indexer.similarity.measures` names.
    `principal`: the order in which documents may become principals: `longest` (most words
    first), `first` (oldest first), `central` (greatest sum of similarities to its matches
    first), or a field as `indexer.clustering.field_order` writes it, such as `modified:desc`;
    ties by id.
    `cluster_threshold`: the least similarity of a pair in a cluster; above 0, at most 1; None
    means `threshold`.
    `cap`: of a band that more distinct texts share, all are compared with the first in principal
    order only; at least 2.
    `within`: `labels` keeps families and clusters inside each set of labels, as if its documents
    were alone in the store, so that who may see one member may see all; None sets no bounds.
    `of`: `documents`, or `parts` for families and clusters of clauses, across documents and
    within them; the families of documents stay.
    `criteria`: what members meet with their principal, and pairs in clusters, beside the threshold.

    Bands are planned so that 99.8 % of the pairs at the lower of both thresholds share one.
    Raises `UsageError` for a value out of its range and `UnknownMeasure`.
    """

    threshold: float = FOLD
    measure: str = MEASURE
    principal: str = "longest"
    cluster_threshold: float | None = None
    cap: int = CAP
    within: Literal["labels"] | None = None
    of: Literal["documents", "parts"] = "documents"
    criteria: Criteria = NO_CRITERIA

    def __post_init__(self) -> None:
        check_measure(self.measure)
        check_threshold(self.threshold)
        check_threshold(self.threshold_of_clusters)
        check_cap(self.cap)
        self.check_principal()

    def band_plan(self, recipe: Recipe) -> Plan:
        """Return the bands by which members are found in sketches of a recipe."""
        threshold = min(self.least_threshold, ALMOST_ONE)
        if self.measure in ("jaccard", "estimate"):
            return plan_for_recall(threshold, RECALL, recipe.slots or 0)
        return plan(threshold, RECALL, self.measure, recipe)

    @property
    def threshold_of_clusters(self) -> float:
        """The threshold of clusters: that of families unless it was set."""
        return self.threshold if self.cluster_threshold is None else self.cluster_threshold

    @property
    def least_threshold(self) -> float:
        """The lower of both thresholds, for which bands are planned."""
        return min(self.threshold, self.threshold_of_clusters)

    def settings(self) -> dict[str, Any]:
        """Return what decides the families, by the names of the options."""
        values = {name: getattr(self, name) for name in _SETTINGS}
        values["cap"] = None if self.cap == CAP else self.cap
        given = {name: value for name, value in values.items() if value is not None}
        return {**given, **self.criteria.settings()}

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> GroupOptions:
        """Return the options whose `settings` these are.

        >>> GroupOptions.from_settings(GroupOptions(0.9, "lcs", cap=7).settings()).cap
        7
        """
        given = {name: settings[name] for name in (*_SETTINGS, "cap") if name in settings}
        return cls(**given, criteria=Criteria.from_settings(settings))

    @property
    def principal_kind(self) -> Principal | FieldOrder:
        """Return the order in which documents may become principals."""
        if self.principal in NAMED_ORDERS:
            return cast("Principal", self.principal)
        return parse_order(self.principal)

    def order_value(self, row: Row) -> Value:
        """Return what a document is ordered by, if that is a field."""
        kind = self.principal_kind
        return kind.value(row) if isinstance(kind, FieldOrder) else None

    def check_principal(self) -> None:
        """Raise `UsageError` for an order that does not exist."""
        try:
            self.principal_kind  # noqa: B018 - it parses
        except UsageError as error:
            names = ", ".join(NAMED_ORDERS)
            raise UsageError(f"{error}; principals also go by {names}") from error

    def check_recipe(self, recipe: Recipe) -> None:
        """Raise `UsageError` for a recipe without MinHash slots, or without the sketches of the
        measures.
        """
        if not recipe.minhash:
            raise UsageError(
                f"recipe {recipe.name} has no MinHash slots to make families by; "
                "index with another recipe"
            )
        self.criteria.check_sketches(recipe, self.measure)


DEFAULT_OPTIONS = GroupOptions()


@dataclass(slots=True)
class FamilyAssignments:
    """The family fields of every document of a collection, in its order, and what caps left
    out.
    """

    assignments: list[Assignment]
    capped: CapReport = field(default_factory=CapReport)


def assign_families(
    collection: Collection,
    verifier: Verifier,
    options: GroupOptions,
    progress: Progress = no_progress,
) -> FamilyAssignments:
    """Return the families and clusters of a collection.

    `within` and `of` of the options are not regarded: the collection is one compartment already.
    """
    grouping = Grouping(collection, verifier, options)
    order = grouping.first_order()
    pairs = grouping.pairs(order, progress)
    if options.principal == "central":
        order = grouping.order("central", grouping.similarity_sums(pairs))
    heads = grouping.heads(pairs, order, progress)
    clusters = grouping.clusters(pairs, order, heads)
    assignments = []
    joined = {head for place, (head, _) in heads.items() if head != place}
    for place, entry in enumerate(collection.entries):
        head, similarity = heads[place]
        principal = head == place and (entry.status == "complete" or place in joined)
        family = collection.entries[head].id
        cluster = clusters.get(place)
        assignments.append(Assignment(entry.id, family, principal, similarity, cluster))
    return FamilyAssignments(assignments, pairs.capped)


def fewest_equal(measure: str, threshold: float, recipe: Recipe) -> int:
    """Return the fewest slots equal in a pair that is not ruled out.

    For `jaccard` the 99.9 % interval of such a pair ends at the threshold or above. For other
    measures slots rule out a quarter of the pairs that `RECALL` lets bands and slots miss together.
    For `estimate` the slots are the measure, and rule nothing out beforehand.

    >>> from indexer.recipe import DEFAULT_V1
    >>> [fewest_equal(name, 0.8, DEFAULT_V1) for name in ("jaccard", "lcs", "estimate")]
    [88, 61, 0]
    """
    if measure == "estimate":
        return 0
    if measure == "jaccard":
        bits = recipe.packed or FULL
        return int(np.argmax(similarity_intervals(recipe.slots or 0, Z999, bits)[1] >= threshold))
    return plan(min(threshold, ALMOST_ONE), RECALL, measure, recipe).fewest_equal


@dataclass(frozen=True, slots=True)
class Grouping:
    """One grouping of a collection. Documents and texts are called by their numbers."""

    collection: Collection
    verifier: Verifier
    options: GroupOptions

    def first_order(self) -> list[int]:
        """Return the documents in principal order, by `longest` where similarities decide it."""
        kind = self.options.principal_kind
        return self.order("longest" if kind == "central" else kind)

    def order(self, kind: Principal | FieldOrder, sums: list[float] | None = None) -> list[int]:
        """Return the documents in principal order, those that are not complete after all
        others. `sums`: for `central`, the summed similarities of each text.
        """
        entries = self.collection.entries
        texts = self.collection.documents.texts
        central = np.zeros(len(entries))
        if sums:
            central = np.array(sums)[texts]
        rows = [
            (entry.words, entry.modified, entry.status == "complete", entry.order_value)
            for entry in entries
        ]
        words = [row[0] for row in rows]
        modified = [row[1] for row in rows]
        order = principal_order(
            kind, words, modified, central.tolist(), entries.ids, [row[3] for row in rows]
        )
        return sorted(order, key=lambda place: not rows[place][2])

    def pairs(self, order: list[int], progress: Progress) -> BandPairs:
        """Return the pairs of texts that may be similar enough for a family or a cluster."""
        options = self.options
        layout = options.band_plan(self.collection.recipe)
        everything = PairFilter(self.collection.documents, None, None)
        context = MatchContext(self.collection, self.verifier, everything, progress)
        ranks = self._text_ranks(order)[: len(self.collection.slots)]
        least = self.fewest_equal(options.least_threshold)
        return find_band_pairs(context, layout, ranks, least, options.threshold, options.cap)

    def similarity_sums(self, pairs: BandPairs) -> list[float]:
        """Return for each text the similarities of its documents to their matches, summed."""
        sizes = self.collection.documents.sizes.tolist()
        return sum_similarities(self._matches(pairs), sizes)

    def heads(
        self, pairs: BandPairs, order: list[int], progress: Progress
    ) -> dict[int, tuple[int, float | None]]:
        """Return the principal that each visited document joins and the similarity to it."""
        threshold = self.options.threshold
        similar = partial(self.verifier.measure_with, least=threshold)
        blocks = pairs.blocks(self.fewest_equal(threshold))
        near = ((left, right) for left, right, _ in blocks)
        texts = len(self.collection.documents)
        graph = Graph(near, texts, self.collection.budget)
        return assign_principals(self._visits(order, progress), graph, texts, similar, threshold)

    def clusters(
        self,
        pairs: BandPairs,
        order: list[int],
        heads: dict[int, tuple[int, float | None]],
    ) -> dict[int, str]:
        """Return the cluster of each document that is in one: the id of its first document in
        principal order.
        """
        threshold = self.options.threshold_of_clusters
        chains = ConnectedTexts(len(self.collection.documents))
        if threshold <= self.options.threshold:
            for document, (head, _) in heads.items():
                chains.join(self._text(document), self._text(head))
        similar = partial(self.verifier.measure_pairs, least=threshold)
        for left, right in pairs.nearest_first():
            block = list(zip(left.tolist(), right.tolist(), strict=True))
            chains.extend(block, similar, threshold)
        members: dict[int, list[int]] = defaultdict(list)
        for document in order:
            members[chains.root(self._text(document))].append(document)
        clusters: dict[int, str] = {}
        for places in members.values():
            if len(places) > 1:
                clusters |= dict.fromkeys(places, self.collection.entries[places[0]].id)
        return clusters

    def _visits(self, order: list[int], progress: Progress) -> Iterator[Visit]:
        for done, document in enumerate(order):
            progress("grouping", done, len(order))
            yield Visit(document, self._text(document))

    def _matches(self, pairs: BandPairs) -> Iterator[tuple[int, int, float]]:
        """Yield the pairs of texts at the threshold or above with their similarity."""
        threshold = self.options.threshold
        for left, right, _ in pairs.blocks(size=AT_ONCE):
            values = self.verifier.similarities(left, right, threshold)
            similar = values >= threshold
            columns = left[similar], right[similar], values[similar]
            yield from zip(*(column.tolist() for column in columns), strict=True)

    def _text_ranks(self, order: list[int]) -> NDArray[np.int64]:
        """Return for each text the first place in the order of a document that carries it."""
        ranks = np.zeros(len(self.collection.documents), dtype=np.int64)
        for place, document in reversed(list(enumerate(order))):
            ranks[self._text(document)] = place
        return ranks

    def fewest_equal(self, threshold: float) -> int:
        """Return the fewest slots equal in a pair that slots do not rule out at a threshold."""
        return fewest_equal(self.options.measure, threshold, self.collection.recipe)

    def _text(self, document: int) -> int:
        return int(self.collection.documents.texts[document])
