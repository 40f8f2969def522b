"""Estimating what a cap costs: pairs sampled from hot bands, and the near duplicates among them.

When at most `SAMPLE_SIZE` pairs were left out, all of them are in the sample and the estimate is a
count. The sample depends on the bands only: the same documents give the same sample.
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

SAMPLE_SIZE = 1000
_TOP = float(1 << 64)


@dataclass(frozen=True, slots=True)
class MissedEstimate:
    """An estimate of the near duplicates that a cap left out.

    `sampled` pairs were verified, of which `found` are near duplicates. `estimate`, with its 95 %
    interval from `low` to `high`, counts pairs of distinct texts at `threshold` or above, each
    once; all three are equal when every pair that was left out was examined. A pair that several
    bands left out is in the sample once for each.
    """

    threshold: float
    sampled: int
    found: int
    estimate: float
    low: float
    high: float

    def add(self, other: MissedEstimate) -> MissedEstimate:
        """Return the sum of two estimates at the same threshold."""
        return MissedEstimate(
            self.threshold,
            self.sampled + other.sampled,
            self.found + other.found,
            self.estimate + other.estimate,
            self.low + other.low,
            self.high + other.high,
        )


class HotBands:
    """Hot bands, and a sample of the pairs that were left out in them.

    The sample has `SAMPLE_SIZE` pairs with equal chance, or all if there are no more. A pair that
    several hot bands left out counts once for each, which `weights` corrects. The centre of a band
    is paired with all others, so the pairs left out are those among the others.
    """

    def __init__(self, slots: NDArray[np.uint32], bands: int, rows: int) -> None:
        self._slots, self._bands, self._rows = slots, bands, rows
        self._numbers, self._values, self._centres = array("i"), array("Q"), array("i")
        self._left = np.zeros(SAMPLE_SIZE, dtype=np.int32)
        self._right = np.zeros(SAMPLE_SIZE, dtype=np.int32)
        self._every: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []
        self.pairs = self.largest = 0

    def __len__(self) -> int:
        return len(self._values)

    def add(self, band: int, value: int, centre: int, others: NDArray[np.int32]) -> None:
        """Add a hot band: its number and hash, the document paired with all others, the others."""
        self._numbers.append(band)
        self._values.append(value)
        self._centres.append(centre)
        self.largest = max(self.largest, len(others) + 1)
        count = len(others)
        left_out = count * (count - 1) // 2
        self.pairs += left_out
        if self.pairs > SAMPLE_SIZE:
            self._every.clear()
        elif left_out:
            left, right = np.triu_indices(count, 1)
            self._every.append((others[left], others[right]))
        if left_out:
            self._sample(mix64(value ^ mix64(band)), others, left_out / self.pairs)

    def _sample(self, seed: int, others: NDArray[np.int32], chance: float) -> None:
        """Replace each sampled pair with this chance by a pair of this band."""
        steps = np.arange(3 * SAMPLE_SIZE, dtype=np.uint64) * np.uint64(GAMMA)
        randoms = mix64_array(steps + np.uint64(seed & MASK)).reshape(3, SAMPLE_SIZE)
        places = np.flatnonzero(randoms[0] / _TOP <= chance)
        a = randoms[1][places] % np.uint64(len(others))
        b = randoms[2][places] % np.uint64(len(others) - 1)
        b += b >= a
        self._left[places] = np.minimum(others[a], others[b])
        self._right[places] = np.maximum(others[a], others[b])

    @property
    def sides(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The pairs of the sample: the smaller and the larger document of each."""
        if self.pairs > SAMPLE_SIZE:
            return self._left, self._right
        none = np.zeros(0, np.int32)
        left = np.concatenate([none, *(pairs[0] for pairs in self._every)])
        right = np.concatenate([none, *(pairs[1] for pairs in self._every)])
        return np.minimum(left, right), np.maximum(left, right)

    def weights(self) -> NDArray[np.float64]:
        """Return the weight of each pair of the sample.

        It is 0 for a pair that another band made a candidate, else 1 / the number of bands that
        left the pair out.
        """
        if not self.pairs:
            return np.zeros(0)
        left, right = self.sides
        left_hashes = band_hashes(self._slots[left], self._bands, self._rows)
        right_hashes = band_hashes(self._slots[right], self._bands, self._rows)
        centre, shared = self._centre_of(left_hashes), left_hashes == right_hashes
        hot = centre >= 0
        compared = shared & (~hot | (centre == left[:, None]) | (centre == right[:, None]))
        left_out = (shared & hot).sum(axis=1)
        return np.where(compared.any(axis=1), 0.0, 1.0 / np.maximum(left_out, 1))

    def _centre_of(self, values: Codes) -> NDArray[np.int32]:
        """Return the centre of each band, -1 where it is not hot; values: (n, bands)."""
        centres = np.full(values.shape, -1, dtype=np.int32)
        numbers, hot_values = np.array(self._numbers), np.array(self._values)
        hot_centres = np.array(self._centres)
        for band in range(values.shape[1]):
            mine = np.flatnonzero(numbers == band)
            mine = mine[np.argsort(hot_values[mine])]
            if not len(mine):
                continue
            hot = hot_values[mine]
            places = np.minimum(np.searchsorted(hot, values[:, band]), len(mine) - 1)
            is_hot = hot[places] == values[:, band]
            centres[:, band] = np.where(is_hot, hot_centres[mine][places], -1)
        return centres

    def missed(
        self, threshold: float, is_duplicate: NDArray[np.bool_], weights: NDArray[np.float64]
    ) -> MissedEstimate:
        """Return the estimate, given which pairs of the sample are near duplicates."""
        total = float(weights[is_duplicate].sum())
        sampled = len(is_duplicate)
        duplicates = int(np.count_nonzero(weights[is_duplicate]))
        if self.pairs <= SAMPLE_SIZE:
            count = round(total)
            return MissedEstimate(threshold, sampled, duplicates, count, count, count)
        low, high = wilson(total, sampled)
        estimate = total / sampled * self.pairs
        return MissedEstimate(
            threshold, sampled, duplicates, estimate, low * self.pairs, high * self.pairs
        )
