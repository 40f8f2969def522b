"""Folding the chunks of a ranked list."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.comparing.criteria import NO_CRITERIA, for_folding
from indexer.comparing.measures import ComparedText, measure_pair
from indexer.comparing.words import normal_words
from indexer.errors import UnknownMeasure, UsageError
from indexer.recipe import DEFAULT
from indexer.searching.fold_chunks import ChunkOptions, TopChunks, fold_chunks, shares_passage

FERRY = "The ferry leaves the harbour at eight and takes the mail to both islands every day."
EDITED = FERRY.replace("every day", "each day")
OTHER = "Interest on late rent is four per cent above the base rate, from the day it falls due."
WORDS = st.lists(st.sampled_from("abcd"), max_size=12).map(" ".join)


def groups(texts: list[str], options: ChunkOptions | None = None, limit: int = 0) -> list[object]:
    """Return the places of the shown chunks, each with what is folded under it."""
    shown = fold_chunks(texts, options, limit=limit)
    return [(item.place, [(hit.place, hit.reason) for hit in item.folded]) for item in shown]


def test_similar_chunks_fold_under_the_best_one() -> None:
    assert groups([FERRY, OTHER, EDITED]) == [(0, [(2, "similar")]), (1, [])]


def test_equal_chunks_fold_even_without_words() -> None:
    assert groups(["---", "", "---", ""]) == [(0, [(2, "similar")]), (1, [(3, "similar")])]


def test_nothing_gives_nothing() -> None:
    assert fold_chunks([]) == ()


def test_a_passage_in_both_folds_chunks_that_are_not_similar() -> None:
    passage = " ".join(f"word{number}" for number in range(100))
    texts = [f"{FERRY} {passage}", f"{passage} {OTHER} {OTHER}"]
    assert groups(texts) == [(0, [(1, "passage")])]
    assert groups(texts, ChunkOptions(passage=101)) == [(0, []), (1, [])]
    assert groups(texts, ChunkOptions(passage=0)) == [(0, []), (1, [])]


def test_templates_filled_in_for_other_subjects_stay_apart() -> None:
    page = "{0} pages: list {0}, and show {0}. " + FERRY * 2
    texts = [page.format("instances"), page.format("disks")]
    assert groups(texts, ChunkOptions(threshold=0.8)) == [(0, []), (1, [])]


def test_chunks_behind_the_limit_are_folded_or_left_out() -> None:
    assert groups([FERRY, OTHER, EDITED, "Something else."], limit=1) == [(0, [(2, "similar")])]


@pytest.mark.parametrize(
    "options", [{"threshold": 0}, {"threshold": 1.1}, {"passage": -1}, {"measure": "hamming"}]
)
def test_options_out_of_range_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        ChunkOptions(**options)


def test_unknown_measures_are_refused() -> None:
    with pytest.raises(UnknownMeasure):
        ChunkOptions(measure="nothing")


@given(WORDS, WORDS, st.integers(1, 5))
def test_passages_are_runs_of_words_in_both(a: str, b: str, width: int) -> None:
    def runs(text: str) -> set[tuple[str, ...]]:
        words = text.split()
        return {tuple(words[start : start + width]) for start in range(len(words) - width + 1)}

    shared = shares_passage(normal_words(a), normal_words(b), width)
    assert shared == bool(runs(a) & runs(b))


@given(st.lists(WORDS, max_size=8), st.sampled_from([0, 3]))
def test_every_chunk_is_shown_or_folded_once_and_shown_ones_differ(
    texts: list[str], passage: int
) -> None:
    options = ChunkOptions(threshold=0.7, measure="jaccard_words", passage=passage)
    shown = fold_chunks(texts, options)
    places = [item.place for item in shown] + [hit.place for i in shown for hit in i.folded]
    assert sorted(places) == list(range(len(texts)))
    sides = [ComparedText(texts[item.place], DEFAULT) for item in shown]
    for number, head in enumerate(sides):
        for other in sides[number + 1 :]:
            assert measure_pair("jaccard_words", head, other).similarity < 0.7
            assert not passage or not shares_passage(head.words, other.words, passage)
    for item in shown:
        assert all(hit.place > item.place for hit in item.folded)


def ask(texts: list[str], k: int, most: int = 100) -> tuple[list[int], list[int]]:
    """Return the places that are shown, and how many chunks were asked for."""
    top = TopChunks(str, k, ChunkOptions(), most)
    asked = []
    while top.wanted:
        asked.append(top.wanted)
        top.take(texts[: top.wanted])
    return [item.place for item in top.chunks], asked


def test_more_chunks_are_asked_for_until_there_are_enough() -> None:
    assert ask([FERRY] * 9 + [OTHER] + ["Another one."] * 9, k=2) == ([0, 9], [4, 8, 16])


def test_a_retriever_that_has_no_more_ends_the_search() -> None:
    assert ask([FERRY] * 3, k=2) == ([0], [4])
    assert ask([], k=2) == ([], [4])


def test_no_more_than_the_most_are_asked_for() -> None:
    assert ask([FERRY] * 50, k=2, most=10) == ([0], [4, 8, 10])


@pytest.mark.parametrize("k", [0, 11])
def test_a_number_of_chunks_out_of_range_is_refused(k: int) -> None:
    with pytest.raises(UsageError):
        TopChunks(str, k, ChunkOptions(), max_chunks=10)


def folded_by_comparing_all(texts: list[str], options: ChunkOptions) -> list[object]:
    """Return what `groups` does, after comparing each text with every shown one."""
    sides = [ComparedText(text, DEFAULT) for text in texts]
    criteria = for_folding(NO_CRITERIA, options.measure)
    found: dict[int, list[object]] = {}
    for place, side in enumerate(sides):
        for shown, folded in found.items():
            head = sides[shown]
            similarity = measure_pair(options.measure, head, side).similarity
            is_similar = similarity >= options.threshold and criteria.accepts(head, side)
            if head.text == side.text or is_similar:
                folded.append((place, "similar"))
            elif options.passage and shares_passage(head.words, side.words, options.passage):
                folded.append((place, "passage"))
            else:
                continue
            break
        else:
            found[place] = []
    return list(found.items())


@given(
    st.lists(WORDS, max_size=12),
    st.sampled_from(["lcs", "jaccard", "jaccard_words", "overlap", "resemblance", "containment"]),
    st.sampled_from([0.3, 0.5, 0.75, 0.9, 1.0]),
    st.sampled_from([0, 2, 4]),
)
def test_no_chunk_is_missed_that_comparing_all_of_them_folds(
    texts: list[str], measure: str, threshold: float, passage: int
) -> None:
    options = ChunkOptions(threshold, measure, passage)
    assert groups(texts, options) == folded_by_comparing_all(texts, options)
