"""Result types of an evaluation: shares with their intervals, scores by recipe and threshold, and
every error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from indexer.lab.evaluation.judgements import Agreement, Disagreement, GoldDocument
from indexer.sketch.wilson import wilson
from indexer.statistics.intervals import mitchell
from indexer.statistics.kappa import Kappa
from indexer.statistics.precision_recall import SetCounts, share

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Share:
    """`part` of `whole` with its 95 % intervals; `value` is None when `whole` is 0.

    `wilson` and `mitchell` assume independent pairs; `bootstrap` resamples whole groups or linked
    sets, and is None where there are fewer than two.
    """

    part: int
    whole: int
    value: float | None
    wilson: Interval
    mitchell: Interval
    bootstrap: Interval | None


def share_of(part: int, whole: int, bootstrap: Interval | None) -> Share:
    """Return a share with all its intervals."""
    return Share(
        part, whole, share(part, whole), wilson(part, whole), mitchell(part, whole), bootstrap
    )


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of pairs. `f1` has the bootstrap interval alone; None where there is nothing to find
    and nothing was found.
    """

    right: int
    wrong: int
    missed: int
    precision: Share
    recall: Share
    f1: float | None
    f1_bootstrap: Interval | None


@dataclass(frozen=True, slots=True)
class CaptureScores:
    """Scores of sets, under a rule of `indexer.statistics.precision_recall.RULES`."""

    counts: SetCounts
    recall: Share
    precision: Share
    f1: float | None


@dataclass(frozen=True, slots=True)
class TypeScores:
    """Scores of one duplicate type, or of one kind of synthetic ground truth, and its captured
    sets.

    Its precision leaves out found pairs of other types; found pairs that are no duplicates count
    against every type.
    """

    name: str
    scores: Scores
    captured: int
    sets: int


@dataclass(frozen=True, slots=True)
class Mistake:
    """A found pair that is not a duplicate, or a missed duplicate, and why.

    `type` is the true one; `similarity` is by the measure of the result, 0 for a text without keys.
    """

    a: GoldDocument
    b: GoldDocument
    type: str
    kind: str
    group: str
    similarity: float
    why: str


@dataclass(frozen=True, slots=True)
class TypeAssignment:
    """The number of pairs of a true `type` that were given the type `assigned`; or "no type", or
    "not found".
    """

    type: str
    assigned: str
    pairs: int


@dataclass(frozen=True, slots=True)
class Result:
    """One recipe, or the detector of duplicate types, at one threshold.

    `judged` counts the pairs whose truth is known, `unjudged` the found pairs whose truth is not.
    `agreement` is the kappa of the recipe and the truth: duplicate, or not. `by_kind` is empty
    unless the gold set has kinds. `assigned_types` counts duplicates and found pairs by type, when
    types were requested.
    """

    recipe: str
    recipe_id: str
    measure: str
    threshold: float
    pairs: Scores
    sets: CaptureScores
    by_type: tuple[TypeScores, ...]
    by_kind: tuple[TypeScores, ...]
    judged: int
    unjudged: int
    agreement: Kappa
    false_positives: tuple[Mistake, ...]
    misses: tuple[Mistake, ...]
    assigned_types: tuple[TypeAssignment, ...] = ()


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Results in the order of recipes, then thresholds; the agreement of the assessors, if there
    are two or more.

    `closed`: pairs that the gold set does not list count as different. `types`: number of true
    pairs by type. `rule`: when a set is captured. `resampled`: the units of the bootstrap.
    `alone`: number of pairs that only one assessor judged; they count.
    """

    documents: int
    closed: bool
    types: Mapping[str, int]
    rule: str
    resampled: str
    results: tuple[Result, ...]
    assessors: Agreement | None = None
    disagreements: tuple[Disagreement, ...] = ()
    alone: int = 0
