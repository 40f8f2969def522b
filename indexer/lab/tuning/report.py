"""The report of a tuning as one HTML file that needs nothing but itself and runs no script."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from indexer.lab.evaluation.precision_recall import Counts
from indexer.lab.tuning.results import (
    CLOSE,
    ENOUGH,
    Choice,
    ExperimentScores,
    KindScores,
    Point,
    TuneResult,
)
from indexer.review import charts
from indexer.review.rendering import render_file
from indexer.system.files import write_whole
from indexer.wording import percent

MAX_LISTED, CURVES = 12, 5
_RECIPE_HEADER = (
    "recipe", "fair F1", "95 %",
    "threshold", "precision", "recall", "F1",
    "own threshold", "precision", "recall", "F1",
    "F1 by sketch", "ROC area", "unsigned", "ms", "bits",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Charts:
    """The charts as SVG. `separations` begin with the chosen recipe; the best ones follow in
    order."""

    separations: Sequence[str]
    f1: str
    precision: str


def page(result: TuneResult) -> str:
    """Return the page; for the same pairs and recipes the same, apart from the seconds.

    Charts are left out where they cannot be drawn, and the page says how to get them.
    """
    ranked = sorted(result.results, key=lambda scores: (-(scores.fair.f1 or 0.0), scores.recipe))
    chosen = next(scores for scores in ranked if scores.recipe == result.choice.recipe)
    similar = sum(kind.pairs for kind in chosen.kinds if kind.best.right + kind.best.missed)
    values = {
        "result": result,
        "choice": result.choice,
        "close": f"{CLOSE:g}",
        "enough": percent(ENOUGH),
        "similar": similar,
        "charts": _charts(chosen, ranked) if charts.can_draw() else None,
        "missing": "" if charts.can_draw() else charts.MISSING,
        "f1_caption": _f1_caption(chosen),
        "kind_head": _kind_header(chosen),
        "kinds": [_kind(kind) for kind in chosen.kinds],
        "recipe_head": _RECIPE_HEADER,
        "recipes": [_recipe(scores) for scores in ranked],
        "ranked": ranked[:MAX_LISTED],
        "layouts": _layouts(result.choice),
    }
    return render_file("tuning.html", values, ("report.css",))


def _charts(chosen: ExperimentScores, ranked: Sequence[ExperimentScores]) -> _Charts:
    f1 = [(point.threshold, point.counts.f1 or 0.0) for point in chosen.curve]
    others = [scores for scores in ranked if scores is not chosen]
    precision = [_precision_by_recall(scores) for scores in [chosen, *others][:CURVES]]
    return _Charts(
        [_separation(scores) for scores in [chosen, *ranked[:MAX_LISTED]]],
        charts.lines(
            "F1 by threshold",
            [charts.Line("F1", f1)],
            "threshold",
            charts.Scale(1.0),
            chosen.best.threshold,
        ),
        charts.lines("Precision by recall", precision, "recall", charts.Scale(1.0)),
    )


def _separation(scores: ExperimentScores) -> str:
    return charts.histogram(
        f"Pairs by similarity under {scores.recipe}",
        [("similar", scores.similar), ("different", scores.different)],
        "similarity",
        scores.best.threshold,
    )


def _precision_by_recall(scores: ExperimentScores) -> charts.Line:
    points = []
    for point in scores.curve:
        precision = point.counts.precision
        points.append((point.counts.recall or 0.0, 1.0 if precision is None else precision))
    return charts.Line(scores.recipe, points)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _f1_caption(chosen: ExperimentScores) -> str:
    return (
        f"F1 is highest at {chosen.best.threshold:g}; at the recipe's own threshold, "
        f"{chosen.usual.threshold:g}, it is {_number(chosen.usual.counts.f1)}."
    )


def _kind_header(chosen: ExperimentScores) -> tuple[str, ...]:
    best, usual = chosen.best.threshold, chosen.usual.threshold
    return "kind", "type", "pairs", f"found at {best:g}", f"found at {usual:g}"


def _kind(kind: KindScores) -> tuple[str, ...]:
    return (
        kind.kind,
        kind.type,
        f"{kind.pairs:,}",
        percent(kind.found / kind.pairs, 1),
        percent(kind.found_usually / kind.pairs, 1),
    )


def _recipe(scores: ExperimentScores) -> tuple[str, ...]:
    """Return the cells of one recipe, in the order of the table's header."""
    experiment, interval = scores.experiment, scores.interval
    return (
        scores.recipe,
        _number(scores.fair.f1),
        "–" if interval is None else f"{interval[0]:.3f}–{interval[1]:.3f}",
        *_point(scores.best),
        *_point(scores.usual),
        _number(scores.by_sketch.counts.f1),
        f"{scores.area:.4f}",
        f"{experiment.unsigned:,}",
        f"{1000 * experiment.seconds / max(1, experiment.texts):.2f}",
        f"{experiment.bits:,}" if experiment.bits else "–",
    )


def _point(point: Point) -> tuple[str, ...]:
    counts = point.counts
    return (
        f"{point.threshold:.3g}",
        _number(counts.precision),
        _number(counts.recall),
        _number(counts.f1),
    )


def _layouts(choice: Choice) -> list[tuple[str, ...]]:
    return [
        (
            f"{layout.planned_recall:g}",
            f"{layout.bands} x {layout.rows}",
            percent(layout.recall, 2),
            percent(layout.burden, 3),
        )
        for layout in choice.layouts
    ]


# The files of a tuning: `report.html` for people; `results.csv`, `results.json` for programs.

REPORT, TABLE, RESULTS = "report.html", "results.csv", "results.json"
COLUMNS = (
    "recipe",
    "at",
    "threshold",
    "kind",
    "type",
    "pairs",
    "found",
    "precision",
    "recall",
    "f1",
)
Cell: TypeAlias = str | int | float | None
Fractions: TypeAlias = tuple[float | None, float | None, float | None]


def write(result: TuneResult, out: Path) -> None:
    """Write all three, each whole or not at all. Raises `UsageError`."""
    with write_whole(out / REPORT) as part:
        part.write_text(page(result), encoding="utf-8")
    with write_whole(out / TABLE) as part, part.open("w", encoding="utf-8", newline="") as sheet:
        writer = csv.writer(sheet, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in table(result):
            writer.writerow([_cell(value) for value in row])
    with write_whole(out / RESULTS) as part:
        part.write_text(json.dumps(as_json(result), indent=1) + "\n", encoding="utf-8")


def _cell(value: Cell) -> str | int:
    if value is None:
        return ""
    return f"{value:.5f}" if isinstance(value, float) else value


def table(result: TuneResult) -> Iterator[tuple[Cell, ...]]:
    """Yield rows of COLUMNS: every recipe on every kind and on all of them (`all`), at its best and
    at its own threshold.
    """
    for scores in result.results:
        for at, point in (("best", scores.best), ("own", scores.usual)):
            start = (scores.recipe, at, point.threshold)
            counts = point.counts
            yield (*start, "all", "", result.pairs, counts.right, *_fractions(counts))
            for kind in scores.kinds:
                yield (*start, *_kind_cells(kind, at == "best"))


def _kind_cells(kind: KindScores, is_best: bool) -> tuple[Cell, ...]:
    counts = kind.best if is_best else kind.usual
    count = kind.found if is_best else kind.found_usually
    fractions = _fractions(counts) if counts.right + counts.missed else (None, None, None)
    return (kind.kind, kind.type, kind.pairs, count, *fractions)


def _fractions(counts: Counts) -> Fractions:
    return counts.precision, counts.recall, counts.f1


def as_json(result: TuneResult) -> dict[str, Any]:
    """Return the choice, and every recipe without its curves; numbers have five digits."""
    choice = result.choice
    ranked = sorted(result.results, key=lambda scores: -(scores.fair.f1 or 0.0))
    return {
        "documents": result.documents,
        "pairs": result.pairs,
        "groups": result.groups,
        "strict": result.strict,
        "recipe": choice.recipe,
        "measure": choice.measure,
        "threshold": choice.threshold,
        "thresholds": list(choice.thresholds),
        "recall": choice.recall,
        "reason": choice.reason,
        "caution": result.caution,
        "as_good": list(choice.as_good),
        "better": list(choice.better),
        "recipes": [_recipe_json(scores) for scores in ranked],
        "kept": result.kept,
        "left_out": result.left_out,
    }


def _recipe_json(scores: ExperimentScores) -> dict[str, Any]:
    experiment = scores.experiment
    return {
        "recipe": scores.recipe,
        "fair_f1": _round(scores.fair.f1),
        "interval": scores.interval and [_round(end) for end in scores.interval],
        "best": _point_json(scores.best),
        "own": _point_json(scores.usual),
        "roc_area": _round(scores.area),
        "unsigned": experiment.unsigned,
        "seconds": experiment.seconds,
        "bits": experiment.bits,
    }


def _point_json(point: Point) -> dict[str, float | None]:
    counts = point.counts
    return {
        "threshold": _round(point.threshold),
        "precision": _round(counts.precision),
        "recall": _round(counts.recall),
        "f1": _round(counts.f1),
    }


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 5)
