"""Pictures as SVG text: nothing but lines, so any browser shows them and any diff reads them."""

from __future__ import annotations

from indexer.planning import Plan, chance

_WIDTH, _HEIGHT, _LEFT, _TOP, _STEPS = 480, 300, 56, 40, 200


def s_curve(plan: Plan) -> str:
    """The S-curve of a plan: the chance to become a candidate over the similarity, with the threshold marked."""
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
