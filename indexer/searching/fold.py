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
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.joins.slot_bounds import similarity_intervals
from indexer.model import RankedRow
from indexer.similarity.criteria import COMPARED
from indexer.sketch.codec import unpack_slots

_AT_ONCE = 100  # hits that are compared together
_Near: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]
_NONE: _Near = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)


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
        self._expected: dict[str, tuple[int, _Near]] = {}

    def expect(self, hits: Sequence[RankedRow]) -> None:
        """Compare the hits with all heads at once, and read what is close to them or each other."""
        self._expected.clear()
        sketched = [(hit, slots) for hit in hits if (slots := self._slots(hit)) is not None]
        if not sketched:
            return
        sketches = self._sketches_of(sketched[0][1])
        together = _Sketches(len(sketched[0][1]), sketches.least)
        ids: list[str] = []
        for hit, slots in sketched:
            heads, beside = sketches.near(slots), together.near(slots)
            self._expected[hit.id] = sketches.count, heads
            together.add(slots)
            if len(heads[0]) or len(beside[0]):
                ids += [self._heads[row][1] for row in heads[0].tolist()]
                ids += [sketched[row][0].id for row in beside[0].tolist()]
                ids.append(hit.id)
        if not self._trusts_slots:
            self._read_ahead(list(dict.fromkeys(ids)))

    def find_group(self, hit: RankedRow) -> int | None:
        """Return the group whose head is most similar by estimate; ties go to the first.

        Only those at or above the threshold count.
        """
        slots = self._slots(hit)
        place = self._find_copy(hit) if slots is None else self._most_similar(hit.id, slots)
        if place is None:
            self._add_head(hit, slots)
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

    def _most_similar(self, id: str, slots: NDArray[Any]) -> int | None:
        if self._sketches is None:
            return None
        possible, equal = self._near(id, slots, self._sketches)
        if not len(possible):
            return None
        order = np.argsort(-equal, kind="stable")
        rows: list[int] = possible[order].tolist()
        for row, low in zip(rows, self._lows[equal[order]], strict=True):
            place, head = self._heads[row]
            if self._trusts_slots and low >= self._threshold:
                return place
            if self._exact(head, id) >= self._threshold:
                return place
        return None

    def _near(self, id: str, slots: NDArray[Any], sketches: _Sketches) -> _Near:
        """Return the near heads, of which those are known that were there when it was expected."""
        count, (rows, equal) = self._expected.pop(id, (0, _NONE))
        more_rows, more_equal = sketches.near(slots, count)
        return np.concatenate([rows, more_rows]), np.concatenate([equal, more_equal])

    def _sketches_of(self, slots: NDArray[Any]) -> _Sketches:
        """Return the sketches of the heads, which are like these slots."""
        if self._sketches is None:
            self._lows, highs = similarity_intervals(len(slots), bits=8 * self._slot_bytes)
            least = self._least_equal
            if least is None:
                least = int(np.count_nonzero(highs < self._threshold))
            self._sketches = _Sketches(len(slots), least)
        return self._sketches

    def _add_head(self, hit: RankedRow, slots: NDArray[Any] | None) -> None:
        if slots is None:
            self._without_sketch[hit.digest].append((self._groups, hit.id))
        else:
            self._sketches_of(slots).add(slots)
            self._heads.append((self._groups, hit.id))
        self._groups += 1


class _Sketches:
    """Sketches of `width` slots, searched for those that share `least` slots or more with another.

    One byte of each slot is compared first, all sketches' bytes of a slot lying together: those
    that differ in too many bytes, which are nearly all, are not looked at again.
    """

    def __init__(self, width: int, least: int) -> None:
        self.least = least
        self.count = 0
        self.counting: type[np.unsignedinteger[Any]] = np.uint8 if width < 256 else np.uint32
        self._slots = np.zeros((16, width), dtype=np.uint32)
        self._bytes = np.zeros((width, 16), dtype=np.uint8)

    def add(self, slots: NDArray[Any]) -> None:
        """Add a sketch; the arrays double, so that growing costs linear time."""
        if self.count == len(self._slots):
            self._slots = np.concatenate([self._slots, np.zeros_like(self._slots)])
            self._bytes = np.concatenate([self._bytes, np.zeros_like(self._bytes)], axis=1)
        self._slots[self.count] = slots
        self._bytes[:, self.count] = slots.astype(np.uint8)
        self.count += 1

    def near(self, slots: NDArray[Any], start: int = 0) -> _Near:
        """Return their places, in the order in which they were added, and their equal slots.

        Those before `start` are left out.
        """
        if start == self.count:
            return _NONE
        is_equal = self._bytes[:, start : self.count] == slots.astype(np.uint8)[:, None]
        counts = np.add.reduce(is_equal.view(np.uint8), axis=0, dtype=self.counting)
        rows = (counts >= self.least).nonzero()[0] + start
        if not len(rows):
            return rows, rows
        equal = np.count_nonzero(self._slots[rows] == slots, axis=1)
        is_enough = equal >= self.least
        return rows[is_enough], equal[is_enough]
