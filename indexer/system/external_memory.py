"""A budget of memory for arrays and buffers, columns that are spilled when it is used up, a cache
of bounded weight, and rarer collections of cycles.

`MemoryBudget` keeps everything in memory; `SpillFiles` spills to temporary files without a name,
which the operating system removes however the process ends. Results do not depend on the budget.
"""

from __future__ import annotations

import gc
import math
import os
import tempfile
import weakref
from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, Generic, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from indexer.defaults import MEMORY_MEGABYTES
from indexer.errors import UsageError
from indexer.fingerprinting.hashing import distinct_sorted

MEGABYTE = 1 << 20
WIDE = 1 << 50
MIN_ITEMS = 16
BLOCK = 1 << 20
AT_ONCE = 1 << 15

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class MemoryBudget:
    """The memory for large arrays; this budget keeps all of them in memory.

    `limit`: bytes that arrays and buffers should take together. Code that works within a budget
    sizes its buffers by `items` and `block`.
    """

    def __init__(self, limit: int = WIDE) -> None:
        self.limit = limit

    def array(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return a new, uninitialised array."""
        return np.empty(shape, dtype=dtype)

    def spill(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return the same values, stored outside memory where the budget provides for that."""
        return array

    def items(self, part: int, item: int, minimum: int = MIN_ITEMS, limit: int = WIDE) -> int:
        """Return how many items of `item` bytes fit into 1 / `part` of the limit.

        The result lies between `minimum` and `limit`.
        """
        return min(limit, max(minimum, self.limit // part // item))

    @property
    def block(self) -> int:
        """The pairs to make at a time: at most a million, at some 64 bytes each."""
        return self.items(8, 64, limit=BLOCK)


class Column:
    """Values that are added in parts and spilled within a memory budget."""

    def __init__(self, budget: MemoryBudget, dtype: DTypeLike) -> None:
        self._budget, self._dtype = budget, np.dtype(dtype)
        self._limit = budget.items(64, self._dtype.itemsize)
        self._pending: list[NDArray[Any]] = []
        self._pending_length = 0
        self._spilled: list[NDArray[Any]] = []
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def add(self, values: NDArray[Any]) -> None:
        """Add more values."""
        self._pending.append(np.asarray(values, dtype=self._dtype))
        self._pending_length += len(values)
        self._length += len(values)
        if self._pending_length >= self._limit:
            self._spilled.append(self._budget.spill(self._take_pending()))

    def whole(self) -> NDArray[Any]:
        """Return all values as one array, in the order of adding. Add nothing afterwards."""
        if not self._spilled:
            return self._take_pending()
        whole, filled = self._budget.array(self._length, self._dtype), 0
        for part in [*self._spilled, self._take_pending()]:
            whole[filled : filled + len(part)] = part
            filled += len(part)
        self._spilled = []
        return whole

    def _take_pending(self) -> NDArray[Any]:
        part = np.concatenate([np.zeros(0, self._dtype), *self._pending])
        self._pending, self._pending_length = [], 0
        return part


def parts(count: int, size: int) -> Iterator[slice]:
    """Return slices of `size` that cover `count` positions.

    >>> [(part.start, part.stop) for part in parts(5, 2)]
    [(0, 2), (2, 4), (4, 5)]
    """
    return (slice(start, min(start + size, count)) for start in range(0, count, size))


# External merge sort of 64-bit codes: sorted runs are spilled, then merged in stretches.

Codes: TypeAlias = NDArray[np.uint64]


class Sorter:
    """A sorter that collects codes and returns them in ascending order; with `unique` each once.

    Buffers take a quarter of the memory budget, however many codes are added.
    """

    def __init__(self, budget: MemoryBudget, unique: bool = False) -> None:
        self._budget, self._unique = budget, unique
        self._limit = budget.items(8, 8)
        self._pending: list[Codes] = []
        self._pending_length = 0
        self._runs: list[Codes] = []

    def add(self, codes: Codes) -> None:
        """Add more codes, in any order."""
        self._pending.append(codes)
        self._pending_length += len(codes)
        if self._pending_length >= self._limit:
            self._runs.append(self._budget.spill(self._sort_pending()))

    def sorted(self) -> Codes:
        """Return all codes as one array within the memory budget. Add nothing afterwards."""
        if not self._runs:
            return self._sort_pending()
        if self._pending_length:
            self._runs.append(self._budget.spill(self._sort_pending()))
        return self._merge_runs()

    def _sort_pending(self) -> Codes:
        run = np.concatenate([np.zeros(0, np.uint64), *self._pending])
        self._pending, self._pending_length = [], 0
        run.sort()
        return distinct_sorted(run) if self._unique else run

    def _merge_runs(self) -> Codes:
        merged = self._budget.array(sum(map(len, self._runs)), np.uint64)
        filled = 0
        for stretch in self._stretches():
            merged[filled : filled + len(stretch)] = stretch
            filled += len(stretch)
        self._runs = []
        whole: Codes = merged[:filled]
        return whole

    def _stretches(self) -> Iterator[Codes]:
        """Yield the codes of all runs in ascending order, no code in two stretches.

        Every run is sampled at equal steps. Between samples that are as many apart as there are
        runs, no more codes lie than two steps of each run.
        """
        count = len(self._runs)
        step = max(1, self._limit // (2 * count))
        samples = np.sort(np.concatenate([run[step - 1 :: step] for run in self._runs]))
        ends = np.unique(samples[count - 1 :: count])
        starts = [0] * count
        for end in [*ends.tolist(), None]:
            stops = [len(run) if end is None else _first_above(run, end) for run in self._runs]
            pieces = zip(self._runs, starts, stops, strict=True)
            stretch = np.concatenate([run[start:stop] for run, start, stop in pieces])
            stretch.sort()
            yield distinct_sorted(stretch) if self._unique else stretch
            starts = stops


def bits_for(count: int) -> int:
    """Return how many bits numbers below `count` need; at least one.

    >>> bits_for(0), bits_for(2), bits_for(256), bits_for(257)
    (1, 1, 8, 9)
    """
    return max(1, (count - 1).bit_length())


def _first_above(run: Codes, end: int) -> int:
    """Return the position of the first code above `end`."""
    return int(np.searchsorted(run, np.uint64(end), side="right"))


# Runs of equal values in sorted arrays, and the pairs of positions inside them.

Positions: TypeAlias = NDArray[np.int32]
"""Indices in an array: of documents, of texts, of sets."""


def slices_of_runs(codes: Codes, low: np.uint64, size: int) -> Iterator[slice]:
    """Yield slices of about `size` sorted codes that do not cut a run.

    Codes that differ only in the bits of `low` belong to one run.

    >>> codes = np.array([16, 17, 18, 32, 48], dtype=np.uint64)
    >>> [(part.start, part.stop) for part in slices_of_runs(codes, np.uint64(15), 2)]
    [(0, 3), (3, 5)]
    """
    start = 0
    while start < len(codes):
        end = min(start + size, len(codes))
        end = int(np.searchsorted(codes, codes[end - 1] | low, side="right"))
        yield slice(start, end)
        start = end


def find_runs(values: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the start and the length of each run of equal values in a sorted array.

    >>> [part.tolist() for part in find_runs(np.array([3, 3, 5, 9, 9, 9], dtype=np.uint64))]
    [[0, 2, 3], [2, 1, 3]]
    """
    if not len(values):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    starts = np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1])))
    return starts, np.diff(np.append(starts, len(values)))


def pairs_in_runs(
    starts: NDArray[np.int64], sizes: NDArray[np.int64], block: int = BLOCK
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield all pairs of positions inside each run of `sizes[i]` positions from `starts[i]`.

    The lower position comes first. Blocks are cut as in `pairs_with_followers`.

    >>> blocks = pairs_in_runs(np.array([0, 7]), np.array([3, 2]))
    >>> [(left.tolist(), right.tolist()) for left, right in blocks]
    [([0, 0, 1, 7], [1, 2, 2, 8])]
    """
    positions = np.repeat(starts, sizes) + offsets(sizes)
    followers = np.repeat(starts + sizes, sizes) - positions - 1
    yield from pairs_with_followers(positions, followers, block)


def pairs_with_followers(
    positions: NDArray[np.int64], followers: NDArray[np.int64], block: int = BLOCK
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield each position paired with the `followers[i]` positions that follow it, in blocks.

    `positions` and `followers`: (n,) int64. A block is two arrays (pairs,), never empty. It
    ends where it would exceed `block` pairs; a position with more followers has its own block.
    """
    ends = np.cumsum(followers)
    first = 0
    while first < len(positions):
        done = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, done + block, side="right")))
        counts = followers[first:last]
        left = np.repeat(positions[first:last], counts)
        if len(left):
            yield left, left + 1 + offsets(counts)
        first = last


def offsets(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return 0, 1, ... size - 1 for each size, one after the other: (sum of sizes,) int64.

    >>> offsets(np.array([2, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)


# A pair of positions as one 64-bit code that sorts as the pair does: left << 32 | right.

_HALF, _LOW = np.uint64(32), np.uint64((1 << 32) - 1)


def encode_pair(left: Positions, right: Positions) -> Codes:
    """Return the codes of pairs; positions are not negative.

    >>> encode_pair(np.array([1, 0], np.int32), np.array([2, 7], np.int32)).tolist()
    [4294967298, 7]
    """
    codes: Codes = left.astype(np.uint64) << _HALF | right.astype(np.uint64)
    return codes


def decode_pair(codes: Codes) -> tuple[Positions, Positions]:
    """Return the pairs of codes, left and right.

    >>> [side.tolist() for side in decode_pair(np.array([4294967298, 7], np.uint64))]
    [[1, 0], [2, 7]]
    """
    return (codes >> _HALF).astype(np.int32), (codes & _LOW).astype(np.int32)


# Sequences of strings that are made one by one.


class StringSequence(Sequence[str]):
    """Strings by their positions; subclasses return one by `at`, for a position from 0."""

    @abstractmethod
    def at(self, position: int) -> str:
        """Return one string."""
        ...

    @overload
    def __getitem__(self, position: int) -> str: ...
    @overload
    def __getitem__(self, position: slice) -> list[str]: ...
    def __getitem__(self, position: Any) -> Any:
        if isinstance(position, slice):
            return [self.at(number) for number in range(*position.indices(len(self)))]
        return self.at(range(len(self))[position])


# Many small records within a memory budget: bytes by number, without one object for each.

PAGE = 1 << 12


class Records:
    """Records in the order of adding; they are spilled in pages of `PAGE` records."""

    def __init__(self, budget: MemoryBudget) -> None:
        self._budget = budget
        self._pages: list[tuple[NDArray[np.int64], NDArray[np.uint8]]] = []
        self._pending: list[bytes] = []

    def __len__(self) -> int:
        return len(self._pages) * PAGE + len(self._pending)

    def add(self, record: bytes) -> None:
        """Add a record."""
        self._pending.append(record)
        if len(self._pending) == PAGE:
            ends = np.cumsum([0, *map(len, self._pending)])
            data = np.frombuffer(b"".join(self._pending), dtype=np.uint8)
            self._pages.append((self._budget.spill(ends), self._budget.spill(data)))
            self._pending = []

    def __getitem__(self, position: int) -> bytes:
        """Return one record. Raises `IndexError` beyond the last."""
        page, within = divmod(position, PAGE)
        if page >= len(self._pages):
            return self._pending[position - len(self._pages) * PAGE]
        ends, data = self._pages[page]
        return data[ends[within] : ends[within + 1]].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        for ends, data in self._pages:
            whole, offsets = data.tobytes(), ends.tolist()
            yield from (whole[start:end] for start, end in pairwise(offsets))
        yield from self._pending


class Names(StringSequence):
    """Strings as UTF-8 records; lone surrogates are kept."""

    def __init__(self, budget: MemoryBudget) -> None:
        self._records = Records(budget)

    def add(self, name: str) -> None:
        """Add a string."""
        self._records.add(name.encode("utf-8", "surrogatepass"))

    def __len__(self) -> int:
        return len(self._records)

    def at(self, index: int) -> str:
        """Return one string."""
        return self._records[index].decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        return (record.decode("utf-8", "surrogatepass") for record in self._records)


class SpillFiles(MemoryBudget):
    """A memory budget that puts arrays into files once they take half of `limit`.

    The other half of `limit` is for buffers. The files are in the folder that `TMPDIR` names. Their
    arrays are mapped into memory: the system may write any page back and drop it, so they never
    take memory that other processes need. Raises `UsageError` when that disk is full.
    """

    def __init__(self, megabytes: int = MEMORY_MEGABYTES) -> None:
        super().__init__(megabytes * MEGABYTE)
        self._in_memory = 0

    def array(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return an uninitialised array: in memory while the budget lasts, else in a file."""
        size = np.dtype(dtype).itemsize * math.prod(shape if isinstance(shape, tuple) else (shape,))
        if self._in_memory + size > self.limit // 2:
            return _map_file(shape, dtype, size)
        array = np.empty(shape, dtype=dtype)
        self._in_memory += size
        weakref.finalize(array, self._release, size)
        return array

    def spill(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return a copy: in memory while the budget lasts, else in a file."""
        copy = self.array(array.shape, array.dtype)
        copy[...] = array
        return copy

    def _release(self, size: int) -> None:
        self._in_memory -= size


def _map_file(shape: int | tuple[int, ...], dtype: DTypeLike, size: int) -> NDArray[Any]:
    """Return an array in a file without a name.

    Its blocks are allocated first, so that a full disk is an error here and not a crash later.
    """
    if not size:
        return np.empty(shape, dtype)
    try:
        with tempfile.TemporaryFile(prefix="nearfold-") as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            return np.asarray(np.memmap(file, dtype=dtype, mode="w+", shape=shape))
    except OSError as error:
        raise UsageError(
            f"no space for {size / MEGABYTE:,.0f} MB of temporary files in "
            f"{tempfile.gettempdir()} ({error.strerror}); "
            "set TMPDIR to a folder on a larger disk, or allow more --memory"
        ) from error


def are_in(codes: Codes, others: Codes) -> NDArray[np.bool_]:
    """Return which codes are among `others`, which are sorted: (codes,) bool."""
    if not len(others):
        return np.zeros(len(codes), dtype=bool)
    positions = np.minimum(np.searchsorted(others, codes), len(others) - 1)
    is_in: NDArray[np.bool_] = others[positions] == codes
    return is_in


# Caches.


class LruCache(Generic[K, V]):
    """The entries that were used last, as many as weigh `max_weight` together.

    There are at most `max_entries`. `weight` is that of all entries; one weighs 1, or what `weigh`
    returns for its value. Not safe to share by threads.

    >>> cache = LruCache[str, str](5, weigh=len)
    >>> cache.put("a", "one"); cache.put("b", "two"); "a" in cache, cache.get("b")
    (False, 'two')
    """

    def __init__(
        self,
        max_weight: int,
        weigh: Callable[[V], int] | None = None,
        max_entries: float = math.inf,
    ) -> None:
        self._max_weight, self._max_entries = max_weight, max_entries
        self._weigh = weigh
        self._entries: OrderedDict[K, V] = OrderedDict()
        self.weight = 0

    def __contains__(self, key: K) -> bool:
        """Return whether there is an entry of this key; that is no use of it."""
        return key in self._entries

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self._entries)

    def __iter__(self) -> Iterator[K]:
        """Yield the keys, the one used longest ago first."""
        return iter(self._entries)

    def __getitem__(self, key: K) -> V:
        """Return the value of a key. Raises `KeyError` without one."""
        value = self._entries[key]
        self._entries.move_to_end(key)
        return value

    def peek(self, key: K) -> V | None:
        """Return the value of a key, None without one; that is no use of it."""
        return self._entries.get(key)

    def get(self, key: K) -> V | None:
        """Return the value of a key, None without one."""
        return self[key] if key in self._entries else None

    def use(self, keys: Iterable[K]) -> None:
        """Count the entries of these keys as used, as far as there are any."""
        for key in keys:
            if key in self._entries:
                self._entries.move_to_end(key)

    def put(self, key: K, value: V, min_entries: int = 0) -> None:
        """Keep a value; discard those used longest ago beyond the bounds, but for `min_entries`."""
        self.add(key, value)
        self.trim(min_entries)

    def add(self, key: K, value: V) -> None:
        """Keep a value and all others, until `trim` is called."""
        self.discard(key)
        self._entries[key] = value
        self.weight += self._weight_of(value)

    def trim(self, min_entries: int = 0) -> None:
        """Discard entries used longest ago beyond the bounds, but for `min_entries`."""
        while len(self._entries) > min_entries and (
            self.weight > self._max_weight or len(self._entries) > self._max_entries
        ):
            _, oldest = self._entries.popitem(last=False)
            self.weight -= self._weight_of(oldest)

    def discard(self, key: K) -> None:
        """Discard the entry of a key, if there is one."""
        if key in self._entries:
            self.weight -= self._weight_of(self._entries.pop(key))

    def clear(self) -> None:
        """Discard all entries."""
        self._entries.clear()
        self.weight = 0

    def _weight_of(self, value: V) -> int:
        return 1 if self._weigh is None else self._weigh(value)


@contextmanager
def few_collections() -> Iterator[None]:
    """Let cycles be looked for more rarely: objects of many rows are alive at once, none in any."""
    usual = gc.get_threshold()
    gc.set_threshold(50_000, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
