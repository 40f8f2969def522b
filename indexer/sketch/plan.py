"""Choosing bands and rows for a threshold: the S-curve of locality-sensitive hashing.

Two sketches of similarity s share a band of r rows with chance p = s**r, and at least one of b
bands with 1 - (1 - p)**b (Leskovec, Rajaraman & Ullman, Mining of Massive Datasets, chapter 3). If
m shared bands are required, the chance is that of m or more successes in b trials.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from indexer.errors import UsageError

UNRELATED = 0.235  # median character 4-gram similarity of unrelated documents of one language
_MOST_NODES = 257


@dataclass(frozen=True, slots=True)
class Plan:
    """A layout of bands x rows and its errors.

    `false_positive` is the area under the S-curve below the threshold, `false_negative` the area
    above the curve beyond it: chances, averaged over similarities, times the length of the
    interval. `curve`: 21 points (similarity, chance). `shared` is the least number of shared bands
    that make a candidate.
    """

    bands: int
    rows: int
    threshold: float
    false_positive: float
    false_negative: float
    curve: tuple[tuple[float, float], ...]
    shared: int = 1

    def recall(self, similarity: float) -> float:
        """Return the chance that a pair of this similarity becomes a candidate."""
        return chance(similarity, self.bands, self.rows, self.shared)

    def expected_candidates(self, documents: int, similarity: float = UNRELATED) -> float:
        """Return how many of `documents`, all of this similarity, become candidates of a query."""
        return documents * self.recall(similarity)


def chance(similarity: float, bands: int, rows: int, shared: int = 1) -> float:
    """Return the chance that two sketches of this similarity share at least `shared` bands.

    >>> round(chance(0.8, bands=21, rows=6), 3), round(chance(0.8, bands=21, rows=6, shared=2), 3)
    (0.998, 0.986)
    """
    return float(1.0 - _missed(np.array([similarity]), bands, rows, shared)[0])


def plan(
    threshold: float = 0.8, slots: int = 128, false_negative_weight: float = 0.5, shared: int = 1
) -> Plan:
    """Choose the layout with the least weighted sum of both errors, as datasketch's `MinHashLSH`.

    Every layout with bands * rows <= slots is tried; ties go to fewer bands, then fewer rows. The
    weight of false positives is 1 - `false_negative_weight`. Raises `UsageError` when a value is
    out of range.

    >>> (plan(0.5).bands, plan(0.5).rows)
    (25, 5)
    """
    _check(threshold, slots, shared)
    if not 0.0 <= false_negative_weight <= 1.0:
        raise UsageError(
            f"the weight of false negatives must lie between 0 and 1, not {false_negative_weight}"
        )

    def weighted_error(layout: tuple[int, int]) -> float:
        positive, negative = _errors(threshold, *layout, shared)
        return (1 - false_negative_weight) * positive + false_negative_weight * negative

    best = min(_layouts(slots, slots, shared), key=weighted_error)
    return _plan_of(threshold, *best, shared)


def plan_for_recall(
    similarity: float = 0.8,
    recall: float = 0.998,
    slots: int = 128,
    keys: int | None = None,
    shared: int = 1,
) -> Plan:
    """Choose the layout with the fewest false candidates that reaches `recall` at `similarity`.

    False candidates are the area under the S-curve below `similarity`; ties go to fewer bands.
    `keys` is the maximal number of bands: each is a key to store. Raises `UsageError` when no
    layout reaches the recall.

    >>> (plan_for_recall(0.8, 0.998).bands, plan_for_recall(0.8, 0.998).rows)
    (21, 6)
    """
    _check(similarity, slots, shared)
    if not 0.0 < recall < 1.0:
        raise UsageError(f"the recall must lie between 0 and 1 (exclusive), not {recall}")
    layouts = _layouts(slots, keys or slots, shared)
    able = [layout for layout in layouts if chance(similarity, *layout, shared) >= recall]
    if not able:
        limits = f"{slots} slots and {keys} keys" if keys else f"{slots} slots"
        raise UsageError(
            f"no layout of {limits} finds pairs of {similarity} with recall {recall}; allow more"
        )

    def false_positive(layout: tuple[int, int]) -> float:
        return _errors(similarity, *layout, shared)[0]

    best = min(able, key=false_positive)
    return _plan_of(similarity, *best, shared)


def _check(threshold: float, slots: int, shared: int) -> None:
    if not 0.0 < threshold < 1.0:
        raise UsageError(f"the threshold must lie between 0 and 1 (exclusive), not {threshold}")
    if slots < 2:
        raise UsageError(f"a sketch needs at least 2 slots, not {slots}")
    if not 1 <= shared <= slots:
        raise UsageError(
            f"the least number of shared keys lies between 1 and {slots}, not {shared}"
        )


def _layouts(slots: int, keys: int, shared: int) -> list[tuple[int, int]]:
    return [
        (bands, rows)
        for bands in range(shared, min(slots, keys) + 1)
        for rows in range(1, slots // bands + 1)
    ]


def _missed(
    similarities: NDArray[np.float64], bands: int, rows: int, shared: int
) -> NDArray[np.float64]:
    """Return the chance of fewer than `shared` successes in `bands` trials, for similarities."""
    success = similarities**rows
    missed: NDArray[np.float64] = (1.0 - success) ** bands
    for hits in range(1, shared):
        missed = missed + math.comb(bands, hits) * success**hits * (1.0 - success) ** (bands - hits)
    return missed


def _errors(threshold: float, bands: int, rows: int, shared: int) -> tuple[float, float]:
    """Return the areas of false positives and false negatives.

    They are integrals of polynomials, for which Gauss-Legendre quadrature is exact. Beyond 512
    slots, where the degree exceeds the nodes, the error stays below 1e-6.
    """
    nodes, weights = _quadrature(min(_MOST_NODES, bands * rows // 2 + 1))

    def area(low: float, high: float) -> float:
        similarities = low + (high - low) * nodes
        return float((high - low) * (_missed(similarities, bands, rows, shared) @ weights))

    return threshold - area(0.0, threshold), area(threshold, 1.0)


@cache
def _quadrature(count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return nodes and weights of the interval from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2


def _plan_of(threshold: float, bands: int, rows: int, shared: int) -> Plan:
    curve = tuple((step / 20, chance(step / 20, bands, rows, shared)) for step in range(21))
    return Plan(bands, rows, threshold, *_errors(threshold, bands, rows, shared), curve, shared)
