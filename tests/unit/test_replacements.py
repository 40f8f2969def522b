"""Words that stand for the same other words again and again."""

import pytest
from family_oracle import families_of
from hypothesis import given
from hypothesis import strategies as st
from sample_library import library, rows, sentence

from indexer.comparing.alignment import (
    NONE,
    AlignedWords,
    Replacement,
    is_replaced,
    max_replaced,
    may_be_replaced,
)
from indexer.comparing.criteria import NO_CRITERIA, Criteria
from indexer.comparing.measures import ComparedText
from indexer.errors import UsageError
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.grouping.match import MatchOptions, match
from indexer.jobs.arrival import Arrivals
from indexer.recipe import DEFAULT
from indexer.searching.fold_hits import fold_hits
from indexer.searching.search import SearchOptions, search

ONCE = Criteria(replaced=2)
ANY = Criteria(replaced=999)
PAGE = " ".join(f"{sentence(seed, 24)} the disks are listed" for seed in range(4))
OTHER = PAGE.replace("disks", "instances")
EDITED = PAGE.replace("disks", "instances", 2)
texts = st.lists(st.sampled_from(["a", "b", "c", "d e"]), max_size=12).map(" ".join)


def most(a: str, b: str) -> Replacement:
    return max_replaced(ComparedText(a, DEFAULT), ComparedText(b, DEFAULT))


def test_the_same_words_for_the_same_are_counted() -> None:
    assert most(PAGE, OTHER) == ("disks", "instances", 4)
    assert most(PAGE, EDITED) == ("disks", "instances", 2)
    assert most("a x b x c", "a y z b y z c") == ("x", "y z", 2)


def test_words_that_are_added_or_left_out_replace_none() -> None:
    assert most(PAGE, PAGE.replace("disks ", "")) == NONE
    assert most(PAGE, PAGE) == most("", "a") == most("", "") == NONE


def test_a_frequent_word_that_is_misread_at_times_is_no_other_subject() -> None:
    text = " ".join(f"the w{place}" for place in range(40))
    misread = text.replace("the", "tbe", 3)
    assert most(text, misread) == NONE
    assert most(text, text.replace("the", "tbe", 10)).times == 10


@pytest.mark.long
@given(texts, texts)
def test_either_order_gives_the_same_number(a: str, b: str) -> None:
    assert most(a, b).times == most(b, a).times


@given(texts, texts)
def test_there_is_none_exactly_where_no_stretch_may_count(a: str, b: str) -> None:
    found = most(a, b)
    assert (found.times == 0) == (found == NONE)
    assert found.times <= min(len(a.split()), len(b.split()))


def test_match_and_group_and_folding_and_arrival_keep_them_apart() -> None:
    stored = rows({"a": PAGE, "b": OTHER, "c": EDITED})
    store = library(stored)
    pairs = match(store, MatchOptions(0.9, criteria=ONCE))
    assert [(pair.a, pair.b) for pair in pairs] == [("a", "c"), ("b", "c")]
    assert len(match(store, MatchOptions(0.9))) == 3
    group(store, GroupOptions(criteria=ONCE, principal="path"))
    assert families_of(store) == {"a": "a", "b": "b", "c": "a"}
    hits = fold_hits(store, "abc", criteria=ONCE)
    assert [[hit.id, *(folded.id for folded in hit.folded)] for hit in hits] == [["a", "c"], ["b"]]
    arrivals = Arrivals(library([]), DEFAULT, GroupOptions(criteria=ONCE))
    assert [row.family for row in arrivals.assign(stored)] == ["a", "b", "a"]


def test_the_limit_is_kept_in_settings_and_checked() -> None:
    assert ONCE.settings() == {"require": ["replaced<=2"]}
    assert Criteria.from_settings(ONCE.settings()) == ONCE
    assert ONCE and Criteria(replaced=0.0) and not Criteria()
    with pytest.raises(UsageError, match="replaced is 0 or more"):
        Criteria(replaced=-1)


@given(texts, texts, st.integers(0, 4))
def test_a_limit_is_exceeded_exactly_by_the_most_frequent_one(a: str, b: str, limit: int) -> None:
    pair = ComparedText(a, DEFAULT), ComparedText(b, DEFAULT)
    assert is_replaced(*pair, limit) == (most(a, b).times > limit)
    aligned = AlignedWords(*(text.words for text in pair))
    assert may_be_replaced(aligned, limit) or not is_replaced(*pair, limit)


def test_folding_keeps_them_apart_by_default_and_pairs_for_review_do_not() -> None:
    stored = rows({"a": PAGE, "b": OTHER, "c": EDITED})
    store = library(stored)
    assert len(match(store, MatchOptions(0.9))) == 3
    for options, families in (
        (GroupOptions(principal="path"), {"a": "a", "b": "b", "c": "a"}),
        (GroupOptions(principal="path", criteria=ANY), {"a": "a", "b": "a", "c": "a"}),
        (GroupOptions(measure="overlap", principal="path"), {"a": "a", "b": "a", "c": "a"}),
    ):
        group(store, options)
        assert families_of(store) == families
    for criteria, count in ((NO_CRITERIA, 2), (ANY, 1)):
        assert len(fold_hits(store, "abc", criteria=criteria)) == count
        assert len(search(store, "", SearchOptions(criteria=criteria)).hits) == count
    arrivals = Arrivals(library([]), DEFAULT, GroupOptions())
    assert [row.family for row in arrivals.assign(stored)] == ["a", "b", "a"]


def test_the_default_is_in_the_settings_of_families() -> None:
    assert GroupOptions().settings()["require"] == ["replaced<=2"]
    assert GroupOptions.from_settings(GroupOptions().settings()).folding == GroupOptions().folding
    assert "require" not in GroupOptions(measure="jaccard").settings()


LINKS = " ".join(f"{sentence(seed, 24)} see https://a.org/disks/x" for seed in range(4))
HEADS = "\n".join(
    f"{sentence(seed, 24)}\nsee www.a.org, Draft of the lease, page {seed}" for seed in range(4)
)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        (LINKS, LINKS.replace("disks", "tapes")),
        (HEADS, HEADS.replace("Draft", "Final")),
        (PAGE.replace("disks", "A1B2C3D4E5F6"), PAGE.replace("disks", "Z1B2C3D4E5F6")),
    ],
    ids=["links", "running heads", "tokens"],
)
def test_replacements_outside_of_the_wording_do_not_count(text: str, other: str) -> None:
    assert most(text, other) == NONE


def test_a_name_counts_in_links_where_it_also_stands_outside() -> None:
    text = f"{LINKS} the disks {sentence(9, 24)}"
    assert most(text, text.replace("disks", "tapes")) == ("disks", "tapes", 5)


@pytest.mark.parametrize(
    ("word", "other"),
    [("pattern", "pattem"), ("colour", "color"), ("licence", "license"), ("no index", "noindex")],
)
def test_a_misread_or_differently_spelled_word_counts_once(word: str, other: str) -> None:
    text = PAGE.replace("disks", word)
    assert most(text, text.replace(word, other)).times <= 1
    assert not ONCE.accepts(ComparedText(text, DEFAULT), ComparedText(PAGE, DEFAULT))
