"""Numbers as they are written: the value, the sign, and what it is a number of.

"$5 million", "5,000,000 USD" and "5.000.000 dollars" are one quantity, "5 mg" and "5 g" are two.
What stands beside a number is looked for in the two words after it and the one before.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from indexer.similarity.fact_words import CURRENCIES, HALVES, NUMBERS, SCALES, UNITS

if TYPE_CHECKING:
    from indexer.text.word_numbers import Words

REACH = 6  # characters before a number, and beyond the words after it, that are looked at
# words that belong to a number, with those after a degree sign
BESIDE = frozenset((*SCALES, *CURRENCIES, *UNITS, *HALVES, "c", "f"))
_BLANKS = " \u00a0\u202f"
_CURRENCY = rf"(?:[^\w\s(-][{_BLANKS}]?)?"
_MINUS = re.compile(  # before a number: no hyphen or dash within something, no option
    rf"(?:\A|[^\w)\]}}%.\"'\u2019\u201d\-\u2212\u2013\u2014])[-\u2212\u2013]{_CURRENCY}\Z"
)
_BRACKET = re.compile(rf"\({_CURRENCY}\Z")
_GROUPED = re.compile(r"(\d{1,3}(?:([.,'])\d{3})(?:\2\d{3})*)(?:[.,](\d+))?\Z")
_DECIMAL = re.compile(r"(\d+)[.,](\d+)\Z")
_IN_BOOKS = re.compile(r"[\d.,']*[.,'](?:\d{3}|\d\d)\Z")  # as accounts write an amount
_SUFFIX = re.compile(r"(\d[\d.,':]*?)-?([^\W\d][^\W\d]*(?:\.m)?)\Z")
_ORDINAL = re.compile(r"(?:st|nd|rd|th|er|ère|ème|ste)\Z")
_CLOCK = re.compile(r"\d{1,2}(?:[:.]\d\d)?\Z")
_PLAIN = re.compile(r"\d+(?:\.\d+)?\Z")
_ADJACENT = re.compile(r"[^\S\r\n]*(?:\r\n?|\n)?[^\S\r\n]*|-")
_MEGA = re.compile(r"m[WVAHJP]")  # milliwatts, not megawatts; elsewhere case tells no units apart


class Quantity(NamedTuple):
    """A number with what stands beside it.

    `number`: as it is written, with its sign. [`start`, `end`): where all of it but the sign is, in
    characters.
    """

    sign: str
    value: str
    unit: str
    number: str
    start: int
    end: int

    @property
    def key(self) -> str:
        """The text that equal quantities have in common."""
        return f"{self.sign}{self.value} {self.unit}".rstrip()

    def written(self, text: str) -> str:
        """Return all of it as the text has it, with its sign."""
        whole = text[self.start : self.end]
        if not self.sign:
            return whole
        return f"({whole})" if self.number.startswith("(") else f"-{whole}"

    @property
    def is_amount(self) -> bool:
        """Return whether it is one of money, or a share."""
        return not {*CURRENCIES.values(), "%", "‰"}.isdisjoint(self.unit.split())


def quantity(text: str, words: Words, place: int) -> Quantity:
    """Return the quantity whose number is a word of a text."""
    return _Reader(text, words).quantity(place)


def number_value(word: str) -> str:
    """Return a number in digits, without grouping signs, with a point and no fraction of zeros.

    >>> [number_value(word) for word in ("1,000", "1.000,00", "3,50", "2024-05-01", "five", "2nd")]
    ['1000', '1000', '3.50', '2024-05-01', '5', '2']
    """
    return _split(word)[0]


class _Reader(NamedTuple):
    text: str
    words: Words

    def quantity(self, place: int) -> Quantity:
        value, suffix = _split(self.folded(place))
        start, end = int(self.words.starts[place]), int(self.words.ends[place])
        number = self.text[start:end]
        last = place
        if scale := SCALES.get(suffix):
            suffix = ""
        elif not suffix and (scale := SCALES.get(self.next_to(place, 1))):
            last += 1
            end = int(self.words.ends[last])
        if scale:
            is_plain = _PLAIN.match(value)
            value = f"{Decimal(value) * int(scale):f}" if is_plain else f"{value} × {scale}"
            value = _plain(value)
        before = self._currency_before(place)
        after = (_unit(suffix, value), end) if suffix else self._unit_after(last, value)
        start = before[1] if before else start
        end = after[1] if after else end
        units = dict.fromkeys(unit for unit, _ in filter(None, (before, after)))
        if self._has_minus(place):
            return Quantity("-", value, " ".join(units), f"-{number}", start, end)
        if self._is_in_brackets(place, end):
            return Quantity("-", value, " ".join(units), f"({number})", start, end)
        return Quantity("", value, " ".join(units), number, start, end)

    def folded(self, place: int) -> str:
        return self.words.vocabulary[int(self.words.numbers[place])]

    def next_to(self, place: int, step: int) -> str:
        """Return the word after (1) or before (-1) a number that belongs to it, if it is such a
        word, and nothing but a blank is between.
        """
        beside = place + step
        if not 0 <= beside < len(self.words) or self.folded(beside) not in BESIDE:
            return ""
        left, right = sorted((place, beside))
        between = self.text[int(self.words.ends[left]) : int(self.words.starts[right])]
        return self.folded(beside) if _ADJACENT.fullmatch(between) else ""

    def _currency_before(self, place: int) -> tuple[str, int] | None:
        start = int(self.words.starts[place])
        before = self.text[max(0, start - 3) : start].rstrip("-\u2212\u2013" + _BLANKS + "(")
        if before and unicodedata.category(before[-1]) == "Sc":
            return _currency(before[-1]), max(0, start - 3) + len(before) - 1
        if code := CURRENCIES.get(self.next_to(place, -1)):
            return code, int(self.words.starts[place - 1])
        return None

    def _unit_after(self, place: int, value: str) -> tuple[str, int] | None:
        end = int(self.words.ends[place])
        rest = self.text[end : end + 2]
        sign = rest.lstrip(_BLANKS)[:1]
        if sign and _is_unit_sign(sign):
            end += rest.index(sign) + 1
            scale = self.folded(place + 1) if place + 1 < len(self.words) else ""
            if sign == "°" and scale in ("c", "f") and self.text[end : end + 1].lower() == scale:
                return f"°{scale}", end + 1
            return _currency(sign), end
        after = self.next_to(place, 1)
        if not after:
            return None
        stop = int(self.words.ends[place + 1])
        spelling = self.text[int(self.words.starts[place + 1]) : stop]
        unit = CURRENCIES.get(after) or _unit(after, value, spelling)
        return (unit, stop) if unit else None

    def _has_minus(self, place: int) -> bool:
        start = int(self.words.starts[place])
        return bool(_MINUS.search(self.text, max(0, start - REACH), start))

    def _is_in_brackets(self, place: int, end: int) -> bool:
        """Return whether a number is in brackets, as account books write one below zero."""
        start = int(self.words.starts[place])
        opening = _BRACKET.search(self.text, max(0, start - 3), start)
        if not opening or self.text[end : end + 1] != ")":
            return False
        before = self.text[max(0, opening.start() - 2) : opening.start()].rstrip(_BLANKS)[-1:]
        is_amount = any(map(_is_unit_sign, before + opening.group()))
        return is_amount or bool(_IN_BOOKS.match(self.text[start : int(self.words.ends[place])]))


def _split(word: str) -> tuple[str, str]:
    """Return the value of a number, and the unit or scale at its end."""
    if word in NUMBERS:
        return NUMBERS[word], ""
    parts = _SUFFIX.match(word)
    if parts:
        number, suffix = parts.groups()
        if _ORDINAL.match(suffix):
            return _plain(number), ""
        if suffix in SCALES or suffix in CURRENCIES or _unit(suffix, number):
            return _plain(number), suffix
    return _plain(word), ""


def _plain(word: str) -> str:
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


def _unit(word: str, value: str, spelling: str = "") -> str:
    """Return what a word after a number is counted as; empty if it is no unit."""
    if word in HALVES:
        return HALVES[word] if _CLOCK.match(value) else ""
    unit = UNITS.get(word, "")
    return f"milli {unit}" if _MEGA.match(spelling) else unit


def _currency(sign: str) -> str:
    return CURRENCIES.get(sign, sign)


def _is_unit_sign(char: str) -> bool:
    return char in "%‰°" or unicodedata.category(char) == "Sc"
