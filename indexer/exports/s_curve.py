"""The S-curve of a plan as a picture."""

from __future__ import annotations

from indexer.html.charts import Line, lines, standalone
from indexer.sketch.plan import Plan, chance

_STEPS = 200


def s_curve(plan: Plan) -> str:
    """Draw the chance to become a candidate over the similarity as an SVG file.

    The threshold is a dashed line. Raises `MissingExtra` without the library that draws.
    """
    points = [
        (step / _STEPS, chance(step / _STEPS, plan.bands, plan.rows, plan.shared))
        for step in range(_STEPS + 1)
    ]
    shared = "" if plan.shared == 1 else f", at least {plan.shared} shared"
    title = f"{plan.bands} bands x {plan.rows} rows{shared}; threshold {plan.threshold:g}"
    across = "similarity (chance to become a candidate upwards)"
    svg = lines(title, [Line(title, points)], across, mark=plan.threshold)
    return standalone(svg)
