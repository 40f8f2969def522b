"""Rows of a SQLite file that share keys with a look-up.

Nothing of a row is read but of those that are returned: which they are is decided on the keys and,
where more rows share the same number of keys than fit, on the index of paths.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.fingerprinting.keys import unsigned64
from indexer.fingerprinting.minhash import pass_prefilter
from indexer.model import Candidate, Candidates, Prefilter, Scope, WordLookup
from indexer.stores.base import Lookup
from indexer.stores.query_syntax import Term
from indexer.stores.sqlite.connections import Numbers, ReadCache, parse_numbers, rows_with
from indexer.stores.sqlite.full_text import term_expression
from indexer.stores.sqlite.keys import carriers, posted
from indexer.stores.sqlite.rows import (
    KINDS,
    in_scope,
    known_count,
    read_cache,
    sketches_of,
    words_of,
)

_BEST = (
    "SELECT d.number, d.id, d.path, d.minhash, d.simhash FROM json_each(?) j "
    "CROSS JOIN documents d ON d.number = j.value WHERE d.words BETWEEN ? AND ?"
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
_OCR = "SELECT group_concat(number, ' ') FROM documents WHERE ocr <> ''"
_ANY_LENGTH = 0, (1 << 63) - 1
_ENTRIES = 4  # entries of the index of paths that are read in the time of one row
_AT_ONCE = 20_000  # entries, no more
_MORE = 4  # times as many rows are read where too few are of the lengths asked for
_SPARSE = 50  # numbers for each that is counted


def find_candidates(
    db: sqlite3.Connection,
    scope: Scope,
    lookup: Lookup,
    limit: int,
    min_shared: int,
    frequent_key_floor: int,
    frequent_key_fraction: float,
    prefilter: Prefilter | None = None,
) -> Candidates:
    """Return the rows that share keys: one read of all keys, of a frequent one up to its cap."""
    cache = read_cache(db)
    scans: Numbers | None = None
    if prefilter and prefilter.ocr:
        scans = parse_numbers(db.execute(_OCR).fetchone()[0] or "")
        if not len(scans):
            return Candidates(())
    bands, blocks = lookup
    cap = max(frequent_key_floor, int(frequent_key_fraction * known_count(db, scope)))
    named: dict[int, str] = {}
    of_kinds = []
    for is_part in KINDS[scope]:
        numbers_of_keys = posted(bands, blocks, is_part).tolist()
        named = dict(zip(numbers_of_keys, (*bands, *blocks), strict=True))
        rows = cache.carriers(list(named), cap + 1, lambda missing: carriers(db, missing, cap + 1))
        of_kinds.append(rows)
    every_key = [np.concatenate(rows) for rows in zip(*of_kinds, strict=True)]
    capped = [key for key, rows in zip(named.values(), every_key, strict=True) if len(rows) > cap]
    rows_by_key = [rows for rows in every_key if len(rows) <= cap]
    if not rows_by_key:
        return Candidates((), tuple(capped))
    numbers, shared = count_shared(rows_by_key, max(1, min_shared - len(capped)))
    if scans is not None:
        is_scan = np.isin(numbers, scans)
        numbers, shared = numbers[is_scan], shared[is_scan]
    lengths = prefilter.lengths if prefilter else None
    if lengths and len(numbers) > limit:  # of fewer all are read below
        is_of_length = np.isin(numbers, _first_of_lengths(db, numbers, shared, limit, lengths))
        numbers, shared = numbers[is_of_length], shared[is_of_length]
    is_best = _are_best(db, numbers, shared, limit)
    is_cut = not is_best.all()
    numbers, shared = numbers[is_best], shared[is_best]
    total = len(numbers)
    if prefilter:
        passes = _pass(db, numbers, prefilter)
        numbers, shared = numbers[passes], shared[passes]
    best = _candidates(db, numbers, shared, lengths or _ANY_LENGTH)
    return Candidates(best, tuple(capped), is_cut, total - len(best))


def count_shared(
    rows_by_key: Sequence[NDArray[np.int32]], minimum: int
) -> tuple[Numbers, NDArray[np.int64]]:
    """Return the rows that carry at least `minimum` of the keys, ascending, and how many."""
    rows = np.concatenate([np.zeros(0, dtype=np.int32), *rows_by_key])
    if not len(rows):
        return rows.astype(np.int64), np.zeros(0, dtype=np.int64)
    first, last = int(rows.min()), int(rows.max())
    if last - first > _SPARSE * len(rows):  # a count for each number would take more memory
        numbers, shared = np.unique(rows, return_counts=True)
        enough = shared >= minimum
        return numbers[enough].astype(np.int64), shared[enough]
    shared = np.bincount(rows - first)
    positions = np.flatnonzero(shared >= minimum)
    return positions + first, shared[positions]


def _pass(db: sqlite3.Connection, numbers: Numbers, prefilter: Prefilter) -> NDArray[np.bool_]:
    """Flag the rows whose sketches pass the prefilter, or that have none."""
    sketches, is_sketched = sketches_of(db, numbers, len(prefilter.slots))
    return pass_prefilter(prefilter, sketches) | ~is_sketched


def _first_of_lengths(
    db: sqlite3.Connection,
    numbers: Numbers,
    shared: NDArray[Any],
    limit: int,
    lengths: tuple[int, int],
) -> Numbers:
    """Return the first rows of such lengths, more than `limit`; all where there are not as many.

    The order is most shared keys first, ties by path, then id.
    """
    count = _MORE * limit
    while 0 < count < len(numbers) // _MORE:
        is_first = _are_best(db, numbers, shared, count)
        within = _of_lengths(db, numbers[is_first], lengths)
        if len(within) > limit:
            return within
        count *= _MORE
    return _of_lengths(db, numbers, lengths)


def _of_lengths(db: sqlite3.Connection, numbers: Numbers, lengths: tuple[int, int]) -> Numbers:
    """Return the rows whose numbers of words are within `lengths`."""
    words = words_of(db, numbers)
    minimum, limit = lengths
    return numbers[(words >= minimum) & (words <= limit)]


def _candidates(
    db: sqlite3.Connection, numbers: Numbers, shared: NDArray[Any], lengths: tuple[int, int]
) -> tuple[Candidate, ...]:
    """Return the rows of such lengths, most shared keys first, ties by path, then id."""
    count_of = dict(zip(numbers.tolist(), shared.tolist(), strict=True))
    rows = db.execute(_BEST, (json.dumps(numbers.tolist()), *lengths)).fetchall()
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
    minimum = np.partition(shared, -limit)[-limit]
    is_best: NDArray[np.bool_] = shared > minimum
    tied = np.flatnonzero(shared == minimum)
    positions = limit - int(np.count_nonzero(is_best))
    first = first_by_path(db, numbers[tied], positions)
    is_best[np.searchsorted(numbers, first)] = True
    return is_best


def first_by_path(db: sqlite3.Connection, numbers: Numbers, count: int) -> Numbers:
    """Return the first of these rows by path, then id: `count`, of at least as many.

    Few are read and sorted; of many, the index of paths has enough near its begin.
    """
    cache = read_cache(db)
    entries = count * known_count(db, "both") // max(len(numbers), 1)
    cache.sorted_rows += len(numbers)
    if entries - len(cache.by_path) > _ENTRIES * cache.sorted_rows:
        joined = db.execute(_SORTED, (json.dumps(numbers.tolist()), count)).fetchone()[0]
        return parse_numbers(joined)
    at_once = min(2 * entries + 100, _AT_ONCE)
    return _first_in_index(db, cache, numbers, count, at_once)


def _first_in_index(
    db: sqlite3.Connection, cache: ReadCache, numbers: Numbers, count: int, at_once: int
) -> Numbers:
    """Return the same by the index of paths from its start, as far as it was not read before.

    It has rows of one path in order of number: the last path is sorted by id.
    """
    is_chosen = np.zeros(int(numbers.max()) + 1, dtype=np.bool_)
    is_chosen[numbers] = True
    chosen = _chosen(cache.by_path, is_chosen)
    while len(chosen) < count:
        last = int(cache.by_path[-1]) if len(cache.by_path) else -1
        joined, cache.last_path = db.execute(_NEXT, (cache.last_path, last, at_once)).fetchone()
        entries = parse_numbers(joined)
        cache.by_path = np.concatenate([cache.by_path, entries])
        chosen = np.concatenate([chosen, _chosen(entries, is_chosen)])
    chosen = chosen[:count]
    (path,) = db.execute(
        "SELECT path FROM documents WHERE number = ?", (int(chosen[-1]),)
    ).fetchone()
    by_id = parse_numbers(db.execute(_OF_PATH, (path,)).fetchone()[0])
    if len(by_id) == 1:
        return chosen
    before = chosen[~np.isin(chosen, by_id)]
    same = by_id[np.isin(by_id, numbers)]
    return np.concatenate([before, same[: count - len(before)]])


def _chosen(numbers: Numbers, is_chosen: NDArray[np.bool_]) -> Numbers:
    """Return the numbers that are flagged, in order; those beyond the flags are not."""
    numbers = numbers[numbers < len(is_chosen)]
    return numbers[is_chosen[numbers]]


# Rows of a SQLite file that have most of the words of a short text.

_AT_FIRST = 2_000  # rows of a word that are read before it is known how many there are
_ALL = -1
_SAMPLE = 8  # words that are read where not all have to be, if so few rows have no more of them
_MAX_SAMPLED = 500_000  # rows of these words, unless chance alone gives a row all of them
_CHANCE = 0.01  # number of such rows
_MIN_SAMPLE = 4  # words that are read at least
_RARE = 10  # rows of a word that counts as one of them: typos, which copies lack, have fewer
_SIMILAR = (
    "SELECT d.number, d.id, d.path, d.minhash, d.simhash FROM json_each(?) j "
    "CROSS JOIN documents d ON d.number = j.value "
    "WHERE d.words BETWEEN ? AND ? AND d.minhash IS NOT NULL AND {}"
)


def find_by_words(
    db: sqlite3.Connection, scope: Scope, lookup: WordLookup, limit: int
) -> Candidates:
    """Return the rows of a scope that meet a look-up.

    A row lacks some of the words at most, so it has one of any more of them: the rows of frequent
    words are read only where there are not enough others, or too many rows.
    """
    keys = [_expression(spellings) for spellings in lookup.words]
    first = _rows_of(db, keys, _AT_FIRST)
    last = {key: int(rows[-1]) for key, rows in zip(keys, first, strict=True) if len(rows)}
    frequent = [key for key, rows in zip(keys, first, strict=True) if len(rows) == _AT_FIRST]
    frequent.sort(key=last.__getitem__)  # the sooner so many rows are read, the more there are
    min_rows = int(lookup.sampled)  # a word of a sample has rows
    rows_by_word = [rows for rows in first if min_rows <= len(rows) < _AT_FIRST]
    enough = len(keys) - lookup.shared + 1
    if lookup.sampled:
        while frequent and len(sizes := _sizes(rows_by_word)) < min(enough, _SAMPLE):
            if _is_sample(db, sizes, _AT_FIRST / last[frequent[-1]]):
                break
            rows_by_word += _rows_of(db, [frequent.pop()], _ALL)
        return _with_words(db, scope, lookup, _with_highest_counts(lookup, rows_by_word), limit)
    while frequent and len(rows_by_word) < enough:
        rows_by_word += _rows_of(db, [frequent.pop()], _ALL)
    found = _with_enough_words(db, lookup, rows_by_word, frequent, limit)
    return _with_words(db, scope, lookup, found, limit)


def _sizes(rows_by_word: list[NDArray[np.int32]]) -> list[int]:
    """Return how many rows each word has, but for words with so few that they may be typos."""
    return [len(rows) for rows in rows_by_word if len(rows) >= _RARE]


def _is_sample(db: sqlite3.Connection, sizes: list[int], fraction: float) -> bool:
    """Return whether few rows have all the words that were read, and a word that a fraction of all
    rows has would be too many more.
    """
    count = db.execute("SELECT max(number) FROM documents").fetchone()[0]
    by_chance = count * math.prod(size / count for size in sizes)
    is_enough = len(sizes) >= _MIN_SAMPLE and by_chance < _CHANCE
    return bool(is_enough and sum(sizes) + fraction * count > _MAX_SAMPLED)


def _with_highest_counts(
    lookup: WordLookup, rows_by_word: list[NDArray[np.int32]]
) -> tuple[Numbers, NDArray[np.int64]]:
    """Return rows that have as many as possible of the words that were read, and how many."""
    numbers, counts = count_shared(rows_by_word, _min_count(lookup, len(rows_by_word)))
    best = np.argsort(-counts, kind="stable")[:_AT_FIRST]
    return numbers[best], counts[best]


def _with_enough_words(
    db: sqlite3.Connection,
    lookup: WordLookup,
    rows_by_word: list[NDArray[np.int32]],
    others: list[str],
    limit: int,
) -> tuple[Numbers, NDArray[np.int64]]:
    """Return the rows that have enough of the words that were read, and how many.

    The rows of `others`, from the last one on, are read until no more than `limit` rows are left.
    """
    numbers, counts = count_shared(rows_by_word, _min_count(lookup, len(rows_by_word)))
    while len(numbers) > limit:
        numbers, counts = _of_lengths_asked_for(db, numbers, counts, lookup)
        if not others or len(numbers) <= limit:
            break
        rows_by_word += _rows_of(db, [others.pop()], _ALL)
        numbers, counts = count_shared(rows_by_word, _min_count(lookup, len(rows_by_word)))
    return numbers, counts


def _min_count(lookup: WordLookup, words: int) -> int:
    """Return how many of so many words a row has that has enough of all."""
    if lookup.sampled:
        return max(1, words * lookup.shared // len(lookup.words))
    return words - len(lookup.words) + lookup.shared


def _of_lengths_asked_for(
    db: sqlite3.Connection, numbers: Numbers, counts: NDArray[np.int64], lookup: WordLookup
) -> tuple[Numbers, NDArray[np.int64]]:
    """Return the rows whose texts are as long as a look-up asks for, with their counts."""
    words = words_of(db, numbers)
    is_within = (words >= lookup.min_words) & (words <= lookup.max_words)
    return numbers[is_within], counts[is_within]


def _with_words(
    db: sqlite3.Connection,
    scope: Scope,
    lookup: WordLookup,
    found: tuple[Numbers, NDArray[np.int64]],
    limit: int,
) -> Candidates:
    """Return the rows of a scope by their counts, descending, ties by path, then id."""
    numbers, counts = found
    statement = _SIMILAR.format(in_scope(db, scope) or "1")
    rows: list[tuple[Any, ...]] = []
    for count in np.unique(counts)[::-1].tolist():
        chosen = json.dumps(numbers[counts == count].tolist())
        read = db.execute(statement, (chosen, lookup.min_words, lookup.max_words)).fetchall()
        rows += sorted(read, key=lambda row: (row[2], row[1]))
        if len(rows) > limit:
            break
    candidates = tuple(
        Candidate(id, path, 0, minhash, None if bits is None else unsigned64(bits))
        for _, id, path, minhash, bits in rows[:limit]
    )
    return Candidates(candidates, cut=len(rows) > limit)


def _expression(spellings: Sequence[str]) -> str:
    return f"text : ({' OR '.join(term_expression(Term(text)) for text in spellings)})"


def _rows_of(db: sqlite3.Connection, keys: Sequence[str], limit: int) -> list[NDArray[np.int32]]:
    """Return the rows that have each word, up to `limit`, which are kept."""
    cache = read_cache(db)
    return cache.carriers(keys, limit, lambda missing: rows_with(db, missing, limit))


# Rows that have a word, counted for many words by one statement with one row.

_COUNTS = (
    "SELECT group_concat(number, ' ') FROM ("
    "SELECT (SELECT count(*) FROM {} WHERE fulltext MATCH j.value AND {}) AS number "
    "FROM json_each(?) j ORDER BY j.key LIMIT -1)"
)
_JOINED = "fulltext JOIN documents d ON d.number = fulltext.rowid"


def document_frequencies(
    db: sqlite3.Connection, scope: Scope, words: Sequence[str]
) -> dict[str, int]:
    """Return how many rows of a scope have each word, in title or text."""
    within = in_scope(db, scope)
    statement = _COUNTS.format(_JOINED if within else "fulltext", within or "1")
    expressions = json.dumps([term_expression(Term(word)) for word in words])
    joined: str = db.execute(statement, (expressions,)).fetchone()[0]
    return dict(zip(words, map(int, joined.split()), strict=True))
