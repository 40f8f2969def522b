"""Facts that differ between two texts of nearly the same words, which no share of words shows.

Words are aligned by their longest common subsequence. The facts (`indexer.similarity.facts`) among
those that are left over on either side are compared: a fact of one text is paired with the next one
of its kind in the same gap of the other. Facts that stay alone are compared over the whole texts,
so that a passage that only moved makes no difference. A number that is aligned with itself differs
where its sign, its currency or its per cent sign does.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from indexer.model import Difference, DifferenceKind
from indexer.similarity.facts import Fact, FactText, small_words
from indexer.similarity.lcs import common_runs
from indexer.similarity.tiling import Tile
from indexer.text.word_numbers import Words
from indexer.text.wording import count_of

KINDS: tuple[DifferenceKind, ...] = ("number", "date", "amount", "negation", "name")
SHOWN = 3  # differences of a kind that a sentence quotes


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
    lowered = small_words(text_a, a) | small_words(text_b, b)
    left = FactText(text_a, a, lowered)
    right = FactText(text_b, b, lowered)
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
        quoted = ", ".join(f"{member.a or '–'} / {member.b or '–'}" for member in members[:SHOWN])
        more = f" and {len(members) - SHOWN:,} more" if len(members) > SHOWN else ""
        verb = "differs" if len(members) == 1 else "differ"
        sentences.append(f"{count_of(len(members), kind)} {verb}: {quoted}{more}")
    return sentences


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
    left = _facts_by_gap(a, _spans([(run.a, run.words) for run in runs]))
    right = _facts_by_gap(b, _spans([(run.b, run.words) for run in runs]))
    alone_a: list[Fact] = []
    alone_b: list[Fact] = []
    for gap in sorted(left.keys() | right.keys()):
        facts_a, facts_b = _without_common(left.get(gap, []), right.get(gap, []))
        for fact_a, fact_b in zip_longest(facts_a, facts_b):
            if fact_a and fact_b:
                yield _difference(fact_a, fact_b)
            elif fact_a:
                alone_a.append(fact_a)
            else:
                alone_b.append(fact_b)
    alone_a, alone_b = _without_common(alone_a, alone_b)
    yield from (Difference(fact.kind, fact.spelling, None) for fact in alone_a)
    yield from (Difference(fact.kind, None, fact.spelling) for fact in alone_b)


def _spans(spans: list[tuple[int, int]]) -> NDArray[np.int64]:
    return np.array(spans, dtype=np.int64).reshape(-1, 2)


def _difference(a: Fact, b: Fact) -> Difference:
    kind = max(a.kind, b.kind, key=KINDS.index)  # a date or an amount says more than a number
    return Difference(kind, a.spelling, b.spelling)


def _facts_by_gap(text: FactText, spans: NDArray[np.int64]) -> dict[tuple[int, str], list[Fact]]:
    """Return the facts among the words outside the spans, by gap between them and by class.

    `spans`: (n, 2) first word and number of words. Neighbours in a name or a date are one.
    """
    edges = np.zeros(len(text.words) + 1, dtype=np.int64)
    edges[spans[:, 0]] += 1
    edges[spans.sum(axis=1)] -= 1
    leftover = np.flatnonzero(np.cumsum(edges[:-1]) == 0)
    gaps = np.searchsorted(spans[:, 0], leftover)
    facts: dict[tuple[int, str], list[Fact]] = defaultdict(list)
    last = (-2, -1, "")
    for place, gap in zip(leftover.tolist(), gaps.tolist(), strict=True):
        fact = text.fact(place)
        if fact is None:
            continue
        members = facts[gap, _class(fact.kind)]
        if fact.kind in ("name", "date") and last == (place - 1, gap, fact.kind):
            before = members.pop()
            value, spelling = f"{before.value} {fact.value}", f"{before.spelling} {fact.spelling}"
            fact = Fact(fact.kind, value, spelling)
        members.append(fact)
        last = place, gap, fact.kind
    return facts


def _class(kind: DifferenceKind) -> str:
    """Return what a fact is paired with: a number may be a date or an amount in the other text."""
    return kind if kind in ("negation", "name") else "number"


def _without_common(a: list[Fact], b: list[Fact]) -> tuple[list[Fact], list[Fact]]:
    """Return both lists without the facts that have the same value in both, as often as both."""
    common = Counter(_key(fact) for fact in a) & Counter(_key(fact) for fact in b)
    return _without(a, common), _without(b, common)


def _without(facts: list[Fact], common: Counter[tuple[str, str]]) -> list[Fact]:
    rest = common.copy()
    result = []
    for fact in facts:
        if rest[_key(fact)]:
            rest[_key(fact)] -= 1
        else:
            result.append(fact)
    return result


def _key(fact: Fact) -> tuple[str, str]:
    return _class(fact.kind), fact.value
