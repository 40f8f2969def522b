"""The groups that other thresholds would make, from pairs that are measured once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.band_plan import feature_similarities, plan_for_recall
from indexer.comparing.reasons import Rarity
from indexer.defaults import CAP
from indexer.errors import UsageError
from indexer.fingerprinting.keys import band_hashes
from indexer.fingerprinting.minhash import similarity_intervals, slot_similarity
from indexer.grouping.candidates import BandPairs, Join, SlotCounter
from indexer.grouping.collection import Collection
from indexer.grouping.group import Grouping
from indexer.grouping.group_options import GroupOptions
from indexer.grouping.principals import sum_equal_slots, sum_similarities
from indexer.grouping.verification import Verifier
from indexer.model import Progress
from indexer.stores.abilities import FullStore
from indexer.system.external_memory import decode_pair, encode_pair

Numbers32 = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class ThresholdFamilies:
    """The groups at one threshold.

    `representatives`: the principal of each document, itself where it has none. `families`: how
    many have two documents or more; `gathered`: the documents in those, principals included;
    `largest`: the documents in the largest; `moved`: the documents whose group differs from before.
    """

    threshold: float
    representatives: Numbers32
    families: int
    gathered: int
    largest: int
    moved: int


def summarise(threshold: float, representatives: Numbers32, before: Numbers32) -> ThresholdFamilies:
    """Return the groups of documents by their principals, compared with those before.

    >>> summarise(0.9, np.array([0, 0, 2]), np.array([0, 1, 2])).moved
    1
    """
    sizes = np.bincount(representatives, minlength=1)
    several = sizes[sizes > 1]
    moved = int(np.count_nonzero(representatives != before))
    return ThresholdFamilies(
        threshold,
        representatives,
        len(several),
        int(several.sum()),
        int(sizes.max(initial=0)),
        moved,
    )


class SimilarPairs:
    """Documents by the numbers of their `texts`, and the similar pairs of texts, each once.

    `order` returns the documents in the order in which they may become principals at a threshold.
    """

    def __init__(
        self,
        texts: Numbers32,
        pairs: tuple[Numbers32, Numbers32],
        similarity: NDArray[np.float64],
        order: Callable[[float], Sequence[int]],
    ) -> None:
        self._texts = texts
        self._order = order
        count = int(texts.max(initial=-1)) + 1
        left, right = pairs
        both = np.concatenate([left, right])
        values = np.concatenate([similarity, similarity])
        by_text = np.lexsort((-values, both))
        self._others: list[int] = np.concatenate([right, left])[by_text].tolist()
        self._values: list[float] = values[by_text].tolist()
        self._ends: list[int] = np.searchsorted(both[by_text], np.arange(count + 1)).tolist()
        carriers = np.bincount(texts, minlength=count)
        self._has_similar = (np.diff(self._ends) > 0) | (carriers > 1)

    def representatives(self, threshold: float) -> Numbers32:
        """Return the principal of each document, itself where it has none, at a threshold that is
        not below that of the pairs.

        >>> two = np.array([0, 1], dtype=np.int32)
        >>> pairs = SimilarPairs(two, (two[:1], two[1:]), np.array([0.9]), lambda _: [0, 1])
        >>> pairs.representatives(0.9).tolist(), pairs.representatives(0.95).tolist()
        ([0, 0], [0, 1])
        """
        representatives = np.arange(len(self._texts), dtype=np.int32)
        representative_of_text = [-1] * (len(self._ends) - 1)
        ranks: dict[int, int] = {}
        order = np.asarray(self._order(threshold), dtype=np.int64)
        order = order[self._has_similar[self._texts[order]]]
        visits = zip(order.tolist(), self._texts[order].tolist(), strict=True)
        for position, text in visits:
            representative = representative_of_text[text]
            if representative < 0:
                representative = self._best(text, representative_of_text, ranks, threshold)
            if representative >= 0:
                representatives[position] = representative
            else:
                representative_of_text[text] = position
                ranks[position] = len(ranks)
        return representatives

    def _best(
        self,
        text: int,
        representative_of_text: Sequence[int],
        ranks: dict[int, int],
        threshold: float,
    ) -> int:
        """Return the most similar principal at the threshold, ties to the earlier; -1 for none."""
        best_representative, best = -1, threshold
        for position in range(self._ends[text], self._ends[text + 1]):
            value = self._values[position]
            if value < best:
                break
            representative = representative_of_text[self._others[position]]
            if representative >= 0 and (
                best_representative < 0 or ranks[representative] < ranks[best_representative]
            ):
                best_representative, best = representative, value
        return best_representative


FLOOR = 0.5  # minimum threshold of a preview
RECALL = 0.99  # planned share of the estimated pairs at .6
STARTS = (0.9, 0.8, 0.7, 0.6, FLOOR)  # from which on pairs are measured
MAX_GROUPED = 200_000  # pairs that `group` looks at, to be measured
MAX_VERIFIED = 20_000  # pairs at lower thresholds, to be measured
MAX_JOINED = 20_000_000  # pairs of unrelated texts that are expected to share a band
_GRID = np.arange(101) / 100
Codes = NDArray[np.uint64]


class SeparatedPair(NamedTuple):
    """Two documents that are similar enough, and whose texts do not meet the criteria."""

    similarity: float
    a: str
    b: str


@dataclass(frozen=True, slots=True)
class Level:
    """The pairs that decide from a threshold on; `estimated` by slots."""

    threshold: float
    pairs: SimilarPairs
    estimated: bool = False


class CollectionPreview:
    """The groups of a collection at any threshold from `FLOOR` on, as `group` would make them.

    From the threshold of the options on, the pairs are those that `group` with these options looks
    at, so that there the groups are the same; below it, those that `group` finds at the lowest of
    `STARTS` with at most `MAX_VERIFIED` pairs. They are measured on the texts. Below that
    threshold, and where `group` looks at more than `MAX_GROUPED`, the groups are estimated: of
    pairs that were not measured to reach it the similarity is the usual one by the measure of pairs
    with as many equal slots. `separated`: the pairs that were measured and do not meet the criteria
    on texts, by similarity, then id; the first documents of either text stand for all of them.
    """

    def __init__(
        self,
        store: FullStore,
        collection: Collection,
        options: GroupOptions,
        progress: Progress,
    ) -> None:
        self._collection = collection
        self._options = options
        self._progress = progress
        rarity = Rarity(store.vocabulary.frequencies)
        self._verifier = Verifier(store, collection, options.measure, rarity)
        refused: dict[tuple[int, int], float] = {}
        self._verifier.refused = refused
        self._grouping = Grouping(collection, self._verifier, options)
        self._first_order = self._grouping.first_order()
        self.levels = sorted(self._levels(), key=lambda level: level.threshold)
        separated = [
            SeparatedPair(value, *sorted(map(collection.first_id, pair)))
            for pair, value in refused.items()
        ]
        self.separated = sorted(separated, key=lambda pair: (-pair.similarity, pair.a, pair.b))

    @property
    def measured_from(self) -> float:
        """The minimum threshold that is not estimated; more than 1 if all are."""
        measured = [level.threshold for level in self.levels if not level.estimated]
        return min(measured, default=1.1)

    def representatives(self, threshold: float) -> Numbers32:
        """Return the principal of each document at a threshold, itself where it has none."""
        levels = [level for level in self.levels if level.threshold <= threshold]
        return (levels or self.levels)[-1].pairs.representatives(threshold)

    def _levels(self) -> list[Level]:
        threshold = self._options.threshold
        own = self._pairs(self._options, MAX_GROUPED)
        if own is None:
            codes, similarity = self._estimates()
            return [Level(FLOOR, self._similar(codes, similarity), estimated=True)]
        start, lower = self._lower()
        codes = np.union1d(own, lower)
        similarity = self._verifier.similarities(
            *decode_pair(codes), minimum=min(start, threshold), progress=self._progress
        )
        is_own = np.isin(codes, own)
        levels = [Level(threshold, self._similar(codes[is_own], similarity[is_own]))]
        if start < threshold:
            levels.append(Level(start, self._similar(codes, similarity)))
        if start > FLOOR:
            codes, similarity = _combine(self._estimates(), (codes, similarity), start)
            levels.append(Level(FLOOR, self._similar(codes, similarity), estimated=True))
        return levels

    def _lower(self) -> tuple[float, Codes]:
        """Return the lowest start with few enough pairs, else of the options, and the pairs."""
        start, lower = self._options.threshold, np.zeros(0, dtype=np.uint64)
        for threshold in STARTS:
            if threshold < start:
                options = replace(self._options, threshold=threshold, cluster_threshold=None)
                codes = self._pairs(options, MAX_VERIFIED)
                if codes is None:
                    break
                start, lower = threshold, codes
        return start, lower

    def _pairs(self, options: GroupOptions, limit: int) -> Codes | None:
        """Return the pairs that `group` looks at, ascending; None if there may be too many."""
        collection = self._collection
        texts = len(collection.slots)
        try:
            layout = options.band_plan(collection.recipe)
        except UsageError:  # too few slots to find such pairs
            return None
        expected = texts * texts / 2 * layout.recall(layout.unrelated)
        if options is not self._options and expected > MAX_JOINED:
            return None
        grouping = Grouping(collection, self._verifier, options)
        pairs = grouping.pairs(self._first_order, self._progress)
        minimum = grouping.min_equal(options.threshold)
        return _codes(pairs, minimum) if len(pairs) <= limit else None

    def _similar(self, codes: Codes, similarity: NDArray[np.float64]) -> SimilarPairs:
        pairs = decode_pair(codes)
        texts = self._collection.documents.texts

        def order(threshold: float) -> Sequence[int]:
            kind = self._options.principal_kind
            if kind == "original":
                return self._grouping.order(kind, self._sums_of_slots(*pairs, threshold))
            if kind != "central":
                return self._first_order
            near = similarity >= threshold
            columns = pairs[0][near], pairs[1][near], similarity[near]
            rows = zip(*(column.tolist() for column in columns), strict=True)
            sums = sum_similarities(rows, self._collection.documents.sizes.tolist())
            return self._grouping.order(kind, sums)

        return SimilarPairs(texts, pairs, similarity, order)

    def _sums_of_slots(self, left: Numbers32, right: Numbers32, threshold: float) -> list[float]:
        """Return the sums of `original` over the pairs that share a band planned for a
        threshold."""
        options, collection = self._options, self._collection
        if threshold != options.threshold:
            options = replace(options, threshold=threshold, cluster_threshold=None)
        slots = collection.slots
        layout = options.band_plan(collection.recipe)
        hashes = band_hashes(slots, layout.bands, layout.rows)
        minimum = self._grouping.min_equal(threshold)
        near = (hashes[left] == hashes[right]).any(axis=1)
        pairs = SlotCounter(slots).at_least(left[near], right[near], minimum)
        return sum_equal_slots([pairs], collection.documents.sizes, slots.shape[1])

    def _estimates(self) -> tuple[Codes, NDArray[np.float64]]:
        """Return the pairs with slots enough in common for `FLOOR`, and their usual similarity."""
        collection = self._collection
        width, bits = collection.slots.shape[1], collection.slot_bits
        layout = plan_for_recall(FLOOR + 0.1, RECALL, width)
        rank = np.arange(len(collection.slots))
        budget = collection.budget
        join = Join(collection.slots, layout.bands, layout.rows, rank, CAP, budget)
        counter = SlotCounter(collection.slots, budget)
        minimum = int(np.argmax(similarity_intervals(width, bits=bits)[1] >= FLOOR))
        pairs = BandPairs(len(collection.slots), width, budget)
        for left, right in join.blocks():
            pairs.add(*counter.at_least(left, right, minimum))
            self._progress("comparing sketches", join.done, join.total)
        pairs.sort()
        equal = np.concatenate([np.zeros(0, np.uint16), *(block[2] for block in pairs.blocks())])
        features = slot_similarity(equal, width, bits)
        similarity = usual_similarity(self._options.measure, features, collection.recipe.relation)
        return _codes(pairs, 0), similarity


def usual_similarity(measure: str, features: NDArray[np.float64], kind: str) -> NDArray[np.float64]:
    """Return the usual similarity by a measure of pairs whose features are so similar.

    >>> usual_similarity("jaccard", np.array([0.25, 1.0]), "chars_v1")
    array([0.25, 1.  ])
    """
    medians = [np.median(feature_similarities(measure, value, kind)) for value in _GRID]
    usual: NDArray[np.float64] = np.interp(features, np.maximum.accumulate(medians), _GRID)
    return usual


def _combine(
    estimated: tuple[Codes, NDArray[np.float64]],
    measured: tuple[Codes, NDArray[np.float64]],
    start: float,
) -> tuple[Codes, NDArray[np.float64]]:
    """Return all pairs; the similarities from `start` on are the measured ones."""
    codes = np.union1d(estimated[0], measured[0])
    values = np.zeros(len(codes))
    values[np.searchsorted(codes, estimated[0])] = estimated[1]
    values = np.minimum(values, np.nextafter(start, 0))
    is_known = measured[1] >= start
    values[np.searchsorted(codes, measured[0][is_known])] = measured[1][is_known]
    return codes, values


def _codes(pairs: BandPairs, minimum: int) -> Codes:
    codes = [encode_pair(left, right) for left, right, _ in pairs.blocks(minimum)]
    return np.concatenate([np.zeros(0, dtype=np.uint64), *codes])
