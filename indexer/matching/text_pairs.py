"""Pairs of the distinct texts of a collection: likely ones by their slots, or all of them by their
features.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from indexer.errors import UsageError
from indexer.joins.bands import CapReport, Join
from indexer.joins.copies import PairFilter
from indexer.joins.external_sort import Codes, Sorter, bits_for
from indexer.joins.hot_bands import HotBands, MissedEstimate
from indexer.joins.memory_budget import BLOCK, parts
from indexer.joins.pair_codes import decode_pair
from indexer.joins.prefixes import FeatureOrder, SimilarSets
from indexer.joins.runs import Places
from indexer.joins.slot_bounds import enough_equal, fewest_equal
from indexer.joins.slot_counter import SlotCounter
from indexer.matching.collection import Collection
from indexer.matching.verification import VerifiedPairs, Verifier
from indexer.sketch.plan import Plan
from indexer.system.progress_callback import Progress

AT_ONCE = 1 << 14


class Sharing:
    """Pairs of texts that share a band, and how many of their slots are equal; ascending by left,
    then right.

    `candidates` counts all that share a band, those with too few equal slots included. A pair takes
    8 bytes of the memory budget.
    """

    def __init__(self, collection: Collection) -> None:
        count, width = collection.slots.shape
        self._budget = collection.budget
        self._text_bits, self._slot_bits = (
            np.uint64(bits_for(count)),
            np.uint64(bits_for(width + 1)),
        )
        if 2 * self._text_bits + self._slot_bits > 64:
            raise UsageError(
                f"{count:,} distinct texts are too many for one machine; use nearfold on Spark"
            )
        self._sorter: Sorter | None = Sorter(self._budget)
        self._codes: Codes = np.zeros(0, dtype=np.uint64)
        self.candidates = 0
        self.capped = CapReport()

    def add(self, left: Places, right: Places, equal: NDArray[np.uint16]) -> None:
        """Take more pairs, each once."""
        if self._sorter is None:
            raise ValueError("the pairs are sorted already")
        pairs = left.astype(np.uint64) << self._text_bits | right.astype(np.uint64)
        self._sorter.add(pairs << self._slot_bits | equal.astype(np.uint64))

    def sort(self) -> None:
        """Put the pairs in order; none may be added afterwards."""
        if self._sorter is not None:
            self._codes, self._sorter = self._sorter.sorted(), None

    def __len__(self) -> int:
        return len(self._codes)

    def blocks(
        self, least: int = 0, size: int = BLOCK
    ) -> Iterator[tuple[Places, Places, NDArray[np.uint16]]]:
        """The pairs with `least` equal slots or more, as left, right and equal slots; `size` are
        looked at a time.
        """
        for part in parts(len(self._codes), min(size, self._budget.block)):
            codes = self._codes[part]
            equal = (codes & _ones(self._slot_bits)).astype(np.uint16)
            kept = equal >= least
            pairs = codes[kept] >> self._slot_bits
            yield (
                (pairs >> self._text_bits).astype(np.int32),
                (pairs & _ones(self._text_bits)).astype(np.int32),
                equal[kept],
            )

    def nearest_first(self) -> Iterator[tuple[Places, Places]]:
        """The pairs, those with most equal slots first, then in order."""
        sorter, both = Sorter(self._budget), np.uint64(2) * self._text_bits
        for part in parts(len(self._codes), self._budget.block):
            apart = ~self._codes[part] & _ones(self._slot_bits)
            sorter.add(apart << both | self._codes[part] >> self._slot_bits)
        codes = sorter.sorted()
        for part in parts(len(codes), AT_ONCE):
            pairs = codes[part] & _ones(both)
            yield (
                (pairs >> self._text_bits).astype(np.int32),
                (pairs & _ones(self._text_bits)).astype(np.int32),
            )


def _ones(bits: np.uint64) -> np.uint64:
    ones: np.uint64 = np.uint64((1 << int(bits)) - 1)
    return ones


@dataclass(frozen=True, slots=True)
class TextPairs:
    """Pairs of texts at or above a threshold, sorted. `exact`: measured on the texts, else
    estimated from the slots.

    `within`: where it was asked, (pairs, 2) how much of the left text is in the right one, and of
    the right in the left.
    """

    left: Places
    right: Places
    similarity: NDArray[np.float64]
    exact: NDArray[np.bool_]
    candidates: int
    capped: CapReport
    within: NDArray[np.float64] | None = None


def sharing(
    collection: Collection,
    verifier: Verifier,
    layout: Plan,
    rank: NDArray[np.int64],
    least: int,
    limits: tuple[int, float],
    wanted: PairFilter,
    progress: Progress,
) -> Sharing:
    """The wanted pairs that share a band of this layout and have `least` equal slots or more;
    `limits`: the cap, the threshold.

    Texts of least `rank` are the centres of hot bands; of the pairs that these leave out a sample
    is verified at the threshold. The memory budget holds 4 bytes a band and text, 5 a slot and text, 8 a
    pair.
    """
    cap, threshold = limits
    join = Join(collection.slots, layout.bands, layout.rows, rank, cap, collection.budget)
    counter = SlotCounter(collection.slots, collection.budget)
    found = Sharing(collection)
    for left, right in join.blocks():
        found.candidates += len(left)
        found.add(*counter.at_least(*wanted.texts(left, right), least))
        progress("comparing slots", join.done, join.total)
    found.sort()
    found.capped = join.capped
    if join.hot.pairs:
        found.capped = replace(
            found.capped, missed=_missed(join.hot, counter, least, wanted, verifier, threshold)
        )
    return found


def _missed(
    hot: HotBands,
    counter: SlotCounter,
    least: int,
    wanted: PairFilter,
    verifier: Verifier,
    threshold: float,
) -> MissedEstimate:
    """Verify the pairs drawn from hot bands that would have been listed, had they been looked
    at.
    """
    weights, (smaller, larger) = hot.weights(), hot.sides
    order = np.lexsort((larger, smaller))
    order = order[weights[order] > 0]
    left, right = smaller[order], larger[order]
    found = np.zeros(len(weights), dtype=bool)
    promising = counter.reaches(left, right, least) & wanted.may_include(left, right)
    order, left, right = order[promising], left[promising], right[promising]
    found[order] = verifier.similarities(left, right, threshold) >= threshold
    return hot.missed(threshold, found, weights)


def likely(
    collection: Collection,
    verifier: Verifier,
    threshold: float,
    layout: Plan,
    wanted: PairFilter,
    exact: bool,
    cap: int,
    progress: Progress,
) -> TextPairs:
    """Pairs that share a band: the slots decide what they can of `jaccard`, the texts the rest, or
    all of it if `exact`.

    Pairs whose 95 % interval ends below the threshold are out. `estimate` needs no texts, every
    other measure reads them.
    """
    width = collection.slots.shape[1]
    decided = enough_equal(verifier.measure, width, threshold, exact)
    fewest, rank = (
        fewest_equal(verifier.measure, width, threshold),
        np.arange(len(collection.slots)),
    )
    found = sharing(collection, verifier, layout, rank, fewest, (cap, threshold), wanted, progress)
    made, total = (
        VerifiedPairs(collection, threshold),
        sum(int((equal < decided).sum()) for _, _, equal in found.blocks()),
    )
    done = 0
    for left, right, equal in found.blocks(size=AT_ONCE):
        measured = equal < decided
        similarity = equal / width
        similarity[measured] = verifier.similarities(left[measured], right[measured], threshold)
        made.add(left, right, similarity, measured)
        done += int(measured.sum())
        progress("verifying pairs", done, total)
    return TextPairs(*made.columns(), found.candidates, found.capped)


def complete(
    collection: Collection,
    verifier: Verifier,
    threshold: float,
    wanted: PairFilter,
    progress: Progress,
) -> TextPairs:
    """Every wanted pair whose `jaccard` similarity is `threshold` or more; reads all texts twice
    or more.

    The memory budget holds about three bits for each feature of a text, and at high thresholds 8 bytes for
    each feature of a prefix.
    """
    similar = _similar_sets(collection, verifier, threshold, progress)
    codes = similar.candidates(lambda done, total: progress("ruling out pairs", done, total))
    made, candidates = VerifiedPairs(collection, threshold), 0
    for part in parts(len(codes), AT_ONCE):
        left, right = wanted.texts(*decode_pair(codes[part]))
        made.add(left, right, verifier.similarities(left, right), np.ones(len(left), dtype=bool))
        candidates += len(left)
        progress("verifying pairs", part.stop, len(codes))
    return TextPairs(*made.columns(), candidates, CapReport())


def _similar_sets(
    collection: Collection, verifier: Verifier, threshold: float, progress: Progress
) -> SimilarSets:
    order, sizes = FeatureOrder(), np.zeros(len(collection.documents), dtype=np.int64)
    for text, side in enumerate(verifier.every(progress, "counting features")):
        order.count(side.features.hashes)
        sizes[text] = len(side.features)
    similar = SimilarSets(sizes, order, threshold, collection.budget)
    for text, side in enumerate(verifier.every(progress, "choosing features")):
        similar.put(text, side.features.hashes)
    return similar
