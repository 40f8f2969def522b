"""Keys of rows in SQLite: sorted runs of numbers, which are merged as they grow.

A B-tree of a million rows would be written all over for each batch, since keys are random, and a
full-text index looks them up one at a time. Here each transaction appends one sorted
run, in pages of a fixed number of entries; runs of similar size become one. So a key is copied a
few times in all, and look-ups of many keys read each page once, in its order.

An entry is a number of 64 bits: the key (35), the row (28), and whether the row lost the key (1).
Keys of up to six characters are numbers as they are; longer ones are hashed to 32 bits. That may
count a key for a row that lacks it, for one of a hundred keys in a store of a million rows, and
never hides one.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain, compress
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.errors import StoreStopped
from indexer.fingerprinting.hashing import distinct_sorted, distinct_values
from indexer.system.external_memory import offsets

Entries: TypeAlias = NDArray[np.uint64]

MAX_NUMBER = (1 << 28) - 1  # of a row
_PAGE = 128  # entries
_AT_ONCE = 2_000  # pages that are merged in memory
_KEYS = 4_000  # that are looked up together
MAX_DIGITS = 6  # characters of a key that is a number as it is
_HASHED = 1 << 32  # apart from all of these
_BLOCK, _PART = 1 << 33, 1 << 34
_BASE, _DIGIT_BITS = 32, np.uint64(5)
_DIGITS = np.full(256, 255, dtype=np.uint8)  # of characters
_DIGITS[np.frombuffer(b"0123456789abcdefghijklmnopqrstuv", dtype=np.uint8)] = np.arange(_BASE)
_ONE, _ROW_BITS, _KEY = np.uint64(1), np.uint64(MAX_NUMBER), np.uint64(29)
_LOW = np.uint64((1 << 29) - 1)
_WIDEST = np.uint64(0xFFFF)  # difference of keys in a narrow page
_LONGEST_STEP = 255  # difference to the key before, in a page of four bytes an entry
_NARROW = np.dtype([("key", "<u2"), ("low", "<u4")])  # the key relative to the first of its page
_SMALL = 1 << 24  # what does not fit in three bytes
_DIRECTORY = np.dtype([("first", "<u8"), ("size", "<u2")])  # of the pages of a run

_RUNS = "SELECT run, entries, directory FROM key_runs ORDER BY run"
_PAGES = (
    "SELECT p.entries FROM json_each(?) j CROSS JOIN key_pages p ON p.page = j.value ORDER BY j.key"
)


def posted(bands: Sequence[str], blocks: Sequence[str], is_part: bool = False) -> Entries:
    """Return the numbers of the keys of a row.

    Bands and blocks of the same text are different keys, and so are the keys of parts.
    """
    band = np.uint64(_PART if is_part else 0)
    block = band | np.uint64(_BLOCK)
    return np.concatenate([numbers_of(bands) | band, numbers_of(blocks) | block])


def numbers_of(keys: Sequence[str]) -> Entries:
    """Return the number of each key, without its kind; short keys of one length are read together.

    >>> numbers_of(["0v", "10"]).tolist()
    [1055, 1056]
    """
    width = len(keys[0]) if keys else 0
    joined = " ".join((*keys, ""))
    if 0 < width <= MAX_DIGITS and len(joined) == (width + 1) * len(keys) and joined.isascii():
        characters = np.frombuffer(joined.encode("ascii"), dtype=np.uint8)
        digits = _DIGITS[characters.reshape(len(keys), width + 1)[:, :width]]
        if (digits < _BASE).all():
            numbers = np.ones(len(keys), dtype=np.uint64)
            for column in range(width):
                numbers = numbers << _DIGIT_BITS | digits[:, column]
            return numbers
    return np.fromiter(map(_number, keys), dtype=np.uint64, count=len(keys))


def first_number(digits: int) -> int:
    """Return the number of the first key of so many digits; the others follow in their order."""
    return 1 << 5 * digits


def _number(key: str) -> int:
    if len(key) <= MAX_DIGITS:
        try:
            return int(f"1{key}", 32)
        except ValueError:  # no number to the base 32
            pass
    hashed = blake2b(key.encode("utf-8", "replace"), digest_size=4)
    return _HASHED | int.from_bytes(hashed.digest(), "big")


def entries_of(rows: Sequence[tuple[int, Sequence[str], Sequence[str], bool]]) -> Entries:
    """Return the entries of rows, each given by its number, its bands, its blocks and whether it is
    a part, sorted and without repetitions.

    Raises `StoreStopped` beyond `MAX_NUMBER`.
    """
    numbers, bands, blocks, parts = zip(*rows, strict=True) if rows else ((),) * 4
    if max(numbers, default=0) > MAX_NUMBER:
        raise StoreStopped(
            reason="the store has given all numbers of rows", remedy="index into another store"
        )
    owners = np.array(numbers, dtype=np.uint64)
    of_parts = np.array(parts, dtype=np.uint64) * np.uint64(_PART)
    found = []
    for kind, keys in ((0, bands), (_BLOCK, blocks)):
        sizes = np.fromiter(map(len, keys), dtype=np.int64, count=len(keys))
        flat = numbers_of(list(chain.from_iterable(keys))) | np.repeat(of_parts, sizes)
        found.append(pack(flat | np.uint64(kind), np.repeat(owners, sizes)))
    return distinct_sorted(np.sort(np.concatenate(found)))


def pack(keys: Entries, numbers: Entries) -> Entries:
    """Return the entry of each key, given by its number, and of its row, in the same order."""
    entries: Entries = keys << _KEY | numbers << _ONE
    return entries


def digest_of(entries: Entries) -> int:
    """Return a digest of entries that does not depend on their order; digests add up."""
    mixed = entries * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    return int((mixed * np.uint64(0xBF58476D1CE4E5B9)).sum(dtype=np.uint64))


@dataclass(frozen=True, slots=True)
class _Run:
    """A run: the first entry of each of its pages, and how many each has."""

    number: int
    entries: int
    directory: NDArray[Any]

    def pages(self, low: Entries, high: Entries) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the positions of ranges and a page of each that may have entries from its `low` to
        its `high`, ascending.
        """
        firsts = self.directory["first"]
        starts = np.maximum(np.searchsorted(firsts, low, side="right") - 1, 0)
        sizes = np.maximum(np.searchsorted(firsts, high, side="right") - starts, 0)
        return np.repeat(np.arange(len(low)), sizes), np.repeat(starts, sizes) + offsets(sizes)


def _runs(db: sqlite3.Connection) -> list[_Run]:
    return [
        _Run(number, entries, np.frombuffer(directory, dtype=_DIRECTORY))
        for number, entries, directory in db.execute(_RUNS)
    ]


def _full_pages(width: int) -> np.dtype[Any]:
    """Return the type of a page of `_PAGE` entries of 4, 5 or 6 bytes.

    Six bytes are the key, relative to the first of the page, and the rest of the entry; that is
    three bytes in two arrays where no entry needs more; and of four bytes the first is the
    difference to the key before.
    """
    if width == 6:
        return np.dtype((_NARROW, (_PAGE,)))
    key = ("step", "u1", (_PAGE,)) if width == 4 else ("key", "<u2", (_PAGE,))
    return np.dtype([key, ("low", "<u2", (_PAGE,)), ("high", "u1", (_PAGE,))])


def _relative_keys(pages: NDArray[Any], width: int) -> NDArray[np.uint16]:
    """Return the keys in full pages, relative to the first of each."""
    if width == 4:
        return np.cumsum(pages["step"], axis=1, dtype=np.uint16)
    keys: NDArray[np.uint16] = pages["key"]
    return keys


def _lows(pages: NDArray[Any], width: int, at: Any = ...) -> Entries:
    """Return the entries of full pages without their keys."""
    lows: Entries = pages["low"][at].astype(np.uint64)
    if width < 6:
        lows |= pages["high"][at].astype(np.uint64) << np.uint64(16)
    return lows


def _read(db: sqlite3.Connection, run: _Run, pages: NDArray[Any]) -> Entries:
    """Return the entries of these pages of a run, which are ascending."""
    return _unpack(run.directory[pages], *_read_pages(db, run, pages))


def _read_pages(
    db: sqlite3.Connection, run: _Run, pages: NDArray[Any]
) -> tuple[list[bytes], NDArray[np.int64]]:
    """Return these pages of a run as they are stored, and the bytes of an entry in each."""
    ids = json.dumps(((run.number << 32) + pages).tolist())
    blobs = [blob for (blob,) in db.execute(_PAGES, (ids,))]
    sizes = run.directory["size"][pages].astype(np.int64)
    lengths = np.fromiter(map(len, blobs), dtype=np.int64, count=len(blobs))
    if len(blobs) == len(pages):
        widths, rests = np.divmod(lengths, np.maximum(sizes, 1))
        is_full = sizes == _PAGE
        is_known = (widths == 8) | (widths == 6) | is_full & np.isin(widths, (4, 5))
        if (is_known & (rests == 0)).all():
            return blobs, widths
    raise sqlite3.DatabaseError("malformed: pages of keys are missing or cut")


def _unpack(directory: NDArray[Any], blobs: Sequence[bytes], widths: NDArray[np.int64]) -> Entries:
    """Return the entries of pages."""
    sizes = directory["size"].astype(np.int64)
    entries = np.zeros(int(sizes.sum()), dtype=np.uint64)
    widths_of_entries = np.repeat(widths, sizes)
    for width in distinct_values(widths).tolist():
        is_chosen = widths == width
        joined = b"".join(compress(blobs, is_chosen))
        if width == 8:
            entries[widths_of_entries == 8] = np.frombuffer(joined, dtype="<u8")
            continue
        firsts = directory["first"][is_chosen] >> _KEY
        if width == 6:  # pages of any size
            narrow = np.frombuffer(joined, dtype=_NARROW)
            keys = np.repeat(firsts, sizes[is_chosen]) + narrow["key"].astype(np.uint64)
            lows = narrow["low"].astype(np.uint64)
        else:
            pages = np.frombuffer(joined, dtype=_full_pages(width))
            keys = (firsts[:, None] + _relative_keys(pages, width).astype(np.uint64)).ravel()
            lows = _lows(pages, width).ravel()
        entries[widths_of_entries == width] = keys << _KEY | lows
    return entries


def carriers(db: sqlite3.Connection, keys: Sequence[int], limit: int) -> list[NDArray[np.int64]]:
    """Return the numbers of the rows that carry each key, ascending, the first `limit` of them."""
    if not keys:
        return []
    distinct, positions = np.unique(np.array(keys, dtype=np.uint64), return_inverse=True)
    rows, sizes = carriers_of(db, distinct, limit)
    every_key = np.split(rows, np.cumsum(sizes)[:-1])
    return [every_key[position] for position in positions.tolist()]


def carriers_of(
    db: sqlite3.Connection, keys: Entries, limit: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of the rows that carry each of the ascending keys, one key after the
    other, and how many rows each key has, at most `limit`.
    """
    runs = _runs(db)
    found = [
        _carriers_in(db, runs, keys[start : start + _KEYS], limit)
        for start in range(0, len(keys), _KEYS)
    ]
    nothing = np.zeros(0, dtype=np.int64)
    rows, sizes = zip((nothing, nothing), *found, strict=True)
    return np.concatenate(rows), np.concatenate(sizes)


def _carriers_in(
    db: sqlite3.Connection, runs: Sequence[_Run], keys: Entries, limit: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    low, high = keys << _KEY, keys << _KEY | _LOW
    found = [low[:0]]
    for run in runs:
        found += _find(db, run, keys, *run.pages(low, high))
    entries = _added(_net(np.concatenate(found)))
    begins, sizes = _between(entries, low, high)
    sizes = np.minimum(sizes, limit)
    chosen = entries[np.repeat(begins, sizes) + offsets(sizes)]
    return (chosen >> _ONE & _ROW_BITS).astype(np.int64), sizes


def _find(
    db: sqlite3.Connection,
    run: _Run,
    keys: Entries,
    positions: NDArray[np.int64],
    pages: NDArray[np.int64],
) -> Iterator[Entries]:
    """Yield the entries of keys in a run, each given by its position and a page.

    Nearly all pages are full and not wide: their keys are compared without their entries.
    """
    distinct, page_of = np.unique(pages, return_inverse=True)
    directory = run.directory[distinct]
    blobs, widths = _read_pages(db, run, distinct)
    widths[directory["size"] != _PAGE] = 8
    is_other = widths == 8
    if is_other.any():
        others = list(compress(blobs, is_other))
        sizes = directory["size"][is_other].astype(np.int64)
        lengths = np.fromiter(map(len, others), dtype=np.int64, count=len(others))
        entries = _unpack(directory[is_other], others, lengths // sizes)
        begins, counts = _between(entries, keys << _KEY, keys << _KEY | _LOW)
        yield entries[np.repeat(begins, counts) + offsets(counts)]
    for width in (4, 5, 6):
        is_chosen = widths == width
        if not is_chosen.any():
            continue
        chosen = np.frombuffer(b"".join(compress(blobs, is_chosen)), dtype=_full_pages(width))
        chosen = chosen.reshape(-1, _PAGE) if width == 6 else chosen
        is_here = is_chosen[page_of]
        rows = (np.cumsum(is_chosen) - 1)[page_of[is_here]]
        sought = keys[positions[is_here]]
        differences = sought - (directory["first"][page_of[is_here]] >> _KEY)
        relative = np.minimum(differences, _WIDEST).astype(np.uint16)
        stored = _relative_keys(chosen, width)[rows]
        pairs, columns = np.divmod(np.flatnonzero(stored == relative[:, None]), _PAGE)
        is_near = differences[pairs] <= _WIDEST
        pairs, columns = pairs[is_near], columns[is_near]
        yield sought[pairs] << _KEY | _lows(chosen, width, (rows[pairs], columns))


def _between(
    entries: Entries, low: Entries, high: Entries
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the entries from each `low` to its `high` begin, and how many they are."""
    begins = np.searchsorted(entries, low)
    return begins, np.searchsorted(entries, high, side="right") - begins


def _added(entries: Entries) -> Entries:
    added: Entries = entries[entries & _ONE == 0]
    return added


def _net(entries: Entries) -> Entries:
    """Return entries sorted, without those that were added and removed again."""
    entries = np.sort(entries, kind="stable")  # merges what is sorted already
    is_removal = entries & _ONE == _ONE
    if not is_removal.any():
        return entries
    pairs = entries >> _ONE
    starts = np.flatnonzero(np.concatenate([[True], pairs[1:] != pairs[:-1]]))
    sums = np.add.reduceat(np.where(is_removal, -1, 1), starts)
    kept: Entries = pairs[starts[sums != 0]] << _ONE
    kept |= (sums[sums != 0] < 0).astype(np.uint64)
    return kept


def change(db: sqlite3.Connection, added: Entries, removed: Entries) -> None:
    """Add entries and remove others, which are there, inside the caller's transaction."""
    entries = _net(np.concatenate([added, removed | _ONE]))
    if not len(entries):
        return
    runs = _runs(db)
    merged, total = len(runs), len(entries)
    while merged and runs[merged - 1].entries <= 2 * total:
        merged -= 1
        total += runs[merged].entries
    number = runs[-1].number + 1 if runs else 1
    _write(db, number, _merge(db, runs[merged:], entries, is_first=merged == 0))


def _merge(
    db: sqlite3.Connection, runs: Sequence[_Run], entries: Entries, is_first: bool
) -> Iterator[Entries]:
    """Yield the entries of runs and of one more that is not stored yet, in their order, and delete
    the pages of these runs as they are read, so that their space is used again.

    `is_first`: no run is older, so that nothing is left to be removed.
    """
    largest = max(runs, key=lambda run: len(run.directory), default=None)
    bounds = largest.directory["first"][_AT_ONCE::_AT_ONCE] >> _ONE << _ONE if largest else []
    lows = [0, *map(int, bounds)]
    highs = [bound - 1 for bound in lows[1:]] + [(1 << 64) - 1]
    for edges in zip(lows, highs, strict=True):
        low, high = (np.array([edge], dtype=np.uint64) for edge in edges)
        found = [entries[(entries >= low) & (entries <= high)]]
        for run in runs:
            _, pages = run.pages(low, high)
            read = _read(db, run, pages)
            found.append(read[(read >= low) & (read <= high)])
            _delete(db, run, pages[:-1])
        merged = _net(np.concatenate(found))
        yield _added(merged) if is_first else merged
    for run in runs:
        _delete(db, run, np.arange(len(run.directory)))
        db.execute("DELETE FROM key_runs WHERE run = ?", (run.number,))


def _delete(db: sqlite3.Connection, run: _Run, pages: NDArray[Any]) -> None:
    """Delete consecutive pages of a run."""
    if len(pages):
        ends = [(run.number << 32) + int(page) for page in (pages[0], pages[-1])]
        db.execute("DELETE FROM key_pages WHERE page BETWEEN ? AND ?", ends)


def _write(db: sqlite3.Connection, number: int, chunks: Iterable[Entries]) -> None:
    """Write a run, given as chunks of ascending entries."""
    directory = [np.zeros(0, dtype=_DIRECTORY)]
    remaining, count = np.zeros(0, dtype=np.uint64), 0
    for chunk in chunks:
        remaining = np.concatenate([remaining, chunk])
        whole = len(remaining) // _PAGE * _PAGE
        directory.append(_write_pages(db, number, count, remaining[:whole].reshape(-1, _PAGE)))
        count += len(directory[-1])
        remaining = remaining[whole:]
    if len(remaining):
        directory.append(_write_pages(db, number, count, remaining[None]))
    pages = np.concatenate(directory)
    if len(pages):
        values = number, int(pages["size"].sum(dtype=np.int64)), pages.tobytes()
        db.execute("INSERT INTO key_runs VALUES (?, ?, ?)", values)


def _write_pages(
    db: sqlite3.Connection, number: int, first: int, pages: NDArray[np.uint64]
) -> NDArray[Any]:
    """Write pages of the same size, (pages, entries), and return their part of the directory."""
    directory = np.zeros(len(pages), dtype=_DIRECTORY)
    if not pages.size:
        return directory
    directory["first"], directory["size"] = pages[:, 0], pages.shape[1]
    keys = (pages >> _KEY) - (pages[:, :1] >> _KEY)
    lows = pages & _LOW
    steps = np.diff(keys, axis=1, prepend=np.uint64(0))
    widths = np.where(keys[:, -1] <= _WIDEST, 6, 8)
    is_small = (widths == 6) & (lows.max(axis=1) < _SMALL) & (pages.shape[1] == _PAGE)
    widths[is_small] = np.where(steps[is_small].max(axis=1) <= _LONGEST_STEP, 4, 5)
    blobs: dict[int, bytes] = {}
    for width in distinct_values(widths).tolist():
        is_chosen = widths == width
        packed = _packed(width, pages[is_chosen], keys[is_chosen], lows[is_chosen])
        length = width * pages.shape[1]
        for position, page in enumerate(np.flatnonzero(is_chosen).tolist()):
            blobs[page] = packed[position * length : (position + 1) * length]
    start = (number << 32) + first
    values = ((start + page, blobs[page]) for page in range(len(pages)))
    db.executemany("INSERT INTO key_pages VALUES (?, ?)", values)
    return directory


def _packed(width: int, pages: Entries, keys: Entries, lows: Entries) -> bytes:
    """Return pages of one size as they are stored, with so many bytes an entry."""
    if width == 8:
        return pages.astype("<u8").tobytes()
    if width == 6:
        narrow = np.zeros(pages.shape, dtype=_NARROW)
        narrow["key"], narrow["low"] = keys, lows
        return narrow.tobytes()
    full = np.zeros(len(pages), dtype=_full_pages(width))
    if width == 4:
        full["step"] = np.diff(keys, axis=1, prepend=np.uint64(0))
    else:
        full["key"] = keys
    full["low"], full["high"] = lows & np.uint64(0xFFFF), lows >> np.uint64(16)
    return full.tobytes()


def clear(db: sqlite3.Connection) -> None:
    """Remove all entries, inside the caller's transaction."""
    db.execute("DELETE FROM key_pages")
    db.execute("DELETE FROM key_runs")


def stored_digest(db: sqlite3.Connection) -> int:
    """Return the digest of all entries that are added and not removed.

    Raises `sqlite3.DatabaseError` when pages are missing or cut.
    """
    total = 0
    for run in _runs(db):
        for start in range(0, len(run.directory), _AT_ONCE):
            pages = np.arange(start, min(start + _AT_ONCE, len(run.directory)))
            entries = _read(db, run, pages)
            is_removal = entries & _ONE == _ONE
            total += digest_of(entries[~is_removal]) - digest_of(entries[is_removal] ^ _ONE)
    return total & ((1 << 64) - 1)
