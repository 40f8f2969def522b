"""Pairs of sketches with enough equal slots: the kernel, numpy and a plain count agree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.fingerprinting import minhash
from indexer.fingerprinting.minhash import near_sketches


def sketches(count: int, width: int, seed: int, kind: type) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 3, (count, width)).astype(kind) * kind(85)


def plain_count(left: np.ndarray, right: np.ndarray, least: int) -> list[list[int]]:
    return [
        [row, place, int((a == b).sum())]
        for row, a in enumerate(left)
        for place, b in enumerate(right)
        if (a == b).sum() >= least
    ]


@pytest.mark.parametrize("kernel", [True, False])
@given(st.integers(0, 6), st.integers(0, 6), st.sampled_from([1, 31, 160, 300]), st.integers(0, 99))
def test_the_pairs_are_those_of_a_plain_count(kernel, rows, others, width, seed):
    kinds = (np.uint8, np.uint32)
    with pytest.MonkeyPatch.context() as patch:
        if not kernel:
            patch.setattr(minhash, "_kernel", None)
        for kind in kinds:
            left, right = sketches(rows, width, seed, kind), sketches(others, width, seed + 1, kind)
            for least in (0, width // 3, width):
                found = near_sketches(left, right, least).tolist()
                assert found == plain_count(left, right, least)


def test_slots_that_agree_in_the_low_byte_alone_are_not_equal():
    left, right = np.array([[1, 2]], np.uint32), np.array([[257, 2], [257, 258]], np.uint32)
    assert near_sketches(left, right, 1).tolist() == [[0, 0, 1]]


def test_arrays_that_are_no_whole_sketches_are_refused():
    if minhash._kernel is None:
        pytest.skip("the kernel is not installed")
    for left, width in ((b"abc", 2), (b"", 0)):
        with pytest.raises(ValueError, match="whole sketches"):
            minhash._kernel.near_sketches(left, b"", width, 1)
