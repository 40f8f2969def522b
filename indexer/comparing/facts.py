"""Facts that single words of a text state, and symbols between them.

- `number`: a word with a digit, or one that is a number ("five", "second"), with its sign and its
  unit (`indexer.comparing.quantities`). Equal values that are written differently ("1,000" and
  "1000", "42" and "42.00", "5 million" and "5,000,000", "5 mg" and "5mg") are the same.
- `date`: "2024-05-01", "1/5/24"; a number next to the name of a month, and that name.
- `amount`: a number next to a currency sign or name, or a per cent sign; the name of a currency.
- `negation`: "not", "never", "without" and the like of some thirty languages, "yes" and "true".
  "can't", "cannot" and "can not" state the same.
- `name`: a word that begins with a capital letter, and is not also written with a small one. It
  stands somewhere within a sentence, before another word with a capital, or in capitals only: the
  first word of a sentence may be none, and "I" or a polite "Sie" is none. In German this is any
  noun. In scripts without capitals, the value of a field ("客户：王伟") and what a title or the
  form of a company is next to. "Smith-Jones" and "Smith Jones", "GROSS" and "Groß" are the same.
- `address`: an e-mail address.
- `link`: a URL, or the target of a link.
- `sign`: a comparison and the like (`find_symbols`), before a word.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache, reduce
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.quantities import (
    AFTER_NOUNS,
    AFTER_NUMERAL,
    ANSWERS,
    BEFORE_DAY,
    BEFORE_NUMERAL,
    BESIDE,
    BLANKS,
    CURRENCIES,
    DATES,
    DENIED_NOUNS,
    IN_CHARACTERS,
    JAPANESE_DUTY,
    JOINED_TO_NUMBERS,
    MONTHS,
    NEGATIONS,
    NUMBERS,
    NUMERALS,
    OF_ENDINGS,
    OF_LANGUAGES,
    OTHER_WORDS,
    REACH,
    SINO_KOREAN,
    WITHIN_CHARACTERS,
    Quantity,
    date_span,
    is_month,
    is_of_date,
    negation_value,
    number_value,
    quantity,
    stands_alone,
)
from indexer.comparing.unworded import (
    CAPITAL_PRONOUNS,
    TITLES,
    address_value,
    addresses,
    are_around,
    is_link,
    is_notice,
    name_value,
    names_without_capitals,
    running_headers,
)
from indexer.comparing.words import ATTACHED, Words, find_symbols
from indexer.fingerprinting.hashing import string_hashes
from indexer.fingerprinting.normalise import UNSPACED, codepoint_classes
from indexer.model import DifferenceKind

# A fact as it is compared, and the normal forms of names and negations.


class Fact(NamedTuple):
    """A fact of a text: the value that is compared, and as it is written.

    [`start`, `end`) are its words, none of a sign before `start`. `unit` is that of a number;
    `whole` is how it is written with its unit, empty where there can be none.
    """

    kind: DifferenceKind
    value: str
    spelling: str
    start: int
    end: int
    unit: str = ""
    whole: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """The class that it is compared in, and the value: a number may be a date elsewhere."""
        return "number" if self.kind in ("date", "amount") else self.kind, self.value

    def joined_with(self, after: Fact) -> Fact:
        """Return this fact and the one after it as one."""
        blank = "" if codepoint_classes()[ord(after.spelling[0])] & UNSPACED else " "
        value, spelling = f"{self.value} {after.value}", f"{self.spelling}{blank}{after.spelling}"
        return Fact(self.kind, value, spelling, self.start, after.end)


@lru_cache(maxsize=1 << 15)
def is_negation(word: str, language: str = "") -> bool:
    """Return whether a folded word says no, or yes; `language` is that of the text, as `Words` has
    it.

    >>> is_negation("not"), is_negation("en"), is_negation("en", "fi"), is_negation("olmaz", "tr")
    (True, False, True, True)
    """
    is_known = word in NEGATIONS and (word, language) not in OTHER_WORDS
    if is_known or word.endswith("n't") or word in OF_LANGUAGES.get(language, ()):
        return True
    ending = OF_ENDINGS.get(language)
    return ending is not None and ending.fullmatch(word) is not None


def negations(words: Sequence[str], language: str) -> list[str]:
    """Return the folded words that say no, also of several characters, as in Japanese and Thai.

    >>> negations(["し", "な", "い"], "ja"), negations(["may", "not"], "en")
    (['ない'], ['not'])
    >>> negations(["em", "caso", "algum"], "pt"), negations(["em", "algum", "caso"], "pt")
    (['algum'], [])
    """
    found = [word for word in words if is_negation(word, language) and word not in ANSWERS]
    if not AFTER_NOUNS.isdisjoint(words):
        pairs = pairwise(words)
        found += [pair[1] for pair in pairs if pair[1] in AFTER_NOUNS and pair[0] in DENIED_NOUNS]
    if language in IN_CHARACTERS:
        characters = (word if _CHARACTER.fullmatch(word) else " " for word in words)
        found += WITHIN_CHARACTERS.findall(JAPANESE_DUTY.sub(" ", "".join(characters)))
    return found


_CHARACTER = re.compile("[ぁ-ゖ]|[\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff]+")


_SPACED = re.compile(rf"\d[{BLANKS}]\d{{3}}(?:[.,]\d\d)?[{BLANKS}]?[^\s\d.,;:]")
SpacedKind: TypeAlias = Literal["date", "amount"]
FactsByKey: TypeAlias = dict[tuple[str, str], Fact]
_DOTTED = re.compile(r"\d\.[ \u00a0]\d")
_AROUND_AMOUNT = 12  # characters of an amount before and after a word of it


@cache
def _spaced_amount() -> re.Pattern[str]:
    names = "|".join(sorted(map(re.escape, CURRENCIES), key=len, reverse=True))
    number = rf"\d{{1,3}}(?:[{BLANKS}]\d{{3}})+(?:[.,]\d\d)?"
    return re.compile(
        rf"(?<![\d.,]){number}[{BLANKS}]?(?:[€$£¥₹₽]|(?:{names})(?!\w))", re.IGNORECASE
    )


def spaced_kind(text: str, start: int, end: int) -> tuple[SpacedKind, int, int] | None:
    """Return the kind and the characters of a date or an amount that is written with blanks, if the
    number [start, end) is of one; None for others.

    >>> text = "48 500 € until 3. 2. 2024, 48 500 times"
    >>> spaced_kind(text, 3, 6), spaced_kind(text, 18, 19), spaced_kind(text, 27, 29)
    (('amount', 0, 8), ('date', 15, 25), None)
    """
    first, last = max(0, start - _AROUND_AMOUNT), end + _AROUND_AMOUNT
    may_be_amount = _SPACED.search(text, first, last)
    for found in _spaced_amount().finditer(text, first, last) if may_be_amount else ():
        if found.start() <= start and end <= found.end():
            return "amount", *found.span()
    span = date_span(text, start, end) if _DOTTED.search(text, first, last) else (start, end)
    return ("date", *span) if span != (start, end) else None


ADDRESSES: tuple[DifferenceKind, ...] = ("address", "link")  # a fact of each of their words
MAX_POSITIONS = 200  # of a word, that are looked at
RUN = 12  # words of a passage that may have been moved out of the middle of a sentence
_RUN_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # an odd number: hashes of runs depend on the order
Standing: TypeAlias = Literal["small", "name", "unknown"]
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


class _Line(NamedTuple):
    """A line: if it is of a copyright notice, the addresses of its words by their positions, and
    the spans of names without capitals in the text.
    """

    is_notice: bool
    addresses: dict[int, str]
    names: list[tuple[int, int]]


@dataclass(frozen=True)
class FactSource:
    """A text with its words, and the facts that it states; each is computed on first use.

    Words that begin with a capital letter are given as names: a comparison of two texts decides
    which are (`FactText`).
    """

    text: str
    words: Words
    _facts: dict[int, Fact | None] = field(default_factory=dict, compare=False, repr=False)
    _standings: dict[str, Standing] = field(default_factory=dict, compare=False, repr=False)
    _lines: dict[int, _Line] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def starts(self) -> list[int]:
        """The positions in the text where words begin."""
        starts: list[int] = self.words.starts.tolist()
        return starts

    @cached_property
    def ends(self) -> list[int]:
        """The positions in the text where words end."""
        ends: list[int] = self.words.ends.tolist()
        return ends

    def spelling(self, position: int, end: int = 0) -> str:
        """Return a word as it is written, or the words before `end`."""
        return self.text[self.starts[position] : self.ends[end - 1 if end else position]]

    def folded(self, position: int) -> str:
        """Return the folded word; empty outside the text."""
        words = self.words.folded
        return words[position] if 0 <= position < len(words) else ""

    def folded_words(self, start: int, end: int) -> list[str]:
        """Return the folded words [start, end)."""
        return self.words.folded[start:end]

    @cached_property
    def run_hashes(self) -> NDArray[np.uint64]:
        """The hashes of each `RUN` consecutive folded words, by their first word."""
        runs = max(0, len(self.starts) - RUN + 1)
        hashes = string_hashes(self.words.vocabulary)[self.words.numbers]
        sums = np.zeros(runs, dtype=np.uint64)
        for offset in range(RUN):
            sums = sums * _RUN_FACTOR + hashes[offset : offset + runs]
        return sums

    @cached_property
    def _by_word(self) -> tuple[list[int], list[int]]:
        """The positions in order of the vocabulary, and where those of each of its words begin."""
        counts = np.bincount(self.words.numbers, minlength=len(self.words.vocabulary))
        order: list[int] = np.argsort(self.words.numbers, kind="stable").tolist()
        return order, [0, *np.cumsum(counts).tolist()]

    def between(self, position: int) -> str | None:
        """Return what stands between a word and the next one; None at either end of the text."""
        if not 0 <= position < len(self.starts) - 1:
            return None
        return self.text[self.ends[position] : self.starts[position + 1]]

    @cached_property
    def numbers(self) -> list[int]:
        """The positions of the words that are numbers, or have a digit, in order."""
        flags = [_is_number(word) for word in self.words.vocabulary]
        if not any(flags):
            return []
        positions: list[int] = np.flatnonzero(np.array(flags)[self.words.numbers]).tolist()
        return positions

    @cached_property
    def number_values(self) -> tuple[str, ...] | None:
        """The values of all numbers, sorted; None where one is of an address."""
        facts = [fact for position in self.numbers if (fact := self.fact(position))]
        if any(fact.kind in ADDRESSES for fact in facts):
            return None
        return tuple(sorted(fact.value for fact in facts))

    @cached_property
    def symbols(self) -> dict[int, str]:
        """The symbols before words, by position; after the last word, the number of words."""
        by_position: dict[int, str] = {}
        for end, symbol in find_symbols(self.text):
            position = bisect_left(self.starts, end)
            by_position[position] = (
                f"{by_position[position]} {symbol}" if position in by_position else symbol
            )
        return by_position

    @cached_property
    def addresses(self) -> dict[int, str]:
        """The e-mail address or URL that words are of, by their positions."""
        return self._addresses_in(0, len(self.text))

    def _addresses_in(self, start: int, end: int) -> dict[int, str]:
        by_position: dict[int, str] = {}
        for offset, address in addresses(self.text[start:end]):
            first = bisect_left(self.starts, start + offset)
            last = bisect_left(self.starts, start + offset + len(address))
            by_position |= dict.fromkeys(range(first, last), address)
        return by_position

    def is_in_frame(self, position: int) -> bool:
        """Return whether a word stands in a line of a copyright notice, or in a running header."""
        return self._line_of(position).is_notice or self.is_in_header(position)

    def is_in_header(self, position: int, *, later: bool = False) -> bool:
        """Return whether a word stands in a running header, or in one that was on a page before."""
        headers = self._headers[later]
        return bool(headers) and are_around(headers, self.starts[position])

    def _line_of(self, position: int) -> _Line:
        """Return the line that a word begins in; no notice and no address goes on in the next."""
        ends = self._line_ends
        index = bisect_left(ends, self.starts[position])
        if index not in self._lines:
            start, end = ends[index - 1] + 1 if index else 0, ends[index]
            line = self.text[start:end]
            spans = () if line.isascii() else names_without_capitals(line)
            names = [(start + first, start + last) for first, last in spans]
            self._lines[index] = _Line(is_notice(line), self._addresses_in(start, end), names)
        return self._lines[index]

    @cached_property
    def _line_ends(self) -> list[int]:
        return [*(match.start() for match in re.finditer("\n", self.text)), len(self.text)]

    @cached_property
    def _headers(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """The spans of running headers, and of those that are not the first of their kind."""
        headers = running_headers(self.text)
        later = [(start, end) for start, end, is_first in headers if not is_first]
        return [(start, end) for start, end, _ in headers], later

    def quantity(self, position: int) -> Quantity:
        """Return the number that a word is, with its sign and unit."""
        return quantity(self.text, self.words, position)

    def context(self, position: int) -> str:
        """Return a number with the words next to it, on which its sign and unit depend."""
        first, last = max(0, position - 1), min(len(self.starts) - 1, position + 2)
        start = max(0, self.starts[first] - REACH)
        return self.text[start : self.ends[last] + REACH]

    def has_context_in(self, position: int, first: int, last: int) -> bool:
        """Return whether the context of a number lies within the words from the first to the last
        one.
        """
        return (
            first < position < last - 1
            and self.starts[position - 1] - self.starts[first] >= REACH
            and self.ends[last] - self.ends[position + 2] >= REACH
        )

    def fact(self, position: int) -> Fact | None:
        """Return the fact that a word states, or None; the sign before it is another fact."""
        if position not in self._facts:
            self._facts[position] = self._read(position)
        return self._facts[position]

    def _read(self, position: int) -> Fact | None:
        word = self.folded(position)
        if address := self._line_of(position).addresses.get(position):
            kind: DifferenceKind = "link" if is_link(address) else "address"
            return Fact(kind, address_value(address), address, position, position + 1)
        if word.isdecimal() and self._is_alone(position):
            number = self.spelling(position)
            return Fact("number", number, number, position, position + 1, "", number)
        if not is_fact(word, self.words.language):
            return self._name(position)
        if _is_number(word):
            if word in NUMERALS and not self._is_counted(position):
                return None
            return None if self.is_of_number(position) else self._number(position, word)
        near = [self.folded(position + offset) for offset in (-2, -1, 1)] if word in MONTHS else []
        if near and is_month(*near) and not self._is_verb(position):
            return Fact("date", MONTHS[word], self.spelling(position), position, position + 1)
        if word in DATES:
            return Fact("date", DATES[word], self.spelling(position), position, position + 1)
        if word in BEFORE_DAY and self.folded(position + 1) == "曜":
            return Fact("date", word, self.spelling(position), position, position + 1)
        if is_negation(word, self.words.language) or self._begins_negation(position, word):
            return Fact(
                "negation", negation_value(word), self.spelling(position), position, position + 1
            )
        if word in CURRENCIES:
            return self._currency(position, word)
        return self._name(position)

    def _name(self, position: int) -> Fact | None:
        if not self.has_capital(position) or self.is_of_number(position):
            return None
        spelling = self.spelling(position)
        return Fact("name", name_value(spelling), spelling, position, position + 1)

    def _begins_negation(self, position: int, word: str) -> bool:
        if word not in _BEFORE_NEGATION or self.folded(position - 1) == "少":
            return False
        ending = "".join(self.folded_words(position, position + 3))
        return WITHIN_CHARACTERS.match(ending) is not None

    def symbol_before(self, position: int) -> Fact | None:
        """Return the sign before a word as a fact, which is quoted with the word; or None."""
        symbol = self.symbols.get(position)
        if symbol is None:
            return None
        if symbol in ATTACHED and position:
            return Fact("sign", symbol, self.spelling(position - 1) + symbol, position, position)
        word = f" {self.spelling(position)}" if position < len(self.starts) else ""
        return Fact("sign", symbol, symbol + word, position, position)

    def _number(self, position: int, word: str) -> Fact:
        spelling = self.spelling(position)
        near = [self.folded(position + offset) for offset in (-2, -1, 1, 2)]
        if near[2] == "may" and self._is_verb(position + 1):
            near[2] = ""
        if is_of_date(word, *near):
            return Fact("date", number_value(word), spelling, position, position + 1)
        quantity = self.quantity(position)
        kind: DifferenceKind = "amount" if quantity.is_amount else "number"
        whole, spelling = quantity.written(self.text), quantity.number
        if near[1].isdecimal() or near[2].isdecimal():
            found = spaced_kind(self.text, self.starts[position], self.ends[position])
            if found:
                kind, spelling = found[0], self.text[slice(*found[1:])]
                whole = spelling
        return Fact(kind, quantity.key, spelling, position, position + 1, quantity.unit, whole)

    def _currency(self, position: int, word: str) -> Fact | None:
        """Return the name of a currency as a fact, where it belongs to no number."""
        if self.is_of_number(position) or _is_number(self.folded(position + 1)):
            return None
        return Fact("amount", CURRENCIES[word], self.spelling(position), position, position + 1)

    def _is_alone(self, position: int) -> bool:
        """Return whether a number is in digits, between words that are no part of it or a date."""
        next_to = self.folded(position - 1), self.folded(position + 1)
        start, end = self.starts[position], self.ends[position]
        is_joined = any(map(str.isdecimal, next_to)) or not JOINED_TO_NUMBERS.isdisjoint(next_to)
        return not is_joined and stands_alone(self.text, start, end)

    def is_of_number(self, position: int) -> bool:
        """Return whether a word is the unit, the scale or the currency of a number before it."""
        end = self.ends[position]
        for before in (position - 1, position - 2) if self.folded(position) in BESIDE else ():
            if _is_number(self.folded(before)) and self.quantity(before).end >= end:
                return True
        return False

    def _is_counted(self, position: int) -> bool:
        """Return whether a numeral is one of several, or counts or orders something."""
        before, after = self.folded(position - 1), self.folded(position + 1)
        is_one_of_several = before in NUMERALS or after in NUMERALS
        return is_one_of_several or before in BEFORE_NUMERAL or after in AFTER_NUMERAL

    def _is_verb(self, position: int) -> bool:
        """Return whether the word is "may" between a number and a word: "Section 5 may be read"."""
        before, after = self.folded(position - 1), self.folded(position + 1)
        is_may = self.spelling(position) == "may" and _is_number(before) and not _is_number(after)
        return is_may and (self.between(position) or "").isspace()

    def positions(self, word: str) -> list[int]:
        """Return the positions of a folded word, `MAX_POSITIONS` of them."""
        return self._all_positions(word)[:MAX_POSITIONS]

    def _all_positions(self, word: str) -> list[int]:
        number, (order, begins) = self.words.numbering.get(word), self._by_word
        return [] if number is None else order[begins[number] : begins[number + 1]]

    def standing(self, word: str) -> Standing:
        """Return whether a folded word begins with a small letter somewhere, or is as a name is."""
        if word not in self._standings:
            self._standings[word] = self._find_standing(word)
        return self._standings[word]

    def _find_standing(self, word: str) -> Standing:
        starts = (self.starts[position] for position in self._all_positions(word))
        if any(self.text[start].islower() for start in starts):
            return "small"
        return "name" if any(map(self._stands_as_name, self.positions(word))) else "unknown"

    def _stands_as_name(self, position: int) -> bool:
        spelling = self.spelling(position)
        if not spelling[0].isupper():
            return False
        start = self.starts[position]
        starts_sentence = _SENTENCE_START.search(self.text[max(0, start - 12) : start])
        is_acronym = len(spelling) > 1 and spelling.isupper()
        return is_acronym or not starts_sentence or self.has_capital(position + 1)

    def has_capital(self, position: int) -> bool:
        """Return whether a word begins with a capital as names do, or is of a name in a script
        without these; no word is after the last one.
        """
        if position >= len(self.starts):
            return False
        start = self.starts[position]
        if (first := self.text[start]) < "\u0590" or first.isupper() or first.islower():
            return first.isupper() and (
                self.spelling(position) not in CAPITAL_PRONOUNS.get(self.words.language or "en", ())
                or self.folded(position - 1) in TITLES
            )
        return any(begin <= start < end for begin, end in self._line_of(position).names)


@dataclass(frozen=True, slots=True)
class FactText:
    """A text that is compared with another one.

    A word with a capital letter is a name where it stands as a name does in either text, and
    begins with a small letter in none. A running header states facts on its first page only.
    """

    source: FactSource
    other: FactSource
    _wholes: dict[int, Fact | None] = field(default_factory=dict, compare=False, repr=False)
    _known: dict[int, Surroundings | None] = field(default_factory=dict, compare=False, repr=False)
    _ends: dict[tuple[int, int], int] = field(default_factory=dict, compare=False, repr=False)
    _at: dict[Surroundings, FactsByKey] = field(default_factory=dict, compare=False, repr=False)

    def fact(self, position: int) -> Fact | None:
        """Return the fact that a word states, or None; the sign before it is another fact."""
        fact = self.source.fact(position)
        if fact is not None and self.source.is_in_header(position, later=True):
            return None
        if fact is None or fact.kind != "name" or not fact.spelling[0].isupper():
            return fact
        return fact if self.is_name(self.source.folded(position)) else None

    def facts(self, position: int, end: int) -> list[Fact]:
        """Return the facts that words [position, end) state, one by one."""
        return [fact for fact in map(self.fact, range(position, end)) if fact]

    def whole(self, position: int) -> Fact | None:
        """Return the fact that a word states, with its neighbours in a name or a date as one."""
        if position not in self._wholes:
            whole = self._read_whole(position)
            of_words = range(whole.start, whole.end) if whole else (position,)
            self._wholes.update(dict.fromkeys(of_words, whole))
        return self._wholes[position]

    def _read_whole(self, position: int) -> Fact | None:
        fact = self.fact(position)
        between = _WITHIN.get(fact.kind) if fact else None
        if not fact or not between:
            return fact
        start, end = position, position + 1
        while self._continues(start - 1, start - 1, fact.kind, between):
            start -= 1
        while self._continues(end, end - 1, fact.kind, between):
            end += 1
        return reduce(Fact.joined_with, self.facts(start, end))

    def _continues(self, word: int, gap: int, kind: str, between: re.Pattern[str]) -> bool:
        """Return whether a word states a fact of a kind, and no more than blanks are in the gap."""
        written = self.source.between(gap)
        fact = self.fact(word) if written is not None and between.fullmatch(written) else None
        return fact is not None and fact.kind == kind

    def surroundings(self, fact: Fact) -> Surroundings | None:
        """Return the words that a fact is known by: those before it in its sentence, or else after
        it, or the short line above its own; None without such words, or in a list.
        """
        if fact.start not in self._known:
            self._known[fact.start] = self._read_surroundings(fact)
        return self._known[fact.start]

    def _read_surroundings(self, fact: Fact) -> Surroundings | None:
        before, after = self._next_to(fact, -1), self._next_to(fact, 1)
        if before is None or after is None:
            return None
        if not before and not after:
            before = self._next_to(fact, -1, above=True) or ()
        return Surroundings(fact.key[0], before, () if before else after)

    def _next_to(self, fact: Fact, step: int, above: bool = False) -> tuple[str, ...] | None:
        """Return the words before (-1) or after (1) a fact in its sentence, the next one first;
        empty for none but facts of its class, None in a list of these.

        `above` reads the line above instead, if it has no more words than these.
        """
        source, kind = self.source, fact.key[0]
        words: list[str] = []
        position = fact.start if step < 0 else fact.end - 1
        while len(words) < MAX_NEXT + above:  # no longer line above has any
            between = source.between(min(position, position + step))
            if between is None or (_BOUNDARY.search(between) and (words or not above)):
                break
            position += step
            other = self.fact(position)
            if source.is_of_number(position):
                continue
            if other is None or other.key[0] != kind:
                words.append(source.folded(position))
            elif self._is_listed(words, between):
                return None
            else:
                words.append(_OF_FACT)
                position = position if kind == "number" else self._run_end(position, step, kind)
        is_known = len(words) <= MAX_NEXT and any(word != _OF_FACT for word in words)
        return tuple(words) if is_known else ()

    def _run_end(self, position: int, step: int, kind: str) -> int:
        """Return the last of the facts of a class that follow one another in a sentence."""
        passed = []
        while (position, step) not in self._ends:
            passed.append((position, step))
            between = self.source.between(min(position, position + step))
            if between is None or _BOUNDARY.search(between):
                break
            other = self.fact(position + step)
            is_same = other is not None and other.key[0] == kind
            if not is_same and not self.source.is_of_number(position + step):
                break
            position += step
        end = self._ends.get((position, step), position)
        self._ends.update(dict.fromkeys(passed, end))
        return end

    @staticmethod
    def _is_listed(words: list[str], between: str) -> bool:
        """Return whether no more than a comma or "and" is between two facts of a class."""
        if words:
            return len(words) == 1 and words[0] in _CONJUNCTIONS
        return _IN_LIST.fullmatch(between) is not None

    def facts_at(self, where: Surroundings) -> FactsByKey:
        """Return the first fact of each key with these surroundings, in order of the text."""
        if where in self._at:
            return self._at[where]
        found = self._at.setdefault(where, {})
        step = 1 if where.before else -1  # from the words to the fact
        known = where.before or where.after
        offset = next(index for index, word in enumerate(known, start=1) if word != _OF_FACT)
        for position in self.source.positions(known[offset - 1]):
            for near in range(position + step, position + step * (offset + REACH), step):
                fact = self._fact_at(near, where) if 0 <= near < len(self.source.starts) else None
                if fact:
                    found.setdefault(fact.key, fact)
                if fact or (offset == 1 and not self._may_be_skipped(near, known[offset - 1])):
                    break
        return found

    def _fact_at(self, position: int, where: Surroundings) -> Fact | None:
        """Return the whole fact that a word states, if these are its surroundings."""
        fact = self.fact(position)
        if fact is None or fact.key[0] != where.kind:
            return None
        fact = self.whole(position)
        return fact if fact and self.surroundings(fact) == where else None

    def _may_be_skipped(self, position: int, word: str) -> bool:
        """Return whether a fact may be known by `word` although another word is between them."""
        between = self.source.folded(position)
        return between == word or (between in BESIDE and self.source.is_of_number(position))

    def is_name(self, word: str) -> bool:
        """Return whether a folded word is a name where it has a capital letter."""
        standings = self.source.standing(word), self.other.standing(word)
        return "name" in standings and "small" not in standings


# Facts of which each stands where another stood ("from Oslo to Bergen" / "from Bergen to Oslo").

MAX_EXCHANGED = 8  # facts that are looked at until one stands where the first one stood
MAX_NEXT = 3  # words that a fact is known by
_OF_FACT = "#"  # among them, another fact of the class
_BOUNDARY = re.compile(r"[\r\n]|[.!?;\u2026][\"'\u2019\u201d)\]]*\s")
_WITHIN = {"name": re.compile(r"[ \t\u00a0]*"), "date": re.compile(r"[ \t\u00a0,]*")}
_IN_LIST = re.compile(r"\s*[,;\r\n]\s*")
_AND_OR = "and or und oder et ou y o e i en of och og ja ve и или і та και 와 과 と 和"
_CONJUNCTIONS = frozenset(_AND_OR.split())


class Surroundings(NamedTuple):
    """The words next to a fact of a class, the next one first: before it, or else after it."""

    kind: str
    before: tuple[str, ...]
    after: tuple[str, ...]


def exchanged_facts(a: FactText, b: FactText, starts: Iterable[int]) -> tuple[str, str] | None:
    """Return a fact of a and one that stands where it stood, if these two, or some more, have
    exchanged their positions; None if none have.

    `starts`: the words of a whose facts may stand elsewhere in b. A position is known by the words
    next to it: a passage that moved exchanges nothing, nor does a list in another order.

    >>> from indexer.comparing.words import words
    >>> def exchanged(a: str, b: str) -> tuple[str, str] | None:
    ...     x, y = (FactSource(text, words(text)) for text in (a, b))
    ...     return exchanged_facts(FactText(x, y), FactText(y, x), range(len(x.words)))
    >>> exchanged("Paid: 100. Due: 200.", "Paid: 200. Due: 100.")
    ('100', '200')
    >>> exchanged("Paid: 100. Due: 200.", "Due: 200. Paid: 100.")
    """
    for first in filter(None, map(a.whole, starts)):
        waiting, seen = [first], {""}
        while waiting and len(seen) <= MAX_EXCHANGED:
            fact = waiting.pop()
            there = _stands_instead(fact, a, b)
            if there is None or there.value in seen:
                continue
            if there.key == first.key:
                return first.spelling, fact.spelling
            seen.add(there.value)
            elsewhere = map(a.whole, a.source.positions(b.source.folded(there.start)))
            waiting += [each for each in elsewhere if each and each.key == there.key]
    return None


def _stands_instead(fact: Fact, a: FactText, b: FactText) -> Fact | None:
    """Return the fact of b that stands where one of a stands; None if it is the same, or none."""
    where = a.surroundings(fact)
    if where is None or not (where.before or where.after):
        return None
    found = b.facts_at(where)
    return None if fact.key in found else next(iter(found.values()), None)


_BEFORE_NEGATION = frozenset(("な", "せ", "ず", "ไ", "ห้", "มิ", "ບໍ່", "ຫ້", "មិ", "ហា"))
_DECIDING = (MONTHS, DATES, BEFORE_DAY, CURRENCIES, _BEFORE_NEGATION)


@lru_cache(maxsize=1 << 15)
def is_fact(word: str, language: str = "") -> bool:
    """Return whether a word may state a fact that is no name, whatever stands around it."""
    if _is_number(word):
        return True
    return any(word in listed for listed in _DECIDING) or is_negation(word, language)


@lru_cache(maxsize=1 << 15)
def _is_number(word: str) -> bool:
    # no letter is a digit
    if not word.isalpha():
        return any(map(str.isdigit, word)) or word in NUMBERS
    return word in NUMBERS or (not word.isascii() and SINO_KOREAN.fullmatch(word) is not None)
