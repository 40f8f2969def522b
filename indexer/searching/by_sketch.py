"""Folding hits under the shown hit that they resemble most: slots choose, and texts decide."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np

from indexer.joins.near_sketches import NearSketches
from indexer.joins.slot_bounds import similarity_intervals
from indexer.model import RankedRow
from indexer.searching.sketched_hits import (
    BY_INTERVALS,
    Nearness,
    SketchedHits,
    depended_on,
    sketched_hits,
)
from indexer.similarity.criteria import COMPARED
from indexer.stores.base import RankedHit

_NearPlaces: TypeAlias = list[list[tuple[int, int]]]


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
        self.reads_texts = not trusts_slots
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

    def expect_shown(self, hits: Sequence[RankedRow]) -> None:
        """Compare the hits as `expect` does, and read all, since their titles are needed too."""
        self._read_ahead([hit.id for hit in hits])
        self.expect(hits)

    def needed(
        self, hits: Sequence[RankedHit], shown: range | None, is_tied: bool = False
    ) -> tuple[list[bool], int]:
        """Flag those of the next hits on which the members of groups depend, as the rule says.

        Also returns how many of the others are near no hit before them, and so heads.
        """
        flags = [not self._is_sketched(hit) for hit in hits]
        sketched = [place for place, is_needed in enumerate(flags) if not is_needed]
        if not sketched or self._sketches is None:
            return flags, 0
        batch = sketched_hits([hits[place] for place in sketched], self._slot_bytes)
        nearness = self._bounds(batch.slots.shape[1])
        heads = nearness.pairs(batch, self._sketches)
        before = nearness.pairs_before(batch)
        if is_tied:
            scores = np.array([hits[place].score for place in sketched])
            tied = before[scores[before[:, 0]] == scores[before[:, 1]]]
            before = np.concatenate([before, tied[:, [1, 0, 2]]])
        is_near = np.zeros(len(batch), dtype=np.bool_)
        is_near[heads[:, 0]] = is_near[before[:, 0]] = True
        if shown is None:
            is_near[before[:, 1]] = True
            is_needed = is_near
        else:
            rows = [row for row, (place, _) in enumerate(self._heads) if place in shown]
            is_needed = depended_on(len(batch), heads[np.isin(heads[:, 1], rows)], before)
        for row, place in enumerate(sketched):
            flags[place] = bool(is_needed[row])
        return flags, int(np.count_nonzero(~is_near & ~is_needed))

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

    def _is_sketched(self, hit: RankedHit) -> bool:
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
