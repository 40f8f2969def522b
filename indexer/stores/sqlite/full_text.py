"""Matches of a search in SQLite, in order, and counts of them; each match is read once."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from indexer.model import Facet, Query
from indexer.stores.filters import FACET_VALUES, facet_field
from indexer.stores.sqlite import columns as packed
from indexer.stores.sqlite import parts_sql as parts
from indexer.stores.sqlite.match_expressions import (
    WITHOUT,
    excluding_expression,
    match_expression,
)
from indexer.stores.sqlite.ranking import (
    SCORE,
    has_kept_scores,
    rank,
    read_numbers,
    read_scores,
    rows_with_any,
    scores_of_rows,
    term_scores,
)
from indexer.text.query_syntax import SearchWords, Term

if TYPE_CHECKING:
    from indexer.stores.sqlite.file import File

PAGE = 100
_MOST_SORTED = 20_000  # matches that are sorted at once, if there are more
_SPARSE = 20  # numbers for each that is counted
_ORDER = {"relevance": "", "path": "", "modified": "d.modified IS NULL, d.modified DESC, "}
_JOINED = "fulltext JOIN documents d ON d.number = fulltext.rowid"
_SELECTED = "SELECT number, {} FROM documents WHERE number IN (SELECT value FROM json_each(?))"
_BY_PATH = " ORDER BY path, id"
_MOST_TIED = 1_000  # rows that are read at once, to be ordered
_NO_SCORES: Mapping[int, float] = {}


@dataclass(frozen=True, slots=True)
class FullTextMatches:
    """The numbers of the rows that match with their scores, or in order without these; distinct
    families, and facets, where requested.
    """

    numbers: NDArray[np.int64]
    scores: NDArray[np.float64] | None
    families: int | None
    facets: dict[str, tuple[Facet, ...]]

    def pages(self, file: File, columns: str) -> Iterator[list[tuple[Any, ...]]]:
        """Yield columns of the matches after their scores, best first, about a hundred at a time.

        Rows of the same score, of which a search for one word has many, are in the order of path,
        then of id. A row deleted since is left out.
        """
        if self.scores is None:
            yield from _read_in_order(file, columns, self.numbers)
            return
        for places in _best_first(self.scores):
            yield from _ranked_pages(file, columns, self.numbers[places], self.scores[places])


def _best_first(scores: NDArray[np.float64]) -> Iterator[NDArray[np.int64]]:
    """Yield the places of all scores in descending order, in two parts if they are many.

    Equal scores are in one part. The second part is sorted when it is needed.
    """
    if len(scores) <= _MOST_SORTED:
        yield np.argsort(-scores, kind="stable")
        return
    least = np.partition(scores, -_MOST_SORTED)[-_MOST_SORTED]
    for is_part in (scores >= least, scores < least):
        places = np.flatnonzero(is_part)
        yield places[np.argsort(-scores[places], kind="stable")]


def _ranked_pages(
    file: File, columns: str, numbers: NDArray[np.int64], scores: NDArray[np.float64]
) -> Iterator[list[tuple[Any, ...]]]:
    """Yield pages of scores and columns of rows by descending score."""
    count = len(numbers)
    ends = np.append(np.flatnonzero(np.diff(scores)) + 1, count)
    end = 0
    while (start := end) < count:
        end = int(ends[np.searchsorted(ends, min(start + PAGE, count))])
        page, values = numbers[start:end], scores[start:end].tolist()
        score = dict(zip(page.tolist(), values, strict=True))
        is_long = len(page) > _MOST_TIED
        by_path = _rows_by_path(file, "path" if is_long else columns, page)
        by_path.sort(key=lambda row: -score[row[0]])
        if is_long:
            ordered = np.array([number for number, *_ in by_path], dtype=np.int64)
            yield from _read_in_order(file, columns, ordered, score)
            continue
        ranked = [(score[number], *row) for number, *row in by_path]
        yield from (ranked[place : place + PAGE] for place in _steps(len(ranked)))


def _rows_by_path(file: File, columns: str, numbers: NDArray[np.int64]) -> list[tuple[Any, ...]]:
    """Return number and columns of rows by path, then by id."""
    select = _SELECTED.format(columns) + _BY_PATH
    with file.reading() as db:
        return db.execute(select, (json.dumps(numbers.tolist()),)).fetchall()


def _read_in_order(
    file: File, columns: str, numbers: NDArray[np.int64], score: Mapping[int, float] = _NO_SCORES
) -> Iterator[list[tuple[Any, ...]]]:
    """Yield pages of scores and columns of rows in the order of their numbers."""
    for start in _steps(len(numbers)):
        page = numbers[start : start + PAGE].tolist()
        with file.reading() as db:
            rows = db.execute(_SELECTED.format(columns), (json.dumps(page),)).fetchall()
        by_number = {number: row for number, *row in rows}
        yield [(score.get(number), *by_number[number]) for number in page if number in by_number]


def full_text_matches(
    db: sqlite3.Connection,
    query: Query,
    words: SearchWords,
    conditions: Sequence[str],
    values: Sequence[str | float],
) -> FullTextMatches:
    """Return all matches of a query for which the conditions on documents `d` hold.

    They have scores if there are words to score, else they are in order.

    Documents are in another tree than the words, and are read only if a condition or a count needs
    them. All rows in an order, and the rows of a word, are kept as long as the file does not
    change.
    """
    fields = [facet_field(name) for name in query.facets]
    numbers: NDArray[np.int64]
    scores: NDArray[np.float64] | None
    is_plain = not (conditions or words.required or words.excluded)
    if is_plain and words.terms and query.sort == "relevance":
        numbers, scores = _any_word(db, words.terms)
    else:
        numbers, scores = _matches(db, query, words, conditions, values)
    if not (query.facets or query.families):
        return FullTextMatches(numbers, scores, None, {})
    families = parts.kept_reads(db).columns.families(db, numbers)
    facets = {field: _facet(db, field, numbers, families) for field in fields}
    distinct = _count_distinct(families) if query.families else None
    return FullTextMatches(numbers, scores, distinct, facets)


def _any_word(
    db: sqlite3.Connection, terms: Sequence[Term]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the rows with one of these terms, and their scores."""
    if len(terms) == 1:
        return term_scores(db, terms[0])
    numbers = rows_with_any(db, terms)
    return numbers, rank(db, terms, numbers)


def _matches(
    db: sqlite3.Connection,
    query: Query,
    words: SearchWords,
    conditions: Sequence[str],
    values: Sequence[str | float],
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
    """Return the rows that match, with scores if there are words to score, else in order."""
    is_kept = len(words.terms) == 1 and has_kept_scores(db, words.terms[0])
    statement = _statement(query, words, conditions, values, is_kept)
    if statement.is_scored:
        return read_scores(db, statement.sql, statement.values)
    if not (statement.values or query.filters):  # all rows of a scope
        return _all_in_order(db, statement.sql), None
    numbers = read_numbers(db, statement.sql, statement.values)
    if is_kept and statement.is_ranked:
        return numbers, scores_of_rows(db, words.terms[0], numbers)
    return numbers, rank(db, words.terms, numbers) if statement.is_ranked else None


def _all_in_order(db: sqlite3.Connection, sql: str) -> NDArray[np.int64]:
    """Return the rows of a statement without values, which are kept."""
    kept = parts.kept_reads(db).orders
    if sql not in kept:
        kept[sql] = read_numbers(db, sql, ()).astype(np.int32)
    return kept[sql].astype(np.int64)


@dataclass(frozen=True, slots=True)
class _Statement:
    """A statement that selects number and score of matches, with its values.

    `is_ranked`: matches go by score. `is_scored`: the statement computes the scores.
    """

    sql: str
    values: Sequence[str | float]
    is_ranked: bool
    is_scored: bool


def _statement(
    query: Query,
    words: SearchWords,
    conditions: Sequence[str],
    values: Sequence[str | float],
    is_kept: bool,
) -> _Statement:
    """Return the statement of a query; it reads no documents unless it must.

    `is_kept`: the scores of its only word are there already.
    """
    if left_out := excluding_expression(words):
        conditions, values = [*conditions, WITHOUT], [*values, left_out]
    expression = match_expression(words)
    is_ranked = query.sort == "relevance" and expression is not None
    is_scored = is_ranked and len(words.terms) == 1 and not is_kept
    needs_documents = bool(conditions) or not is_ranked
    if expression is None:
        table = "documents d"
    else:
        table = _JOINED if needs_documents else "fulltext"
        conditions, values = ["fulltext MATCH ?", *conditions], [expression, *values]
    number = "d.number" if needs_documents else "fulltext.rowid"
    score = f", {SCORE} AS score" if is_scored else ""
    where = " AND ".join(conditions) or "1"
    order = "" if is_ranked else f" ORDER BY {_ORDER[query.sort]}d.path, d.id"
    sql = f"SELECT {number} AS number{score} FROM {table} WHERE {where}{order}"
    return _Statement(sql, values, is_ranked, is_scored)


def _facet(
    db: sqlite3.Connection, field: str, numbers: NDArray[np.int64], families: NDArray[np.int32]
) -> tuple[Facet, ...]:
    """Return the most frequent values of a field in these rows, counted in documents and in
    families.

    `families`: the number of the family of each row.
    """
    column = parts.kept_reads(db).columns.of_rows(db, packed.column(field), numbers)
    counts = np.bincount(column.places, minlength=len(column.values)).tolist()
    places: dict[str, list[int]] = defaultdict(list)
    documents: Counter[str] = Counter()
    for value, place in column.values.items():
        for name in _values(field, value) if counts[place] else ():
            places[name].append(place)
            documents[name] += counts[place]
    most = sorted(documents.items(), key=lambda item: (-item[1], item[0]))[:FACET_VALUES]
    has_value = np.zeros(len(counts), dtype=np.bool_)
    facets = []
    for name, count in most:
        has_value[:] = False
        has_value[places[name]] = True
        within = _count_distinct(families[has_value[column.places]])
        facets.append(Facet(name, count, within))
    return tuple(facets)


def _values(field: str, stored: str) -> Iterable[str]:
    """Return the values of a field that a column holds as one: each label of a set once."""
    return sorted(set(json.loads(stored))) if field == "labels" else (stored,)


def _count_distinct(numbers: NDArray[np.int32]) -> int:
    """Return how many different numbers there are, 0 or more each."""
    most = int(numbers.max(initial=0))
    if len(numbers) * _SPARSE < most:
        return len(np.unique(numbers))
    return int(np.count_nonzero(np.bincount(numbers, minlength=1)))


def _steps(count: int) -> range:
    return range(0, count, PAGE)
