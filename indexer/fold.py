"""Folding a ranked list: a hit joins the best shown hit it resembles, else it is shown itself. Nothing is dropped.

Greedy in rank order, as Conrad & Raymond (ICAIL 2007) do with result sets: the relation is to the shown hit, not chained.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from indexer.joining import intervals
from indexer.model import Ranked
from indexer.sketch.codec import unpack_slots


@dataclass(slots=True)
class Group:
    """A shown hit and the hits folded under it, in rank order."""

    head: Ranked
    members: list[Ranked] = field(default_factory=list)


class Rule(Protocol):
    """Decides which shown hit the next one joins."""

    def joins(self, hit: Ranked) -> int | None:
        """The place of the group that `hit` joins, or None when it becomes the head of the next group."""
        ...

    def leads(self, hit: Ranked) -> None:
        """Make `hit` the head of the next group, whatever it resembles."""
        ...


def folded(
    hits: Iterable[Ranked], rule: Rule, heads: int, window: int, seeds: Sequence[Ranked] = ()
) -> tuple[list[Group], bool]:
    """Fold hits in rank order until there are more than `heads` groups and `window` hits were read.

    `seeds`, heads that were shown before, are the first groups; the hits are others.

    Returns the groups in rank order of their heads, and whether every hit was read. Reading one group beyond what is
    shown tells whether there is a next page. The groups of a prefix never change by reading on; members may be added.
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


class Unfolded:
    """Every hit is shown."""

    def joins(self, hit: Ranked) -> int | None:
        """Never joins."""
        return None

    def leads(self, hit: Ranked) -> None:
        """Nothing to remember."""


class ByFamily:
    """Hits of one stored family fold under the first of them."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._groups = 0

    def joins(self, hit: Ranked) -> int | None:
        """The group whose head carries the same family."""
        place = self._places.get(hit.family)
        if place is None:
            self.leads(hit)
        return place

    def leads(self, hit: Ranked) -> None:
        """The first head of a family takes the rest of it."""
        self._places.setdefault(hit.family, self._groups)
        self._groups += 1


class BySketch:
    """Hits fold under the shown hit they resemble most, at or above a threshold of the `features` measure.

    The slots decide where the whole 95 % interval lies on one side of the threshold; inside it `exact(a, b)` is asked for
    the similarity of two documents by id; not `trusting`, it is asked of every hit that slots would fold. A hit without a
    sketch is shown.
    """

    def __init__(self, threshold: float, exact: Callable[[str, str], float], trusting: bool = True) -> None:
        self._threshold, self._exact, self._trusting = threshold, exact, trusting
        self._groups = 0
        self._heads: list[tuple[int, str]] = []
        self._slots: NDArray[np.uint32] = np.zeros((0, 0), dtype=np.uint32)
        self._lows, self._highs = intervals(0)

    def joins(self, hit: Ranked) -> int | None:
        """The group whose head is most similar by estimate among those at or above the threshold; ties go to the first."""
        place = self._most_similar(hit.id, unpack_slots(hit.minhash)) if hit.minhash else None
        if place is None:
            self.leads(hit)
        return place

    def leads(self, hit: Ranked) -> None:
        """A head with a sketch may be joined."""
        if hit.minhash:
            self._remember(hit.id, unpack_slots(hit.minhash))
        self._groups += 1

    def _most_similar(self, id: str, slots: NDArray[np.uint32]) -> int | None:
        equal = _agreeing(self._slots[: len(self._heads)], slots) if self._heads else np.zeros(0, np.int64)
        if len(self._lows) != len(slots) + 1:
            self._lows, self._highs = intervals(len(slots))
        possible = np.flatnonzero(self._highs[equal] >= self._threshold)
        rows: list[int] = possible[np.argsort(-equal[possible], kind="stable")].tolist()
        for row in rows:
            place, head = self._heads[row]
            certain = self._trusting and self._lows[equal[row]] >= self._threshold
            if certain or self._exact(head, id) >= self._threshold:
                return place
        return None

    def _remember(self, id: str, slots: NDArray[np.uint32]) -> None:
        """Keep the sketch of a shown hit; the array doubles, so that growing it costs linear time."""
        row = len(self._heads)
        if row == len(self._slots):
            grown = np.zeros((max(16, 2 * row), len(slots)), dtype=np.uint32)
            grown[:row] = self._slots if row else grown[:0]
            self._slots = grown
        self._slots[row] = slots
        self._heads.append((self._groups, id))


def _agreeing(slots: NDArray[np.uint32], own: NDArray[np.uint32]) -> NDArray[np.int64]:
    """In how many slots each row agrees with one sketch; sums of narrow numbers take half the time of `count_nonzero`."""
    agreeing: NDArray[np.uint16] = np.add.reduce((slots == own).view(np.uint8), axis=1, dtype=np.uint16)
    return agreeing.astype(np.int64)
