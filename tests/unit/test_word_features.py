"""Features of `default_v2`: a slow oracle, repeats, layout."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.comparing.measures import feature_set, jaccard
from indexer.fingerprinting.fingerprint import fingerprint
from indexer.fingerprinting.hashing import word_features
from indexer.fingerprinting.normalise import normalised_codes_v2
from indexer.recipe import DEFAULT_V2

WORD = 2**64
GAMMA = 0x9E3779B97F4A7C15
TEXTS = st.lists(st.sampled_from(["be", "or", "not", "to", "近似", "x", "東", ","]), max_size=40)


def mix(value: int) -> int:
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 % WORD
    value = (value ^ value >> 27) * 0x94D049BB133111EB % WORD
    return value ^ value >> 31


def slowly(words: list[str]) -> Counter[int]:
    """Return the features of words, in integers; a word of Han is one character."""
    hashes = [
        mix(sum(mix(ord(c) + (place << 21)) for place, c in enumerate(word)) % WORD)
        for word in words
    ]
    times: Counter[int] = Counter()
    features = Counter[int]()
    for before, word in pairwise(hashes):
        value = mix(mix(before) ^ word)
        features[mix((value + times[value] * GAMMA) % WORD) if times[value] else value] += 1
        times[value] += 1
    return features


@given(TEXTS)
def test_as_the_oracle(words: list[str]) -> None:
    single = [c for word in words if word != "," for c in (word if word >= "一" else [word])]
    features = word_features(normalised_codes_v2(" ".join(words)))
    assert Counter(features.tolist()) == slowly(single)


@pytest.mark.parametrize("text", ["", " ", "...", "-\n", "word", "近"])
def test_one_word_has_no_pair(text: str) -> None:
    assert len(word_features(normalised_codes_v2(text))) == 0


def test_repeats_count_as_often_as_they_occur() -> None:
    once, twice = (feature_set("to be or not " * times, DEFAULT_V2) for times in (10, 20))
    assert jaccard(once, twice) == 39 / 79


def test_layout_and_markup_change_nothing() -> None:
    plain = fingerprint("Near duplicates, quoted and wrapped, are the same words.", DEFAULT_V2)
    reply = "> Near duplicates,\n> *quoted* and wrap-\nped, are the same words!"
    quoted = fingerprint(reply, DEFAULT_V2)
    assert (plain.bands, plain.exact) == (quoted.bands, quoted.exact)
    assert plain.minhash is not None
    assert (plain.minhash.dtype, len(plain.minhash)) == (np.uint8, 128)
    assert {len(key) for key in plain.bands} == {5}
