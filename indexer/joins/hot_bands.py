"""What a cap may have cost: pairs drawn from hot bands, and an estimate of how many of those left
out are near duplicates.

Where no more were left out than would be drawn, all of them are taken, and the estimate is a count.
The draws depend on the bands alone: the same documents give the same sample.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.joins.external_sort import Codes
from indexer.sketch.hashing import GAMMA, MASK, mix64, mix64_array
from indexer.sketch.keys import band_hashes
from indexer.sketch.wilson import wilson

DRAWN = 1000
_TOP = float(1 << 64)


@dataclass(frozen=True, slots=True)
class MissedEstimate:
    """How many near duplicates a cap is likely to have left out, from `drawn` pairs of which
    `found` were such.

    `estimate` with its 95 % interval from `low` to `high` counts pairs of distinct texts at
    `threshold` or above, each once; all three are equal where every pair that was left out was
    looked at. A pair that several bands left out is among those drawn once for each.
    """

    threshold: float
    drawn: int
    found: int
    estimate: float
    low: float
    high: float


class HotBands:
    """Hot bands as they are met, and pairs that were not looked at in them: `DRAWN` with equal
    chance, or all if no more.

    A pair that several hot bands left out counts once for each, until `weights` makes up for it.
    The centre of a band is paired with all others, so the pairs left out are those of the others.
    """

    def __init__(self, slots: NDArray[np.uint32], bands: int, rows: int) -> None:
        self._slots, self._bands, self._rows = slots, bands, rows
        self._numbers, self._values, self._centres = array("i"), array("Q"), array("i")
        self._left, self._right = np.zeros(DRAWN, dtype=np.int32), np.zeros(DRAWN, dtype=np.int32)
        self._every: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []
        self.pairs = self.largest = 0

    def __len__(self) -> int:
        return len(self._values)

    def add(self, band: int, value: int, centre: int, others: NDArray[np.int32]) -> None:
        """Take one more hot band: its hash, the document that is paired with all others, and the
        others.
        """
        self._numbers.append(band)
        self._values.append(value)
        self._centres.append(centre)
        self.largest = max(self.largest, len(others) + 1)
        count = len(others)
        here = count * (count - 1) // 2
        self.pairs += here
        if self.pairs > DRAWN:
            self._every.clear()
        elif here:
            one, other = np.triu_indices(count, 1)
            self._every.append((others[one], others[other]))
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
        self._left[places], self._right[places] = (
            np.minimum(first, second),
            np.maximum(first, second),
        )

    @property
    def sides(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The pairs drawn, or all of them: the smaller and the larger document of each."""
        if self.pairs > DRAWN:
            return self._left, self._right
        one, other = (
            np.concatenate([np.zeros(0, np.int32), *side])
            for side in zip(*self._every, strict=True)
        )
        return np.minimum(one, other), np.maximum(one, other)

    def weights(self) -> NDArray[np.float64]:
        """For each pair drawn: 0 when it was looked at after all, else one part in the number of
        bands that left it out.
        """
        if not self.pairs:
            return np.zeros(0)
        left, right = self.sides
        one, other = (
            band_hashes(self._slots[side], self._bands, self._rows) for side in (left, right)
        )
        centre, shared = self._centre_of(one), one == other
        hot = centre >= 0
        looked_at = shared & (~hot | (centre == left[:, None]) | (centre == right[:, None]))
        left_out = (shared & hot).sum(axis=1)
        return np.where(looked_at.any(axis=1), 0.0, 1.0 / np.maximum(left_out, 1))

    def _centre_of(self, values: Codes) -> NDArray[np.int32]:
        """The centre of each band, -1 where it is not hot; values: (n, bands)."""
        centres = np.full(values.shape, -1, dtype=np.int32)
        numbers, hot, known = (
            np.array(one) for one in (self._numbers, self._values, self._centres)
        )
        for band in range(values.shape[1]):
            mine = np.flatnonzero(numbers == band)
            mine = mine[np.argsort(hot[mine])]
            if len(mine):
                places = np.minimum(np.searchsorted(hot[mine], values[:, band]), len(mine) - 1)
                centres[:, band] = np.where(
                    hot[mine][places] == values[:, band], known[mine][places], -1
                )
        return centres

    def missed(
        self, threshold: float, found: NDArray[np.bool_], weights: NDArray[np.float64]
    ) -> MissedEstimate:
        """The estimate, when those of the pairs drawn that are `found` are near duplicates."""
        total, drawn, such = (
            float(weights[found].sum()),
            len(found),
            int(np.count_nonzero(weights[found])),
        )
        if self.pairs <= DRAWN:
            return MissedEstimate(threshold, drawn, such, *[round(total)] * 3)
        low, high = wilson(total, drawn)
        return MissedEstimate(
            threshold, drawn, such, *(x * self.pairs for x in (total / drawn, low, high))
        )
