"""Bands and rows from a threshold: the S-curve of locality-sensitive hashing.

Two sketches of similarity s share a band of r rows with chance p = s**r, and at least one of b
bands with 1 - (1 - p)**b (Leskovec, Rajaraman & Ullman, Mining of Massive Datasets, chapter 3).
Asked for at least m shared bands, the chance is that of m or more successes in b trials.
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
    """Bands x rows and what they cost.

    `false_positive` is the area under the S-curve below the threshold, `false_negative` the area
    above the curve beyond it: chances, averaged over similarities, times the length of the
    interval. `curve`: 21 points (similarity, chance). `shared` is the least number of bands that
    make a candidate.
    """

    bands: int
    rows: int
    threshold: float
    false_positive: float
    false_negative: float
    curve: tuple[tuple[float, float], ...]
    shared: int = 1

    def recall(self, similarity: float) -> float:
        """The chance that a pair of this similarity becomes a candidate."""
        return chance(similarity, self.bands, self.rows, self.shared)

    def expected_candidates(self, documents: int, similarity: float = UNRELATED) -> float:
        """How many of so many documents, all of this similarity to the query, become candidates."""
        return documents * self.recall(similarity)


def chance(similarity: float, bands: int, rows: int, shared: int = 1) -> float:
    """The chance that two sketches of this similarity share at least `shared` bands.

    >>> round(chance(0.8, bands=21, rows=6), 3), round(chance(0.8, bands=21, rows=6, shared=2), 3)
    (0.998, 0.986)
    """
    return float(1.0 - _missed(np.array([similarity]), bands, rows, shared)[0])


def plan(
    threshold: float = 0.8, slots: int = 128, false_negative_weight: float = 0.5, shared: int = 1
) -> Plan:
    """Choose bands x rows that make the weighted sum of both errors least, as datasketch's
    `MinHashLSH` does.

    Every layout with bands * rows <= slots is tried; ties go to fewer bands, then fewer rows. The
    weight of false positives is 1 - `false_negative_weight`. Raises `UsageError` when a value is
    out of its range.

    >>> (plan(0.5).bands, plan(0.5).rows)
    (25, 5)
    """
    _check(threshold, slots, shared)
    if not 0.0 <= false_negative_weight <= 1.0:
        raise UsageError(
            f"the weight of false negatives must lie between 0 and 1, not {false_negative_weight}"
        )
    layouts = _layouts(slots, slots, shared)
    errors = {layout: _errors(threshold, *layout, shared) for layout in layouts}
    best = min(
        layouts,
        key=lambda b_r: (
            (1 - false_negative_weight) * errors[b_r][0] + false_negative_weight * errors[b_r][1]
        ),
    )
    return _described(threshold, *best, shared)


def plan_for_recall(
    similarity: float = 0.8,
    recall: float = 0.998,
    slots: int = 128,
    keys: int | None = None,
    shared: int = 1,
) -> Plan:
    """Choose the layout with the fewest false candidates among those that reach `recall` at
    `similarity`.

    False candidates are the area under the S-curve below `similarity`; ties go to fewer bands.
    `keys` is the most bands there may be: each is a key to store. Raises `UsageError` when no
    layout reaches it.

    >>> (plan_for_recall(0.8, 0.998).bands, plan_for_recall(0.8, 0.998).rows)
    (21, 6)
    """
    _check(similarity, slots, shared)
    if not 0.0 < recall < 1.0:
        raise UsageError(f"the recall must lie between 0 and 1 (exclusive), not {recall}")
    layouts = _layouts(slots, keys or slots, shared)
    able = [layout for layout in layouts if chance(similarity, *layout, shared) >= recall]
    if not able:
        most = f" and {keys} keys" if keys else ""
        raise UsageError(
            f"no layout of {slots} slots{most} finds pairs of {similarity} with recall {recall}; allow more"
        )
    bands, rows = min(able, key=lambda layout: _errors(similarity, layout[0], layout[1], shared)[0])
    return _described(similarity, bands, rows, shared)


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
    """The chance of fewer than `shared` successes in `bands` trials, at each similarity."""
    success = similarities**rows
    missed: NDArray[np.float64] = (1.0 - success) ** bands
    for hits in range(1, shared):
        missed = missed + math.comb(bands, hits) * success**hits * (1.0 - success) ** (bands - hits)
    return missed


def _errors(threshold: float, bands: int, rows: int, shared: int) -> tuple[float, float]:
    """Areas of false positives and false negatives: polynomials, so Gauss-Legendre quadrature has
    them exactly.

    Past 512 slots, where the degree is beyond the nodes, the error stays below 1e-6.
    """
    nodes, weights = _quadrature(min(_MOST_NODES, bands * rows // 2 + 1))

    def area(low: float, high: float) -> float:
        similarities = low + (high - low) * nodes
        return float((high - low) * (_missed(similarities, bands, rows, shared) @ weights))

    return threshold - area(0.0, threshold), area(threshold, 1.0)


@cache
def _quadrature(count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes and weights of the interval from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2


def _described(threshold: float, bands: int, rows: int, shared: int) -> Plan:
    curve = tuple((step / 20, chance(step / 20, bands, rows, shared)) for step in range(21))
    return Plan(bands, rows, threshold, *_errors(threshold, bands, rows, shared), curve, shared)
