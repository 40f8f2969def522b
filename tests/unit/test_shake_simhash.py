"""SimHash by SHAKE256: golden signatures, the released code's bit order, raw frequency, weights."""

import hashlib
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.errors import UsageError
from indexer.fingerprinting.simhash import (
    shake_projection,
    shake_simhash,
    sign_bits,
    to_units,
    weighted_sum,
)
from indexer.fingerprinting.tokens import character_grams

GOLDEN = json.loads((Path(__file__).parent.parent / "golden/shake.json").read_text())
FEATURES = st.lists(st.binary(max_size=6), min_size=1, max_size=20)


@pytest.mark.parametrize("vector", GOLDEN, ids=lambda vector: vector["bits"])
def test_golden(vector: dict) -> None:
    grams = [gram.encode() for gram in character_grams(vector["text"], 4)]
    assert f"{shake_simhash(grams, vector['bits']):x}" == vector["signature"]


@given(FEATURES, st.sampled_from([8, 16, 64, 1024]))
def test_bits_are_those_of_the_released_code(features: list[bytes], bits: int) -> None:
    """Counter i * 8 + j belongs to bit j of the i-th byte from the end, and becomes bit i * 8 + j
    of the number.
    """
    size, counters = bits // 8, [0] * bits
    for feature in features:
        digest = hashlib.shake_256(feature).digest(size)
        for i in range(size):
            for j in range(8):
                counters[i * 8 + j] += 1 if digest[size - 1 - i] & 1 << j else -1
    assert shake_simhash(features, bits) == sum(
        1 << place for place, count in enumerate(counters) if count > 0
    )


def test_repeats_count() -> None:
    assert (
        shake_simhash([b"a"] * 5 + [b"b", b"c"], 64)
        == shake_simhash([b"a"], 64)
        != shake_simhash([b"a", b"b", b"c"], 64)
    )


@given(FEATURES)
def test_frequencies_are_weights(features: list[bytes]) -> None:
    assert shake_projection(Counter(features), 64) == shake_simhash(features, 64)


@given(FEATURES)
def test_a_negative_weight_votes_the_other_way(features: list[bytes]) -> None:
    counts = Counter(features)
    ties_aside = shake_projection(counts, 64) & shake_projection(
        {feature: -times for feature, times in counts.items()}, 64
    )
    assert ties_aside == 0


def test_many_features_are_cut_into_pieces_without_effect() -> None:
    features = [b"%d" % number for number in range(2500)]
    votes = [int.from_bytes(hashlib.shake_256(feature).digest(8), "big") for feature in features]
    expected = sum(
        1 << place
        for place in range(64)
        if 2 * sum(vote >> place & 1 for vote in votes) > len(votes)
    )
    assert shake_simhash(features, 64) == expected


@given(
    st.lists(st.tuples(st.floats(-40, 40), st.integers(-1, 1)), min_size=1, max_size=50),
    st.randoms(use_true_random=False),
)
def test_sums_are_exact_in_any_order(terms: list[tuple[float, int]], random) -> None:
    shuffled = list(terms)
    random.shuffle(shuffled)
    sums = [
        weighted_sum(
            np.array([[sign] for _, sign in order], np.int8),
            to_units(np.array([w for w, _ in order])),
        )
        for order in (terms, shuffled)
    ]
    assert sums[0].tolist() == sums[1].tolist()


def test_ties_give_zero_and_odd_widths_are_allowed() -> None:
    assert sign_bits(np.array([0.0, 1.0, -1.0])) == 0b010


@pytest.mark.parametrize("bits", [0, -8, 12])
def test_other_widths_are_refused(bits: int) -> None:
    with pytest.raises(UsageError, match="multiple of 8"):
        shake_simhash([b"a"], bits)


def test_no_features_have_no_signature() -> None:
    with pytest.raises(ValueError, match="empty"):
        shake_simhash([], 64)
