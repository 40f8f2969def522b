"""The pairs that families have measured, which clusters need not measure again."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from indexer.grouping.group_options import GroupOptions
from indexer.joins.external_sort import Codes, Sorter
from indexer.joins.memory_budget import Column, MemoryBudget
from indexer.joins.pair_codes import decode_pair, encode_pair
from indexer.joins.runs import Places
from indexer.matching.pair_samples import are_in
from indexer.matching.verification import Verifier


class MeasuredPairs:
    """The pairs of texts that were measured for families, and which of them clusters connect.

    The memory budget holds 8 bytes a pair, and again for one that is connected.
    """

    def __init__(self, verifier: Verifier, options: GroupOptions, budget: MemoryBudget) -> None:
        self._verifier = verifier
        self._least = options.threshold
        self._of_clusters = options.threshold_of_clusters
        self._measured = Sorter(budget)
        self._connected = Column(budget, np.uint64)

    def measure_with(self, text: int, others: Sequence[int]) -> list[float]:
        """Measure a text with each of others as `Verifier.measure_with` does, and remember it."""
        values = self._verifier.measure_with(text, others, least=self._least)
        places = np.array(others, dtype=np.int32)
        codes = encode_pair(np.minimum(places, text), np.maximum(places, text))
        if self._of_clusters >= self._least:  # lower values may be too low, to save time
            self._measured.add(codes)
        self._connected.add(codes[np.array(values) >= max(self._least, self._of_clusters)])
        return values

    def connected(self) -> tuple[Places, Places]:
        """Return the pairs at the threshold of clusters. Measure nothing afterwards."""
        return decode_pair(self._connected.whole())

    def contains(self, left: Places, right: Places) -> NDArray[np.bool_]:
        """Return which pairs, left < right, clusters need not measure.

        Measure nothing afterwards.
        """
        return are_in(encode_pair(left, right), self._codes)

    @cached_property
    def _codes(self) -> Codes:
        return self._measured.sorted()
