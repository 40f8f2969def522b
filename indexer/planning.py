"""Bands and rows from a threshold: the S-curve of locality-sensitive hashing.

Two sketches of similarity s share a band of r rows with chance s**r, and at least one of b bands with 1 - (1 - s**r)**b
(Leskovec, Rajaraman & Ullman, Mining of Massive Datasets, chapter 3).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from indexer.errors import UsageError

_STEP = 0.001


@dataclass(frozen=True, slots=True)
class Plan:
    """Bands x rows and what they cost.

    `false_positive` is the area under the S-curve below the threshold, `false_negative` the area above the curve beyond
    it: chances, averaged over similarities, times the length of the interval. `curve`: 21 points (similarity, chance).
    """

    bands: int
    rows: int
    threshold: float
    false_positive: float
    false_negative: float
    curve: tuple[tuple[float, float], ...]

    def recall(self, similarity: float) -> float:
        """The chance that a pair of this similarity shares a band."""
        return chance(similarity, self.bands, self.rows)


def chance(similarity: float, bands: int, rows: int) -> float:
    """The chance that two sketches of this similarity share at least one band.

    >>> round(chance(0.8, bands=21, rows=6), 3)
    0.998
    """
    return float(1.0 - (1.0 - similarity**rows) ** bands)


def plan(threshold: float = 0.8, slots: int = 128, false_negative_weight: float = 0.5) -> Plan:
    """Choose bands x rows that make the weighted sum of both errors least, as datasketch's `MinHashLSH` does.

    Every layout with bands * rows <= slots is tried; ties go to fewer bands, then fewer rows. The weight of false
    positives is 1 - `false_negative_weight`. Raises `UsageError` when a value is out of its range.

    >>> (plan(0.5).bands, plan(0.5).rows)
    (25, 5)
    """
    _check(threshold, slots)
    if not 0.0 <= false_negative_weight <= 1.0:
        raise UsageError(f"the weight of false negatives must lie between 0 and 1, not {false_negative_weight}")
    layouts = _layouts(slots)
    errors = {layout: _errors(threshold, *layout) for layout in layouts}
    best = min(layouts, key=lambda b_r: (1 - false_negative_weight) * errors[b_r][0] + false_negative_weight * errors[b_r][1])
    return _described(threshold, *best)


def plan_for_recall(similarity: float = 0.8, recall: float = 0.998, slots: int = 128) -> Plan:
    """Choose the layout with the fewest false candidates among those that reach `recall` at `similarity`.

    False candidates are the area under the S-curve below `similarity`; ties go to fewer bands. Raises `UsageError` when no
    layout of `slots` slots reaches it.

    >>> (plan_for_recall(0.8, 0.998).bands, plan_for_recall(0.8, 0.998).rows)
    (21, 6)
    """
    _check(similarity, slots)
    if not 0.0 < recall < 1.0:
        raise UsageError(f"the recall must lie between 0 and 1 (exclusive), not {recall}")
    able = [layout for layout in _layouts(slots) if chance(similarity, *layout) >= recall]
    if not able:
        raise UsageError(f"no layout of {slots} slots finds pairs of {similarity} with recall {recall}; raise --num-perm")
    return _described(similarity, *min(able, key=lambda b_r: _errors(similarity, *b_r)[0]))


def _check(threshold: float, slots: int) -> None:
    if not 0.0 < threshold < 1.0:
        raise UsageError(f"the threshold must lie between 0 and 1 (exclusive), not {threshold}")
    if slots < 2:
        raise UsageError(f"a sketch needs at least 2 slots, not {slots}")


def _layouts(slots: int) -> list[tuple[int, int]]:
    return [(bands, rows) for bands in range(1, slots + 1) for rows in range(1, slots // bands + 1)]


def _errors(threshold: float, bands: int, rows: int) -> tuple[float, float]:
    """Areas of false positives and false negatives, by the midpoint rule with a step of 0.001."""

    def missed(low: float, high: float) -> float:
        similarities = np.arange(low, high, _STEP) + _STEP / 2
        return float(np.sum((1.0 - similarities**rows) ** bands) * _STEP)

    return threshold - missed(0.0, threshold), missed(threshold, 1.0)


def _described(threshold: float, bands: int, rows: int) -> Plan:
    false_positive, false_negative = _errors(threshold, bands, rows)
    return Plan(bands, rows, threshold, false_positive, false_negative, tuple(_curve(bands, rows)))


def _curve(bands: int, rows: int) -> Iterator[tuple[float, float]]:
    for twentieth in range(21):
        yield twentieth / 20, chance(twentieth / 20, bands, rows)
