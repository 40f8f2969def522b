"""Pairs of sketches in the buckets of their keys, as the join of one machine finds them."""

from __future__ import annotations

import numpy as np
import pytest

from indexer.fingerprinting.keys import band_hashes
from indexer.grouping.candidates import Join, SlotCounter
from indexer.spark import bands
from indexer.spark.bands import near_in_buckets

BANDS, ROWS, MIN_EQUAL = 8, 3, 10


def random_slots(kind: type) -> np.ndarray:
    """Slots of which wider ones also differ beyond their low byte."""
    values = np.random.default_rng(1).integers(0, 4, (300, BANDS * ROWS))
    return (values if kind is np.uint8 else values // 2 + values % 2 * 256).astype(kind)


@pytest.fixture(params=["kernel", "numpy"])
def _implementation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "numpy":
        monkeypatch.setattr(bands, "_kernel", None)


@pytest.mark.usefixtures("_implementation")
@pytest.mark.parametrize("kind", [np.uint8, np.uint32])
def test_pairs_and_candidates_are_those_of_the_join(kind: type) -> None:
    slots = random_slots(kind)
    join = Join(slots, BANDS, ROWS, np.arange(len(slots)), cap=10**6)
    counter, expected, expected_candidates = SlotCounter(slots), set(), 0
    for left, right in join.blocks():
        expected_candidates += len(left)
        columns = counter.at_least(left, right, MIN_EQUAL)
        expected |= set(zip(*(column.tolist() for column in columns), strict=True))

    keys = band_hashes(slots, BANDS, ROWS)
    near, candidates = near_in_buckets(slots, keys, np.ones(keys.shape, bool), MIN_EQUAL)

    assert candidates == expected_candidates > len(near) > 0
    assert sorted(map(tuple, near.tolist())) == sorted(expected)


@pytest.mark.usefixtures("_implementation")
def test_tasks_with_some_keys_each_find_every_pair_once() -> None:
    slots = random_slots(np.uint8)
    keys = band_hashes(slots, BANDS, ROWS)
    whole, candidates = near_in_buckets(slots, keys, np.ones(keys.shape, bool), MIN_EQUAL)
    parts = [near_in_buckets(slots, keys, keys % 5 == part, MIN_EQUAL) for part in range(5)]

    assert sum(count for _, count in parts) == candidates
    found = [tuple(pair) for near, _ in parts for pair in near.tolist()]
    assert sorted(found) == sorted(map(tuple, whole.tolist()))


@pytest.mark.usefixtures("_implementation")
def test_no_sketches_are_no_pairs() -> None:
    near, candidates = near_in_buckets(
        np.zeros((0, 24), np.uint8), np.zeros((0, 8), np.uint64), np.zeros((0, 8), bool), MIN_EQUAL
    )
    assert (len(near), candidates) == (0, 0)
