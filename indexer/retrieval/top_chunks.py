"""The best k chunks after folding, asked of a retriever again until there are k."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from indexer.errors import UsageError
from indexer.retrieval.fold_chunks import ChunkOptions, ShownChunk, fold_chunks

Item = TypeVar("Item")
FOLDED = "near_folded"  # in the metadata of a shown chunk
MOST = 100  # chunks that are asked of a retriever at most


@dataclass(slots=True)
class TopChunks(Generic[Item]):
    """The best `k` chunks, each with those folded under it.

    While `wanted` is not 0, ask the retriever for so many chunks, best first, and `take` them: two
    for each that is to be shown at first, then twice as many as before, up to `most`. It ends when
    there are `k` to show, or the retriever gives fewer than it was asked for.

    Raises `UsageError` if `k` is below 1 or above `most`.
    """

    text: Callable[[Item], str]
    k: int
    options: ChunkOptions
    most: int = MOST
    wanted: int = field(init=False)
    items: Sequence[Item] = ()
    shown: tuple[ShownChunk, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.k <= self.most:
            raise UsageError(f"k is from 1 to {self.most} (most), not {self.k}")
        self.wanted = min(2 * self.k, self.most)

    def take(self, items: Sequence[Item]) -> None:
        """Fold the answer to a request for `wanted` chunks."""
        self.items = items
        self.shown = fold_chunks(map(self.text, items), self.options, limit=self.k)
        is_last = len(items) < self.wanted or self.wanted >= self.most
        is_done = len(self.shown) == self.k or is_last
        self.wanted = 0 if is_done else min(2 * self.wanted, self.most)
