"""Verifying pairs of texts by any measure: read in batches, the last ones kept, identical texts
never read.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.joins.memory_budget import Column
from indexer.joins.parity_maps import count_ones, most_apart
from indexer.matching.collection import Collection
from indexer.similarity.measures import jaccard, measure_pair
from indexer.similarity.sides import Side
from indexer.stores.base import Store
from indexer.system.progress_callback import Progress, no_progress

MOST_CHARS, BYTES_A_CHAR = 20_000_000, 13
BATCH = 500


class Verifier:
    """Measures pairs of a collection's texts, exactly. Texts are kept for a quarter of the memory budget,
    250 MB at the most.

    A text is 1 to itself under every measure; a text that has left the store since is empty. Raises
    `UnknownMeasure`.
    """

    def __init__(self, store: Store, collection: Collection, measure: str) -> None:
        self._store, self._collection, self.measure = store, collection, measure
        self._most = collection.budget.share(4, BYTES_A_CHAR, most=MOST_CHARS)
        self._sides: OrderedDict[int, Side] = OrderedDict()
        self._chars = 0

    def similarities(
        self, left: NDArray[np.int32], right: NDArray[np.int32], least: float = 0.0
    ) -> NDArray[np.float64]:
        """The measure of each pair, best given sorted by `left`; may be 0 for one below `least`."""
        made = np.empty(len(left))
        for part in self.batches(left, right):
            made[part] = self.of_pairs(
                list(zip(left[part].tolist(), right[part].tolist(), strict=True)), least
            )
        return made

    def batches(self, left: NDArray[np.int32], right: NDArray[np.int32]) -> Iterator[slice]:
        """The pairs in slices whose texts may be read and kept at once."""
        return self._batches(self._collection.chars[left] + self._collection.chars[right])

    def with_others(self, text: int, others: Sequence[int], least: float = 0.0) -> list[float]:
        """The measure of one text with each of several; may be 0 where it is below `least`."""
        return self.of_pairs([(text, other) for other in others], least)

    def of_pairs(self, pairs: Sequence[tuple[int, int]], least: float = 0.0) -> list[float]:
        """The measure of each pair; may be 0 for one below `least`. What is not kept is read in one
        request.
        """
        self.read(text for pair in pairs for text in pair)
        if self.measure != "jaccard" or least <= 0:
            return [self.similarity(a, b) for a, b in pairs]
        made: list[float] = []
        for start in range(0, len(pairs), BATCH):
            part = pairs[start : start + BATCH]
            made += [
                self.similarity(a, b) if near else 0.0
                for (a, b), near in zip(part, self._may_reach(part, least), strict=True)
            ]
        return made

    def _may_reach(self, pairs: Sequence[tuple[int, int]], least: float) -> list[bool]:
        """Whether what parity maps tell of the features of each pair leaves it open that they are
        so similar.
        """
        sides = [(self.side(a), self.side(b)) for a, b in pairs]
        both = np.array(
            [len(one.features) + len(other.features) for one, other in sides], dtype=np.int64
        )
        maps = np.stack([one.parity for one, _ in sides]) ^ np.stack(
            [other.parity for _, other in sides]
        )
        near: list[bool] = (count_ones(maps) <= most_apart(both, least)).tolist()
        return near

    def similarity(self, a: int, b: int) -> float:
        """The measure of two texts by their numbers."""
        if a == b:
            return 1.0
        one, other = self.side(a), self.side(b)
        if self.measure == "jaccard":
            return jaccard(one.features, other.features)
        return measure_pair(self.measure, one, other).similarity

    def every(self, progress: Progress = no_progress, stage: str = "") -> Iterator[Side]:
        """Every text in order."""
        count = len(self._collection.chars)
        for part in self._batches(self._collection.chars):
            self.read(range(part.start, part.stop))
            yield from map(self.side, range(part.start, part.stop))
            progress(stage, part.stop, count)

    def side(self, text: int) -> Side:
        """One text; read from the store unless it is kept."""
        if text not in self._sides:
            self.read([text])
        self._sides.move_to_end(text)
        return self._sides[text]

    def read(self, texts: Iterable[int]) -> None:
        """Read these texts in one request, those that are kept aside; the longest unused are let
        go.
        """
        wanted = dict.fromkeys(texts)
        for text in wanted.keys() & self._sides.keys():
            self._sides.move_to_end(text)
        missing = [text for text in wanted if text not in self._sides]
        self._let_go()
        for text, content in zip(missing, self._contents(missing), strict=True):
            self._sides[text] = self._made(text, content)
            self._chars += len(content)

    def _batches(self, chars: NDArray[np.int64]) -> Iterator[slice]:
        """Slices of at most `BATCH`, and at most half the characters that may be kept unless one
        alone has more.
        """
        ends = np.cumsum(chars)
        start = 0
        while start < len(chars):
            done = int(ends[start - 1]) if start else 0
            fitting = int(np.searchsorted(ends, done + self._most // 2, side="right"))
            end = max(start + 1, min(start + BATCH, fitting))
            yield slice(start, end)
            start = end

    def _let_go(self) -> None:
        while self._chars > self._most // 2 and self._sides:
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


class VerifiedPairs:
    """Pairs of texts at or above a threshold, as they are verified."""

    def __init__(self, collection: Collection, threshold: float) -> None:
        budget = collection.budget
        self._threshold = threshold
        self._columns = tuple(
            Column(budget, dtype) for dtype in (np.int32, np.int32, np.float64, np.bool_)
        )

    def add(
        self,
        left: NDArray[np.int32],
        right: NDArray[np.int32],
        similarity: NDArray[np.float64],
        exact: NDArray[np.bool_],
    ) -> None:
        """Take the pairs among these that reach the threshold; what was not measured on texts was
        judged before.
        """
        kept = ~exact | ((similarity >= self._threshold) & (similarity > 0))
        arrays: tuple[NDArray[Any], ...] = (left, right, similarity, exact)
        for column, values in zip(self._columns, arrays, strict=True):
            column.add(values[kept])

    def columns(
        self,
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64], NDArray[np.bool_]]:
        """Left, right, similarity, and whether it was measured on the texts."""
        left, right, similarity, exact = (column.whole() for column in self._columns)
        return left, right, similarity, exact
