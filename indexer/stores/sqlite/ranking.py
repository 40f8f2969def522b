"""BM25 of several words in SQLite, with the weights of words that search engines give.

FTS5 weighs a word by ln((N - n + .5) / (n + .5)), where n of N documents have it, and gives one of
half the documents or more no weight at all. Where any word may match, that puts a document with one
rare word before one with all the others. Lucene adds 1 inside the logarithm.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from indexer.stores.sqlite import parts_sql as parts
from indexer.stores.sqlite.match_expressions import term_expression
from indexer.stores.sqlite.postings import parse_numbers
from indexer.text.query_syntax import Term

# a word of the title counts as two of the text
SCORE = "-bm25(fulltext, 2.0, 1.0)"
_SCORED = f"SELECT rowid AS number, {SCORE} AS score FROM fulltext WHERE fulltext MATCH ?"
# the sign keeps SQLite from searching once more for each row
_SCORED_SOME = f"{_SCORED} AND rowid >= ? AND +rowid IN (SELECT value FROM json_each(?))"
CARRIERS = "SELECT rowid AS number FROM fulltext WHERE fulltext MATCH ?"
_COUNT = "SELECT count(*) FROM fulltext WHERE fulltext MATCH ?"
_FEWEST_RANKED = 2_000  # rows that are scored at least, of each term
_ROWS = "SELECT count(*) FROM fulltext_docsize"
_FEWEST_CACHED = 20_000  # matches of one term from which on all its rows are scored, and kept
_LEAST = 1e-6  # FTS5's weight in place of one that is not positive
_FINE, _FINER = 2.0**40, 2.0**60
_IN_ONE = (
    f"SELECT group_concat(number, ' '), group_concat(CAST(score * {_FINE!r} AS INTEGER), ' '), "
    f"group_concat(CAST((score * {_FINE!r} - CAST(score * {_FINE!r} AS INTEGER)) "
    f"* {_FINER!r} AS INTEGER), ' ') "
    "FROM ({} LIMIT -1)"
)


def rows_to_rank(
    db: sqlite3.Connection, terms: Sequence[Term], numbers: NDArray[np.int64], most: int | None
) -> NDArray[np.int64]:
    """Return those of some rows that are scored: where that takes long, the last ones alone.

    `most`: rows that are scored, over all terms; None for any number.
    """
    if most is None or has_cached_scores(db, terms):
        return numbers
    share = max(_FEWEST_RANKED, most // len(terms))
    if len(numbers) <= share:
        return numbers
    return np.sort(numbers)[-share:]


def rank(
    db: sqlite3.Connection,
    terms: Sequence[Term],
    numbers: NDArray[np.int64],
    chosen: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return the score of each of these rows, the sum by the terms that it has; 0 of rows that are
    not among the `chosen` ones.
    """
    if not len(numbers):
        return np.zeros(0)
    is_cached = len(terms) > 1 or len(numbers) > _FEWEST_CACHED or has_cached_scores(db, terms)
    is_whole = len(chosen) == len(numbers) and is_cached
    read = term_scores if is_whole else partial(_scores_of_some, numbers=chosen)
    sums = np.zeros(1 + int(numbers.max()))
    for term in terms:
        carriers, values = read(db, term)
        is_in_range = carriers < len(sums)
        weight = _weight_ratio(*_frequency(db, term)) if len(terms) > 1 else 1.0
        sums[carriers[is_in_range]] += values[is_in_range] * weight
    if is_whole:
        return sums[numbers]
    scores = np.zeros_like(sums)
    scores[chosen] = sums[chosen]
    return scores[numbers]


def rows_with_any(db: sqlite3.Connection, terms: Sequence[Term]) -> NDArray[np.int64]:
    """Return the rows that have one of these terms, ascending."""
    carriers = [_carriers(db, term) for term in terms]
    has_term = np.zeros(1 + _last(carriers), dtype=np.bool_)
    for rows in carriers:
        has_term[rows] = True
    return np.flatnonzero(has_term)


def _last(rows: Sequence[NDArray[np.int64]]) -> int:
    """Return the greatest number, 0 of none."""
    return max((int(numbers.max(initial=0)) for numbers in rows), default=0)


def term_scores(
    db: sqlite3.Connection, term: Term
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the rows that have a term, ascending, and its score in each, as FTS5 weighs it.

    They are kept as long as the file does not change.
    """
    expression = term_expression(term)
    cache = parts.read_cache(db).scores
    return cache.of(expression, lambda: read_scores(db, _SCORED, [expression]))


def has_cached_scores(db: sqlite3.Connection, terms: Sequence[Term]) -> bool:
    """Return whether `term_scores` of these terms reads nothing."""
    cache = parts.read_cache(db).scores
    return all(term_expression(term) in cache for term in terms)


def _scores_of_some(
    db: sqlite3.Connection, term: Term, numbers: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return those of these rows that have a term, and its score in each, as FTS5 weighs it."""
    values = term_expression(term), int(numbers.min()), json.dumps(numbers.tolist())
    return read_scores(db, _SCORED_SOME, values)


def _carriers(db: sqlite3.Connection, term: Term) -> NDArray[np.int64]:
    """Return the rows that have a term, ascending."""
    if has_cached_scores(db, [term]):
        return term_scores(db, term)[0]
    return read_numbers(db, CARRIERS, [term_expression(term)])


def _frequency(db: sqlite3.Connection, term: Term) -> tuple[int, int]:
    """Return how many rows have a term, and how many rows there are."""
    expression = term_expression(term)
    carriers = parts.read_cache(db).scores.count(expression)
    if carriers is None:
        (carriers,) = db.execute(_COUNT, (expression,)).fetchone()
    return carriers, known_rows(db)


def known_rows(db: sqlite3.Connection) -> int:
    """Return how many rows the full text has, one a document, remembered as long as the file does
    not change: its table of sizes is read in a quarter of the time of an index of documents.
    """
    known = parts.read_cache(db).counts
    if _ROWS not in known:
        (known[_ROWS],) = db.execute(_ROWS).fetchone()
    return known[_ROWS]


def _weight_ratio(carriers: int, rows: int) -> float:
    """Return the weight of a word of `carriers` rows as a multiple of its weight in FTS5."""
    ratio = (rows - carriers + 0.5) / (carriers + 0.5)
    fts5 = math.log(ratio)
    return math.log1p(ratio) / (fts5 if fts5 > 0 else _LEAST)


def read_numbers(
    db: sqlite3.Connection, rows: str, values: Sequence[str | float]
) -> NDArray[np.int64]:
    """Return the numbers of a selection in its order, joined to a string by SQLite."""
    (joined,) = db.execute(f"SELECT group_concat(number, ' ') FROM ({rows} LIMIT -1)", values)
    return parse_numbers(joined[0] or "")


def read_scores(
    db: sqlite3.Connection, rows: str, values: Sequence[str | float]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return numbers and scores of a selection, joined to strings by SQLite.

    Stepping from row to row, threads would wait for each other at each row.

    A score comes as two whole numbers, because SQLite prints fewer digits than it has.
    """
    joined = db.execute(_IN_ONE.format(rows), values).fetchone()
    numbers, fine, finer = (
        np.fromstring(column or "", dtype=np.int64, sep=" ") for column in joined
    )
    return numbers, fine / _FINE + finer / (_FINE * _FINER)
