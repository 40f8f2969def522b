"""What an evaluation says: shares with their intervals, results by recipe and threshold, and every
error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from indexer.lab.evaluation.assessor_agreement import Agreement
from indexer.lab.evaluation.gold_documents import GoldDocuments
from indexer.lab.evaluation.sheets import Disagreement
from indexer.sketch.wilson import wilson
from indexer.statistics.intervals import mitchell
from indexer.statistics.kappa import Kappa
from indexer.statistics.precision_recall import SetCounts, share

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Share:
    """`part` of `whole`, and where the true share lies at 95 %; `value` is None of nothing.

    `wilson` and `mitchell` take pairs for independent; `bootstrap` draws whole groups or linked
    sets again, and is None where there are fewer than two.
    """

    part: int
    whole: int
    value: float | None
    wilson: Interval
    mitchell: Interval
    bootstrap: Interval | None


def share_of(part: int, whole: int, bootstrap: Interval | None) -> Share:
    """A share with all its intervals."""
    return Share(
        part, whole, share(part, whole), wilson(part, whole), mitchell(part, whole), bootstrap
    )


@dataclass(frozen=True, slots=True)
class Scores:
    """By pairs. `f1` with the interval of the bootstrap alone; None where nothing is to be found
    and nothing was.
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
    """By sets, under a rule of `indexer.statistics.precision_recall.RULES`."""

    counts: SetCounts
    recall: Share
    precision: Share
    f1: float | None


@dataclass(frozen=True, slots=True)
class TypeScores:
    """One duplicate type, or one kind of planted truth: what was found of it, and sets of it that
    were captured.

    Its precision leaves out found pairs of other types; found pairs that are no duplicates count
    against every type.
    """

    name: str
    scores: Scores
    captured: int
    sets: int


@dataclass(frozen=True, slots=True)
class Mistake:
    """A pair that was found and is no duplicate (`type` tells what it is), or a duplicate that was
    missed, and why.

    `similarity` is by the measure of the result; 0 where a text has no keys.
    """

    a: GoldDocuments
    b: GoldDocuments
    type: str
    kind: str
    group: str
    similarity: float
    why: str


@dataclass(frozen=True, slots=True)
class Truthfulness:
    """How many pairs of a `type` of the truth were `told` as a type; or have "no type", or were
    "not found".
    """

    type: str
    told: str
    pairs: int


@dataclass(frozen=True, slots=True)
class Result:
    """One recipe, or the detector of duplicate types, at one threshold.

    `judged` counts the pairs about which the truth is known, `unjudged` pairs that were found and
    about which it is not. `agreement` is kappa of the recipe and the truth: duplicate, or not.
    `by_kind` where the gold set tells kinds. `types_told` counts duplicates and found pairs, where
    types were asked for.
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
    types_told: tuple[Truthfulness, ...] = ()


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Results in the order of recipes, then thresholds; how far the assessors agree, where there
    are two or more.

    `closed`: pairs that the gold set does not list count as different. `types`: pairs of the truth
    by type. `rule`: when a set is captured. `drawn`: what the bootstrap draws again. `alone`: pairs
    that one assessor alone has judged; they count.
    """

    documents: int
    closed: bool
    types: Mapping[str, int]
    rule: str
    drawn: str
    results: tuple[Result, ...]
    assessors: Agreement | None = None
    disagreements: tuple[Disagreement, ...] = ()
    alone: int = 0
