"""Agreement of assessors as Conrad & Raymond (ICAIL 2007) measure it, with Cohen's kappa."""

from __future__ import annotations

from collections.abc import Sequence

from indexer.lab.evaluation.judgements import Agreement, MeasuredAgreement, Sheet
from indexer.lab.evaluation.sheets import as_duplicate
from indexer.statistics.kappa import (
    cohen,
    count_table,
    mean_kappa,
    siegel_castellan,
)


def agreement(sheets: Sequence[Sheet]) -> Agreement:
    """Return the agreement of two or more assessors; an arbiter, who sees only disputed pairs, is
    not one of them.
    """
    assessors = [sheet for sheet in sheets if sheet.role == "assessor"]
    all_pairs = {pair for sheet in assessors for pair in sheet.judgements}
    judged_by_all = set(all_pairs)
    for sheet in assessors:
        judged_by_all &= sheet.judgements.keys()
    common = sorted(judged_by_all)
    types = [_types_of(pair, assessors) for pair in common]
    groups = [assessors[0].judgements[pair].group for pair in common]
    return Agreement(
        tuple(sheet.assessor for sheet in assessors),
        len(common),
        len(all_pairs) - len(common),
        measured_agreement([as_duplicate(row) for row in types], groups),
        measured_agreement(types, groups),
    )


def _types_of(pair: tuple[str, str], sheets: Sequence[Sheet]) -> tuple[str, ...]:
    return tuple(sheet.judgements[pair].type for sheet in sheets)


def measured_agreement(
    judged: Sequence[tuple[object, ...]], groups: Sequence[str]
) -> MeasuredAgreement:
    """Return every kappa of rows of judgements, one column for each rater, given the group of each
    row.
    """
    by_group: dict[str, list[tuple[object, ...]]] = {}
    for row, group in zip(judged, groups, strict=True):
        by_group.setdefault(group, []).append(row)
    table = count_table(judged)
    two = bool(judged) and len(judged[0]) == 2
    return MeasuredAgreement(
        siegel_castellan(table),
        siegel_castellan(table, corrected=True),
        mean_kappa([count_table(rows) for rows in by_group.values()]),
        cohen([row[0] for row in judged], [row[1] for row in judged]) if two else None,
    )
