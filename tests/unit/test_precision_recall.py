"""Precision and recall by pairs and by sets, computed by hand."""

import pytest

from indexer.lab.evaluation.precision_recall import Counts, count_sets, is_captured, linked_sets

TRUE = {("a", "b"), ("a", "c"), ("b", "c"), ("d", "e")}


def test_pairs() -> None:
    counts = Counts(right=2, wrong=1, missed=2)
    assert (counts.precision, counts.recall, counts.f1) == (2 / 3, 0.5, pytest.approx(4 / 7))


def test_shares_of_nothing_are_undefined() -> None:
    nothing = Counts(right=0, wrong=0, missed=0)
    assert (nothing.precision, nothing.recall, nothing.f1) == (None, None, None)
    none_of_two = Counts(right=0, wrong=0, missed=2)
    assert (none_of_two.precision, none_of_two.recall) == (None, 0)


@pytest.mark.parametrize(
    ("pairs", "by_rule"),
    [
        (set(), {"any": False, "connected": False, "all": False}),
        ({("a", "b")}, {"any": True, "connected": False, "all": False}),
        ({("a", "b"), ("b", "c")}, {"any": True, "connected": True, "all": False}),
        ({("a", "b"), ("a", "c"), ("b", "c")}, {"any": True, "connected": True, "all": True}),
        ({("a", "x"), ("b", "x"), ("c", "x")}, {"any": False, "connected": False, "all": False}),
    ],
)
def test_capture_rules(pairs: set, by_rule: dict) -> None:
    assert {rule: is_captured(("c", "a", "b"), pairs, rule) for rule in by_rule} == by_rule


def test_sets_are_scored_both_ways() -> None:
    pairs = {("a", "b"), ("b", "c"), ("c", "x"), ("y", "z")}
    counts = count_sets([("a", "b", "c"), ("d", "e")], pairs, TRUE, "connected")
    assert (counts.captured, counts.sets, counts.right, counts.found) == (1, 2, 0, 2)
    assert (counts.recall, counts.precision, counts.f1) == (0.5, 0.0, 0.0)
    assert count_sets([("d", "e")], {("d", "e")}, TRUE, "all").f1 == 1


def test_what_is_linked() -> None:
    assert linked_sets([]) == []
    assert linked_sets([("b", "c"), ("x", "y"), ("a", "b")]) == [("a", "b", "c"), ("x", "y")]
