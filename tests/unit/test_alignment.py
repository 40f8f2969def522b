"""Matching chunks: Greedy String Tiling against its definition, information matching, symmetry,
hostile texts.
"""

import time
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from indexer.comparing.measures import Alignment, align, passages, tiles
from indexer.comparing.tiling import Tile, tiles_by_pairs, tiles_by_suffixes
from indexer.comparing.words import Words, number_runs, words

SEQUENCES = st.integers(1, 5).flatmap(
    lambda kinds: st.tuples(*[st.lists(st.integers(1, kinds), max_size=30)] * 2)
)
WIDTHS = st.integers(1, 6)
MILLION = 170_000  # words in a megabyte of English


def text_of(numbers: Sequence[int]) -> Words:
    return words(" ".join(f"w{number}" for number in numbers))


def tiles_by_definition(a: list[int], b: list[int], width: int) -> list[Tile]:
    """Return tiles by definition.

    The longest free match, earliest in a, then in b, until none is long enough.
    """
    free_a, free_b, placed = [True] * len(a), [True] * len(b), []
    while True:
        best = Tile(0, 0, 0)
        for at_a in range(len(a)):
            for at_b in range(len(b)):
                size = 0
                while (
                    at_a + size < len(a)
                    and at_b + size < len(b)
                    and a[at_a + size] == b[at_b + size]
                    and free_a[at_a + size]
                    and free_b[at_b + size]
                ):
                    size += 1
                best = max(best, Tile(at_a, at_b, size), key=lambda tile: tile.words)
        if best.words < width:
            return placed
        placed.append(best)
        free_a[best.a : best.a + best.words] = free_b[best.b : best.b + best.words] = [
            False
        ] * best.words


@pytest.mark.long
@given(SEQUENCES, WIDTHS)
@example(
    ([1, 2, 3, 9, 4, 5, 1], [4, 5, 1, 2, 3]), 2
)  # one tile cuts the last word off an equally long match
def test_both_ways_place_the_tiles_of_the_definition(
    texts: tuple[list[int], list[int]], width: int
) -> None:
    runs = number_runs(*(np.array(text, dtype=np.int64) for text in texts), width)
    expected = tiles_by_definition(*texts, width)
    assert tiles_by_pairs(*runs, width) == expected
    assert tiles_by_suffixes(*runs, width) == expected


@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3, 30, 1000]), st.integers(2, 5))
def test_both_ways_agree_on_longer_texts(seed: int, kinds: int, copies: int) -> None:
    random = np.random.default_rng(seed)
    page = random.integers(0, kinds, 60)
    a, b = np.tile(page, copies), np.tile(page, 3)
    a[random.integers(0, len(a), 8)] = kinds + 1
    b[random.integers(0, len(b), 8)] = kinds + 2
    runs = number_runs(a, b, 5)
    assert tiles_by_pairs(*runs, 5) == tiles_by_suffixes(*runs, 5)


@given(SEQUENCES, WIDTHS, st.sampled_from(["literal", "information"]))
@example(
    ([1, 1, 0, 1, 0], [0, 1, 0, 1, 1]), 2, "literal"
)  # tiles that are earliest in the one or the other make 3 or 5 words
@example(([1, 2, 3, 8, 9], [1, 2, 7, 2, 3]), 2, "information")  # 3 and 4 of 5 words are covered
def test_counts_do_not_depend_on_the_order_of_the_texts(
    texts: tuple[list[int], list[int]], width: int, matching: str
) -> None:
    a, b = map(text_of, texts)
    forward, back = align(a, b, matching, width), align(b, a, matching, width)
    assert (forward.longer, forward.shorter, forward.common) == (
        back.longer,
        back.shorter,
        back.common,
    )
    assert 0 <= forward.common <= forward.shorter <= forward.longer
    assert 0 <= forward.jaccard <= forward.overlap <= 1
    assert min(forward.containment) == forward.overlap <= max(forward.containment) <= 1


@given(SEQUENCES, st.sampled_from(["literal", "information"]))
def test_chunks_say_the_same_words_in_both_texts(
    texts: tuple[list[int], list[int]], matching: str
) -> None:
    contents = [", ".join(f"W{number}" for number in text) for text in texts]
    a, b = map(words, contents)
    aligned = align(a, b, matching)
    assert list(aligned.chunks) == sorted(aligned.chunks)
    for passage in passages(aligned, a, b):
        assert contents[0][slice(*passage.a)] == contents[1][slice(*passage.b)]
        assert len(words(contents[0][slice(*passage.a)])) == passage.words >= min(5, len(a), len(b))


@given(SEQUENCES)
def test_literal_chunks_are_one_to_one(texts: tuple[list[int], list[int]]) -> None:
    aligned = align(*map(text_of, texts))
    for side in ("a", "b"):
        places = [
            place
            for chunk in aligned.chunks
            for place in range(getattr(chunk, side), getattr(chunk, side) + chunk.words)
        ]
        assert len(places) == len(set(places)) == aligned.common


def information_by_definition(a: list[int], b: list[int], width: int) -> tuple[int, int, int]:
    """Return L, S and C of information matching, by their definition."""
    width = max(1, min(width, len(a), len(b)))
    runs = [
        [tuple(text[at : at + width]) for at in range(len(text) - width + 1)] for text in (a, b)
    ]
    sizes = []
    for text, own, other_run in ((a, *runs), (b, *runs[::-1])):
        spans = [
            range(max(at, own.index(run) + width), at + width)
            for at, run in enumerate(own)
            if own.index(run) < at
        ]
        counted = set(range(len(text))) - {place for span in spans for place in span}
        covered = {
            place
            for at, run in enumerate(own)
            if run in other_run
            for place in range(at, at + width)
        }
        sizes.append((len(counted), len(counted & covered)))
    (shorter, common), (longer, _) = sorted(sizes)
    return longer, shorter, common


@given(SEQUENCES, WIDTHS)
@example(([1, 2, 3, 8, 9], [1, 2, 7, 2, 3]), 2)
def test_information_matching_is_as_defined(texts: tuple[list[int], list[int]], width: int) -> None:
    aligned = align(*map(text_of, texts), "information", width)
    assert (aligned.longer, aligned.shorter, aligned.common) == information_by_definition(
        *texts, width
    )


@given(st.lists(st.integers(1, 40), min_size=5, max_size=40, unique=True), st.integers(1, 4))
def test_repeats_add_no_information(page: list[int], copies: int) -> None:
    once, often = text_of(page), text_of(page * copies)
    assert align(once, often, "information").overlap == 1.0
    assert align(once, often).overlap == pytest.approx(1 / copies)
    for pair in ((once, often), (often, once)):
        assert align(*pair, "information").chunks == (Tile(0, 0, len(page)),)
    assert len(align(often, often, "information").chunks) == 1


@pytest.mark.parametrize("matching", ["literal", "information"])
@pytest.mark.parametrize(
    ("a", "b", "overlap"),
    [
        ("", "", 0.0),
        ("", "a", 0.0),
        ("!", "?", 0.0),
        ("thanks", "Thanks!", 1.0),
        ("thank you", "thank you Bob", 2 / 3),
        ("thank you", "you thank", 0.0),
        ("yes we can", "no they cannot", 0.0),
        ("one two three four", "five one two three four", 4 / 5),
        ("one two three four five", "one two three four six", 0.0),
    ],
)
def test_short_texts(a: str, b: str, overlap: float, matching: str) -> None:
    assert align(words(a), words(b), matching).overlap == pytest.approx(overlap)


def hostile() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return pairs of a megabyte each, quadratic for a matcher that lists pairs of equal runs."""
    random = np.random.default_rng(3)
    page = random.integers(0, 5000, 170)
    edited = np.tile(page, 300)
    edited[random.integers(0, 300 * 170, 300)] = 9999
    return {
        "one word": (np.zeros(MILLION, int), np.zeros(MILLION - 1000, int)),
        "a page many times, edited": (np.tile(page, 300), edited),
    }


@pytest.mark.long
@pytest.mark.parametrize("name", ["one word", "a page many times, edited"])
def test_hostile_texts_stay_near_linear(name: str) -> None:
    a, b = hostile()[name]
    start_time = time.process_time()
    placed = tiles(a, b, 5)
    assert time.process_time() - start_time < 20, (
        "seconds for two megabytes; a quadratic matcher needs hours"
    )
    common = sum(tile.words for tile in placed)
    assert common <= min(len(a), len(b))
    assert common >= (0.97 if "edited" in name else 1) * min(len(a), len(b))


def test_alignment_without_words_is_zero() -> None:
    nothing = Alignment((), (0, 0), 0)
    assert (nothing.overlap, nothing.jaccard, nothing.containment) == (0.0, 0.0, (0.0, 0.0))
