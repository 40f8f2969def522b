"""Sketches of hits with the numbers of their words, searched for those that may be similar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.joins.near_sketches import NearSketches, near_sketches
from indexer.sketch.codec import unpack_slots
from indexer.stores.base import RankedHit

_UNKNOWN = -1
_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class Nearness:
    """The bounds that a pair of hits meets before its texts are compared.

    `equal`: slots that are equal at least; None: as `BySketch` says. `words`: the share of the
    words of the longer text that the shorter one has at least; a text whose words are not known may
    be of any length. `short`: the bounds of `slots_of_short_pairs`, for pairs of few words; either
    bound on equal slots will do.
    """

    equal: int | None = None
    words: float = 0.0
    short: NDArray[np.int64] | None = None

    def pairs(self, left: SketchedHits, right: SketchedHits) -> NearSketches:
        """Return the pairs that meet the bounds, by the place in `left`, then in `right`."""
        near: NearSketches = near_sketches(left.slots, right.slots, self.equal or 0)
        if self.short is not None and len(self.short):
            near = _united(near, _short_pairs(left, right, self.short), len(right))
        if not self.words or not len(near):
            return near
        lengths = np.stack([left.words[near[:, 0]], right.words[near[:, 1]]])
        shorter, longer = lengths.min(axis=0), lengths.max(axis=0)
        is_near = (shorter == _UNKNOWN) | (shorter >= np.ceil(self.words * longer - 1e-9))
        pairs: NearSketches = near[is_near]
        return pairs

    def pairs_before(self, hits: SketchedHits) -> NearSketches:
        """Return the pairs of a hit and one before it, in the order of `pairs`."""
        pairs = [np.zeros((0, 3), dtype=np.uint32)]
        for start in range(0, len(hits), _AT_ONCE):
            near = self.pairs(hits.part(start, start + _AT_ONCE), hits.part(0, start + _AT_ONCE))
            near = near + np.array([start, 0, 0], dtype=np.uint32)
            pairs.append(near[near[:, 1] < near[:, 0]])
        return np.concatenate(pairs)


def _short_pairs(
    left: SketchedHits, right: SketchedHits, fewest: NDArray[np.int64]
) -> NearSketches:
    """Return the pairs with the equal slots that `fewest` has for the words of the longer text."""
    rows = np.flatnonzero((left.words >= 0) & (left.words < len(fewest)))
    columns = np.flatnonzero((right.words >= 0) & (right.words < len(fewest)))
    if not len(rows) or not len(columns):
        return np.zeros((0, 3), dtype=np.uint32)
    least = int(min(fewest[left.words[rows]].min(), fewest[right.words[columns]].min()))
    near = near_sketches(left.slots[rows], right.slots[columns], least).copy()
    near[:, 0], near[:, 1] = rows[near[:, 0]], columns[near[:, 1]]
    longer = np.maximum(left.words[near[:, 0]], right.words[near[:, 1]])
    pairs: NearSketches = near[near[:, 2] >= fewest[longer]]
    return pairs


def _united(some: NearSketches, others: NearSketches, width: int) -> NearSketches:
    """Return the pairs of both, by the place in the left, then in the right of `width` sketches."""
    pairs = np.concatenate([some, others])
    _, places = np.unique(pairs[:, 0].astype(np.int64) * width + pairs[:, 1], return_index=True)
    united: NearSketches = pairs[places]
    return united


BY_INTERVALS = Nearness()


class SketchedHits:
    """Hits that have slots: `slots` (hits, width), and the `words` of their texts (hits,)."""

    def __init__(self, slots: NDArray[Any], words: NDArray[np.int64]) -> None:
        self._slots, self._words, self._count = slots, words, len(words)

    def __len__(self) -> int:
        return self._count

    @property
    def slots(self) -> NDArray[Any]:
        """The slots, one row a hit."""
        return self._slots[: self._count]

    @property
    def words(self) -> NDArray[np.int64]:
        """The words of each text; -1 where they are not known."""
        return self._words[: self._count]

    def add(self, hits: SketchedHits, place: int) -> None:
        """Add one of other hits; the arrays double, so that growing costs linear time."""
        if self._count == len(self._words):
            self._slots = np.concatenate([self._slots, np.zeros_like(self._slots)])
            self._words = np.concatenate([self._words, np.zeros_like(self._words)])
        self._slots[self._count] = hits._slots[place]
        self._words[self._count] = hits._words[place]
        self._count += 1

    def part(self, start: int, stop: int) -> SketchedHits:
        """Return some of the hits, in the same memory."""
        return SketchedHits(self.slots[start:stop], self.words[start:stop])

    def one(self, place: int) -> SketchedHits:
        """Return one of the hits, to which others may be added."""
        return SketchedHits(self._slots[[place]], self._words[[place]])


def sketched_hits(hits: Sequence[RankedHit], slot_bytes: int) -> SketchedHits:
    """Return hits that all have slots, one at least."""
    packed = b"".join(hit.minhash or b"" for hit in hits)
    words = [_UNKNOWN if hit.words is None else hit.words for hit in hits]
    slots = unpack_slots(packed, slot_bytes).reshape(len(hits), -1)
    return SketchedHits(slots, np.array(words, dtype=np.int64))


def depended_on(count: int, start: NearSketches, before: NearSketches) -> NDArray[np.bool_]:
    """Flag the hits of the pairs `start`, and those before them that they depend on.

    A hit depends on each one before it that it is near to, by the pairs `before`, and on what that
    one depends on.

    >>> before = np.array([[2, 1, 9], [3, 2, 9]])
    >>> depended_on(4, np.array([[2, 0, 9]]), before).tolist()
    [False, True, True, False]
    """
    flags = np.zeros(count, dtype=np.bool_)
    flags[start[:, 0]] = True
    known = 0
    while known < (known := int(np.count_nonzero(flags))):
        flags[before[flags[before[:, 0]], 1]] = True
    return flags
