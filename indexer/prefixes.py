"""Candidate pairs without chance: every pair of sets whose Jaccard similarity reaches a threshold is among them.

Sets are ordered by one total order of features, rare ones first. Two sets of similarity T or more share a feature among
the first |x| - ceil(T |x|) + 1 of each (Chaudhuri, Ganti & Kaushik, ICDE 2006; Bayardo, Ma & Srikant, WWW 2007); lengths
and the places of the shared feature rule out most others (Xiao et al., WWW 2008), parity maps nearly all of the rest. All
bounds are widened by less than one feature in a thousand million, so that rounding never loses a pair.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.joining import Places, partnered, runs
from indexer.sketch.hashing import mix64_array
from indexer.sorting import BLOCK

COUNTERS = 1 << 22
MAP_BITS = 1 << 12
REMEMBERED = 1 << 22
STEP = 1 << 12
_ONES = np.unpackbits(np.arange(1 << 16, dtype=np.uint16).view(np.uint8).reshape(-1, 2), axis=1).sum(axis=1, dtype=np.uint8)
_SLACK = 1e-9


class FeatureOrder:
    """A total order of features: by how often they were counted, then by hash. Counters are shared (4 million of them).

    Any order gives the same pairs in the end; a good one gives fewer candidates.
    """

    def __init__(self) -> None:
        self._counts = np.zeros(COUNTERS, dtype=np.uint32)

    def count(self, hashes: NDArray[np.uint64]) -> None:
        """Count the distinct features of one set."""
        np.add.at(self._counts, self._counter(hashes), 1)

    def first(self, hashes: NDArray[np.uint64], length: int) -> NDArray[np.uint64]:
        """The first `length` of these features."""
        order = np.lexsort((hashes, self._counts[self._counter(hashes)]))
        return hashes[order[:length]]

    def _counter(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        counters: NDArray[np.int64] = (hashes & np.uint64(COUNTERS - 1)).astype(np.int64)
        return counters


def prefix_length(size: int, threshold: float) -> int:
    """How many features of a set of `size` features suffice to meet every set that is similar enough; 0 for none.

    >>> prefix_length(10, 0.8), prefix_length(10, 0.7), prefix_length(0, 0.5)
    (3, 4, 0)
    """
    return min(size, size - math.ceil(threshold * size - _SLACK) + 1)


def parity_map(hashes: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """4,096 bits as (256,) uint16: bit b tells whether an odd number of features have b in their low twelve bits.

    Two maps differ in no more bits than features lie in one set alone, which bounds what the sets share.
    """
    counts = np.bincount((hashes & np.uint64(MAP_BITS - 1)).astype(np.int64), minlength=MAP_BITS)
    return np.packbits((counts & 1).astype(np.uint8)).view(np.uint16)


def ones(maps: NDArray[np.uint16]) -> NDArray[np.int64]:
    """How many bits are set in each row; numpy before 2.0 looks them up.

    >>> ones(np.array([[1, 3, 0, 65535]], dtype=np.uint16)).tolist()
    [19]
    """
    counted: NDArray[np.uint8] = np.bitwise_count(maps.view(np.uint64)) if hasattr(np, "bitwise_count") else _ONES[maps]
    total: NDArray[np.int64] = counted.sum(axis=1, dtype=np.int64)
    return total


class _Seen:
    """Remembers codes that were given, as many as there is room for: a later one takes the place of an earlier one."""

    def __init__(self) -> None:
        self._codes: NDArray[np.int64] = np.full(REMEMBERED, -1)

    def fresh(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The codes that are not remembered, which are all that were never given; they are remembered now."""
        places = mix64_array(codes.astype(np.uint64)) & np.uint64(REMEMBERED - 1)
        kept = self._codes[places] != codes
        self._codes[places[kept]] = codes[kept]
        fresh: NDArray[np.int64] = codes[kept]
        return fresh


@dataclass(frozen=True, slots=True)
class Prefixes:
    """The first features of every set, one entry a feature: the hash, which set, and its place in that set's order.

    `sizes`: how many features each set has; `maps`: (sets, 256) uint16, the parity map of each.
    """

    hashes: NDArray[np.uint64]
    sets: Places
    places: Places
    sizes: NDArray[np.int64]
    maps: NDArray[np.uint16]

    def pairs(self, threshold: float) -> tuple[Places, Places]:
        """The candidate pairs, left < right, each once, ascending. A set without features is in none."""
        order = np.lexsort((self.sizes[self.sets], self.hashes))
        sorted_ = Prefixes(self.hashes[order], self.sets[order], self.places[order], self.sizes, self.maps)
        found, seen = [np.zeros(0, dtype=np.int64)], _Seen()
        for codes in sorted_._codes(threshold):
            fresh = seen.fresh(codes)
            found.append(fresh[sorted_._may_reach(fresh, threshold)])
            if sum(map(len, found[1:])) > len(found[0]) + BLOCK:
                found = [np.unique(np.concatenate(found))]
        left, right = np.divmod(np.unique(np.concatenate(found)), max(1, len(self.sizes)))
        return left.astype(np.int32), right.astype(np.int32)

    def _codes(self, threshold: float) -> Iterator[NDArray[np.int64]]:
        """Pairs that share a feature and may be similar enough, as left * n + right, with repeats."""
        starts, lengths = runs(self.hashes)
        bucket = np.repeat(np.arange(len(starts)), lengths) << 32
        own = self.sizes[self.sets]
        longest = np.minimum(np.floor(own / threshold + _SLACK), (1 << 32) - 1).astype(np.int64)
        ends = np.searchsorted(bucket + own, bucket + longest, side="right")
        entries = np.arange(len(own))
        for left, right in partnered(entries, ends - entries - 1):
            both = own[left] + own[right]
            rest = np.minimum(own[left] - self.places[left], own[right] - self.places[right])
            kept = rest >= threshold / (1 + threshold) * both - _SLACK
            a, b = self.sets[left[kept]].astype(np.int64), self.sets[right[kept]].astype(np.int64)
            yield np.minimum(a, b) * len(self.sizes) + np.maximum(a, b)

    def _may_reach(self, codes: NDArray[np.int64], threshold: float) -> NDArray[np.bool_]:
        """Whether the parity maps leave it open that a pair shares enough."""
        open_ = np.empty(len(codes), dtype=bool)
        for place in range(0, len(codes), STEP):
            left, right = np.divmod(codes[place : place + STEP], len(self.sizes))
            apart = ones(self.maps[left] ^ self.maps[right])
            both = self.sizes[left] + self.sizes[right]
            open_[place : place + STEP] = (both - apart) / 2 >= threshold / (1 + threshold) * both - _SLACK
        return open_
