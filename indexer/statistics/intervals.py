"""Confidence intervals of a measured share: Mitchell's, and the bootstrap's.

Both are of 95 % by default. Wilson's interval, which also holds where a share is 0 or 1, is in
`indexer.sketch.wilson`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from indexer.sketch.hashing import GAMMA, MASK, mix64, mix64_array

RESAMPLES = 2000
Units = NDArray[np.float64]


def z_value(confidence: float = 0.95) -> float:
    """Return the standard deviations about the mean that hold this share of a normal distribution.

    >>> round(z_value(0.95), 2), round(z_value(0.6827), 2)
    (1.96, 1.0)
    """
    return NormalDist().inv_cdf((1 + confidence) / 2)


def mitchell(part: float, whole: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the interval of a share by the normal distribution, within [0, 1].

    It is share -+ z * sqrt(share * (1 - share) / whole): Mitchell, Machine Learning (1997), chapter
    5, for error rates. It is too narrow for few trials, and a point where the share is 0 or 1. No
    trials: (0, 1).

    >>> [f"{end:.2%}" for end in mitchell(22, 942)]
    ['1.37%', '3.30%']
    """
    if not whole:
        return 0.0, 1.0
    share = part / whole
    half = z_value(confidence) * math.sqrt(share * (1 - share) / whole)
    return max(0.0, share - half), min(1.0, share + half)


def bootstrap(
    units: Units,
    statistics: Callable[[Units], Sequence[Units]],
    seed: int = 0,
    draws: int = RESAMPLES,
    confidence: float = 0.95,
) -> list[tuple[float, float] | None]:
    """Return percentile intervals of statistics of sums, by resampling the units (Efron 1979).

    `units`: (units, columns), what each unit adds to each sum; `statistics` takes (draws, columns)
    sums to (draws,) values of each statistic, NaN where it is undefined. The same units and seed
    give the same intervals. None for fewer than two units, or when no resample has a value.
    """
    count = len(units)
    samples = (units[random_places(count, seed + number, count)] for number in range(draws))
    sums = np.array([sample.sum(axis=0) for sample in samples])
    return [_percentiles(values, confidence) if count > 1 else None for values in statistics(sums)]


def _percentiles(values: Units, confidence: float) -> tuple[float, float] | None:
    defined = values[~np.isnan(values)]
    if not len(defined):
        return None
    low, high = np.quantile(defined, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def random_places(draws: int, seed: int, among: int) -> NDArray[np.int64]:
    """Return `draws` places below `among`, with replacement, the same for the same seed.

    (draws,) int64; `among` is at least 1.
    """
    steps = np.arange(1, draws + 1, dtype=np.uint64) * np.uint64(GAMMA)
    randoms = mix64_array(steps + np.uint64(mix64(seed & MASK)))
    places: NDArray[np.int64] = (randoms % np.uint64(among)).astype(np.int64)
    return places
