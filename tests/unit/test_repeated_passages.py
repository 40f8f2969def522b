"""Passages that occur in many texts, in words alone."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.comparing.words import normal_words
from indexer.defaults import RUN_WORDS
from indexer.grouping.passages import (
    FrequentRuns,
    Passage,
    PassageFinder,
    RunCounter,
    frequent_spans,
)
from indexer.system.approved_passages import word_runs
from indexer.system.external_memory import MemoryBudget

GOLDEN = ["0xc32a7227d4076645", "0xc28feef39554b7ef"]


def passages_of(texts: list[str], least: int = 5, words: int = 10) -> list[tuple[str, set[int]]]:
    """Return the words of each passage, and the texts that have it."""
    read = [normal_words(text) for text in texts]
    counter = RunCounter(MemoryBudget())
    for text in read:
        counter.add(word_runs(text))
    finder = PassageFinder(counter.frequent(least), least, words)
    for number, text in enumerate(read):
        finder.add(number, word_runs(text))
    return [
        (words_of(read, item), {each.text for each in item.occurrences})
        for item in finder.passages()
    ]


def words_of(texts: list[object], passage: Passage) -> str:
    """Return the words of a passage where it was read first."""
    text, start, stop = passage.origin
    return " ".join(texts[text].folded[start:stop])


def random_words(draw: random.Random, number: int) -> list[str]:
    """Return so many words that no other text has in this order."""
    return [f"w{draw.randrange(10**6)}" for _ in range(number)]


def test_golden_runs_of_words() -> None:
    runs = word_runs(normal_words("one two three four five six seven eight nine"))
    assert [hex(run) for run in runs.tolist()] == GOLDEN


def test_inserted_passages_are_found_wherever_they_stand() -> None:
    draw = random.Random(3)
    inserted = [random_words(draw, size) for size in (12, 20, 60)]
    texts, holders = [], [set(), set(), set()]
    for number in range(60):
        text = random_words(draw, 90)
        if number % 2:
            which, place = number // 2 % 3, draw.choice([0, 45, 90])
            text[place:place] = inserted[which]
            holders[which].add(number)
        texts.append(" ".join(text))
    found = dict(passages_of(texts))
    assert set(found) == {" ".join(each) for each in inserted}
    assert [found[" ".join(each)] for each in inserted] == holders


def test_a_passage_that_is_edited_a_little_is_still_in_a_text() -> None:
    draw = random.Random(4)
    passage = random_words(draw, 100)
    texts = [" ".join([*random_words(draw, 30), *passage]) for _ in range(6)]
    edited = [*passage[:50], "changed", *passage[51:]]
    texts.append(" ".join([*edited, *random_words(draw, 30)]))
    assert passages_of(texts) == [(" ".join(passage), set(range(7)))]


def test_a_passage_inside_a_longer_one_is_told_apart() -> None:
    draw = random.Random(5)
    licence, notice = random_words(draw, 40), random_words(draw, 40)
    texts = [" ".join([*random_words(draw, 30), *notice, *licence]) for _ in range(6)]
    texts += [" ".join([*licence, *random_words(draw, 30)]) for _ in range(30)]
    found = passages_of(texts)
    assert found == [
        (" ".join(licence), set(range(36))),
        (" ".join([*notice, *licence]), set(range(6))),
    ]


def test_too_few_texts_and_too_few_words_make_no_passage() -> None:
    draw = random.Random(6)
    passage = " ".join(random_words(draw, 12))
    texts = [f"{passage} {' '.join(random_words(draw, 20))}" for _ in range(5)]
    assert len(passages_of(texts)) == 1
    assert passages_of(texts, words=13) == []
    assert passages_of(texts, least=6) == []
    assert passages_of([]) == []
    assert passages_of(["one two", "one two"] * 5) == []


@given(st.lists(st.sets(st.integers(0, 9)), max_size=8), st.integers(2, 4))
def test_frequent_runs_are_counted(texts: list[set[int]], least: int) -> None:
    counter = RunCounter(MemoryBudget())
    for text in texts:
        counter.add(np.array(sorted(text), dtype=np.uint64))
    counts = [sum(run in text for text in texts) for run in range(10)]
    expected = [count if count >= least else 0 for count in counts]
    frequent = counter.frequent(least)
    assert frequent.texts(np.arange(10, dtype=np.uint64)).tolist() == expected


@given(st.lists(st.integers(0, 4)), st.integers(1, 4))
def test_stretches_are_the_longest(texts: list[int], least: int) -> None:
    found = list(frequent_spans(np.array(texts, dtype=np.int64), least))
    inside = {place for start, stop in found for place in range(start, stop)}
    assert inside == {place for place, count in enumerate(texts) if count >= least}
    assert all(a.stop < b.start for a, b in pairwise(found))


def test_a_single_frequent_run_is_no_error() -> None:
    frequent = FrequentRuns(np.array([7, 7], dtype=np.uint64), 2)
    assert frequent.texts(np.array([7, 8], dtype=np.uint64)).tolist() == [2, 0]
    assert RUN_WORDS == 8


@pytest.mark.parametrize("least", [2, 3])
def test_texts_that_do_not_count_are_listed_but_make_no_passage(least: int) -> None:
    draw = random.Random(7)
    texts = [normal_words(" ".join(random_words(draw, 30)))] * 3
    counter = RunCounter(MemoryBudget())
    for text in texts[:least]:
        counter.add(word_runs(text))
    finder = PassageFinder(counter.frequent(2), 2, 10)
    for number, text in enumerate(texts):
        finder.add(number, word_runs(text), counts=number < least)
    [passage] = finder.passages()
    assert [each.text for each in passage.occurrences] == [0, 1, 2]
