"""Texts whose words that differ are of two languages."""

import pytest
from family_oracle import families_of
from hypothesis import given
from hypothesis import strategies as st
from sample_library import library, rows, sentence

from indexer.comparing.alignment import SAME_LANGUAGE, two_languages
from indexer.comparing.criteria import NO_CRITERIA, Criteria
from indexer.comparing.measures import ComparedText
from indexer.comparing.words import LANGUAGES_BY_WORD, normal_words
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.grouping.match import MatchOptions, match
from indexer.jobs.arrival import Arrivals
from indexer.recipe import DEFAULT
from indexer.searching.fold_hits import fold_hits
from indexer.searching.search import SearchOptions, search

UNTRANSLATED = " ".join(sentence(seed, 40) for seed in range(8))
GERMAN = f"Das ist nicht für die Datei. {UNTRANSLATED} Wenn das Programm mit der Option endet."
SWEDISH = f"Det är inte för en fil. {UNTRANSLATED} Om programmet avslutas med ett val som anges."
EDITED = GERMAN.replace("nicht", "auch nicht").replace("Wenn das Programm", "Falls es")
TEXTS = {"a": GERMAN, "b": SWEDISH, "c": EDITED}
ANY = Criteria(policy="loose")
english = [word for word, languages in LANGUAGES_BY_WORD.items() if languages == ("en",)]
sentences = st.lists(st.sampled_from([*english, "file", "option"]), max_size=30).map(" ".join)
mixed = st.lists(st.sampled_from([*LANGUAGES_BY_WORD, "file"]), max_size=40).map(" ".join)


def languages_of(a: str, b: str) -> tuple[str, str, int]:
    return two_languages(normal_words(a), normal_words(b))


def test_pages_that_were_hardly_translated_are_of_two_languages() -> None:
    assert languages_of(GERMAN, SWEDISH)[:2] == ("de", "sv")
    assert languages_of(GERMAN, SWEDISH)[2] >= 4


def test_an_edit_and_a_passage_that_only_one_has_are_not() -> None:
    assert languages_of(GERMAN, EDITED) == SAME_LANGUAGE
    assert languages_of(GERMAN, UNTRANSLATED) == languages_of("", SWEDISH) == SAME_LANGUAGE


def test_a_few_words_that_misreading_makes_are_no_language() -> None:
    text = f"{UNTRANSLATED} this and this and this and this of the and the"
    assert languages_of(text, text.replace("and", "un").replace("this", "th is")) == SAME_LANGUAGE


@given(sentences, sentences)
def test_texts_of_one_language_are_never_of_two(a: str, b: str) -> None:
    assert languages_of(a, b) == SAME_LANGUAGE


@given(mixed, mixed)
def test_either_order_gives_the_same(a: str, b: str) -> None:
    left, right = languages_of(a, b), languages_of(b, a)
    assert left == (right[1], right[0], right[2])


def test_whatever_folds_keeps_them_apart_and_pairs_for_review_do_not() -> None:
    stored = rows(TEXTS)
    store = library(stored)
    assert len(match(store, MatchOptions(0.9))) == 3
    group(store, GroupOptions(principal="path"))
    assert families_of(store) == {"a": "a", "b": "b", "c": "a"}
    for criteria, count in ((NO_CRITERIA, 2), (ANY, 1)):
        assert len(fold_hits(store, "abc", criteria=criteria)) == count
        assert len(search(store, "", SearchOptions(criteria=criteria)).hits) == count
    arrivals = Arrivals(library([]), DEFAULT, GroupOptions())
    assert [row.family for row in arrivals.assign(stored)] == ["a", "b", "a"]


@pytest.mark.parametrize("replaced, is_one", [(2, False), (999, True)])
def test_the_limit_on_replacements_decides(replaced: float, is_one: bool) -> None:
    a, b = ComparedText(GERMAN, DEFAULT), ComparedText(SWEDISH, DEFAULT)
    assert Criteria(replaced=replaced).accepts(a, b) is is_one
