"""The complete mode's candidates hold every pair that reaches the threshold, whatever the sets, the
route and the memory budget.
"""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.comparing.measures import parity_map
from indexer.fingerprinting.keys import count_ones
from indexer.grouping import verification
from indexer.grouping.similar_pairs import FeatureOrder, SimilarSets, prefix_length
from indexer.grouping.verification import ParityMaps
from indexer.system.external_memory import MemoryBudget, SpillFiles

sets = st.lists(st.sets(st.integers(0, 15), max_size=12), max_size=10)
large = st.lists(st.sets(st.integers(0, 2**64 - 1) | st.integers(0, 40), max_size=30), max_size=10)
thresholds = st.one_of(
    st.sampled_from([0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1 / 3, 2 / 3, 1.0]), st.floats(0.01, 1.0)
)
NEVER, ALWAYS = 10**9, -1


def similar_sets(collection, threshold, budget=None, of_larger=False):
    order, features = (
        FeatureOrder(),
        [np.array(sorted(members), dtype=np.uint64) for members in collection],
    )
    for members in features:
        order.count(members)
    similar = SimilarSets(
        np.array([len(members) for members in collection], dtype=np.int64),
        order,
        threshold,
        budget or MemoryBudget(),
        of_larger,
    )
    return similar, features


def candidates(collection, threshold, budget=None, limit=None, of_larger=False):
    similar, features = similar_sets(collection, threshold, budget, of_larger)
    similar.pairs = similar.pairs if limit is None else limit
    for number, members in enumerate(features):
        similar.put(number, members)
    codes = similar.candidates()
    return list(
        zip((codes >> np.uint64(32)).tolist(), (codes & np.uint64(2**32 - 1)).tolist(), strict=True)
    )


@pytest.mark.long
@pytest.mark.parametrize("of_larger", [False, True])
@pytest.mark.parametrize("limit", [None, NEVER, ALWAYS])
@given(collection=sets | large, threshold=thresholds)
def test_no_pair_is_missed_and_none_comes_twice(collection, threshold, limit, of_larger):
    pairs = candidates(collection, threshold, limit=limit, of_larger=of_larger)
    assert pairs == sorted(set(pairs)) and all(a < b for a, b in pairs)
    for a, b in combinations(range(len(collection)), 2):
        larger = max(collection[a], collection[b], key=len)
        whole = larger if of_larger else collection[a] | collection[b]
        if whole and len(collection[a] & collection[b]) / len(whole) >= threshold:
            assert (a, b) in pairs
    assert candidates(collection, threshold, SpillFiles(0), limit, of_larger) == pairs


@given(sets, thresholds)
def test_pairs_of_fitting_sizes_are_counted(collection, threshold):
    similar, _ = similar_sets(collection, threshold)
    sizes = [len(members) for members in collection if members]
    fitting = sum(min(a, b) >= threshold * max(a, b) - 1e-9 for a, b in combinations(sizes, 2))
    assert similar.pairs == fitting


@pytest.mark.parametrize("limit", [NEVER, ALWAYS])
def test_unlike_sizes_and_unlike_sets_are_ruled_out(limit):
    collection = [set(range(10)), {0}, {9, *range(100, 109)}, set(range(1, 10))]
    assert candidates(collection, 0.8, limit=limit) == [(0, 3)]


def test_prefixes_are_abandoned_where_they_share_too_many_pairs():
    dense = [set(range(8)) | {100 + place} for place in range(30)]
    similar, features = similar_sets(dense, 0.5)
    for number, members in enumerate(features):
        similar.put(number, members)
    assert similar._prefixes is None
    sparse, features = similar_sets([{place, 50 + place} for place in range(30)], 0.5)
    for number, members in enumerate(features):
        sparse.put(number, members)
    assert sparse._prefixes is not None


@pytest.mark.parametrize("threshold", [tenth / 10 for tenth in range(1, 11)])
def test_prefixes_are_as_short_as_they_may_be(threshold):
    for size in range(1, 30):
        least = min(shared for shared in range(1, size + 1) if shared / size >= threshold)
        assert prefix_length(size, threshold) == size - least + 1


@given(
    st.sets(st.integers(0, 2**64 - 1)),
    st.sets(st.integers(0, 2**64 - 1)),
    st.sets(st.integers(0, 2**64 - 1)),
)
def test_parity_maps_differ_in_no_more_bits_than_features(a, b, both):
    maps = [
        parity_map(np.array(sorted(members | both), dtype=np.uint64), 256) for members in (a, b)
    ]
    assert int(count_ones((maps[0] ^ maps[1])[None])[0]) <= len((a | both) ^ (b | both))


def test_maps_grow_with_the_sets():
    assert [
        ParityMaps(np.full(3, size), MemoryBudget()).bits for size in (0, 300, 1000, 10**6)
    ] == [
        1024,
        1024,
        4096,
        65536,
    ]
    assert ParityMaps(np.zeros(0, np.int64), MemoryBudget()).bits == 1024


def test_sets_that_share_a_rare_feature_only_are_ruled_out_by_their_maps():
    collection = [{0, *range(1000, 1100)}, {0, *range(1500, 1600)}]
    assert candidates(collection, 0.3, limit=ALWAYS) == []


@given(st.integers(0, 2**32), st.integers(1, 40), thresholds)
def test_whoever_counts_the_bits_gives_the_same_answer(seed, count, threshold):
    random = np.random.default_rng(seed)
    sizes = random.integers(0, 60, count)
    maps = ParityMaps(sizes, MemoryBudget())
    for place, size in enumerate(sizes):
        maps.put(place, random.integers(0, 90, size).astype(np.uint64))
    left, right = (random.integers(0, count, 300).astype(np.int32) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        answer = maps.may_reach(left, right, threshold)
        patch.setattr(verification, "_kernel", None)
        assert maps.may_reach(left, right, threshold).tolist() == answer.tolist()


def test_bits_are_counted_with_any_numpy(monkeypatch):
    maps = np.random.default_rng(2).integers(0, 1 << 63, (5, 64)).astype(np.uint64)
    expected = [int(np.unpackbits(row.view(np.uint8)).sum()) for row in maps]
    assert count_ones(maps).tolist() == expected
    monkeypatch.delattr(np, "bitwise_count", raising=False)
    assert count_ones(maps).tolist() == expected
