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
    """What to use. `as_good`: recipes from which it cannot be told on these pairs; `thresholds`:
    the range that is as good.

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
    """The default recipe where none that can be kept in an index is better beyond chance; else the
    best of these that can.

    Better beyond chance: the intervals of the differences of fair F1, which hold together at 95 %,
    do not reach 0.
    """
    by_name = {recipe.name: recipe for recipe in recipes}
    ranked = sorted(results, key=lambda one: -(one.fair.f1 or 0.0))
    able = [one for one in ranked if by_name[one.recipe].is_storable] or ranked
    chosen = next((one for one in able if one.recipe == DEFAULT.name), able[0])
    if any(_ahead(one, chosen, len(ranked)) > 0 for one in able):
        chosen = able[0]
    ahead = {one.recipe: _ahead(one, chosen, len(ranked)) for one in ranked if one is not chosen}
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
            (one.weight for one in layouts if one.recall >= ENOUGH),
            layouts[-1].weight if layouts else None,
        ),
        reason=_reason(chosen, able[0], as_good),
    )


def _ahead(one: ExperimentScores, other: ExperimentScores, comparisons: int) -> int:
    """1 when the first is better beyond chance, -1 when the second is, 0 when they cannot be told
    apart.
    """
    interval = difference(one, other, comparisons) if one is not other else None
    return 0 if interval is None else (interval[0] > 0) - (interval[1] < 0)


def _reason(chosen: ExperimentScores, first: ExperimentScores, as_good: tuple[str, ...]) -> str:
    told = f"F1 {chosen.fair.f1 or 0.0:.3f} on pairs that its threshold was not chosen by"
    others = (
        f"; {len(as_good)} other{'s' * (len(as_good) > 1)} cannot be told from it"
        if as_good
        else ""
    )
    if chosen is first:
        return f"{told}, the highest of a recipe that an index can hold{others}"
    highest = f"the highest of a recipe that an index can hold is {first.fair.f1 or 0.0:.3f} ({first.recipe})"
    return f"{told}; {highest}, no better beyond chance{others}"


def _layouts(chosen: ExperimentScores, recipe: Recipe, truth: Truth) -> list[Layout]:
    made = chosen.experiment
    if not made.together:
        return []
    threshold = min(THRESHOLDS, key=lambda one: (abs(one - chosen.best.threshold), one))
    values = np.array(made.features if made.features is not None else made.sketch)
    wanted = truth.similar & (values >= chosen.best.threshold)
    layouts = []
    for weight in WEIGHTS:
        bands, rows = layout(threshold, recipe.slots or 0, weight)
        met = _bits(made.together[f"{bands}x{rows}"], len(values))
        layouts.append(
            Layout(threshold, weight, bands, rows, _mean(met[wanted]), _mean(met[truth.different]))
        )
    return layouts


def _bits(told: str, count: int) -> Flags:
    return np.unpackbits(np.frombuffer(bytes.fromhex(told), dtype=np.uint8), count=count).astype(
        np.bool_
    )


def _mean(flags: Flags) -> float:
    return float(flags.mean()) if len(flags) else 0.0
