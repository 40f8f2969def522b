"""Folding a ranked list: a hit joins the best shown hit it resembles, else it is shown itself.

Nothing is dropped.

Greedy in rank order, as Conrad & Raymond (ICAIL 2007) do with result sets: the relation is to the
shown hit, not chained.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from indexer.joins.near_sketches import NearSketches
from indexer.joins.slot_bounds import similarity_intervals
from indexer.model import RankedRow
from indexer.searching.sketched_hits import BY_INTERVALS, Nearness, SketchedHits, sketched_hits
from indexer.similarity.criteria import COMPARED

_AT_ONCE = 200  # hits that are compared together
_NearPlaces: TypeAlias = list[list[tuple[int, int]]]


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

    Two hits that are not within `nearness` are kept apart; without a number of equal slots there,
    those whose 95 % interval ends below the threshold. Of the others `exact(a, b)` returns the
    similarity of two documents by id; if the rule `trusts_slots`, only where the interval holds the
    threshold. A hit without a sketch, or of other `statuses`, folds under a copy only. `read_ahead`
    is told the documents whose similarity may be asked for next.
    """

    def __init__(
        self,
        threshold: float,
        exact: Callable[[str, str], float],
        trusts_slots: bool = True,
        slot_bytes: int = 4,
        nearness: Nearness = BY_INTERVALS,
        statuses: Collection[str] = COMPARED,
        read_ahead: Callable[[Sequence[str]], None] = lambda ids: None,
    ) -> None:
        self._nearness = nearness
        self._read_ahead = read_ahead
        self._statuses = statuses
        self._threshold = threshold
        self._exact = exact
        self._trusts_slots = trusts_slots
        self._slot_bytes = slot_bytes
        self._groups = 0
        self._heads: list[tuple[int, str]] = []
        self._sketches: SketchedHits | None = None
        self._lows = np.zeros(0)
        self._without_sketch: dict[str, list[tuple[int, str]]] = defaultdict(list)
        self._batch: dict[str, _BatchHit] = {}
        self._rows: dict[int, int] = {}

    def expect(self, hits: Sequence[RankedRow]) -> None:
        """Compare the hits with all heads at once, and read what is close to them or each other."""
        sketched = [hit for hit in hits if self._is_sketched(hit)]
        self._batch, self._rows = {}, {}
        if not sketched:
            return
        batch = sketched_hits(sketched, self._slot_bytes)
        heads, before = self._near(batch)
        ids: list[str] = []
        for place, hit in enumerate(sketched):
            self._batch[hit.id] = _BatchHit(place, batch, heads[place], before[place])
            if heads[place] or before[place]:
                ids += [self._heads[row][1] for row, _ in heads[place]]
                ids += [sketched[row].id for row, _ in before[place]]
                ids.append(hit.id)
        if ids and not self._trusts_slots:
            self._read_ahead(list(dict.fromkeys(ids)))

    def _near(self, batch: SketchedHits) -> tuple[_NearPlaces, _NearPlaces]:
        """Return what is near each hit of a batch: of the heads, and of the hits before it."""
        nearness = self._bounds(batch.slots.shape[1])
        beside = nearness.pairs(batch, batch)
        before = _by_row(beside[beside[:, 1] < beside[:, 0]], len(batch))
        if self._sketches is None:
            return [[] for _ in before], before
        return _by_row(nearness.pairs(batch, self._sketches), len(batch)), before

    def find_group(self, hit: RankedRow) -> int | None:
        """Return the group whose head is most similar by estimate; ties go to the first.

        Only those at or above the threshold count.
        """
        expected = self._batch.get(hit.id)
        place = self._most_similar(hit.id, expected) if expected else self._find_copy(hit)
        if place is not None:
            return place
        if expected:
            self._rows[expected.place] = len(self._heads)
            self._add_sketched(hit.id, expected.batch, expected.place)
        else:
            self._add_without_sketch(hit)
        return None

    def add_head(self, hit: RankedRow) -> None:
        """Remember the head; without a sketch only copies may join it."""
        if self._is_sketched(hit):
            self._add_sketched(hit.id, sketched_hits([hit], self._slot_bytes), 0)
        else:
            self._add_without_sketch(hit)

    def _is_sketched(self, hit: RankedRow) -> bool:
        return bool(hit.minhash) and hit.status in self._statuses

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

    def _bounds(self, width: int) -> Nearness:
        """Return the bounds of pairs that are compared, for sketches of `width` slots."""
        if not len(self._lows):
            self._lows, highs = similarity_intervals(width, bits=8 * self._slot_bytes)
            if self._nearness.equal is None:
                equal = int(np.count_nonzero(highs < self._threshold))
                self._nearness = replace(self._nearness, equal=equal)
        return self._nearness

    def _add_sketched(self, id: str, hits: SketchedHits, place: int) -> None:
        if self._sketches is None:
            self._sketches = hits.one(place)
        else:
            self._sketches.add(hits, place)
        self._heads.append((self._groups, id))
        self._groups += 1

    def _add_without_sketch(self, hit: RankedRow) -> None:
        self._without_sketch[hit.digest].append((self._groups, hit.id))
        self._groups += 1


class _BatchHit(NamedTuple):
    """The place of a hit in its batch, and what is near it: places with equal slots.

    `heads`: those that were there before the batch; `before`: hits of the batch.
    """

    place: int
    batch: SketchedHits
    heads: list[tuple[int, int]]
    before: list[tuple[int, int]]


def _by_row(near: NearSketches, count: int) -> _NearPlaces:
    """Return the near places of each of `count` sketches, with the equal slots."""
    rows: _NearPlaces = [[] for _ in range(count)]
    for row, place, equal in near.tolist():
        rows[row].append((place, equal))
    return rows
