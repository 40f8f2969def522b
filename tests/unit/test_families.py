"""Families and clusters as pure functions of numbers."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.grouping.group import ConnectedTexts
from indexer.grouping.group_options import FieldOrder
from indexer.grouping.principals import (
    Graph,
    Visit,
    assign_principals,
    principal_order,
    sum_equal_slots,
    sum_similarities,
)


def group_texts(similar, order, threshold=0.5):
    """Return families of documents that carry a text each, by a table of similarities."""
    pairs = np.array(sorted(similar), dtype=np.int32).reshape(-1, 2)
    count = max(order) + 1
    graph = Graph([(pairs[:1, 0], pairs[:1, 1]), (pairs[1:, 0], pairs[1:, 1])], count)

    def values(text, others):
        return [similar[min(text, other_text), max(text, other_text)] for other_text in others]

    assigned = assign_principals(
        (Visit(document, document) for document in order),
        graph,
        count,
        values,
        threshold,
    )
    return {document: (principal, similarity) for document, principal, similarity in assigned}


def test_a_chain_is_not_a_family():
    assert group_texts({(0, 1): 0.9, (1, 2): 0.9}, [0, 1, 2]) == {
        0: (0, None),
        1: (0, 0.9),
        2: (2, None),
    }


def test_the_most_similar_principal_wins_and_the_earlier_one_of_two():
    similar = {(0, 2): 0.6, (1, 2): 0.7, (0, 3): 0.8, (1, 3): 0.8}
    assert group_texts(similar, [0, 1, 2, 3])[2] == (1, 0.7)
    assert group_texts(similar, [0, 1, 2, 3])[3] == (0, 0.8)
    assert group_texts(similar, [1, 0, 2, 3])[3] == (1, 0.8)


def test_at_the_threshold_is_in_and_below_it_is_out():
    assert group_texts({(0, 1): 0.5}, [0, 1])[1] == (0, 0.5)
    assert group_texts({(0, 1): 0.4999}, [0, 1])[1] == (1, None)


def test_documents_of_one_text_are_one_family():
    visits = [Visit(place, 0) for place in (4, 2, 7)]
    empty = np.zeros(0, dtype=np.int32)
    assigned = assign_principals(
        visits,
        Graph([(empty, empty)], 1),
        1,
        lambda text, others: pytest.fail("nothing to measure"),
        0.9,
    )
    assert list(assigned) == [(4, 4, None), (2, 4, 1.0), (7, 4, 1.0)]


@pytest.mark.long
@given(
    st.dictionaries(
        st.tuples(st.integers(0, 600), st.integers(0, 600)), st.sampled_from([0.4, 0.6])
    )
)
def test_every_pair_is_announced_before_it_is_measured(values):
    similar = {
        (min(pair), max(pair)): value for pair, value in values.items() if len(set(pair)) > 1
    }
    pairs = np.array(sorted(similar), dtype=np.int32).reshape(-1, 2)
    announced, measured = set(), set()

    def measure(text, others):
        measured.update((text, other) for other in others)
        assert measured <= announced
        return [similar[min(text, other), max(text, other)] for other in others]

    list(
        assign_principals(
            [Visit(place, place) for place in range(601)],
            Graph([(pairs[:, 0], pairs[:, 1])], 601),
            601,
            measure,
            0.5,
            read_ahead=announced.update,
        )
    )
    assert len(announced) <= len(similar)


def test_principal_order():
    words, times, sums, ids = (
        [3, 9, 9, 1],
        [5, None, 7, 5],
        [0.5, 2.0, 0.5, 2.5],
        ["a", "c", "b", "d"],
    )
    assert principal_order("longest", words, times, sums, ids) == [2, 1, 0, 3]
    assert principal_order("first", words, times, sums, ids) == [0, 3, 2, 1]
    assert principal_order("central", words, times, sums, ids) == [3, 1, 0, 2]
    for order, places in (
        (FieldOrder("size"), [0, 2, 3, 1]),
        (FieldOrder("size", True), [2, 3, 0, 1]),
    ):
        assert principal_order(order, words, times, sums, ids, [1, None, 7, 7]) == places


def test_the_original_quotes_least_then_is_most_like_the_others_then_the_longest():
    words, sums, ids = [9, 5, 5, 7, 8], [9.0, 1.0, 3.0, 3.0, 3.0], ["a", "b", "c", "d", "e"]
    quoted = [2, 0, 0, 0, 0]
    times = [None] * 5
    assert principal_order("original", words, times, sums, ids, quoted) == [4, 3, 2, 1, 0]


def test_equal_slots_are_summed_over_all_documents_of_other_texts():
    left, right = np.array([0, 0], np.int32), np.array([1, 2], np.int32)
    blocks = [(left[:1], right[:1], np.array([90], np.uint16))]
    blocks.append((left[1:], right[1:], np.array([70], np.uint16)))
    assert sum_equal_slots(blocks, np.array([1, 2, 1]), 128) == [250.0, 218.0, 70.0]
    assert sum_equal_slots([], np.array([1, 3]), 128) == [0.0, 256.0]


@given(st.permutations([(0, 1, 0.1), (0, 2, 0.2), (1, 2, 0.3), (0, 3, 0.7)]))
def test_sums_do_not_depend_on_the_order(pairs):
    copies = [1, 3, 1, 2]
    assert sum_similarities(pairs, copies) == [
        round(math.fsum([0.1 * 3, 0.2, 0.7 * 2]), 9),
        round(math.fsum([2, 0.1, 0.3]), 9),
        round(math.fsum([0.2, 0.3 * 3]), 9),
        round(math.fsum([1, 0.7]), 9),
    ]


@given(
    st.integers(1, 30),
    st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29), st.sampled_from([0.4, 0.5, 0.9]))),
)
def test_chains_are_the_connected_components(count, edges):
    values = {(a % count, b % count): value for a, b, value in edges}
    chains = ConnectedTexts(count)
    chains.extend(list(values), lambda pairs: [values[pair] for pair in pairs], 0.5)
    near = {place: {place} for place in range(count)}
    for _ in range(count):
        for (a, b), value in values.items():
            if value >= 0.5:
                near[a] |= near[b]
                near[b] |= near[a]
    assert [chains.root(place) for place in range(count)] == [
        min(near[place]) for place in range(count)
    ]


def test_connected_pairs_are_not_measured():
    chains, measured = ConnectedTexts(4), []
    chains.extend(list(pairwise(range(4))), lambda pairs: [1.0] * len(pairs), 0.5)
    chains.extend([(0, 3), (1, 3)], lambda pairs: measured.extend(pairs) or [1.0] * len(pairs), 0.5)
    assert measured == []
