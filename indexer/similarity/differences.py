"""Facts that differ between two texts of nearly the same words, which no share of words shows.

Words are aligned by their longest common subsequence. The facts (`indexer.similarity.facts`) among
those that are left over on either side are compared, without those that both texts have with the
same surroundings (`indexer.similarity.moved_facts`): a passage that only moved makes no difference.
A fact of one text is paired with the next one of its kind in the same gap of the other. Of those
that stay alone, one that both texts have was exchanged with others, and differs by its place. A
number that is aligned with itself differs where its sign, its currency or its per cent sign does.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, zip_longest
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.model import Difference, DifferenceKind
from indexer.similarity.facts import Fact, FactText, class_of, fact_texts
from indexer.similarity.lcs import common_runs
from indexer.similarity.moved_facts import is_moved
from indexer.similarity.tiling import Tile
from indexer.text.word_numbers import Words
from indexer.text.wording import count_of

KINDS: tuple[DifferenceKind, ...] = ("number", "date", "amount", "negation", "name")
SHOWN = 3  # differences of a kind that a sentence quotes

FactKey: TypeAlias = tuple[str, str]  # class and value
GapFacts: TypeAlias = dict[tuple[int, str], list[Fact]]  # by gap and class


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
    left, right = fact_texts((text_a, a), (text_b, b))
    result = [*_changed_signs(left, right, aligned), *_leftover(left, right, aligned)]
    return tuple(sorted(result, key=lambda difference: KINDS.index(difference.kind)))


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


def _changed_signs(a: FactText, b: FactText, runs: Sequence[Tile]) -> Iterator[Difference]:
    """Yield the numbers that are aligned with themselves and differ in sign or unit."""
    for run in runs:
        numbers = a.words.numbers[run.a : run.a + run.words]
        for offset in np.flatnonzero(a.numeric[numbers]).tolist():
            left, right = run.a + offset, run.b + offset
            before = a.sign(left), a.unit(left)
            after = b.sign(right), b.unit(right)
            if before != after:
                kind: DifferenceKind = "amount" if before[1] or after[1] else "number"
                yield Difference(kind, a.spell_number(left), b.spell_number(right))


def _leftover(a: FactText, b: FactText, runs: Sequence[Tile]) -> Iterator[Difference]:
    """Yield the differences among the words that are not aligned."""
    facts_a = _facts_by_gap(a, _spans([(run.a, run.words) for run in runs]))
    facts_b = _facts_by_gap(b, _spans([(run.b, run.words) for run in runs]))
    left, right = _without_moved(facts_a, facts_b, a, b)
    alone_a: list[Fact] = []
    alone_b: list[Fact] = []
    for gap in sorted(left.keys() | right.keys()):
        in_a, in_b = (_joined(facts.get(gap, [])) for facts in (left, right))
        for fact_a, fact_b in zip_longest(*_without_common(in_a, in_b)):
            if fact_a and fact_b:
                yield _difference(fact_a, fact_b)
            elif fact_a:
                alone_a += a.facts(fact_a.place, fact_a.end)
            else:
                alone_b += b.facts(fact_b.place, fact_b.end)
    only_a, only_b = _without_common(alone_a, alone_b)
    yield from _exchanged(_without(alone_a, only_a), _without(alone_b, only_b))
    yield from (Difference(fact.kind, fact.spelling, None) for fact in _joined(only_a))
    yield from (Difference(fact.kind, None, fact.spelling) for fact in _joined(only_b))


def _without_moved(left: GapFacts, right: GapFacts, a: FactText, b: FactText) -> list[GapFacts]:
    """Return the facts without those that both texts have, as often, with the same surroundings."""
    common = _counts(chain(*left.values())) & _counts(chain(*right.values()))
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
    candidates = (fact for fact in chain(*facts.values()) if common[_key(fact)])
    return _counts(fact for fact in candidates if is_moved(fact, text, other))


def _exchanged(a: list[Fact], b: list[Fact]) -> Iterator[Difference]:
    """Yield the facts that stand elsewhere in the other text, of which both lists have as many."""
    by_key = (sorted(facts, key=lambda fact: (_key(fact), fact.place)) for facts in (a, b))
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


def _spans(spans: list[tuple[int, int]]) -> NDArray[np.int64]:
    return np.array(spans, dtype=np.int64).reshape(-1, 2)


def _difference(a: Fact, b: Fact) -> Difference:
    kind = max(a.kind, b.kind, key=KINDS.index)  # a date or an amount says more than a number
    return Difference(kind, a.spelling, b.spelling)


def _facts_by_gap(text: FactText, spans: NDArray[np.int64]) -> GapFacts:
    """Return the facts among the words outside the spans, by gap between them and by class.

    `spans`: (n, 2) first word and number of words.
    """
    edges = np.zeros(len(text.words) + 1, dtype=np.int64)
    edges[spans[:, 0]] += 1
    edges[spans.sum(axis=1)] -= 1
    leftover = np.flatnonzero(np.cumsum(edges[:-1]) == 0)
    gaps = np.searchsorted(spans[:, 0], leftover)
    facts: GapFacts = defaultdict(list)
    for place, gap in zip(leftover.tolist(), gaps.tolist(), strict=True):
        if fact := text.fact(place):
            facts[gap, class_of(fact.kind)].append(fact)
    return facts


def _joined(facts: Iterable[Fact]) -> list[Fact]:
    """Return facts with neighbours in a name or a date as one."""
    joined: list[Fact] = []
    for fact in facts:
        last = joined[-1] if joined else None
        if (
            last
            and fact.kind in ("name", "date")
            and (last.kind, last.end) == (fact.kind, fact.place)
        ):
            joined[-1] = last.joined_with(fact)
        else:
            joined.append(fact)
    return joined


def _without_common(a: list[Fact], b: list[Fact]) -> tuple[list[Fact], list[Fact]]:
    """Return both lists without the facts that have the same value in both, as often as both."""
    common = _counts(a) & _counts(b)
    return _without_counted(a, common.copy()), _without_counted(b, common)


def _without(facts: list[Fact], others: list[Fact]) -> list[Fact]:
    left_out = frozenset(others)
    return [fact for fact in facts if fact not in left_out]


def _without_counted(facts: list[Fact], counts: Counter[FactKey]) -> list[Fact]:
    """Return the facts without the first ones of these values; `counts` are what remains."""
    result = []
    for fact in facts:
        if counts[_key(fact)]:
            counts[_key(fact)] -= 1
        else:
            result.append(fact)
    return result


def _counts(facts: Iterable[Fact]) -> Counter[FactKey]:
    return Counter(map(_key, facts))


def _key(fact: Fact) -> FactKey:
    return class_of(fact.kind), fact.value
