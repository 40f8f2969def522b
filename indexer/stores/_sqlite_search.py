"""What a search matches in SQLite, in order, and what is counted of it: each match is read once, whatever is asked of it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.model import Facet, Query
from indexer.stores._sqlite_file import File
from indexer.stores.base import FACET_VALUES, facet_field
from indexer.text.words import numbered

PAGE = 100
_SCORE = "-bm25(fulltext, 2.0, 1.0)"
_ORDER = {"relevance": "", "path": "", "modified": "d.modified IS NULL, d.modified DESC, "}
_TIED = "SELECT number FROM documents WHERE number IN (SELECT value FROM json_each(?)) ORDER BY path, id"


@dataclass(frozen=True, slots=True)
class Matched:
    """The numbers of the rows that match, best first, with their scores; distinct families, and facets, where asked for.

    Rows of the same score, which are many where one word is asked for, stand in any order here: `pages` orders them.
    """

    numbers: list[int]
    scores: list[float] | None
    families: int | None
    facets: dict[str, tuple[Facet, ...]]

    def pages(self, file: File) -> Iterator[Sequence[tuple[int, float | None]]]:
        """The matches by score, then by path, then by id, about a hundred at a time; a row deleted since is left out."""
        if self.scores is None:
            yield from ([(number, None) for number in self.numbers[start : start + PAGE]] for start in _steps(self.numbers))
            return
        end = 0
        while (start := end) < len(self.numbers):
            end = min(start + PAGE, len(self.numbers))
            while end < len(self.numbers) and self.scores[end] == self.scores[end - 1]:
                end += 1
            score = dict(zip(self.numbers[start:end], self.scores[start:end], strict=True))
            with file.reading() as db:
                by_path = [number for (number,) in db.execute(_TIED, (json.dumps(list(score)),))]
            ranked = [(number, score[number]) for number in sorted(by_path, key=lambda number: -score[number])]
            yield from (list(ranked[place : place + PAGE]) for place in _steps(ranked))


def matched(db: sqlite3.Connection, query: Query, table: str, where: str, values: Sequence[str]) -> Matched:
    """All matches of a query: by score where there are words to score."""
    fields = [facet_field(name) for name in query.facets]
    counted = [f"d.{field}" for field in fields] + (["d.family"] if fields or query.families else [])
    scored = query.sort == "relevance" and "fulltext" in table
    order = "" if scored else f" ORDER BY {_ORDER[query.sort]}d.path, d.id"
    columns = ["d.number", *([_SCORE] if scored else []), *counted]
    found = db.execute(f"SELECT {', '.join(columns)} FROM {table} WHERE {where}{order}", values).fetchall()
    numbers, *told = ([row[place] for row in found] for place in range(len(columns)))
    scores = None
    if scored:
        best = np.argsort(-np.array(told[0]), kind="stable").tolist()
        numbers, scores = [numbers[place] for place in best], [told[0][place] for place in best]
    families, names = numbered(told[-1] if counted else [])
    facets = {field: _facet(field, carried, families) for field, carried in zip(fields, told[scored:], strict=False)}
    return Matched(numbers, scores, len(names) if query.families else None, facets)


def _facet(field: str, values: Sequence[str], families: NDArray[np.int64]) -> tuple[Facet, ...]:
    """The most frequent values of a field, in documents and in families, which are numbers from 0."""
    if field == "labels":
        kept = [(place, packed) for place, packed in enumerate(values) if packed != "[]"]
        labelled = [(place, label) for place, packed in kept for label in set(json.loads(packed))]
        values, families = [label for _, label in labelled], families[[place for place, _ in labelled]]
    numbers, distinct = numbered(values)
    span = 1 + int(families.max(initial=0))
    documents = np.bincount(numbers, minlength=len(distinct)).tolist()
    within = np.bincount(np.unique(numbers * span + families) // span, minlength=len(distinct)).tolist()
    counted = map(Facet, distinct, documents, within)
    return tuple(sorted(counted, key=lambda one: (-one.documents, one.value))[:FACET_VALUES])


def _steps(listed: Sequence[object]) -> range:
    return range(0, len(listed), PAGE)
