"""Matches of a search in SQLite, in order, and counts of them; each match is read once."""

from __future__ import annotations

import json
import math
import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from indexer.fingerprinting.hashing import distinct_values
from indexer.model import Facet, Query
from indexer.stores.filters import FACET_VALUES, facet_field
from indexer.stores.query_syntax import (
    And,
    DateRange,
    FieldValue,
    Near,
    Node,
    Not,
    Or,
    SearchWords,
    Term,
    TitleTerm,
    searchable,
    separate_characters,
)
from indexer.stores.sqlite import rows
from indexer.stores.sqlite.connections import MAX_ROWS, NO_TIME, last_number, parse_numbers
from indexer.stores.sqlite.rows import read_cache

if TYPE_CHECKING:
    from indexer.stores.sqlite.file import File


# The words of a query as expressions of FTS5.

# the sign keeps SQLite from searching once more for each row
WITHOUT = "+d.number NOT IN (SELECT rowid FROM fulltext WHERE fulltext MATCH ?)"
WITHIN_MATCHES = "+d.number IN (SELECT rowid FROM fulltext WHERE fulltext MATCH ?)"

MAX_SHARP = 4  # of a term, of which all combinations are looked for
_SHARP = re.compile("ss|[ßẞ]", re.IGNORECASE)


def match_expression(words: SearchWords) -> str | None:
    """Return the expression that finds documents; None without a word that must match.

    `excluding_expression` and `other_conditions` hold besides.
    """
    words = words.without_rank()
    groups = words.required or ((words.optional,) if words.optional else ())
    positive = [*map(_any_of, groups), *filter(None, map(_expression, words.conditions))]
    if not positive:
        return None
    joined = " AND ".join(positive)
    return f"({joined}) NOT {_any_of(words.excluded)}" if words.excluded else joined


def excluding_expression(words: SearchWords) -> str | None:
    """Return the expression of documents to leave out, if `match_expression` is None."""
    is_needed = words.excluded and match_expression(words) is None
    return _any_of(words.excluded) if is_needed else None


def other_conditions(words: SearchWords) -> tuple[list[str], list[str | float]]:
    """Return what `match_expression` leaves out of a query as conditions on documents `d`, and
    their values.
    """
    conditions: list[str] = []
    values: list[str | float] = []
    for node in words.conditions:
        if _expression(node) is None:
            condition, compared = _condition(node)
            conditions.append(condition)
            values += compared
    return conditions, values


def _expression(node: Node) -> str | None:
    """Return the expression of a condition; None where FTS5 has none for it."""
    if isinstance(node, Term):
        return term_expression(node)
    if isinstance(node, TitleTerm):
        return f"({{title}} : {term_expression(node.term)})"
    if isinstance(node, Near):
        return _near_expression(node)
    if isinstance(node, Or):
        return _joined(" OR ", node.nodes)
    if isinstance(node, And):
        excluded = [each.node for each in node.nodes if isinstance(each, Not)]
        required = _joined(" AND ", [each for each in node.nodes if not isinstance(each, Not)])
        without = _joined(" OR ", excluded)
        if excluded:
            return required and without and f"({required} NOT {without})"
        return required
    return None


def _joined(operator: str, nodes: Sequence[Node]) -> str | None:
    expressions = [_expression(node) for node in nodes]
    if not expressions or None in expressions:
        return None
    return f"({operator.join(filter(None, expressions))})"


def _near_expression(near: Near) -> str:
    """Return the expression of a distance; FTS5 counts the words between two phrases."""
    pairs = product(
        chain.from_iterable(map(_phrases, near.left)),
        chain.from_iterable(map(_phrases, near.right)),
    )
    return f"({' OR '.join(f'NEAR({a} {b}, {near.distance - 1})' for a, b in pairs)})"


def _condition(node: Node) -> tuple[str, list[str | float]]:
    """Return a condition on documents `d`, and the values it is compared with."""
    if isinstance(node, And | Or):
        parts = [_condition(each) for each in node.nodes]
        operator = " AND " if isinstance(node, And) else " OR "
        joined = operator.join(condition for condition, _ in parts)
        return f"({joined})", [value for _, values in parts for value in values]
    if isinstance(node, Not):
        condition, values = _condition(node.node)
        return f"NOT {condition}", values
    if isinstance(node, FieldValue):
        return _value_condition(node)
    if isinstance(node, DateRange):
        bounds = {"d.date >= ?": node.minimum, "d.date < ?": node.below}
        limits = {test: limit for test, limit in bounds.items() if limit is not None}
        return f"coalesce({' AND '.join(limits)}, 0)", list(limits.values())
    return WITHIN_MATCHES, [_expression(node) or ""]


def _value_condition(value: FieldValue) -> tuple[str, list[str | float]]:
    """Return the condition that a field has a value."""
    if value.field == "type":
        types = value.content_types
        condition = " OR ".join(["instr(lower(d.content_type), ?) = 1"] * len(types))
        return f"({condition})", [*types]
    column = {"path": "d.path", "label": "d.labels"}.get(value.field, "d.metadata")
    compared: list[str | float] = [value.field, value.text, value.is_prefix]
    return f"nearfold_holds_value({column}, ?, ?, ?)", compared


def term_expression(term: Term) -> str:
    """Return a term in FTS5's quotes, where only a quote and NUL mean anything.

    A term holds no quote. FTS5 folds case letter by letter, so each ss and ß stands for either; the
    s at the end of a prefix may be the first half of ß. A term with ligatures and the like is also
    looked for as it is written, for the rows of an earlier nearfold.

    >>> term_expression(Term("STRASSE")), term_expression(Term("gros", is_prefix=True))
    ('("STRASSE" OR "STRAßE")', '("gros"* OR "groß"*)')
    """
    quoted = _phrases(term)
    return quoted[0] if len(quoted) == 1 else f"({' OR '.join(quoted)})"


def _phrases(term: Term) -> list[str]:
    """Return the ways of writing a term, in FTS5's quotes."""
    texts = dict.fromkeys((searchable(term.text), separate_characters(term.text)))
    spellings = [each for text in texts for each in _spellings(text.replace("\0", " "))]
    if term.is_prefix:
        spellings += [text[:-1] + "ß" for text in spellings if text[-1:] in ("s", "S")]
    star = "*" if term.is_prefix else ""
    return [f'"{text}"{star}' for text in spellings]


def _spellings(text: str) -> list[str]:
    """Return a text as it is, and with ß for ss and ss for ß; all of them beyond `MAX_SHARP`."""
    parts = _SHARP.split(text)
    if len(parts) == 1:
        return [text]
    written = _SHARP.findall(text)
    if len(written) > MAX_SHARP:
        return list(dict.fromkeys([text, "ss".join(parts), "ß".join(parts)]))
    choices = product(*map(_characters, written))
    return ["".join(chain(*zip(parts, [*choice, ""], strict=True))) for choice in choices]


def _characters(written: str) -> list[str]:
    """Return both ways of writing ss or ß, one of them as it is written."""
    return list({characters.lower(): characters for characters in ("ss", "ß", written)}.values())


def _any_of(terms: Sequence[Term]) -> str:
    return "(" + " OR ".join(map(term_expression, terms)) + ")"


# BM25 of several words in SQLite, with the weights of words that search engines give.

# a word of the title counts as two of the text
SCORE = "-bm25(fulltext, 2.0, 1.0)"
_SCORED = f"SELECT rowid AS number, {SCORE} AS score FROM fulltext WHERE fulltext MATCH ?"
# the sign keeps SQLite from searching once more for each row
_SCORED_SOME = f"{_SCORED} AND rowid >= ? AND +rowid IN (SELECT value FROM json_each(?))"
CARRIERS = "SELECT rowid AS number FROM fulltext WHERE fulltext MATCH ?"
_COUNT = "SELECT count(*) FROM fulltext WHERE fulltext MATCH ?"
_MIN_RANKED = 2_000  # rows that are scored at least, of each term
_ROWS = "SELECT count(*) FROM fulltext_docsize"
_MIN_CACHED = 20_000  # matches of one term from which on all its rows are scored, and kept
_MIN_WEIGHT = 1e-6  # FTS5's weight instead of one that is not positive
_FINE, _FINER = 2.0**40, 2.0**60
_IN_ONE = (
    f"SELECT group_concat(number, ' '), group_concat(CAST(score * {_FINE!r} AS INTEGER), ' '), "
    f"group_concat(CAST((score * {_FINE!r} - CAST(score * {_FINE!r} AS INTEGER)) "
    f"* {_FINER!r} AS INTEGER), ' ') "
    "FROM ({} LIMIT -1)"
)


def rows_to_rank(
    db: sqlite3.Connection, terms: Sequence[Term], numbers: NDArray[np.int64], limit: int | None
) -> NDArray[np.int64]:
    """Return the rows that are scored: where that takes long, only the last ones.

    `limit`: rows that are scored, over all terms; None for any number.
    """
    if limit is None or has_cached_scores(db, terms):
        return numbers
    fraction = max(_MIN_RANKED, limit // len(terms))
    if len(numbers) <= fraction:
        return numbers
    return np.sort(numbers)[-fraction:]


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
    is_cached = len(terms) > 1 or len(numbers) > _MIN_CACHED or has_cached_scores(db, terms)
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
    for numbers in carriers:
        has_term[numbers] = True
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
    cache = read_cache(db).scores
    return cache.of(expression, lambda: read_scores(db, _SCORED, [expression]))


def has_cached_scores(db: sqlite3.Connection, terms: Sequence[Term]) -> bool:
    """Return whether `term_scores` of these terms reads nothing."""
    cache = read_cache(db).scores
    return all(term_expression(term) in cache for term in terms)


def _scores_of_some(
    db: sqlite3.Connection, term: Term, numbers: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the rows that have a term, and its score in each, as FTS5 weighs it."""
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
    carriers = read_cache(db).scores.count(expression)
    if carriers is None:
        (carriers,) = db.execute(_COUNT, (expression,)).fetchone()
    return carriers, known_rows(db)


def known_rows(db: sqlite3.Connection) -> int:
    """Return how many rows the full text has, one a document, remembered as long as the file does
    not change: its table of sizes is read in a quarter of the time of an index of documents.
    """
    known = read_cache(db).counts
    if _ROWS not in known:
        (known[_ROWS],) = db.execute(_ROWS).fetchone()
    return known[_ROWS]


def _weight_ratio(carriers: int, rows: int) -> float:
    """Return the weight of a word of `carriers` rows as a multiple of its weight in FTS5."""
    ratio = (rows - carriers + 0.5) / (carriers + 0.5)
    fts5 = math.log(ratio)
    return math.log1p(ratio) / (fts5 if fts5 > 0 else _MIN_WEIGHT)


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


# The rows that filters leave, kept for the searches of other words under the same filters.

HOLDS = "nearfold_holds"  # a function of Python, called for each row
_FEW = 8  # one in so many rows, of which each is looked up


def rows_under(
    db: sqlite3.Connection, conditions: Sequence[str], values: Sequence[str | float], matches: int
) -> NDArray[np.int32] | None:
    """Return the numbers of all rows for which conditions on documents `d` hold.

    None where it takes less time to look up each of the `matches` of a search.
    """
    cache = read_cache(db).filtered
    where = " AND ".join(conditions)
    key = where, tuple(values)
    kept = cache.get(key)
    if kept is not None:
        return kept
    if HOLDS in where or matches * _FEW < known_rows(db):
        return None
    sql = f"SELECT d.number AS number FROM documents d WHERE {where}"
    rows = read_numbers(db, sql, values).astype(np.int32)
    cache.put(key, rows)
    return rows


_MAX_SORTED = 2_000  # matches that are sorted at first, if there are more
_SPARSE = 20  # numbers for each that is counted
_ORDER = {
    "relevance": "",
    "path": "",
    "modified": "d.modified IS NULL, d.modified DESC, ",
    "newest": "d.date IS NULL, d.date DESC, ",
    "oldest": "d.date IS NULL, d.date, ",
}
_TIMED = {"modified": "modified", "newest": "date", "oldest": "date"}
_ALL = "SELECT d.number AS number FROM documents d WHERE 1 ORDER BY d.path, d.id"
_JOINED = "fulltext JOIN documents d ON d.number = fulltext.rowid"
_SELECTED = "SELECT number, {} FROM documents WHERE number IN (SELECT value FROM json_each(?))"
_BY_PATH = " ORDER BY path, id"
_MAX_TIED = 1_000  # rows that are read at once, to be ordered
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
        positions = best_positions(self.scores)
        return self.numbers[positions], self.scores[positions]

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
        for positions in _other_positions(self.scores, len(numbers)):
            numbers, scores = self.numbers[positions], self.scores[positions]
            yield from _ranked_pages(file, columns, numbers, scores, size)


def best_positions(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the positions of the best scores in descending order, none of the score 0, which rows
    have that were not ranked. Equal scores are all among them, or none is.
    """
    positions = np.flatnonzero(scores)
    if len(positions) > _MAX_SORTED:
        minimum = np.partition(scores, -_MAX_SORTED)[-_MAX_SORTED]
        positions = np.flatnonzero(scores >= minimum)
    return positions[np.argsort(-scores[positions], kind="stable")]


def _other_positions(scores: NDArray[np.float64], best: int) -> Iterator[NDArray[np.int64]]:
    """Yield the positions after the `best` scores, descending; scores of 0 come separately."""
    if best == len(scores):
        return
    positions = np.argsort(-scores, kind="stable")[best:]
    yield positions[scores[positions] > 0]
    yield positions[scores[positions] == 0]


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
        is_long = len(page) > _MAX_TIED
        by_path = rows_by_path(file, "path" if is_long else columns, page)
        by_path.sort(key=lambda row: -score[row[0]])
        if is_long:
            ordered = np.array([number for number, *_ in by_path], dtype=np.int64)
            yield from _read_in_order(file, columns, ordered, size, score)
            continue
        ranked = [(score[number], *row) for number, *row in by_path]
        yield from (ranked[position : position + size] for position in range(0, len(ranked), size))


def rows_by_path(file: File, columns: str, numbers: NDArray[np.int64]) -> list[tuple[Any, ...]]:
    """Return number and columns of rows by path, then by id."""
    select = _SELECTED.format(columns) + _BY_PATH
    with file.reader() as db:
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
        with file.reader() as db:
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
    others, compared = other_conditions(words)
    conditions, values = [*conditions, *others], [*values, *compared]
    numbers, scores, unranked = _ranked_matches(db, query, words, conditions, values)
    if not (query.facets or query.families):
        return FullTextMatches(numbers, scores, None, {}, unranked)
    families = read_cache(db).columns.families(db, numbers)
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
    is_ranked = query.sort == "relevance" and bool(words.terms)
    is_plain = is_ranked and not (
        conditions or words.required or words.excluded or words.conditions
    )
    is_scored = query.max_ranked is None or has_cached_scores(db, words.terms)
    if is_plain and is_scored and len(words.terms) == 1:
        return *term_scores(db, words.terms[0]), 0
    if is_plain:
        numbers = rows_with_any(db, words.terms)
    else:
        numbers = _matches(db, query, words, conditions, values)
    if not is_ranked:
        return numbers, None, 0
    chosen = rows_to_rank(db, words.terms, numbers, query.max_ranked)
    return numbers, rank(db, words.terms, numbers, chosen), len(numbers) - len(chosen)


def _matches(
    db: sqlite3.Connection,
    query: Query,
    words: SearchWords,
    conditions: Sequence[str],
    values: Sequence[str | float],
) -> NDArray[np.int64]:
    """Return the rows that match, in order if they are not ranked."""
    is_sorted = query.sort != "relevance"
    if (conditions or is_sorted) and (text := match_expression(words)) is not None:
        numbers = read_numbers(db, CARRIERS, [text])
        rows = rows_under(db, conditions, values, len(numbers)) if conditions else None
        if rows is not None:
            numbers = numbers[_among(numbers, rows)]
        is_matched = not conditions or rows is not None
        if is_matched and not is_sorted:
            return numbers
        if is_matched and _has_order(db, numbers):
            return _in_order(db, query.sort, numbers)
    sql, every_value = _statement(query, words, conditions, values)
    if not (every_value or query.filters):  # all rows of a scope
        return _all_in_order(db, sql, query.sort)
    return read_numbers(db, sql, every_value)


def _among(numbers: NDArray[np.int64], rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which of these numbers are numbers of rows."""
    is_row = np.zeros(1 + max(int(numbers.max(initial=0)), int(rows.max(initial=0))), np.bool_)
    is_row[rows] = True
    return is_row[numbers]


def _all_in_order(db: sqlite3.Connection, sql: str, sort: str = "path") -> NDArray[np.int64]:
    """Return the rows of a statement without values, in the order of its end, which are kept."""
    cache = read_cache(db).orders
    if sql not in cache:
        rows, _, _order = sql.partition(" ORDER BY ")
        is_timed = sort in _TIMED and last_number(db) < MAX_ROWS
        numbers = read_numbers(db, rows if is_timed else sql, ())
        cache[sql] = (_in_order(db, sort, numbers) if is_timed else numbers).astype(np.int32)
    return cache[sql].astype(np.int64)


def _has_order(db: sqlite3.Connection, numbers: NDArray[np.int64]) -> bool:
    """Return whether these rows are ordered by an order of all rows, which is kept, or pays."""
    if last_number(db) >= MAX_ROWS:
        return False
    return _ALL in read_cache(db).orders or len(numbers) * _FEW >= known_rows(db)


def _in_order(db: sqlite3.Connection, sort: str, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return rows in an order, those of the same time by path."""
    every_row = _all_in_order(db, _ALL)
    by_path = every_row[_among(every_row, numbers)]
    if sort == "path":
        return by_path
    times = read_cache(db).columns.times(db, _TIMED[sort], by_path)
    if sort == "oldest":
        times[times == NO_TIME] = -NO_TIME
    return by_path[np.argsort(times if sort == "oldest" else -times, kind="stable")]


def _statement(
    query: Query, words: SearchWords, conditions: Sequence[str], values: Sequence[str | float]
) -> tuple[str, Sequence[str | float]]:
    """Return the statement that selects the numbers of matches, with its values; it reads no
    documents unless it must.
    """
    if left_out := excluding_expression(words):
        conditions, values = [*conditions, WITHOUT], [*values, left_out]
    expression = match_expression(words)
    is_ranked = query.sort == "relevance" and bool(words.terms)
    needs_documents = bool(conditions) or not is_ranked or expression is None
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
    column = read_cache(db).columns.of_rows(db, rows.column_name(field), numbers)
    counts = np.bincount(column.codes, minlength=len(column.values)).tolist()
    positions: dict[str, list[int]] = defaultdict(list)
    documents: Counter[str] = Counter()
    for value, position in column.values.items():
        for name in _values(field, value) if counts[position] and value else ():
            positions[name].append(position)
            documents[name] += counts[position]
    limit = sorted(documents.items(), key=lambda item: (-item[1], item[0]))[:FACET_VALUES]
    has_value = np.zeros(len(counts), dtype=np.bool_)
    facets = []
    for name, count in limit:
        has_value[:] = False
        has_value[positions[name]] = True
        within = _count_distinct(families[has_value[column.codes]])
        facets.append(Facet(name, count, within))
    return tuple(facets)


def _values(field: str, stored: str) -> Iterable[str]:
    """Return the values of a field that a column holds as one: each label of a set once."""
    return sorted(set(json.loads(stored))) if field == "labels" else (stored,)


def _count_distinct(numbers: NDArray[np.int32]) -> int:
    """Return how many different numbers there are, 0 or more each."""
    limit = int(numbers.max(initial=0))
    if len(numbers) * _SPARSE < limit:
        return len(distinct_values(numbers))
    return int(np.count_nonzero(np.bincount(numbers, minlength=1)))
