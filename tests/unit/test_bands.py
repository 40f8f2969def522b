"""Candidate pairs from slots, compared with brute force on the band keys."""

from collections import defaultdict
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.fingerprinting.keys import band_keys
from indexer.grouping.candidates import Join, SlotCounter
from indexer.system.external_memory import MemoryBudget, SpillFiles, slices_of_runs

ROWS = 2


def join_bands(slots, bands, rank, cap, budget=None):
    join = Join(slots, bands, ROWS, rank, cap, budget)
    pairs = [
        (int(a), int(b)) for left, right in join.blocks() for a, b in zip(left, right, strict=True)
    ]
    return pairs, join.capped


def brute(slots, bands, rank, cap):
    """Return pairs that share a key, by brute force.

    A key of more than `cap` carriers pairs only its carrier of least rank.
    """
    carriers = defaultdict(list)
    for document, keys in enumerate(band_keys(slots, bands, ROWS)):
        for key in keys:
            carriers[key].append(document)
    pairs = set()
    for documents in carriers.values():
        centre = min(documents, key=lambda carrier: rank[carrier])
        pairs |= {
            pair for pair in combinations(documents, 2) if len(documents) <= cap or centre in pair
        }
    return pairs


@st.composite
def libraries(draw):
    count, bands = draw(st.integers(0, 12)), draw(st.integers(1, 4))
    slots = draw(
        st.lists(
            st.lists(st.integers(0, 1), min_size=bands * ROWS, max_size=bands * ROWS),
            min_size=count,
            max_size=count,
        )
    )
    rank = draw(st.permutations(range(count)))
    return (
        np.array(slots, dtype=np.uint32).reshape(count, bands * ROWS),
        bands,
        np.array(rank, dtype=np.int64),
    )


@given(libraries(), st.integers(2, 12))
def test_pairs_are_those_that_share_a_band_each_once(library, cap):
    slots, bands, rank = library
    pairs, _ = join_bands(slots, bands, rank, cap)
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == brute(slots, bands, rank, cap)


@given(libraries(), st.integers(2, 12))
def test_pairs_are_the_same_under_any_memory_budget(library, cap):
    slots, bands, rank = library
    pairs, capped = join_bands(slots, bands, rank, cap)
    for budget in (MemoryBudget(1), SpillFiles(0)):
        assert join_bands(slots, bands, rank, cap, budget) == (pairs, capped)


def test_pairs_are_the_same_in_files():
    """Enough documents for many runs, buckets longer than a run, and values that agree in their
    upper bits alone.
    """
    random = np.random.default_rng(3)
    slots = random.integers(0, 12, (3000, 3 * ROWS)).astype(np.uint32)
    in_memory = join_bands(slots, 3, np.arange(3000), 24)
    assert in_memory[1].keys and len(in_memory[0]) > 10_000
    narrow = join_bands(slots, 3, np.arange(3000), 24, SpillFiles(0))
    assert (sorted(narrow[0]), narrow[1]) == (sorted(in_memory[0]), in_memory[1])


def test_values_that_agree_in_their_upper_bits_are_distinguished():
    join = Join(np.zeros((40, ROWS), np.uint32), 1, ROWS, np.arange(40), 100)
    join._values[:] = np.arange(40) % 2  # all upper bits are equal
    members, starts, sizes = join._shared(
        np.arange(40, dtype=np.uint64), np.uint64(6), np.uint64(63)
    )
    assert members.tolist() == [*range(0, 40, 2), *range(1, 40, 2)]
    assert (starts.tolist(), sizes.tolist()) == ([0, 20], [20, 20])


@given(st.lists(st.integers(0, 200)), st.integers(1, 9))
def test_slices_end_between_values(values, size):
    codes = np.array(sorted(values), dtype=np.uint64)
    slices = list(slices_of_runs(codes, np.uint64(15), size))
    assert [place for part in slices for place in range(part.start, part.stop)] == list(
        range(len(codes))
    )
    assert all(
        codes[part.stop - 1] >> np.uint64(4) < codes[part.stop] >> np.uint64(4)
        for part in slices[:-1]
    )


def test_blocks_are_cut_and_lose_nothing():
    slots = np.repeat(np.arange(6, dtype=np.uint32), 5)[:, None].repeat(4, axis=1)
    rank = np.arange(30)
    in_memory, _ = join_bands(slots, 2, rank, 100)
    blocks = [len(left) for left, _ in Join(slots, 2, ROWS, rank, 100, MemoryBudget(1)).blocks()]
    assert join_bands(slots, 2, rank, 100, MemoryBudget(1))[0] == in_memory
    assert len(in_memory) == 6 * 10 and max(blocks) <= 16


def test_a_hot_band_makes_a_star_and_is_reported():
    slots = np.zeros((1000, 4), dtype=np.uint32)
    rank = np.arange(1000)[::-1].copy()
    pairs, capped = join_bands(slots, 2, rank, 10)
    assert pairs == [(place, 999) for place in range(999)]
    assert (capped.keys, capped.largest, capped.pairs) == (2, 1000, 2 * 999 * 998 // 2)


@pytest.mark.parametrize("least", [0, 1, 5, 8, 9])
def test_equal_slots_are_counted(least):
    random = np.random.default_rng(4)
    slots = random.integers(0, 3, (20, 8)).astype(np.uint32) * np.uint32(256) + random.integers(
        0, 2, (20, 8)
    ).astype(np.uint32)
    left, right = (
        np.array(side, dtype=np.int32) for side in zip(*combinations(range(20), 2), strict=True)
    )
    columns = SlotCounter(slots).at_least(left, right, least)
    every = [(a, b, int((slots[a] == slots[b]).sum())) for a, b in combinations(range(20), 2)]
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == [
        row for row in every if row[2] >= least
    ]
