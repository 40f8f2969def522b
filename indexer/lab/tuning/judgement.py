"""The scores of an experiment: how far apart similar and different pairs lie, and the errors at
each threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.lab.evaluation.gold import TYPES
from indexer.lab.tuning.cases import UNRELATED, Case
from indexer.lab.tuning.experiment import Experiment
from indexer.recipe import Recipe
from indexer.sketch.hashing import mix64
from indexer.statistics.intervals import bootstrap
from indexer.statistics.precision_recall import Counts

STEPS = 200  # thresholds that are tried: 0.005, 0.01, ... 1
BINS = 40
DRAWS, COMPARING_DRAWS = 1000, 4000
ORDER = (*TYPES, UNRELATED)
CLOSE_BITS = 3  # of the 64 bits of a SimHash, for recipes that name no similarity
Values = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Point:
    """The counts of right, wrong and missed pairs at one threshold."""

    threshold: float
    counts: Counts


@dataclass(frozen=True, slots=True)
class KindScores:
    """One kind of pairs. Found ones of it, at the best and at the usual threshold.

    Of duplicates, `best` and `usual` count those of the kind, with every wrong pair of any kind; of
    others, found is wrong.
    """

    kind: str
    type: str
    pairs: int
    found: int
    found_usually: int
    best: Counts
    usual: Counts


@dataclass(frozen=True, slots=True)
class ExperimentScores:
    """One recipe on all pairs.

    `fair`: each half of the blocks judged by the threshold that is best for the other half;
    `interval` of its F1, at 95 %, drawing blocks again. `best` and `usual`: the threshold with the
    highest F1 on everything, and the recipe's own. `by_sketch`: the highest F1 by sketches alone.
    `area` is that under the ROC curve. `curve` ascends by threshold; the bins of `similar` and
    `different` pairs divide [0, 1]. `units`: right, wrong and missed of each block, fairly.
    """

    recipe: str
    fair: Counts
    interval: tuple[float, float] | None
    best: Point
    usual: Point
    by_sketch: Point
    area: float
    curve: tuple[Point, ...]
    similar: tuple[int, ...]
    different: tuple[int, ...]
    kinds: tuple[KindScores, ...]
    units: Values
    experiment: Experiment


@dataclass(frozen=True)
class Truth:
    """The cases as arrays, (n,): which are similar, which different (the others are contained),
    their halves and blocks.
    """

    similar: Flags
    different: Flags
    half: Flags
    block: NDArray[np.int64]
    kinds: tuple[str, ...]
    types: dict[str, str]


def truth_of(cases: Sequence[Case], strict: bool = False) -> Truth:
    """Return the cases as arrays; the half of a block depends on its number alone. `strict`: what
    is contained is different.
    """
    return Truth(
        np.array([case.similar is True for case in cases]),
        np.array([case.similar is False or (strict and case.similar is None) for case in cases]),
        np.array([bool(mix64(case.block + 1) & 1) for case in cases]),
        np.array([case.block for case in cases], dtype=np.int64),
        tuple(case.kind for case in cases),
        dict(
            sorted(
                {case.kind: case.type for case in cases}.items(),
                key=lambda case: (ORDER.index(case[1]), case[0]),
            )
        ),
    )


def usual_threshold(recipe: Recipe) -> float:
    """Return the similarity that a recipe is planned for; three bits of a SimHash; any shared key
    (of super-shingles two of six).
    """
    if recipe.baseline:
        return 2 / 6 if recipe.baseline == "super-shingles_v1" else 1 / STEPS
    if recipe.similarity:
        return recipe.similarity
    return 1 - CLOSE_BITS / 64 if recipe.bits else 0.8


def judge_experiment(experiment: Experiment, recipe: Recipe, truth: Truth) -> ExperimentScores:
    """Score an experiment: by the features where the recipe has them, else by its sketches."""
    sketch = np.array(experiment.sketch)
    values = sketch if experiment.features is None else np.array(experiment.features)
    curve = points(values, truth)
    best, usual = best_of(curve), point(values, truth, usual_threshold(recipe))
    matches = _match_halves(values, truth)
    units = _units(matches, truth)
    return ExperimentScores(
        recipe=experiment.recipe,
        fair=Counts(*(int(number) for number in units.sum(axis=0))),
        interval=bootstrap(units, lambda sums: [f1_of(sums)], draws=DRAWS)[0],
        best=best,
        usual=usual,
        by_sketch=best_of(points(sketch, truth)),
        area=area(values[truth.similar], values[truth.different]),
        curve=curve,
        similar=_bins(values[truth.similar]),
        different=_bins(values[truth.different]),
        kinds=tuple(_of_kinds(values, truth, best.threshold, usual.threshold)),
        units=units,
        experiment=experiment,
    )


def f1_of(sums: Values) -> Values:
    """Return F1 of rows of right, wrong and missed; NaN where all three are 0."""
    whole = 2 * sums[:, 0] + sums[:, 1] + sums[:, 2]
    f1: Values = np.divide(2 * sums[:, 0], whole, out=np.full(len(sums), np.nan), where=whole > 0)
    return f1


def difference(
    left: ExperimentScores, right: ExperimentScores, comparisons: int = 1
) -> tuple[float, float] | None:
    """Return the interval at 95 % of how much higher the fair F1 of one recipe is than that of
    another on the same pairs.

    Of so many comparisons all intervals hold together at 95 % (Bonferroni): the best of many
    recipes looks better by chance.
    """
    both, confidence = np.hstack([left.units, right.units]), 1 - 0.05 / comparisons
    return bootstrap(
        both,
        lambda sums: [f1_of(sums[:, :3]) - f1_of(sums[:, 3:])],
        draws=COMPARING_DRAWS,
        confidence=confidence,
    )[0]


def point(values: Values, truth: Truth, threshold: float) -> Point:
    """Count the pairs at a threshold; a similarity of 0 is never a match."""
    return Point(threshold, _count(_matches(values, threshold), truth))


def points(values: Values, truth: Truth) -> tuple[Point, ...]:
    """Return the point of every threshold that is tried."""
    return tuple(point(values, truth, step / STEPS) for step in range(1, STEPS + 1))


def best_of(curve: Sequence[Point]) -> Point:
    """Return the point with the highest F1; the middle one of several."""
    most = max(scored.counts.f1 or 0.0 for scored in curve)
    equal = [scored for scored in curve if (scored.counts.f1 or 0.0) == most]
    return equal[len(equal) // 2]


def area(similar: Values, different: Values) -> float:
    """Return the area under the ROC curve: the chance that a similar pair has a higher value than a
    different one, ties counting half.

    >>> area(np.array([0.9, 0.4]), np.array([0.4, 0.1]))
    0.875
    """
    ordered = np.sort(different)
    below = (
        np.searchsorted(ordered, similar, side="left").sum()
        + np.searchsorted(ordered, similar, side="right").sum()
    )
    return float(below) / (2 * len(similar) * len(different))


def _matches(values: Values, threshold: float) -> Flags:
    # similarities were rounded when they were kept: the threshold is no stricter than they are
    return (values >= threshold - 1e-5) & (values > 0)


def _count(matches: Flags, truth: Truth) -> Counts:
    right = int(np.count_nonzero(matches & truth.similar))
    wrong = int(np.count_nonzero(matches & truth.different))
    return Counts(right, wrong, int(np.count_nonzero(truth.similar)) - right)


def _match_halves(values: Values, truth: Truth) -> Flags:
    """Match each half at the best threshold of the other half; at that of all pairs where a half
    lacks similar or different pairs.
    """
    matches = np.zeros(len(values), dtype=np.bool_)
    for half in (truth.half, ~truth.half):
        opposite = Truth(
            truth.similar & ~half,
            truth.different & ~half,
            truth.half,
            truth.block,
            truth.kinds,
            truth.types,
        )
        sound = opposite.similar.any() and opposite.different.any()
        threshold = best_of(points(values, opposite if sound else truth)).threshold
        matches |= half & _matches(values, threshold)
    return matches


def _units(matches: Flags, truth: Truth) -> Values:
    """Return right, wrong and missed of every block, (blocks, 3)."""
    columns = (matches & truth.similar, matches & truth.different, ~matches & truth.similar)
    _, place = np.unique(truth.block, return_inverse=True)
    return np.stack([np.bincount(place, weights=column) for column in columns], axis=1)


def _bins(values: Values) -> tuple[int, ...]:
    return tuple(int(number) for number in np.histogram(values, bins=BINS, range=(0.0, 1.0))[0])


def _of_kinds(values: Values, truth: Truth, best: float, usual: float) -> list[KindScores]:
    at_best, at_usual = _matches(values, best), _matches(values, usual)
    names = np.array(truth.kinds)
    scores = []
    for kind, type in truth.types.items():
        is_kind = names == kind
        counts = [_of_kind(found, is_kind, truth) for found in (at_best, at_usual)]
        pairs, found, usually = (
            int(np.count_nonzero(is_kind & flags)) for flags in (is_kind, at_best, at_usual)
        )
        scores.append(KindScores(kind, type, pairs, found, usually, *counts))
    return scores


def _of_kind(matches: Flags, is_kind: Flags, truth: Truth) -> Counts:
    similar = is_kind & truth.similar
    right = int(np.count_nonzero(matches & similar))
    wrong = int(np.count_nonzero(matches & truth.different))
    return Counts(right, wrong, int(np.count_nonzero(similar)) - right)
