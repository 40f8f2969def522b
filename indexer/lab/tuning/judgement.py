"""What an experiment shows: how far apart similar and different pairs lie, and what a threshold
makes of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.lab.evaluation.judgements import TYPES
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
    """What one threshold makes of the pairs."""

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
    """The cases as arrays; the half of a block depends on its number alone. `strict`: what is
    contained is different.
    """
    return Truth(
        np.array([one.similar is True for one in cases]),
        np.array([one.similar is False or (strict and one.similar is None) for one in cases]),
        np.array([bool(mix64(one.block + 1) & 1) for one in cases]),
        np.array([one.block for one in cases], dtype=np.int64),
        tuple(one.kind for one in cases),
        dict(
            sorted(
                {one.kind: one.type for one in cases}.items(),
                key=lambda one: (ORDER.index(one[1]), one[0]),
            )
        ),
    )


def usual_threshold(recipe: Recipe) -> float:
    """The similarity that a recipe is planned for; three bits of a SimHash; any shared key (of
    super-shingles two of six).
    """
    if recipe.baseline:
        return 2 / 6 if recipe.baseline == "super-shingles_v1" else 1 / STEPS
    if recipe.similarity:
        return recipe.similarity
    return 1 - CLOSE_BITS / 64 if recipe.bits else 0.8


def judge_experiment(made: Experiment, recipe: Recipe, truth: Truth) -> ExperimentScores:
    """What an experiment shows: by the features where the recipe is judged by them, else by its
    sketches.
    """
    sketch = np.array(made.sketch)
    values = sketch if made.features is None else np.array(made.features)
    curve = points(values, truth)
    best, usual = best_of(curve), point(values, truth, usual_threshold(recipe))
    found = _fairly(values, truth)
    units = _units(found, truth)
    return ExperimentScores(
        recipe=made.recipe,
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
        experiment=made,
    )


def f1_of(sums: Values) -> Values:
    """F1 of rows of right, wrong and missed; NaN where all three are 0."""
    whole = 2 * sums[:, 0] + sums[:, 1] + sums[:, 2]
    made: Values = np.divide(2 * sums[:, 0], whole, out=np.full(len(sums), np.nan), where=whole > 0)
    return made


def difference(
    one: ExperimentScores, other: ExperimentScores, comparisons: int = 1
) -> tuple[float, float] | None:
    """How much higher the fair F1 of one recipe is than that of another on the same pairs: the
    interval at 95 %.

    Of so many comparisons all intervals hold together at 95 % (Bonferroni): the best of many
    recipes looks better by chance.
    """
    both, confidence = np.hstack([one.units, other.units]), 1 - 0.05 / comparisons
    return bootstrap(
        both,
        lambda sums: [f1_of(sums[:, :3]) - f1_of(sums[:, 3:])],
        draws=COMPARING_DRAWS,
        confidence=confidence,
    )[0]


def point(values: Values, truth: Truth, threshold: float) -> Point:
    """What a threshold makes of the pairs; a similarity of 0 is never a match."""
    return Point(threshold, _counted(_found(values, threshold), truth))


def points(values: Values, truth: Truth) -> tuple[Point, ...]:
    """`point` for every threshold that is tried."""
    return tuple(point(values, truth, step / STEPS) for step in range(1, STEPS + 1))


def best_of(curve: Sequence[Point]) -> Point:
    """The threshold with the highest F1; the middle one of several."""
    most = max(one.counts.f1 or 0.0 for one in curve)
    equal = [one for one in curve if (one.counts.f1 or 0.0) == most]
    return equal[len(equal) // 2]


def area(similar: Values, different: Values) -> float:
    """The chance that a similar pair has the higher value of two, ties counting half: the area
    under the ROC curve.

    >>> area(np.array([0.9, 0.4]), np.array([0.4, 0.1]))
    0.875
    """
    ordered = np.sort(different)
    below = (
        np.searchsorted(ordered, similar, side="left").sum()
        + np.searchsorted(ordered, similar, side="right").sum()
    )
    return float(below) / (2 * len(similar) * len(different))


def _found(values: Values, threshold: float) -> Flags:
    # similarities were rounded when they were kept: the threshold is no stricter than they are
    return (values >= threshold - 1e-5) & (values > 0)


def _counted(found: Flags, truth: Truth) -> Counts:
    right = int(np.count_nonzero(found & truth.similar))
    wrong = int(np.count_nonzero(found & truth.different))
    return Counts(right, wrong, int(np.count_nonzero(truth.similar)) - right)


def _fairly(values: Values, truth: Truth) -> Flags:
    """What is found when each half goes by the best threshold of the other; by that of everything
    where a half has no pairs.
    """
    found = np.zeros(len(values), dtype=np.bool_)
    for half in (truth.half, ~truth.half):
        other = Truth(
            truth.similar & ~half,
            truth.different & ~half,
            truth.half,
            truth.block,
            truth.kinds,
            truth.types,
        )
        sound = other.similar.any() and other.different.any()
        threshold = best_of(points(values, other if sound else truth)).threshold
        found |= half & _found(values, threshold)
    return found


def _units(found: Flags, truth: Truth) -> Values:
    """Right, wrong and missed of every block, (blocks, 3)."""
    columns = (found & truth.similar, found & truth.different, ~found & truth.similar)
    _, place = np.unique(truth.block, return_inverse=True)
    return np.stack([np.bincount(place, weights=column) for column in columns], axis=1)


def _bins(values: Values) -> tuple[int, ...]:
    return tuple(int(number) for number in np.histogram(values, bins=BINS, range=(0.0, 1.0))[0])


def _of_kinds(values: Values, truth: Truth, best: float, usual: float) -> list[KindScores]:
    at_best, at_usual = _found(values, best), _found(values, usual)
    names = np.array(truth.kinds)
    made = []
    for kind, type in truth.types.items():
        mine = names == kind
        counts = [_of_kind(found, mine, truth) for found in (at_best, at_usual)]
        pairs, found, usually = (
            int(np.count_nonzero(mine & flags)) for flags in (mine, at_best, at_usual)
        )
        made.append(KindScores(kind, type, pairs, found, usually, *counts))
    return made


def _of_kind(found: Flags, mine: Flags, truth: Truth) -> Counts:
    similar = mine & truth.similar
    right = int(np.count_nonzero(found & similar))
    wrong = int(np.count_nonzero(found & truth.different))
    return Counts(right, wrong, int(np.count_nonzero(similar)) - right)
