"""Principals by their bands, in memory: which of those seen lately may a document resemble.

Bands are hashed and kept in sorted runs, a new one for each addition; two runs of like size become
one, so that adding costs little and a look-up searches few of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from indexer.joins.bands import Places, Slots, within
from indexer.joins.external_sort import distinct
from indexer.sketch.hashing import GAMMA
from indexer.sketch.keys import band_hashes

CARRIERS = 100


class Leaders:
    """Ids with their slots, found again by the bands that they share with others.

    Of a band that many carry the first `CARRIERS` of each run are found. Memory: 4 bytes a slot, 12
    a band, and the id.
    """

    def __init__(self, slots: int, bands: int, rows: int) -> None:
        self._bands, self._rows = bands, rows
        self._salts = np.arange(bands, dtype=np.uint64) * np.uint64(GAMMA)
        self._slots: Slots = np.zeros((0, slots), dtype=np.uint32)
        self._runs: list[tuple[NDArray[np.uint64], Places]] = []
        self._places: dict[str, int] = {}
        self.ids: list[str] = []

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, id: str) -> bool:
        return id in self._places

    def add(self, ids: Sequence[str], slots: Slots) -> None:
        """Remember ids with their slots, (ids, slots); one that is known already is known by its
        new slots only.
        """
        if not ids:
            return
        first = len(self.ids)
        places = np.arange(first, first + len(ids), dtype=np.int32)
        self.ids += ids
        self._places |= dict(zip(ids, places.tolist(), strict=True))
        self._reserve(first + len(ids))
        self._slots[first : first + len(ids)] = slots
        self._runs.append(_sorted(self._hashes(slots).ravel(), np.repeat(places, self._bands)))
        while len(self._runs) > 1 and len(self._runs[-2][0]) <= 2 * len(self._runs[-1][0]):
            (earlier, owners), (later, others) = self._runs[-2:]
            self._runs[-2:] = [
                _sorted(np.concatenate([earlier, later]), np.concatenate([owners, others]))
            ]

    def discard(self, id: str) -> None:
        """Find this id no more."""
        self._places.pop(id, None)

    def near(self, slots: Slots, least: int) -> Iterator[tuple[int, str]]:
        """Pairs of a row of `slots` and an id that share a band and have `least` equal slots or
        more, by row, then age.
        """
        hashes = self._hashes(slots)
        rows = np.repeat(np.arange(len(slots), dtype=np.int64), self._bands)
        found = [rows[:0]]
        for values, owners in self._runs:
            starts = np.searchsorted(values, hashes.ravel(), side="left")
            sizes = np.minimum(
                np.searchsorted(values, hashes.ravel(), side="right") - starts, CARRIERS
            )
            found.append(
                np.repeat(rows, sizes) * len(self.ids)
                + owners[np.repeat(starts, sizes) + within(sizes)]
            )
        for row, place in zip(
            *np.divmod(distinct(np.sort(np.concatenate(found))), max(1, len(self.ids))), strict=True
        ):
            id = self.ids[place]
            if (
                self._places.get(id) == place
                and np.count_nonzero(slots[row] == self._slots[place]) >= least
            ):
                yield int(row), id

    def _reserve(self, count: int) -> None:
        """Make room for this many; the array doubles, so that growing it costs linear time."""
        if count > len(self._slots):
            grown = np.zeros(
                (max(count, 2 * len(self._slots)), self._slots.shape[1]), dtype=np.uint32
            )
            grown[: len(self._slots)] = self._slots
            self._slots = grown

    def _hashes(self, slots: Slots) -> NDArray[np.uint64]:
        """(n, slots) to (n, bands): equal hashes of different bands are different."""
        hashes: NDArray[np.uint64] = band_hashes(slots, self._bands, self._rows) + self._salts
        return hashes


def _sorted(hashes: NDArray[np.uint64], owners: Places) -> tuple[NDArray[np.uint64], Places]:
    order = np.argsort(hashes, kind="stable")
    return hashes[order], owners[order]
