"""What a cap may have cost: pairs drawn from hot bands, and an estimate of how many of those left out are near duplicates.

The draws depend on the bands alone: the same documents give the same sample.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.keys import band_hashes
from indexer.sketch.hashing import GAMMA, MASK, mix64, mix64_array
from indexer.sketch.statistics import wilson
from indexer.sorting import Codes

DRAWN = 1000
_TOP = float(1 << 64)


@dataclass(frozen=True, slots=True)
class Missed:
    """How many near duplicates a cap is likely to have left out, from `drawn` pairs of which `found` were such.

    `estimate` with its 95 % interval from `low` to `high` counts pairs of distinct texts at `threshold` or above, each once.
    """

    threshold: float
    drawn: int
    found: int
    estimate: float
    low: float
    high: float


class HotBands:
    """Hot bands as they are met, and `DRAWN` pairs drawn with equal chance from all pairs that were not looked at in them.

    A pair that several hot bands left out counts once for each, until `weights` makes up for it. The centre of a band is
    paired with all others, so the pairs left out are those of the others.
    """

    def __init__(self, slots: NDArray[np.uint32], bands: int, rows: int) -> None:
        self._slots, self._bands, self._rows = slots, bands, rows
        self._numbers, self._values, self._centres = array("i"), array("Q"), array("i")
        self.left, self.right = np.zeros(DRAWN, dtype=np.int32), np.zeros(DRAWN, dtype=np.int32)
        self.pairs = self.largest = 0

    def __len__(self) -> int:
        return len(self._values)

    def add(self, band: int, value: int, centre: int, others: NDArray[np.int32]) -> None:
        """Take one more hot band: its hash, the document that is paired with all others, and the others."""
        self._numbers.append(band)
        self._values.append(value)
        self._centres.append(centre)
        self.largest = max(self.largest, len(others) + 1)
        count = len(others)
        here = count * (count - 1) // 2
        self.pairs += here
        if here:
            self._draw(mix64(value ^ mix64(band)), others, here / self.pairs)

    def _draw(self, seed: int, others: NDArray[np.int32], chance: float) -> None:
        """Put a pair of this band in the place of each pair drawn so far, with this chance."""
        steps = np.arange(3 * DRAWN, dtype=np.uint64) * np.uint64(GAMMA)
        chosen, one, other = mix64_array(steps + np.uint64(seed & MASK)).reshape(3, DRAWN)
        places = np.flatnonzero(chosen / _TOP <= chance)
        a, b = one[places] % np.uint64(len(others)), other[places] % np.uint64(len(others) - 1)
        b += b >= a
        first, second = others[a], others[b]
        self.left[places], self.right[places] = np.minimum(first, second), np.maximum(first, second)

    def weights(self) -> NDArray[np.float64]:
        """For each pair drawn: 0 when it was looked at after all, else one part in the number of bands that left it out."""
        if not len(self):
            return np.zeros(0)
        one, other = (band_hashes(self._slots[side], self._bands, self._rows) for side in (self.left, self.right))
        centre, shared = self._centre_of(one), one == other
        hot = centre >= 0
        looked_at = shared & (~hot | (centre == self.left[:, None]) | (centre == self.right[:, None]))
        left_out = (shared & hot).sum(axis=1)
        return np.where(looked_at.any(axis=1), 0.0, 1.0 / np.maximum(left_out, 1))

    def _centre_of(self, values: Codes) -> NDArray[np.int32]:
        """The centre of each band, -1 where it is not hot; values: (n, bands)."""
        centres = np.full(values.shape, -1, dtype=np.int32)
        numbers, hot, known = (np.array(one) for one in (self._numbers, self._values, self._centres))
        for band in range(values.shape[1]):
            mine = np.flatnonzero(numbers == band)
            mine = mine[np.argsort(hot[mine])]
            if len(mine):
                places = np.minimum(np.searchsorted(hot[mine], values[:, band]), len(mine) - 1)
                centres[:, band] = np.where(hot[mine][places] == values[:, band], known[mine][places], -1)
        return centres

    def missed(self, threshold: float, found: NDArray[np.bool_], weights: NDArray[np.float64]) -> Missed:
        """The estimate, when those of the pairs drawn that are `found` are near duplicates."""
        total = float(weights[found].sum())
        low, high = wilson(total, len(found))
        share = total / len(found)
        return Missed(
            threshold, len(found), int(np.count_nonzero(weights[found])), *(x * self.pairs for x in (share, low, high))
        )
