"""Geometry of the charts in pages, in units of the view box of their SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from indexer.grouping.survey_figures import Step

_WIDTH, _HEIGHT = 640, 160  # of the view box


def first_filled(values: Sequence[int]) -> int:
    """Return the place of the first value other than 0, the number of values without one.

    >>> first_filled([0, 0, 3, 0])
    2
    """
    return next((place for place, value in enumerate(values) if value), len(values))


def curve(steps: Sequence[Step], estimated: bool = False) -> str:
    """Return the points of a line: documents in families (up) by threshold (across).

    `estimated`: the line of the estimated steps, which ends where that of the others begins. The
    greatest number is as high as the chart; 0 lies at the bottom.
    """
    most = max((step.gathered for step in steps), default=0) or 1
    low, high = (steps[0].threshold, steps[-1].threshold) if steps else (0.0, 1.0)
    points = []
    for place, step in enumerate(steps):
        joins = estimated and place > 0 and steps[place - 1].estimated
        if step.estimated != estimated and not joins:
            continue
        x = across(step.threshold, low, high)
        points.append(f"{x:.1f},{_HEIGHT - step.gathered / most * _HEIGHT:.1f}")
    return " ".join(points)


def across(x: float, low: float, high: float) -> float:
    """Return the place of a value between `low` and `high`, in units of the chart."""
    return round((x - low) / ((high - low) or 1) * _WIDTH, 1)
