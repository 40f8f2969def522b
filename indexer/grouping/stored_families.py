"""The families of a store, as its rows name them."""

from __future__ import annotations

import math

from indexer.matching.entries import Entry
from indexer.stores.abilities import Outline

ALONE = math.inf  # in place of the similarity of a family without members beside its principal


class StoredFamilies:
    """Families in the order in which they come first.

    `names`, `paths`, `sizes` and `similarities` by place: the path is that of the principal, or the
    family's name where that is gone; the similarity that of the member least similar to it.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.paths: list[str] = []
        self.sizes: list[int] = []
        self.similarities: list[float] = []
        self._places: dict[str, int] = {}

    def add(self, row: Outline | Entry) -> int:
        """Count a document, and return the place of its family."""
        place = self._places.setdefault(row.family, len(self.names))
        if place == len(self.names):
            self.names.append(row.family)
            self.paths.append(row.family)
            self.sizes.append(0)
            self.similarities.append(ALONE)
        self.sizes[place] += 1
        if row.id == row.family:
            self.paths[place] = row.path
        elif row.similarity is not None:
            self.similarities[place] = min(self.similarities[place], row.similarity)
        return place
