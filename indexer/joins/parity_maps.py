"""Parity maps: a few hundred bytes a set that bound what two sets share, so that most pairs need
not be looked at.

Bit b of a map tells whether an odd number of features have b in the low bits of their hash. Two
maps differ in no more bits than features lie in one set alone. Where the compiled kernel is
installed it counts those bits faster; the answer is the same.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indexer.joins.external_sort import MemoryBudget, parts

try:
    from indexer import _kernel
except ImportError:
    _kernel = None  # type: ignore[assignment]

LEAST_BITS, MOST_BITS = 1 << 10, 1 << 16
STEP = 1 << 11
SLACK = 1e-9
_ONES = np.unpackbits(
    np.arange(1 << 16, dtype=np.uint16).view(np.uint8).reshape(-1, 2), axis=1
).sum(axis=1, dtype=np.uint8)


class ParityMaps:
    """The maps of sets of these `sizes`, to be put in one by one; and which pairs they leave open.

    A map has about three bits for each feature of a set of middling size: (sets, words) uint64 in
    the room.
    """

    def __init__(self, sizes: NDArray[np.int64], budget: MemoryBudget) -> None:
        self._sizes = sizes
        middling = int(np.median(sizes)) if len(sizes) else 0
        self.bits = min(MOST_BITS, max(LEAST_BITS, 1 << (3 * middling - 1).bit_length()))
        self._maps: NDArray[np.uint64] = budget.array((len(sizes), self.bits // 64), np.uint64)

    def put(self, place: int, hashes: NDArray[np.uint64]) -> None:
        """Make the map of one set from the distinct hashes of its features."""
        self._maps[place] = parity_map(hashes, self.bits)

    def may_reach(
        self, left: NDArray[np.int32], right: NDArray[np.int32], threshold: float
    ) -> NDArray[np.bool_]:
        """Whether it is open that pairs of sets have a Jaccard similarity of `threshold` or more.

        What two sets share is at most half of what they have less the bits that differ. The bound
        is widened by less than one feature in a thousand million, so that rounding never loses a
        pair.
        """
        most = most_apart(self._sizes[left] + self._sizes[right], threshold)
        if _kernel is not None and hasattr(_kernel, "differ_at_most"):
            flags = _kernel.differ_at_most(
                self._maps.ctypes.data, *self._maps.shape, *map(_bytes, (left, right, most))
            )
            return np.frombuffer(flags, dtype=bool)
        return self.differ_at_most(left, right, most)

    def differ_at_most(
        self, left: NDArray[np.int32], right: NDArray[np.int32], most: NDArray[np.int32]
    ) -> NDArray[np.bool_]:
        """Whether the maps of each pair differ in at most so many bits, by numpy."""
        near = np.empty(len(left), dtype=bool)
        for part in parts(len(left), STEP):
            near[part] = ones(self._maps[left[part]] ^ self._maps[right[part]]) <= most[part]
        return near


def parity_map(hashes: NDArray[np.uint64], bits: int) -> NDArray[np.uint64]:
    """The map of one set, (bits / 64,) uint64; `bits` is a power of two.

    >>> parity_map(np.array([1, 3, 65, 65 + 64, 7, 7 + 128], dtype=np.uint64), 128).tolist()
    [8, 2]
    """
    counts = np.bincount((hashes & np.uint64(bits - 1)).astype(np.int64), minlength=bits)
    return (
        np.packbits((counts & 1).astype(np.uint8), bitorder="little").view("<u8").astype(np.uint64)
    )


def most_apart(both: NDArray[np.int64], threshold: float) -> NDArray[np.int32]:
    """In how many bits maps may differ at the most when two sets of `both` features in sum reach
    this Jaccard similarity.

    >>> most_apart(np.array([20, 7]), 0.5).tolist()
    [6, 2]
    """
    apart: NDArray[np.int32] = np.floor(
        both - 2 * (threshold / (1 + threshold) * both - SLACK)
    ).astype(np.int32)
    return apart


def ones(maps: NDArray[np.uint64]) -> NDArray[np.int64]:
    """How many bits are set in each row; numpy before 2.0 looks them up.

    >>> ones(np.array([[1, 3, 0, 65535]], dtype=np.uint64)).tolist()
    [19]
    """
    counted: NDArray[np.uint8] = (
        np.bitwise_count(maps) if hasattr(np, "bitwise_count") else _ONES[maps.view(np.uint16)]
    )
    total: NDArray[np.int64] = counted.sum(axis=1, dtype=np.int64)
    return total


def _bytes(values: NDArray[np.int32]) -> bytes:
    return np.ascontiguousarray(values, dtype=np.int32).tobytes()
