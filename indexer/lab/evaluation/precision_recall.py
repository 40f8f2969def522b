"""Precision, recall and F1 of pairs and of sets; a fraction of nothing is None, never 0 or 1."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist
from typing import Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from indexer.fingerprinting.hashing import random_indexes
from indexer.grouping.group import ConnectedTexts

RESAMPLES = 2000
Units = NDArray[np.float64]


def z_value(confidence: float = 0.95) -> float:
    """Return the standard deviations about the mean that hold this fraction of a normal
    distribution.

    >>> round(z_value(0.95), 2), round(z_value(0.6827), 2)
    (1.96, 1.0)
    """
    return NormalDist().inv_cdf((1 + confidence) / 2)


def mitchell(part: float, whole: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the interval of a fraction by the normal distribution, within [0, 1].

    It is ratio -+ z * sqrt(ratio * (1 - ratio) / whole): Mitchell, Machine Learning (1997), chapter
    5, for error rates. It is too narrow for few trials, and a point where the fraction is 0 or 1.
    No trials: (0, 1).

    >>> [f"{end:.2%}" for end in mitchell(22, 942)]
    ['1.37%', '3.30%']
    """
    if not whole:
        return 0.0, 1.0
    fraction = part / whole
    half = z_value(confidence) * math.sqrt(fraction * (1 - fraction) / whole)
    return max(0.0, fraction - half), min(1.0, fraction + half)


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
    samples = (units[random_indexes(count, seed + number, count)] for number in range(draws))
    sums = np.array([sample.sum(axis=0) for sample in samples])
    return [_percentiles(values, confidence) if count > 1 else None for values in statistics(sums)]


def _percentiles(values: Units, confidence: float) -> tuple[float, float] | None:
    defined = values[~np.isnan(values)]
    if not len(defined):
        return None
    low, high = np.quantile(defined, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


Rule: TypeAlias = Literal["all", "connected", "any"]
RULES: Mapping[str, str] = {
    "connected": "a set counts when pairs link all its documents, directly or through each other",
    "all": "a set counts when each pair of its documents is there",
    "any": "a set counts when at least one pair of its documents is there",
}
T = TypeVar("T", bound=Hashable)
Pair: TypeAlias = tuple[T, T]


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of pairs: true positives (`right`), false positives (`wrong`), false negatives."""

    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float | None:
        """The fraction of the found pairs that are duplicates; None when nothing was found."""
        return ratio(self.right, self.right + self.wrong)

    @property
    def recall(self) -> float | None:
        """The fraction of the duplicate pairs that were found; None when there are none."""
        return ratio(self.right, self.right + self.missed)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of both; None when all three counts are 0.

        It is 2 * right / (2 * right + wrong + missed).

        >>> round(Counts(94, 15, 9).f1, 4)
        0.8868
        """
        return ratio(2 * self.right, 2 * self.right + self.wrong + self.missed)


def ratio(part: float, whole: float) -> float | None:
    """Return part / whole, None when the whole is 0."""
    return part / whole if whole else None


def ordered_pair(a: T, b: T) -> tuple[T, T]:
    """Return the pair sorted by its members' strings, so that it does not depend on their order."""
    return (a, b) if str(a) <= str(b) else (b, a)


def linked_sets(pairs: Iterable[Pair[T]]) -> list[tuple[T, ...]]:
    """Return the sets that pairs link together, directly or through others.

    Members and sets are sorted by their strings.

    >>> linked_sets([("a", "b"), ("d", "c"), ("b", "e")])
    [('a', 'b', 'e'), ('c', 'd')]
    """
    edges = list(pairs)
    members = sorted({member for pair in edges for member in pair}, key=str)
    numbers = {member: number for number, member in enumerate(members)}
    chains = ConnectedTexts(len(members))
    for a, b in edges:
        chains.join(numbers[a], numbers[b])
    sets: dict[int, list[T]] = {}
    for number, member in enumerate(members):
        sets.setdefault(chains.root(number), []).append(member)
    return [tuple(linked) for linked in sets.values()]


def is_captured(members: Sequence[T], pairs: Collection[Pair[T]], rule: Rule) -> bool:
    """Return whether ordered `pairs` hold a set together by the rule."""
    inside = [pair for pair in combinations(sorted(members, key=str), 2) if pair in pairs]
    if rule == "any":
        return bool(inside)
    if rule == "all":
        return len(inside) == len(members) * (len(members) - 1) // 2
    return len(members) > 1 and linked_sets(inside) == [tuple(sorted(members, key=str))]


@dataclass(frozen=True, slots=True)
class SetCounts:
    """Numbers of sets: `captured` of the `sets` true sets, and `right` of the `found` sets."""

    captured: int
    sets: int
    right: int
    found: int

    @property
    def recall(self) -> float | None:
        """The fraction of the true sets that were captured."""
        return ratio(self.captured, self.sets)

    @property
    def precision(self) -> float | None:
        """The fraction of the found sets that are right."""
        return ratio(self.right, self.found)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of both; None when one is None, 0 when both are 0."""
        if self.recall is None or self.precision is None:
            return None
        both = self.recall + self.precision
        return 2 * self.recall * self.precision / both if both else 0.0


def count_sets(
    sets: Sequence[Sequence[T]],
    found_pairs: Collection[Pair[T]],
    true: Collection[Pair[T]],
    rule: Rule,
) -> SetCounts:
    """Count the true sets that found pairs capture, and the found sets that true pairs capture."""
    found_sets = linked_sets(found_pairs)
    return SetCounts(
        sum(is_captured(members, found_pairs, rule) for members in sets),
        len(sets),
        sum(is_captured(members, true, rule) for members in found_sets),
        len(found_sets),
    )


def f1_of_rows(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return F1 of each row of right, wrong and missed, (n, 3); NaN where all three are 0."""
    right = 2 * counts[:, 0]
    whole = right + counts[:, 1] + counts[:, 2]
    undefined = np.full(len(counts), np.nan)
    f1: NDArray[np.float64] = np.divide(right, whole, out=undefined, where=whole > 0)
    return f1
