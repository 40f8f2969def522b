"""The baselines: I-Match with random lexicons, super- and mega-shingles, winnowing."""

import json
import math
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.errors import UsageError
from indexer.fingerprinting.hashing import gram_hashes, mix64_array, string_hashes
from indexer.fingerprinting.keys import guarantee, winnow
from indexer.fingerprinting.normalise import encode
from indexer.fingerprinting.rare_terms import count_features, imatch, signatures_match
from indexer.fingerprinting.schemes import (
    chance,
    features_of,
    mega_shingles,
    permuted_minima,
    super_shingles,
)
from indexer.recipe import recipe_named

GOLDEN = json.loads((Path(__file__).parent.parent / "golden/baselines.json").read_text())
VOCABULARY = [f"w{number}" for number in range(300)]
RANDOM = random.Random(9)
TEXTS = [
    [word for rank, word in enumerate(VOCABULARY, 1) if RANDOM.random() < 4 / (rank + 3)]
    for _ in range(400)
]
STATISTICS = count_features((string_hashes(text) for text in TEXTS), "words")


def test_golden() -> None:
    slots = np.arange(84, dtype=np.uint32)
    assert list(imatch(TEXTS[0], STATISTICS, lexicons=3)) == GOLDEN["imatch"]
    assert [f"{sketch:016x}" for sketch in super_shingles(slots)] == GOLDEN["super_shingles"]
    assert [f"{sketch:016x}" for sketch in mega_shingles(slots)] == GOLDEN["mega_shingles"]
    assert (
        winnow(gram_hashes(encode("A do run run run, a do run run"), 5), 4).tolist()
        == GOLDEN["winnowed"]
    )


def test_imatch_depends_on_the_set_of_terms_only() -> None:
    text = TEXTS[0]
    assert imatch(text[::-1] * 2, STATISTICS) == imatch(text, STATISTICS)
    assert not signatures_match(imatch(TEXTS[0], STATISTICS), imatch(TEXTS[1], STATISTICS))


def test_terms_that_are_too_common_too_rare_or_unseen_change_nothing() -> None:
    text = TEXTS[0]
    holders = dict(
        zip(VOCABULARY, STATISTICS.holders(string_hashes(VOCABULARY)).tolist(), strict=True)
    )
    common, rare = (
        max(holders, key=holders.__getitem__),
        next(word for word, count in holders.items() if 0 < count <= 3),
    )
    plain = [word for word in text if word not in (common, rare)]
    assert imatch([*plain, common, rare, "unseen"], STATISTICS) == imatch(plain, STATISTICS)


def test_random_lexicons_keep_pairs_that_one_lexicon_loses() -> None:
    """One term of the lexicon taken away: plain I-Match loses every pair, each random part saves a
    third of them.
    """
    plain = saved = trials = 0
    for text in TEXTS[:120]:
        lexicon = [word for word in text if imatch([word], STATISTICS)]
        if len(lexicon) < 3:
            continue
        trials += 1
        edited = [word for word in text if word != lexicon[0]]
        left, right = imatch(text, STATISTICS), imatch(edited, STATISTICS)
        plain += left[0] == right[0]
        saved += signatures_match(left, right)
    assert plain == 0
    assert saved / trials > 0.9  # 1 - (2/3)**10 = .983


def test_a_text_without_lexicon_terms_matches_nothing() -> None:
    assert imatch(["unseen", "words"], STATISTICS) == ()
    assert imatch(["w1"], count_features([string_hashes(["w1"])], "words")) == ()
    assert not signatures_match((), ())


def test_chances_are_those_of_the_paper() -> None:
    assert chance(0.95) == pytest.approx(0.879, abs=5e-4)
    assert chance(0.80) == pytest.approx(0.0258, abs=5e-5)
    assert (chance(0.0), chance(1.0)) == (0.0, 1.0)


@given(st.floats(0, 1))
def test_chance_in_closed_form(similarity: float) -> None:
    equal = similarity**14
    assert chance(similarity) == pytest.approx(
        1 - (1 - equal) ** 6 - 6 * equal * (1 - equal) ** 5, abs=1e-12
    )


@pytest.mark.parametrize("similarity", [0.8, 0.9, 0.95])
def test_mega_shingles_are_shared_as_often_as_the_formula_says(similarity: float) -> None:
    """600 pairs of feature sets; four standard deviations."""
    trials, met = 600, 0
    for seed in range(trials):
        features = mix64_array(
            np.arange(400, dtype=np.uint64) + np.uint64(seed << 20)
        ) >> np.uint64(32)
        shared, rest = round(400 * similarity), round(200 * (1 - similarity))
        left, right = (
            features[: shared + rest],
            np.concatenate((features[:shared], features[shared + rest :])),
        )
        left_minima, right_minima = permuted_minima(left, 84), permuted_minima(right, 84)
        met += bool(set(mega_shingles(left_minima)) & set(mega_shingles(right_minima)))
    expected = chance(similarity)
    assert abs(met / trials - expected) < 4 * math.sqrt(expected * (1 - expected) / trials) + 0.01


@given(
    st.lists(st.integers(0, 3), min_size=84, max_size=84),
    st.lists(st.integers(0, 3), min_size=84, max_size=84),
)
def test_a_mega_shingle_is_two_super_shingles(left: list[int], right: list[int]) -> None:
    for start in (0, 14):
        right[start : start + 14] = left[start : start + 14]
    left_slots, right_slots = (np.array(slots, dtype=np.uint32) for slots in (left, right))
    equal = sum(
        a == b for a, b in zip(super_shingles(left_slots), super_shingles(right_slots), strict=True)
    )
    assert len(set(mega_shingles(left_slots)) & set(mega_shingles(right_slots))) == math.comb(
        equal, 2
    )


def test_too_few_slots_are_refused() -> None:
    with pytest.raises(UsageError, match="need 84 slots"):
        super_shingles(np.zeros(83, dtype=np.uint32))


@given(st.lists(st.integers(0, 6), min_size=1, max_size=60), st.integers(1, 10))
def test_winnowing_keeps_the_rightmost_least_of_every_window(
    values: list[int], window: int
) -> None:
    width = min(window, len(values))
    expected = set()
    for start in range(len(values) - width + 1):
        part = values[start : start + width]
        expected.add(start + max(place for place, value in enumerate(part) if value == min(part)))
    assert winnow(np.array(values, np.uint64), window).tolist() == sorted(expected)


@given(
    st.text("abc ", min_size=12, max_size=40),
    st.text("xyz", max_size=20),
    st.text("xyz", max_size=20),
    st.integers(2, 6),
)
def test_shared_passages_are_noticed(passage: str, before: str, after: str, window: int) -> None:
    """A passage of the guaranteed length leaves a common hash whatever stands around it."""
    width = 4
    passage = passage[: guarantee(window, width)]
    if len(passage) < guarantee(window, width):
        return
    selected = []
    for text in (before + passage + after, after[::-1] + passage + before[::-1]):
        hashes = gram_hashes(encode(text), width)
        selected.append(set(hashes[winnow(hashes, window)].tolist()))
    assert selected[0] & selected[1]


def test_winnowing_has_its_density() -> None:
    hashes = mix64_array(np.arange(100_000, dtype=np.uint64))
    assert len(winnow(hashes, 9)) / len(hashes) == pytest.approx(2 / 10, rel=0.02)


def test_an_empty_text_has_no_windows_and_windows_have_positions() -> None:
    assert winnow(np.array([], dtype=np.uint64), 4).tolist() == []
    with pytest.raises(UsageError, match="at least one"):
        winnow(np.array([1], dtype=np.uint64), 0)


@pytest.mark.parametrize("name", ["super-shingles", "mega-shingles"])
def test_shingles_of_words_are_made_from_a_text_with_words(name: str) -> None:
    features = features_of("The fee, is DUE\non the first day.", recipe_named(f"baseline:{name}"))
    assert features[:2] == ["the fee is due on", "fee is due on the"]
    assert len(features) == 4


@pytest.mark.parametrize(
    "tokeniser", ["ws", "words", "sents-nl", "white-space-2-grams", "", "3-word-shingles"]
)
def test_words_of_a_text_without_blanks_are_refused(tokeniser: str) -> None:
    with pytest.raises(UsageError, match="make one token of every text; take"):
        recipe_named(f"{tokeniser}:default:sha1:128")
    assert recipe_named("4-grams:default:sha1:128").normaliser == "default"
    assert recipe_named("4-byte-grams:default:sha1:128").normaliser == "default"
