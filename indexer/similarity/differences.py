"""Facts that differ between two texts of nearly the same words, which no share of words shows.

Words are aligned by their longest common subsequence. Among those that are left over on either side
are looked for:

- `number`: words with a digit. Equal values in other spellings ("1,000" and "1000", "42" and
  "42.00") are the same.
- `date`: "2024-05-01", "1/5/24"; numbers beside the name of a month, and that name.
- `amount`: numbers beside a currency sign or code, or a per cent sign.
- `negation`: "not", "never", "without", "can't" and the like of seven European languages, and of
  Chinese.
- `name`: words that begin with a capital letter, and that neither text also writes with a small
  one. The first word of a sentence is one only if the next word has a capital too. In German this
  is any noun; scripts without capital letters have none.

A leftover item of one text is paired with the next one of its kind in the same gap of the other.
Items that stay alone are compared over the whole texts, so that a passage that only moved makes no
difference. A number that is aligned with itself differs where its sign, its currency or its per
cent sign does.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.model import Difference, DifferenceKind
from indexer.similarity.fact_words import CURRENCIES, MONTHS, NEGATIONS
from indexer.similarity.lcs import common_runs
from indexer.similarity.tiling import Tile
from indexer.text.word_numbers import Words
from indexer.text.wording import count_of

KINDS: tuple[DifferenceKind, ...] = ("number", "date", "amount", "negation", "name")
SHOWN = 3  # differences of a kind that a sentence quotes

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


def differences(
    text_a: str, text_b: str, a: Words, b: Words, runs: Sequence[Tile] | None = None
) -> tuple[Difference, ...]:
    """Return the facts in which two texts differ, by kind, in the order of the texts.

    `runs`: their `common_runs`, if these are known.

    >>> from indexer.text.words import words
    >>> a, b = "He paid 42,000 euros in May 2023.", "He paid 45,500 euros in May 2024."
    >>> for difference in differences(a, b, words(a), words(b)):
    ...     print(difference.kind, difference.a, difference.b)
    date 2023 2024
    amount 42,000 45,500
    """
    aligned = common_runs(a, b) if runs is None else runs
    lowered = _small_words(text_a, a) | _small_words(text_b, b)
    left = _Text(text_a, a, lowered)
    right = _Text(text_b, b, lowered)
    result = [*_changed_signs(left, right, aligned), *_leftover(left, right, aligned)]
    return tuple(sorted(result, key=lambda difference: KINDS.index(difference.kind)))


def spell_differences(differences: Iterable[Difference]) -> list[str]:
    """Return a sentence for each kind.

    >>> spell_differences([Difference("number", "42,000", "45,500")])
    ['1 number differs: 42,000 / 45,500']
    """
    by_kind: dict[DifferenceKind, list[Difference]] = defaultdict(list)
    for difference in differences:
        by_kind[difference.kind].append(difference)
    sentences = []
    for kind, members in by_kind.items():
        quoted = ", ".join(f"{item.a or '–'} / {item.b or '–'}" for item in members[:SHOWN])
        more = f" and {len(members) - SHOWN:,} more" if len(members) > SHOWN else ""
        verb = "differs" if len(members) == 1 else "differ"
        sentences.append(f"{count_of(len(members), kind)} {verb}: {quoted}{more}")
    return sentences


class _Item(NamedTuple):
    """A fact of a text: what is compared, and as it is written."""

    kind: DifferenceKind
    value: str
    shown: str


@dataclass(frozen=True)
class _Text:
    """A text with its words. `small`: the words that either text begins with a small letter."""

    text: str
    words: Words
    small: frozenset[str]

    def spelling(self, place: int) -> str:
        start, end = int(self.words.starts[place]), int(self.words.ends[place])
        return self.text[start:end]

    def folded(self, place: int) -> str:
        """Return the folded spelling; empty outside the text."""
        if not 0 <= place < len(self.words):
            return ""
        return self.words.vocabulary[int(self.words.numbers[place])]

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

    def item(self, place: int) -> _Item | None:
        """Return the fact that a word states, or None."""
        word = self.folded(place)
        if self.numeric[self.words.numbers[place]]:
            return self._number(place, word)
        if word in MONTHS and (self._has_digit(place - 1) or self._has_digit(place + 1)):
            return _Item("date", word, self.spelling(place))
        if word in NEGATIONS or word.endswith("n't"):
            return _Item("negation", word, self.spelling(place))
        if self._is_name(place, word):
            return _Item("name", word, self.spelling(place))
        return None

    def _number(self, place: int, word: str) -> _Item:
        shown = self.spelling(place)
        beside = {self.folded(place - 1), self.folded(place + 1)}
        if _DATE.match(word) or not beside.isdisjoint(MONTHS):
            return _Item("date", _value(word), shown)
        sign, unit = self.sign(place), self.unit(place)
        is_amount = bool(unit) or not beside.isdisjoint(CURRENCIES)
        return _Item("amount" if is_amount else "number", sign + _value(word) + unit, sign + shown)

    def _has_digit(self, place: int) -> bool:
        return any(map(str.isdigit, self.folded(place)))

    def _is_name(self, place: int, word: str) -> bool:
        spelling = self.spelling(place)
        if not spelling[0].isupper() or word in self.small:
            return False
        start = int(self.words.starts[place])
        starts_sentence = _SENTENCE_START.search(self.text[max(0, start - 12) : start])
        is_acronym = len(word) > 1 and spelling.isupper()
        return is_acronym or not starts_sentence or self._has_capital(place + 1)

    def _has_capital(self, place: int) -> bool:
        return place < len(self.words) and self.spelling(place)[0].isupper()


def _small_words(text: str, words: Words) -> frozenset[str]:
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


def _changed_signs(a: _Text, b: _Text, runs: Sequence[Tile]) -> Iterator[Difference]:
    """Yield the numbers that are aligned with themselves and differ in sign or unit."""
    for run in runs:
        numbers = a.words.numbers[run.a : run.a + run.words]
        for offset in np.flatnonzero(a.numeric[numbers]).tolist():
            left, right = run.a + offset, run.b + offset
            before = a.sign(left), a.unit(left)
            after = b.sign(right), b.unit(right)
            if before != after:
                kind: DifferenceKind = "amount" if before[1] or after[1] else "number"
                yield Difference(kind, _shown(a, left), _shown(b, right))


def _shown(text: _Text, place: int) -> str:
    unit = text.unit(place)
    number = text.sign(place) + text.spelling(place)
    return number + unit if unit in ("%", "‰") else unit + number


def _leftover(a: _Text, b: _Text, runs: Sequence[Tile]) -> Iterator[Difference]:
    """Yield the differences among the words that are not aligned."""
    left = _items_by_gap(a, _spans([(run.a, run.words) for run in runs]))
    right = _items_by_gap(b, _spans([(run.b, run.words) for run in runs]))
    alone_a: list[_Item] = []
    alone_b: list[_Item] = []
    for gap in sorted(left.keys() | right.keys()):
        items_a, items_b = _without_common(left.get(gap, []), right.get(gap, []))
        for item_a, item_b in zip_longest(items_a, items_b):
            if item_a and item_b:
                yield _difference(item_a, item_b)
            elif item_a:
                alone_a.append(item_a)
            else:
                alone_b.append(item_b)
    alone_a, alone_b = _without_common(alone_a, alone_b)
    yield from (Difference(item.kind, item.shown, None) for item in alone_a)
    yield from (Difference(item.kind, None, item.shown) for item in alone_b)


def _spans(spans: list[tuple[int, int]]) -> NDArray[np.int64]:
    return np.array(spans, dtype=np.int64).reshape(-1, 2)


def _difference(a: _Item, b: _Item) -> Difference:
    kind = max(a.kind, b.kind, key=KINDS.index)  # a date or an amount says more than a number
    return Difference(kind, a.shown, b.shown)


def _items_by_gap(text: _Text, spans: NDArray[np.int64]) -> dict[tuple[int, str], list[_Item]]:
    """Return the facts among the words outside the spans, by gap between them and by class.

    `spans`: (n, 2) first word and number of words. Neighbours in a name or a date are one.
    """
    edges = np.zeros(len(text.words) + 1, dtype=np.int64)
    edges[spans[:, 0]] += 1
    edges[spans.sum(axis=1)] -= 1
    leftover = np.flatnonzero(np.cumsum(edges[:-1]) == 0)
    gaps = np.searchsorted(spans[:, 0], leftover)
    items: dict[tuple[int, str], list[_Item]] = defaultdict(list)
    last = (-2, -1, "")
    for place, gap in zip(leftover.tolist(), gaps.tolist(), strict=True):
        item = text.item(place)
        if item is None:
            continue
        members = items[gap, _class(item.kind)]
        if item.kind in ("name", "date") and last == (place - 1, gap, item.kind):
            before = members.pop()
            value, shown = f"{before.value} {item.value}", f"{before.shown} {item.shown}"
            item = _Item(item.kind, value, shown)
        members.append(item)
        last = place, gap, item.kind
    return items


def _class(kind: DifferenceKind) -> str:
    """Return what a fact is paired with: a number may be a date or an amount in the other text."""
    return kind if kind in ("negation", "name") else "number"


def _without_common(a: list[_Item], b: list[_Item]) -> tuple[list[_Item], list[_Item]]:
    """Return both lists without the items that have the same value in both, as often as both."""
    common = Counter(_key(item) for item in a) & Counter(_key(item) for item in b)
    return _without(a, common), _without(b, common)


def _without(items: list[_Item], common: Counter[tuple[str, str]]) -> list[_Item]:
    rest = common.copy()
    result = []
    for item in items:
        if rest[_key(item)]:
            rest[_key(item)] -= 1
        else:
            result.append(item)
    return result


def _key(item: _Item) -> tuple[str, str]:
    return _class(item.kind), item.value
