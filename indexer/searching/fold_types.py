"""Folding hits by duplicate type, which is decided on the texts of the best of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from indexer.model import RankedRow, Row
from indexer.searching.stored_texts import StoredTexts
from indexer.system.progress_callback import Progress, no_progress

if TYPE_CHECKING:
    from indexer.similarity.duplicate_sets import Clause, Duplicate

_AT_ONCE = 10  # documents that are read together


@dataclass(slots=True)
class ByType:
    """Folds hits under the shown hit that they duplicate; those that were not compared are shown.

    `heads`: the hit that each duplicate folds under, by id; `duplicates`: of which type each is.
    `passed_over`: hits whose texts did not fit into what may be compared.
    """

    heads: Mapping[str, str]
    duplicates: Mapping[str, Duplicate]
    passed_over: int = 0
    _places: dict[str, int] = field(default_factory=dict)

    def expect(self, hits: Sequence[RankedRow]) -> None:
        """Do nothing: all were compared before."""

    def find_group(self, hit: RankedRow) -> int | None:
        """Return the group of the hit that it duplicates."""
        head = self.heads.get(hit.id)
        if head is None:
            self.add_head(hit)
            return None
        return self._places[head]

    def add_head(self, hit: RankedRow) -> None:
        """Remember the place of its group."""
        self._places[hit.id] = len(self._places)


def by_type(
    ids: Sequence[str],
    texts: StoredTexts,
    overlap: float,
    synonyms: str,
    most_chars: int | None = None,
    progress: Progress = no_progress,
) -> ByType:
    """Return the rule for hits of these ids, best first; a clause's heading is not compared.

    `most_chars`: characters that the compared texts have together at most, None for any number. A
    text that does not fit into what is left of them is passed over, and shown. `progress` is told
    how many texts are read. Raises as `duplicate_sets` does.
    """
    from indexer.similarity.duplicate_sets import duplicate_sets

    rows: list[Clause] = []
    left = math.inf if most_chars is None else most_chars
    passed_over = 0
    for start in range(0, len(ids), _AT_ONCE):
        for row in texts.rows(ids[start : start + _AT_ONCE]):
            if len(row.text) > left:
                passed_over += 1
                continue
            left -= len(row.text)
            rows.append(_clause(row))
    heads: dict[str, str] = {}
    duplicates: dict[str, Duplicate] = {}
    clauses = _with_progress(rows, progress)
    for duplicate_set in duplicate_sets(clauses, overlap=overlap, synonyms=synonyms):
        for member in duplicate_set.members:
            heads[member.id] = duplicate_set.principal
            duplicates[member.id] = member
    return ByType(heads, duplicates, passed_over)


def _with_progress(clauses: Sequence[Clause], progress: Progress) -> Iterator[Clause]:
    """Yield clauses, and report how many were taken before: whoever takes one reads it at once."""
    for done, clause in enumerate(clauses):
        progress("comparing clauses", done, len(clauses))
        yield clause


def _clause(row: Row) -> Clause:
    return (row.id, row.text, row.title) if row.parent else (row.id, row.text)
