"""Pairs of texts expanded to pairs of documents."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from indexer.grouping import collection
from indexer.grouping.collection import Carriers, DocumentPairs, PairFilter


def carriers(documents):
    texts = np.full(1 + max(place for places in documents for place in places), -1, dtype=np.int32)
    for text, places in enumerate(documents):
        texts[places] = text
    return Carriers(texts, len(documents))


def list_copies(pairs, documents, cap):
    left, right = (np.array([pair[side] for pair in pairs], dtype=np.int32) for side in (0, 1))
    spelling = DocumentPairs(carriers(documents), cap)
    blocks = [*spelling.between_texts(left, right), *spelling.within_texts()]
    document_pairs = [
        (int(a), int(b))
        for left_documents, right_documents in blocks
        for a, b in zip(left_documents, right_documents, strict=True)
    ]
    assert len(document_pairs) == len(set(document_pairs))
    return set(document_pairs), spelling.left_out


def test_every_copy_is_paired():
    pairs, left_out = list_copies([(0, 1), (0, 2)], [[0, 3], [1], [2, 4]], None)
    assert pairs == {(0, 1), (3, 1), (0, 2), (0, 4), (3, 2), (3, 4), (0, 3), (2, 4)}
    assert left_out == 0


@given(st.lists(st.integers(1, 6), min_size=2, max_size=5), st.integers(2, 20))
def test_a_cap_keeps_a_star_and_counts_what_it_leaves_out(sizes, cap):
    numbers = iter(range(sum(sizes)))
    documents = [[next(numbers) for _ in range(size)] for size in sizes]
    pairs = list(combinations(range(len(sizes)), 2))
    uncapped, none = list_copies(pairs, documents, None)
    copies, left_out = list_copies(pairs, documents, cap)
    assert none == 0 and copies <= uncapped
    assert len(uncapped) - len(copies) == left_out
    assert {document for pair in copies for document in pair} == {
        document for pair in uncapped for document in pair
    }


def test_pairs_come_in_parts(monkeypatch):
    all_pairs = list_copies([(0, 1)], [[0, 1, 2, 3], [4, 5, 6]], None)
    monkeypatch.setattr(collection, "BLOCK_PAIRS", 2)
    assert list_copies([(0, 1)], [[0, 1, 2, 3], [4, 5, 6]], None) == all_pairs


def test_a_document_without_a_text_carries_none():
    carried = Carriers(np.array([-1, 1, 0, 1], dtype=np.int32), 2)
    assert list(carried) == [[2], [1, 3]] and carried.first.tolist() == [2, 1]
    assert carried.texts_of(np.array([True, True, False, False])).tolist() == [False, True]
    assert list(Carriers(np.full(3, -1, dtype=np.int32), 0)) == []


def test_wanted_copies_only():
    marked, new = np.array([True, False, False, True]), np.array([False, False, True, False])
    a, b = np.array([0, 0, 1, 0], dtype=np.int32), np.array([1, 2, 2, 3], dtype=np.int32)
    documents = carriers([[0], [1], [2], [3]])
    left, right, requested = PairFilter(documents, marked, None).orient(a, b)
    assert list(zip(left[requested].tolist(), right[requested].tolist(), strict=True)) == [
        (1, 0),
        (2, 0),
    ]
    assert [side.tolist() for side in PairFilter(documents, marked, None).texts(a, b)] == [
        [0, 0],
        [1, 2],
    ]
    assert PairFilter(documents, None, new).orient(a, b)[2].tolist() == [False, True, True, False]
    assert PairFilter(documents, None, None).orient(b, a)[0].tolist() == a.tolist()
