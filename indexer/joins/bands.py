"""Candidate pairs from MinHash slots: documents that share a band, each pair once.

A document is its row in the array of slots. The bands are hashed and sorted one after the other. A
pair is reported for the first band that it shares, so no set of reported pairs is needed. A band
value that too many documents share becomes a star.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.joins.external_sort import Codes, Sorter, bits_for
from indexer.joins.hot_bands import HotBands, MissedEstimate
from indexer.joins.memory_budget import AT_ONCE, MemoryBudget, parts
from indexer.joins.runs import Places, find_runs, offsets, pairs_in_runs, slices_of_runs
from indexer.joins.slot_counter import Slots
from indexer.sketch.keys import band_hashes


@dataclass(frozen=True, slots=True)
class CapReport:
    """The pairs that the cap left out.

    `keys`: band values that more documents share than the cap allows; `largest`: the most documents
    that share one; `pairs`: the pairs of documents that were not compared because of it. A pair
    that shares several such values counts once for each. `missed`: an estimate of the near
    duplicates among them, if one was made.
    """

    keys: int = 0
    largest: int = 0
    pairs: int = 0
    missed: MissedEstimate | None = None

    def merge(self, other: CapReport) -> CapReport:
        """Return the sum of both reports; the interval of `missed` then covers at least 95 %."""
        missed = self.missed or other.missed
        if self.missed and other.missed:
            missed = self.missed.add(other.missed)
        return CapReport(
            self.keys + other.keys,
            max(self.largest, other.largest),
            self.pairs + other.pairs,
            missed,
        )


class Join:
    """All pairs of documents that share a band of `rows` slots, except those that the cap excludes.

    A band value that more than `cap` documents share is hot: of its pairs only those with the
    document of the least `rank` are candidates, unless the pair shares a band that is not hot.
    `rank`: (n,) distinct numbers. Pairs and caps depend on slots, ranks and settings only, not on
    the memory budget. `hot` and `capped` are complete when `blocks` has been read to the end;
    `done` of `total` bands of documents have been processed.
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
        """Yield the pairs as two arrays, left < right, at most about a million pairs at a time."""
        size = self._budget.block
        for band in range(len(self._labels)):
            for members, starts, sizes in self._buckets(band):
                hot = sizes > self._cap
                for left, right in pairs_in_runs(starts[~hot], sizes[~hot], size):
                    yield self._exclude_seen(members[left], members[right], band)
                if hot.any():
                    self._cap_buckets(band, members, starts[hot], sizes[hot])
        stars = self._stars.sorted()
        for part in parts(len(stars), size):
            left, right = np.divmod(stars[part], np.uint64(len(self._slots)))
            first, second = left.astype(np.int32), right.astype(np.int32)
            yield self._exclude_seen(first, second, len(self._labels))

    def _buckets(self, band: int) -> Iterator[tuple[Places, NDArray[np.int64], NDArray[np.int64]]]:
        """Yield documents sorted by one band, with start and size of each shared value."""
        count = len(self._slots)
        bits = np.uint64(bits_for(count))
        low = (np.uint64(1) << bits) - np.uint64(1)
        codes = self._sorted_codes(band, low)
        for part in slices_of_runs(codes, low, self._budget.block):
            self.done = band * count + part.stop
            members, starts, sizes = self._shared(codes[part], bits, low)
            self._label(band, members, starts, sizes)
            yield members, starts, sizes

    def _sorted_codes(self, band: int, low: np.uint64) -> Codes:
        """Return the band's values in order; the bits of `low` hold the number of the document."""
        sorter = Sorter(self._budget)
        columns = slice(band * self._rows, (band + 1) * self._rows)
        size = self._budget.share(8, 8 * (self._rows + 2), most=AT_ONCE)
        for part in parts(len(self._slots), size):
            numbers = np.arange(part.start, part.stop)
            self._labels[band, part] = -1 - numbers
            self._values[part] = band_hashes(self._slots[part, columns], 1, self._rows)[:, 0]
            sorter.add(self._values[part] & ~low | numbers.astype(np.uint64))
        return sorter.sorted()

    def _label(
        self, band: int, members: Places, starts: NDArray[np.int64], sizes: NDArray[np.int64]
    ) -> None:
        """Label the documents of each value that is not hot with the first of them."""
        cool = sizes <= self._cap
        places = np.repeat(starts[cool], sizes[cool]) + offsets(sizes[cool])
        self._labels[band][members[places]] = np.repeat(members[starts[cool]], sizes[cool])

    def _shared(
        self, codes: Codes, bits: np.uint64, low: np.uint64
    ) -> tuple[Places, NDArray[np.int64], NDArray[np.int64]]:
        """Return the documents whose whole value is shared, sorted by it.

        `codes` are sorted by the upper bits of the value.
        """
        heads = codes >> bits
        same = heads[1:] == heads[:-1]
        alone = ~(np.append(same, False) | np.append(False, same))
        members = (codes[~alone] & low).astype(np.int32)
        values = self._values[members]
        if (values[1:] < values[:-1]).any():
            order = np.lexsort((members, values))
            members, values = members[order], values[order]
        starts, sizes = find_runs(values)
        return members, starts[sizes > 1], sizes[sizes > 1]

    def _exclude_seen(self, left: Places, right: Places, bands: int) -> tuple[Places, Places]:
        """Return the pairs that share none of the first `bands` bands, not counting hot values."""
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
        """The report of what the cap has left out so far."""
        return CapReport(len(self.hot), self.hot.largest, self.hot.pairs)
