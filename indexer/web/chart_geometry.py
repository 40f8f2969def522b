"""Geometry of the charts in pages, in units of the view box of their SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from indexer.grouping.survey_figures import Step


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a chart with its label and its value."""

    x: float
    y: float
    width: float
    height: float
    label: str
    value: int


def columns(
    values: Sequence[int],
    labels: Sequence[str],
    width: float = 640,
    height: float = 160,
    gap: float = 3,
) -> list[Bar]:
    """Return upright bars side by side; the greatest is as high as the chart.

    A value other than 0 has a bar of 2 units at least.

    >>> [bar.height for bar in columns([2, 1, 0], ["a", "b", "c"], height=100)]
    [100.0, 50.0, 0.0]
    """
    step = width / max(1, len(values))
    most = max(values, default=0)
    bars = []
    for place, (value, label) in enumerate(zip(values, labels, strict=True)):
        bar_height = round(max(2.0, value / most * height), 1) if value else 0.0
        x = round(place * step, 1)
        y = round(height - bar_height, 1)
        bars.append(Bar(x, y, round(step - gap, 1), bar_height, label, value))
    return bars


def root_columns(values: Sequence[int], labels: Sequence[str], **settings: float) -> list[Bar]:
    """Return `columns` with heights by the square root, for counts of different magnitudes.

    The bars carry the values themselves.
    """
    bars = columns([math.isqrt(value * 10_000) for value in values], labels, **settings)
    return [
        Bar(bar.x, bar.y, bar.width, bar.height, bar.label, value)
        for bar, value in zip(bars, values, strict=True)
    ]


def curve(
    steps: Sequence[Step], estimated: bool = False, width: float = 640, height: float = 160
) -> str:
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
        x = across(step.threshold, low, high, width)
        points.append(f"{x:.1f},{height - step.gathered / most * height:.1f}")
    return " ".join(points)


def across(x: float, low: float, high: float, width: float = 640) -> float:
    """Return the place of a value between `low` and `high`, in units of the chart."""
    return round((x - low) / ((high - low) or 1) * width, 1)
