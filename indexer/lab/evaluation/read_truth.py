"""What is given as the truth about pairs: one gold set, or the sheets of assessors and of the
arbiter, if there is one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from indexer.errors import UsageError
from indexer.lab.evaluation.gold import Gold, read_gold
from indexer.lab.evaluation.sheets import Resolution, Sheet, is_sheet, read_sheets, resolve


@dataclass(frozen=True, slots=True)
class GivenTruth:
    """The truth, and where sheets gave it these and how they were resolved."""

    gold: Gold
    sheets: tuple[Sheet, ...] = ()
    resolved: Resolution | None = None


def read_truth(paths: Sequence[str], closed: bool | None = None) -> GivenTruth:
    """Read the truth from one file of pairs or sets, or from sheets. `closed` as `read_gold` has
    it, for gold sets alone.

    Raises `SourceNotFound`, and `UsageError` for files that cannot be read, with the line, for both
    kinds together, and when no pair of the sheets is settled.
    """
    kinds = [is_sheet(path) for path in paths]
    if kinds == [False]:
        return GivenTruth(read_gold(paths[0], closed))
    if not paths or not all(kinds):
        raise UsageError("give one gold set, or the sheets of assessors and nothing else")
    if closed:
        raise UsageError("of pairs that nobody has judged sheets say nothing; leave --unlisted out")
    sheets = _of_different_people([sheet for path in paths for sheet in read_sheets(path)])
    made = resolve(sheets)
    if not made.gold.pairs:
        raise UsageError("no pair was judged in these sheets, or none that is settled")
    return GivenTruth(made.gold, sheets, made)


def _of_different_people(sheets: Sequence[Sheet]) -> tuple[Sheet, ...]:
    """Raises `UsageError` when one of them has two."""
    names = Counter(sheet.assessor for sheet in sheets)
    twice = [name for name, number in names.items() if number > 1]
    if twice:
        raise UsageError(f"{twice[0]} has two sheets here; give one of them")
    return tuple(sheets)
