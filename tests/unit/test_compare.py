"""Comparisons: the JSON of the command line, and rows that hold every word of both texts."""

import json
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.comparing.compare import Comparison, as_json, compare, rows
from indexer.comparing.measures import describe_measures
from indexer.comparing.words import words
from indexer.errors import UnknownMeasure
from indexer.recipe import DEFAULT_V1

BLOCKS = st.lists(
    st.sampled_from(
        ["a b c d e", "f g h i j k", "l m n o p q r", "x", "y z", "(s, t)", "a b c d e. f g"]
    ),
    max_size=6,
)
MEASURES = {
    "jaccard",
    "lcs",
    "grown",
    "lcs_misread",
    "resemblance",
    "jaccard_words",
    "overlap",
    "containment",
    "terminology",
    "estimate",
    "hamming",
}


def shown_words(comparison: Comparison, side: int) -> list[str]:
    """Return every word of one text as the rows show it, span by span."""
    text = comparison.texts[side]
    spans = [span for row in rows(comparison) for span in (row.left, row.right)[side]]
    return [word for span in spans for word in words(text[span.start : span.end]).folded]


@given(BLOCKS, BLOCKS, st.sampled_from(["literal", "information"]))
def test_rows_show_every_word_once_and_in_order(
    first: list[str], second: list[str], matching: str
) -> None:
    comparison = compare("; ".join(first), "; ".join(second), matching=matching)
    for side in (0, 1):
        assert shown_words(comparison, side) == words(comparison.texts[side]).folded


@given(BLOCKS, BLOCKS)
def test_rows_of_the_same_passage_say_the_same(first: list[str], second: list[str]) -> None:
    comparison = compare(" ".join(first), " ".join(second))
    for row in rows(comparison):
        if row.same:
            texts = [
                text[span.start : span.end]
                for text, (span,) in zip(comparison.texts, (row.left, row.right), strict=True)
            ]
            assert words(texts[0]).folded == words(texts[1]).folded
        else:
            assert all(span.passage is None or span.moved for span in (*row.left, *row.right))


@given(BLOCKS, BLOCKS)
def test_the_heaviest_passages_in_the_same_order_stay_in_place(
    first: list[str], second: list[str]
) -> None:
    comparison = compare(" ".join(first), " ".join(second))
    kept_words = sum(
        comparison.shared[row.left[0].passage - 1].words for row in rows(comparison) if row.same
    )
    orders = (
        chosen
        for size in range(len(comparison.shared) + 1)
        for chosen in combinations(comparison.shared, size)
    )
    rising = (
        chosen for chosen in orders if list(chosen) == sorted(chosen, key=lambda passage: passage.b)
    )
    assert kept_words == max(sum(passage.words for passage in chosen) for chosen in rising)


def test_a_moved_passage_is_marked_in_both_texts() -> None:
    comparison = compare(
        "one two three four five. a b c d e f g", "a b c d e f g one two three four five."
    )
    moved = [
        (side, span.passage)
        for row in rows(comparison)
        for side in ("left", "right")
        for span in getattr(row, side)
        if span.moved
    ]
    assert moved == [("left", 1), ("right", 1)]


def test_punctuation_stays_with_its_passage() -> None:
    comparison = compare(
        "He said: “one two three four five!” Then.", "“One two three four five!” was said."
    )
    [row] = [row for row in rows(comparison) if row.same]
    assert comparison.texts[0][row.left[0].start : row.left[0].end] == "“one two three four five!”"


def test_json_has_every_measure_and_offsets_into_the_texts() -> None:
    a, b = "Did you steal the money?", "> Did you steal the money?\n\nYes."
    record = json.loads(json.dumps(as_json(compare(a, b, DEFAULT_V1))))
    assert set(record["measures"]) == MEASURES | {"containment_words", "hamming_interval"}
    assert record["measures"]["containment_words"] == [1.0, pytest.approx(5 / 6)]
    low, high = record["measures"]["hamming_interval"]
    assert low < record["measures"]["hamming"] <= high
    assert record["measures"]["jaccard_words"] == pytest.approx(5 / 6)
    assert record["measures"]["containment"][0] == 1.0
    assert set(record["measures"]["estimate"]) == {"similarity", "low", "high"}
    [passage] = record["shared"]
    assert a[slice(*passage["a"])] == b[slice(*passage["b"])] == "Did you steal the money"
    assert passage["words"] == 5


def test_json_of_texts_without_sketches() -> None:
    measures = as_json(compare("yes", "Yes!"))["measures"]
    assert (
        measures["estimate"],
        measures["hamming"],
        measures["hamming_interval"],
        measures["overlap"],
    ) == (
        None,
        None,
        None,
        1.0,
    )


def test_json_of_one_measure() -> None:
    comparison = compare("Did you steal the money?", "Did you steal the money? Yes.")
    assert as_json(comparison, "overlap")["measures"] == {"overlap": pytest.approx(5 / 6)}
    with pytest.raises(UnknownMeasure):
        as_json(comparison, "cosine")
    with pytest.raises(UnknownMeasure):
        as_json(comparison, "containment_words")


def test_texts_without_words_have_nothing_to_show() -> None:
    comparison = compare("", " \n!")
    assert rows(comparison) == []
    assert as_json(comparison)["shared"] == []
    assert comparison.measures.overlap == comparison.measures.jaccard == 0.0


def test_the_width_of_shingles_is_that_of_resemblance_alone() -> None:
    texts = ("one two three four five six", "one two three four five seven")
    usual, pairs = compare(*texts), compare(*texts, shingle_width=2)
    assert usual.measures.resemblance == 1 / 3
    assert pairs.measures.resemblance == 4 / 6
    assert describe_measures(pairs.measures)["resemblance"] == "S_R: 2-word shingles in common"
    assert pairs.measures.overlap == usual.measures.overlap
