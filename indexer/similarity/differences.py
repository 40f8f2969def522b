"""Facts that differ between two texts of nearly the same words, which no share of words shows.

Words are aligned by their longest common subsequence. The facts (`indexer.similarity.facts`) among
those that are left over on either side are compared, without those that both texts have with the
same surroundings (`indexer.similarity.moved_facts`): a passage that only moved makes no difference.
A fact of one text is paired with the next one of its kind in the same gap of the other. Of those
that stay alone, one that both texts have was exchanged with others, and differs by its place. A
number that is aligned with itself differs where its sign or its unit does; signs before words that
are aligned, and addresses of such words, are compared as if these were left over.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, zip_longest
from typing import TypeAlias, get_args

from indexer.model import Difference, DifferenceKind
from indexer.similarity.fact_values import Fact
from indexer.similarity.facts import FactSource, FactText
from indexer.similarity.lcs import common_runs
from indexer.similarity.moved_facts import is_moved
from indexer.similarity.tile import Tile
from indexer.text.wording import count_of

KINDS: tuple[DifferenceKind, ...] = get_args(DifferenceKind)
SHOWN = 3  # differences of a kind that a sentence quotes
JOINED: tuple[DifferenceKind, ...] = ("name", "date")  # kinds of which neighbours are one fact

FactKey: TypeAlias = tuple[str, str]  # class and value
GapFacts: TypeAlias = dict[tuple[float, str], list[Fact]]  # by gap and class
Gaps: TypeAlias = dict[int, float]  # by place of a word


def differences(a: FactSource, b: FactSource) -> tuple[Difference, ...]:
    """Return the facts in which two texts differ, by kind, in the order of the texts.

    >>> from indexer.text.words import words
    >>> texts = "He paid 42,000 euros in May 2023.", "He paid 45,500 euros in May 2024."
    >>> for difference in differences(*(FactSource(text, words(text)) for text in texts)):
    ...     print(difference.kind, difference.a, difference.b)
    date 2023 2024
    amount 42,000 45,500
    """
    result = list(_differences(a, b))
    # an address is a fact of each of its words
    addresses = dict.fromkeys(fact for fact in result if fact.kind == "address")
    result = [*addresses, *(fact for fact in result if fact.kind != "address")]
    return tuple(sorted(result, key=lambda difference: KINDS.index(difference.kind)))


def has_differences(a: FactSource, b: FactSource) -> bool:
    """Return whether two texts differ in any fact, which is found out sooner than all.

    Texts that do not have the same numbers differ, wherever these stand: nothing is aligned.
    """
    left, right = a.number_values, b.number_values
    if left is not None and right is not None and left != right:
        return True
    return any(True for _ in _differences(a, b))


def _differences(a: FactSource, b: FactSource) -> Iterator[Difference]:
    aligned = common_runs(a.words, b.words)
    left, right = FactText(a, b), FactText(b, a)
    yield from _changed_quantities(a, b, aligned)
    yield from _leftover(left, right, aligned)


def spell_differences(differences: Iterable[Difference]) -> list[str]:
    """Return a sentence for each kind.

    >>> spell_differences([Difference("number", "42,000", "45,500")])
    ['1 number differs: 42,000 / 45,500']
    >>> spell_differences([Difference("name", "Acme", "Acme")])
    ['1 name differs: Acme in another place']
    """
    by_kind: dict[DifferenceKind, list[Difference]] = defaultdict(list)
    for difference in differences:
        by_kind[difference.kind].append(difference)
    sentences = []
    for kind, members in by_kind.items():
        quoted = ", ".join(map(_spell, members[:SHOWN]))
        more = f" and {len(members) - SHOWN:,} more" if len(members) > SHOWN else ""
        verb = "differs" if len(members) == 1 else "differ"
        sentences.append(f"{count_of(len(members), kind)} {verb}: {quoted}{more}")
    return sentences


def _spell(difference: Difference) -> str:
    if difference.a == difference.b:
        return f"{difference.a} in another place"
    return f"{difference.a or '–'} / {difference.b or '–'}"


def _changed_quantities(a: FactSource, b: FactSource, runs: Sequence[Tile]) -> Iterator[Difference]:
    """Yield the numbers that are aligned with themselves and differ in sign or unit."""
    for run in runs:
        for left in _unequal_numbers(a, b, run):
            right = left - run.a + run.b
            if a.context(left) == b.context(right):
                continue
            facts = [fact for fact in (a.fact(left), b.fact(right)) if fact]
            if len({fact.value for fact in facts if fact.kind != "address"}) == 2:
                yield _difference(*facts)


def _unequal_numbers(a: FactSource, b: FactSource, run: Tile) -> list[int]:
    """Return the places of the numbers of a run in `a` that may be written in another way in `b`:
    of a run that is written alike, those near its ends.
    """
    numbers = _within(a.numbers, run.a, run.words)
    if not numbers:
        return numbers
    last, last_b = run.a + run.words - 1, run.b + run.words - 1
    if a.text[a.starts[run.a] : a.ends[last]] != b.text[b.starts[run.b] : b.ends[last_b]]:
        return numbers
    return [place for place in numbers if not a.has_context_in(place, run.a, last)]


def _changed_words(a: FactSource, b: FactSource, runs: Sequence[Tile]) -> tuple[Gaps, Gaps]:
    """Return the aligned words before which signs differ, or whose addresses do, with their gaps.

    The first word of a run belongs to the gap before it, each other one to a gap of its own.
    """
    places_a, places_b = (sorted({*text.signs, *text.addresses}) for text in (a, b))
    changed_a: Gaps = {}
    changed_b: Gaps = {}
    for number, run in enumerate(runs):
        offsets = {place - run.a for place in _within(places_a, run.a, run.words)}
        offsets |= {place - run.b for place in _within(places_b, run.b, run.words)}
        for offset in offsets:
            left, right = run.a + offset, run.b + offset
            if a.signs.get(left) != b.signs.get(right) or _other_address(a, left, b, right):
                changed_a[left] = changed_b[right] = number + offset / run.words
    return changed_a, changed_b


def _other_address(a: FactSource, place_a: int, b: FactSource, place_b: int) -> bool:
    if place_a not in a.addresses or place_b not in b.addresses:
        return False
    facts = a.fact(place_a), b.fact(place_b)
    return len({fact.value for fact in facts if fact}) > 1


def _within(places: list[int], start: int, size: int) -> list[int]:
    return places[bisect_left(places, start) : bisect_left(places, start + size)]


def _leftover(a: FactText, b: FactText, runs: Sequence[Tile]) -> Iterator[Difference]:
    """Yield the differences among the words that are not aligned."""
    changed_a, changed_b = _changed_words(a.source, b.source, runs)
    facts_a = _facts_by_gap(a, [(run.a, run.words) for run in runs], changed_a)
    facts_b = _facts_by_gap(b, [(run.b, run.words) for run in runs], changed_b)
    left, right = _without_moved(facts_a, facts_b, a, b)
    alone_a: list[Fact] = []
    alone_b: list[Fact] = []
    for gap in sorted(left.keys() | right.keys()):
        in_a, in_b = (_joined(facts.get(gap, [])) for facts in (left, right))
        for fact_a, fact_b in zip_longest(*_without_common(in_a, in_b)):
            if fact_a and fact_b:
                yield _difference(fact_a, fact_b)
            elif fact_a:
                alone_a += _single(fact_a, a)
            else:
                alone_b += _single(fact_b, b)
    only_a, only_b = _without_common(alone_a, alone_b)
    yield from _exchanged(_without(alone_a, only_a), _without(alone_b, only_b))
    yield from (Difference(fact.kind, _written(fact), None) for fact in _joined(only_a))
    yield from (Difference(fact.kind, None, _written(fact)) for fact in _joined(only_b))


def _single(fact: Fact, text: FactText) -> list[Fact]:
    """Return the facts of the words of one that was joined."""
    return text.facts(fact.place, fact.end) if fact.kind in JOINED else [fact]


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
    return _counts(fact for fact in candidates if is_moved(fact, text, other))


def _exchanged(a: list[Fact], b: list[Fact]) -> Iterator[Difference]:
    """Yield the facts that stand elsewhere in the other text, of which both lists have as many."""
    by_key = (sorted(facts, key=lambda fact: (fact.key, fact.place)) for facts in (a, b))
    joined: list[tuple[Fact, Fact]] = []
    for pair in sorted(zip(*by_key, strict=True), key=lambda pair: pair[0].place):
        if joined and all(map(_is_next_in_name, joined[-1], pair)):
            before_a, before_b = joined[-1]
            joined[-1] = before_a.joined_with(pair[0]), before_b.joined_with(pair[1])
        else:
            joined.append(pair)
    yield from (_difference(fact_a, fact_b) for fact_a, fact_b in joined)


def _is_next_in_name(before: Fact, fact: Fact) -> bool:
    return (before.kind, before.end, fact.kind) == ("name", fact.place, "name")


def _difference(a: Fact, b: Fact) -> Difference:
    kind = max(a.kind, b.kind, key=KINDS.index)  # a date or an amount says more than a number
    if a.unit == b.unit and a.spelling != b.spelling:
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
    for place, gap in sorted((_gaps(spans, size) | changed).items()):
        fact = text.fact(place) if place < size else None
        if place in changed and fact and fact.kind != "address":
            fact = None
        for stated in filter(None, (source.sign_before(place), fact)):
            facts_here = facts[gap, stated.key[0]]
            if facts_here and stated.kind == "address" and _is_same_address(facts_here[-1], stated):
                facts_here[-1] = facts_here[-1]._replace(end=stated.end)
            else:
                facts_here.append(stated)
    return facts


def _gaps(spans: Sequence[tuple[int, int]], size: int) -> Gaps:
    """Return the places outside the spans, the one after the last word too, with their gaps."""
    gaps: Gaps = {}
    start = 0
    for number, (place, words) in enumerate([*spans, (size + 1, 0)]):
        gaps |= dict.fromkeys(range(start, place), number)
        start = place + words
    return gaps


def _is_same_address(before: Fact, fact: Fact) -> bool:
    return (before.value, before.end) == (fact.value, fact.place)


def _joined(facts: Iterable[Fact]) -> list[Fact]:
    """Return facts with neighbours in a name or a date as one."""
    joined: list[Fact] = []
    for fact in facts:
        last = joined[-1] if joined else None
        if last and fact.kind in JOINED and (last.kind, last.end) == (fact.kind, fact.place):
            joined[-1] = last.joined_with(fact)
        else:
            joined.append(fact)
    return joined


def _without_common(a: list[Fact], b: list[Fact]) -> tuple[list[Fact], list[Fact]]:
    """Return both lists without the facts that have the same value in both, as often as both."""
    if not a or not b:
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
