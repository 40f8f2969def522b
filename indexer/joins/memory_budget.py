"""A budget of memory for arrays and buffers, and columns that are spilled when it is used up.

The base class keeps everything in memory; `indexer.system.spill_files` spills to files. Results do
not depend on the budget.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

MEGABYTE = 1 << 20
WIDE = 1 << 50
LEAST = 16
BLOCK = 1 << 20
AT_ONCE = 1 << 15


class MemoryBudget:
    """The memory for large arrays; this budget keeps all of them in memory.

    `limit`: bytes that arrays and buffers should take together. Code that works within a budget
    sizes its buffers by `share` and `block`.
    """

    def __init__(self, limit: int = WIDE) -> None:
        self.limit = limit

    def array(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return a new, uninitialised array."""
        return np.empty(shape, dtype=dtype)

    def spill(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return the same values, stored outside memory where the budget provides for that."""
        return array

    def share(self, part: int, item: int, least: int = LEAST, most: int = WIDE) -> int:
        """Return how many items of `item` bytes fit into 1 / `part` of the limit.

        The result lies between `least` and `most`.
        """
        return min(most, max(least, self.limit // part // item))

    @property
    def block(self) -> int:
        """The pairs to make at a time: at most a million, at some 64 bytes each."""
        return self.share(8, 64, most=BLOCK)


class Column:
    """Values that are added in parts and spilled within a memory budget."""

    def __init__(self, budget: MemoryBudget, dtype: DTypeLike) -> None:
        self._budget, self._dtype = budget, np.dtype(dtype)
        self._most = budget.share(64, self._dtype.itemsize)
        self._pending: list[NDArray[Any]] = []
        self._pending_length = 0
        self._spilled: list[NDArray[Any]] = []
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def add(self, values: NDArray[Any]) -> None:
        """Add more values."""
        self._pending.append(np.asarray(values, dtype=self._dtype))
        self._pending_length += len(values)
        self._length += len(values)
        if self._pending_length >= self._most:
            self._spilled.append(self._budget.spill(self._take_pending()))

    def whole(self) -> NDArray[Any]:
        """Return all values as one array, in the order of adding. Add nothing afterwards."""
        if not self._spilled:
            return self._take_pending()
        whole, filled = self._budget.array(self._length, self._dtype), 0
        for part in [*self._spilled, self._take_pending()]:
            whole[filled : filled + len(part)] = part
            filled += len(part)
        self._spilled = []
        return whole

    def _take_pending(self) -> NDArray[Any]:
        part = np.concatenate([np.zeros(0, self._dtype), *self._pending])
        self._pending, self._pending_length = [], 0
        return part


def parts(count: int, size: int) -> Iterator[slice]:
    """Return slices of `size` that cover `count` places.

    >>> [(part.start, part.stop) for part in parts(5, 2)]
    [(0, 2), (2, 4), (4, 5)]
    """
    return (slice(start, min(start + size, count)) for start in range(0, count, size))
