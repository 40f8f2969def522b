"""Folding hits by duplicate type: which of the best hits are duplicates, and how, is decided on
their texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from indexer.model import RankedRow, Row
from indexer.searching.stored_texts import StoredTexts
from indexer.similarity.duplicate_sets import Clause, Duplicate, duplicate_sets


@dataclass(slots=True)
class ByType:
    """Hits fold under the shown hit they duplicate; those that were not compared are shown.

    `heads`: the hit that each duplicate folds under, by id; `duplicates`: how each does.
    """

    heads: Mapping[str, str]
    duplicates: Mapping[str, Duplicate]
    _places: dict[str, int] = field(default_factory=dict)

    def joins(self, hit: RankedRow) -> int | None:
        """The group of the hit it duplicates."""
        head = self.heads.get(hit.id)
        if head is None:
            self.leads(hit)
        return None if head is None else self._places[head]

    def leads(self, hit: RankedRow) -> None:
        """Remember where its group is."""
        self._places[hit.id] = len(self._places)


def by_type(ids: Sequence[str], readings: StoredTexts, overlap: float, synonyms: str) -> ByType:
    """How hits of these ids, best first, fold; a clause's heading is not compared. Raises as
    `duplicate_sets` does.
    """
    sets = duplicate_sets(
        [_clause(row) for row in readings.rows(ids)], overlap=overlap, synonyms=synonyms
    )
    heads = {one.id: made.principal for made in sets for one in made.members}
    return ByType(heads, {one.id: one for made in sets for one in made.members})


def _clause(row: Row) -> Clause:
    return (row.id, row.text, row.title) if row.parent else (row.id, row.text)
