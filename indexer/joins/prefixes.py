"""Complete candidate pairs: every pair of sets whose similarity reaches a threshold.

Similarity is that of Jaccard, or the share of the larger set that the smaller has too.

Sets are ordered by one total order of features, rare ones first. Two sets of similarity T or more
share a feature among the first |x| - ceil(T |x|) + 1 of each (Chaudhuri, Ganti & Kaushik, ICDE
2006; Bayardo, Ma & Srikant, WWW 2007), and the smaller has at least T times as many features as the
larger. When the prefixes of most sets meet, as at low thresholds, it is faster to take all pairs of
fitting sizes. In both cases parity maps rule out nearly all pairs that are not similar.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from indexer.joins.external_sort import Codes, Sorter, bits_for
from indexer.joins.memory_budget import MemoryBudget
from indexer.joins.pair_codes import encode_pair
from indexer.joins.parity_maps import SLACK, ParityMaps
from indexer.joins.runs import Places, pairs_with_followers, slices_of_runs

COUNTERS = 1 << 22


class FeatureOrder:
    """A total order of features: by the sets that have them, then by hash.

    Features share 4 million counters. Any order gives the same pairs in the end; a good one gives
    fewer candidates.
    """

    def __init__(self) -> None:
        self._counts = np.zeros(COUNTERS, dtype=np.uint32)

    def count(self, hashes: NDArray[np.uint64]) -> None:
        """Count the distinct features of one set; two that share a counter count once."""
        self._counts[_counters_of(hashes)] += 1

    def first(self, hashes: NDArray[np.uint64], length: int) -> tuple[NDArray[np.uint64], int]:
        """Return the first `length` of these features, and the sum of their counts.

        `hashes`: (n,), distinct; the result holds min(n, `length`) of them, rarest first.
        """
        counts = self._counts[_counters_of(hashes)]
        order = np.lexsort((hashes, counts))[:length]
        return hashes[order], int(counts[order].sum())


class SimilarSets:
    """The pairs of sets that may be similar enough; the sets are added one by one.

    `sizes`: the number of features of each set. `of_larger`: similarity is the share of the larger
    set that the other has too, instead of Jaccard's. Prefixes take 8 bytes a feature of the memory
    budget, and are abandoned when they meet more often than there are pairs.
    """

    def __init__(
        self,
        sizes: NDArray[np.int64],
        order: FeatureOrder,
        threshold: float,
        budget: MemoryBudget,
        of_larger: bool = False,
    ) -> None:
        self._order, self._threshold, self._budget = order, threshold, budget
        self._by_size = np.argsort(sizes, kind="stable").astype(np.int32)
        self._rank = np.empty(len(sizes), dtype=np.int64)
        self._rank[self._by_size] = np.arange(len(sizes))
        self._sizes = sizes[self._by_size]
        longest = np.floor(self._sizes / threshold + SLACK)
        # the last rank whose size fits
        self._reach = np.searchsorted(self._sizes, longest, side="right") - 1
        self._maps = ParityMaps(self._sizes, budget, of_larger)
        self._bits = np.uint64(bits_for(len(sizes)))
        self._prefixes: Sorter | None = Sorter(budget)
        self._meetings = 0
        self.pairs = int((self._reach - np.arange(len(sizes)))[self._sizes > 0].sum())

    def put(self, number: int, hashes: NDArray[np.uint64]) -> None:
        """Add the set `number`: the distinct hashes of its features, (`sizes[number]`,)."""
        rank = int(self._rank[number])
        self._maps.put(rank, hashes)
        if self._prefixes is None:
            return
        first, counts = self._order.first(hashes, prefix_length(len(hashes), self._threshold))
        self._prefixes.add(first >> self._bits << self._bits | np.uint64(rank))
        self._meetings += (counts - len(first)) // 2
        if self._meetings > self.pairs:
            self._prefixes = None

    def candidates(
        self, progress: Callable[[int, int], None] = lambda _done, _total: None
    ) -> Codes:
        """Return pairs of sets as left << 32 | right, left < right, each once, ascending.

        A set without features is in none. `progress` is called with the amounts done and in all.
        """
        candidates = Sorter(self._budget, unique=True)
        for done, total, left, right in self._meeting_ranks():
            near = self._maps.may_reach(left, right, self._threshold) & (left != right)
            a, b = self._by_size[left[near]], self._by_size[right[near]]
            candidates.add(encode_pair(np.minimum(a, b), np.maximum(a, b)))
            progress(done, total)
        return candidates.sorted()

    def _meeting_ranks(self) -> Iterator[tuple[int, int, Places, Places]]:
        """Yield pairs of ranks of fitting sizes, the smaller set first, with the progress.

        Either those whose prefixes meet, with repeats, or all.
        """
        if self._prefixes is None:
            return self._all_fitting()
        return self._meeting_prefixes(self._prefixes.sorted())

    def _all_fitting(self) -> Iterator[tuple[int, int, Places, Places]]:
        ranks, done = np.flatnonzero(self._sizes), 0
        followers = self._reach[ranks] - ranks
        for left, right in pairs_with_followers(ranks, followers, self._budget.block):
            done += len(left)
            yield done, self.pairs, left.astype(np.int32), right.astype(np.int32)

    def _meeting_prefixes(self, codes: Codes) -> Iterator[tuple[int, int, Places, Places]]:
        low = (np.uint64(1) << self._bits) - np.uint64(1)
        block = self._budget.block
        for part in slices_of_runs(codes, low, block):
            ranks = (codes[part] & low).astype(np.int32)
            last = codes[part] & ~low | self._reach[ranks].astype(np.uint64)
            places = np.arange(len(ranks))
            followers = np.searchsorted(codes[part], last, side="right") - places - 1
            for left, right in pairs_with_followers(places, followers, block):
                yield part.stop, len(codes), ranks[left], ranks[right]


def prefix_length(size: int, threshold: float) -> int:
    """Return how many features of a set suffice to meet every similar set; 0 for an empty set.

    >>> prefix_length(10, 0.8), prefix_length(10, 0.7), prefix_length(0, 0.5)
    (3, 4, 0)
    """
    return min(size, size - math.ceil(threshold * size - SLACK) + 1)


def _counters_of(hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
    counters: NDArray[np.int64] = (hashes & np.uint64(COUNTERS - 1)).astype(np.int64)
    return counters
