"""Verifying pairs of texts by any measure: read in batches, the last ones kept, identical texts never read."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from indexer.collection import Collection, Progress, silent
from indexer.measures import Side, jaccard, measured
from indexer.stores.base import Store

KEPT_CHARS = 20_000_000
BATCH = 500


class Verifier:
    """Measures pairs of a collection's texts, exactly. Texts of about 20 million characters are kept, some 250 MB.

    A text is 1 to itself under every measure; a text that has left the store since is empty. Raises `UnknownMeasure`.
    """

    def __init__(self, store: Store, collection: Collection, measure: str) -> None:
        self._store, self._collection, self.measure = store, collection, measure
        self._sides: OrderedDict[int, Side] = OrderedDict()
        self._chars = 0

    def similarities(
        self, left: NDArray[np.int32], right: NDArray[np.int32], progress: Progress = silent
    ) -> NDArray[np.float64]:
        """The measure of each pair, best given sorted by `left`."""
        made = np.empty(len(left))
        for start in range(0, len(left), BATCH):
            pairs = list(zip(left[start : start + BATCH].tolist(), right[start : start + BATCH].tolist(), strict=True))
            made[start : start + len(pairs)] = self.of_pairs(pairs)
            progress("verifying", start + len(pairs), len(left))
        return made

    def with_others(self, text: int, others: Sequence[int]) -> list[float]:
        """The measure of one text with each of several."""
        return self.of_pairs([(text, other) for other in others])

    def of_pairs(self, pairs: Sequence[tuple[int, int]]) -> list[float]:
        """The measure of each pair; what is not kept is read in one request."""
        self.read(text for pair in pairs for text in pair)
        return [self.similarity(a, b) for a, b in pairs]

    def similarity(self, a: int, b: int) -> float:
        """The measure of two texts by their numbers."""
        if a == b:
            return 1.0
        one, other = self.side(a), self.side(b)
        if self.measure == "features":
            return jaccard(one.features, other.features)
        return measured(self.measure, one, other).similarity

    def features(self, texts: Sequence[int]) -> list[NDArray[np.uint64]]:
        """The hashes of the distinct features of these texts, ascending."""
        self.read(texts)
        return [self.side(text).features.hashes for text in texts]

    def side(self, text: int) -> Side:
        """One text; read from the store unless it is kept."""
        if text not in self._sides:
            self.read([text])
        self._sides.move_to_end(text)
        return self._sides[text]

    def read(self, texts: Iterable[int]) -> None:
        """Read these texts in one request, those that are kept aside; the longest unused are let go."""
        wanted = dict.fromkeys(texts)
        for text in wanted.keys() & self._sides.keys():
            self._sides.move_to_end(text)
        missing = [text for text in wanted if text not in self._sides]
        self._let_go()
        for text, content in zip(missing, self._contents(missing), strict=True):
            self._sides[text] = self._made(text, content)
            self._chars += len(content)

    def _let_go(self) -> None:
        while self._chars > KEPT_CHARS and self._sides:
            _, side = self._sides.popitem(last=False)
            self._chars -= len(side.text)

    def _contents(self, texts: Sequence[int]) -> list[str]:
        if not texts or self.measure in ("estimate", "hamming"):
            return ["" for _ in texts]
        ids = [self._collection.first_id(text) for text in texts]
        rows = self._store.get(ids)
        return [rows[id].text if id in rows else "" for id in ids]

    def _made(self, text: int, content: str) -> Side:
        collection = self._collection
        slots = collection.slots[text] if collection.slots.shape[1] else None
        bits = int(collection.simhash[text]) if collection.recipe.simhash else None
        return Side(content, collection.recipe, slots, bits)
