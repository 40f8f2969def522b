"""Charts as SVG, drawn by Vega-Lite; the one module that needs `vl-convert-python`.

Inside a page a chart has the colours of the page, in light and dark: its colours are custom
properties of `base.css`, each with a fallback for files of their own (`standalone`). A chart has no
script, no style and no ids, and for a screen reader it is one image with a name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

from indexer.comparing.band_plan import Plan, chance
from indexer.errors import MissingExtra

if TYPE_CHECKING:
    from indexer.review.store_statistics import Step


EXTRA = "figures"
MISSING = f"Figures are left out: they need vl-convert-python (pip install 'nearfold[{EXTRA}]')."
_LIBRARY, _VERSION = "vl_convert", "5.20"
_WIDTH, _HEIGHT, _TITLE = 400, 190, 24
_INK, _SOFT, _RULE = "var(--ink, #1c2126)", "var(--soft, #565e66)", "var(--line, #e2dfd7)"
_FIRST, _SECOND = "var(--line-0, #0b5d68)", "var(--line-1, #b4481d)"
_COLOURS = (
    _FIRST,
    _SECOND,
    "var(--line-2, #5b52a3)",
    "var(--line-3, #8a6d00)",
    "var(--line-4, #2f6fbf)",
    "var(--line-5, #a8326b)",
    "var(--line-6, #5f6b73)",
    _INK,
)
_DASHES = ((1, 0), (7, 3), (2, 3), (9, 3, 2, 3), (4, 4), (12, 4), (1, 4), (1, 2))
_CONFIG = {
    "aria": False,
    "background": None,
    "font": "sans-serif",
    "padding": {"left": 4, "right": 14, "top": 8, "bottom": 4},
    "view": {"stroke": None},
    "axis": {
        "domainColor": _RULE,
        "gridColor": _RULE,
        "labelColor": _SOFT,
        "labelFontSize": 13,
        "ticks": False,
        "labelPadding": 6,
        "titleColor": _SOFT,
        "titleFontSize": 13,
        "titleFontWeight": "normal",
    },
    "legend": {
        "orient": "bottom",
        "offset": 6,
        "columns": 2,
        "title": None,
        "labelColor": _INK,
        "labelFontSize": 13,
        "labelLimit": 0,
        "symbolType": "stroke",
        "symbolSize": 900,
        "symbolStrokeWidth": 2,
    },
}
Spec: TypeAlias = dict[str, Any]
AxisValue: TypeAlias = str | float


@dataclass(frozen=True, slots=True)
class Line:
    """A named line through (across, up) points. `None` upwards is a gap."""

    name: str
    points: Sequence[tuple[AxisValue, float | None]]


@dataclass(frozen=True, slots=True)
class Scale:
    """An upright scale from 0 to `maximum`, None for the greatest value.

    `log` takes the logarithm of one more than the value, so that 0 and 1 are seen. `is_fraction`:
    values in [0, 1], labelled in per cent; `is_fraction_across`: so are the numbers across.
    """

    maximum: float | None = None
    log: bool = False
    is_fraction: bool = False
    is_fraction_across: bool = False


def can_draw() -> bool:
    """Return whether the library that draws is installed."""
    return find_spec(_LIBRARY) is not None


def columns(title: str, values: Sequence[tuple[str, int]], across: str, root: bool = False) -> str:
    """Draw one bar for each (label, number), with the number above it unless it is 0.

    `across` says what the labels are. `root`: heights by the square root, for numbers that differ
    by orders of magnitude.
    """
    rows = [
        {"label": label, "value": value, "text": f"{value:,}" if value else ""}
        for label, value in values
    ]
    upwards = {
        "field": "value",
        "type": "quantitative",
        "axis": None,
        "scale": {"type": "sqrt" if root else "linear"},
    }
    labels = {
        "field": "label",
        "type": "ordinal",
        "sort": None,
        "axis": {"labelAngle": 0, "title": across},
        "scale": {"paddingInner": 0.25, "paddingOuter": 0.1},
    }
    text = {"type": "text", "dy": -7, "color": _INK, "fontSize": 13}
    layers = [
        {"mark": {"type": "bar", "color": _FIRST}},
        {"mark": text, "encoding": {"text": {"field": "text"}}},
    ]
    spec = {"data": {"values": rows}, "encoding": {"x": labels, "y": upwards}, "layer": layers}
    return _draw(title, spec)


def lines(
    title: str,
    series: Sequence[Line],
    across: str,
    scale: Scale | None = None,
    mark: float | None = None,
) -> str:
    """Draw lines that differ in colour and dashes, with a legend where there are several.

    Places across are numbers in [0, 1], or strings at equal distances; `across` says what they are.
    `mark` is a number across, drawn as an upright dashed line.
    """
    scale = scale or Scale(1.0, is_fraction=True)
    names = [line.name for line in series]
    rows = [
        {"line": line.name, "place": position, "value": value, "order": order}
        for line in series
        for order, (position, value) in enumerate(line.points)
    ]
    points = [point for line in series for point in line.points]
    numbers = [position for position, _ in points if not isinstance(position, str)]
    values = [value for _, value in points if value is not None]
    is_ordinal = len(numbers) < len(points)
    encoding = {
        "x": _positions(across, is_ordinal, min(numbers, default=0.0), scale.is_fraction_across),
        "y": _upwards(scale, max(values, default=1.0)),
        "order": {"field": "order"},
        **_by_colour_and_dashes(names),
    }
    line = {"type": "line", "strokeWidth": 2, "point": {"size": 22} if is_ordinal else False}
    layers: list[Spec] = [{"data": {"values": rows}, "mark": line, "encoding": encoding}]
    return _draw(title, {"layer": [*layers, *_marked(mark)]})


def histogram(
    title: str,
    counts: Sequence[tuple[str, Sequence[int]]],
    across: str,
    mark: float | None = None,
) -> str:
    """Draw two series of counts in bins of equal width from 0 to 1, side by side in each bin.

    Heights are logarithmic: a bar twice as high does not mean twice as many. `mark` is a number
    across, drawn as an upright dashed line.
    """
    rows: list[Spec] = []
    for bar, (name, numbers) in enumerate(counts):
        width = 1 / len(numbers)
        for index, number in enumerate(numbers):
            if number:
                start = (index + bar / 2) * width
                rows.append({"line": name, "from": start, "to": start + width / 2, "value": number})
    limit = max(max(numbers) for _, numbers in counts)
    encoding = {
        "x": {**_positions(across, False), "field": "from"},
        "x2": {"field": "to"},
        "y": _upwards(Scale(limit, log=True), limit),
        "y2": {"datum": 0},
        "color": _by_colour(
            [name for name, _ in counts], {"symbolType": "square", "symbolSize": 120}
        ),
    }
    layers: list[Spec] = [{"data": {"values": rows}, "mark": "rect", "encoding": encoding}]
    return _draw(title, {"layer": [*layers, *_marked(mark)]})


def standalone(svg: str) -> str:
    """Return a chart as a file of its own: on white, in fixed colours, with its name above it."""
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    name = re.search(r'aria-label="([^"]*)"', svg)
    assert box is not None and name is not None
    width, height = float(box[1]), float(box[2]) + _TITLE
    header = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 {-_TITLE} {width:g} {height:g}" '
        f'width="{2 * width:g}" height="{2 * height:g}" role="img">\n<title>{name[1]}</title>'
        f'<rect y="{-_TITLE}" width="100%" height="100%" fill="#ffffff"/>'
        f'<text x="6" y="-8" font-family="sans-serif" font-size="11" fill="{_INK}">{name[1]}</text>'
    )
    whole = header + svg[svg.index(">") + 1 :] + "\n"
    return re.sub(r"var\(--[\w-]+, (#\w+)\)", r"\1", whole)


def _positions(title: str, is_ordinal: bool, first: float = 0.0, is_fraction: bool = False) -> Spec:
    """Describe the scale across: places in their order, or numbers from about `first` to 1."""
    if is_ordinal:
        axis = {"labelAngle": 0, "labelOverlap": True, "title": title, "grid": False}
        return {"field": "place", "type": "ordinal", "sort": None, "axis": axis}
    form = ".0%" if is_fraction else "~g"
    axis = {"title": title, "grid": False, "format": form, "tickCount": 6}
    scale = {"domain": [math.floor(10 * first) / 10, 1], "nice": False}
    return {"field": "place", "type": "quantitative", "axis": axis, "scale": scale}


def _upwards(scale: Scale, greatest: float) -> Spec:
    """Describe the upright scale of values of which `greatest` is the greatest."""
    limit = (greatest if scale.maximum is None else scale.maximum) or 1.0
    axis: Spec = {"title": None, "format": ".0%" if scale.is_fraction else ",~r", "tickCount": 5}
    shape: Spec = {"domain": [0, limit], "nice": False}
    if scale.log:
        powers = [10**power for power in range(12) if 10**power <= limit]
        axis |= {"values": [0, *powers], "format": ",d"}
        shape |= {"type": "symlog", "constant": 1}
    elif not scale.is_fraction:
        axis |= {"tickMinStep": 1}
        shape |= {"nice": True}
    return {"field": "value", "type": "quantitative", "axis": axis, "scale": shape}


def _by_colour_and_dashes(names: Sequence[str]) -> Spec:
    dashes = [_DASHES[position % len(_DASHES)] for position in range(len(names))]
    legend: Spec = {} if len(names) > 1 else {"legend": None}
    dashed = {"field": "line", "sort": None, "scale": {"domain": list(names), "range": dashes}}
    return {"color": _by_colour(names), "strokeDash": {**dashed, **legend}}


def _by_colour(names: Sequence[str], legend: Spec | None = None) -> Spec:
    colours = [_COLOURS[position % len(_COLOURS)] for position in range(len(names))]
    displayed = (legend or {}) if len(names) > 1 else None
    scale = {"domain": list(names), "range": colours}
    return {"field": "line", "sort": None, "scale": scale, "legend": displayed}


def _marked(position: float | None) -> list[Spec]:
    if position is None:
        return []
    rule = {"type": "rule", "color": _SOFT, "strokeDash": [4, 3]}
    one_row = {"values": [{"place": position}]}
    across = {"field": "place", "type": "quantitative"}
    return [{"data": one_row, "mark": rule, "encoding": {"x": across}}]


def _draw(title: str, spec: Spec) -> str:
    """Render a specification; `title` is what a screen reader says of the image.

    Raises `MissingExtra` without the library.
    """
    try:
        from vl_convert import vegalite_to_svg
    except ImportError as error:
        raise MissingExtra(package="vl-convert-python", extra=EXTRA) from error
    frame = {"width": _WIDTH, "height": _HEIGHT, "config": _CONFIG}
    frame |= {"autosize": {"type": "fit-x", "contains": "padding"}}
    svg: str = vegalite_to_svg({**frame, **spec}, vl_version=_VERSION)
    view = re.search(r'viewBox="[^"]*"', svg)
    assert view is not None
    name = escape(title)
    inside = svg[svg.index(">") + 1 :]
    inside = re.sub(r'<path class="(?:background|foreground)"[^>]*/>', "", inside)
    inside = re.sub(r' (?:class|aria-[a-z]+|role|pointer-events)="[^"]*"', "", inside)
    return f'<svg class="plot" {view[0]} role="img" aria-label="{name}">{inside}'


# Geometry of the charts in pages, in units of the view box of their SVG.

_CHART_GEOMETRY_WIDTH, _CHART_GEOMETRY_HEIGHT = 640, 160  # of the view box


def first_filled(values: Sequence[int]) -> int:
    """Return the position of the first value other than 0, the number of values without one.

    >>> first_filled([0, 0, 3, 0])
    2
    """
    return next((index for index, value in enumerate(values) if value), len(values))


def curve(steps: Sequence[Step], estimated: bool = False) -> str:
    """Return the points of a line: documents in groups (up) by threshold (across).

    `estimated`: the line of the estimated steps, which ends where that of the others begins. The
    greatest number is as high as the chart; 0 lies at the bottom.
    """
    limit = max((step.gathered for step in steps), default=0) or 1
    low, high = (steps[0].threshold, steps[-1].threshold) if steps else (0.0, 1.0)
    points = []
    for index, step in enumerate(steps):
        joins = estimated and index > 0 and steps[index - 1].estimated
        if step.estimated != estimated and not joins:
            continue
        x = across(step.threshold, low, high)
        points.append(
            f"{x:.1f},{_CHART_GEOMETRY_HEIGHT - step.gathered / limit * _CHART_GEOMETRY_HEIGHT:.1f}"
        )
    return " ".join(points)


def across(x: float, low: float, high: float) -> float:
    """Return the position of a value between `low` and `high`, in units of the chart."""
    return round((x - low) / ((high - low) or 1) * _CHART_GEOMETRY_WIDTH, 1)


# The S-curve of a plan as a picture.

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
