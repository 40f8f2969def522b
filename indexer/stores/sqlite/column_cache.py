"""Caches of what searches read of a SQLite file, valid as long as it does not change.

The rows of a word, and all rows in an order, are read once for all pages of a search and for those
after it. The columns that facets count are read for the whole file by the first search that matches
many rows; labels that the connection writes itself are followed.
"""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.stores.sqlite.postings import parse_numbers

MOST_SCORES = 1 << 21  # rows of words, 12 bytes each
MOST_ROWS = 1 << 22  # of a file whose columns are cached, 4 bytes each and column
_ENTRIES_OF_WORD = 50  # as which a word counts, beside its rows
_BATCH = 10_000
_FEW = 8  # one in so many rows, up to which columns of these rows alone are read
Numbers: TypeAlias = NDArray[np.int64]
Scores: TypeAlias = tuple[Numbers, NDArray[np.float64]]

CACHED = ("d.status", "d.content_type", "d.labels")
_BY_VALUES = (
    f"SELECT {', '.join(CACHED)}, group_concat(d.number, ' ') FROM documents d GROUP BY 1, 2, 3"
)
_SOME = "SELECT d.number, {} FROM documents d WHERE d.number IN (SELECT value FROM json_each(?))"
_LABELS = "SELECT number, labels FROM documents WHERE {} IN (SELECT value FROM json_each(?))"
_FAMILIES = (
    "SELECT group_concat(d.number, ' '), group_concat(coalesce(p.number, -1), ' ') "
    "FROM documents d LEFT JOIN documents p ON p.id = d.family WHERE d.family <> ''"
)


@dataclass(slots=True)
class Column:
    """A column of rows: its distinct values, and for each row the place of its value among them."""

    values: dict[str, int]
    places: NDArray[np.int32]


class ScoreCache:
    """The rows of the words that were asked for last, with their scores."""

    def __init__(self) -> None:
        self._words: OrderedDict[str, tuple[NDArray[np.int32], NDArray[np.float64]]] = OrderedDict()
        self._entries = 0

    def __contains__(self, expression: str) -> bool:
        """Return whether those of a word are cached."""
        return expression in self._words

    def count(self, expression: str) -> int | None:
        """Return how many rows have a word; None if they are not cached."""
        cached = self._words.get(expression)
        return None if cached is None else len(cached[0])

    def of(self, expression: str, read: Callable[[], Scores]) -> Scores:
        """Return the rows of a word and their scores; `read` gives those not cached."""
        cached = self._words.get(expression)
        if cached is not None:
            self._words.move_to_end(expression)
            return cached[0].astype(np.int64), cached[1]
        numbers, scores = read()
        self._words[expression] = numbers.astype(np.int32), scores
        self._entries += _ENTRIES_OF_WORD + len(numbers)
        while self._entries > MOST_SCORES:
            _, (oldest, _) = self._words.popitem(last=False)
            self._entries -= _ENTRIES_OF_WORD + len(oldest)
        return numbers, scores


class ColumnCache:
    """The columns `CACHED` of all rows, and their families, by the number of the row.

    A few rows are read alone while nothing is cached, and other columns always.
    """

    def __init__(self) -> None:
        self._columns: dict[str, Column] = {}
        self._families: NDArray[np.int32] | None = None

    def of_rows(self, db: sqlite3.Connection, name: str, numbers: Numbers) -> Column:
        """Return a column of these rows, of documents `d`."""
        if not self._columns and name in CACHED:
            last = _last_number(db)
            if not _is_few(numbers, last):
                self._columns = _read_columns(db, last)
        if name not in self._columns:
            return _column_of_some(db, name, numbers)
        column = self._columns[name]
        return Column(column.values, column.places[numbers])

    def families(self, db: sqlite3.Connection, numbers: Numbers) -> NDArray[np.int32]:
        """Return a number for the family of each of these rows, the same for the same family."""
        if self._families is None:
            last = _last_number(db)
            if _is_few(numbers, last):
                return _column_of_some(db, "d.in_family", numbers).places
            self._families = _read_families(db, last)
        return self._families[numbers]

    def relabel(self, db: sqlite3.Connection, ids: Iterable[str]) -> None:
        """Follow new labels of these ids and of their parts."""
        column = self._columns.get("d.labels")
        if column is None:
            return
        packed = json.dumps(list(ids))
        for field in ("id", "parent"):
            for number, labels in db.execute(_LABELS.format(field), (packed,)):
                column.places[number] = column.values.setdefault(labels, len(column.values))


def _last_number(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT coalesce(max(number), 0) FROM documents").fetchone()[0])


def _is_few(numbers: Numbers, last: int) -> bool:
    return last >= MOST_ROWS or _FEW * len(numbers) < last


def _read_columns(db: sqlite3.Connection, last: int) -> dict[str, Column]:
    """Return the columns `CACHED` by name; 0 is the place of a row that does not exist."""
    columns = [Column({}, np.zeros(last + 1, dtype=np.int32)) for _ in CACHED]
    for *values, joined in db.execute(_BY_VALUES):
        numbers = parse_numbers(joined)
        for column, value in zip(columns, values, strict=True):
            column.places[numbers] = column.values.setdefault(value, len(column.values))
    return dict(zip(CACHED, columns, strict=True))


def _column_of_some(db: sqlite3.Connection, name: str, numbers: Numbers) -> Column:
    rows = db.execute(_SOME.format(name), (json.dumps(numbers.tolist()),))
    values: dict[str, int] = {}
    read, places = array("q"), array("i")
    while batch := rows.fetchmany(_BATCH):
        number, column = zip(*batch, strict=True)
        read.extend(number)
        places.extend([values.setdefault(value, len(values)) for value in column])
    by_number = np.zeros(1 + int(numbers.max(initial=0)), dtype=np.int32)
    by_number[np.frombuffer(read, np.int64)] = np.frombuffer(places, np.int32)
    return Column(values, by_number[numbers])


def _read_families(db: sqlite3.Connection, last: int) -> NDArray[np.int32]:
    """Return for each row the number of the row that its family is named after.

    Where that row is gone, a number after those of all rows.
    """
    families = np.arange(last + 1, dtype=np.int32)
    members, named = (parse_numbers(joined or "") for joined in db.execute(_FAMILIES).fetchone())
    families[members] = named
    gone = members[named < 0]
    if len(gone):
        families[gone] = last + 1 + _column_of_some(db, "d.family", gone).places
    return families
