"""Weighted MinHash: the same bits everywhere, unbiased for the weighted Jaccard similarity; the
logarithm it stands on.
"""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.errors import UsageError
from indexer.fingerprinting.hashing import mix64_array, natural_log
from indexer.fingerprinting.schemes import weighted_minhash

GOLDEN = json.loads((Path(__file__).parent.parent / "golden/weighted.json").read_text())
WEIGHTS = st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=20)


def features(count: int, seed: int = 0) -> np.ndarray:
    return mix64_array(np.arange(count, dtype=np.uint64) + np.uint64(seed << 32))


@pytest.mark.parametrize("vector", GOLDEN, ids=lambda v: v["name"])
def test_golden(vector: dict) -> None:
    hashes = np.array([int(digits, 16) for digits in vector["hashes"]], dtype=np.uint64)
    assert (
        weighted_minhash(hashes, np.array(vector["weights"]), len(vector["slots"])).tolist()
        == vector["slots"]
    )


@given(st.floats(1e-300, 1e300))
def test_logarithm_is_right(value: float) -> None:
    assert float(natural_log(np.array([value]))[0]) == pytest.approx(
        math.log(value), rel=1e-15, abs=1e-16
    )


def test_logarithm_has_the_same_bits_alone_and_in_a_crowd() -> None:
    values = np.linspace(0.1, 50, 1003)
    assert natural_log(values).tolist() == [
        float(natural_log(np.array([value]))[0]) for value in values
    ]


@given(WEIGHTS, st.randoms(use_true_random=False))
def test_order_does_not_matter(weights: list[float], random) -> None:
    order = list(range(len(weights)))
    random.shuffle(order)
    hashes, numbers = features(len(weights)), np.array(weights)
    assert np.array_equal(
        weighted_minhash(hashes, numbers, 8), weighted_minhash(hashes[order], numbers[order], 8)
    )


@given(WEIGHTS)
def test_sampling_is_consistent(weights: list[float]) -> None:
    """A feature that wins a slot wins it still when other features lose weight or go."""
    hashes, numbers = features(len(weights)), np.array(weights)
    whole = weighted_minhash(hashes, numbers, 16)
    alone = [
        weighted_minhash(hashes[i : i + 1], numbers[i : i + 1], 16) for i in range(len(weights))
    ]
    assert all(value in {sketch[slot] for sketch in alone} for slot, value in enumerate(whole))


@pytest.mark.long
@pytest.mark.parametrize("spread", [1.0, 4.0, 100.0])
def test_equal_slots_estimate_the_weighted_jaccard_similarity(spread: float) -> None:
    """200 pairs whose weights differ by random factors: no bias, and no more error than theory
    has.
    """
    slots, errors, theory = 128, [], []
    random = np.random.default_rng(7)
    for seed in range(200):
        hashes = features(60, seed)
        left = random.uniform(1, spread + 1e-9, 60)
        right = np.where(random.random(60) < 0.3, random.uniform(1, spread + 1e-9, 60), left) * (
            random.random(60) < 0.9
        )
        truth = np.minimum(left, right).sum() / np.maximum(left, right).sum()
        right_sketch = weighted_minhash(hashes[right > 0], right[right > 0], slots)
        errors.append(np.mean(weighted_minhash(hashes, left, slots) == right_sketch) - truth)
        theory.append(truth * (1 - truth) / slots)
    assert abs(np.mean(errors)) < 4 * math.sqrt(np.mean(theory) / 200)
    assert math.sqrt(np.mean(np.square(errors))) < 1.15 * math.sqrt(np.mean(theory))


def test_nothing_and_weights_that_are_not_positive_are_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        weighted_minhash(features(0), np.array([]), 4)
    for bad in (0.0, -1.0, math.nan):
        with pytest.raises(UsageError, match="positive"):
            weighted_minhash(features(2), np.array([1.0, bad]), 4)
