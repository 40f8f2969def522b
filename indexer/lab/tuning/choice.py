"""The recipe, threshold and weight to use, with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from indexer.lab.tuning.experiment import THRESHOLDS, WEIGHTS, layout
from indexer.lab.tuning.judgement import ExperimentScores, Flags, Truth, difference
from indexer.recipe import DEFAULT, Recipe

ENOUGH = 0.99  # of the duplicates at the threshold, that bands are to bring together
CLOSE = 0.01  # of F1: thresholds that cost no more are as good


@dataclass(frozen=True, slots=True)
class Layout:
    """Bands and rows for a threshold and weight: the share of duplicates above it, and of different
    pairs, that meet.
    """

    threshold: float
    weight: float
    bands: int
    rows: int
    recall: float
    burden: float


@dataclass(frozen=True, slots=True)
class Choice:
    """The recommended recipe and threshold. `as_good`: recipes from which it cannot be told on
    these pairs; `thresholds`: the range that is as good.

    `better`: recipes that are better and cannot be kept in an index. `layouts`: for the threshold,
    one a weight; `weight`: the lowest that loses few; None where the recipe has no bands.
    """

    recipe: str
    threshold: float
    thresholds: tuple[float, float]
    as_good: tuple[str, ...]
    better: tuple[str, ...]
    layouts: tuple[Layout, ...]
    weight: float | None
    reason: str


def choice(results: Sequence[ExperimentScores], recipes: Sequence[Recipe], truth: Truth) -> Choice:
    """Return the default recipe where none that an index can hold is significantly better; else the
    best that an index can hold.

    Significantly better: the intervals of the differences of fair F1, which hold together at 95 %,
    do not reach 0.
    """
    by_name = {recipe.name: recipe for recipe in recipes}
    ranked = sorted(results, key=lambda scores: -(scores.fair.f1 or 0.0))
    able = [scores for scores in ranked if by_name[scores.recipe].is_storable] or ranked
    chosen = next((scores for scores in able if scores.recipe == DEFAULT.name), able[0])
    if any(_ahead(scores, chosen, len(ranked)) > 0 for scores in able):
        chosen = able[0]
    ahead = {
        scores.recipe: _ahead(scores, chosen, len(ranked))
        for scores in ranked
        if scores is not chosen
    }
    close = [
        p.threshold
        for p in chosen.curve
        if (p.counts.f1 or 0.0) >= (chosen.best.counts.f1 or 0.0) - CLOSE
    ]
    layouts = tuple(_layouts(chosen, by_name[chosen.recipe], truth))
    as_good = tuple(name for name, sign in ahead.items() if sign == 0)
    return Choice(
        recipe=chosen.recipe,
        threshold=chosen.best.threshold,
        thresholds=(min(close), max(close)),
        as_good=as_good,
        better=tuple(name for name, sign in ahead.items() if sign > 0),
        layouts=layouts,
        weight=next(
            (layout.weight for layout in layouts if layout.recall >= ENOUGH),
            layouts[-1].weight if layouts else None,
        ),
        reason=_reason(chosen, able[0], as_good),
    )


def _ahead(left: ExperimentScores, right: ExperimentScores, comparisons: int) -> int:
    """Return 1 when the first is significantly better, -1 when the second is, else 0."""
    interval = difference(left, right, comparisons) if left is not right else None
    return 0 if interval is None else (interval[0] > 0) - (interval[1] < 0)


def _reason(chosen: ExperimentScores, first: ExperimentScores, as_good: tuple[str, ...]) -> str:
    fair = f"F1 {chosen.fair.f1 or 0.0:.3f} on pairs that its threshold was not chosen by"
    others = (
        f"; {len(as_good)} other{'s' * (len(as_good) > 1)} cannot be told from it"
        if as_good
        else ""
    )
    if chosen is first:
        return f"{fair}, the highest of a recipe that an index can hold{others}"
    best = f"{first.fair.f1 or 0.0:.3f} ({first.recipe})"
    highest = f"the highest of a recipe that an index can hold is {best}"
    return f"{fair}; {highest}, no better beyond chance{others}"


def _layouts(chosen: ExperimentScores, recipe: Recipe, truth: Truth) -> list[Layout]:
    experiment = chosen.experiment
    if not experiment.together:
        return []
    threshold = min(
        THRESHOLDS, key=lambda candidate: (abs(candidate - chosen.best.threshold), candidate)
    )
    values = np.array(experiment.features if experiment.features is not None else experiment.sketch)
    duplicates = truth.similar & (values >= chosen.best.threshold)
    layouts = []
    for weight in WEIGHTS:
        bands, rows = layout(threshold, recipe.slots or 0, weight)
        met = _bits(experiment.together[f"{bands}x{rows}"], len(values))
        layouts.append(
            Layout(
                threshold, weight, bands, rows, _mean(met[duplicates]), _mean(met[truth.different])
            )
        )
    return layouts


def _bits(digits: str, count: int) -> Flags:
    return np.unpackbits(np.frombuffer(bytes.fromhex(digits), dtype=np.uint8), count=count).astype(
        np.bool_
    )


def _mean(flags: Flags) -> float:
    return float(flags.mean()) if len(flags) else 0.0
