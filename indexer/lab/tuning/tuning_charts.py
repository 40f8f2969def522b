"""The pictures of a tuning report, as SVG in the colours of its page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

_WIDTH, _HEIGHT, _LEFT, _TOP = 480, 200, 52, 12
_BASE = _TOP + _HEIGHT
_INNER = _WIDTH - _LEFT - 8
DASHES = ("none", "7 3", "2 3", "9 3 2 3", "4 4")


def separation(
    title: str, similar: Sequence[int], different: Sequence[int], threshold: float
) -> str:
    """How many similar and different pairs have which similarity, in bins of equal width from 0 to
    1; heights are logarithmic.

    A bar twice as high does not mean twice as many: the scale tells. The threshold is a dashed
    line.
    """
    most = max(*similar, *different, 9)
    step = _INNER / len(similar)
    parts = [_framed(title), *_heights(most)]
    for place, numbers in enumerate(zip(similar, different, strict=True)):
        for side, (name, number) in enumerate(zip(("similar", "different"), numbers, strict=True)):
            if number:
                tall = _tall(number, most)
                left = _LEFT + place * step + side * step / 2
                parts.append(
                    f'<rect class="{name}" x="{left:.1f}" y="{_BASE - tall:.1f}" width="{step / 2:.1f}" height="{tall:.1f}"/>'
                )
    return "\n".join([*parts, *_shares(), _marked(threshold), "</svg>"])


def _heights(most: int) -> list[str]:
    parts = []
    for power in range(int(math.log10(most)) + 1):
        up = _BASE - _tall(10**power, most)
        parts.append(f'<path class="grid" d="M{_LEFT},{up:.1f}h{_INNER}"/>')
        parts.append(f'<text class="tick" x="{_LEFT - 6}" y="{up + 5:.1f}">{10**power:,}</text>')
    return parts


def _tall(number: int, most: int) -> float:
    """A height by the logarithm, 1 being seen."""
    return (0.4 + math.log10(number)) / (0.4 + math.log10(most)) * _HEIGHT


def lines(
    title: str,
    named: Sequence[tuple[str, Sequence[tuple[float, float]]]],
    mark: float | None = None,
) -> str:
    """Lines of (across, up) points, both from 0 to 1, told apart by their dashes; `mark` is a
    dashed upright line.
    """
    parts = [_framed(title), *_grid(), *_shares()]
    for place, (_, points) in enumerate(named):
        spelled = " ".join(
            f"{_LEFT + across * _INNER:.1f},{_BASE - up * _HEIGHT:.1f}" for across, up in points
        )
        dash = DASHES[place % len(DASHES)]
        parts.append(
            f'<polyline class="line line-{place % len(DASHES)}" stroke-dasharray="{dash}" points="{spelled}"/>'
        )
    return "\n".join([*parts, _marked(mark) if mark is not None else "", "</svg>"])


def key(place: int) -> str:
    """A short piece of the line of that place, for a legend."""
    dash = DASHES[place % len(DASHES)]
    return (
        '<svg class="key" viewBox="0 0 40 8" aria-hidden="true">'
        f'<polyline class="line line-{place % len(DASHES)}" stroke-dasharray="{dash}" points="0,4 40,4"/></svg>'
    )


def _framed(title: str) -> str:
    return f'<svg class="chart" viewBox="0 0 {_WIDTH} {_BASE + 30}" role="img" aria-label="{escape(title)}">'


def _grid() -> list[str]:
    parts = []
    for quarter in range(5):
        up = _BASE - quarter / 4 * _HEIGHT
        parts.append(f'<path class="grid" d="M{_LEFT},{up:.1f}h{_INNER}"/>')
        parts.append(f'<text class="tick" x="{_LEFT - 6}" y="{up + 5:.1f}">{quarter / 4:g}</text>')
    return parts


def _shares() -> list[str]:
    parts = [f'<path class="axis" d="M{_LEFT},{_BASE}h{_INNER}"/>']
    for fifth in range(6):
        across = _LEFT + fifth / 5 * _INNER
        parts.append(f'<text class="label" x="{across:.1f}" y="{_BASE + 20}">{fifth / 5:g}</text>')
    return parts


def _marked(threshold: float) -> str:
    return f'<path class="mark" d="M{_LEFT + threshold * _INNER:.1f},{_TOP}V{_BASE}"/>'
