"""Assignment of families and clusters to a collection of documents; nothing is written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from indexer.clustering.field_order import FieldOrder
from indexer.clustering.principals import (
    ConnectedTexts,
    Graph,
    Principal,
    SimilarityFunction,
    Visit,
    assign_principals,
    principal_order,
    sum_equal_slots,
    sum_similarities,
)
from indexer.grouping.group_options import GroupOptions
from indexer.grouping.measured_pairs import MeasuredPairs
from indexer.joins.bands import CapReport
from indexer.joins.copies import PairFilter
from indexer.joins.slot_bounds import fewest_equal
from indexer.matching.band_pairs import BandPairs
from indexer.matching.collection import Collection
from indexer.matching.likely_pairs import find_band_pairs
from indexer.matching.sketch_pairs import collect_sketch_pairs
from indexer.matching.text_pairs import AT_ONCE
from indexer.matching.verification import MatchContext, Verifier
from indexer.model import Assignment
from indexer.sketch.sketch_options import equal_parts, has_sketch_alone, sketch_size
from indexer.system.progress_callback import Progress, no_progress

SUMMED = ("original", "central")  # orders that go by all pairs of a document


@dataclass(slots=True)
class FamilyAssignments:
    """The family fields of every document of a collection, in its order.

    `capped`: the pairs that caps left out.
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

    Ignores `within` and `of` of the options: they decide which documents are in the collection.
    """
    grouping = Grouping(collection, verifier, options)
    order = grouping.first_order()
    pairs = grouping.pairs(order, progress)
    if options.principal in SUMMED:
        order = grouping.order(options.principal_kind, grouping.sums(pairs))
    measured = MeasuredPairs(verifier, options, collection.budget)
    heads = grouping.heads(pairs, order, progress, measured)
    clusters = grouping.clusters(pairs, order, heads, measured)
    assignments = []
    joined = {head for place, (head, _) in heads.items() if head != place}
    for place, entry in enumerate(collection.entries):
        head, similarity = heads[place]
        principal = head == place and (entry.status == "complete" or place in joined)
        family = collection.entries[head].id
        cluster = clusters.get(place)
        assignments.append(Assignment(entry.id, family, principal, similarity, cluster))
    return FamilyAssignments(assignments, pairs.capped)


@dataclass(frozen=True, slots=True)
class Grouping:
    """The steps of grouping one collection.

    Documents are places in `collection.entries`, texts are their numbers in it.
    """

    collection: Collection
    verifier: Verifier
    options: GroupOptions

    def first_order(self) -> list[int]:
        """Return the documents in principal order as it is before pairs are known.

        Without sums `original` goes by words, and `central` is `longest`.
        """
        kind = self.options.principal_kind
        return self.order("longest" if kind == "central" else kind)

    def order(self, kind: Principal | FieldOrder, sums: list[float] | None = None) -> list[int]:
        """Return the documents in principal order, complete ones before all others.

        `sums`: of each text, for `central` and `original`.
        """
        entries = self.collection.entries
        texts = self.collection.documents.texts
        summed = np.zeros(len(entries))
        if sums:
            summed = np.array(sums)[texts]
        rows = [
            (entry.words, entry.modified, entry.status == "complete", entry.order_value)
            for entry in entries
        ]
        words = [row[0] for row in rows]
        modified = [row[1] for row in rows]
        order = principal_order(
            kind, words, modified, summed.tolist(), entries.ids, [row[3] for row in rows]
        )
        return sorted(order, key=lambda place: not rows[place][2])

    def pairs(self, order: list[int], progress: Progress) -> BandPairs:
        """Return the pairs of texts that may be similar enough for a family or a cluster."""
        options = self.options
        everything = PairFilter(self.collection.documents, None, None)
        context = MatchContext(self.collection, self.verifier, everything, progress)
        ranks = self._text_ranks(order)[: len(self.collection.chars)]
        if has_sketch_alone(self.collection.recipe):
            return collect_sketch_pairs(context, ranks, options.least_threshold, options.cap)
        layout = options.band_plan(self.collection.recipe)
        least = self.fewest_equal(options.least_threshold)
        return find_band_pairs(context, layout, ranks, least, options.threshold, options.cap)

    def sums(self, pairs: BandPairs) -> list[float]:
        """Return for each text the similarities of its documents to their matches, summed.

        For `original` it is the equal slots of the pairs that may be matches: no text is read.
        """
        sizes = self.collection.documents.sizes
        if self.options.principal == "central":
            return sum_similarities(self._matches(pairs), sizes.tolist())
        blocks = pairs.blocks(self.fewest_equal(self.options.threshold))
        return sum_equal_slots(blocks, sizes, self._width)

    def heads(
        self,
        pairs: BandPairs,
        order: list[int],
        progress: Progress,
        measured: MeasuredPairs | None = None,
    ) -> dict[int, tuple[int, float | None]]:
        """Return the principal of each document and the similarity to it, by document.

        A document that joins none is its own principal, with similarity None. `measured` takes the
        pairs that are measured.
        """
        assigned = self.assign(pairs, order, progress, measured=measured)
        return {document: (head, similarity) for document, head, similarity in assigned}

    def assign(
        self,
        pairs: BandPairs,
        order: list[int],
        progress: Progress,
        known: NDArray[np.int32] | None = None,
        measured: MeasuredPairs | None = None,
    ) -> Iterator[tuple[int, int, float | None]]:
        """Yield each document in order with its principal and the similarity, as `heads` does.

        `known`: the principal of each document that was assigned before, -1 of the others; those
        that were are not yielded again.
        """
        threshold = self.options.threshold
        measure = partial(self.verifier.measure_with, least=threshold)
        similar: SimilarityFunction = measured.measure_with if measured else measure
        blocks = pairs.blocks(self.fewest_equal(threshold))
        near = ((left, right) for left, right, _ in blocks)
        texts = len(self.collection.documents)
        graph = Graph(near, texts, self.collection.budget)
        visits = self._visits(order, progress)
        return assign_principals(
            visits, graph, texts, similar, threshold, known, self.verifier.read_ahead
        )

    def clusters(
        self,
        pairs: BandPairs,
        order: list[int],
        heads: dict[int, tuple[int, float | None]],
        measured: MeasuredPairs,
    ) -> dict[int, str]:
        """Return the cluster of each document that is in one.

        It is named by the id of its first document in principal order. Pairs that families have
        `measured` are not measured again.
        """
        threshold = self.options.threshold_of_clusters
        chains = ConnectedTexts(len(self.collection.documents))
        if threshold <= self.options.threshold:
            for document, (head, _) in heads.items():
                chains.join(self._text(document), self._text(head))
        similar = partial(self.verifier.measure_pairs, least=threshold)
        for a, b in zip(*(side.tolist() for side in measured.connected()), strict=True):
            chains.join(a, b)
        for left, right in pairs.nearest_first():
            is_open = ~measured.contains(left, right)
            block = list(zip(left[is_open].tolist(), right[is_open].tolist(), strict=True))
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
        """Return the fewest equal slots, bits or rare terms of a pair at a threshold."""
        if has_sketch_alone(self.collection.recipe):
            return equal_parts(self.collection.recipe, threshold)
        return fewest_equal(self.options.measure, threshold, self.collection.recipe)

    @property
    def _width(self) -> int:
        """The slots of a sketch, or its bits or rare terms where it has no slots."""
        recipe = self.collection.recipe
        return sketch_size(recipe) if has_sketch_alone(recipe) else self.collection.slots.shape[1]

    def _text(self, document: int) -> int:
        return int(self.collection.documents.texts[document])
