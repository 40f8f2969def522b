"""The files of a tuning: `report.html` for people; `results.csv`, `results.json` for programs."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from indexer.lab.tuning.tuning_page import page
from indexer.lab.tuning.tuning_results import ExperimentScores, KindScores, Point, TuneResult
from indexer.statistics.precision_recall import Counts
from indexer.system.whole_file import write_whole

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
Shares: TypeAlias = tuple[float | None, float | None, float | None]


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
            yield (*start, "all", "", result.pairs, counts.right, *_shares(counts))
            for kind in scores.kinds:
                yield (*start, *_kind_cells(kind, at == "best"))


def _kind_cells(kind: KindScores, is_best: bool) -> tuple[Cell, ...]:
    counts = kind.best if is_best else kind.usual
    count = kind.found if is_best else kind.found_usually
    shares = _shares(counts) if counts.right + counts.missed else (None, None, None)
    return (kind.kind, kind.type, kind.pairs, count, *shares)


def _shares(counts: Counts) -> Shares:
    return counts.precision, counts.recall, counts.f1


def as_json(result: TuneResult) -> dict[str, Any]:
    """Return the choice, and every recipe without its curves; figures have five digits."""
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
