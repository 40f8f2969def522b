"""The scores of an experiment: how far apart similar and different pairs lie, and the matches of
each threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from indexer.fingerprinting.hashing import mix64
from indexer.lab.evaluation.judgements import TYPES
from indexer.lab.evaluation.precision_recall import Counts, bootstrap, f1_of_rows
from indexer.lab.tuning.results import (
    UNRELATED,
    Case,
    Experiment,
    ExperimentScores,
    Flags,
    KindScores,
    Point,
    Truth,
    Values,
)
from indexer.recipe import Recipe

STEPS = 200  # thresholds that are tried: 0.005, 0.01, ... 1
BINS = 40
RESAMPLES = 1000
ORDER = (*TYPES, UNRELATED)
CLOSE_BITS = 3  # of the 64 bits of a SimHash, for recipes that name no similarity


def truth_of(cases: Sequence[Case], strict: bool = False) -> Truth:
    """Return the cases as arrays; the half of a block depends on its number alone.

    `strict`: a pair of which one text contains the other is different.
    """
    types = {case.kind: case.type for case in cases}
    by_type = sorted(types.items(), key=lambda item: (ORDER.index(item[1]), item[0]))
    different = [case.similar is False or (strict and case.similar is None) for case in cases]
    return Truth(
        np.array([case.similar is True for case in cases]),
        np.array(different),
        np.array([bool(mix64(case.block + 1) & 1) for case in cases]),
        np.array([case.block for case in cases], dtype=np.int64),
        tuple(case.kind for case in cases),
        dict(by_type),
    )


def usual_threshold(recipe: Recipe) -> float:
    """Return the similarity that a recipe is planned for.

    Where it names none: three bits of a SimHash; any shared key (of super-shingles two of six).
    """
    if recipe.baseline:
        return 2 / 6 if recipe.baseline == "super-shingles_v1" else 1 / STEPS
    if recipe.similarity:
        return recipe.similarity
    return 1 - CLOSE_BITS / 64 if recipe.bits else 0.8


def judge_experiment(experiment: Experiment, recipe: Recipe, truth: Truth) -> ExperimentScores:
    """Return the scores of an experiment: by the features where it has them, else by sketches."""
    sketch = np.array(experiment.sketch)
    values = sketch if experiment.features is None else np.array(experiment.features)
    curve = points(values, truth)
    best = best_of(curve)
    usual = point(values, truth, usual_threshold(recipe))
    units = _units(_fair_matches(values, truth), truth)
    return ExperimentScores(
        recipe=experiment.recipe,
        fair=Counts(*(int(number) for number in units.sum(axis=0))),
        interval=bootstrap(units, lambda sums: [f1_of_rows(sums)], draws=RESAMPLES)[0],
        best=best,
        usual=usual,
        by_sketch=best_of(points(sketch, truth)),
        area=area(values[truth.similar], values[truth.different]),
        curve=curve,
        similar=_bins(values[truth.similar]),
        different=_bins(values[truth.different]),
        kinds=tuple(_kind_scores(values, truth, best.threshold, usual.threshold)),
        units=units,
        experiment=experiment,
    )


def point(values: Values, truth: Truth, threshold: float) -> Point:
    """Return the counts of pairs at a threshold; a similarity of 0 is never a match."""
    return Point(threshold, _count(_matches(values, threshold), truth.similar, truth))


def points(values: Values, truth: Truth) -> tuple[Point, ...]:
    """Return the counts of pairs at every threshold that is tried."""
    return tuple(point(values, truth, step / STEPS) for step in range(1, STEPS + 1))


def best_of(curve: Sequence[Point]) -> Point:
    """Return the threshold with the highest F1; the middle one of several."""
    highest = max(point.counts.f1 or 0.0 for point in curve)
    equal = [point for point in curve if (point.counts.f1 or 0.0) == highest]
    return equal[len(equal) // 2]


def area(similar: Values, different: Values) -> float:
    """Return the area under the ROC curve: the chance that a similar pair has the higher value of
    two, ties counting half.

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
    # similarities are stored rounded: the threshold must be no stricter than they are
    return (values >= threshold - 1e-5) & (values > 0)


def _count(matches: Flags, duplicates: Flags, truth: Truth) -> Counts:
    """Count the duplicates that match and that do not, and every different pair that matches."""
    right = int(np.count_nonzero(matches & duplicates))
    wrong = int(np.count_nonzero(matches & truth.different))
    return Counts(right, wrong, int(np.count_nonzero(duplicates)) - right)


def _fair_matches(values: Values, truth: Truth) -> Flags:
    """Return the matches of each half at the best threshold of the other half.

    That of everything is used where a half lacks similar or different pairs.
    """
    matches = np.zeros(len(values), dtype=np.bool_)
    for half in (truth.half, ~truth.half):
        rest = replace(truth, similar=truth.similar & ~half, different=truth.different & ~half)
        has_both = rest.similar.any() and rest.different.any()
        threshold = best_of(points(values, rest if has_both else truth)).threshold
        matches |= half & _matches(values, threshold)
    return matches


def _units(matches: Flags, truth: Truth) -> Values:
    """Return right, wrong and missed of every block, (blocks, 3)."""
    columns = (matches & truth.similar, matches & truth.different, ~matches & truth.similar)
    _, position = np.unique(truth.block, return_inverse=True)
    return np.stack([np.bincount(position, weights=column) for column in columns], axis=1)


def _bins(values: Values) -> tuple[int, ...]:
    return tuple(int(number) for number in np.histogram(values, bins=BINS, range=(0.0, 1.0))[0])


def _kind_scores(values: Values, truth: Truth, best: float, usual: float) -> list[KindScores]:
    at_best = _matches(values, best)
    at_usual = _matches(values, usual)
    names = np.array(truth.kinds)
    scores = []
    for kind, type in truth.types.items():
        members = names == kind
        duplicates = members & truth.similar
        scores.append(
            KindScores(
                kind=kind,
                type=type,
                pairs=int(np.count_nonzero(members)),
                found=int(np.count_nonzero(members & at_best)),
                found_usually=int(np.count_nonzero(members & at_usual)),
                best=_count(at_best, duplicates, truth),
                usual=_count(at_usual, duplicates, truth),
            )
        )
    return scores
