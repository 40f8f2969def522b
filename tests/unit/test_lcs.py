"""Words in order: the definition, the fast computation, the alignment, and large texts."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lcs_oracle import lcs_by_table

from indexer.comparing import alignment
from indexer.comparing import words as word_numbers
from indexer.comparing.alignment import AlignedWords, common_runs, lcs, lcs_length
from indexer.comparing.measures import ComparedText, measure_pair
from indexer.comparing.words import lcs_of_strings, normal_words, words
from indexer.grouping.words_in_common import _have_accents
from indexer.recipe import DEFAULT

GOLDEN = Path(__file__).parent.parent / "golden" / "lcs.json"
PAIRS = json.loads(GOLDEN.read_text(encoding="utf-8"))["pairs"]
TEXTS = st.lists(st.sampled_from("abcdé中"), max_size=40).map(" ".join)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["name"])
def test_golden_pairs(pair: dict) -> None:
    a, b = words(pair["a"]), words(pair["b"])
    assert [len(a), len(b)] == pair["words"]
    assert lcs_by_table(a.folded, b.folded) == pair["common"]
    assert lcs_length(a, b) == lcs_length(b, a) == pair["common"]
    assert lcs(a, b) == pair["common"] / max(1, *pair["words"])


@given(TEXTS, TEXTS)
def test_the_fast_computation_gives_the_definition(first: str, second: str) -> None:
    a, b = words(first), words(second)
    common = lcs_by_table(a.folded, b.folded)
    assert lcs_length(a, b) == AlignedWords(a, b).length == common


@given(TEXTS, TEXTS, st.integers(0, 45))
def test_below_the_least_length_of_interest_it_is_0(first: str, second: str, least: int) -> None:
    a, b = words(first), words(second)
    exact = lcs_by_table(a.folded, b.folded)
    assert lcs_length(a, b, least) == (exact if exact >= least else 0)


@given(TEXTS, TEXTS, st.sampled_from([0.1, 0.5, 0.6, 0.75, 0.8, 0.9, 1.0]))
def test_a_threshold_never_loses_a_pair_that_reaches_it(
    first: str, second: str, threshold: float
) -> None:
    a, b = words(first), words(second)
    exact = lcs(a, b)
    assert lcs(a, b, threshold) in ({exact} if exact >= threshold else {exact, 0.0})


@given(TEXTS, TEXTS)
def test_words_that_differ_in_accents_count_where_one_text_has_none(a: str, b: str) -> None:
    plain = words(b.replace("é", "e").replace("a", "é")), words(a.replace("é", "e"))
    left, right = plain
    found = lcs(left, right)
    assert found == lcs(right, left)
    common = lcs_by_table(left.folded, right.folded)
    if left.has_accents:
        without = lcs_by_table(left.plain.folded, right.folded)
        common += 0.95 * (without - common)
    assert found == common / max(1, len(left), len(right))


@pytest.mark.long
def test_a_letter_with_an_accent_is_one_as_it_is_written_and_as_it_is_folded() -> None:
    for code in range(0x2000):
        letter = chr(code)
        assert _have_accents(letter + "x") == normal_words(letter + "x").has_accents


@given(TEXTS, TEXTS)
def test_runs_are_a_longest_common_subsequence(first: str, second: str) -> None:
    a, b = words(first), words(second)
    runs = common_runs(a, b)
    assert sum(run.words for run in runs) == lcs_by_table(a.folded, b.folded)
    check_runs(runs, a.folded, b.folded)


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4), st.integers(1, 999))
def test_runs_by_the_kernel_are_those_of_the_definition(
    parts: list[tuple[str, str]], cells: int
) -> None:
    a, b = (words(" x ".join(texts)) for texts in zip(*parts, strict=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alignment, "RUN_CELLS", cells)
        runs = common_runs(a, b)
        patch.setattr(word_numbers, "_kernel", None)
        assert common_runs(a, b) == runs


@given(TEXTS, TEXTS)
def test_runs_do_not_depend_on_the_order_of_the_texts(first: str, second: str) -> None:
    a, b = words(first), words(second)
    assert common_runs(b, a) == [(run.b, run.a, run.words) for run in common_runs(a, b)]


@given(TEXTS, TEXTS, st.integers(0, 30))
def test_anchored_runs_are_a_common_subsequence_and_never_longer(
    first: str, second: str, cells: int
) -> None:
    a, b = words(first), words(second)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alignment, "RUN_CELLS", max(1, cells))
        patch.setattr(alignment, "EXACT_CELLS", 0)
        runs = common_runs(a, b)
        length = lcs_length(a, b)
    check_runs(runs, a.folded, b.folded)
    assert length == sum(run.words for run in runs) <= lcs_by_table(a.folded, b.folded)


def check_runs(runs: list, a: list[str], b: list[str]) -> None:
    end_a, end_b = 0, 0
    for run in runs:
        assert run.words > 0
        assert run.a >= end_a
        assert run.b >= end_b
        end_a, end_b = run.a + run.words, run.b + run.words
        assert a[run.a : end_a] == b[run.b : end_b]


def test_large_texts_are_aligned_by_anchors_to_within_a_thousandth() -> None:
    random = np.random.default_rng(3)
    original = [f"w{number}" for number in random.zipf(1.3, 12_000) % 5_000]
    edited = [word if random.random() > 0.1 else "changed" for word in original]
    a, b = words(" ".join(original)), words(" ".join(edited))
    exact = lcs(a, b)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alignment, "RUN_CELLS", 1 << 14)
        patch.setattr(alignment, "EXACT_CELLS", 0)
        anchored = lcs(a, b)
    assert exact - 0.001 <= anchored <= exact


@pytest.mark.long
def test_more_words_than_code_points_are_compared_as_numbers() -> None:
    many = np.arange(word_numbers.MAX_CODES + 2)
    assert isinstance(word_numbers.as_string(many[-2:]), list)
    below = many[word_numbers._SURROGATES.start - 1 : word_numbers.MAX_CODES]
    text = word_numbers.as_string(below)
    assert isinstance(text, str)
    assert len(set(text)) == len(below)
    assert max(map(ord, text)) == 0x10FFFF


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("one two three", "one two three four five six"),  # the lengths rule it out
        ("one two three four", "five six seven four"),  # the words in common rule it out
    ],
)
def test_pairs_that_cannot_reach_the_threshold_are_not_aligned(
    a: str, b: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alignment, "lcs_of_strings", None)
    assert lcs(words(a), words(b), 0.8) == 0.0


def test_swapped_halves_are_half_in_order() -> None:
    sides = [ComparedText(text, DEFAULT) for text in ("a b c d e f g h", "e f g h a b c d")]
    assert measure_pair("lcs", *sides).similarity == 0.5
    assert measure_pair("terminology", *sides).similarity == 1.0


@given(st.integers(30, 400), st.data())
def test_a_pair_exactly_at_the_cut_off_is_found_in_either_order(size: int, data) -> None:
    """A log that lost its head and has a new tail, or whose head moved to the end."""
    cut = data.draw(st.integers(1, size // 3))
    text = "".join(map(chr, range(200, 200 + size)))
    new = "".join(map(chr, range(9_000, 9_000 + cut)))
    for other in (
        text[cut:] + new,
        new + text[:-cut],
        text[cut:] + text[:cut],
        text[-cut:] + text[:-cut],
    ):
        exact = lcs_of_strings(text, other)
        assert exact == size - cut
        for least in range(exact - 2, exact + 2):
            expected = exact if exact >= least else 0
            assert lcs_of_strings(text, other, least) == expected
            assert lcs_of_strings(other, text, least) == expected
