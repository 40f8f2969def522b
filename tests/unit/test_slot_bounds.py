"""Bounds on equal slots: slots of one byte agree by chance, estimates take it into account."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.comparing.band_plan import enough_equal
from indexer.comparing.measures import estimate
from indexer.fingerprinting.minhash import equal_slots, similarity_intervals, slot_similarity

SLOTS = 160


def test_slots_of_one_byte_that_differ_everywhere_agree_in_one_of_256() -> None:
    random = np.random.default_rng(5)
    left, right = (random.integers(0, 256, 25_600, dtype=np.uint8) for _ in range(2))
    equal = np.array([np.count_nonzero(left == right)], dtype=np.uint32)
    assert slot_similarity(equal, 25_600, 8)[0] == pytest.approx(0, abs=0.002)
    assert slot_similarity(equal, 25_600, 32)[0] == pytest.approx(1 / 256, abs=0.002)


@given(st.integers(0, SLOTS))
def test_bounds_are_those_of_the_estimate_of_a_pair(equal: int) -> None:
    left = np.zeros(SLOTS, dtype=np.uint8)
    right = np.where(np.arange(SLOTS) < equal, 0, 1).astype(np.uint8)
    pair = estimate(left, right, 8)
    assert pair is not None
    lows, highs = similarity_intervals(SLOTS, bits=8)
    assert (lows[equal], highs[equal]) == (pytest.approx(pair.low), pytest.approx(pair.high))
    assert slot_similarity(np.array([equal]), SLOTS, 8)[0] == pytest.approx(pair.similarity)


@given(st.integers(1, SLOTS), st.sampled_from([8, 32]))
def test_similarities_give_their_numbers_of_equal_slots_back(equal: int, bits: int) -> None:
    similarity = slot_similarity(np.array([equal]), SLOTS, bits)
    assert equal_slots(similarity, SLOTS, bits).tolist() == [equal]


@pytest.mark.parametrize("threshold", [0.1, 0.5, 0.8, 1.0])
def test_more_slots_must_be_equal_when_some_are_by_chance(threshold: float) -> None:
    assert enough_equal("jaccard", SLOTS, threshold, bits=8) >= enough_equal(
        "jaccard", SLOTS, threshold
    )
