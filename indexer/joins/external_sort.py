"""Sorting more 64-bit codes than memory holds: sorted runs that are put aside, and merged in
stretches (external merge sort).

Where arrays lie is a matter of the `MemoryBudget` they are given; what comes out is the same in any room.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

MEGABYTE = 1 << 20
WIDE = 1 << 50
LEAST = 16
BLOCK = 1 << 20

Codes: TypeAlias = NDArray[np.uint64]


class MemoryBudget:
    """Where arrays lie that may be larger than memory. This one keeps them all in memory.

    `limit`: bytes that arrays and buffers should take together. The buffers of whoever works in a
    room go by it.
    """

    def __init__(self, limit: int = WIDE) -> None:
        self.limit = limit

    def array(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """A new array, not filled with anything in particular."""
        return np.empty(shape, dtype=dtype)

    def spill(self, array: NDArray[Any]) -> NDArray[Any]:
        """The same values, where they take no memory if there is such a place."""
        return array

    def share(self, part: int, item: int, least: int = LEAST, most: int = WIDE) -> int:
        """How many items of `item` bytes fit into the `part`-th part of the limit, between `least`
        and `most`.
        """
        return min(most, max(least, self.limit // part // item))

    @property
    def block(self) -> int:
        """How many pairs to make at a time: a million at the most, some 64 bytes each while they
        are worked on.
        """
        return self.share(8, 64, most=BLOCK)


class Sorter:
    """Collects codes and gives them back in ascending order; with `unique` each once.

    Buffers take a quarter of the room's limit, whatever is added.
    """

    def __init__(self, budget: MemoryBudget, unique: bool = False) -> None:
        self._budget, self._unique = budget, unique
        self._most = budget.share(8, 8)
        self._parts: list[Codes] = []
        self._held = 0
        self._runs: list[Codes] = []

    def add(self, codes: Codes) -> None:
        """Take more codes, in any order."""
        self._parts.append(codes)
        self._held += len(codes)
        if self._held >= self._most:
            self._runs.append(self._budget.spill(self._run()))

    def sorted(self) -> Codes:
        """All codes that were added, as one array in the room. Nothing may be added afterwards."""
        if not self._runs:
            return self._run()
        if self._held:
            self._runs.append(self._budget.spill(self._run()))
        return self._merged()

    def _run(self) -> Codes:
        run = np.concatenate([np.zeros(0, np.uint64), *self._parts])
        self._parts, self._held = [], 0
        run.sort()
        return distinct(run) if self._unique else run

    def _merged(self) -> Codes:
        merged = self._budget.array(sum(map(len, self._runs)), np.uint64)
        filled = 0
        for stretch in self._stretches():
            merged[filled : filled + len(stretch)] = stretch
            filled += len(stretch)
        self._runs = []
        whole: Codes = merged[:filled]
        return whole

    def _stretches(self) -> Iterator[Codes]:
        """The runs in ascending order, a stretch at a time, no code in two stretches.

        Every run is sampled at equal steps. Between samples that are as many apart as there are
        runs, no more codes lie than each run may add two steps.
        """
        count = len(self._runs)
        step = max(1, self._most // (2 * count))
        samples = np.sort(np.concatenate([run[step - 1 :: step] for run in self._runs]))
        ends = np.unique(samples[count - 1 :: count])
        before = [0] * count
        for end in [*ends.tolist(), None]:
            after = [len(run) if end is None else _past(run, end) for run in self._runs]
            stretch = np.concatenate(
                [run[a:b] for run, a, b in zip(self._runs, before, after, strict=True)]
            )
            stretch.sort()
            yield distinct(stretch) if self._unique else stretch
            before = after


class Column:
    """Values that come a part at a time, kept in a room."""

    def __init__(self, budget: MemoryBudget, dtype: DTypeLike) -> None:
        self._budget, self._dtype = budget, np.dtype(dtype)
        self._most = budget.share(64, self._dtype.itemsize)
        self._parts: list[NDArray[Any]] = []
        self._aside: list[NDArray[Any]] = []
        self._held = self._length = 0

    def __len__(self) -> int:
        return self._length

    def add(self, values: NDArray[Any]) -> None:
        """Take more values."""
        self._parts.append(np.asarray(values, dtype=self._dtype))
        self._held += len(values)
        self._length += len(values)
        if self._held >= self._most:
            self._aside.append(self._budget.spill(self._part()))

    def whole(self) -> NDArray[Any]:
        """All values in the order in which they came, as one array. Nothing may be added
        afterwards.
        """
        if not self._aside:
            return self._part()
        whole, filled = self._budget.array(self._length, self._dtype), 0
        for part in [*self._aside, self._part()]:
            whole[filled : filled + len(part)] = part
            filled += len(part)
        self._aside = []
        return whole

    def _part(self) -> NDArray[Any]:
        part = np.concatenate([np.zeros(0, self._dtype), *self._parts])
        self._parts, self._held = [], 0
        return part


def distinct(codes: Codes) -> Codes:
    """Each code of a sorted array once.

    >>> distinct(np.array([1, 1, 4, 7, 7], dtype=np.uint64)).tolist()
    [1, 4, 7]
    """
    if not len(codes):
        return codes
    kept: Codes = codes[np.concatenate(([True], codes[1:] != codes[:-1]))]
    return kept


def bits_for(count: int) -> int:
    """How many bits numbers below `count` take; one at least.

    >>> bits_for(0), bits_for(2), bits_for(256), bits_for(257)
    (1, 1, 8, 9)
    """
    return max(1, (count - 1).bit_length())


def parts(count: int, size: int) -> Iterator[slice]:
    """Slices of `size` that cover `count` places.

    >>> [(part.start, part.stop) for part in parts(5, 2)]
    [(0, 2), (2, 4), (4, 5)]
    """
    return (slice(start, min(start + size, count)) for start in range(0, count, size))


def _past(run: Codes, end: int) -> int:
    return int(np.searchsorted(run, np.uint64(end), side="right"))
