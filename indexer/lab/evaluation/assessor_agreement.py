"""How far assessors agree, as Conrad & Raymond (ICAIL 2007) measure it, with Cohen's kappa beside
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from indexer.lab.evaluation.sheets import Sheet, as_duplicate
from indexer.statistics.kappa import (
    Kappa,
    MeanKappa,
    cohen,
    counted_table,
    mean_kappa,
    siegel_castellan,
)


@dataclass(frozen=True, slots=True)
class MeasuredAgreement:
    """Agreement on one question.

    `pooled` is of one table of all pairs, which the paper calls macro-averaged, `by_group` the mean
    of a kappa for each group, its micro-averaged. `corrected` has the variance of 1979; `cohen` is
    None unless there are two raters.
    """

    pooled: Kappa
    corrected: Kappa
    by_group: MeanKappa
    cohen: Kappa | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far assessors agree on the pairs that all of them have judged; `left_out` counts the
    others.

    `duplicate`: whether a pair is a duplicate or not, which the paper reports; `types`: of which
    type.
    """

    assessors: tuple[str, ...]
    pairs: int
    left_out: int
    duplicate: MeasuredAgreement
    types: MeasuredAgreement


def agreement(sheets: Sequence[Sheet]) -> Agreement:
    """The agreement of two assessors or more; an arbiter, who sees the hard pairs alone, is not
    among them.
    """
    assessors = [one for one in sheets if one.role == "assessor"]
    everything = {pair for one in assessors for pair in one.judgements}
    common = sorted(pair for pair in everything if all(pair in one.judgements for one in assessors))
    types = [tuple(one.judgements[pair].type for one in assessors) for pair in common]
    groups = [assessors[0].judgements[pair].group for pair in common]
    return Agreement(
        tuple(one.assessor for one in assessors),
        len(common),
        len(everything) - len(common),
        measured_agreement([as_duplicate(row) for row in types], groups),
        measured_agreement(types, groups),
    )


def measured_agreement(
    judged: Sequence[tuple[object, ...]], groups: Sequence[str]
) -> MeasuredAgreement:
    """Every kappa of rows of judgements, one a rater, and the group of each row."""
    by_group: dict[str, list[tuple[object, ...]]] = {}
    for row, group in zip(judged, groups, strict=True):
        by_group.setdefault(group, []).append(row)
    table = counted_table(judged)
    two = bool(judged) and len(judged[0]) == 2
    return MeasuredAgreement(
        siegel_castellan(table),
        siegel_castellan(table, corrected=True),
        mean_kappa([counted_table(rows) for rows in by_group.values()]),
        cohen([row[0] for row in judged], [row[1] for row in judged]) if two else None,
    )
