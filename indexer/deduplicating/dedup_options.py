"""Settings of `dedup`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from indexer.defaults import MEASURE, REVIEW
from indexer.errors import UsageError
from indexer.grouping.group_options import GroupOptions
from indexer.matching.limits import CAP
from indexer.recipe import DEFAULT
from indexer.similarity.criteria import Criteria, Numbers
from indexer.sources.base import Reading


@dataclass(frozen=True, slots=True)
class DedupOptions:
    """The options of `dedup`: which rows are duplicates, and which of them stays.

    `threshold`: least similarity of a removed row to the row that stays; above 0, at most 1.
    `measure`: the measure that decides, on the texts.
    `keep`: the row that stays: `longest` (most words) or `first` (in the order of the input).
    `text_field`: the column of the texts; a dot leads into a nested field.
    `delimiter`: separates the fields of CSV; None detects it.
    `cap`: of a band that more distinct texts share, all are compared with the first only; at
    least 2.
    `numbers`: `distinguish` keeps rows whose numbers, dates, amounts, negations, names, addresses
    or signs differ; `ignore` compares texts of numbers alone too; None neither.
    `require`: conditions on the texts of a removed row and the row that stays, as `--require` takes
    them; not on novelty, since nothing counts how frequent words are.

    Raises `UsageError` for a value out of its range and `UnknownMeasure`.
    """

    threshold: float = REVIEW
    measure: str = MEASURE
    keep: Literal["longest", "first"] = "longest"
    text_field: str = "text"
    delimiter: str | None = None
    cap: int = CAP
    numbers: Numbers | None = None
    require: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.reading()
        self.family_options()

    def reading(self) -> Reading:
        """Return how records are read."""
        return Reading(text_field=self.text_field, delimiter=self.delimiter, metadata=False)

    def family_options(self) -> GroupOptions:
        """Return the options of `group` by which rows that stay are the principals of others."""
        criteria = Criteria.from_settings({"numbers": self.numbers, "require": self.require})
        if criteria.novelty is not None:
            raise UsageError(
                "dedup does not count how frequent words are, which novelty<=N needs; leave it out"
            )
        options = GroupOptions(
            threshold=self.threshold,
            measure=self.measure,
            principal=self.keep,
            cap=self.cap,
            criteria=criteria,
        )
        options.check_recipe(DEFAULT)
        return options


DEFAULTS = DedupOptions()
