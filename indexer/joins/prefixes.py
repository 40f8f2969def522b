"""Candidate pairs without chance: every pair of sets whose Jaccard similarity reaches a threshold
is among them.

Sets are ordered by one total order of features, rare ones first. Two sets of similarity T or more
share a feature among the first |x| - ceil(T |x|) + 1 of each (Chaudhuri, Ganti & Kaushik, ICDE
2006; Bayardo, Ma & Srikant, WWW 2007), and the smaller has at least T times as many features as the
larger. Where the prefixes of most sets meet, as at low thresholds, it is faster to take all pairs
of fitting sizes. Either way parity maps rule out nearly all that are not similar.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from indexer.joins.bands import Places, has_partner, whole_runs
from indexer.joins.external_sort import Codes, MemoryBudget, Sorter, bits_for
from indexer.joins.parity_maps import SLACK, ParityMaps

COUNTERS = 1 << 22


class FeatureOrder:
    """A total order of features: by how often they were counted, then by hash. Counters are shared
    (4 million of them).

    Any order gives the same pairs in the end; a good one gives fewer candidates.
    """

    def __init__(self) -> None:
        self._counts = np.zeros(COUNTERS, dtype=np.uint32)

    def count(self, hashes: NDArray[np.uint64]) -> None:
        """Count the distinct features of one set; two that share a counter count once."""
        self._counts[_counter(hashes)] += 1

    def first(self, hashes: NDArray[np.uint64], length: int) -> tuple[NDArray[np.uint64], int]:
        """The first `length` of these features, and in how many sets they were counted, summed."""
        counts = self._counts[_counter(hashes)]
        order = np.lexsort((hashes, counts))[:length]
        return hashes[order], int(counts[order].sum())


class SimilarSets:
    """The pairs of sets that may be similar enough. `sizes`: how many features each has; all sets
    are then put in, one by one.

    Prefixes take 8 bytes a feature in the room, and are given up when they meet more often than
    there are pairs.
    """

    def __init__(
        self, sizes: NDArray[np.int64], order: FeatureOrder, threshold: float, budget: MemoryBudget
    ) -> None:
        self._order, self._threshold, self._budget = order, threshold, budget
        self._by_size = np.argsort(sizes, kind="stable").astype(np.int32)
        self._rank = np.empty(len(sizes), dtype=np.int64)
        self._rank[self._by_size] = np.arange(len(sizes))
        self._sizes = sizes[self._by_size]
        longest = np.floor(self._sizes / threshold + SLACK)
        self._reach = (
            np.searchsorted(self._sizes, longest, side="right") - 1
        )  # the last rank whose size fits
        self._maps = ParityMaps(self._sizes, budget)
        self._bits = np.uint64(bits_for(len(sizes)))
        self._prefixes: Sorter | None = Sorter(budget)
        self._meetings = 0
        self.pairs = int((self._reach - np.arange(len(sizes)))[self._sizes > 0].sum())

    def put(self, number: int, hashes: NDArray[np.uint64]) -> None:
        """Take the distinct hashes of one set's features."""
        rank = int(self._rank[number])
        self._maps.put(rank, hashes)
        if self._prefixes is None:
            return
        first, counted = self._order.first(hashes, prefix_length(len(hashes), self._threshold))
        self._prefixes.add(first >> self._bits << self._bits | np.uint64(rank))
        self._meetings += (counted - len(first)) // 2
        if self._meetings > self.pairs:
            self._prefixes = None

    def candidates(
        self, progress: Callable[[int, int], None] = lambda _done, _total: None
    ) -> Codes:
        """Pairs of sets as left << 32 | right, left < right, each once, ascending. A set without
        features is in none.

        `progress` hears how much of what there is to do is done.
        """
        found = Sorter(self._budget, unique=True)
        for done, total, left, right in self._meeting():
            near = self._maps.may_reach(left, right, self._threshold) & (left != right)
            one, other = (
                self._by_size[left[near]].astype(np.uint64),
                self._by_size[right[near]].astype(np.uint64),
            )
            found.add(np.minimum(one, other) << np.uint64(32) | np.maximum(one, other))
            progress(done, total)
        return found.sorted()

    def _meeting(self) -> Iterator[tuple[int, int, Places, Places]]:
        """Pairs of ranks of fitting sizes, the smaller set first: those whose prefixes meet, with
        repeats, or all.
        """
        block = self._budget.block
        if self._prefixes is None:
            ranks, done = np.flatnonzero(self._sizes), 0
            for left, right in has_partner(ranks, self._reach[ranks] - ranks, block):
                done += len(left)
                yield done, self.pairs, left.astype(np.int32), right.astype(np.int32)
            return
        codes, low = self._prefixes.sorted(), (np.uint64(1) << self._bits) - np.uint64(1)
        for part in whole_runs(codes, low, block):
            ranks = (codes[part] & low).astype(np.int64)
            last = codes[part] & ~low | self._reach[ranks].astype(np.uint64)
            places = np.arange(len(ranks))
            partners = np.searchsorted(codes[part], last, side="right") - places - 1
            for one, other in has_partner(places, partners, block):
                yield (
                    part.stop,
                    len(codes),
                    ranks[one].astype(np.int32),
                    ranks[other].astype(np.int32),
                )


def prefix_length(size: int, threshold: float) -> int:
    """How many features of a set of `size` features suffice to meet every set that is similar
    enough; 0 for none.

    >>> prefix_length(10, 0.8), prefix_length(10, 0.7), prefix_length(0, 0.5)
    (3, 4, 0)
    """
    return min(size, size - math.ceil(threshold * size - SLACK) + 1)


def _counter(hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
    counters: NDArray[np.int64] = (hashes & np.uint64(COUNTERS - 1)).astype(np.int64)
    return counters
