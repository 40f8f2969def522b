"""Results of an evaluation: fractions with intervals, scores by recipe and threshold, errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from indexer.fingerprinting.minhash import wilson
from indexer.fingerprinting.normalise import count_words
from indexer.lab.evaluation.gold import Group, Pair
from indexer.lab.evaluation.judgements import (
    DUPLICATES,
    Agreement,
    Disagreement,
    GoldDocument,
    Kappa,
    LabelledPair,
    siegel_castellan,
)
from indexer.lab.evaluation.precision_recall import (
    Counts,
    Rule,
    SetCounts,
    bootstrap,
    count_sets,
    is_captured,
    linked_sets,
    mitchell,
    ratio,
)

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Proportion:
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


def proportion_of(part: int, whole: int, bootstrap: Interval | None) -> Proportion:
    """Return a fraction with all its intervals."""
    return Proportion(
        part, whole, ratio(part, whole), wilson(part, whole), mitchell(part, whole), bootstrap
    )


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of pairs. `f1` has the bootstrap interval alone; None where there is nothing to find
    and nothing was found.
    """

    right: int
    wrong: int
    missed: int
    precision: Proportion
    recall: Proportion
    f1: float | None
    f1_bootstrap: Interval | None


@dataclass(frozen=True, slots=True)
class CaptureScores:
    """Scores of sets, under a rule of `indexer.lab.evaluation.precision_recall.RULES`."""

    counts: SetCounts
    recall: Proportion
    precision: Proportion
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
class JudgedSet:
    """Documents that judged duplicates link, by path, and the words of each."""

    query: str
    documents: tuple[str, ...]
    words: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """The documents of a query whose pairs were judged, and the pairs by type."""

    query: str
    documents: int
    types: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Results in the order of recipes, then thresholds; the agreement of the assessors, if there
    are two or more.

    `closed`: pairs that the gold set does not list count as different. `types`: number of true
    pairs by type. `rule`: the rule by which a set is captured. `resampled`: the units of the
    bootstrap.
    `alone`: number of pairs that only one assessor judged; they count. `queries`: the groups of the
    gold set, which are queries where pairs were made from some, and `sets` theirs.
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
    queries: tuple[JudgedQuery, ...] = ()
    sets: tuple[JudgedSet, ...] = ()


def judged_queries(groups: Iterable[Group]) -> tuple[JudgedQuery, ...]:
    """Return what was judged of each group, by name."""
    return tuple(map(_judged_query, groups))


def _judged_query(group: Group) -> JudgedQuery:
    types = Counter(labelled.type for labelled in group.known.values())
    return JudgedQuery(group.name, len(group.documents), dict(types))


def judged_sets(
    groups: Iterable[Group], documents: Mapping[str, GoldDocument]
) -> tuple[JudgedSet, ...]:
    """Return the sets of duplicates of each group; `documents` by key."""
    sets = []
    for group in groups:
        for members in _members(group):
            found = [documents[key] for key in members]
            paths = tuple(document.path or document.key for document in found)
            words = tuple(count_words(document.text) for document in found)
            sets.append(JudgedSet(group.name, paths, words))
    return tuple(sets)


# Scores of found pairs: by pairs, by sets and by type, with intervals.

Units = NDArray[np.float64]
PairSets = Sequence[set[Pair]]
_RIGHT, _WRONG, _MISSED = range(3)


def resample(groups: Sequence[Group]) -> str:
    """Return the units that the bootstrap resamples: linked pairs are not independent."""
    return "groups" if len(groups) > 1 else "sets of documents that true or found pairs link"


def pair_scores(
    groups: Sequence[Group],
    found_pairs: PairSets,
    seed: int,
    is_counted: Callable[[LabelledPair], bool] = bool,
) -> Scores:
    """Score pairs, of the true ones those for which `is_counted` holds; found pairs that are other
    true ones are left out.
    """
    rows = [
        _units(group, pairs, is_counted) for group, pairs in zip(groups, found_pairs, strict=True)
    ]
    units = np.concatenate(rows) if len(rows) == 1 else np.array([row.sum(axis=0) for row in rows])
    counts = Counts(*(int(number) for number in units.sum(axis=0)))
    precision, recall, f1 = bootstrap(units, _ratios, seed)
    return Scores(
        counts.right,
        counts.wrong,
        counts.missed,
        proportion_of(counts.right, counts.right + counts.wrong, precision),
        proportion_of(counts.right, counts.right + counts.missed, recall),
        counts.f1,
        f1,
    )


def _units(
    group: Group, found_pairs: set[Pair], is_counted: Callable[[LabelledPair], bool]
) -> Units:
    """Return the counts of right, wrong and missed pairs of each linked set, (sets, 3); at least
    one row, of zeros.
    """
    true = {pair for pair in group.true if is_counted(group.known[pair])}
    others = group.true - true
    positions: dict[str, int] = {}
    for index, members in enumerate(linked_sets(group.true | found_pairs)):
        positions.update(dict.fromkeys(members, index))
    rows = np.zeros((max(positions.values(), default=0) + 1, 3))
    for pair in (true | found_pairs) - others:
        rows[positions[pair[0]], _column(pair, true, found_pairs)] += 1
    return rows


def _column(pair: Pair, true: set[Pair], found_pairs: set[Pair]) -> int:
    if pair not in found_pairs:
        return _MISSED
    return _RIGHT if pair in true else _WRONG


def _ratios(sums: Units) -> tuple[Units, Units, Units]:
    """Return precision, recall and F1 of right, wrong and missed pairs."""
    right, wrong, missed = sums.T
    return (
        _ratio(right, right + wrong),
        _ratio(right, right + missed),
        _ratio(2 * right, 2 * right + wrong + missed),
    )


def _ratio(part: Units, whole: Units) -> Units:
    ratio: Units = np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)
    return ratio


def set_scores(
    groups: Sequence[Group], found_pairs: PairSets, rule: Rule, seed: int
) -> CaptureScores:
    """Score sets, each group by itself."""
    counts = [
        count_sets(_members(group), pairs, group.true, rule)
        for group, pairs in zip(groups, found_pairs, strict=True)
    ]
    units = np.array(
        [(count.captured, count.sets, count.right, count.found) for count in counts], dtype=float
    ).reshape(-1, 4)
    total = SetCounts(*(int(number) for number in units.sum(axis=0)))
    recall, precision = bootstrap(
        units, lambda sums: (_ratio(*sums.T[:2]), _ratio(*sums.T[2:])), seed
    )
    return CaptureScores(
        total,
        proportion_of(total.captured, total.sets, recall),
        proportion_of(total.right, total.found, precision),
        total.f1,
    )


def _members(group: Group) -> list[tuple[str, ...]]:
    return [gold_set.documents for gold_set in group.sets]


def by_type(
    groups: Sequence[Group], found_pairs: PairSets, rule: Rule, seed: int
) -> tuple[TypeScores, ...]:
    """Return scores for each duplicate type that occurs, in the order of `DUPLICATES`."""
    results = []
    for name in DUPLICATES:
        of_it = [
            (gold_set, pairs)
            for group, pairs in zip(groups, found_pairs, strict=True)
            for gold_set in group.sets
            if gold_set.type == name
        ]
        scores = pair_scores(groups, found_pairs, seed, partial(_has_value, "type", name))
        if of_it or scores.recall.whole:
            results.append(
                TypeScores(
                    name,
                    scores,
                    sum(is_captured(gold_set.documents, pairs, rule) for gold_set, pairs in of_it),
                    len(of_it),
                )
            )
    return tuple(results)


def by_kind(groups: Sequence[Group], found_pairs: PairSets, seed: int) -> tuple[TypeScores, ...]:
    """Return scores for each kind of duplicates in the gold set, by name; kinds have no sets."""
    kinds = {
        labelled.kind
        for group in groups
        for labelled in group.known.values()
        if labelled.type in DUPLICATES and labelled.kind
    }
    return tuple(
        TypeScores(
            kind, pair_scores(groups, found_pairs, seed, partial(_has_value, "kind", kind)), 0, 0
        )
        for kind in sorted(kinds)
    )


def _has_value(field: str, value: str, labelled: LabelledPair) -> bool:
    return bool(getattr(labelled, field) == value)


def agreement_with(scores: Scores, judged: int) -> Kappa:
    """Return the kappa of found pairs and the truth, over all judged pairs: duplicate, or not."""
    disagreeing = scores.wrong + scores.missed
    return siegel_castellan(
        [[2, 0], [1, 1], [0, 2]],
        times=[scores.right, disagreeing, judged - scores.right - disagreeing],
    )
