"""Read the ground truth about pairs: one gold set, or the sheets of assessors and of an arbiter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from indexer.errors import UsageError
from indexer.lab.evaluation.gold import read_gold
from indexer.lab.evaluation.judgements import Gold, Resolution, Sheet
from indexer.lab.evaluation.sheets import is_sheet, read_sheets, resolve


@dataclass(frozen=True, slots=True)
class GroundTruth:
    """A gold set, with the sheets that it was made of and their resolution, if there are any."""

    gold: Gold
    sheets: tuple[Sheet, ...] = ()
    resolved: Resolution | None = None


def read_truth(paths: Sequence[str], closed: bool | None = None) -> GroundTruth:
    """Read the truth from one file of pairs or sets, or from sheets. `closed` as in `read_gold`,
    for gold sets alone.

    Raises `SourceNotFound`, and `UsageError` for files that cannot be read, with the line, for both
    kinds together, and when no pair of the sheets is settled.
    """
    kinds = [is_sheet(path) for path in paths]
    if kinds == [False]:
        return GroundTruth(read_gold(paths[0], closed))
    if not paths or not all(kinds):
        raise UsageError("give one gold set, or the sheets of assessors and nothing else")
    if closed:
        raise UsageError("sheets say nothing of pairs that nobody judged; leave --unlisted out")
    sheets = [sheet for path in paths for sheet in read_sheets(path)]
    _check_distinct_assessors(sheets)
    resolution = resolve(sheets)
    if not resolution.gold.pairs:
        raise UsageError(
            "no pair was judged in these sheets, or none on which they agree; "
            "judge pairs with `nearfold judge`"
        )
    return GroundTruth(resolution.gold, tuple(sheets), resolution)


def _check_distinct_assessors(sheets: Sequence[Sheet]) -> None:
    """Raise `UsageError` when an assessor has two sheets."""
    names = Counter(sheet.assessor for sheet in sheets)
    twice = [name for name, number in names.items() if number > 1]
    if twice:
        raise UsageError(f"{twice[0]} has two sheets here; give one of them")
