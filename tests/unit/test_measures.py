"""Measures: the worked examples, the relations between them, the empty cases, the table of
names.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.comparing.measure import FeatureSet
from indexer.comparing.measures import (
    MEASURES,
    ComparedText,
    align,
    common,
    containment,
    estimate,
    feature_set,
    jaccard,
    measure_all,
    measure_pair,
    resemblance,
    terminology,
)
from indexer.comparing.words import words
from indexer.errors import UnknownMeasure
from indexer.fingerprinting.fingerprint import fingerprint
from indexer.fingerprinting.normalise import normalise
from indexer.fingerprinting.tokens import grams
from indexer.recipe import DEFAULT_V1, recipe_named

GOLDEN = Path(__file__).parent.parent / "golden"
EXAMPLES = json.loads((GOLDEN / "seed003_examples.json").read_text(encoding="utf-8"))["examples"]
CHUNKS = json.loads((GOLDEN / "seed003_chunks.json").read_text(encoding="utf-8"))["rows"]
NAMES = {
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
TEXTS = st.text(st.sampled_from("ab c.é中\n"), max_size=60)


def side(text: str) -> ComparedText:
    result = fingerprint(text, DEFAULT_V1)
    return ComparedText(text, DEFAULT_V1, result.minhash, result.simhash)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["name"])
def test_worked_examples(example: dict) -> None:
    left, right = side(example["left"]), side(example["right"])
    assert [len(left.words), len(right.words)] == example["words"]
    for matching in ("literal", "information"):
        result, expected = measure_all(left, right, matching), dict(example[matching])
        if "chunks" in expected:
            assert len(result.alignment.chunks) == expected.pop("chunks")
        assert {name: getattr(result.alignment, name) for name in expected} == expected
        for name in ("overlap", "jaccard_words", "resemblance"):
            percent = example.get(f"{name}_{matching}", example.get(name))
            if percent is not None:
                assert round(100 * getattr(result, name)) == percent


@pytest.mark.parametrize("row", CHUNKS, ids=lambda row: f"{row['words']} words")
def test_what_a_chunk_adds(row: dict) -> None:
    chunk = " ".join(f"shared{place}" for place in range(row["words"]))
    a, b = words(f"p q r s t {chunk} u v w x y"), words(f"f g h i j {chunk} k l m n o")
    assert align(a, b).common == row["jaccard_words"]
    shingles = len(a) + len(b) - 2 * 4 - row["resemblance"]
    assert resemblance(a, b) == row["resemblance"] / shingles


@given(
    st.permutations(range(60)),
    st.permutations(range(60)),
    st.integers(0, 50),
    st.integers(0, 50),
    st.integers(0, 50),
)
def test_resemblance_from_chunks_where_no_word_repeats(
    p: list[int], q: list[int], first: int, second: int, size: int
) -> None:
    """S_R = (C - n (w-1)) / (L + S - C + (n-2) (w-1)), and so S_R <= S_J <= S_L."""
    moved = q[:]
    block = p[first : first + size]
    rest = [word for word in moved if word not in block]
    texts = [
        " ".join(f"w{word}" for word in text) for text in (p, rest[:second] + block + rest[second:])
    ]
    result = measure_all(*map(side, texts))
    aligned = result.alignment
    spare = len(aligned.chunks) * 4
    assert result.resemblance == pytest.approx(
        (aligned.common - spare) / (aligned.longer + aligned.shorter - aligned.common + spare - 8)
    )
    assert result.resemblance <= result.jaccard_words <= result.overlap


@given(TEXTS, TEXTS, st.sampled_from(["literal", "information"]))
def test_every_measure_is_symmetric_and_between_0_and_1(
    first: str, second: str, matching: str
) -> None:
    a, b = side(first), side(second)
    for name in MEASURES:
        forward, back = measure_pair(name, a, b, matching), measure_pair(name, b, a, matching)
        assert forward == back
        assert 0 <= forward.low <= forward.similarity <= forward.high <= 1
    forward = measure_all(a, b, matching)
    assert forward.containment == measure_all(b, a, matching).containment[::-1]
    assert forward.jaccard_words <= forward.overlap


@given(TEXTS)
def test_a_text_is_similar_to_itself_where_the_measure_is_defined(text: str) -> None:
    result = measure_all(side(text), side(text))
    has_words, has_features = len(words(text)) > 0, len(feature_set(text, DEFAULT_V1)) > 0
    assert {
        result.lcs,
        result.lcs_misread,
        result.resemblance,
        result.jaccard_words,
        result.overlap,
        result.terminology,
    } == {float(has_words)}
    assert {result.jaccard, *result.containment} == {float(has_features)}
    if fingerprint(text, DEFAULT_V1).status == "complete":
        assert result.estimate is not None
        assert result.estimate.similarity == result.hamming == 1.0
    else:
        assert result.estimate is result.hamming is None


@given(TEXTS, TEXTS)
def test_features_are_the_distinct_character_grams_of_the_normalised_text(
    first: str, second: str
) -> None:
    a, b = ({*grams(normalise(text), 4)} for text in (first, second))
    ours = feature_set(first, DEFAULT_V1), feature_set(second, DEFAULT_V1)
    assert (len(ours[0]), len(ours[1]), common(*ours)) == (len(a), len(b), len(a & b))
    assert jaccard(*ours) == (len(a & b) / len(a | b) if a | b else 0.0)
    assert containment(*ours) == (
        len(a & b) / len(a) if a else 0.0,
        len(a & b) / len(b) if b else 0.0,
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ws:none:sha1:128", 3 / 4),
        ("2-word-shingles:none:sha1:128", 2 / 3),
        ("2-byte-grams:none:sha1:128", 8 / 9),
        ("simhash-doc", 3 / 4),
        ("signature-study:simhash:64", 5 / 7),
    ],
)
def test_features_are_those_of_the_recipe(name: str, expected: float) -> None:
    sets = [feature_set(text, recipe_named(name)) for text in ("aé be cé", "aé be cé d")]
    assert jaccard(*sets) == expected


@given(TEXTS, TEXTS)
def test_terminology_is_the_smaller_share_of_distinct_words(first: str, second: str) -> None:
    a, b = set(words(first).folded), set(words(second).folded)
    expected = min(len(a & b) / len(a), len(a & b) / len(b)) if a and b else 0.0
    assert terminology(words(first), words(second)) == expected


@given(TEXTS, TEXTS)
def test_resemblance_is_the_jaccard_similarity_of_shingles(first: str, second: str) -> None:
    a, b = words(first), words(second)
    width = min(5, len(a), len(b))
    sets = [
        {tuple(text.folded[at : at + width]) for at in range(len(text) - width + 1)}
        for text in (a, b)
    ]
    expected = len(sets[0] & sets[1]) / len(sets[0] | sets[1]) if width else 0.0
    assert resemblance(a, b) == expected


def test_estimate_has_the_wilson_interval() -> None:
    slots = np.arange(200, dtype=np.uint32)
    changed = slots.copy()
    changed[138:] += 1000
    result = estimate(slots, changed)
    assert result.similarity == 0.69
    assert (round(result.low, 2), round(result.high, 2)) == (0.62, 0.75)


def test_estimate_is_near_the_features_it_estimates() -> None:
    text = " ".join(f"clause{place} of the agreement" for place in range(300))
    result = measure_all(side(text), side(text.replace("clause7", "annex")))
    assert result.estimate.low <= result.jaccard <= result.estimate.high
    assert result.hamming > 0.8


def test_without_a_sketch_there_is_nothing_to_estimate() -> None:
    short = side("yes")
    assert (measure_all(short, short).estimate, measure_all(short, short).hamming) == (None, None)
    assert (
        measure_pair("estimate", short, short).high
        == measure_pair("hamming", short, short).high
        == 0.0
    )


def test_information_matching_is_selected_by_name() -> None:
    once = "the quick brown fox jumps over the lazy dog today"
    sides = side(once), side(f"{once}. {once}.")
    assert measure_pair("overlap", *sides).similarity == 0.5
    assert measure_pair("overlap", *sides, "information").similarity == 1.0


def test_the_names_are_those_of_the_command_line() -> None:
    assert set(MEASURES) == NAMES


def test_an_unknown_measure_names_the_known_ones() -> None:
    with pytest.raises(UnknownMeasure, match="jaccard"):
        measure_pair("cosine", side("a"), side("b"))


def test_common_of_an_empty_set_is_nothing() -> None:
    nothing, some = FeatureSet(np.zeros(0, np.uint64)), FeatureSet(np.array([3, 9], np.uint64))
    assert (common(nothing, some), common(some, nothing), common(some, some)) == (0, 0, 2)


def test_variants_have_other_chunks_matching_or_shingles() -> None:
    once = " ".join(f"w{number}" for number in range(8))
    a, b, c = side(once), side(f"{once} {once}"), side(f"{once} x1 x2 x3 x4")
    measured = {
        name: measure_pair(name, a, b).similarity
        for name in ("overlap", "overlap:information", "overlap:8:information", "overlap:8")
    }
    assert measured == {
        "overlap": 0.5,
        "overlap:information": 1.0,
        "overlap:8:information": 1.0,
        "overlap:8": 0.5,
    }
    assert measure_pair("resemblance:1", a, b).similarity == 1.0
    assert measure_pair("resemblance:2", a, c).similarity == 7 / 11
    assert measure_pair("jaccard_words:information", a, b).similarity == 1.0
    assert measure_pair("overlap:8", a, c) == measure_pair("overlap", a, c)


@pytest.mark.parametrize("name", ["overlap:", "overlap:0", "resemblance:information", "lcs:3"])
def test_other_variants_are_unknown(name: str) -> None:
    with pytest.raises(UnknownMeasure, match="overlap"):
        measure_pair(name, side("a"), side("b"))


@given(TEXTS, TEXTS)
def test_grown_is_words_in_order_of_the_text_that_was_there_before(first: str, second: str) -> None:
    a, b = side(first), side(second)
    value, in_order = (measure_pair(name, a, b).similarity for name in ("grown", "lcs"))
    assert in_order <= value <= min(1.0, 2 * in_order + 1e-9)
