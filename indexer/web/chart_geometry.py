"""Geometry of the pictures in pages: what the SVG in the templates needs, in whole units of a view
box.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from indexer.grouping.survey import Step


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
    """Upright bars side by side, the greatest as high as the picture; what is not 0 is seen.

    >>> [bar.height for bar in columns([2, 1, 0], ["a", "b", "c"], height=100)]
    [100.0, 50.0, 0.0]
    """
    step, most = width / max(1, len(values)), max(values, default=0)
    made = []
    for place, (value, label) in enumerate(zip(values, labels, strict=True)):
        tall = round(max(2.0, value / most * height), 1) if value else 0.0
        made.append(
            Bar(
                round(place * step, 1),
                round(height - tall, 1),
                round(step - gap, 1),
                tall,
                label,
                value,
            )
        )
    return made


def root_columns(values: Sequence[int], labels: Sequence[str], **settings: float) -> list[Bar]:
    """`columns` with heights by the square root, for counts that differ by orders of magnitude;
    values stay as they are.
    """
    bars = columns([math.isqrt(value * 10_000) for value in values], labels, **settings)
    return [
        Bar(bar.x, bar.y, bar.width, bar.height, bar.label, value)
        for bar, value in zip(bars, values, strict=True)
    ]


def curve(steps: Sequence[Step], width: float = 640, height: float = 160) -> str:
    """The points of a line: thresholds from the least to the greatest, documents in families from 0
    to the most.
    """
    most = max((step.gathered for step in steps), default=0) or 1
    low, high = (steps[0].threshold, steps[-1].threshold) if steps else (0.0, 1.0)
    return " ".join(
        f"{across(one.threshold, low, high, width):.1f},{height - one.gathered / most * height:.1f}"
        for one in steps
    )


def across(x: float, low: float, high: float, width: float = 640) -> float:
    """Where a value lies between two others, in units of the picture."""
    return round((x - low) / ((high - low) or 1) * width, 1)
