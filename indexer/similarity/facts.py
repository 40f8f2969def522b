"""Facts that single words of a text state, and signs between them.

- `number`: a word with a digit, or one that is a number ("five", "second"), with its sign and its
  unit, of those in `indexer.similarity.fact_words`. Equal values in other spellings ("1,000" and
  "1000", "42" and "42.00", "5 million" and "5,000,000", "5 mg" and "5mg") are the same.
- `date`: "2024-05-01", "1/5/24"; a number beside the name of a month, and that name.
- `amount`: a number beside a currency sign or name, or a per cent sign; the name of a currency.
- `negation`: "not", "never", "without" and the like of some twenty languages, "yes" and "true".
  "can't", "cannot" and "can not" state the same.
- `name`: a word that begins with a capital letter, and is not also written with a small one. It
  stands somewhere within a sentence, before another word with a capital, or in capitals only: the
  first word of a sentence may be none. In German this is any noun; scripts without capital letters
  have none. "Smith-Jones" and "Smith Jones", "GROSS" and "Groß" are the same.
- `address`: an e-mail address, or a URL.
- `sign`: a comparison and the like (`indexer.similarity.fact_signs`), before a word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.model import DifferenceKind
from indexer.similarity.addresses import address_value, addresses
from indexer.similarity.fact_signs import signs
from indexer.similarity.fact_words import CURRENCIES, MONTHS, NEGATIONS, NUMBERS
from indexer.similarity.quantities import BESIDE, REACH, Quantity, number_value, quantity
from indexer.text.word_numbers import Words

MOST_PLACES = 200  # of a word, that are looked at
_DATE = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}\Z")
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


def never(_word: str) -> bool:
    """Return False: without a second text no word counts as a name."""
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
        """Flags of the words of the vocabulary that are numbers, or have a digit."""
        flags = [_is_number(word) for word in self.words.vocabulary]
        return np.array(flags, dtype=np.bool_)

    @cached_property
    def signs(self) -> dict[int, str]:
        """The signs before words, by the place of the word; after the last word, their number."""
        found: dict[int, str] = {}
        for end, sign in signs(self.text):
            place = int(np.searchsorted(self.words.starts, end))
            found[place] = f"{found[place]} {sign}" if place in found else sign
        return found

    @cached_property
    def addresses(self) -> dict[int, str]:
        """The e-mail address or URL that words are of, by their places."""
        found: dict[int, str] = {}
        for start, address in addresses(self.text):
            span = start, start + len(address)
            first, end = np.searchsorted(self.words.starts, span).tolist()
            found |= dict.fromkeys(range(first, end), address)
        return found

    def quantity(self, place: int) -> Quantity:
        """Return the number that a word is, with its sign and unit."""
        return quantity(self.text, self.words, place)

    def context(self, place: int) -> str:
        """Return a number with the words beside it, on which its sign and unit depend."""
        first, last = max(0, place - 1), min(len(self.words) - 1, place + 2)
        start = max(0, int(self.words.starts[first]) - REACH)
        return self.text[start : int(self.words.ends[last]) + REACH]

    def fact(self, place: int) -> Fact | None:
        """Return the fact that a word states, or None; the sign before it is another fact."""
        word = self.folded(place)
        if address := self.addresses.get(place):
            return Fact("address", address_value(address), address, place, place + 1)
        if self.numeric[self.words.numbers[place]]:
            return None if self._is_of_number(place) else self._number(place, word)
        if word in MONTHS and (self._has_digit(place - 1) or self._has_digit(place + 1)):
            return Fact("date", MONTHS[word], self.spelling(place), place, place + 1)
        if self.is_negation(place):
            return Fact("negation", _negation(word), self.spelling(place), place, place + 1)
        if word in CURRENCIES:
            return self._currency(place, word)
        if self._has_capital(place) and self.is_name(word) and not self._is_of_number(place):
            spelling = self.spelling(place)
            return Fact("name", _name(spelling), spelling, place, place + 1)
        return None

    def sign_before(self, place: int) -> Fact | None:
        """Return the sign before a word as a fact, which is quoted with the word; or None."""
        sign = self.signs.get(place)
        if sign is None:
            return None
        word = f" {self.spelling(place)}" if place < len(self.words) else ""
        return Fact("sign", sign, sign + word, place, place)

    def facts(self, place: int, end: int) -> list[Fact]:
        """Return the facts that words [place, end) state, one by one."""
        return [fact for fact in map(self.fact, range(place, end)) if fact]

    def is_negation(self, place: int) -> bool:
        """Return whether a word says no, or yes."""
        word = self.folded(place)
        return word in NEGATIONS or word.endswith("n't")

    def _number(self, place: int, word: str) -> Fact:
        spelling = self.spelling(place)
        beside = {self.folded(place - 1), self.folded(place + 1)}
        if _DATE.match(word) or not beside.isdisjoint(MONTHS.keys()):
            return Fact("date", number_value(word), spelling, place, place + 1)
        found = self.quantity(place)
        kind: DifferenceKind = "amount" if found.is_amount else "number"
        whole = self.text[found.start : found.end]
        return Fact(kind, found.key, found.number, place, place + 1, found.unit, whole)

    def _currency(self, place: int, word: str) -> Fact | None:
        """Return the name of a currency as a fact, where it belongs to no number."""
        if self._is_of_number(place) or self._is_number(place + 1):
            return None
        return Fact("amount", CURRENCIES[word], self.spelling(place), place, place + 1)

    def _is_of_number(self, place: int) -> bool:
        """Return whether a word is the unit, the scale or the currency of a number before it."""
        end = int(self.words.ends[place])
        for before in (place - 1, place - 2) if self.folded(place) in BESIDE else ():
            if self._is_number(before) and self.quantity(before).end >= end:
                return True
        return False

    def _is_number(self, place: int) -> bool:
        return 0 <= place < len(self.words) and bool(self.numeric[self.words.numbers[place]])

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


def _is_number(word: str) -> bool:
    return word in NUMBERS or any(map(str.isdigit, word))


def _name(spelling: str) -> str:
    """Return the words of a name, whatever joins them.

    >>> _name("Groß-Gerau"), _name("O’Brien")
    ('gross gerau', 'o brien')
    """
    return re.sub(r"[\W_]+", " ", unicodedata.normalize("NFKC", spelling).casefold())


def _negation(word: str) -> str:
    """Return "not" for what is said by it, else the word.

    >>> _negation("don't"), _negation("cannot"), _negation("never")
    ('not', 'not', 'never')
    """
    return "not" if word.endswith("n't") or word == "cannot" else word


def stated_facts(text: str, words: Words) -> tuple[str, ...]:
    """Return what a text states, but for names, in order.

    Texts that normalise to the same state the same facts where these are equal.

    >>> from indexer.text.words import words
    >>> stated_facts("NOT <-5 or $1,000", words("NOT <-5 or $1,000"))
    ('not', '<', '-5', '1000 $')
    """
    stated = FactText(text, words)
    facts: list[str] = []
    for place in range(len(words) + 1):
        if sign := stated.signs.get(place):
            facts.append(sign)
        facts += [fact.value for fact in stated.facts(place, min(place + 1, len(words)))]
    return tuple(facts)
