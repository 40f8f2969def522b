"""Facts that single words of a text state: numbers, dates, amounts, negations and names.

- `number`: a word with a digit. Equal values in other spellings ("1,000" and "1000", "42" and
  "42.00") are the same.
- `date`: "2024-05-01", "1/5/24"; a number beside the name of a month, and that name.
- `amount`: a number beside a currency sign or code, or a per cent sign.
- `negation`: "not", "never", "without", "can't" and the like of seven European languages, and of
  Chinese.
- `name`: a word that begins with a capital letter, and is not also written with a small one. It
  stands somewhere within a sentence, before another word with a capital, or in capitals only: the
  first word of a sentence may be none. In German this is any noun; scripts without capital letters
  have none.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.model import DifferenceKind
from indexer.similarity.fact_words import CURRENCIES, MONTHS, NEGATIONS
from indexer.text.word_numbers import Words

MOST_PLACES = 200  # of a word, that are looked at
_SIGNS = "-\u2212"
_UNITS = "$€£¥₹%‰"
_BLANKS = " \u00a0"
_DATE = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}\Z")
_GROUPED = re.compile(r"(\d{1,3}(?:([.,'])\d{3})(?:\2\d{3})*)(?:[.,](\d+))?\Z")
_DECIMAL = re.compile(r"(\d+)[.,](\d+)\Z")
_SENTENCE_START = re.compile(
    r"""(?:
        \A
        | [.!?\u2026]["'\u2019\u201d)\]]*\s  # the end of a sentence
        | [^\w\s,][ \t]*[\r\n]  # a line that ends with a sign
        | [\r\n]\s*[\r\n]  # a blank line
        | [\r\n]\s*[-*\u2022]  # an item of a list
    )[^\w\n]*\Z""",
    re.VERBOSE,
)


class Fact(NamedTuple):
    """A fact of a text: the value that is compared, and as it is written.

    [`place`, `end`): its words.
    """

    kind: DifferenceKind
    value: str
    spelling: str
    place: int
    end: int

    def joined_with(self, after: Fact) -> Fact:
        """Return this fact and the one after it as one."""
        value, spelling = f"{self.value} {after.value}", f"{self.spelling} {after.spelling}"
        return Fact(self.kind, value, spelling, self.place, after.end)


def class_of(kind: DifferenceKind) -> str:
    """Return what a fact is compared with: a number may be a date or an amount in another text."""
    return kind if kind in ("negation", "name") else "number"


def never(_word: str) -> bool:
    """Return that a word is no name."""
    return False


@dataclass(frozen=True)
class FactText:
    """A text with its words. `is_name`: whether a folded word is a name where it has a capital."""

    text: str
    words: Words
    is_name: Callable[[str], bool] = never

    def spelling(self, place: int) -> str:
        """Return a word as it is written."""
        start, end = int(self.words.starts[place]), int(self.words.ends[place])
        return self.text[start:end]

    def folded(self, place: int) -> str:
        """Return the folded spelling; empty outside the text."""
        if not 0 <= place < len(self.words):
            return ""
        return self.words.vocabulary[int(self.words.numbers[place])]

    @cached_property
    def number_of(self) -> dict[str, int]:
        """The places of words in the vocabulary."""
        return {word: number for number, word in enumerate(self.words.vocabulary)}

    def between(self, place: int) -> str | None:
        """Return what stands between a word and the next one; None at either end of the text."""
        if not 0 <= place < len(self.words) - 1:
            return None
        return self.text[int(self.words.ends[place]) : int(self.words.starts[place + 1])]

    @cached_property
    def numeric(self) -> NDArray[np.bool_]:
        """Flags of the words of the vocabulary that have a digit."""
        flags = [any(map(str.isdigit, word)) for word in self.words.vocabulary]
        return np.array(flags, dtype=np.bool_)

    def unit(self, place: int) -> str:
        """Return the currency or per cent sign beside a number; empty without."""
        start, end = int(self.words.starts[place]), int(self.words.ends[place])
        before = self.text[max(0, start - 3) : start].rstrip(_SIGNS + _BLANKS)[-1:]
        after = self.text[end : end + 2].lstrip(_BLANKS)[:1]
        if before and before in _UNITS:
            return before
        return after if after and after in _UNITS else ""

    def sign(self, place: int) -> str:
        """Return a minus that stands directly before a number, and after no word."""
        start = int(self.words.starts[place])
        if start == 0 or self.text[start - 1] not in _SIGNS:
            return ""
        before = self.text[max(0, start - 2) : start - 1]
        return "-" if not before or before.isspace() or before in "(" + _UNITS else ""

    def spell_number(self, place: int) -> str:
        """Return a number with its sign and unit."""
        unit = self.unit(place)
        number = self.sign(place) + self.spelling(place)
        return number + unit if unit in ("%", "‰") else unit + number

    def fact(self, place: int) -> Fact | None:
        """Return the fact that a word states, or None."""
        word = self.folded(place)
        if self.numeric[self.words.numbers[place]]:
            return self._number(place, word)
        if word in MONTHS and (self._has_digit(place - 1) or self._has_digit(place + 1)):
            return Fact("date", word, self.spelling(place), place, place + 1)
        if self.is_negation(place):
            return Fact("negation", word, self.spelling(place), place, place + 1)
        if self._has_capital(place) and self.is_name(word):
            return Fact("name", word, self.spelling(place), place, place + 1)
        return None

    def facts(self, place: int, end: int) -> list[Fact]:
        """Return the facts that words [place, end) state, one by one."""
        return [fact for fact in map(self.fact, range(place, end)) if fact]

    def is_negation(self, place: int) -> bool:
        """Return whether a word says no."""
        word = self.folded(place)
        return word in NEGATIONS or word.endswith("n't")

    def _number(self, place: int, word: str) -> Fact:
        spelling = self.spelling(place)
        beside = {self.folded(place - 1), self.folded(place + 1)}
        if _DATE.match(word) or not beside.isdisjoint(MONTHS):
            return Fact("date", _value(word), spelling, place, place + 1)
        sign, unit = self.sign(place), self.unit(place)
        is_amount = bool(unit) or not beside.isdisjoint(CURRENCIES)
        kind: DifferenceKind = "amount" if is_amount else "number"
        return Fact(kind, sign + _value(word) + unit, sign + spelling, place, place + 1)

    def _has_digit(self, place: int) -> bool:
        return any(map(str.isdigit, self.folded(place)))

    def places(self, word: str) -> list[int]:
        """Return where a folded word stands, at most `MOST_PLACES` places."""
        if word not in self.number_of:
            return []
        places = np.flatnonzero(self.words.numbers == self.number_of[word])[:MOST_PLACES]
        result: list[int] = places.tolist()
        return result

    def has_name(self, word: str) -> bool:
        """Return whether a word stands somewhere as only a name does."""
        return any(map(self._stands_as_name, self.places(word)))

    def _stands_as_name(self, place: int) -> bool:
        spelling = self.spelling(place)
        if not spelling[0].isupper():
            return False
        start = int(self.words.starts[place])
        starts_sentence = _SENTENCE_START.search(self.text[max(0, start - 12) : start])
        is_acronym = len(spelling) > 1 and spelling.isupper()
        return is_acronym or not starts_sentence or self._has_capital(place + 1)

    def _has_capital(self, place: int) -> bool:
        return place < len(self.words) and self.spelling(place)[0].isupper()


def fact_texts(a: tuple[str, Words], b: tuple[str, Words]) -> tuple[FactText, FactText]:
    """Return two texts to be compared, which agree on the words that are names."""
    small = small_words(*a) | small_words(*b)

    @cache
    def is_name(word: str) -> bool:
        return word not in small and (left.has_name(word) or right.has_name(word))

    left, right = FactText(*a, is_name), FactText(*b, is_name)
    return left, right


def small_words(text: str, words: Words) -> frozenset[str]:
    """Return the folded words that a text begins with a small letter somewhere."""
    numbers = {
        number
        for number, start in zip(words.numbers.tolist(), words.starts.tolist(), strict=True)
        if text[start].islower()
    }
    return frozenset(words.vocabulary[number] for number in numbers)


def _value(word: str) -> str:
    """Return a number without grouping signs, with a point, and without a fraction of zeros.

    >>> [_value(word) for word in ("1,000", "1.000,00", "3,50", "2024-05-01")]
    ['1000', '1000', '3.50', '2024-05-01']
    """
    grouped = _GROUPED.match(word)
    if grouped:
        whole, _, fraction = grouped.groups()
        whole = re.sub(r"\D", "", whole)
    else:
        decimal = _DECIMAL.match(word)
        if not decimal:
            return word
        whole, fraction = decimal.groups()
    return f"{whole}.{fraction}" if fraction and fraction.strip("0") else whole


def stated_facts(text: str, words: Words) -> tuple[str, ...]:
    """Return the numbers with sign and unit, and the negations, of a text in order.

    Texts that normalise to the same state the same facts where these are equal.

    >>> from indexer.text.words import words
    >>> stated_facts("NOT -5 of $1,000", words("NOT -5 of $1,000"))
    ('not', '-5', '$1000')
    """
    stated = FactText(text, words)
    facts = []
    for place, number in enumerate(words.numbers.tolist()):
        if stated.numeric[number]:
            value = _value(stated.folded(place))
            facts.append(stated.sign(place) + stated.unit(place) + value)
        elif stated.is_negation(place):
            facts.append(stated.folded(place))
    return tuple(facts)
