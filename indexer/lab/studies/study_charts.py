"""The figures of a study as SVG that stands by itself: every colour is in it, and a page may give
it its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT, _LEFT, _TOP = 480, 210, 60, 14
_BASE = _TOP + _HEIGHT
_INNER = _WIDTH - _LEFT - 26
_LEGEND = 20
_COLOURS = ("#0b6b74", "#c0562b", "#5b52a3", "#8a6d00", "#2f6fbf", "#a8326b", "#5f6b73", "#222222")
_DASHES = ("none", "7 3", "2 3", "9 3 2 3", "4 4", "12 4", "1 4", "1 2")
_SOFT, _RULE = "#56616d", "#dedbd3"


@dataclass(frozen=True, slots=True)
class Scale:
    """How values go upwards: from 0 to `most`; by the logarithm of 1 and more where `log`; told as
    shares where `shares`.
    """

    most: float
    log: bool = False
    shares: bool = False

    def height(self, value: float) -> float:
        """The height of a value in [0, 1]; on a logarithmic scale 0 lies at the foot, and 1 is
        seen.
        """
        if not self.log:
            return value / (self.most or 1)
        return (
            0.0 if value < 1 else (0.5 + math.log10(value)) / (0.5 + math.log10(max(self.most, 10)))
        )

    def ticks(self) -> list[tuple[float, str]]:
        """Values to mark, and how they are told."""
        if self.log:
            powers = [10**power for power in range(int(math.log10(max(self.most, 10))) + 1)]
            return [(one, f"{one:,}") for one in (0, *powers)]
        quarters = [self.most * quarter / 4 for quarter in range(5)]
        return [
            (
                one,
                f"{one:.0%}"
                if self.shares
                else f"{one:,.3g}"
                if self.most < 100
                else f"{one:,.0f}",
            )
            for one in quarters
        ]


def chart(
    title: str,
    places: Sequence[str],
    named: Sequence[tuple[str, Sequence[float | None]]],
    scale: Scale,
    across: str,
) -> str:
    """Lines over places at equal distances, told apart by colour and dashes, with a legend;
    `across` says what the places are.

    A value may be None: the line ends there.
    """
    tall = _BASE + 44 + _LEGEND * -(-len(named) // 2)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {_WIDTH} {tall}" role="img" '
        f'aria-label="{escape(title)}" font-family="sans-serif" font-size="13">',
        f"<title>{escape(title)}</title>",
        *(_grid(scale.height(value), told) for value, told in scale.ticks()),
    ]
    step = _INNER / max(1, len(places) - 1)
    for number, place in enumerate(places):
        parts.append(_text("label", _LEFT + number * step, _BASE + 18, place, "middle"))
    parts.append(_text("label", _LEFT + _INNER / 2, _BASE + 36, across, "middle"))
    for number, (name, values) in enumerate(named):
        points = [
            (_LEFT + at * step, _BASE - scale.height(one) * _HEIGHT)
            for at, one in enumerate(values)
            if one is not None
        ]
        parts += [_line(number, points), _legend(number, name)]
    return "\n".join([*parts, "</svg>"])


def _grid(height: float, told: str) -> str:
    up = _BASE - height * _HEIGHT
    line = f'<path class="grid" stroke="{_RULE}" d="M{_LEFT},{up:.1f}h{_INNER}"/>'
    return line + _text("tick", _LEFT - 6, up + 4, told, "end")


def _text(kind: str, across: float, up: float, told: str, anchor: str) -> str:
    return f'<text class="{kind}" fill="{_SOFT}" x="{across:.1f}" y="{up:.1f}" text-anchor="{anchor}">{escape(told)}</text>'


def _line(number: int, points: Sequence[tuple[float, float]]) -> str:
    colour = _COLOURS[number % len(_COLOURS)]
    spelled = " ".join(f"{across:.1f},{up:.1f}" for across, up in points)
    dots = "".join(
        f'<circle cx="{across:.1f}" cy="{up:.1f}" r="2.6" fill="{colour}"/>'
        for across, up in points
    )
    return _drawn(number, spelled) + dots


def _drawn(number: int, points: str) -> str:
    colour, dash = _COLOURS[number % len(_COLOURS)], _DASHES[number % len(_DASHES)]
    return f'<polyline fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}" points="{points}"/>'


def _legend(number: int, name: str) -> str:
    left = _LEFT + (number % 2) * _INNER / 2
    up = _BASE + 58 + number // 2 * _LEGEND
    line = _drawn(number, f"{left:.1f},{up - 4:.1f} {left + 30:.1f},{up - 4:.1f}")
    return line + _text("key", left + 38, up, name, "start")
