"""Pairs of the distinct texts of a collection, at or above a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.joins.bands import CapReport
from indexer.joins.memory_budget import Column, MemoryBudget
from indexer.joins.runs import Places

NOTHING_CAPPED = CapReport()
AT_ONCE = 1 << 14  # pairs that are verified at a time


@dataclass(frozen=True, slots=True)
class TextPairs:
    """Pairs of texts at or above a threshold, sorted by left, then right.

    `exact`: measured on the texts, else estimated from the slots. `candidates`: how many pairs were
    looked at. `within`, of contained texts: (pairs, 2) how much of the left text is in the right
    one, and of the right in the left.
    """

    left: Places
    right: Places
    similarity: NDArray[np.float64]
    exact: NDArray[np.bool_]
    candidates: int = 0
    capped: CapReport = NOTHING_CAPPED
    within: NDArray[np.float64] | None = None


class TextPairsBuilder:
    """Collects the pairs that reach the threshold, block after block."""

    def __init__(self, budget: MemoryBudget, threshold: float) -> None:
        self._threshold = threshold
        dtypes = (np.int32, np.int32, np.float64, np.bool_)
        self._columns = [Column(budget, dtype) for dtype in dtypes]

    def add(
        self,
        left: Places,
        right: Places,
        similarity: NDArray[np.float64],
        exact: NDArray[np.bool_],
    ) -> TextPairs:
        """Take the pairs among these that reach the threshold, and all that are not `exact`.

        The slots of the latter have decided before. Returns the pairs that were taken.
        """
        reaches = ~exact | ((similarity >= self._threshold) & (similarity > 0))
        taken = TextPairs(left[reaches], right[reaches], similarity[reaches], exact[reaches])
        arrays: tuple[NDArray[Any], ...] = (taken.left, taken.right, taken.similarity, taken.exact)
        for column, values in zip(self._columns, arrays, strict=True):
            column.add(values)
        return taken

    def build(self, candidates: int, capped: CapReport) -> TextPairs:
        """Return the pairs; none may be added afterwards."""
        left, right, similarity, exact = (column.whole() for column in self._columns)
        return TextPairs(left, right, similarity, exact, candidates, capped)
