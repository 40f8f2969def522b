"""Facts in which two texts of nearly the same words differ.

Words are aligned by their longest common subsequence. The facts (`indexer.comparing.facts`) among
the words that are left over in either text are compared. Facts that both texts have with the same
surroundings are left out: a passage that only moved makes no difference. A fact of one text is
paired with the next one of its kind in the same gap of the other. A fact without a partner that
both texts have was exchanged with others, and differs by its position. A number that is aligned
with itself differs where its sign or its unit does; signs before words that are aligned, and
addresses of such words, are compared as if these words were left over.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, zip_longest
from typing import TypeAlias, get_args

import numpy as np

from indexer.comparing.alignment import Gap, common_runs, gaps
from indexer.comparing.facts import (
    ADDRESSES,
    RUN,
    Fact,
    FactSource,
    FactText,
    is_fact,
    spaced_kind,
)
from indexer.comparing.quantities import (
    DENYING,
    DUTY,
    MODALS,
    OF_TIME,
    PARTY_WORDS,
    REACH,
    STATING,
    date_span,
    denials,
    is_product_noun,
)
from indexer.comparing.tiling import Tile
from indexer.comparing.unworded import address_value, name_value
from indexer.comparing.words import ATTACHED, LANGUAGES_BY_WORD
from indexer.fingerprinting.normalise import without_accents
from indexer.model import Difference, DifferenceKind

# Facts that both texts state in different positions: moved with their surroundings, or exchanged.

_SKIPPED = 8  # neighbouring facts
_PASSED = 64  # words that are looked at for several facts at once
_BOUNDARY = re.compile(r"[\r\n]|[.!?;\u2026][\"'\u2019\u201d)\]]*\s")
_JOINED = re.compile(r"[ \t\u00a0,]*")

Neighbour = tuple[str, bool]  # a word, and whether a sentence or line ends between


class _Surroundings:
    """The words around facts of a text. What stands between is read once for all facts near it."""

    def __init__(self, text: FactText) -> None:
        self._text = text
        self._skipped: dict[tuple[int, int, str], int] = {}

    def of(self, fact: Fact) -> tuple[Neighbour, Neighbour]:
        """Return the words before and after a fact; a sign stands before the latter."""
        kind = fact.key[0]
        return self._next(fact.start, -1, kind), self._next(fact.end - 1, 1, kind)

    def _next(self, position: int, step: int, kind: str) -> Neighbour:
        """Return the next word in a direction that is not a fact of this class, as in a list."""
        source, skipped = self._text.source, self._facts_after(position, step, kind)
        position += step * skipped
        if skipped == _SKIPPED:
            return source.folded(position), False
        between = source.between(min(position, position + step))
        if between is None:
            return "", True
        return source.folded(position + step), between != " " and bool(_BOUNDARY.search(between))

    def _facts_after(self, position: int, step: int, kind: str) -> int:
        """Return how many facts of a class follow a word, `_SKIPPED` at most."""
        source = self._text.source
        if kind == "number" and not is_fact(source.folded(position + step), source.words.language):
            return 0
        known, first = self._skipped, position
        passed: list[int] = []
        while (position, step, kind) not in known and len(passed) < _PASSED:
            if not self._is_followed(position, step, kind):
                known[position, step, kind] = 0
                break
            passed.append(position)
            position += step
        count = known.get((position, step, kind))
        for number, before in enumerate(reversed(passed), start=1):
            if count is not None or number >= _SKIPPED:
                known[before, step, kind] = min(number + (count or 0), _SKIPPED)
        return known[first, step, kind]

    def _is_followed(self, position: int, step: int, kind: str) -> bool:
        """Return whether a fact of a class stands next to a word, blanks or commas between."""
        source = self._text.source
        between = source.between(min(position, position + step))
        if between is None or not _JOINED.fullmatch(between):
            return False
        following = position + step
        is_digit = kind == "number" and any(map(str.isdigit, source.folded(following)))
        if is_digit and not (following in source.addresses or source.is_of_number(following)):
            return not source.is_in_header(following, later=True)  # whatever its value and its unit
        fact = self._text.fact(following)
        return fact is not None and fact.key[0] == kind


_Stated: TypeAlias = tuple[str, str, str]  # a fact: its first word, folded, and its key
_Edge: TypeAlias = tuple[_Stated, int, str]  # a fact, before (0) or after it, the next word


class _Occurrences:
    """The facts of a text, looked up by what surrounds them, for those of another text.

    A look-up takes the same time however often a fact is stated. The facts of a word are read when
    it is first looked up; runs of words only where surroundings do not decide.
    """

    def __init__(self, text: FactText, other: FactSource) -> None:
        self._text, self._other, self._around = text, other, _Surroundings(text)
        self._by_word: dict[tuple[str, bool], dict[_Stated, list[Fact]]] = {}
        self._pairs: set[tuple[_Stated, str, str]] = set()
        self._words: set[_Edge] = set()
        # of these, those across from which the text ends; a sentence or line ends
        self._before_ends: set[_Edge] = set()
        self._before_boundaries: set[_Edge] = set()
        self._runs: dict[_Stated, dict[tuple[int, int], Fact]] = {}

    def have(self, stated: _Stated) -> bool:
        """Return whether the text states a fact, and read what surrounds its occurrences."""
        word = stated[0], stated[1] == "sign"
        if word not in self._by_word:
            found = self._by_word[word] = defaultdict(list)
            for fact in _occurrences(*word, self._text):
                occurrence = stated[0], *fact.key
                found[occurrence].append(fact)
                self._add(occurrence, self._around.of(fact))
        return stated in self._by_word[word]

    def _add(self, stated: _Stated, surroundings: tuple[Neighbour, Neighbour]) -> None:
        self._pairs.add((stated, surroundings[0][0], surroundings[1][0]))
        for edge in (0, 1):
            (word, _), (other_word, other_boundary) = surroundings[edge], surroundings[1 - edge]
            self._words.add((stated, edge, word))
            if not other_word:
                self._before_ends.add((stated, edge, word))
            if other_boundary:
                self._before_boundaries.add((stated, edge, word))

    def match_surroundings(
        self, stated: _Stated, surroundings: tuple[Neighbour, Neighbour]
    ) -> bool:
        """Return whether an occurrence has the same neighbours, one of them by a word.

        Neighbours are the same where a sentence or line ends before both. One word is enough at an
        end of either text, since a passage may be cut there.
        """
        if (stated, surroundings[0][0], surroundings[1][0]) in self._pairs and any(
            word for word, _ in surroundings
        ):
            return True
        for edge in (0, 1):
            (word, _), (other_word, other_boundary) = surroundings[edge], surroundings[1 - edge]
            here = stated, edge, word
            if word and (
                (other_boundary and here in self._before_boundaries)
                or here in self._before_ends
                or (not other_word and here in self._words)
            ):
                return True
        return False

    def match_run(self, stated: _Stated, fact: Fact) -> bool:
        """Return whether `RUN` words around a fact of the other text stand around an occurrence."""
        start, common = fact.start, self._common_runs
        first = bisect_left(common, start - RUN + 1)
        near = common[first : bisect_left(common, start + 1, first)]
        if not near:
            return False
        if stated not in self._runs:
            self._runs[stated] = self._runs_around(stated)
        hashes = self._other.run_hashes
        found = (self._runs[stated].get((start - run, int(hashes[run]))) for run in near)
        return any(
            _run_length(self._other, start, self._text.source, occurrence.start) >= RUN
            for occurrence in filter(None, found)
        )

    @cached_property
    def _common_runs(self) -> list[int]:
        """The first words of the runs of the other text that this one has too, in order."""
        common = np.isin(self._other.run_hashes, self._text.source.run_hashes)
        positions: list[int] = np.flatnonzero(common).tolist()
        return positions

    def _runs_around(self, stated: _Stated) -> dict[tuple[int, int], Fact]:
        """Return the first occurrence of a fact by the runs that it is in: its offset in the run,
        the run's hash.
        """
        runs: dict[tuple[int, int], Fact] = {}
        for fact in self._by_word[stated[0], stated[1] == "sign"][stated]:
            first = max(0, fact.start - RUN + 1)
            hashes = self._text.source.run_hashes[first : fact.start + 1].tolist()
            for start, run in enumerate(hashes, start=first):
                runs.setdefault((fact.start - start, run), fact)
        return runs


def _moved_facts(facts: Iterable[Fact], text: FactText, other: FactText) -> Iterator[Fact]:
    """Yield the facts of a text that another text states with the same surroundings.

    Takes time in proportion to the facts and their occurrences, not to the product of both.
    """
    around, occurrences = _Surroundings(text), _Occurrences(other, text.source)
    for fact in facts:
        stated = text.source.folded(fact.start), *fact.key
        if occurrences.have(stated) and (
            occurrences.match_surroundings(stated, around.of(fact))
            or occurrences.match_run(stated, fact)
        ):
            yield fact


def _occurrences(word: str, is_sign: bool, text: FactText) -> Iterator[Fact]:
    """Yield the facts, of one word or a sign before it, that a text states by a folded word."""
    for position in text.source.positions(word):
        occurrence = text.source.symbol_before(position) if is_sign else text.fact(position)
        if occurrence:
            yield occurrence


def _run_length(a: FactSource, position_a: int, b: FactSource, position_b: int) -> int:
    """Return how many words around two positions are the same, up to `RUN` before and after."""
    return sum(_equal_words(a, position_a, b, position_b, step) for step in (-1, 1)) - 1


def _equal_words(a: FactSource, position_a: int, b: FactSource, position_b: int, step: int) -> int:
    count = 0
    while count < RUN:
        word = a.folded(position_a + step * count)
        if not word or word != b.folded(position_b + step * count):
            break
        count += 1
    return count


KINDS: tuple[DifferenceKind, ...] = get_args(DifferenceKind)
MIN_RENAMED = 2  # times that words without capitals stand for the same others
MAX_RENAMED = 6  # of such words
JOINED: tuple[DifferenceKind, ...] = ("name", "date")  # kinds of which neighbours are one fact

_IN_HEADERS: tuple[DifferenceKind, ...] = ("date", "number", "name", *ADDRESSES)
FactKey: TypeAlias = tuple[str, str]  # class and value
GapFacts: TypeAlias = dict[tuple[float, str], list[Fact]]  # by gap and class
Gaps: TypeAlias = dict[int, float]  # by position of a word


def has_differences(a: FactSource, b: FactSource) -> bool:
    """Return whether two texts differ in any fact; nothing is aligned where numbers differ."""
    left, right = a.number_values, b.number_values
    if a.words.has_accents != b.words.has_accents:
        left = None  # "třicet" is a number, "tricet" a word
    if left is not None and right is not None and left != right:
        return True
    return any(True for _ in differing_facts(a, b))


def differing_facts(
    a: FactSource, b: FactSource, runs: Sequence[Tile] | None = None
) -> Iterator[Difference]:
    """Yield the facts in which two texts differ, in no order; where one has no accents, none that
    differ in these alone ("V5-Schlüssel"). `runs`: the `common_runs`.
    """
    if a.words.has_accents == b.words.has_accents:
        yield from _of_runs(a, b, common_runs(a.words, b.words) if runs is None else runs)
        return
    for made in _of_runs(a, b, common_runs(a.words.plain, b.words.plain)):
        values = made.a or "", made.b or ""
        if made.a == made.b or len(set(map(without_accents, values))) > 1:
            yield made


def _of_runs(a: FactSource, b: FactSource, aligned: Sequence[Tile]) -> Iterator[Difference]:
    yield from changed_quantities(a, b, aligned)
    known = a.words.vocabulary
    between = list(gaps(aligned, (len(a.words), len(b.words))))
    if not (a.text.isascii() or b.text.isascii()):
        yield from _renamed(a, b, between)
    for gap in between:
        words = a.words.folded[gap.a : gap.end_a], b.words.folded[gap.b : gap.end_b]
        may_deny = any(map(DENYING.match, chain(*words)))
        language = a.words.language or b.words.language if may_deny else ""
        for x, y, _ in denials(*words, language) if may_deny else ():
            yield Difference("negation", a.spelling(gap.a + x), b.spelling(gap.b + y))
    if not MODALS.keys().isdisjoint(known) or _MODAL_HINT.search(" ".join(known)):
        for left, right in other_modals(a.words.folded, b.words.folded, between):
            yield Difference("obligation", a.spelling(*left), b.spelling(*right))
    yield from _leftover(FactText(a, b), FactText(b, a), aligned)


def _renamed(a: FactSource, b: FactSource, between: Iterable[Gap]) -> Iterator[Difference]:
    """Yield words without capitals that stand for others `MIN_RENAMED` times and nowhere else."""
    times = Counter[tuple[str, str]]()
    for gap in between:
        left, right = a.words.folded[gap.a : gap.end_a], b.words.folded[gap.b : gap.end_b]
        is_short = 0 < len(left) <= MAX_RENAMED and 0 < len(right) <= MAX_RENAMED
        if is_short and all(map(_is_without_capitals, left + right)):
            times[a.spelling(gap.a, gap.end_a), b.spelling(gap.b, gap.end_b)] += 1
    for (old, new), count in times.items():
        may_be_name = count >= MIN_RENAMED and min(len(old), len(new)) > 1
        if may_be_name and old not in b.text and new not in a.text:
            yield Difference("renamed", old, new)


def _is_without_capitals(word: str) -> bool:
    """Return whether a word of a script without capitals may be of a name."""
    is_letter = word >= "\u0590" and word[0].isalpha() and word not in LANGUAGES_BY_WORD
    return is_letter and not word[0].islower() and word not in STATING


def changed_quantities(a: FactSource, b: FactSource, runs: Sequence[Tile]) -> Iterator[Difference]:
    """Yield the numbers that are aligned with themselves and differ in sign or unit."""
    for run in runs:
        for left in _unequal_numbers(a, b, run):
            right = left - run.a + run.b
            if a.context(left) == b.context(right):
                continue
            facts = [fact for fact in (a.fact(left), b.fact(right)) if fact]
            if len({fact.value for fact in facts if fact.kind not in ADDRESSES}) == 2:
                yield _difference(*facts)


def changed_symbols(a: FactSource, b: FactSource, runs: Sequence[Tile]) -> Iterator[Difference]:
    """Yield symbols before aligned words that stand for others, and those after ("C" / "C++")."""
    positions = sorted(a.symbols), sorted(b.symbols)
    for run in runs if any(positions) else ():
        for offset in sorted(_offsets(*positions, run._replace(words=run.words + 1))):
            left, right = a.symbol_before(run.a + offset), b.symbol_before(run.b + offset)
            values = {fact.value if fact else "" for fact in (left, right)}
            is_after = offset > 0 and not values.isdisjoint(ATTACHED)
            if len(values) > 1 and (is_after or ("" not in values and offset < run.words)):
                yield Difference("sign", left and left.spelling, right and right.spelling)


def _offsets(positions_a: list[int], positions_b: list[int], run: Tile) -> set[int]:
    """Return which words of a run are at positions of either text, counted from its first word."""
    in_a = (position - run.a for position in _within(positions_a, run.a, run.words))
    return {*in_a, *(position - run.b for position in _within(positions_b, run.b, run.words))}


def _unequal_numbers(a: FactSource, b: FactSource, run: Tile) -> list[int]:
    """Return positions of the numbers of a run in `a` that may be written in another way in `b`;
    only those near its ends if the run is written alike.
    """
    numbers = _within(a.numbers, run.a, run.words)
    if not numbers:
        return numbers
    last, last_b = run.a + run.words - 1, run.b + run.words - 1
    if a.text[a.starts[run.a] : a.ends[last]] != b.text[b.starts[run.b] : b.ends[last_b]]:
        return numbers
    return [position for position in numbers if not a.has_context_in(position, run.a, last)]


def _changed_words(a: FactSource, b: FactSource, runs: Sequence[Tile]) -> tuple[Gaps, Gaps]:
    """Return the aligned words before which signs differ, or whose addresses do, with their gaps.

    The first word of a run belongs to the gap before it, each other one to a gap of its own.
    """
    positions_a, positions_b = (sorted({*text.symbols, *text.addresses}) for text in (a, b))
    changed_a: Gaps = {}
    changed_b: Gaps = {}
    for number, run in enumerate(runs):
        for offset in _offsets(positions_a, positions_b, run):
            left, right = run.a + offset, run.b + offset
            if a.symbols.get(left) != b.symbols.get(right) or _other_address(a, left, b, right):
                changed_a[left] = changed_b[right] = number + offset / run.words
    return changed_a, changed_b


def _other_address(a: FactSource, position_a: int, b: FactSource, position_b: int) -> bool:
    if position_a not in a.addresses or position_b not in b.addresses:
        return False
    facts = a.fact(position_a), b.fact(position_b)
    return len({fact.value for fact in facts if fact}) > 1


def _within(positions: list[int], start: int, size: int) -> list[int]:
    return positions[bisect_left(positions, start) : bisect_left(positions, start + size)]


def _leftover(a: FactText, b: FactText, runs: Sequence[Tile]) -> Iterator[Difference]:
    """Yield the differences among the words that are not aligned."""
    changed_a, changed_b = _changed_words(a.source, b.source, runs)
    facts_a = _facts_by_gap(a, [(run.a, run.words) for run in runs], changed_a)
    facts_b = _facts_by_gap(b, [(run.b, run.words) for run in runs], changed_b)
    left, right = _without_moved(facts_a, facts_b, a, b)
    alone_a, alone_b = list[Fact](), list[Fact]()
    pairs: set[tuple[Fact, Fact]] = set()
    for gap in sorted(left.keys() | right.keys()):
        in_a, in_b = (_joined(facts.get(gap, [])) for facts in (left, right))
        for fact_a, fact_b in zip_longest(*_without_common(in_a, in_b)):
            if fact_a and fact_b:
                pair = _dated(fact_a, a), _dated(fact_b, b)
                if pair not in pairs:
                    yield _of_header(_difference(*pair), (fact_a, a), (fact_b, b))
                pairs.add(pair)
            elif fact_a:
                alone_a += _single(fact_a, a)
            else:
                alone_b += _single(fact_b, b)
    only_a, only_b = _without_common(alone_a, alone_b)
    yield from _exchanged(_without(alone_a, only_a), _without(alone_b, only_b))
    paired = map(set, zip(*pairs, strict=True) if pairs else ((), ()))
    for text, only, known in zip((a, b), (only_a, only_b), paired, strict=True):
        for dated, fact in {_dated(fact, text): fact for fact in _joined(only)}.items():
            if dated not in known:  # else the year of a date, of which another part has a pair
                values = (_written(dated), None) if text is a else (None, _written(dated))
                yield _of_header(Difference(dated.kind, *values), (fact, text))


def _of_header(made: Difference, *stated: tuple[Fact, FactText]) -> Difference:
    """Return a difference as one of running headers, if its facts stand in these."""
    in_headers = (text.source.is_in_header(fact.start) for fact, text in stated)
    if made.kind in _IN_HEADERS and all(in_headers):
        return Difference("header", made.a, made.b)
    return made


def _dated(fact: Fact, text: FactText) -> Fact:
    """Return a fact, for one of a date or of an amount with blanks the whole: "7 May 2024"."""
    source = text.source
    if fact.kind == "amount":
        found = spaced_kind(source.text, source.starts[fact.start], source.ends[fact.end - 1])
        return Fact(found[0], "", source.text[slice(*found[1:])], *found[1:]) if found else fact
    if fact.kind != "date":
        return fact
    start, end = date_span(source.text, source.starts[fact.start], source.ends[fact.end - 1])
    return Fact("date", fact.kind, source.text[start:end], start, end)


def _single(fact: Fact, text: FactText) -> list[Fact]:
    """Return the facts of the words of one that was joined."""
    return text.facts(fact.start, fact.end) if fact.kind in JOINED else [fact]


def _without_moved(left: GapFacts, right: GapFacts, a: FactText, b: FactText) -> list[GapFacts]:
    """Return the facts without those that both texts have, as often, with the same surroundings."""
    common = _counts(chain(*left.values())) & _counts(chain(*right.values()))
    if not common:
        return [left, right]
    both = _moved(left, common, a, b) & _moved(right, common, b, a)
    result = []
    for facts in (left, right):
        rest = both.copy()
        result.append({gap: _without_counted(members, rest) for gap, members in facts.items()})
    return result


def _moved(
    facts: GapFacts, common: Counter[FactKey], text: FactText, other: FactText
) -> Counter[FactKey]:
    """Return how many of the facts with these values the other text has as well surrounded."""
    candidates = (fact for fact in chain(*facts.values()) if common[fact.key])
    return _counts(_moved_facts(candidates, text, other))


def _exchanged(a: list[Fact], b: list[Fact]) -> Iterator[Difference]:
    """Yield the facts that stand elsewhere in the other text, of which both lists have as many."""
    by_key = (sorted(facts, key=lambda fact: (fact.key, fact.start)) for facts in (a, b))
    joined: list[tuple[Fact, Fact]] = []
    for pair in sorted(zip(*by_key, strict=True), key=lambda pair: pair[0].start):
        if joined and all(map(_is_next_in_name, joined[-1], pair)):
            before_a, before_b = joined[-1]
            joined[-1] = before_a.joined_with(pair[0]), before_b.joined_with(pair[1])
        else:
            joined.append(pair)
    yield from (_difference(fact_a, fact_b) for fact_a, fact_b in joined)


def _is_next_in_name(before: Fact, fact: Fact) -> bool:
    return (before.kind, before.end, fact.kind) == ("name", fact.start, "name")


def _difference(a: Fact, b: Fact) -> Difference:
    # a date or an amount says more than a number
    kind = a.kind if a.kind == b.kind else max(a.kind, b.kind, key=KINDS.index)
    if a.unit == b.unit and a.unit not in OF_TIME and a.spelling != b.spelling:
        return Difference(kind, a.spelling, b.spelling)
    return Difference(kind, _written(a), _written(b))


def _written(fact: Fact) -> str:
    return " ".join((fact.whole or fact.spelling).split())


def _facts_by_gap(text: FactText, spans: Sequence[tuple[int, int]], changed: Gaps) -> GapFacts:
    """Return the facts among the words outside the spans, by gap between them and by class.

    `spans`: first word and number of words. `changed`: words in them whose sign or address counts
    too.
    """
    source = text.source
    size = len(source.starts)
    facts: GapFacts = defaultdict(list)
    outside = _gaps(spans, size)
    for position, gap in sorted((outside | changed).items()):
        fact = text.fact(position) if position < size else None
        if position in changed and fact and fact.kind not in ADDRESSES:
            fact = None
        symbol = source.symbol_before(position)
        if symbol and symbol.value in ATTACHED and position - 1 in outside:
            symbol = None  # it belongs to a word that differs itself ("GTK+" / "GDK")
        for stated in filter(None, (symbol, fact)):
            facts_here = facts[gap, stated.key[0]]
            last = facts_here[-1] if facts_here and stated.kind in ADDRESSES else None
            if last and (last.value, last.end) == (stated.value, stated.start):
                facts_here[-1] = facts_here[-1]._replace(end=stated.end)
            else:
                facts_here.append(stated)
    return facts


def _gaps(spans: Sequence[tuple[int, int]], size: int) -> Gaps:
    """Return the positions outside the spans, the one after the last word too, with their gaps."""
    gaps: Gaps = {}
    start = 0
    for number, (position, words) in enumerate([*spans, (size + 1, 0)]):
        gaps |= dict.fromkeys(range(start, position), number)
        start = position + words
    return gaps


def _joined(facts: Iterable[Fact]) -> list[Fact]:
    """Return facts with neighbours in a name or a date as one."""
    joined: list[Fact] = []
    for fact in facts:
        last = joined[-1] if joined else None
        if last and fact.kind in JOINED and (last.kind, last.end) == (fact.kind, fact.start):
            joined[-1] = last.joined_with(fact)
        else:
            joined.append(fact)
    return joined


def _without_common(a: list[Fact], b: list[Fact]) -> tuple[list[Fact], list[Fact]]:
    """Return both lists without the facts that have the same value in both, as often as both."""
    if {fact.key for fact in a}.isdisjoint(fact.key for fact in b):
        return a, b
    common = _counts(a) & _counts(b)
    return _without_counted(a, common.copy()), _without_counted(b, common)


def _without(facts: list[Fact], others: list[Fact]) -> list[Fact]:
    left_out = frozenset(others)
    return [fact for fact in facts if fact not in left_out]


def _without_counted(facts: list[Fact], counts: Counter[FactKey]) -> list[Fact]:
    """Return the facts without the first ones of these values; `counts` are what remains."""
    result = []
    for fact in facts:
        if counts[fact.key]:
            counts[fact.key] -= 1
        else:
            result.append(fact)
    return result


def _counts(facts: Iterable[Fact]) -> Counter[FactKey]:
    return Counter(fact.key for fact in facts)


# Names of products that stand for others.

_TRADEMARK = re.compile(r"\s?[\u2122\u00ae]")
_DEFINED = re.compile(r"(?:[(\"\u201c\u201e]|:[ \t]*)\Z")  # a defined term, the field of a form
_LINE_START, _LINE_END = re.compile(r"(?:\A|[\r\n])[ \t]*\Z"), re.compile(r"[ \t]*(?:[\r\n,]|\Z)")


def names_product(text: FactSource, name: str) -> bool:
    """Return whether a name, as a fact has it, is one of a product and of no party or person.

    A noun such as "app" or a trade mark says so, unless the name has elsewhere a title, a company's
    form, a verb of contracts, a line of its own, or the label of a field next to it.

    >>> from indexer.comparing.words import words
    >>> source = FactSource(text := "Use the Acme app. Acme is new.", words(text))
    >>> names_product(source, "acme")
    True
    """
    parts = name.split()
    size = len(parts)
    firsts = text.positions(parts[0])
    starts = [start for start in firsts if text.folded_words(start, start + size) == parts]
    if any(_is_party(text, start, start + size) for start in starts):
        return False
    return any(
        is_product_noun(text.folded(start - 1), text.folded(start + size))
        or _TRADEMARK.match(text.text, text.ends[start + size - 1])
        for start in starts
    )


def _is_party(text: FactSource, start: int, end: int) -> bool:
    """Return whether words [start, end) may name a party, a person, or the value of a field."""
    around = {text.folded(start - 1), text.folded(end), text.folded(end + 1)}
    if not PARTY_WORDS.isdisjoint(around):
        return True
    before = text.text[max(0, text.starts[start] - REACH) : text.starts[start]]
    is_line = _LINE_START.search(before) and _LINE_END.match(text.text, text.ends[end - 1])
    return bool(is_line or _DEFINED.search(before))


def with_renamed(made: list[Difference], a: FactSource, b: FactSource) -> list[Difference]:
    """Return differences as one, if the name of a product stands for another wherever it is.

    Nothing else may differ but links in which the one stands for the other.
    """
    names = {(each.a, each.b) for each in made if each.kind == "name" and each.a and each.b}
    values = {(name_value(left or ""), name_value(right or "")) for left, right in names}
    if len(values) != 1:
        return made
    ((left, right),) = values
    for each in made:
        link_a, link_b = address_value(each.a or ""), address_value(each.b or "")
        is_renamed_link = each.kind == "link" and link_a.replace(left, right) == link_b
        if (each.a, each.b) not in names and not is_renamed_link:
            return made
    is_other = left != right and not _has_name(b, left) and not _has_name(a, right)
    if is_other and names_product(a, left) and names_product(b, right):
        return [Difference("renamed", *min(names, key=str))]
    return made


def _has_name(text: FactSource, name: str) -> bool:
    return f" {name} " in f" {' '.join(text.words.folded)} "


# Modal verbs, by words and by endings.

MAX_MODAL_WORDS = 4  # that stand for each other, with the modal verb among them
MAX_MODAL_CHARS = 12  # instead, where they are Japanese characters
_MODAL_ENDINGS = {  # Turkish; Korean and Japanese, without blanks
    "must": re.compile(
        r"\w\wm(?:el[iı]|al[ıi])(?:d[ıi]r|y[ıi][mz]|s[ıi]n(?:[ıi]z)?|l[ae]r)?(?!\w)"
        rf"|[여해아어와워켜려쳐]야[한합하]|{DUTY.pattern}"
    ),
    "may": re.compile(r"\w[ae]bil(?:ir|ecek|mekte)|[가-힣]수있|でき|ことがで|てもよ"),
    "should": re.compile(r"べ(?:[きし]|\Z)"),
}
_MODAL_HINT = re.compile(r"bil|m[ae]l[ıi]|[야수ねけきべでよ]")
_JAPANESE = re.compile(r"[ぁ-ゖ一-龯]")
_BLANK_WITHIN = re.compile(r"(?<=[가-힣ぁ-ゖ一-龯]) (?=[가-힣ぁ-ゖ一-龯])")


_HAS, _MAX_DUTY_WORDS = ("hat", "haben"), 30
_OF_RIGHTS = frozenset(
    ("recht", "rechte", "anspruch", "ansprüche", "befugnis", "möglichkeit", "erlaubnis")
)
_INFINITIVE = re.compile(r"(?!.*(?:all|dies|jen|sein|ihr|ein|unser|ander)en$)\w{2,}(?:en|rn|ln)")
_INFINITIVE_WITH_ZU = re.compile(
    r"(?:ab|an|auf|aus|bei|durch|ein|fest|her|hin|mit|nach|sicher|um|vor|weg|weiter|wieder|zurück"
    r"|zusammen)zu\w{2,}n"
)


def _is_duty(words: Sequence[str]) -> bool:
    """Return whether German words from "hat" on oblige, as in "hat die Miete zu zahlen".

    >>> _is_duty("hat die miete zu zahlen".split()), _is_duty("hat den raum abzugeben".split())
    (True, True)
    >>> _is_duty("hat das recht zu kündigen".split()), _is_duty("hat zugang zu den".split())
    (False, False)
    """
    for position, word in enumerate(words):
        if word in _OF_RIGHTS:
            return False
        following = words[position + 1] if position + 1 < len(words) else ""
        if word == "zu" and _INFINITIVE.fullmatch(following):
            return True
        if _INFINITIVE_WITH_ZU.fullmatch(word):
            return True
    return False


def other_modals(
    a: Sequence[str], b: Sequence[str], gaps: Iterable[tuple[int, int, int, int]]
) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield the words [start, end) of modal verbs that stand for others in a `Gap`; all
    of its words, where endings do.

    >>> list(other_modals("he may go".split(), "he must go".split(), [(1, 2, 1, 2)]))
    [((1, 2), (1, 2))]
    >>> list(other_modals("he shall go".split(), "he must go".split(), [(1, 2, 1, 2)]))
    []
    >>> list(other_modals(["양도할", "수", "있다"], ["양도해야", "한다"], [(0, 3, 0, 2)]))
    [((0, 3), (0, 2))]
    """
    for start_a, end_a, start_b, end_b in gaps:
        if end_a == start_a or end_b == start_b:
            continue
        left, right = _modals(a, start_a, end_a), _modals(b, start_b, end_b)
        if left and right and left.keys().isdisjoint(right):
            yield next(iter(left.values())), next(iter(right.values()))


def _modals(words: Sequence[str], start: int, end: int) -> dict[str, tuple[int, int]]:
    """Return the meanings of modal verbs among words [start, end), and where they are; none in a
    passage of many words.
    """
    found: dict[str, tuple[int, int]] = {}
    if end - start <= MAX_MODAL_WORDS:
        for position in range(start, end):
            word = words[position]
            if word in MODALS:
                found.setdefault(MODALS[word], (position, position + 1))
            elif word in _HAS and _is_duty(words[position : position + _MAX_DUTY_WORDS]):
                found.setdefault("must", (position, position + 1))
    elif end - start > MAX_MODAL_CHARS or not all(map(_JAPANESE.fullmatch, words[start:end])):
        return found
    text = _BLANK_WITHIN.sub("", " ".join(words[start:end]))
    for meaning, ending in _MODAL_ENDINGS.items() if _MODAL_HINT.search(text) else ():
        if meaning not in found and ending.search(text):
            found[meaning] = start, end
    return found
