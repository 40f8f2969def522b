"""Kappa: how far assessors agree beyond chance, when they put the same objects into categories
without order.

For k assessors: Siegel & Castellan, Nonparametric Statistics for the Behavioral Sciences (2nd ed.
1988), section 9.8, which is Fleiss's kappa with one chance for each category pooled over assessors.
For two with chances of their own: Cohen (1960).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

Table = Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True)
class Kappa:
    """Agreement of `raters` on `objects`. `observed` is P(A), `expected` P(E), each None where
    there is no object.

    `kappa` is (P(A) - P(E)) / (1 - P(E)), from below 0 to 1: None where everything is in one
    category, for then chance explains all. `variance` is that of kappa when there is no agreement
    but by chance, `z` is kappa / sqrt(variance), and `p` the chance of such a z or a greater one
    (H1: kappa > 0).
    """

    objects: int
    raters: int
    observed: float | None
    expected: float | None
    kappa: float | None
    variance: float | None

    @property
    def z(self) -> float | None:
        """Kappa in standard deviations."""
        return (
            None
            if self.kappa is None or not self.variance
            else self.kappa / math.sqrt(self.variance)
        )

    @property
    def p(self) -> float | None:
        """One-sided, by the normal distribution."""
        return None if self.z is None else math.erfc(self.z / math.sqrt(2)) / 2


def siegel_castellan(
    table: Table, corrected: bool = False, times: Sequence[int] | None = None
) -> Kappa:
    """Kappa of k assessors; `table[i][j]` is how many of them put object i into category j, k for
    each object, k at least 2.

    `times`: how many objects each row stands for; one unless given.

    The variance is the book's, which is Fleiss's of 1971; `corrected`: that of Fleiss, Nee & Landis
    (1979), who found the first one wrong for the hypothesis that it tests. Raises `ValueError` for
    rows of different sums.

    >>> made = siegel_castellan([[2, 0], [2, 0], [1, 1], [0, 2]])
    >>> round(made.kappa, 4), round(made.z, 4)
    (0.4667, 0.8767)
    """
    raters = sum(table[0]) if len(table) else 0
    if any(sum(row) != raters for row in table):
        raise ValueError("each object has the same number of judgements")
    weighted = list(zip(table, times or [1] * len(table), strict=True))
    objects = sum(number for _, number in weighted)
    if not objects or raters < 2:
        return Kappa(objects, raters, None, None, None, None)
    columns = [sum(row[kind] * number for row, number in weighted) for kind in range(len(table[0]))]
    shares = [column / (objects * raters) for column in columns]
    observed = sum(n * (n - 1) * number for row, number in weighted for n in row) / (
        objects * raters * (raters - 1)
    )
    expected = sum(share**2 for share in shares)
    if max(columns) == objects * raters:
        return Kappa(objects, raters, observed, expected, None, None)
    variance = (_corrected if corrected else _published)(objects, raters, shares)
    return Kappa(
        objects, raters, observed, expected, (observed - expected) / (1 - expected), variance
    )


def _published(objects: int, raters: int, shares: Sequence[float]) -> float:
    expected, cubes = sum(share**2 for share in shares), sum(share**3 for share in shares)
    spread = expected - (2 * raters - 3) * expected**2 + 2 * (raters - 2) * cubes
    return 2 * spread / (objects * raters * (raters - 1) * (1 - expected) ** 2)


def _corrected(objects: int, raters: int, shares: Sequence[float]) -> float:
    apart = sum(share * (1 - share) for share in shares)
    skewed = sum(share * (1 - share) * (1 - 2 * share) for share in shares)
    return 2 * (apart**2 - skewed) / (objects * raters * (raters - 1) * apart**2)


def cohen(one: Sequence[Hashable], other: Sequence[Hashable]) -> Kappa:
    """Cohen's kappa of two assessors' categories, object by object; its variance is that of Fleiss,
    Cohen & Everitt (1969).

    >>> made = cohen("yyyynnnnyn", "yyynnnnnyy")
    >>> round(made.kappa, 2), round(made.z, 2)
    (0.6, 1.9)
    """
    objects = len(one)
    if not objects:
        return Kappa(0, 2, None, None, None, None)
    kinds = sorted({*one, *other}, key=repr)
    left, right = ([list(side).count(kind) / objects for kind in kinds] for side in (one, other))
    observed = sum(a == b for a, b in zip(one, other, strict=True)) / objects
    expected = sum(a * b for a, b in zip(left, right, strict=True))
    if len(kinds) == 1:
        return Kappa(objects, 2, observed, expected, None, None)
    skewed = sum(a * b * (a + b) for a, b in zip(left, right, strict=True))
    variance = max(0.0, expected + expected**2 - skewed) / (objects * (1 - expected) ** 2)
    return Kappa(objects, 2, observed, expected, (observed - expected) / (1 - expected), variance)


@dataclass(frozen=True, slots=True)
class MeanKappa:
    """The mean of the kappas of `tables` tables; `undefined` others, where all is in one category,
    are not in it.
    """

    mean: float | None
    tables: int
    undefined: int


def mean_kappa(tables: Sequence[Table]) -> MeanKappa:
    """The mean of one kappa a table, as Conrad & Raymond (ICAIL 2007) call "micro-averaged": None
    when none is defined.
    """
    made = [kappa for table in tables if (kappa := siegel_castellan(table).kappa) is not None]
    return MeanKappa(
        math.fsum(made) / len(made) if made else None, len(made), len(tables) - len(made)
    )


def count_table(judgements: Sequence[Sequence[Hashable]]) -> list[list[int]]:
    """The table of objects whose judgements are given, one a rater, over the categories that occur.

    >>> count_table([("yes", "yes"), ("yes", "no")])
    [[0, 2], [1, 1]]
    """
    kinds = sorted({kind for row in judgements for kind in row}, key=repr)
    return [[list(row).count(kind) for kind in kinds] for row in judgements]
