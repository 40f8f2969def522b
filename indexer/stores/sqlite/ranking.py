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

from indexer.stores.sqlite.match_expressions import term_expression
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
    order = np.argsort(numbers)
    ascending = numbers[order]
    scores = np.zeros(len(numbers))
    if not len(numbers):
        return scores
    (rows,) = db.execute(_ROWS).fetchone()
    for term in terms:
        carriers, values = read_scores(db, _SCORED, [term_expression(term)])
        places = np.searchsorted(ascending, carriers)
        places[places == len(ascending)] = 0
        is_ranked = ascending[places] == carriers
        weight = _weight_ratio(len(carriers), rows)
        scores[order[places[is_ranked]]] += values[is_ranked] * weight
    return scores


def _weight_ratio(carriers: int, rows: int) -> float:
    """Return the weight of a word of `carriers` rows as a multiple of its weight in FTS5."""
    ratio = (rows - carriers + 0.5) / (carriers + 0.5)
    fts5 = math.log(ratio)
    return math.log1p(ratio) / (fts5 if fts5 > 0 else _LEAST)


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
