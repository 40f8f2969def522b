"""Rows of a SQLite file that share keys with a look-up.

Nothing of a row is read but of those that are returned: which they are is decided on the postings
and, where more rows share the same number of keys than fit, on the index of paths.
"""

from __future__ import annotations

import json
import sqlite3
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.model import Candidate, Candidates, Scope
from indexer.sketch.codec import unsigned64
from indexer.stores.base import Lookup
from indexer.stores.sqlite import columns as packed
from indexer.stores.sqlite import parts_sql as parts
from indexer.stores.sqlite.postings import carriers, either, parse_numbers

Numbers: TypeAlias = NDArray[np.int64]

_BEST = (
    "SELECT d.number, d.id, d.path, d.minhash, d.simhash FROM json_each(?) j "
    "CROSS JOIN documents d ON d.number = j.value"
)
_SORTED = (
    "SELECT group_concat(number, ' ') FROM (SELECT d.number FROM json_each(?) j "
    "CROSS JOIN documents d ON d.number = j.value ORDER BY d.path, d.id LIMIT ?)"
)
_NEXT = (
    "SELECT group_concat(number, ' '), max(path) FROM (SELECT number, path FROM documents "
    "INDEXED BY documents_by_path WHERE (path, number) > (?, ?) ORDER BY path, number LIMIT ?)"
)
_OF_PATH = (
    "SELECT group_concat(number, ' ') FROM "
    "(SELECT number FROM documents WHERE path = ? ORDER BY id LIMIT -1)"
)
_ENTRIES = 4  # entries of the index of paths that are read in the time of one row
_AT_ONCE = 20_000  # entries at most


def find_candidates(
    db: sqlite3.Connection,
    scope: Scope,
    lookup: Lookup,
    limit: int,
    least_shared: int,
    hot_key_floor: int,
    hot_key_share: float,
) -> Candidates:
    """Return the rows that share keys: one read of the postings of all keys, of a hot one up to its
    cap.
    """
    bands, blocks = lookup
    posted = [packed.posted(bands, blocks, prefix) for prefix in parts.PREFIXES[scope]]
    matching = map(either, zip(*posted, strict=True))
    keys = dict(zip(matching, (*bands, *blocks), strict=True))
    cap = max(hot_key_floor, int(hot_key_share * parts.known_count(db, scope)))
    every_key = carriers(db, list(keys), cap + 1)
    capped = [key for key, rows in zip(keys.values(), every_key, strict=True) if len(rows) > cap]
    asked = [rows for rows in every_key if len(rows) <= cap]
    if not asked:
        return Candidates((), tuple(capped))
    numbers, shared = np.unique(np.concatenate(asked), return_counts=True)
    enough = shared >= least_shared - len(capped)
    numbers, shared = numbers[enough], shared[enough]
    is_best = _are_best(db, numbers, shared, limit)
    best = _candidates(db, numbers[is_best], shared[is_best])
    return Candidates(best, tuple(capped), cut=len(numbers) > len(best))


def _candidates(
    db: sqlite3.Connection, numbers: Numbers, shared: NDArray[Any]
) -> tuple[Candidate, ...]:
    """Return these rows, most keys shared first, ties by path, then id."""
    count_of = dict(zip(numbers.tolist(), shared.tolist(), strict=True))
    rows = db.execute(_BEST, (json.dumps(numbers.tolist()),)).fetchall()
    rows.sort(key=lambda row: (-count_of[row[0]], row[2], row[1]))
    return tuple(
        Candidate(name, path, count_of[number], minhash, None if bits is None else unsigned64(bits))
        for number, name, path, minhash, bits in rows
    )


def _are_best(
    db: sqlite3.Connection, numbers: Numbers, shared: NDArray[Any], limit: int
) -> NDArray[np.bool_]:
    """Flag the `limit` rows that share most keys, of those that share as many the first by path,
    then id. The numbers are ascending.
    """
    if len(numbers) <= limit or not limit:
        return np.full(len(numbers), bool(limit))
    fewest = np.partition(shared, -limit)[-limit]
    is_best: NDArray[np.bool_] = shared > fewest
    tied = np.flatnonzero(shared == fewest)
    places = limit - int(np.count_nonzero(is_best))
    first = first_by_path(db, numbers[tied], places)
    is_best[tied[np.isin(numbers[tied], first)]] = True
    return is_best


def first_by_path(db: sqlite3.Connection, numbers: Numbers, count: int) -> Numbers:
    """Return the first of these rows by path, then id: `count`, of at least as many.

    Few are read and sorted; of many, the index of paths has enough near its begin.
    """
    entries = count * parts.known_count(db, "both") // max(len(numbers), 1)
    if entries > _ENTRIES * len(numbers):
        joined = db.execute(_SORTED, (json.dumps(numbers.tolist()), count)).fetchone()[0]
        return parse_numbers(joined)
    return _first_in_index(db, numbers, count, min(2 * entries + 100, _AT_ONCE))


def _first_in_index(db: sqlite3.Connection, numbers: Numbers, count: int, at_once: int) -> Numbers:
    """Return the same by reading the index of paths from its begin.

    It has rows of one path in order of number: the last path is sorted by id.
    """
    found = np.zeros(0, dtype=np.int64)
    path, last = "", -1
    while len(found) < count:
        joined, path = db.execute(_NEXT, (path, last, at_once)).fetchone()
        entries = parse_numbers(joined)
        last = int(entries[-1])
        found = np.concatenate([found, entries[np.isin(entries, numbers)]])
    found = found[:count]
    (path,) = db.execute(
        "SELECT path FROM documents WHERE number = ?", (int(found[-1]),)
    ).fetchone()
    by_id = parse_numbers(db.execute(_OF_PATH, (path,)).fetchone()[0])
    before = found[~np.isin(found, by_id)]
    same = by_id[np.isin(by_id, numbers)]
    return np.concatenate([before, same[: count - len(before)]])
