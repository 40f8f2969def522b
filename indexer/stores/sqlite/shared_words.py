"""Rows of a SQLite file that have most of the words of a short text."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from indexer.model import Candidate, Candidates, Scope, WordLookup
from indexer.sketch.codec import unsigned64
from indexer.stores.sqlite import parts_sql as parts
from indexer.stores.sqlite.match_expressions import term_expression
from indexer.stores.sqlite.postings import carriers
from indexer.stores.sqlite.shared_keys import count_shared
from indexer.text.query_syntax import Term

_AT_FIRST = 2_000  # rows of a word that are read before it is known how many there are
_ALL = -1
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
    words are read only where there are not enough others.
    """
    keys = [_expression(spellings) for spellings in lookup.words]
    first = _rows_of(db, keys, _AT_FIRST)
    frequent = [key for key, rows in zip(keys, first, strict=True) if len(rows) == _AT_FIRST]
    rows_by_word = [rows for rows in first if len(rows) < _AT_FIRST]
    absent = len(keys) - lookup.shared
    while frequent and len(rows_by_word) <= absent:
        rows_by_word += _rows_of(db, [frequent.pop()], _ALL)
    numbers, shared = count_shared(rows_by_word, len(rows_by_word) - absent)
    while frequent and len(numbers) > limit:
        rows_by_word += _rows_of(db, [frequent.pop()], _ALL)
        numbers, shared = count_shared(rows_by_word, len(rows_by_word) - absent)
    condition = parts.within(db, scope) or "1"
    values = json.dumps(numbers.tolist()), lookup.fewest_words, lookup.most_words
    rows = db.execute(_SIMILAR.format(condition), values).fetchall()
    count_of = dict(zip(numbers.tolist(), shared.tolist(), strict=True))
    rows.sort(key=lambda row: (-count_of[row[0]], row[2], row[1]))
    candidates = tuple(
        Candidate(id, path, 0, minhash, None if bits is None else unsigned64(bits))
        for _, id, path, minhash, bits in rows[:limit]
    )
    return Candidates(candidates, cut=len(rows) > limit)


def _expression(spellings: Sequence[str]) -> str:
    return f"text : ({' OR '.join(term_expression(Term(text)) for text in spellings)})"


def _rows_of(db: sqlite3.Connection, keys: Sequence[str], most: int) -> list[NDArray[np.int32]]:
    """Return the rows that have each word, `most` at most, which are kept."""
    cache = parts.read_cache(db)
    return cache.carriers(keys, most, lambda missing: carriers(db, missing, most, "fulltext"))
