"""A fact as it is compared, and the values that spellings of names and negations have in common."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from indexer.model import DifferenceKind
from indexer.similarity.fact_words import NEGATIONS


class Fact(NamedTuple):
    """A fact of a text: the value that is compared, and as it is written.

    [`place`, `end`): its words, none of a sign before `place`. `unit`: of a number; `whole`: as it
    is written with its unit, empty where there can be none.
    """

    kind: DifferenceKind
    value: str
    spelling: str
    place: int
    end: int
    unit: str = ""
    whole: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """The class that it is compared in, and the value: a number may be a date elsewhere."""
        return "number" if self.kind in ("date", "amount") else self.kind, self.value

    def joined_with(self, after: Fact) -> Fact:
        """Return this fact and the one after it as one."""
        value, spelling = f"{self.value} {after.value}", f"{self.spelling} {after.spelling}"
        return Fact(self.kind, value, spelling, self.place, after.end)


def is_negation(word: str) -> bool:
    """Return whether a folded word says no, or yes."""
    return word in NEGATIONS or word.endswith("n't")


def name_value(spelling: str) -> str:
    """Return the words of a name, whatever joins them.

    >>> name_value("Groß-Gerau"), name_value("O’Brien")
    ('gross gerau', 'o brien')
    """
    return re.sub(r"[\W_]+", " ", unicodedata.normalize("NFKC", spelling).casefold())


def negation_value(word: str) -> str:
    """Return "not" for what is said by it, else the word.

    >>> negation_value("don't"), negation_value("cannot"), negation_value("never")
    ('not', 'not', 'never')
    """
    return "not" if word.endswith("n't") or word == "cannot" else word
