"""Candidate pairs from slots: documents that share a band, each pair once; a band that too many
share becomes a star.

A document is its row in the array of slots. Bands are hashed and sorted one after the other; a pair
is reported for the first band that it shares, so nothing is remembered about pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.joins.external_sort import BLOCK, Codes, MemoryBudget, Sorter, bits_for, parts
from indexer.joins.hot_bands import HotBands, MissedEstimate
from indexer.sketch.keys import band_hashes
from indexer.sketch.wilson import Z95, wilson

STEP = 1 << 12
AT_ONCE = 1 << 15

Places: TypeAlias = NDArray[np.int32]
Slots: TypeAlias = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class CapReport:
    """What caps left out: bands shared by more documents than the cap, the most documents that
    share one, and the pairs of documents that were not looked at there; a pair that shares several
    such bands counts once for each. `missed`: what that is likely to have cost, when it was looked
    into.
    """

    keys: int = 0
    largest: int = 0
    pairs: int = 0
    missed: MissedEstimate | None = None

    def with_those_of(self, other: CapReport) -> CapReport:
        """What was left out here and there together; the interval of `missed` is then at least one
        of 95 %.
        """
        missed = self.missed or other.missed
        if self.missed and other.missed:
            a, b = self.missed, other.missed
            sums = (
                a.drawn + b.drawn,
                a.found + b.found,
                a.estimate + b.estimate,
                a.low + b.low,
                a.high + b.high,
            )
            missed = MissedEstimate(a.threshold, *sums)
        return CapReport(
            self.keys + other.keys,
            max(self.largest, other.largest),
            self.pairs + other.pairs,
            missed,
        )


class Join:
    """All pairs of documents that share a band of `rows` slots, except what caps leave out.

    A band value that more than `cap` documents share is hot: of its pairs only those with the
    document of least `rank` are candidates, unless a band that is not hot makes them so. `rank`:
    (n,) distinct numbers. The pairs, and what is capped, depend on slots, ranks and settings alone,
    not on the room. `hot` and `capped` are whole when `blocks` has been read to the end; `done`
    counts the bands of documents that were dealt with, of `total`.
    """

    def __init__(
        self,
        slots: Slots,
        bands: int,
        rows: int,
        rank: NDArray[np.int64],
        cap: int,
        budget: MemoryBudget | None = None,
    ) -> None:
        self._slots, self._rows, self._rank, self._cap = slots, rows, rank, cap
        self._budget = budget or MemoryBudget()
        self._labels: Places = self._budget.array((bands, len(slots)), np.int32)
        self._values: Codes = self._budget.array(len(slots), np.uint64)
        self._stars = Sorter(self._budget, unique=True)
        self.hot = HotBands(slots, bands, rows)
        self.done, self.total = 0, bands * len(slots)

    def blocks(self) -> Iterator[tuple[Places, Places]]:
        """The pairs as two arrays, left < right in each pair, at most about a million pairs at a
        time.
        """
        for band in range(len(self._labels)):
            for members, starts, sizes in self._buckets(band):
                hot = sizes > self._cap
                for left, right in spread(starts[~hot], sizes[~hot], self._budget.block):
                    yield self._unseen(members[left], members[right], band)
                if hot.any():
                    self._cap_buckets(band, members, starts[hot], sizes[hot])
        stars = self._stars.sorted()
        for part in parts(len(stars), self._budget.block):
            left, right = np.divmod(stars[part], np.uint64(len(self._slots)))
            yield self._unseen(left.astype(np.int32), right.astype(np.int32), len(self._labels))

    def _buckets(self, band: int) -> Iterator[tuple[Places, NDArray[np.int64], NDArray[np.int64]]]:
        """Documents sorted by one band, and where each value shared by two or more begins and how
        many share it.
        """
        count = len(self._slots)
        bits = np.uint64(bits_for(count))
        low = (np.uint64(1) << bits) - np.uint64(1)
        sorter = Sorter(self._budget)
        for part in parts(count, self._budget.share(8, 8 * (self._rows + 2), most=AT_ONCE)):
            numbers = np.arange(part.start, part.stop)
            self._labels[band, part] = -1 - numbers
            self._values[part] = band_hashes(
                self._slots[part, band * self._rows : (band + 1) * self._rows], 1, self._rows
            )[:, 0]
            sorter.add(self._values[part] & ~low | numbers.astype(np.uint64))
        codes = sorter.sorted()
        for part in whole_runs(codes, low, self._budget.block):
            self.done = band * count + part.stop
            members, starts, sizes = self._shared(codes[part], bits, low)
            cool = sizes <= self._cap
            places = np.repeat(starts[cool], sizes[cool]) + within(sizes[cool])
            self._labels[band][members[places]] = np.repeat(members[starts[cool]], sizes[cool])
            yield members, starts, sizes

    def _shared(
        self, codes: Codes, bits: np.uint64, low: np.uint64
    ) -> tuple[Places, NDArray[np.int64], NDArray[np.int64]]:
        """From codes sorted by the upper bits of their value, the documents whose whole value is
        shared, sorted by it.
        """
        heads = codes >> bits
        same = heads[1:] == heads[:-1]
        alone = ~(np.append(same, False) | np.append(False, same))
        members = (codes[~alone] & low).astype(np.int32)
        values = self._values[members]
        if (values[1:] < values[:-1]).any():
            order = np.lexsort((members, values))
            members, values = members[order], values[order]
        starts, sizes = runs(values)
        return members, starts[sizes > 1], sizes[sizes > 1]

    def _unseen(self, left: Places, right: Places, bands: int) -> tuple[Places, Places]:
        """The pairs that share none of the first `bands` bands, hot ones aside."""
        for labels in self._labels[:bands]:
            unseen = labels[left] != labels[right]
            if not unseen.all():
                left, right = left[unseen], right[unseen]
        return left, right

    def _cap_buckets(
        self, band: int, members: Places, starts: NDArray[np.int64], sizes: NDArray[np.int64]
    ) -> None:
        """Pair the document of least rank with all others, for each hot value."""
        for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
            bucket = members[start : start + size].astype(np.int64)
            centre = bucket[np.argmin(self._rank[bucket])]
            others = bucket[bucket != centre]
            pairs = np.minimum(others, centre) * len(self._slots) + np.maximum(others, centre)
            self._stars.add(pairs.astype(np.uint64))
            self.hot.add(band, int(self._values[centre]), int(centre), others.astype(np.int32))

    @property
    def capped(self) -> CapReport:
        """What caps left out so far."""
        return CapReport(len(self.hot), self.hot.largest, self.hot.pairs)


def whole_runs(codes: Codes, low: np.uint64, size: int) -> Iterator[slice]:
    """Slices of about `size` sorted codes; codes that differ in bits of `low` alone are in one
    slice.

    >>> [(part.start, part.stop) for part in whole_runs(np.array([16, 17, 18, 32, 48], dtype=np.uint64), np.uint64(15), 2)]
    [(0, 3), (3, 5)]
    """
    start = 0
    while start < len(codes):
        end = min(start + size, len(codes))
        end = int(np.searchsorted(codes, codes[end - 1] | low, side="right"))
        yield slice(start, end)
        start = end


def runs(values: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each run of equal values begins in a sorted array, and how long it is.

    >>> [part.tolist() for part in runs(np.array([3, 3, 5, 9, 9, 9], dtype=np.uint64))]
    [[0, 2, 3], [2, 1, 3]]
    """
    if not len(values):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    starts = np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1])))
    return starts, np.diff(np.append(starts, len(values)))


def spread(
    starts: NDArray[np.int64], sizes: NDArray[np.int64], block: int = BLOCK
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """All pairs of places inside each stretch of `sizes[i]` places from `starts[i]`, lower place
    first.

    >>> [(left.tolist(), right.tolist()) for left, right in spread(np.array([0, 7]), np.array([3, 2]))]
    [([0, 0, 1, 7], [1, 2, 2, 8])]
    """
    places = np.repeat(starts, sizes) + within(sizes)
    yield from has_partner(places, np.repeat(starts + sizes, sizes) - places - 1, block)


def has_partner(
    places: NDArray[np.int64], partners: NDArray[np.int64], block: int = BLOCK
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Each place with the `partners[i]` places that follow it; a block ends where it would exceed
    `block` pairs.

    A place with more partners than that has a block of its own.
    """
    ends = np.cumsum(partners)
    first = 0
    while first < len(places):
        done = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, done + block, side="right")))
        counts = partners[first:last]
        left = np.repeat(places[first:last], counts)
        if len(left):
            yield left, left + 1 + within(counts)
        first = last


def within(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, ... size - 1 for each size, one after the other.

    >>> within(np.array([2, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)


class SlotCounter:
    """Counts equal slots of pairs. The low byte of each slot rules most pairs out at a quarter of
    the memory traffic.
    """

    def __init__(self, slots: Slots, budget: MemoryBudget | None = None) -> None:
        budget = budget or MemoryBudget()
        self._slots: Slots = slots
        self._low: NDArray[np.uint8] = budget.array(slots.shape, np.uint8)
        for part in parts(len(slots), budget.share(8, 8 * slots.shape[1] or 1, most=AT_ONCE)):
            self._low[part] = slots[part]

    def at_least(
        self, left: Places, right: Places, least: int
    ) -> tuple[Places, Places, NDArray[np.uint16]]:
        """The pairs with `least` equal slots or more, in the order given, and how many are
        equal.
        """
        promising = _equal(self._low, left, right) >= least
        left, right = left[promising], right[promising]
        equal = _equal(self._slots, left, right)
        kept = equal >= least
        return left[kept], right[kept], equal[kept]

    def reaches(self, left: Places, right: Places, least: int) -> NDArray[np.bool_]:
        """Which of the pairs have `least` equal slots or more."""
        return _equal(self._slots, left, right) >= least


def _equal(
    slots: NDArray[np.uint32] | NDArray[np.uint8], left: Places, right: Places
) -> NDArray[np.uint16]:
    counts = np.empty(len(left), dtype=np.uint16)
    for place in range(0, len(left), STEP):
        part = slice(place, place + STEP)
        same = slots[left[part]] == slots[right[part]]
        np.add.reduce(same.view(np.uint8), axis=1, dtype=np.uint16, out=counts[part])
    return counts


def intervals(slots: int, z: float = Z95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The lower and the upper end of the Wilson interval for 0, 1, ... `slots` equal slots: (slots
    + 1,) each.
    """
    ends = np.array([wilson(equal, slots, z) for equal in range(slots + 1)])
    return ends[:, 0], ends[:, 1]
