"""Folding a ranked list: greedy in rank order, to the shown hit, nothing dropped."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.fingerprinting.keys import pack_slots
from indexer.fingerprinting.minhash import similarity_intervals
from indexer.model import RankedRow
from indexer.searching.folding import (
    ByFamily,
    NoFolding,
    fold_families,
    fold_page,
    fold_ranking,
)
from indexer.searching.folding_rules import BySketch, LookAhead, Nearness

SLOTS = 128


def hit(id: str, slots: np.ndarray | None, family: str = "") -> RankedRow:
    packed = None if slots is None else pack_slots(slots.astype(np.uint32))
    return RankedRow(id, f"/{id}", 1.0, family or id, "complete", packed)


def sketch(agreeing: int, salt: int = 0) -> np.ndarray:
    """Return slots of which the first `agreeing` equal those of the other sketches."""
    slots = np.arange(SLOTS)
    slots[agreeing:] += 1000 * (salt + 1)
    return slots


def never(a: str, b: str) -> float:
    raise AssertionError(f"texts of {a} and {b} were read outside the error bar")


def shape(hits: list[RankedRow], rule: object, heads: int = 100) -> list[list[str]]:
    groups = fold_ranking(hits, rule, heads, 0).groups  # type: ignore[arg-type]
    return [[group.representative.id, *(member.id for member in group.members)] for group in groups]


def test_similar_hits_are_folded_and_none_is_dropped() -> None:
    hits = [
        hit("a", sketch(128)),
        hit("b", sketch(0, 1)),
        hit("c", sketch(126, 2)),
        hit("d", sketch(0, 3)),
        hit("e", sketch(0, 1)),
    ]
    assert shape(hits, BySketch(0.8, never)) == [["a", "c"], ["b", "e"], ["d"]]


def test_relation_is_to_the_shown_hit_not_chained() -> None:
    """b resembles a, and c resembles b alone: c is shown."""
    a, b = np.arange(SLOTS), np.arange(SLOTS)
    b[:12] += 5000
    c = b.copy()
    c[12:60] += 9000
    assert shape([hit("a", a), hit("b", b), hit("c", c)], BySketch(0.8, never)) == [
        ["a", "b"],
        ["c"],
    ]


def test_inside_the_error_bar_the_texts_decide() -> None:
    compared = []

    def exact(a: str, b: str) -> float:
        compared.append((a, b))
        return 0.79

    hits = [hit("a", sketch(128)), hit("b", sketch(103, 1))]
    assert shape(hits, BySketch(0.8, exact)) == [["a"], ["b"]]
    assert compared == [("a", "b")]
    assert shape(hits, BySketch(0.8, lambda a, b: 0.8)) == [["a", "b"]]


def test_texts_of_other_lengths_are_not_compared() -> None:
    """The words in order are at most those of the shorter text."""
    hits = [
        replace(hit("a", sketch(128)), words=100),
        replace(hit("b", sketch(120, 1)), words=89),
        replace(hit("c", sketch(120, 2)), words=90),
        replace(hit("d", sketch(120, 3)), words=None),
        replace(hit("e", sketch(120, 4)), words=112),
    ]
    compared = []

    def exact(a: str, b: str) -> float:
        compared.append(a + b)
        return 0.0

    rule = BySketch(0.9, exact, False, nearness=Nearness(10, 0.9))
    assert len(shape(hits, rule)) == 5
    assert sorted(compared) == ["ac", "ad", "bc", "bd", "cd", "de"]


def test_best_of_several_shown_hits_is_joined() -> None:
    near, nearer = sketch(128), sketch(40, 1)
    third = sketch(40, 1)
    third[-2:] += 7
    assert shape([hit("a", near), hit("b", nearer), hit("c", third)], BySketch(0.8, never)) == [
        ["a"],
        ["b", "c"],
    ]


def test_documents_without_a_sketch_are_never_lumped_together() -> None:
    assert shape([hit("a", None), hit("b", None), hit("c", None)], BySketch(0.8, never)) == [
        ["a"],
        ["b"],
        ["c"],
    ]


def test_by_family_and_unfolded() -> None:
    hits = [hit("a", None, "f"), hit("b", None, "g"), hit("c", None, "f")]
    assert shape(hits, ByFamily()) == [["a", "c"], ["b"]]
    assert shape(hits, NoFolding()) == [["a"], ["b"], ["c"]]


def test_reading_stops_one_group_beyond_the_page() -> None:
    read = []

    def hits() -> Iterator[RankedRow]:
        for number in range(100):
            read.append(number)
            yield hit(str(number), None)

    groups, complete, _ = fold_ranking(hits(), NoFolding(), 10, 0)
    assert (len(groups), complete, len(read)) == (11, False, 12)


@given(
    st.lists(st.tuples(st.integers(0, 128), st.integers(0, 3)), max_size=40),
    st.floats(0.05, 1.0),
    st.integers(1, 39),
)
def test_every_hit_is_in_one_group_and_prefixes_agree(
    kinds: list[tuple[int, int]], threshold: float, cut: int
) -> None:
    hits = [hit(str(place), sketch(*kind)) for place, kind in enumerate(kinds)]
    all_groups = shape(hits, BySketch(threshold, lambda a, b: 0.0))
    assert sorted(id for group in all_groups for id in group) == sorted(
        ranked.id for ranked in hits
    )
    prefix = shape(hits[:cut], BySketch(threshold, lambda a, b: 0.0))
    assert [group[0] for group in prefix] == [group[0] for group in all_groups][: len(prefix)]


@given(st.integers(0, 2**32 - 1), st.sampled_from([16, 128, 300]), st.floats(0.0, 1.0))
def test_no_head_that_may_be_similar_enough_is_passed_over(
    seed: int, width: int, threshold: float
) -> None:
    """The texts are asked about exactly the heads whose interval reaches the threshold, the most
    similar first.
    """
    random = np.random.default_rng(seed)
    sketches = random.integers(0, 2, (20, width)) << random.integers(0, 10, (20, 1))
    compared: dict[str, list[str]] = {}

    def exact(head: str, id: str) -> float:
        compared.setdefault(id, []).append(head)
        return -1.0

    shape(
        [hit(str(place), slots) for place, slots in enumerate(sketches)],
        BySketch(threshold, exact, trusts_slots=False),
    )
    highs = similarity_intervals(width)[1]
    for place, slots in enumerate(sketches):
        equal = [int(np.count_nonzero(slots == earlier)) for earlier in sketches[:place]]
        near = [earlier for earlier in range(place) if highs[equal[earlier]] >= threshold]
        assert compared.get(str(place), []) == [
            str(earlier) for earlier in sorted(near, key=lambda earlier: -equal[earlier])
        ]


def test_after_the_first_only_possible_representatives_are_compared() -> None:
    compared: list[tuple[str, str]] = []
    requested: list[tuple[str, list[str]]] = []

    def exact(head: str, id: str) -> float:
        compared.append((head, id))
        return float(id == "4")

    def possible(id: str, others: Sequence[str]) -> list[str]:
        requested.append((id, list(others)))
        return ["2"]

    slots = np.zeros(16, dtype=np.int64)
    rule = BySketch(0.5, exact, trusts_slots=False, ahead=LookAhead(possible=possible))
    groups = shape([hit(str(position), slots) for position in range(5)], rule)
    assert groups == [["0", "4"], ["1"], ["2"], ["3"]]
    assert requested == [("2", ["1"]), ("3", ["1", "2"])]
    assert compared == [("0", "1"), ("0", "2"), ("0", "3"), ("2", "3"), ("0", "4")]


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1), st.integers(180, 230), st.integers(0, 220))
def test_hits_compared_together_fold_as_one_by_one(seed: int, count: int, window: int) -> None:
    """What is asked about was read ahead, of the hits that are compared together."""
    random = np.random.default_rng(seed)
    sketches = random.integers(0, 2, (count, 16)) << random.integers(0, 6, (count, 1))
    hits = [hit(str(place), slots) for place, slots in enumerate(sketches)]
    told: set[str] = set()

    def exact(head: str, id: str) -> float:
        assert window < count or {head, id} <= told
        return float((int(head) + int(id)) % 3 == 0)

    def fold(size: int) -> list[list[str]]:
        rule = BySketch(0.5, exact, trusts_slots=False, ahead=LookAhead(told.update))
        groups = fold_ranking(hits, rule, count, size).groups
        return [
            [group.representative.id, *(member.id for member in group.members)] for group in groups
        ]

    assert fold(window) == fold(count)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 20), st.integers(1, 20), st.integers(1, 150))
def test_what_is_left_out_changes_no_shown_group(
    seed: int, heads: int, shown: int, window: int
) -> None:
    random = np.random.default_rng(seed)
    sketches = random.integers(0, 2, (160, 16)) << random.integers(0, 6, (160, 1))
    hits = [hit(str(place), slots) for place, slots in enumerate(sketches)]

    def exact(head: str, id: str) -> float:
        return float((int(head) + int(id)) % 3 == 0)

    first = heads - min(shown, heads)
    every = fold_ranking(hits, BySketch(0.5, exact, trusts_slots=False), heads, window)
    rule = BySketch(0.5, exact, trusts_slots=False)
    some = fold_page(hits, rule, range(first, heads), window)
    assert some.groups[first:heads] == every.groups[first:heads]
    assert some.complete == every.complete
    assert (len(some.groups) > heads) == (len(every.groups) > heads)
    assert len(some.groups) + some.others <= len(every.groups)
    assert not some.complete or len(some.groups) + some.others == len(every.groups)


class Batches(NoFolding):
    """Shows every hit, and notes how many were compared together."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def expect(self, hits: Sequence[RankedRow]) -> None:
        self.sizes.append(len(hits))


@pytest.mark.long
def test_late_pages_compare_hits_in_batches_and_read_no_more_than_before() -> None:
    rule = Batches()
    hits = (hit(str(number), None) for number in range(12_000))
    folding = fold_ranking(hits, rule, 9_980, 1_000)
    assert len(folding.groups) == sum(rule.sizes) == 9_981 and not folding.complete
    assert len(rule.sizes) < 60


@pytest.mark.long
def test_hits_that_join_groups_are_read_in_batches_while_one_group_is_missing() -> None:
    reads: list[int] = []
    rule = BySketch(
        0.5,
        lambda a, b: float("other" not in (a, b)),
        trusts_slots=False,
        ahead=LookAhead(lambda ids: reads.append(len(ids))),
    )
    slots = np.arange(16)
    hits = [hit(f"copy{number}", slots) for number in range(1_000)]
    folding = fold_page([*hits, hit("other", slots), hit("last", slots)], rule, range(1), 0)
    assert [len(group.hits) for group in folding.groups] == [1_000, 1] and not folding.complete
    assert len(reads) < 15


def test_folding_by_family_reads_no_hit_more_than_it_needs() -> None:
    """A search closes its snapshot after its last hit, and members are read by that."""
    read: list[str] = []

    def hits() -> Iterator[RankedRow]:
        for family in "aaaaaaaabaa":
            read.append(family)
            yield hit(str(len(read)), None, family)

    folding = fold_families(hits(), [], range(1), lambda families: [])
    assert "".join(read) == "aaaaaaaaba" and not folding.complete
