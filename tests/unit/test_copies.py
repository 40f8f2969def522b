"""Pairs of texts spelled out as pairs of documents."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from indexer.copies import Wanted, spelled_out


def listed(pairs, documents, cap):
    left, right = (np.array([pair[side] for pair in pairs], dtype=np.int32) for side in (0, 1))
    made = spelled_out(left, right, documents, cap)
    found = {(int(a), int(b)): int(origin) for a, b, origin in zip(made.a, made.b, made.origin, strict=True)}
    assert len(found) == len(made.a)
    return found, made.left_out


def test_every_copy_is_paired():
    found, left_out = listed([(0, 1), (0, 2)], [[0, 3], [1], [2, 4]], None)
    assert found == {(0, 1): 0, (3, 1): 0, (0, 2): 1, (0, 4): 1, (3, 2): 1, (3, 4): 1, (0, 3): -1, (2, 4): -1}
    assert left_out == 0


@given(st.lists(st.integers(1, 6), min_size=2, max_size=5), st.integers(2, 20))
def test_a_cap_keeps_a_star_and_counts_what_it_leaves_out(sizes, cap):
    numbers = iter(range(sum(sizes)))
    documents = [[next(numbers) for _ in range(size)] for size in sizes]
    pairs = list(combinations(range(len(sizes)), 2))
    whole, none = listed(pairs, documents, None)
    found, left_out = listed(pairs, documents, cap)
    assert none == 0 and found.items() <= whole.items()
    assert len(whole) - len(found) == left_out
    assert {document for pair in found for document in pair} == {document for pair in whole for document in pair}


def test_what_is_wanted():
    marked, new = np.array([True, False, False, True]), np.array([False, False, True, False])
    a, b = np.array([0, 0, 1, 0], dtype=np.int32), np.array([1, 2, 2, 3], dtype=np.int32)
    documents = [[0], [1], [2], [3]]
    one, other, kept = Wanted(documents, marked, None).turned(a, b)
    assert list(zip(one[kept].tolist(), other[kept].tolist(), strict=True)) == [(1, 0), (2, 0)]
    assert [side.tolist() for side in Wanted(documents, marked, None).texts(a, b)] == [[0, 0], [1, 2]]
    assert Wanted(documents, None, new).turned(a, b)[2].tolist() == [False, True, True, False]
    assert Wanted(documents, None, None).turned(b, a)[0].tolist() == a.tolist()
