"""b-bit MinHash: lossless packing of the low bits, unbiased estimate, coverage of its interval."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.errors import UsageError
from indexer.fingerprinting.hashing import mix64_array
from indexer.fingerprinting.minhash import (
    WIDTHS,
    correct_for_chance,
    fast_similarity_sketch,
    pack_low_bits,
    standard_error,
    unpack_low_bits,
)
from indexer.fingerprinting.schemes import feature_hashes, permuted_minima

GOLDEN = json.loads((Path(__file__).parent.parent / "golden/bbit.json").read_text())


@pytest.mark.parametrize("bits", WIDTHS)
def test_golden(bits: int) -> None:
    slots = permuted_minima(
        feature_hashes([feature.encode() for feature in GOLDEN["features"]]), GOLDEN["slots"]
    )
    assert pack_low_bits(slots, bits).hex() == GOLDEN["packed"][str(bits)]


@given(st.lists(st.integers(0, 2**32 - 1), max_size=40), st.sampled_from(WIDTHS))
def test_packing_keeps_the_low_bits_and_nothing_else(values: list[int], bits: int) -> None:
    packed = pack_low_bits(np.array(values, dtype=np.uint32), bits)
    assert len(packed) == math.ceil(len(values) * bits / 8)
    assert unpack_low_bits(packed, bits, len(values)).tolist() == [
        value % 2**bits for value in values
    ]


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("similarity", [0.2, 0.5, 0.8])
def test_the_estimate_is_unbiased_and_its_error_is_as_stated(bits: int, similarity: float) -> None:
    """400 pairs of sets with one Jaccard similarity, sketched and packed."""
    slots, pairs, shared = 128, 400, round(1000 * similarity)
    errors, covered = [], 0
    for seed in range(pairs):
        members = mix64_array(np.arange(1000, dtype=np.uint64) + np.uint64(seed << 20))
        rest = (1000 - shared) // 2
        left, right = (
            members[: shared + rest],
            np.concatenate((members[:shared], members[shared + rest :])),
        )
        left_bits, right_bits = (
            unpack_low_bits(pack_low_bits(fast_similarity_sketch(s, slots), bits), bits, slots)
            for s in (left, right)
        )
        estimate = correct_for_chance(int(np.sum(left_bits == right_bits)), slots, bits)
        errors.append(estimate.similarity - similarity)
        covered += estimate.low <= similarity <= estimate.high
    stated = standard_error(similarity, slots, bits)
    assert abs(np.mean(errors)) < 4 * stated / math.sqrt(pairs) + 0.01 * (
        similarity < 0.3
    )  # cutting at 0 lifts low estimates
    assert np.std(errors) < 1.12 * stated
    assert covered / pairs > 0.92


@pytest.mark.parametrize("bits", WIDTHS)
def test_ends_of_the_scale(bits: int) -> None:
    assert (
        correct_for_chance(128, 128, bits).similarity
        == correct_for_chance(128, 128, bits).high
        == 1.0
    )
    assert (
        correct_for_chance(0, 128, bits).similarity == correct_for_chance(0, 128, bits).low == 0.0
    )
    assert (correct_for_chance(0, 0, bits).low, correct_for_chance(0, 0, bits).high) == (0.0, 1.0)


def test_more_bits_mean_less_error() -> None:
    errors = [standard_error(0.7, 128, bits) for bits in WIDTHS]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] > math.sqrt(0.7 * 0.3 / 128)  # never below that of whole slots


def test_other_widths_and_wrong_lengths_are_refused() -> None:
    with pytest.raises(UsageError, match="1, 2, 4 or 8"):
        pack_low_bits(np.zeros(4, dtype=np.uint32), 3)
    with pytest.raises(UsageError, match="take 2 bytes"):
        unpack_low_bits(b"x", 4, 4)
