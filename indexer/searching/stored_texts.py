"""Stored documents read for folding: titles, places of parts, and the exact similarity of two of
them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from indexer.model import Part, RankedRow, Row
from indexer.recipe import Recipe
from indexer.similarity.measures import FeatureSet, jaccard
from indexer.similarity.sides import feature_set
from indexer.stores.base import Store

KEPT = 512
_AHEAD, _BATCH = KEPT // 2, 50


@dataclass(frozen=True, slots=True)
class _Known:
    """What is remembered of a document; one that is gone is not `there`."""

    title: str
    features: FeatureSet
    there: bool


@dataclass(slots=True)
class StoredTexts:
    """What was read of a store, now or at a snapshot of it; titles and features of the last few
    hundred documents are remembered.

    `parts`: where the parts lie that were read, by id.
    """

    store: Store
    recipe: Recipe
    snapshot: str | None = None
    parts: dict[str, Part] = field(default_factory=dict)
    _known: OrderedDict[str, _Known] = field(default_factory=OrderedDict)

    def rows(self, ids: Sequence[str]) -> list[Row]:
        """The rows of these ids in the order given; those that are gone are left out."""
        found = self.store.get(ids, self.snapshot) if ids else {}
        self.parts.update(
            (id, Part(row.parent, row.title, row.start, row.stop))
            for id, row in found.items()
            if row.parent
        )
        return [found[id] for id in ids if id in found]

    def titles(self, ids: Sequence[str]) -> dict[str, str]:
        """Titles by id; the features of these documents are remembered."""
        found: dict[str, str] = {}
        for start in range(0, len(ids), _AHEAD):
            part = ids[start : start + _AHEAD]
            self.read_ahead(part)
            found |= {id: self._known[id].title for id in part if self._known[id].there}
        return found

    def read_ahead(self, ids: Sequence[str]) -> None:
        """Read those of these documents that are not remembered, but for those after the first
        `_AHEAD`.
        """
        wanted = dict.fromkeys(ids[:_AHEAD])
        for id in wanted.keys() & self._known.keys():
            self._known.move_to_end(id)
        missing = [id for id in wanted if id not in self._known]
        for start in range(0, len(missing), _BATCH):
            self._read(missing[start : start + _BATCH])

    def similarity(self, a: str, b: str) -> float:
        """The exact `jaccard` similarity of two documents by id; one that is gone has no
        features.
        """
        self.read_ahead([a, b])
        return jaccard(self._features_of(a), self._features_of(b))

    def similarities(self, head: str, ids: Sequence[str]) -> list[float]:
        """The similarity of one document to each of others, read in batches."""
        values: list[float] = []
        for start in range(0, len(ids), _BATCH):
            batch = ids[start : start + _BATCH]
            self.read_ahead([head, *batch])
            values += [self.similarity(head, id) for id in batch]
        return values

    def _features_of(self, id: str) -> FeatureSet:
        if id not in self._known:
            self._read([id])
        return self._known[id].features

    def _read(self, ids: Sequence[str]) -> None:
        found = {row.id: row for row in self.rows(ids)}
        for id in ids:
            row = found.get(id)
            features = feature_set(row.text if row else "", self.recipe)
            self._known[id] = _Known(row.title if row else "", features, there=row is not None)
        while len(self._known) > KEPT:
            self._known.popitem(last=False)


def ranked_row(row: Row) -> RankedRow:
    """A row as a hit without a score."""
    return RankedRow(row.id, row.path, None, row.family, row.status, row.minhash)
