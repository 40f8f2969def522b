"""Folding a ranked list: a hit joins the best shown hit it resembles, else it is shown itself.
Nothing is dropped.

Greedy in rank order, as Conrad & Raymond (ICAIL 2007) do with result sets: the relation is to the
shown hit, not chained.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from indexer.joins.slot_bounds import similarity_intervals
from indexer.model import RankedRow
from indexer.sketch.codec import unpack_slots


@dataclass(slots=True)
class Group:
    """A shown hit and the hits folded under it, in rank order."""

    head: RankedRow
    members: list[RankedRow] = field(default_factory=list)


class Rule(Protocol):
    """Decides which shown hit the next one joins."""

    def joins(self, hit: RankedRow) -> int | None:
        """The place of the group that `hit` joins, or None when it becomes the head of the next
        group.
        """
        ...

    def leads(self, hit: RankedRow) -> None:
        """Make `hit` the head of the next group, whatever it resembles."""
        ...


def fold_ranking(
    hits: Iterable[RankedRow], rule: Rule, heads: int, window: int, seeds: Sequence[RankedRow] = ()
) -> tuple[list[Group], bool]:
    """Fold hits in rank order until there are more than `heads` groups and `window` hits were read.

    `seeds`, heads that were shown before, are the first groups; the hits are others.

    Returns the groups in rank order of their heads, and whether every hit was read. Reading one
    group beyond what is shown tells whether there is a next page. The groups of a prefix never
    change by reading on; members may be added.
    """
    for seed in seeds:
        rule.leads(seed)
    groups = [Group(seed) for seed in seeds]
    for read, hit in enumerate(hits):
        if read >= window and len(groups) > heads:
            return groups, False
        place = rule.joins(hit)
        if place is None:
            groups.append(Group(hit))
        else:
            groups[place].members.append(hit)
    return groups, True


class NoFolding:
    """Every hit is shown."""

    def joins(self, hit: RankedRow) -> int | None:
        """Never joins."""
        return None

    def leads(self, hit: RankedRow) -> None:
        """Nothing to remember."""


class ByFamily:
    """Hits of one stored family fold under the first of them."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._groups = 0

    def joins(self, hit: RankedRow) -> int | None:
        """The group whose head carries the same family."""
        place = self._places.get(hit.family)
        if place is None:
            self.leads(hit)
        return place

    def leads(self, hit: RankedRow) -> None:
        """The first head of a family takes the rest of it."""
        self._places.setdefault(hit.family, self._groups)
        self._groups += 1


class BySketch:
    """Hits fold under the shown hit they resemble most, at or above a threshold of the `jaccard`
    measure.

    The slots decide where the whole 95 % interval lies on one side of the threshold; inside it
    `exact(a, b)` is asked for the similarity of two documents by id; not `trusts_slots`, it is asked of
    every hit that slots would fold. A hit without a sketch is shown.
    """

    def __init__(
        self, threshold: float, exact: Callable[[str, str], float], trusts_slots: bool = True
    ) -> None:
        self._threshold, self._exact, self._trusts_slots = threshold, exact, trusts_slots
        self._groups = 0
        self._heads: list[tuple[int, str]] = []
        self._sketches: _Sketches | None = None
        self._lows = np.zeros(0)

    def joins(self, hit: RankedRow) -> int | None:
        """The group whose head is most similar by estimate among those at or above the threshold;
        ties go to the first.
        """
        slots = unpack_slots(hit.minhash) if hit.minhash else None
        place = None if slots is None else self._most_similar(hit.id, slots)
        if place is None:
            self._lead(hit.id, slots)
        return place

    def leads(self, hit: RankedRow) -> None:
        """A head with a sketch may be joined."""
        self._lead(hit.id, unpack_slots(hit.minhash) if hit.minhash else None)

    def _most_similar(self, id: str, slots: NDArray[np.uint32]) -> int | None:
        if self._sketches is None:
            return None
        possible, equal = self._sketches.near(slots)
        if not len(possible):
            return None
        order = np.argsort(-equal, kind="stable")
        rows: list[int] = possible[order].tolist()
        for row, low in zip(rows, self._lows[equal[order]], strict=True):
            place, head = self._heads[row]
            if (self._trusts_slots and low >= self._threshold) or self._exact(
                head, id
            ) >= self._threshold:
                return place
        return None

    def _lead(self, id: str, slots: NDArray[np.uint32] | None) -> None:
        if slots is not None:
            if self._sketches is None:
                self._lows, highs = similarity_intervals(len(slots))
                self._sketches = _Sketches(
                    len(slots), int(np.count_nonzero(highs < self._threshold))
                )
            self._sketches.add(slots)
            self._heads.append((self._groups, id))
        self._groups += 1


class _Sketches:
    """Sketches of `width` slots, and which of them agree with another one in `least` slots or more.

    One byte of each slot is compared first, all sketches' bytes of a slot lying together: those
    that differ in too many bytes, which are nearly all, are not looked at again.
    """

    def __init__(self, width: int, least: int) -> None:
        self._least, self._count = least, 0
        self._counting: type[np.unsignedinteger[Any]] = np.uint8 if width < 256 else np.uint32
        self._slots = np.zeros((16, width), dtype=np.uint32)
        self._bytes = np.zeros((width, 16), dtype=np.uint8)

    def add(self, slots: NDArray[np.uint32]) -> None:
        """One more; the arrays double, so that growing costs linear time."""
        if self._count == len(self._slots):
            self._slots = np.concatenate([self._slots, np.zeros_like(self._slots)])
            self._bytes = np.concatenate([self._bytes, np.zeros_like(self._bytes)], axis=1)
        self._slots[self._count] = slots
        self._bytes[:, self._count] = slots.astype(np.uint8)
        self._count += 1

    def near(self, slots: NDArray[np.uint32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The places of these sketches in the order in which they were added, and how many slots of
        each agree.
        """
        alike = (self._bytes[:, : self._count] == slots.astype(np.uint8)[:, None]).view(np.uint8)
        rows = (np.add.reduce(alike, axis=0, dtype=self._counting) >= self._least).nonzero()[0]
        if not len(rows):
            return rows, rows
        equal = np.count_nonzero(self._slots[rows] == slots, axis=1)
        enough = equal >= self._least
        return rows[enough], equal[enough]
