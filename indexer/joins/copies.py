"""From pairs of distinct texts to pairs of the documents that carry them.

A filter selects the pairs that the caller requested: across a label, or touching new documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from indexer.joins.runs import Places

BLOCK_PAIRS = 1 << 16


class Carriers(Sequence[list[int]]):
    """The documents that carry each text, ascending.

    `texts` is the number of each document's text, -1 for none; each of the `count` texts has a
    document. `first` and `sizes`: (count,) the first document of each text, and how many carry it.

    >>> list(Carriers(np.array([0, 1, -1, 0], dtype=np.int32), 2))
    [[0, 3], [1]]
    """

    def __init__(self, texts: NDArray[np.int32], count: int) -> None:
        self.texts = texts
        carrying = np.flatnonzero(texts >= 0)
        self._documents = carrying[np.argsort(texts[carrying], kind="stable")].astype(np.int32)
        self.sizes = np.bincount(texts[carrying], minlength=count)
        self._starts = np.cumsum(self.sizes) - self.sizes
        self.first: Places = self._documents[self._starts]

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, text: int) -> list[int]:  # type: ignore[override]
        start = self._starts[text]
        documents: list[int] = self._documents[start : start + self.sizes[text]].tolist()
        return documents

    def pairs_between(self, left: Places, right: Places, cap: int) -> NDArray[np.int64]:
        """Return how many pairs of documents `DocumentPairs` makes of each pair of texts."""
        a, b = self.sizes[left], self.sizes[right]
        return np.where(a * b <= cap, a * b, a + b - 1)

    def pairs_of_copies(self, cap: int) -> int:
        """Return how many pairs of documents `DocumentPairs` makes of the copies of each text."""
        pairs = self.sizes * (self.sizes - 1) // 2
        return int(np.where(pairs <= cap, pairs, self.sizes - 1).sum())

    def texts_of(self, documents: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which texts any of these documents carries: (documents,) to (texts,) bool."""
        return np.bincount(self.texts[documents & (self.texts >= 0)], minlength=len(self)) > 0


class PairFilter:
    """A filter for the requested pairs of documents.

    With `marked`: one document is marked and the other is not. With `new`: at least one is new.
    Both are (documents,) bool.
    """

    def __init__(
        self, documents: Carriers, marked: NDArray[np.bool_] | None, new: NDArray[np.bool_] | None
    ) -> None:
        self.documents, self._marked, self._new = documents, marked, new
        self._marked_texts = None if marked is None else documents.texts_of(marked)
        self._other_texts = None if marked is None else documents.texts_of(~marked)
        self._new_texts = None if new is None else documents.texts_of(new)

    @property
    def selects_all(self) -> bool:
        """True if every pair is requested."""
        return self._marked is None and self._new is None

    def texts(self, left: Places, right: Places) -> tuple[Places, Places]:
        """Return the pairs of texts that may hold a requested pair of documents."""
        possible = self.may_include(left, right)
        return (left, right) if possible.all() else (left[possible], right[possible])

    def may_include(self, left: Places, right: Places) -> NDArray[np.bool_]:
        """Return for each pair of texts whether it may hold a requested pair of documents."""
        possible = np.ones(len(left), dtype=bool)
        if self._marked_texts is not None and self._other_texts is not None:
            marked, others = self._marked_texts, self._other_texts
            possible &= (marked[left] & others[right]) | (others[left] & marked[right])
        if self._new_texts is not None:
            possible &= self._new_texts[left] | self._new_texts[right]
        return possible

    def orient(self, a: Places, b: Places) -> tuple[Places, Places, NDArray[np.bool_]]:
        """Return pairs of documents in order, and which of them are requested.

        The lower place comes first; with `marked`, the document that is not marked.
        """
        swapped, requested = a > b, np.ones(len(a), dtype=bool)
        if self._marked is not None:
            swapped, requested = self._marked[a], self._marked[a] != self._marked[b]
        if self._new is not None:
            requested &= self._new[a] | self._new[b]
        return np.where(swapped, b, a), np.where(swapped, a, b), requested


class DocumentPairs:
    """Pairs of documents for pairs of texts.

    When the copies of two texts make more than `cap` pairs, only those with the first copy of
    either are made; `left_out` counts the others.
    """

    def __init__(self, documents: Carriers, cap: int | None) -> None:
        self._documents, self._cap = documents, cap
        self.left_out = 0

    def between_texts(self, left: Places, right: Places) -> Iterator[tuple[Places, Places]]:
        """Yield the pairs of documents between the texts of each pair, in blocks."""
        first, sizes = self._documents.first, self._documents.sizes
        plain = (sizes[left] == 1) & (sizes[right] == 1)
        yield first[left[plain]], first[right[plain]]
        pairs = zip(left[~plain].tolist(), right[~plain].tolist(), strict=True)
        yield from _blocks(
            self._pair_across(self._documents[a], self._documents[b]) for a, b in pairs
        )

    def within_texts(self) -> Iterator[tuple[Places, Places]]:
        """Yield the pairs of documents among the copies of each text, in blocks."""
        repeated = np.flatnonzero(self._documents.sizes > 1).tolist()
        return _blocks(self._pair_copies(self._documents[text]) for text in repeated)

    def _pair_across(self, left: Sequence[int], right: Sequence[int]) -> Iterator[tuple[int, int]]:
        total = len(left) * len(right)
        if self._cap is None or total <= self._cap:
            yield from product(left, right)
            return
        self.left_out += total - (len(left) + len(right) - 1)
        yield from ((left[0], document) for document in right)
        yield from ((document, right[0]) for document in left[1:])

    def _pair_copies(self, copies: Sequence[int]) -> Iterator[tuple[int, int]]:
        total = len(copies) * (len(copies) - 1) // 2
        if self._cap is None or total <= self._cap:
            yield from combinations(copies, 2)
            return
        self.left_out += total - (len(copies) - 1)
        yield from ((copies[0], document) for document in copies[1:])


def _blocks(groups: Iterable[Iterable[tuple[int, int]]]) -> Iterator[tuple[Places, Places]]:
    """Yield pairs as arrays of at most `BLOCK_PAIRS`, in order."""
    block: list[tuple[int, int]] = []
    for pairs in groups:
        for pair in pairs:
            block.append(pair)
            if len(block) == BLOCK_PAIRS:
                yield _columns(block)
                block = []
    yield _columns(block)


def _columns(pairs: Sequence[tuple[int, int]]) -> tuple[Places, Places]:
    columns = np.array(pairs, dtype=np.int32).reshape(len(pairs), 2)
    return columns[:, 0], columns[:, 1]
