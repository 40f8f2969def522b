"""Scores of found pairs against the groups of a gold set: by pairs, by sets, by type, with
intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from indexer.lab.evaluation.evaluation_results import CaptureScores, Scores, TypeScores, share_of
from indexer.lab.evaluation.gold import DUPLICATES, LabelledPair
from indexer.lab.evaluation.truth import Group, Pair
from indexer.statistics.intervals import bootstrap
from indexer.statistics.kappa import Kappa, siegel_castellan
from indexer.statistics.precision_recall import (
    Counts,
    Rule,
    SetCounts,
    captured_sets,
    linked_sets,
    set_counts,
)

Units = NDArray[np.float64]
Found = Sequence[set[Pair]]


def resample(groups: Sequence[Group]) -> str:
    """What the bootstrap draws: pairs that hang together must not be taken for independent."""
    return "groups" if len(groups) > 1 else "sets of documents that true or found pairs link"


def pair_scores(
    groups: Sequence[Group], found: Found, seed: int, kept: Callable[[LabelledPair], bool] = bool
) -> Scores:
    """By pairs; of the true pairs those that are `kept`, found pairs that are other true ones left
    out.
    """
    rows = [_units(group, pairs, kept) for group, pairs in zip(groups, found, strict=True)]
    units = np.concatenate(rows) if len(rows) == 1 else np.array([row.sum(axis=0) for row in rows])
    made = Counts(*(int(number) for number in units.sum(axis=0)))
    precision, recall, f1 = bootstrap(units, _shares, seed)
    return Scores(
        made.right,
        made.wrong,
        made.missed,
        share_of(made.right, made.right + made.wrong, precision),
        share_of(made.right, made.right + made.missed, recall),
        made.f1,
        f1,
    )


def _units(group: Group, found: set[Pair], kept: Callable[[LabelledPair], bool]) -> Units:
    """Right, wrong and missed pairs of each set that true and found pairs link; at least one row,
    of zeros.
    """
    true = {pair for pair in group.true if kept(group.known[pair])}
    others = group.true - true
    places = {
        key: place
        for place, members in enumerate(linked_sets(group.true | found))
        for key in members
    }
    rows = np.zeros((max(places.values(), default=0) + 1, 3))
    for pair in (true | found) - others:
        rows[places[pair[0]], 0 if pair in true & found else 1 if pair in found else 2] += 1
    return rows


def _shares(sums: Units) -> tuple[Units, Units, Units]:
    """Precision, recall and F1 of right, wrong and missed pairs."""
    right, wrong, missed = sums.T
    return (
        _ratio(right, right + wrong),
        _ratio(right, right + missed),
        _ratio(2 * right, 2 * right + wrong + missed),
    )


def _ratio(part: Units, whole: Units) -> Units:
    made: Units = np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)
    return made


def set_scores(groups: Sequence[Group], found: Found, rule: Rule, seed: int) -> CaptureScores:
    """By sets, each group by itself."""
    made = [
        set_counts([one.documents for one in group.sets], pairs, group.true, rule)
        for group, pairs in zip(groups, found, strict=True)
    ]
    units = np.array(
        [(one.captured, one.sets, one.right, one.found) for one in made], dtype=float
    ).reshape(-1, 4)
    total = SetCounts(*(int(number) for number in units.sum(axis=0)))
    recall, precision = bootstrap(
        units, lambda sums: (_ratio(*sums.T[:2]), _ratio(*sums.T[2:])), seed
    )
    return CaptureScores(
        total,
        share_of(total.captured, total.sets, recall),
        share_of(total.right, total.found, precision),
        total.f1,
    )


def by_type(groups: Sequence[Group], found: Found, rule: Rule, seed: int) -> tuple[TypeScores, ...]:
    """The duplicate types that there are, in the order of `DUPLICATES`."""
    made = []
    for name in DUPLICATES:
        of_it = [
            (one, own)
            for group, own in zip(groups, found, strict=True)
            for one in group.sets
            if one.type == name
        ]
        scores = pair_scores(groups, found, seed, partial(_is, "type", name))
        if of_it or scores.recall.whole:
            made.append(
                TypeScores(
                    name,
                    scores,
                    sum(captured_sets(one.documents, own, rule) for one, own in of_it),
                    len(of_it),
                )
            )
    return tuple(made)


def by_kind(groups: Sequence[Group], found: Found, seed: int) -> tuple[TypeScores, ...]:
    """The kinds of duplicates that the gold set tells, by name; they have no sets."""
    kinds = {
        one.kind
        for group in groups
        for one in group.known.values()
        if one.type in DUPLICATES and one.kind
    }
    return tuple(
        TypeScores(kind, pair_scores(groups, found, seed, partial(_is, "kind", kind)), 0, 0)
        for kind in sorted(kinds)
    )


def _is(field: str, value: str, one: LabelledPair) -> bool:
    return bool(getattr(one, field) == value)


def agreement_with(scores: Scores, judged: int) -> Kappa:
    """Kappa of what was found and the truth, over all judged pairs: duplicate, or not."""
    apart = scores.wrong + scores.missed
    return siegel_castellan(
        [[2, 0], [1, 1], [0, 2]], times=[scores.right, apart, judged - scores.right - apart]
    )
