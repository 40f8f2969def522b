"""Sketches of the hits of a search in a SQLite file, without their ids and paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from indexer.model import Query, Row
from indexer.stores.base import SketchedHit
from indexer.stores.sqlite.document_tables import whole_rows
from indexer.stores.sqlite.file_format import recipe_in_use
from indexer.stores.sqlite.full_text import FullTextMatches, end_of_page, rows_by_path
from indexer.stores.sqlite.kept_values import STATUSES, sketches_of, statuses_of, words_of

if TYPE_CHECKING:
    from indexer.stores.sqlite.file import File


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

    def best(self, window: int) -> list[SketchedHit]:
        """Return the best hits after the first ones, `window` with these.

        A row that is gone since has no sketch.
        """
        self._numbers = self._best(window)
        with self._file.reading() as db:
            width = recipe_in_use(db).sketch_bytes
            packed, is_sketched = sketches_of(db, self._numbers, width)
            words = words_of(db, self._numbers)
            statuses = statuses_of(db, self._numbers)
        joined = packed.tobytes()
        sketches: list[bytes | None] = [
            joined[start : start + width] for start in range(0, len(joined), width)
        ]
        for place in np.flatnonzero(~is_sketched):
            sketches[place] = None
        scores = self._scores[self._first : self._first + len(self._numbers)].tolist()
        names = [STATUSES[status] for status in statuses.tolist()]
        counts = [None if count < 0 else count for count in words.tolist()]
        return list(map(SketchedHit, scores, names, sketches, counts))

    def _best(self, window: int) -> NDArray[np.int64]:
        """Return the numbers of these hits; of the last ones of one score, the first by path."""
        whole = end_of_page(self._scores, window)
        if whole <= window:
            return self._ranked[self._first : whole]
        start = int(np.searchsorted(-self._scores, -self._scores[whole - 1]))
        tied = rows_by_path(self._file, "path", self._ranked[start:whole])
        last = np.array([number for number, _ in tied[: window - start]], dtype=np.int64)
        return np.concatenate([self._ranked[self._first : start], last])

    def rows(self, places: Sequence[int]) -> list[Row] | None:
        """Return the rows of hits by their places in `best`; None where one is gone since."""
        numbers = self._numbers[places].tolist()
        with self._file.reading() as db:
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
