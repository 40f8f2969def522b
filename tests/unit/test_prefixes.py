"""The complete mode's candidates hold every pair that reaches the threshold, whatever the sets."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer import prefixes
from indexer.prefixes import FeatureOrder, Prefixes, parity_map, prefix_length

sets = st.lists(st.sets(st.integers(0, 15), max_size=12), max_size=10)
thresholds = st.one_of(st.sampled_from([0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1 / 3, 2 / 3, 1.0]), st.floats(0.01, 1.0))


def candidates(made, threshold):
    order, features = FeatureOrder(), [np.array(sorted(one), dtype=np.uint64) for one in made]
    for one in features:
        order.count(one)
    chosen = [order.first(one, prefix_length(len(one), threshold)) for one in features]
    gathered = Prefixes(
        np.array([hash for one in chosen for hash in one.tolist()], dtype=np.uint64),
        np.array([number for number, one in enumerate(chosen) for _ in one], dtype=np.int32),
        np.array([place for one in chosen for place in range(len(one))], dtype=np.int32),
        np.array([len(one) for one in features], dtype=np.int64),
        np.array([parity_map(one) for one in features], dtype=np.uint16).reshape(len(features), 256),
    )
    left, right = gathered.pairs(threshold)
    return list(zip(left.tolist(), right.tolist(), strict=True))


@given(sets, thresholds)
def test_no_pair_is_missed_and_none_comes_twice(made, threshold):
    found = candidates(made, threshold)
    assert found == sorted(set(found)) and all(a < b for a, b in found)
    for a, b in combinations(range(len(made)), 2):
        union = made[a] | made[b]
        if union and len(made[a] & made[b]) / len(union) >= threshold:
            assert (a, b) in found


def test_unlike_lengths_and_late_places_are_ruled_out():
    made = [set(range(10)), {0}, {9, *range(100, 109)}, set(range(1, 10))]
    assert candidates(made, 0.8) == [(0, 3)]


def test_many_candidates_are_gathered_in_parts(monkeypatch):
    made = [set(range(8)) for _ in range(30)]
    whole = candidates(made, 0.5)
    monkeypatch.setattr(prefixes, "BLOCK", 10)
    assert candidates(made, 0.5) == whole == list(combinations(range(30), 2))


@pytest.mark.parametrize(("size", "threshold"), [(size, tenth / 10) for size in range(1, 30) for tenth in range(1, 11)])
def test_prefixes_are_as_short_as_they_may_be(size, threshold):
    least = min(shared for shared in range(1, size + 1) if shared / size >= threshold)
    assert prefix_length(size, threshold) == size - least + 1


@given(st.sets(st.integers(0, 2**64 - 1)), st.sets(st.integers(0, 2**64 - 1)), st.sets(st.integers(0, 2**64 - 1)))
def test_parity_maps_differ_in_no_more_bits_than_features(a, b, both):
    maps = [parity_map(np.array(sorted(one | both), dtype=np.uint64)) for one in (a, b)]
    differ = int(np.unpackbits((maps[0] ^ maps[1]).view(np.uint8)).sum())
    assert differ <= len((a | both) ^ (b | both))


def test_sets_that_share_a_rare_feature_only_are_ruled_out_by_their_maps():
    made = [{0, *range(1000, 1100)}, {0, *range(2000, 2100)}]
    assert candidates(made, 0.3) == []


def test_bits_are_counted_with_any_numpy(monkeypatch):
    maps = np.random.default_rng(2).integers(0, 1 << 16, (5, 256)).astype(np.uint16)
    wanted = [int(np.unpackbits(row.view(np.uint8)).sum()) for row in maps]
    assert prefixes.ones(maps).tolist() == wanted
    monkeypatch.delattr(np, "bitwise_count", raising=False)
    assert prefixes.ones(maps).tolist() == wanted


def test_what_is_forgotten_comes_again_and_is_listed_once(monkeypatch):
    monkeypatch.setattr(prefixes, "REMEMBERED", 2)
    assert candidates([set(range(8)) for _ in range(12)], 0.5) == list(combinations(range(12), 2))
