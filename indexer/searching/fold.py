"""Folding a ranked list: a hit joins the best shown hit it resembles, else it is shown itself.

Nothing is dropped.

Greedy in rank order, as Conrad & Raymond (ICAIL 2007) do with result sets: the relation is to the
shown hit, not chained.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from indexer.joins.near_sketches import NearSketches, near_sketches
from indexer.joins.slot_bounds import similarity_intervals
from indexer.model import RankedRow
from indexer.similarity.criteria import COMPARED
from indexer.sketch.codec import unpack_slots

_AT_ONCE = 100  # hits that are compared together


@dataclass(slots=True)
class Group:
    """A shown hit and the hits folded under it, in rank order."""

    head: RankedRow
    members: list[RankedRow] = field(default_factory=list)


class Rule(Protocol):
    """Decides which shown hit the next one joins."""

    def expect(self, hits: Sequence[RankedRow]) -> None:
        """Prepare for the hits that come next."""
        ...

    def find_group(self, hit: RankedRow) -> int | None:
        """Return the place of the group that `hit` joins; None: it is the head of the next one."""
        ...

    def add_head(self, hit: RankedRow) -> None:
        """Make `hit` the head of the next group, whatever it resembles."""
        ...


def fold_ranking(
    hits: Iterable[RankedRow], rule: Rule, heads: int, window: int, seeds: Sequence[RankedRow] = ()
) -> tuple[list[Group], bool]:
    """Fold hits in rank order until there are more than `heads` groups and `window` hits were read.

    `seeds`, heads that were shown before, are the first groups; the hits are others.

    Returns the groups in rank order of their heads, and whether every hit was read. One group more
    than is shown means that there is a next page. The groups of a prefix never change by reading
    on; members may be added.
    """
    for seed in seeds:
        rule.add_head(seed)
    groups = [Group(seed) for seed in seeds]
    remaining = iter(hits)
    read = 0
    while batch := list(islice(remaining, min(_AT_ONCE, window - read) if read < window else 1)):
        if read >= window and len(groups) > heads:
            return groups, False
        read += len(batch)
        rule.expect(batch)
        for hit in batch:
            place = rule.find_group(hit)
            if place is None:
                groups.append(Group(hit))
            else:
                groups[place].members.append(hit)
    return groups, True


class NoFolding:
    """Shows every hit."""

    def expect(self, hits: Sequence[RankedRow]) -> None:
        """Do nothing."""

    def find_group(self, hit: RankedRow) -> int | None:
        """Return None."""
        return None

    def add_head(self, hit: RankedRow) -> None:
        """Do nothing."""


class ByFamily:
    """Folds hits of one stored family under the first of them."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._groups = 0

    def expect(self, hits: Sequence[RankedRow]) -> None:
        """Do nothing."""

    def find_group(self, hit: RankedRow) -> int | None:
        """Return the group whose head carries the same family."""
        place = self._places.get(hit.family)
        if place is None:
            self.add_head(hit)
        return place

    def add_head(self, hit: RankedRow) -> None:
        """Remember the group, if it is the first of its family."""
        self._places.setdefault(hit.family, self._groups)
        self._groups += 1


class BySketch:
    """Folds hits under the shown hit that they resemble most, at or above a threshold.

    Fewer equal slots than `least_equal` keep two hits apart; None: those whose 95 % interval ends
    below the threshold. Of the others `exact(a, b)` returns the similarity of two documents by id;
    if the rule `trusts_slots`, only where the interval holds the threshold. A hit without a sketch,
    or of other `statuses`, folds under a copy only. `read_ahead` is told the documents whose
    similarity may be asked for next.
    """

    def __init__(
        self,
        threshold: float,
        exact: Callable[[str, str], float],
        trusts_slots: bool = True,
        slot_bytes: int = 4,
        least_equal: int | None = None,
        statuses: Collection[str] = COMPARED,
        read_ahead: Callable[[Sequence[str]], None] = lambda ids: None,
    ) -> None:
        self._read_ahead = read_ahead
        self._statuses = statuses
        self._least_equal = least_equal
        self._threshold = threshold
        self._exact = exact
        self._trusts_slots = trusts_slots
        self._slot_bytes = slot_bytes
        self._groups = 0
        self._heads: list[tuple[int, str]] = []
        self._sketches: _Sketches | None = None
        self._lows = np.zeros(0)
        self._without_sketch: dict[str, list[tuple[int, str]]] = defaultdict(list)
        self._batch: dict[str, _BatchHit] = {}
        self._rows: dict[int, int] = {}

    def expect(self, hits: Sequence[RankedRow]) -> None:
        """Compare the hits with all heads at once, and read what is close to them or each other."""
        sketched = [(hit.id, slots) for hit in hits if (slots := self._slots(hit)) is not None]
        self._batch, self._rows = {}, {}
        if not sketched:
            return
        sketches = self._sketches_of(sketched[0][1])
        batch = np.stack([slots for _, slots in sketched])
        heads = _by_row(sketches.near(batch), len(batch))
        beside = _by_row(near_sketches(batch, batch, sketches.least), len(batch))
        ids: list[str] = []
        for place, (id, slots) in enumerate(sketched):
            before = [near for near in beside[place] if near[0] < place]
            self._batch[id] = _BatchHit(place, slots, heads[place], before)
            if heads[place] or before:
                ids += [self._heads[row][1] for row, _ in heads[place]]
                ids += [sketched[row][0] for row, _ in before]
                ids.append(id)
        if not self._trusts_slots:
            self._read_ahead(list(dict.fromkeys(ids)))

    def find_group(self, hit: RankedRow) -> int | None:
        """Return the group whose head is most similar by estimate; ties go to the first.

        Only those at or above the threshold count.
        """
        expected = self._batch.get(hit.id)
        place = self._most_similar(hit.id, expected) if expected else self._find_copy(hit)
        if place is None:
            self._add_head(hit, expected.slots if expected else None)
            if expected:
                self._rows[expected.place] = len(self._heads) - 1
        return place

    def add_head(self, hit: RankedRow) -> None:
        """Remember the head; without a sketch only copies may join it."""
        self._add_head(hit, self._slots(hit))

    def _slots(self, hit: RankedRow) -> NDArray[Any] | None:
        if not hit.minhash or hit.status not in self._statuses:
            return None
        return unpack_slots(hit.minhash, self._slot_bytes)

    def _find_copy(self, hit: RankedRow) -> int | None:
        """Return the first group whose head has no sketch either, and the same text."""
        heads = self._without_sketch.get(hit.digest, []) if hit.digest else []
        for place, head in heads:
            if self._exact(head, hit.id) >= self._threshold:
                return place
        return None

    def _most_similar(self, id: str, expected: _BatchHit) -> int | None:
        near = [*expected.heads]
        near += [(self._rows[row], equal) for row, equal in expected.before if row in self._rows]
        for row, equal in sorted(near, key=lambda pair: -pair[1]):
            place, head = self._heads[row]
            if self._trusts_slots and self._lows[equal] >= self._threshold:
                return place
            if self._exact(head, id) >= self._threshold:
                return place
        return None

    def _sketches_of(self, slots: NDArray[Any]) -> _Sketches:
        """Return the sketches of the heads, which are like these slots."""
        if self._sketches is None:
            self._lows, highs = similarity_intervals(len(slots), bits=8 * self._slot_bytes)
            least = self._least_equal
            if least is None:
                least = int(np.count_nonzero(highs < self._threshold))
            self._sketches = _Sketches(len(slots), slots.dtype, least)
        return self._sketches

    def _add_head(self, hit: RankedRow, slots: NDArray[Any] | None) -> None:
        if slots is None:
            self._without_sketch[hit.digest].append((self._groups, hit.id))
        else:
            self._sketches_of(slots).add(slots)
            self._heads.append((self._groups, hit.id))
        self._groups += 1


class _BatchHit(NamedTuple):
    """A hit of a batch, and what is near it: places with equal slots.

    `heads`: those that were there before the batch; `before`: hits of the batch.
    """

    place: int
    slots: NDArray[Any]
    heads: list[tuple[int, int]]
    before: list[tuple[int, int]]


def _by_row(near: NearSketches, count: int) -> list[list[tuple[int, int]]]:
    """Return the near places of each of `count` sketches, with the equal slots."""
    rows: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for row, place, equal in near.tolist():
        rows[row].append((place, equal))
    return rows


class _Sketches:
    """Sketches of `width` slots of `kind`, searched for those that share `least` slots or more."""

    def __init__(self, width: int, kind: np.dtype[Any], least: int) -> None:
        self.least = least
        self._count = 0
        self._slots = np.zeros((16, width), dtype=kind)

    def add(self, slots: NDArray[Any]) -> None:
        """Add a sketch; the array doubles, so that growing costs linear time."""
        if self._count == len(self._slots):
            self._slots = np.concatenate([self._slots, np.zeros_like(self._slots)])
        self._slots[self._count] = slots
        self._count += 1

    def near(self, others: NDArray[Any]) -> NearSketches:
        """Return which of the others are near which sketch, in the order in which they came."""
        return near_sketches(others, self._slots[: self._count], self.least)
