"""Matches of a search in SQLite, in order, and counts of them; each match is read once."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from indexer.model import Facet, Query
from indexer.stores.filters import FACET_VALUES, facet_field
from indexer.stores.sqlite import columns as packed
from indexer.stores.sqlite.match_expressions import (
    WITHOUT,
    excluding_expression,
    match_expression,
)
from indexer.stores.sqlite.ranking import SCORE, rank, read_scores
from indexer.text.query_syntax import SearchWords
from indexer.text.word_numbers import number_strings

if TYPE_CHECKING:
    from indexer.stores.sqlite.file import File

PAGE, _BATCH = 100, 10_000
_ORDER = {"relevance": "", "path": "", "modified": "d.modified IS NULL, d.modified DESC, "}
_JOINED = "fulltext JOIN documents d ON d.number = fulltext.rowid"
_SELECTED = "SELECT number, {} FROM documents WHERE number IN (SELECT value FROM json_each(?))"
_BY_PATH = " ORDER BY path, id"
_MOST_TIED = 1_000  # rows that are read at once, to be ordered
_NO_SCORES: Mapping[int, float] = {}


@dataclass(frozen=True, slots=True)
class FullTextMatches:
    """The numbers of the rows that match, best first, with their scores; distinct families, and
    facets, where requested.

    Rows of the same score, of which a search for one word has many, are in any order here: `pages`
    orders them by path, then by id.
    """

    numbers: NDArray[np.int64]
    scores: NDArray[np.float64] | None
    families: int | None
    facets: dict[str, tuple[Facet, ...]]

    def pages(self, file: File, columns: str) -> Iterator[list[tuple[Any, ...]]]:
        """Yield columns of the matches after their scores, in order, about a hundred at a time.

        A row deleted since is left out.
        """
        count = len(self.numbers)
        if self.scores is None:
            yield from _read_in_order(file, columns, self.numbers.tolist())
            return
        ends = np.append(np.flatnonzero(np.diff(self.scores)) + 1, count)
        end = 0
        while (start := end) < count:
            end = int(ends[np.searchsorted(ends, min(start + PAGE, count))])
            numbers, scores = self.numbers[start:end].tolist(), self.scores[start:end].tolist()
            score = dict(zip(numbers, scores, strict=True))
            is_long = len(numbers) > _MOST_TIED
            by_path = _rows_by_path(file, "path" if is_long else columns, numbers)
            by_path.sort(key=lambda row: -score[row[0]])
            if is_long:
                ordered = [number for number, *_ in by_path]
                yield from _read_in_order(file, columns, ordered, score)
                continue
            ranked = [(score[number], *row) for number, *row in by_path]
            yield from (ranked[place : place + PAGE] for place in _steps(len(ranked)))


def _rows_by_path(file: File, columns: str, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
    """Return number and columns of rows by path, then by id."""
    with file.reading() as db:
        return db.execute(_SELECTED.format(columns) + _BY_PATH, (json.dumps(numbers),)).fetchall()


def _read_in_order(
    file: File, columns: str, numbers: Sequence[int], score: Mapping[int, float] = _NO_SCORES
) -> Iterator[list[tuple[Any, ...]]]:
    """Yield pages of scores and columns of rows in the order of their numbers."""
    for start in _steps(len(numbers)):
        page = numbers[start : start + PAGE]
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

    They are in order of score if there are words to score.

    Documents are in another tree than the words, and are read only if a condition or a count needs
    them.
    """
    fields = [facet_field(name) for name in query.facets]
    counted = [packed.column(field) for field in fields]
    if fields or query.families:
        counted.append(packed.column("family"))  # facets count families, too
    statement = _statement(query, words, conditions, values, counted)
    if counted:
        rows = db.execute(statement.sql, statement.values)
        numbers, scores, columns = _read(rows, len(counted))
    else:
        numbers, scores = read_scores(db, statement.sql, statement.values)
        columns = []
    if statement.is_ranked:
        scores = scores if statement.is_scored else rank(db, words.terms, numbers)
        best = np.argsort(-scores, kind="stable")
        numbers, scores = numbers[best], scores[best]
    facets = {
        field: _facet(field, column, columns[-1].places)
        for field, column in zip(fields, columns, strict=False)
    }
    return FullTextMatches(
        numbers,
        scores if statement.is_ranked else None,
        len(columns[-1].values) if query.families else None,
        facets,
    )


@dataclass(frozen=True, slots=True)
class _Statement:
    """A statement that selects number, score and further columns of matches, with its values.

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
    columns: Sequence[str],
) -> _Statement:
    """Return the statement of a query; it reads no documents unless it must."""
    if left_out := excluding_expression(words):
        conditions, values = [*conditions, WITHOUT], [*values, left_out]
    expression = match_expression(words)
    is_ranked = query.sort == "relevance" and expression is not None
    is_scored = is_ranked and len(words.terms) == 1
    needs_documents = bool(columns or conditions) or not is_ranked
    if expression is None:
        table = "documents d"
    else:
        table = _JOINED if needs_documents else "fulltext"
        conditions, values = ["fulltext MATCH ?", *conditions], [expression, *values]
    number = "d.number" if needs_documents else "fulltext.rowid"
    score = SCORE if is_scored else "0"
    selected = ", ".join([f"{number} AS number", f"{score} AS score", *columns])
    where = " AND ".join(conditions) or "1"
    order = "" if is_ranked else f" ORDER BY {_ORDER[query.sort]}d.path, d.id"
    sql = f"SELECT {selected} FROM {table} WHERE {where}{order}"
    return _Statement(sql, values, is_ranked, is_scored)


@dataclass(slots=True)
class _Column:
    """A column: the distinct values by first appearance, and for each row the place of its value
    among them.
    """

    values: dict[str, int]
    places: NDArray[np.int64]


def _read(
    matches: sqlite3.Cursor, count: int
) -> tuple[NDArray[np.int64], NDArray[np.float64], list[_Column]]:
    """Return numbers, scores, and the columns after them, in little memory for many rows."""
    numbers, scores = array("q"), array("d")
    values: list[dict[str, int]] = [{} for _ in range(count)]
    places = [array("q") for _ in range(count)]
    while rows := matches.fetchmany(_BATCH):
        number, score, *columns = zip(*rows, strict=True)
        numbers.extend(number)
        scores.extend(score)
        for distinct, place, column in zip(values, places, columns, strict=True):
            place.extend(distinct.setdefault(value, len(distinct)) for value in column)
    columns_read = [
        _Column(distinct, np.frombuffer(place, np.int64))
        for distinct, place in zip(values, places, strict=True)
    ]
    return np.frombuffer(numbers, np.int64), np.frombuffer(scores), columns_read


def _facet(field: str, column: _Column, families: NDArray[np.int64]) -> tuple[Facet, ...]:
    """Return the most frequent values of a field, counted in documents and in families.

    `families`: for each row the number of its family, from 0.
    """
    numbers, distinct = column.places, list(column.values)
    if field == "labels":
        labels = [sorted(set(json.loads(packed))) for packed in distinct]
        labelled = [
            (place, label)
            for place, number in enumerate(numbers.tolist())
            for label in labels[number]
        ]
        families = families[[place for place, _ in labelled]]
        numbers, distinct = number_strings([label for _, label in labelled])
    span = 1 + int(families.max(initial=0))
    documents = np.bincount(numbers, minlength=len(distinct)).tolist()
    within = np.bincount(
        np.unique(numbers * span + families) // span, minlength=len(distinct)
    ).tolist()
    counted = map(Facet, distinct, documents, within)
    return tuple(sorted(counted, key=lambda facet: (-facet.documents, facet.value))[:FACET_VALUES])


def _steps(count: int) -> range:
    return range(0, count, PAGE)
