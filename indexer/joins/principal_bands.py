"""Principals by their bands, in memory: which recent principals a document may resemble.

Band hashes are kept in sorted runs, a new one for each addition. Two runs of similar size are
merged, so that adding is cheap and a look-up searches few runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from indexer.joins.runs import Places, offsets
from indexer.joins.slot_counter import Slots
from indexer.sketch.hashing import GAMMA, distinct_sorted
from indexer.sketch.keys import band_hashes

CARRIERS = 100
_AT_ONCE = 2048  # pairs whose slots are compared together

_Hashes = NDArray[np.uint32]


class PrincipalBands:
    """Ids with their slots, found again by shared bands.

    Slots are unsigned numbers of `slot_bytes`. Of a band that many share, the first `CARRIERS` of
    each run are found. Memory: the slots, 8 bytes a band, and the id; while it grows, twice that.
    """

    def __init__(self, slots: int, bands: int, rows: int, slot_bytes: int = 4) -> None:
        self._bands, self._rows = bands, rows
        self._salts = np.arange(bands, dtype=np.uint64) * np.uint64(GAMMA)
        self._slots: Slots = np.zeros((0, slots), dtype=f"u{slot_bytes}")
        self._runs: list[tuple[_Hashes, Places]] = []
        self._places: dict[str, int] = {}
        self.ids: list[str] = []

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, id: str) -> bool:
        return id in self._places

    def add(self, ids: Sequence[str], slots: Slots) -> None:
        """Add ids with their slots, (ids, slots); new slots of a known id replace the old ones."""
        if not ids:
            return
        first = len(self.ids)
        places = np.arange(first, first + len(ids), dtype=np.int32)
        self.ids += ids
        self._places |= dict(zip(ids, places.tolist(), strict=True))
        self._reserve(first + len(ids))
        self._slots[first : first + len(ids)] = slots
        self._runs.append(_sort(self._hashes(slots).ravel(), np.repeat(places, self._bands)))
        while len(self._runs) > 1 and len(self._runs[-2][0]) <= 2 * len(self._runs[-1][0]):
            (hashes, owners), (later_hashes, later_owners) = self._runs[-2:]
            both_hashes = np.concatenate([hashes, later_hashes])
            self._runs[-2:] = [_sort(both_hashes, np.concatenate([owners, later_owners]))]

    def discard(self, id: str) -> None:
        """Remove an id, if it is known."""
        self._places.pop(id, None)

    def near(self, slots: Slots, least: int) -> Iterator[tuple[int, str]]:
        """Yield a row of `slots` and an id that share a band and at least `least` equal slots.

        By row, then by age of the id.
        """
        codes = distinct_sorted(np.sort(self._shared_bands(slots)))
        for start in range(0, len(codes), _AT_ONCE):
            pairs = np.divmod(codes[start : start + _AT_ONCE], len(self.ids))
            equal = np.count_nonzero(slots[pairs[0]] == self._slots[pairs[1]], axis=1)
            rows, places = (side[equal >= least].tolist() for side in pairs)
            for row, place in zip(rows, places, strict=True):
                id = self.ids[place]
                if self._places.get(id) == place:
                    yield row, id

    def _shared_bands(self, slots: Slots) -> NDArray[np.int64]:
        """Return row * ids + place for each band that a row shares with an id, with repeats."""
        hashes = self._hashes(slots).ravel()
        order = np.argsort(hashes)  # sorted ones are found in a fraction of the time
        hashes = hashes[order]
        rows: NDArray[np.int64] = order // max(self._bands, 1)
        shared = [rows[:0]]
        for values, owners in self._runs:
            starts = np.searchsorted(values, hashes, side="left")
            is_found = values[np.minimum(starts, len(values) - 1)] == hashes
            ends = np.searchsorted(values, hashes[is_found], side="right")
            starts = starts[is_found]
            sizes = np.minimum(ends - starts, CARRIERS)
            places = owners[np.repeat(starts, sizes) + offsets(sizes)]
            first: NDArray[np.int64] = np.repeat(rows[is_found] * len(self.ids), sizes)
            shared.append(first + places)
        return np.concatenate(shared)

    def _reserve(self, count: int) -> None:
        """Grow the array to `count` rows; it doubles, so that growing costs linear time."""
        if count > len(self._slots):
            rows = max(count, 2 * len(self._slots))
            larger = np.zeros((rows, self._slots.shape[1]), dtype=self._slots.dtype)
            larger[: len(self._slots)] = self._slots
            self._slots = larger

    def _hashes(self, slots: Slots) -> _Hashes:
        """Return (n, bands) hashes of (n, slots), half of their bits; those of different bands
        differ, but for chance.
        """
        hashes = band_hashes(slots, self._bands, self._rows) + self._salts
        half: _Hashes = (hashes >> np.uint64(32)).astype(np.uint32)
        return half


def _sort(hashes: _Hashes, owners: Places) -> tuple[_Hashes, Places]:
    order = np.argsort(hashes, kind="stable")
    return hashes[order], owners[order]
