"""A cache of what look-ups read of a SQLite file, valid as long as it does not change.

Look-ups of different documents read much the same: the postings of keys that many rows carry, the
first rows by path, the lengths and the sketches of rows that share keys with many. So do folded
searches, with the statuses of hits. Postings, lengths, statuses and sketches are bounded, and what
does not fit is read again; the rows by path, 8 bytes each, may be those of the whole file.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from indexer.stores.sqlite.column_cache import ColumnCache, ScoreCache

MOST_POSTINGS = 1 << 22  # numbers of rows, 4 bytes each
MOST_SKETCHES = 1 << 18  # of 128 bytes in the default recipe
MOST_NUMBERS = 1 << 20  # of rows, each with its row's number of 8 bytes
_ENTRIES_OF_KEY = 50  # as which a key counts, beside its rows
Numbers: TypeAlias = NDArray[np.int64]


class ReadCache:
    """A cache of reads of one state of a file.

    `counts`: rows by what was counted. `by_path`: the numbers of the first rows in the index of
    paths, and `last_path` the path of the last. `sorted_rows`: how many were read to be sorted.
    `orders`: the numbers of all rows by the statement that reads them. `filtered`: the numbers of
    rows by the conditions that they meet, and their values.
    """

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.by_path = np.zeros(0, dtype=np.int64)
        self.last_path = ""
        self.sorted_rows = 0
        self.words = NumberCache(np.int32)
        self.statuses = NumberCache(np.int8)
        self.sketches = SketchCache()
        self.orders: dict[str, NDArray[np.int32]] = {}
        self.filtered: OrderedDict[tuple[str, tuple[str | float, ...]], NDArray[np.int32]] = (
            OrderedDict()
        )
        self.scores = ScoreCache()
        self.columns = ColumnCache()
        self._postings: OrderedDict[tuple[str, int], NDArray[np.int32]] = OrderedDict()
        self._entries = 0

    def carriers(
        self, keys: Sequence[str], most: int, read: Callable[[Sequence[str]], Sequence[Numbers]]
    ) -> list[NDArray[np.int32]]:
        """Return the rows that carry each key, `most` at most; `read` gives those not kept."""
        missing = [key for key in keys if (key, most) not in self._postings]
        rows = {
            key: numbers.astype(np.int32)
            for key, numbers in zip(missing, read(missing), strict=True)
        }
        for key in keys:
            if key not in rows:
                rows[key] = self._postings[key, most]
                self._postings.move_to_end((key, most))
        for key in missing:
            self._postings[key, most] = rows[key]
            self._entries += _ENTRIES_OF_KEY + len(rows[key])
        while self._entries > MOST_POSTINGS:
            _, oldest = self._postings.popitem(last=False)
            self._entries -= _ENTRIES_OF_KEY + len(oldest)
        return [rows[key] for key in keys]


class RowCache:
    """Values of rows, each at the place that the row's number gives it.

    A row that comes to the place of another takes it.
    """

    def __init__(self, values: NDArray[Any]) -> None:
        self.values = values
        self._numbers: Numbers = np.zeros(len(values), dtype=np.int64)

    def get(self, numbers: Numbers) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """Return the values of rows, and which of these rows have none here, whatever is returned
        for them.
        """
        places = numbers % len(self.values)
        return self.values[places], np.flatnonzero(self._numbers[places] != numbers)

    def keep(self, numbers: Numbers, values: NDArray[Any]) -> None:
        """Keep the values of rows."""
        places = numbers % len(self.values)
        self.values[places] = values
        self._numbers[places] = numbers


class NumberCache:
    """A number of each row, such as that of its words."""

    def __init__(self, dtype: DTypeLike) -> None:
        self._rows = RowCache(np.zeros(MOST_NUMBERS, dtype=dtype))

    def of(self, numbers: Numbers, read: Callable[[Numbers], Numbers]) -> NDArray[Any]:
        """Return the numbers of rows; `read` gives those of rows not kept, in order."""
        values, missing = self._rows.get(numbers)
        if len(missing):
            values[missing] = read(numbers[missing])
            self._rows.keep(numbers[missing], values[missing])
        return values


class SketchCache:
    """Packed sketches of rows.

    Those of the first request are not kept, so that a process that looks up one document takes no
    memory for others.
    """

    def __init__(self) -> None:
        self._is_first = True
        self._rows = RowCache(np.zeros((0, 0), dtype=np.uint8))

    def packed(
        self, numbers: Numbers, width: int, read: Callable[[Numbers], dict[int, bytes]]
    ) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
        """Return the sketches of `width` bytes of rows, (rows, width), and which rows have one.

        `read` gives those not kept that have one, by number.
        """
        if self._is_first:
            self._is_first = False
            return _read_sketches(numbers, width, read)
        if self._rows.values.shape[1] != width:
            self._rows = RowCache(np.zeros((MOST_SKETCHES, width), dtype=np.uint8))
        sketches, missing = self._rows.get(numbers)
        is_known = np.ones(len(numbers), dtype=np.bool_)
        if len(missing):
            sketches[missing], is_known[missing] = _read_sketches(numbers[missing], width, read)
            missing = missing[is_known[missing]]
            self._rows.keep(numbers[missing], sketches[missing])
        return sketches, is_known


def _read_sketches(
    numbers: Numbers, width: int, read: Callable[[Numbers], dict[int, bytes]]
) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return the sketches of rows, zeros where there is none, and which rows have one."""
    by_number, nothing = read(numbers), bytes(width)
    joined = b"".join(by_number.get(number, nothing) for number in numbers.tolist())
    packed = np.frombuffer(joined, dtype=np.uint8).reshape(len(numbers), width)
    is_known = np.array([number in by_number for number in numbers.tolist()], dtype=np.bool_)
    return packed, is_known
