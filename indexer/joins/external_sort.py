"""External merge sort of 64-bit codes: sorted runs are spilled, then merged in stretches.

The memory budget decides where arrays are stored; the result does not depend on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.joins.memory_budget import MemoryBudget
from indexer.sketch.hashing import distinct_sorted

Codes: TypeAlias = NDArray[np.uint64]


class Sorter:
    """A sorter that collects codes and returns them in ascending order; with `unique` each once.

    Buffers take a quarter of the memory budget, however many codes are added.
    """

    def __init__(self, budget: MemoryBudget, unique: bool = False) -> None:
        self._budget, self._unique = budget, unique
        self._most = budget.share(8, 8)
        self._pending: list[Codes] = []
        self._pending_length = 0
        self._runs: list[Codes] = []

    def add(self, codes: Codes) -> None:
        """Add more codes, in any order."""
        self._pending.append(codes)
        self._pending_length += len(codes)
        if self._pending_length >= self._most:
            self._runs.append(self._budget.spill(self._sort_pending()))

    def sorted(self) -> Codes:
        """Return all codes as one array within the memory budget. Add nothing afterwards."""
        if not self._runs:
            return self._sort_pending()
        if self._pending_length:
            self._runs.append(self._budget.spill(self._sort_pending()))
        return self._merge_runs()

    def _sort_pending(self) -> Codes:
        run = np.concatenate([np.zeros(0, np.uint64), *self._pending])
        self._pending, self._pending_length = [], 0
        run.sort()
        return distinct_sorted(run) if self._unique else run

    def _merge_runs(self) -> Codes:
        merged = self._budget.array(sum(map(len, self._runs)), np.uint64)
        filled = 0
        for stretch in self._stretches():
            merged[filled : filled + len(stretch)] = stretch
            filled += len(stretch)
        self._runs = []
        whole: Codes = merged[:filled]
        return whole

    def _stretches(self) -> Iterator[Codes]:
        """Yield the codes of all runs in ascending order, no code in two stretches.

        Every run is sampled at equal steps. Between samples that are as many apart as there are
        runs, no more codes lie than two steps of each run.
        """
        count = len(self._runs)
        step = max(1, self._most // (2 * count))
        samples = np.sort(np.concatenate([run[step - 1 :: step] for run in self._runs]))
        ends = np.unique(samples[count - 1 :: count])
        starts = [0] * count
        for end in [*ends.tolist(), None]:
            stops = [len(run) if end is None else _first_above(run, end) for run in self._runs]
            pieces = zip(self._runs, starts, stops, strict=True)
            stretch = np.concatenate([run[start:stop] for run, start, stop in pieces])
            stretch.sort()
            yield distinct_sorted(stretch) if self._unique else stretch
            starts = stops


def bits_for(count: int) -> int:
    """Return how many bits numbers below `count` need; at least one.

    >>> bits_for(0), bits_for(2), bits_for(256), bits_for(257)
    (1, 1, 8, 9)
    """
    return max(1, (count - 1).bit_length())


def _first_above(run: Codes, end: int) -> int:
    """Return the place of the first code above `end`."""
    return int(np.searchsorted(run, np.uint64(end), side="right"))
