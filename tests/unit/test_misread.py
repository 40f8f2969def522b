"""The measure `lcs_misread`: misread words in part, facts never, and its relation to `lcs`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.comparing.alignment import lcs
from indexer.comparing.misread import lcs_misread
from indexer.comparing.words import normal_words
from indexer.lab.synthesis.changes import RandomSource, add_ocr_noise

CLEAN = (
    "The tenant shall keep the garden behind the cottage in reasonable order, repair broken "
    "windows without delay and report damage to the landlord before winter arrives. Visitors "
    "park beside the northern gate; invoice 4711 covers firewood delivered during autumn."
)
MISREAD = (
    "The tenant shall keep the garclen behind the cottage in reasonahle order, repair hroken "
    "windows without delav and report darnage to the landlord before wintcr arrives. Visitors "
    "park heside the northern gate; invoice 4711 covers fircwood delivered during auturnn."
)
WORDS = st.sampled_from(["garden", "garclen", "window", "vvindow", "no", "12", "13", "of", "ofthe"])
TEXTS = st.lists(WORDS, max_size=30).map(" ".join)


def similarity(a: str, b: str) -> float:
    return lcs_misread(normal_words(a), normal_words(b))


def in_order(a: str, b: str) -> float:
    return lcs(normal_words(a), normal_words(b))


def test_misread_words_count_by_their_letters_in_order() -> None:
    words = len(normal_words(CLEAN))
    letters = (5 / 7, 9 / 10, 5 / 6, 4 / 5, 5 / 7, 5 / 6, 5 / 6, 7 / 8, 5 / 7)
    assert in_order(CLEAN, MISREAD) == (words - len(letters)) / words
    expected = (words - len(letters) + sum(letters)) / words
    assert similarity(CLEAN, MISREAD) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("a", "b"),
    [("4711", "4771"), ("4711", "47l1"), ("invoice", "not"), ("Visitors", "Neighbours")],
)
def test_facts_and_other_words_do_not_count(a: str, b: str) -> None:
    """Each costs a whole word, as by `lcs`."""
    changed = MISREAD.replace(a, b)
    assert changed != MISREAD
    assert similarity(CLEAN, MISREAD) - similarity(CLEAN, changed) == pytest.approx(
        1 / len(normal_words(CLEAN))
    )


def test_names_with_other_digits_are_other_names() -> None:
    codes = [f"part{place} belongs to shelf{place} of the hall" for place in range(1, 9)]
    a, b = " ".join(codes), " ".join(codes).replace("part", "part9")
    assert similarity(a, b) == in_order(a, b) < 0.9


def test_few_misread_words_are_edits() -> None:
    edited = CLEAN.replace("broken", "hroken").replace("damage", "darnage")
    assert similarity(CLEAN, edited) == in_order(CLEAN, edited)


def test_a_name_that_stands_for_another_wherever_it_stands_is_no_error() -> None:
    page = "Lists instances. Takes instances of a zone, and prints instances by name. " * 4
    other = page.replace("instances", "instancer")
    assert similarity(page, other) == in_order(page, other) < 0.9


def test_a_rewritten_text_is_not_misread() -> None:
    """Five words look misread, but most of what differs does not."""
    rewritten = " ".join(MISREAD.split()[:24]) + " while everybody else went home by train " * 3
    assert similarity(CLEAN, rewritten) == in_order(CLEAN, rewritten)


@given(TEXTS, TEXTS)
def test_symmetric_never_below_lcs_and_at_most_the_shorter_text(first: str, second: str) -> None:
    a, b = normal_words(first), normal_words(second)
    value = lcs_misread(a, b)
    assert value == lcs_misread(b, a)
    longer = max(len(a), len(b), 1)
    assert lcs(a, b) <= value <= min(len(a), len(b)) / longer + 1e-9


@given(TEXTS, TEXTS, st.sampled_from([0.3, 0.5, 0.8, 0.9, 1.0]))
def test_a_threshold_never_loses_a_pair_that_reaches_it(
    first: str, second: str, least: float
) -> None:
    a, b = normal_words(first), normal_words(second)
    exact = lcs_misread(a, b)
    value = lcs_misread(a, b, least)
    assert value == exact if exact >= least else value < least


@pytest.mark.parametrize("seed", range(5))
def test_a_text_with_one_character_in_twenty_misread_keeps_four_fifths(seed: int) -> None:
    chance = RandomSource(seed, "text")
    syllables = [first + second for first in "bdfgklmnprst" for second in "aeiou"]
    text = " ".join("".join(chance.choice(syllables) for _ in range(5)) for _ in range(200))
    copy = add_ocr_noise(text, 0.05, RandomSource(seed, "noise"))
    assert in_order(text, copy) < similarity(text, copy)
    assert similarity(text, copy) >= 0.8
