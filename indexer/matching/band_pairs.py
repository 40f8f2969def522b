"""Pairs of texts that share a band, with the number of their equal slots, sorted."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from indexer.errors import UsageError
from indexer.joins.bands import CapReport
from indexer.joins.external_sort import Codes, Sorter, bits_for
from indexer.joins.memory_budget import BLOCK, MemoryBudget, parts
from indexer.joins.runs import Places
from indexer.matching.text_pairs import AT_ONCE


class BandPairs:
    """Pairs of texts and how many of their slots are equal; ascending by left, then right.

    `texts`: how many there are. `width`: slots of a sketch. `candidates` counts all pairs that
    share a band, those with too few equal slots included, and those found by their words alone:
    these have 0 for their equal slots, by which no pair is ruled out. A pair takes 8 bytes of the
    memory budget. Raises `UsageError` for more texts than a code can number.
    """

    def __init__(self, texts: int, width: int, budget: MemoryBudget) -> None:
        self._budget = budget
        self._text_bits = np.uint64(bits_for(texts))
        self._slot_bits = np.uint64(bits_for(width + 1))
        if 2 * self._text_bits + self._slot_bits > 64:
            raise UsageError(
                f"{texts:,} distinct texts are too many for one machine; use nearfold on Spark"
            )
        self._sorter: Sorter | None = Sorter(budget)
        self._codes: Codes = np.zeros(0, dtype=np.uint64)
        self.candidates = 0
        self.capped = CapReport()

    def add(self, left: Places, right: Places, equal: NDArray[np.uint16]) -> None:
        """Take more pairs, each once."""
        if self._sorter is None:
            raise ValueError("the pairs are sorted already")
        pairs = left.astype(np.uint64) << self._text_bits | right.astype(np.uint64)
        self._sorter.add(pairs << self._slot_bits | equal.astype(np.uint64))

    def sort(self) -> None:
        """Put the pairs in order; none may be added afterwards."""
        if self._sorter is not None:
            self._codes = self._sorter.sorted()
            self._sorter = None

    def __len__(self) -> int:
        return len(self._codes)

    def blocks(
        self, least: int = 0, size: int = BLOCK
    ) -> Iterator[tuple[Places, Places, NDArray[np.uint16]]]:
        """Yield the pairs with `least` equal slots or more, as left, right and equal slots.

        Those found by their words alone are among them, with 0. `size` pairs are looked at a time.
        """
        for part in parts(len(self._codes), min(size, self._budget.block)):
            codes = self._codes[part]
            equal = (codes & _ones(self._slot_bits)).astype(np.uint16)
            is_enough = (equal >= least) | (equal == 0)
            left, right = self._texts(codes[is_enough] >> self._slot_bits)
            yield left, right, equal[is_enough]

    def sample(self, number: int) -> tuple[Places, Places, NDArray[np.uint16]]:
        """Return at most so many pairs, as `blocks` does, at equal distances in their order."""
        places = np.linspace(0, max(0, len(self) - 1), min(number, len(self))).astype(np.int64)
        codes = np.asarray(self._codes[places])
        left, right = self._texts(codes >> self._slot_bits)
        return left, right, (codes & _ones(self._slot_bits)).astype(np.uint16)

    def nearest_first(self) -> Iterator[tuple[Places, Places]]:
        """Yield the pairs in blocks, those with most equal slots first, then in order."""
        sorter = Sorter(self._budget)
        pair_bits = np.uint64(2) * self._text_bits
        for part in parts(len(self._codes), self._budget.block):
            codes = self._codes[part]
            different = ~codes & _ones(self._slot_bits)
            sorter.add(different << pair_bits | codes >> self._slot_bits)
        sorted_codes = sorter.sorted()
        for part in parts(len(sorted_codes), AT_ONCE):
            yield self._texts(sorted_codes[part] & _ones(pair_bits))

    def _texts(self, pairs: Codes) -> tuple[Places, Places]:
        left = (pairs >> self._text_bits).astype(np.int32)
        right = (pairs & _ones(self._text_bits)).astype(np.int32)
        return left, right


def _ones(bits: np.uint64) -> np.uint64:
    ones: np.uint64 = np.uint64((1 << int(bits)) - 1)
    return ones
