"""How far a measured share may be from the true one: Mitchell's interval, and one by drawing again
from what was seen.

Both are of 95 % unless told otherwise. Wilson's interval, which also holds where a share is 0 or 1,
is in `sketch.statistics`.
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
    """How many standard deviations about the mean hold this share of a normal distribution.

    >>> round(z_value(0.95), 2), round(z_value(0.6827), 2)
    (1.96, 1.0)
    """
    return NormalDist().inv_cdf((1 + confidence) / 2)


def mitchell(part: float, whole: int, confidence: float = 0.95) -> tuple[float, float]:
    """The interval of a share by the normal distribution: share -+ z * sqrt(share * (1 - share) /
    whole), within [0, 1].

    Mitchell, Machine Learning (1997), chapter 5, for error rates. It is too narrow for few trials,
    and a point where the share is 0 or 1. No trials: (0, 1).

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
    """The percentile intervals of statistics of sums, drawing units again with replacement (Efron
    1979).

    `units`: (units, columns), what each unit adds to each sum; `statistics` takes (draws, columns)
    sums to (draws,) values of each statistic, NaN where it is undefined. The same units and seed
    give the same intervals. None for fewer than two units, or when no draw has a value.
    """
    sums = np.array(
        [
            units[random_places(len(units), seed + number, len(units))].sum(axis=0)
            for number in range(draws)
        ]
    )
    return [_middle(values, confidence) if len(units) > 1 else None for values in statistics(sums)]


def _middle(values: Units, confidence: float) -> tuple[float, float] | None:
    defined = values[~np.isnan(values)]
    if not len(defined):
        return None
    low, high = np.quantile(defined, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def random_places(draws: int, seed: int, among: int) -> NDArray[np.int64]:
    """Places drawn with equal chance from `among`, with replacement, the same for the same seed."""
    steps = np.arange(1, draws + 1, dtype=np.uint64) * np.uint64(GAMMA)
    drawn: NDArray[np.int64] = (
        mix64_array(steps + np.uint64(mix64(seed & MASK))) % np.uint64(among)
    ).astype(np.int64)
    return drawn
