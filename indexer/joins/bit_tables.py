"""Candidate pairs from sketches of bits: sketches that share a block of bits, by sort and tables.

Manku, Jain & Das Sarma, "Detecting Near-Duplicates for Web Crawling", WWW 2007, section 3.1.1: no
pair within the distance of a design is missed (`indexer.sketch.blocks`), but for capped blocks.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from indexer.joins.bands import CapReport, Join
from indexer.joins.memory_budget import MemoryBudget
from indexer.joins.parity_maps import count_ones
from indexer.joins.runs import Places
from indexer.sketch.blocks import Design, tables
from indexer.sketch.hashing import mix64_array


def bit_words(octets: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return sketches of (n, bytes) as (n, words), the first bits first.

    >>> bit_words(np.array([[1, 0, 0, 0, 0, 0, 0, 0, 255]], np.uint8)).tolist()
    [[1, 255]]
    """
    missing = -octets.shape[1] % 8
    padded = np.ascontiguousarray(np.pad(octets, ((0, 0), (missing, 0))))
    words: NDArray[np.uint64] = padded.view(">u8").astype(np.uint64)
    return words


def block_hashes(sketches: NDArray[np.uint64], mask: int) -> NDArray[np.uint64]:
    """Return 32 bits of a hash of each (n, words) sketch under the mask of a table: (n,).

    Two keys that share them by chance are told apart by their distance.
    """
    hashed = np.zeros(len(sketches), dtype=np.uint64)
    for place in range(sketches.shape[1]):
        word = mask >> 64 * (sketches.shape[1] - 1 - place) & (1 << 64) - 1
        hashed = mix64_array(hashed ^ sketches[:, place] & np.uint64(word))
    halves: NDArray[np.uint64] = hashed >> np.uint64(32)
    return halves


def bits_apart(left: NDArray[np.uint64], right: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the number of different bits of each pair of (n, words) sketches."""
    return count_ones(left ^ right)


class ClosePairs:
    """The pairs of sketches within `distance` bits, each once.

    `sketches`: (n, words) uint64, the first bits first, bits beyond those of the design 0.

    A block that more than `cap` sketches share gives pairs with the one of the least `rank` only,
    unless the pair shares another; `capped` says so when `blocks` has been read to the end.
    `candidates` counts the pairs that share a block.
    """

    def __init__(
        self,
        sketches: NDArray[np.uint64],
        design: Design,
        distance: int,
        rank: NDArray[np.int64],
        cap: int,
        budget: MemoryBudget,
    ) -> None:
        masks = tables(design)
        keys = budget.array((len(sketches), len(masks)), np.uint32)
        for table, mask in enumerate(masks):
            keys[:, table] = block_hashes(sketches, mask)
        self._sketches, self._distance = sketches, distance
        self._join = Join(keys, len(masks), 1, rank, cap, budget)
        self.candidates = 0

    def blocks(self) -> Iterator[tuple[Places, Places, NDArray[np.int64]]]:
        """Yield the pairs as left, right and the number of different bits; left < right."""
        for left, right in self._join.blocks():
            self.candidates += len(left)
            apart = bits_apart(self._sketches[left], self._sketches[right])
            is_close = apart <= self._distance
            yield left[is_close], right[is_close], apart[is_close]

    @property
    def capped(self) -> CapReport:
        """Return the report of what the cap has left out so far."""
        return self._join.capped

    @property
    def progress(self) -> tuple[int, int]:
        """Blocks of sketches that have been compared, and of how many."""
        return self._join.done, self._join.total
