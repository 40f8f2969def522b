"""Reads of rows in a SQLite file: by id, in order of id, and by full text."""

from __future__ import annotations

import json
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from indexer.model import Query, RankedRow, Row, Scope
from indexer.stores.abilities import Outline
from indexer.stores.base import Ranking, SketchRow
from indexer.stores.filters import FAMILY_FILTERS, FOLDER, family_value, metadata_name, range_of
from indexer.stores.query_syntax import parse_query
from indexer.stores.sqlite import families, rows
from indexer.stores.sqlite.file_format import recipe_in_use
from indexer.stores.sqlite.full_text import (
    FullTextMatches,
    end_of_page,
    full_text_matches,
    rows_by_path,
)
from indexer.stores.sqlite.rows import (
    STATUSES,
    WITHIN,
    in_scope,
    sketches_of,
    statuses_of,
    whole_rows,
    words_of,
)
from indexer.wording import well_formed

if TYPE_CHECKING:
    from indexer.stores.sqlite.file import File


# Sketches of the hits of a search in a SQLite file, without their ids and paths.


class FileSketches:
    """The sketches of the best matches of a search after its `first` ones."""

    def __init__(self, file: File, matches: FullTextMatches, first: int) -> None:
        self._file, self._first = file, first
        self._ranked, self._scores = matches.best
        self._numbers = self._ranked[:0]

    @property
    def first(self) -> int:
        """The hits that are not among these."""
        return self._first

    def best(self, window: int) -> list[SketchRow]:
        """Return the best hits after the first ones, `window` with these.

        A row that is gone since has no sketch.
        """
        self._numbers = self._best(window)
        with self._file.reader() as db:
            width = recipe_in_use(db).sketch_bytes
            packed, is_sketched = sketches_of(db, self._numbers, width)
            words = words_of(db, self._numbers)
            statuses = statuses_of(db, self._numbers)
        joined = packed.tobytes()
        sketches: list[bytes | None] = [
            joined[start : start + width] for start in range(0, len(joined), width)
        ]
        for position in np.flatnonzero(~is_sketched):
            sketches[position] = None
        scores = self._scores[self._first : self._first + len(self._numbers)].tolist()
        names = [STATUSES[status] for status in statuses.tolist()]
        counts = [None if count < 0 else count for count in words.tolist()]
        return list(map(SketchRow, scores, names, sketches, counts))

    def _best(self, window: int) -> NDArray[np.int64]:
        """Return the numbers of these hits; of the last ones of one score, the first by path."""
        whole = end_of_page(self._scores, window)
        if whole <= window:
            return self._ranked[self._first : whole]
        start = int(np.searchsorted(-self._scores, -self._scores[whole - 1]))
        tied = rows_by_path(self._file, "path", self._ranked[start:whole])
        last = np.array([number for number, _ in tied[: window - start]], dtype=np.int64)
        return np.concatenate([self._ranked[self._first : start], last])

    def rows(self, positions: Sequence[int]) -> list[Row] | None:
        """Return the rows of hits by their positions in `best`; None where one is gone since."""
        numbers = self._numbers[positions].tolist()
        with self._file.reader() as db:
            rows = whole_rows(db, "number", numbers)
        return [rows[number] for number in numbers] if len(rows) == len(numbers) else None


def hit_sketches(file: File, matches: FullTextMatches, query: Query) -> FileSketches | None:
    """Return the sketches of the hits that a query expects after its first ones; None where there
    are none, or where the query asks for all hits or for families.
    """
    if not query.first or query.families:
        return None
    _, scores = matches.best
    first = end_of_page(scores, query.first)
    expected = min(query.expected, len(matches.numbers))
    return FileSketches(file, matches, first) if first < expected <= len(scores) else None


_OUTLINES = (
    f"SELECT d.id, d.path, d.status, d.raw, {rows.EXACT}, d.labels, d.in_family, d.similarity, "
    "d.provisional, d.number FROM documents d WHERE {} AND d.number > ? ORDER BY d.number LIMIT ?"
)
_OUTLINES_AT_ONCE = 2_000
_PAGE = 100
_SCANNED, _SCANNED_CHARS = 500, 1_000_000  # rows, and characters, that a scan reads together
_HIT_COLUMNS = (
    "id, path, in_family, status, minhash, words, iif(provisional, NULL, similarity), "
    f"CASE status WHEN 'empty' THEN raw ELSE {rows.EXACT} END"
)


def rows_by_id(file: File, ids: Sequence[str]) -> dict[str, Row]:
    """Return whole rows in one consistent view; ids that do not exist are absent."""
    with file.reader() as db:
        rows = whole_rows(db, "id", ids)
    return {row.id: row for row in rows.values()}


def scan_rows(file: File, scope: Scope, under: str | None) -> Iterator[Row]:
    """Yield rows ascending by id.

    The set and its order are fixed when the first row is read; a row deleted since then is left
    out.
    """
    condition, values = ("1", ()) if under is None else _inside(well_formed(under))
    with file.reader() as db:
        select = f"SELECT number, chars FROM documents d WHERE ({condition}) AND {WITHIN[scope]}"
        rows = db.execute(f"{select} ORDER BY id", values)
        numbers, ends = array("q"), array("q")
        for number, chars in rows:
            numbers.append(number)
            ends.append(chars + (ends[-1] if ends else 0))
    start = 0
    while start < len(numbers):
        limit = (ends[start - 1] if start else 0) + _SCANNED_CHARS
        stop = bisect_right(ends, limit, start, min(start + _SCANNED, len(ends)))
        stop = max(stop, start + 1)
        with file.reader() as db:
            page = whole_rows(db, "number", numbers[start:stop].tolist())
        yield from sorted(page.values(), key=lambda row: row.id)
        start = stop


def read_outlines(file: File, scope: Scope) -> Iterator[Outline]:
    """Yield outlines in the order in which rows were first written."""
    select = _OUTLINES.format(WITHIN[scope])
    last = 0
    while True:
        with file.reader() as db:
            page = db.execute(select, (last, _OUTLINES_AT_ONCE)).fetchall()
        if not page:
            return
        for name, path, status, raw, exact, labels, family, similarity, provisional, _ in page:
            yield Outline(
                name,
                path,
                status,
                rows.unpack_digest(raw),
                rows.unpack_digest(exact),
                () if labels == "[]" else tuple(json.loads(labels)),
                family,
                similarity,
                bool(provisional),
            )
        last = page[-1][-1]


def search_rows(file: File, scope: Scope, query: Query) -> Ranking:
    """Search the full text.

    The matches and their scores are fixed when the search begins; a row deleted since then is left
    out.
    """
    words = parse_query(query.text, query.join)
    conditions, values = _conditions(query, bool(words.terms))
    if query.text.strip() and words.is_empty:
        return Ranking(0, iter(()), 0, facets=dict.fromkeys(query.facets, ()))
    with file.reader() as db:
        if within := in_scope(db, scope):
            conditions = [within, *conditions]
        matches = full_text_matches(db, query, words, conditions, values)
    sketches = hit_sketches(file, matches, query)
    expected = sketches.first if sketches else query.expected
    return Ranking(
        len(matches.numbers),
        _ranked(file, matches, min(expected or _PAGE, _PAGE)),
        matches.families,
        facets=matches.facets,
        unranked=matches.unranked,
        sketches=sketches,
    )


def _ranked(file: File, matches: FullTextMatches, size: int) -> Iterator[RankedRow]:
    for page in matches.pages(file, _HIT_COLUMNS, size):
        for score, name, path, family, status, minhash, words, similarity, stored in page:
            digest = rows.unpack_digest(stored)
            yield RankedRow(name, path, score, family, status, minhash, digest, words, similarity)


def _conditions(query: Query, has_words: bool) -> tuple[list[str], list[str | float]]:
    """Return the filters as SQL conditions, and the values they are compared with."""
    conditions: list[str] = []
    values: list[str | float] = []
    for field, value in query.filters:
        if field in FAMILY_FILTERS:
            operator = "IN" if family_value(field, value) else "NOT IN"
            conditions.append(families.FAMILIES[field].format(operator))
            continue
        if (limits := range_of(field, value)) is not None:
            bounds = (">=", limits.minimum), ("<", limits.below)
            for operator, limit in bounds:
                if limit is not None:
                    conditions.append(f"d.{limits.field} {operator} ?")
                    values.append(limit)
            continue
        if field == FOLDER:
            condition, inside = _inside(well_formed(value))
            conditions.append(f"({condition})")
            values += inside
            continue
        if field == "family":
            # the sign keeps SQLite from searching the words once for each document of the family
            conditions.append(f"{'+' if has_words else ''}{families.OF_FAMILY}")
            values += [well_formed(value)] * 2
            continue
        name = metadata_name(field)
        if name is not None:
            conditions.append("nearfold_holds(d.metadata, ?, ?)")
            values.append(well_formed(name))
        elif field == "labels":
            conditions.append("nearfold_holds(d.labels, NULL, ?)")
        else:
            conditions.append(f"{rows.column_name(field)} = ?")
        values.append(well_formed(value))
    return conditions, values


def _inside(folder: str) -> tuple[str, tuple[str, ...]]:
    """Return the condition for paths that are a folder or lie in it, and its values.

    `0` is the character after `/`.
    """
    stem = folder.rstrip("/")
    return "d.path = ? OR (d.path > ? AND d.path < ?)", (folder, f"{stem}/", f"{stem}0")
