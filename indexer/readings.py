"""Stored documents read for folding: titles, places of parts, and the exact similarity of two of them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from indexer.measures import FeatureSet, feature_set, jaccard
from indexer.model import Part, Ranked, Row
from indexer.recipe import Recipe
from indexer.stores.base import Store

KEPT = 512
_BATCH = 50


@dataclass(slots=True)
class Readings:
    """What was read of a store, now or at a moment of it; the features of the last few hundred documents are remembered.

    `parts`: where the parts lie that were read, by id.
    """

    store: Store
    recipe: Recipe
    moment: str | None = None
    parts: dict[str, Part] = field(default_factory=dict)
    _features: OrderedDict[str, FeatureSet] = field(default_factory=OrderedDict)

    def rows(self, ids: Sequence[str]) -> list[Row]:
        """The rows of these ids in the order given; those that are gone are left out."""
        found = self.store.get(ids, self.moment) if ids else {}
        self.parts.update((id, Part(row.parent, row.title, row.start, row.stop)) for id, row in found.items() if row.parent)
        return [found[id] for id in ids if id in found]

    def titles(self, ids: Sequence[str]) -> dict[str, str]:
        """Titles by id; the features of these documents are remembered."""
        return {row.id: row.title for row in self._read(ids)}

    def similarity(self, a: str, b: str) -> float:
        """The exact `features` similarity of two documents by id; one that is gone has no features."""
        return jaccard(self._features_of(a), self._features_of(b))

    def similarities(self, head: str, ids: Sequence[str]) -> list[float]:
        """The similarity of one document to each of others, read in batches."""
        values: list[float] = []
        for start in range(0, len(ids), _BATCH):
            batch = ids[start : start + _BATCH]
            self._read([id for id in batch if id not in self._features])
            values += [self.similarity(head, id) for id in batch]
        return values

    def _features_of(self, id: str) -> FeatureSet:
        if id not in self._features and not self._read([id]):
            self._remember(id, "")
        return self._features[id]

    def _read(self, ids: Sequence[str]) -> list[Row]:
        rows = self.rows(ids)
        for row in rows:
            self._remember(row.id, row.text)
        return rows

    def _remember(self, id: str, text: str) -> None:
        self._features[id] = feature_set(text, self.recipe)
        while len(self._features) > KEPT:
            self._features.popitem(last=False)


def ranked(row: Row) -> Ranked:
    """A row as a hit without a score."""
    return Ranked(row.id, row.path, None, row.family, row.status, row.minhash)
