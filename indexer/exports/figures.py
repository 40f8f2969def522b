"""Pictures as SVG text: nothing but lines, so any browser shows them and any diff reads them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from indexer.sketch.plan import Plan, chance

_WIDTH, _HEIGHT, _LEFT, _TOP, _STEPS = 480, 300, 56, 40, 200
_ROOM = 170  # that bars and lines of a page may take upwards


def s_curve(plan: Plan) -> str:
    """The S-curve of a plan: the chance to become a candidate over the similarity, with the
    threshold marked.
    """
    points = " ".join(
        f"{_across(step / _STEPS):.1f},{_up(chance(step / _STEPS, plan.bands, plan.rows, plan.shared)):.1f}"
        for step in range(_STEPS + 1)
    )
    middle, bottom = _across(0.5), _up(0) + 36
    shared = "" if plan.shared == 1 else f", at least {plan.shared} shared"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH + 80}" height="{_HEIGHT + 100}" role="img" '
        'font-family="sans-serif" font-size="12">',
        f"<title>{plan.bands} bands x {plan.rows} rows{shared}</title>",
        '<rect width="100%" height="100%" fill="white"/>',
        *(_grid_line(tenth / 10) for tenth in range(0, 11, 2)),
        f'<line x1="{_across(plan.threshold):.1f}" x2="{_across(plan.threshold):.1f}" y1="{_up(0)}" y2="{_up(1)}" '
        'stroke="#b00" stroke-dasharray="4 3"/>',
        f'<polyline fill="none" stroke="#036" stroke-width="2" points="{points}"/>',
        f'<text x="{_LEFT}" y="{_TOP - 16}">{plan.bands} bands x {plan.rows} rows{shared}; threshold {plan.threshold:g}</text>',
        f'<text x="{middle}" y="{bottom}" text-anchor="middle">similarity (chance to become a candidate upwards)</text>',
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _across(similarity: float) -> float:
    return _LEFT + similarity * _WIDTH


def _up(share: float) -> float:
    return _TOP + (1 - share) * _HEIGHT


def _grid_line(value: float) -> str:
    x, y, right, bottom = _across(value), _up(value), _across(1), _up(0)
    return (
        f'<path d="M{_LEFT},{y:.1f}H{right}M{x:.1f},{_TOP}V{bottom}" stroke="#ddd" fill="none"/>'
        f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:.0%}</text>'
        f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{value:g}</text>'
    )


def columns(title: str, values: Sequence[tuple[str, int]], *, root: bool = False) -> str:
    """Upright bars with their numbers above and labels below; colours are those of the page (`bar`,
    `label`, `value`).

    `root`: heights by the square root, for numbers that differ by orders of magnitude. Labels are
    escaped.
    """
    heights = [math.sqrt(value) if root else float(value) for _, value in values]
    most, step, base = max(heights, default=0) or 1, _WIDTH / max(1, len(values)), _ROOM + 24
    parts = [_framed(title)]
    for place, ((label, value), height) in enumerate(zip(values, heights, strict=True)):
        tall, middle = max(2.0, height / most * _ROOM) if value else 0.0, (place + 0.5) * step
        parts.append(
            f'<rect class="bar" x="{place * step + step * 0.12:.1f}" y="{base - tall:.1f}" width="{step * 0.76:.1f}" '
            f'height="{tall:.1f}" rx="2"/><text class="label" x="{middle:.1f}" y="{base + 18}">{escape(label)}</text>'
        )
        if value:
            parts.append(
                f'<text class="value" x="{middle:.1f}" y="{base - tall - 6:.1f}">{value:,}</text>'
            )
    parts.append(f'<path class="axis" d="M0,{base}H{_WIDTH}"/></svg>')
    return "\n".join(parts)


def curve(
    title: str, points: Sequence[tuple[float, int]], most: int, *, shares: bool = False
) -> str:
    """A line through (share, number) pairs ascending by share, in the colours of the page.

    The scale goes from 0 to `most`, in numbers or, with `shares`, in per cent of it.
    """
    low, high = points[0][0], points[-1][0]
    left, width, base = 52, _WIDTH - 76, _ROOM + 24

    def placed(share: float, number: float) -> str:
        across = left + (share - low) / ((high - low) or 1) * width
        return f"{across:.1f},{base - number / (most or 1) * _ROOM:.1f}"

    parts = [_framed(title)]
    parted = [(part, f"{part:.0%}") for part in (0, 0.25, 0.5, 0.75, 1)]
    numbers = [(number / (most or 1), f"{number:,}") for number in sorted({0, most // 2, most})]
    for part, told in parted if shares else numbers:
        up = base - part * _ROOM
        parts.append(f'<path class="grid" d="M{left},{up:.1f}h{width}"/>')
        parts.append(f'<text class="tick" x="{left - 8}" y="{up + 5:.1f}">{told}</text>')
    for share, _ in points[:: max(1, len(points) // 5)]:
        parts.append(
            f'<text class="label" x="{placed(share, 0).split(",")[0]}" y="{base + 18}">{share:.0%}</text>'
        )
    line = " ".join(placed(*point) for point in points)
    parts.append(f'<polygon class="area" points="{placed(low, 0)} {line} {placed(high, 0)}"/>')
    parts.append(f'<polyline class="line" points="{line}"/></svg>')
    return "\n".join(parts)


def share_bar(share: float) -> str:
    """A lying bar as long as a share of its place, in the colours of the page; what is not 0 is
    seen.
    """
    wide = max(0.5, 100 * min(share, 1.0)) if share > 0 else 0.0
    return (
        '<svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="room" width="100" height="8"/><rect class="bar" width="{wide:.2f}" height="8"/></svg>'
    )


def _framed(title: str) -> str:
    return f'<svg class="chart" viewBox="0 0 {_WIDTH} {_ROOM + 50}" role="img" aria-label="{escape(title)}">'
