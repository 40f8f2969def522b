"""Connections to a SQLite file, with the functions that our queries use, and the cache of what
each read, valid as long as the file does not change.

Look-ups of different documents read much the same: the rows of keys that many rows carry, the first
rows by path, the lengths and the sketches of rows that share keys with many. So do folded
searches, with the statuses of hits. Postings, lengths, statuses and sketches are bounded, and what
does not fit is read again; the rows by path, 8 bytes each, may be of the whole file.
"""

from __future__ import annotations

import json
import re
import sqlite3
import threading
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from indexer.stores.fields import named_date
from indexer.stores.query_syntax import MAX_WORDS, FieldValue
from indexer.system.external_memory import LruCache

MAX_CONNECTIONS = 4
# the other characters than `WORD_CHARACTERS`: Python takes long to compile those
_NO_WORD = r"\x00-/:-@\[-`{-\x7f"


def open_connection(path: str, pragmas: Sequence[str], timeout: float) -> Connection:
    """Open a connection without implicit transactions, which threads may pass on.

    `timeout`: seconds to wait for a writer.
    """
    db = sqlite3.connect(
        path,
        uri=True,
        timeout=timeout,
        isolation_level=None,
        check_same_thread=False,
        factory=Connection,
    )
    try:
        for pragma in pragmas:
            db.execute(f"PRAGMA {pragma}")
        db.create_function("nearfold_holds", 3, _holds, deterministic=True)
        db.create_function("nearfold_holds_value", 4, _holds_value, deterministic=True)
        db.create_function("nearfold_date", 3, _date, deterministic=True)
        db.create_function("nearfold_member", 2, _member, deterministic=True)
        db.create_function("nearfold_set", 1, sorted_set, deterministic=True)
    except BaseException:
        db.close()
        raise
    return db


class Connection(sqlite3.Connection):
    """A connection with a cache of what was read by it.

    `cached`: the state of the file, by `PRAGMA data_version` and the changes of this connection,
    and the cache, which is valid in that state.
    """

    cached: tuple[tuple[int, int], ReadCache] | None = None

    def read_cache(self) -> ReadCache:
        """Return the cache of what was read since the last change."""
        state = self._state()
        if self.cached is None or self.cached[0] != state:
            self.cached = state, ReadCache()
        return self.cached[1]

    def keep_reads(self, cache: ReadCache) -> None:
        """Keep what was read before this transaction changed what it does not depend on."""
        self.cached = self._state(), cache

    def _state(self) -> tuple[int, int]:
        return int(self.execute("PRAGMA data_version").fetchone()[0]), self.total_changes


class Readers:
    """Connections that only read, so that a short read need not wait for a long one.

    At most `MAX_CONNECTIONS`, each used by one thread at a time; opened when first needed, then
    pooled.
    """

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._slots = threading.BoundedSemaphore(MAX_CONNECTIONS)
        self._lock = threading.Lock()
        self._idle: list[Connection] = []
        self._closed = 0

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Lend a connection as soon as one is free; raises what connecting does."""
        with self._slots:
            with self._lock:
                db = self._idle.pop() if self._idle else None
                times_closed = self._closed
            db = db or self._connect()
            try:
                yield db
            finally:
                with self._lock:
                    is_current = times_closed == self._closed
                    if is_current:
                        self._idle.append(db)
                if not is_current:
                    db.close()

    def forget_reads(self) -> None:
        """Discard what the idle connections keep."""
        with self._lock:
            for db in self._idle:
                db.cached = None

    def close(self) -> None:
        """Close the idle connections now, and the others when they are returned."""
        with self._lock:
            self._closed += 1
            idle, self._idle = self._idle, []
        for db in idle:
            db.close()


def _holds(packed: str, name: str | None, value: str) -> bool:
    """Return whether a JSON object has a member with that value or, without a name, whether a JSON
    array has that item.

    SQLite's own JSON functions end a string at NUL.
    """
    decoded = json.loads(packed)
    return value in decoded if name is None else decoded.get(name) == value


def _member(packed: str, name: str) -> str:
    """Return a member of a JSON object of texts, empty without one."""
    return str(json.loads(packed).get(name, ""))


def _date(metadata: str, content_type: str, modified: int | None) -> int | None:
    return named_date(json.loads(metadata), content_type, modified)[0]


def _holds_value(stored: str, field: str, text: str, is_prefix: int) -> bool:
    """Return whether a value is among labels as a JSON array, in a path, or in metadata as a JSON
    object.
    """
    if field == "label":
        labels, of_field = json.loads(stored), f"={text}"
        if "=" in text:  # it names its field
            return any(label.startswith(text) if is_prefix else label == text for label in labels)
        if is_prefix:
            return any(label.startswith(text) or of_field in label for label in labels)
        return any(label == text or label.endswith(of_field) for label in labels)
    whole = stored if field == "path" else json.loads(stored).get(field, "")
    return bool(_value_pattern(field, text, is_prefix).search(whole)) if text else bool(whole)


@lru_cache(maxsize=MAX_WORDS)  # a query has no more values, each compared with every row
def _value_pattern(field: str, text: str, is_prefix: int) -> re.Pattern[str]:
    value = FieldValue(field, text, bool(is_prefix))
    start = f"(?<![^{_NO_WORD}])" if value.starts else ""
    end = f"(?![^{_NO_WORD}])" if value.ends else ""
    return re.compile(f"{start}{value.pattern()}{end}")


def sorted_set(packed: str) -> str:
    """Return a JSON array of texts, sorted and without repetitions.

    >>> sorted_set('["b", "a", "b"]')
    '["a", "b"]'
    """
    return json.dumps(sorted(set(json.loads(packed)))) if packed != "[]" else packed


# Rows that have a word, read for all words by one statement with one row.

_CARRIERS = (
    "SELECT group_concat(coalesce(numbers, ''), ';') FROM ("
    "SELECT (SELECT group_concat(rowid, ' ') FROM "
    "(SELECT rowid FROM fulltext WHERE fulltext MATCH j.value LIMIT ?)) AS numbers "
    "FROM json_each(?) j ORDER BY j.key LIMIT -1)"
)


def rows_with(
    db: sqlite3.Connection, expressions: Sequence[str], limit: int
) -> list[NDArray[np.int64]]:
    """Return the numbers of the rows that match each expression, only the oldest `limit` of them.

    A negative `limit` stands for any number.
    """
    if not expressions:
        return []
    joined: str = db.execute(_CARRIERS, (limit, json.dumps(expressions))).fetchone()[0]
    return [parse_numbers(numbers) for numbers in joined.split(";")]


def parse_numbers(joined: str) -> NDArray[np.int64]:
    """Return numbers that SQLite joined by blanks; none of an empty string."""
    return np.fromstring(joined, dtype=np.int64, sep=" ") if joined else np.zeros(0, dtype=np.int64)


# Caches of what searches read of a SQLite file, valid as long as it does not change.

MAX_SCORES = 1 << 21  # rows of words, 12 bytes each
MAX_ROWS = 1 << 22  # of a file whose columns are cached, 4 bytes each and column
_WORD_OVERHEAD = 50  # cost of a word itself, in cache entries
_BATCH = 10_000
_FEW = 8  # one in so many rows, up to which columns of these rows alone are read
Numbers: TypeAlias = NDArray[np.int64]
Scores: TypeAlias = tuple[Numbers, NDArray[np.float64]]

YEAR = "strftime('%Y', d.date / 1000.0, 'unixepoch')"
CACHED = ("d.status", "d.content_type", "d.labels", "d.custodian", YEAR, "d.extractor")
_BY_VALUES = (
    f"SELECT {', '.join(CACHED)}, group_concat(d.number, ' ') FROM documents d "
    "GROUP BY 1, 2, 3, 4, 5, 6"
)
_SOME = "SELECT d.number, {} FROM documents d WHERE d.number IN (SELECT value FROM json_each(?))"
_LABELS = "SELECT number, labels FROM documents WHERE {} IN (SELECT value FROM json_each(?))"
NO_TIME = np.iinfo(np.int64).min + 1  # before all others, and its opposite after them
_TIMES = (
    "SELECT group_concat(number, ' '), group_concat({0}, ' ') FROM documents WHERE {0} IS NOT NULL"
)
_FAMILIES = (
    "SELECT group_concat(d.number, ' '), group_concat(coalesce(p.number, -1), ' ') "
    "FROM documents d LEFT JOIN documents p ON p.id = d.family WHERE d.family <> ''"
)


@dataclass(slots=True)
class Column:
    """A column of rows: its distinct values, and the index of each row's value among them."""

    values: dict[str, int]
    codes: NDArray[np.int32]


class ScoreCache:
    """The rows of the words that were looked up last, with their scores."""

    def __init__(self) -> None:
        self._words = LruCache[str, tuple[NDArray[np.int32], NDArray[np.float64]]](
            MAX_SCORES, lambda cached: _WORD_OVERHEAD + len(cached[0])
        )

    def __contains__(self, expression: str) -> bool:
        """Return whether the entries of a word are cached."""
        return expression in self._words

    def count(self, expression: str) -> int | None:
        """Return how many rows have a word; None if they are not cached."""
        cached = self._words.peek(expression)
        return None if cached is None else len(cached[0])

    def of(self, expression: str, read: Callable[[], Scores]) -> Scores:
        """Return the rows of a word and their scores; `read` gives those not cached."""
        cached = self._words.get(expression)
        if cached is not None:
            return cached[0].astype(np.int64), cached[1]
        numbers, scores = read()
        self._words.put(expression, (numbers.astype(np.int32), scores))
        return numbers, scores


class ColumnCache:
    """The columns `CACHED` of all rows, and their families, by the number of the row.

    A few rows are read alone while nothing is cached, and other columns always.
    """

    def __init__(self) -> None:
        self._columns: dict[str, Column] = {}
        self._families: NDArray[np.int32] | None = None
        self._times: dict[str, Numbers] = {}

    def times(self, db: sqlite3.Connection, name: str, numbers: Numbers) -> Numbers:
        """Return a column of times of these rows, `NO_TIME` where one has none."""
        if name not in self._times:
            joined = db.execute(_TIMES.format(name)).fetchone()
            rows, times = (parse_numbers(column or "") for column in joined)
            column = np.full(last_number(db) + 1, NO_TIME)
            column[rows] = times
            self._times[name] = column
        return self._times[name][numbers]

    def of_rows(self, db: sqlite3.Connection, name: str, numbers: Numbers) -> Column:
        """Return a column of these rows, of documents `d`."""
        if not self._columns and name in CACHED:
            last = last_number(db)
            if not _is_few(numbers, last):
                self._columns = _read_columns(db, last)
        if name not in self._columns:
            return _column_of_some(db, name, numbers)
        column = self._columns[name]
        return Column(column.values, column.codes[numbers])

    def families(self, db: sqlite3.Connection, numbers: Numbers) -> NDArray[np.int32]:
        """Return a number for the family of each of these rows, the same for the same family."""
        if self._families is None:
            last = last_number(db)
            if _is_few(numbers, last):
                return _column_of_some(db, "d.in_family", numbers).codes
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
                column.codes[number] = column.values.setdefault(labels, len(column.values))


def last_number(db: sqlite3.Connection) -> int:
    """Return the highest number of a row, 0 if there is none."""
    return int(db.execute("SELECT coalesce(max(number), 0) FROM documents").fetchone()[0])


def _is_few(numbers: Numbers, last: int) -> bool:
    return last >= MAX_ROWS or _FEW * len(numbers) < last


def _read_columns(db: sqlite3.Connection, last: int) -> dict[str, Column]:
    """Return the columns `CACHED` by name; 0 is the code of a row that does not exist."""
    columns = [Column({}, np.zeros(last + 1, dtype=np.int32)) for _ in CACHED]
    for *values, joined in db.execute(_BY_VALUES):
        numbers = parse_numbers(joined)
        for column, value in zip(columns, values, strict=True):
            column.codes[numbers] = column.values.setdefault(value, len(column.values))
    return dict(zip(CACHED, columns, strict=True))


def _column_of_some(db: sqlite3.Connection, name: str, numbers: Numbers) -> Column:
    rows = db.execute(_SOME.format(name), (json.dumps(numbers.tolist()),))
    values: dict[str, int] = {}
    read, positions = array("q"), array("i")
    while batch := rows.fetchmany(_BATCH):
        number, column = zip(*batch, strict=True)
        read.extend(number)
        positions.extend([values.setdefault(value, len(values)) for value in column])
    by_number = np.zeros(1 + int(numbers.max(initial=0)), dtype=np.int32)
    by_number[np.frombuffer(read, np.int64)] = np.frombuffer(positions, np.int32)
    return Column(values, by_number[numbers])


def _read_families(db: sqlite3.Connection, last: int) -> NDArray[np.int32]:
    """Return for each row the number of the row that its family is named after.

    Where that row is gone, a number after the numbers of all rows.
    """
    families = np.arange(last + 1, dtype=np.int32)
    members, named = (parse_numbers(joined or "") for joined in db.execute(_FAMILIES).fetchone())
    families[members] = named
    gone = members[named < 0]
    if len(gone):
        families[gone] = last + 1 + _column_of_some(db, "d.family", gone).codes
    return families


MAX_CARRIERS = 1 << 22  # numbers of rows, 4 bytes each
MAX_SKETCHES = 1 << 18  # of 128 bytes in the default recipe
MAX_FILTERS = 8  # whose rows are kept, 4 bytes each
MAX_NUMBERS = 1 << 20  # of rows, each with its row's number of 8 bytes
K = TypeVar("K", str, int)
_ENTRIES_OF_KEY = 50  # as which a key counts, in addition to its rows


class ReadCache:
    """A cache of reads of one state of a file.

    `counts`: rows by what was counted. `by_path`: the numbers of the first rows in the index of
    paths, and `last_path` the path of the last. `sorted_rows`: how many were read to be sorted.
    `orders`: the numbers of all rows by the statement that reads them. `filtered`: the numbers of
    rows by the conditions that they meet, and their values.
    """

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.by_path = np.zeros(0, dtype=np.int64)
        self.last_path = ""
        self.sorted_rows = 0
        self.words = NumberCache(np.int32)
        self.statuses = NumberCache(np.int8)
        self.sketches = SketchCache()
        self.orders: dict[str, NDArray[np.int32]] = {}
        self.filtered = LruCache[tuple[str, tuple[str | float, ...]], NDArray[np.int32]](
            MAX_FILTERS
        )
        self.scores = ScoreCache()
        self.columns = ColumnCache()
        self._carriers = LruCache[tuple[str | int, int], NDArray[np.int32]](
            MAX_CARRIERS, lambda numbers: _ENTRIES_OF_KEY + len(numbers)
        )

    def carriers(
        self, keys: Sequence[K], limit: int, read: Callable[[Sequence[K]], Sequence[Numbers]]
    ) -> list[NDArray[np.int32]]:
        """Return the rows that carry each key or word, at most `limit`; `read` gives those not
        kept.
        """
        kept = {key: self._carriers.get((key, limit)) for key in keys}
        missing = [key for key in keys if kept[key] is None]
        rows = {key: numbers for key, numbers in kept.items() if numbers is not None}
        for key, numbers in zip(missing, read(missing), strict=True):
            rows[key] = numbers.astype(np.int32)
        for key in dict.fromkeys(missing):
            self._carriers.put((key, limit), rows[key])
        return [rows[key] for key in keys]


class RowCache:
    """Values of rows, each at the position that the row's number gives it.

    A row that comes to the slot of another takes it.
    """

    def __init__(self, values: NDArray[Any]) -> None:
        self.values = values
        self._numbers: Numbers = np.zeros(len(values), dtype=np.int64)

    def get(self, numbers: Numbers) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """Return the values of rows, and which of these rows have none here, whatever is returned
        for them.
        """
        positions = numbers % len(self.values)
        return self.values[positions], np.flatnonzero(self._numbers[positions] != numbers)

    def keep(self, numbers: Numbers, values: NDArray[Any]) -> None:
        """Keep the values of rows."""
        positions = numbers % len(self.values)
        self.values[positions] = values
        self._numbers[positions] = numbers


class NumberCache:
    """A number of each row, such as the number of its words."""

    def __init__(self, dtype: DTypeLike) -> None:
        self._rows = RowCache(np.zeros(MAX_NUMBERS, dtype=dtype))

    def of(self, numbers: Numbers, read: Callable[[Numbers], Numbers]) -> NDArray[Any]:
        """Return the numbers of rows; `read` returns the numbers of rows not cached, in order."""
        values, missing = self._rows.get(numbers)
        if len(missing):
            values[missing] = read(numbers[missing])
            self._rows.keep(numbers[missing], values[missing])
        return values


class SketchCache:
    """Packed sketches of rows.

    Values of the first request are not cached, so that a process that looks up one document takes
    no memory for others.
    """

    def __init__(self) -> None:
        self._is_first = True
        self._rows = RowCache(np.zeros((0, 0), dtype=np.uint8))

    def packed(
        self, numbers: Numbers, width: int, read: Callable[[Numbers], dict[int, bytes]]
    ) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
        """Return the sketches of `width` bytes of rows, (rows, width), and which rows have one.

        `read` gives those not kept that have one, by number.
        """
        if self._is_first:
            self._is_first = False
            return _read_sketches(numbers, width, read)
        if self._rows.values.shape[1] != width:
            self._rows = RowCache(np.zeros((MAX_SKETCHES, width), dtype=np.uint8))
        sketches, missing = self._rows.get(numbers)
        is_known = np.ones(len(numbers), dtype=np.bool_)
        if len(missing):
            sketches[missing], is_known[missing] = _read_sketches(numbers[missing], width, read)
            missing = missing[is_known[missing]]
            self._rows.keep(numbers[missing], sketches[missing])
        return sketches, is_known


def _read_sketches(
    numbers: Numbers, width: int, read: Callable[[Numbers], dict[int, bytes]]
) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return the sketches of rows, zeros where there is none, and which rows have one."""
    by_number, nothing = read(numbers), bytes(width)
    joined = b"".join(by_number.get(number, nothing) for number in numbers.tolist())
    packed = np.frombuffer(joined, dtype=np.uint8).reshape(len(numbers), width)
    is_known = np.array([number in by_number for number in numbers.tolist()], dtype=np.bool_)
    return packed, is_known
