"""Counting the equal MinHash slots of pairs."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.joins.memory_budget import AT_ONCE, MemoryBudget, parts
from indexer.joins.runs import Places

STEP = 1 << 12

Slots: TypeAlias = NDArray[np.uint32]
"""MinHash slots, (documents, slots)."""


class SlotCounter:
    """A counter of the equal slots of pairs.

    The low byte of each slot is compared first: it rules out most pairs at a quarter of the memory
    traffic.
    """

    def __init__(self, slots: Slots, budget: MemoryBudget | None = None) -> None:
        budget = budget or MemoryBudget()
        size = budget.share(8, 8 * slots.shape[1] or 1, most=AT_ONCE)
        self._slots = slots
        self._low: NDArray[np.uint8] = budget.array(slots.shape, np.uint8)
        for part in parts(len(slots), size):
            self._low[part] = slots[part]

    def at_least(
        self, left: Places, right: Places, least: int
    ) -> tuple[Places, Places, NDArray[np.uint16]]:
        """Return the pairs with at least `least` equal slots, in order, and their equal slots.

        `left` and `right` are places of documents, (pairs,); the results are (pairs that reach,).
        """
        promising = _count_equal(self._low, left, right) >= least
        left, right = left[promising], right[promising]
        equal = _count_equal(self._slots, left, right)
        reached = equal >= least
        return left[reached], right[reached], equal[reached]

    def count(self, left: NDArray[np.intp], right: NDArray[np.intp]) -> NDArray[np.uint16]:
        """Return the number of equal slots of each pair, (pairs,) uint16."""
        return _count_equal(self._slots, left, right)

    def reaches(self, left: Places, right: Places, least: int) -> NDArray[np.bool_]:
        """Return for each pair whether it has at least `least` equal slots, (pairs,) bool."""
        return _count_equal(self._slots, left, right) >= least


def _count_equal(
    slots: NDArray[np.uint32] | NDArray[np.uint8], left: NDArray[Any], right: NDArray[Any]
) -> NDArray[np.uint16]:
    counts = np.empty(len(left), dtype=np.uint16)
    for start in range(0, len(left), STEP):
        part = slice(start, start + STEP)
        same = slots[left[part]] == slots[right[part]]
        np.add.reduce(same.view(np.uint8), axis=1, dtype=np.uint16, out=counts[part])
    return counts
