"""Matches of a search in SQLite, in order, and counts of them; each match is read once."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from indexer.model import Facet, Query
from indexer.stores.filters import FACET_VALUES, facet_field
from indexer.stores.sqlite import columns as packed
from indexer.stores.sqlite import parts_sql as parts
from indexer.stores.sqlite.filtered_rows import rows_under
from indexer.stores.sqlite.match_expressions import (
    WITHOUT,
    excluding_expression,
    match_expression,
)
from indexer.stores.sqlite.ranking import (
    CARRIERS,
    has_cached_scores,
    rank,
    read_numbers,
    rows_to_rank,
    rows_with_any,
    term_scores,
)
from indexer.text.query_syntax import SearchWords

if TYPE_CHECKING:
    from indexer.stores.sqlite.file import File

_MOST_SORTED = 2_000  # matches that are sorted at first, if there are more
_SPARSE = 20  # numbers for each that is counted
_ORDER = {"relevance": "", "path": "", "modified": "d.modified IS NULL, d.modified DESC, "}
_JOINED = "fulltext JOIN documents d ON d.number = fulltext.rowid"
_SELECTED = "SELECT number, {} FROM documents WHERE number IN (SELECT value FROM json_each(?))"
_BY_PATH = " ORDER BY path, id"
_MOST_TIED = 1_000  # rows that are read at once, to be ordered
_NO_SCORES: Mapping[int, float] = {}


@dataclass(frozen=True)
class FullTextMatches:
    """The numbers of the rows that match with their scores, or in order without these; distinct
    families, and facets, where requested.

    `unranked`: rows that have no score because a query allows that; theirs is 0.
    """

    numbers: NDArray[np.int64]
    scores: NDArray[np.float64] | None
    families: int | None
    facets: dict[str, tuple[Facet, ...]]
    unranked: int = 0

    @cached_property
    def best(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The rows of the best scores, and these, in descending order; none of those that are not
        ranked. Equal scores are all among them, or none is.
        """
        if self.scores is None:
            return self.numbers[:0], np.zeros(0)
        places = best_places(self.scores)
        return self.numbers[places], self.scores[places]

    def pages(self, file: File, columns: str, size: int) -> Iterator[list[tuple[Any, ...]]]:
        """Yield columns of the matches after their scores, best first, about `size` at a time.

        Rows of the same score, of which a search for one word has many, are in the order of path,
        then of id. A row deleted since is left out.
        """
        if self.scores is None:
            yield from _read_in_order(file, columns, self.numbers, size)
            return
        numbers, scores = self.best
        yield from _ranked_pages(file, columns, numbers, scores, size)
        for places in _other_places(self.scores, len(numbers)):
            numbers, scores = self.numbers[places], self.scores[places]
            yield from _ranked_pages(file, columns, numbers, scores, size)


def best_places(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the places of the best scores in descending order, none of the score 0, which rows
    have that were not ranked. Equal scores are all among them, or none is.
    """
    places = np.flatnonzero(scores)
    if len(places) > _MOST_SORTED:
        least = np.partition(scores, -_MOST_SORTED)[-_MOST_SORTED]
        places = np.flatnonzero(scores >= least)
    return places[np.argsort(-scores[places], kind="stable")]


def _other_places(scores: NDArray[np.float64], best: int) -> Iterator[NDArray[np.int64]]:
    """Yield the places of the scores after the `best` ones, descending, those of 0 apart."""
    if best == len(scores):
        return
    places = np.argsort(-scores, kind="stable")[best:]
    yield places[scores[places] > 0]
    yield places[scores[places] == 0]


def end_of_page(scores: NDArray[np.float64], end: int) -> int:
    """Return where a page of descending scores ends: at `end`, or later, after all scores that are
    equal to its last one.
    """
    if not 0 < end < len(scores):
        return min(end, len(scores))
    return int(np.searchsorted(-scores, -scores[end - 1], side="right"))


def _ranked_pages(
    file: File,
    columns: str,
    numbers: NDArray[np.int64],
    scores: NDArray[np.float64],
    size: int,
) -> Iterator[list[tuple[Any, ...]]]:
    """Yield pages of scores and columns of rows by descending score."""
    end = 0
    while (start := end) < len(numbers):
        end = end_of_page(scores, start + size)
        page, values = numbers[start:end], scores[start:end].tolist()
        score = dict(zip(page.tolist(), values, strict=True))
        is_long = len(page) > _MOST_TIED
        by_path = rows_by_path(file, "path" if is_long else columns, page)
        by_path.sort(key=lambda row: -score[row[0]])
        if is_long:
            ordered = np.array([number for number, *_ in by_path], dtype=np.int64)
            yield from _read_in_order(file, columns, ordered, size, score)
            continue
        ranked = [(score[number], *row) for number, *row in by_path]
        yield from (ranked[place : place + size] for place in range(0, len(ranked), size))


def rows_by_path(file: File, columns: str, numbers: NDArray[np.int64]) -> list[tuple[Any, ...]]:
    """Return number and columns of rows by path, then by id."""
    select = _SELECTED.format(columns) + _BY_PATH
    with file.reading() as db:
        return db.execute(select, (json.dumps(numbers.tolist()),)).fetchall()


def _read_in_order(
    file: File,
    columns: str,
    numbers: NDArray[np.int64],
    size: int,
    score: Mapping[int, float] = _NO_SCORES,
) -> Iterator[list[tuple[Any, ...]]]:
    """Yield pages of scores and columns of rows in the order of their numbers."""
    for start in range(0, len(numbers), size):
        page = numbers[start : start + size].tolist()
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
    numbers, scores, unranked = _ranked_matches(db, query, words, conditions, values)
    if not (query.facets or query.families):
        return FullTextMatches(numbers, scores, None, {}, unranked)
    families = parts.read_cache(db).columns.families(db, numbers)
    facets = {field: _facet(db, field, numbers, families) for field in fields}
    distinct = _count_distinct(families) if query.families else None
    return FullTextMatches(numbers, scores, distinct, facets, unranked)


def _ranked_matches(
    db: sqlite3.Connection,
    query: Query,
    words: SearchWords,
    conditions: Sequence[str],
    values: Sequence[str | float],
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None, int]:
    """Return the rows that match, with scores if there are words to score, else in order, and how
    many of them are not ranked.
    """
    is_ranked = query.sort == "relevance" and match_expression(words) is not None
    is_plain = is_ranked and not (conditions or words.required or words.excluded)
    is_scored = query.most_ranked is None or has_cached_scores(db, words.terms)
    if is_plain and is_scored and len(words.terms) == 1:
        return *term_scores(db, words.terms[0]), 0
    if is_plain:
        numbers = rows_with_any(db, words.terms)
    else:
        numbers = _matches(db, query, words, conditions, values)
    if not is_ranked:
        return numbers, None, 0
    chosen = rows_to_rank(db, words.terms, numbers, query.most_ranked)
    return numbers, rank(db, words.terms, numbers, chosen), len(numbers) - len(chosen)


def _matches(
    db: sqlite3.Connection,
    query: Query,
    words: SearchWords,
    conditions: Sequence[str],
    values: Sequence[str | float],
) -> NDArray[np.int64]:
    """Return the rows that match, in order if they are not ranked."""
    if conditions and query.sort == "relevance" and (text := match_expression(words)) is not None:
        numbers = read_numbers(db, CARRIERS, [text])
        rows = rows_under(db, conditions, values, len(numbers))
        if rows is not None:
            return numbers[_among(numbers, rows)]
    sql, every_value = _statement(query, words, conditions, values)
    if not (every_value or query.filters):  # all rows of a scope
        return _all_in_order(db, sql)
    return read_numbers(db, sql, every_value)


def _among(numbers: NDArray[np.int64], rows: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which of these numbers are among those of rows."""
    is_row = np.zeros(1 + max(int(numbers.max(initial=0)), int(rows.max(initial=0))), np.bool_)
    is_row[rows] = True
    return is_row[numbers]


def _all_in_order(db: sqlite3.Connection, sql: str) -> NDArray[np.int64]:
    """Return the rows of a statement without values, which are kept."""
    cache = parts.read_cache(db).orders
    if sql not in cache:
        cache[sql] = read_numbers(db, sql, ()).astype(np.int32)
    return cache[sql].astype(np.int64)


def _statement(
    query: Query, words: SearchWords, conditions: Sequence[str], values: Sequence[str | float]
) -> tuple[str, Sequence[str | float]]:
    """Return the statement that selects the numbers of matches, with its values; it reads no
    documents unless it must.
    """
    if left_out := excluding_expression(words):
        conditions, values = [*conditions, WITHOUT], [*values, left_out]
    expression = match_expression(words)
    is_ranked = query.sort == "relevance" and expression is not None
    needs_documents = bool(conditions) or not is_ranked
    if expression is None:
        table = "documents d"
    else:
        table = _JOINED if needs_documents else "fulltext"
        conditions, values = ["fulltext MATCH ?", *conditions], [expression, *values]
    number = "d.number" if needs_documents else "fulltext.rowid"
    where = " AND ".join(conditions) or "1"
    order = "" if is_ranked else f" ORDER BY {_ORDER[query.sort]}d.path, d.id"
    return f"SELECT {number} AS number FROM {table} WHERE {where}{order}", values


def _facet(
    db: sqlite3.Connection, field: str, numbers: NDArray[np.int64], families: NDArray[np.int32]
) -> tuple[Facet, ...]:
    """Return the most frequent values of a field in these rows, counted in documents and in
    families.

    `families`: the number of the family of each row.
    """
    column = parts.read_cache(db).columns.of_rows(db, packed.column(field), numbers)
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
