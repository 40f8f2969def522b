"""The recipe, threshold and planned recall to use, with the reason."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from indexer.lab.evaluation.decider import usual_measure
from indexer.lab.tuning.band_layouts import RECALLS, THRESHOLDS, layout
from indexer.lab.tuning.tuning_results import (
    CLOSE,
    ENOUGH,
    Choice,
    ExperimentScores,
    Flags,
    Layout,
    Truth,
)
from indexer.recipe import DEFAULT, Recipe
from indexer.statistics.intervals import bootstrap
from indexer.statistics.precision_recall import f1_of_rows
from indexer.text.wording import count_of

RESAMPLES = 4000


def choice(results: Sequence[ExperimentScores], recipes: Sequence[Recipe], truth: Truth) -> Choice:
    """Return the default recipe where none that can be kept in an index is better beyond chance,
    else the best of these that can.

    Better beyond chance: the intervals of the differences of fair F1, which hold together at 95 %,
    do not reach 0.
    """
    by_name = {recipe.name: recipe for recipe in recipes}
    ranked = sorted(results, key=lambda scores: -(scores.fair.f1 or 0.0))
    storable = [scores for scores in ranked if by_name[scores.recipe].is_storable] or ranked
    chosen = next((scores for scores in storable if scores.recipe == DEFAULT.name), storable[0])
    if any(_compare(scores, chosen, len(ranked)) > 0 for scores in storable):
        chosen = storable[0]
    signs = {
        scores.recipe: _compare(scores, chosen, len(ranked))
        for scores in ranked
        if scores is not chosen
    }
    layouts = tuple(_layouts(chosen, by_name[chosen.recipe], truth))
    as_good = tuple(name for name, sign in signs.items() if sign == 0)
    return Choice(
        recipe=chosen.recipe,
        measure=usual_measure(by_name[chosen.recipe]),
        threshold=chosen.best.threshold,
        thresholds=_close_thresholds(chosen),
        as_good=as_good,
        better=tuple(name for name, sign in signs.items() if sign > 0),
        layouts=layouts,
        recall=_planned_recall(layouts),
        reason=_reason(chosen, storable[0], as_good),
    )


def difference(
    scores: ExperimentScores, other: ExperimentScores, comparisons: int = 1
) -> tuple[float, float] | None:
    """Return the interval of the fair F1 of one recipe less that of another, on the same pairs.

    All intervals of so many comparisons hold together at 95 % (Bonferroni): the best of many
    recipes looks better by chance.
    """
    return bootstrap(
        np.hstack([scores.units, other.units]),
        lambda sums: [f1_of_rows(sums[:, :3]) - f1_of_rows(sums[:, 3:])],
        draws=RESAMPLES,
        confidence=1 - 0.05 / comparisons,
    )[0]


def _compare(scores: ExperimentScores, other: ExperimentScores, comparisons: int) -> int:
    """Return 1 when the first is better beyond chance, -1 when the second is, else 0."""
    if scores is other:
        return 0
    interval = difference(scores, other, comparisons)
    return 0 if interval is None else (interval[0] > 0) - (interval[1] < 0)


def _close_thresholds(chosen: ExperimentScores) -> tuple[float, float]:
    """Return the lowest and the highest threshold that lose little of the best F1."""
    least = (chosen.best.counts.f1 or 0.0) - CLOSE
    close = [point.threshold for point in chosen.curve if (point.counts.f1 or 0.0) >= least]
    return min(close), max(close)


def _planned_recall(layouts: Sequence[Layout]) -> float | None:
    """Return the lowest plan that loses few duplicates, else the highest; None without bands."""
    for candidate in layouts:
        if candidate.recall >= ENOUGH:
            return candidate.planned_recall
    return layouts[-1].planned_recall if layouts else None


def _reason(chosen: ExperimentScores, first: ExperimentScores, as_good: tuple[str, ...]) -> str:
    start = f"F1 {chosen.fair.f1 or 0.0:.3f} on pairs that its threshold was not chosen by"
    number = count_of(len(as_good), "other")
    others = f"; {number} not significantly different" if as_good else ""
    if chosen is first:
        return f"{start}, the highest of a recipe that an index can hold{others}"
    highest = (
        "the highest of a recipe that an index can hold is "
        f"{first.fair.f1 or 0.0:.3f} ({first.recipe})"
    )
    return f"{start}; {highest}, no better beyond chance{others}"


def _layouts(chosen: ExperimentScores, recipe: Recipe, truth: Truth) -> list[Layout]:
    experiment = chosen.experiment
    if not experiment.together:
        return []
    best = chosen.best.threshold
    threshold = min(THRESHOLDS, key=lambda candidate: (abs(candidate - best), candidate))
    by_features = experiment.features
    values = np.array(experiment.sketch if by_features is None else by_features)
    duplicates = truth.similar & (values >= best)
    layouts = []
    for planned in RECALLS:
        bands, rows = layout(threshold, recipe, planned)
        together = _unpack(experiment.together[f"{bands}x{rows}"], len(values))
        recall = _mean(together[duplicates])
        burden = _mean(together[truth.different])
        layouts.append(Layout(threshold, planned, bands, rows, recall, burden))
    return layouts


def _unpack(bits: str, count: int) -> Flags:
    octets = np.frombuffer(bytes.fromhex(bits), dtype=np.uint8)
    return np.unpackbits(octets, count=count).astype(np.bool_)


def _mean(flags: Flags) -> float:
    return float(flags.mean()) if len(flags) else 0.0
