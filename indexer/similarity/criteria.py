"""Conditions on a pair beside the threshold of its measure, and the relation "rearranged"."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal, TypeAlias

from indexer.errors import UnknownMeasure, UsageError
from indexer.model import Row
from indexer.similarity.differences import differences
from indexer.similarity.measures import MEASURES, TextOperand, measure_pair

Numbers: TypeAlias = Literal["ignore", "distinguish"]
REARRANGED = 0.9  # least overlap of texts that are called rearranged


@dataclass(frozen=True, slots=True)
class Criteria:
    """Conditions that near duplicates meet beside the threshold of their measure.

    `numbers`: `distinguish` refuses a pair with any of the `differences` in numbers, dates,
    amounts, negations and names that `indexer.similarity.differences` describes.
    `require`: (measure, least value) pairs that must all hold.

    False when there is no condition. Raises `UnknownMeasure`, and `UsageError` for a value that is
    not from 0 to 1.
    """

    numbers: Numbers = "ignore"
    require: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        for name, least in self.require:
            if name not in MEASURES:
                raise UnknownMeasure(name=name, known=tuple(MEASURES))
            if not 0 <= least <= 1:
                raise UsageError(f"{name} must be required from 0 to 1, not {least}")

    def __bool__(self) -> bool:
        return self.numbers == "distinguish" or bool(self.require)

    def settings(self) -> dict[str, Any]:
        """Return the conditions by the names of their options."""
        conditions = {
            "numbers": self.numbers if self.numbers != "ignore" else "",
            "require": [f"{name}={least:g}" for name, least in self.require],
        }
        return {name: value for name, value in conditions.items() if value}

    def text_key(self, row: Row) -> str:
        """Return what rows have in common that are copies of each other to these conditions.

        Normalised texts may be equal though numbers differ, as of "-5" and "5".
        """
        if self.numbers == "ignore":
            return row.exact or row.id
        return sha256(row.text.encode(errors="replace")).hexdigest()

    def accepts(self, a: TextOperand, b: TextOperand) -> bool:
        """Return whether a pair meets all conditions."""
        for name, least in self.require:
            if measure_pair(name, a, b, least=least).similarity < least:
                return False
        return self.numbers == "ignore" or not differences(a.text, b.text, a.words, b.words)


NO_CRITERIA = Criteria()


def parse_requirements(texts: Sequence[str]) -> tuple[tuple[str, float], ...]:
    """Return `MEASURE=VALUE` strings as pairs.

    Raises `UsageError` for one that is not a name, an equals sign and a number.

    >>> parse_requirements(["resemblance=0.5"])
    (('resemblance', 0.5),)
    """
    pairs = []
    for text in texts:
        name, _, value = text.partition("=")
        try:
            least = float(value)
        except ValueError:
            least = math.nan
        if not name or math.isnan(least):
            raise UsageError(
                f"a requirement is MEASURE=VALUE, for example resemblance=0.5, not {text!r}"
            )
        pairs.append((name, least))
    return tuple(pairs)


def is_rearranged(overlap: float, in_order: float, threshold: float) -> bool:
    """Return whether two texts share nearly all passages, but too few words in order.

    `overlap` is S_L, `in_order` the value of `lcs`.

    >>> is_rearranged(1.0, 0.5, 0.8), is_rearranged(1.0, 0.9, 0.8), is_rearranged(0.5, 0.5, 0.8)
    (True, False, False)
    """
    return overlap >= REARRANGED and in_order < threshold
