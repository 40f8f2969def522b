"""BM25 of several words in SQLite, with the weights of words that search engines give.

FTS5 weighs a word by ln((N - n + .5) / (n + .5)), where n of N documents have it, and gives one of
half the documents or more no weight at all. Where any word may match, that puts a document with one
rare word before one with all the others. Lucene adds 1 inside the logarithm.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from indexer.stores.sqlite import parts_sql as parts
from indexer.stores.sqlite.match_expressions import term_expression
from indexer.stores.sqlite.postings import parse_numbers
from indexer.text.query_syntax import Term

# a word of the title counts as two of the text
SCORE = "-bm25(fulltext, 2.0, 1.0)"
_SCORED = f"SELECT rowid AS number, {SCORE} AS score FROM fulltext WHERE fulltext MATCH ?"
_ROWS = "SELECT count(*) FROM fulltext_docsize"
_LEAST = 1e-6  # FTS5's weight in place of one that is not positive
_FINE, _FINER = 2.0**40, 2.0**60
_IN_ONE = (
    f"SELECT group_concat(number, ' '), group_concat(CAST(score * {_FINE!r} AS INTEGER), ' '), "
    f"group_concat(CAST((score * {_FINE!r} - CAST(score * {_FINE!r} AS INTEGER)) "
    f"* {_FINER!r} AS INTEGER), ' ') "
    "FROM ({} LIMIT -1)"
)


def rank(
    db: sqlite3.Connection, terms: Sequence[Term], numbers: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the score of each of these rows by several terms, the sum of those that it has."""
    if not len(numbers):
        return np.zeros(0)
    (rows,) = db.execute(_ROWS).fetchone()
    carried = [term_scores(db, term) for term in terms]
    every_carrier = [carriers for carriers, _ in carried]
    scores = np.zeros(1 + _last([numbers, *every_carrier]))
    for carriers, values in carried:
        scores[carriers] += values * _weight_ratio(len(carriers), rows)
    return scores[numbers]


def rows_with_any(db: sqlite3.Connection, terms: Sequence[Term]) -> NDArray[np.int64]:
    """Return the rows that have one of these terms, ascending."""
    carriers = [term_scores(db, term)[0] for term in terms]
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
    kept = parts.kept_reads(db).scores
    return kept.of(expression, lambda: read_scores(db, _SCORED, [expression]))


def has_kept_scores(db: sqlite3.Connection, term: Term) -> bool:
    """Return whether `term_scores` of a term reads nothing."""
    return term_expression(term) in parts.kept_reads(db).scores


def scores_of_rows(
    db: sqlite3.Connection, term: Term, numbers: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the scores of rows that have a term, as FTS5 weighs it."""
    carriers, values = term_scores(db, term)
    scores = np.zeros(1 + _last([numbers, carriers]))
    scores[carriers] = values
    return scores[numbers]


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
