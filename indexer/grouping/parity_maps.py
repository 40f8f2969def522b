"""Parity maps: a few hundred bytes a set that bound the intersection of two sets.

Bit b of a map says whether an odd number of features have b in the low bits of their hash. Two
maps differ in at most as many bits as there are features in only one of the sets, so most pairs
need not be compared. The compiled kernel, where installed, counts those bits faster with the same
result.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.measures import parity_map
from indexer.fingerprinting.keys import count_ones
from indexer.system.external_memory import MemoryBudget, parts

try:
    from indexer import _kernel
except ImportError:
    _kernel = None  # type: ignore[assignment]

MIN_BITS, MAX_BITS = 1 << 10, 1 << 16
STEP = 1 << 11
SLACK = 1e-9


class ParityMaps:
    """The maps of sets of these `sizes`, added one by one.

    A map has about three bits for each feature of a set of median size: (sets, words) uint64 of the
    memory budget. Similarity is Jaccard's, or if `of_larger` the fraction of the larger set
    that the other has too.
    """

    def __init__(
        self, sizes: NDArray[np.int64], budget: MemoryBudget, of_larger: bool = False
    ) -> None:
        self._sizes = sizes
        self._of_larger = of_larger
        median = int(np.median(sizes)) if len(sizes) else 0
        self.bits = min(MAX_BITS, max(MIN_BITS, 1 << (3 * median - 1).bit_length()))
        self._maps: NDArray[np.uint64] = budget.array((len(sizes), self.bits // 64), np.uint64)

    def put(self, place: int, hashes: NDArray[np.uint64]) -> None:
        """Store the map of the set at `place`, given the distinct hashes of its features, (n,)."""
        self._maps[place] = parity_map(hashes, self.bits)

    def may_reach(
        self, left: NDArray[np.int32], right: NDArray[np.int32], threshold: float
    ) -> NDArray[np.bool_]:
        """Return for each pair whether its similarity may be `threshold` or more, (pairs,) bool.

        Two sets share at most half of the sum of their sizes minus the bits that differ. The bound
        is widened by less than 1e-9 of a feature, so that rounding never loses a pair.
        """
        if self._of_larger:
            limit = max_distance_of_larger(self._sizes[left], self._sizes[right], threshold)
        else:
            limit = max_distance(self._sizes[left] + self._sizes[right], threshold)
        if _kernel is not None and hasattr(_kernel, "differ_at_most"):
            arguments = map(_bytes, (left, right, limit))
            flags = _kernel.differ_at_most(self._maps.ctypes.data, *self._maps.shape, *arguments)
            return np.frombuffer(flags, dtype=bool)
        return self.differ_at_most(left, right, limit)

    def differ_at_most(
        self, left: NDArray[np.int32], right: NDArray[np.int32], limit: NDArray[np.int32]
    ) -> NDArray[np.bool_]:
        """Return for each pair whether its maps differ in at most `limit` bits, by numpy.

        All arguments and the result are (pairs,).
        """
        near = np.empty(len(left), dtype=bool)
        for part in parts(len(left), STEP):
            differing = self._maps[left[part]] ^ self._maps[right[part]]
            near[part] = count_ones(differing) <= limit[part]
        return near


def max_distance(sizes: NDArray[np.int64], threshold: float) -> NDArray[np.int32]:
    """Return the most bits in which the maps of two sets of this Jaccard similarity may differ.

    `sizes`: the sum of the features of both sets.

    >>> max_distance(np.array([20, 7]), 0.5).tolist()
    [6, 2]
    """
    return _apart(sizes, threshold / (1 + threshold) * sizes)


def max_distance_of_larger(
    left: NDArray[np.int64], right: NDArray[np.int64], threshold: float
) -> NDArray[np.int32]:
    """Return the same for sets of these sizes that share so much of the larger.

    >>> max_distance_of_larger(np.array([10, 10]), np.array([10, 8]), 0.8).tolist()
    [4, 2]
    """
    return _apart(left + right, threshold * np.maximum(left, right))


def _apart(sizes: NDArray[np.int64], shared: NDArray[np.floating[Any]]) -> NDArray[np.int32]:
    apart: NDArray[np.int32] = np.floor(sizes - 2 * (shared - SLACK)).astype(np.int32)
    return apart


def _bytes(values: NDArray[np.int32]) -> bytes:
    return np.ascontiguousarray(values, dtype=np.int32).tobytes()
