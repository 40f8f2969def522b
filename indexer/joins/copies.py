"""From pairs of distinct texts to pairs of the documents that carry them, and which of those were
asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from indexer.joins.bands import Places

HELD = 1 << 16


class Carriers(Sequence[list[int]]):
    """For each text the documents that carry it, ascending. `first` and `sizes`: (texts,) the first
    of them, and how many.

    `texts` is the number of each document's text, -1 for none; every text of `count` has a
    document.

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

    def of_any(self, documents: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The texts that any of these documents carries; `documents` is (documents,) bool, the
        answer (texts,).
        """
        return np.bincount(self.texts[documents & (self.texts >= 0)], minlength=len(self)) > 0


class PairFilter:
    """Which pairs of documents were asked for: of one in `marked` and one outside, if given;
    touching one in `new`, if given.

    `marked` and `new` are (documents,) bool.
    """

    def __init__(
        self, documents: Carriers, marked: NDArray[np.bool_] | None, new: NDArray[np.bool_] | None
    ) -> None:
        self.documents, self._marked, self._new = documents, marked, new
        self._some = None if marked is None else documents.of_any(marked)
        self._others = None if marked is None else documents.of_any(~marked)
        self._fresh = None if new is None else documents.of_any(new)

    def texts(self, left: Places, right: Places) -> tuple[Places, Places]:
        """The pairs of texts between which a pair of documents may be wanted."""
        kept = self.chosen(left, right)
        return (left, right) if kept.all() else (left[kept], right[kept])

    def chosen(self, left: Places, right: Places) -> NDArray[np.bool_]:
        """Whether a pair of documents between two texts may be wanted."""
        kept = np.ones(len(left), dtype=bool)
        if self._some is not None and self._others is not None:
            kept &= (self._some[left] & self._others[right]) | (
                self._others[left] & self._some[right]
            )
        if self._fresh is not None:
            kept &= self._fresh[left] | self._fresh[right]
        return kept

    def turned(self, a: Places, b: Places) -> tuple[Places, Places, NDArray[np.bool_]]:
        """Pairs of documents with the lower place first, or the one outside `marked`; and which of
        them are wanted.
        """
        swapped, kept = a > b, np.ones(len(a), dtype=bool)
        if self._marked is not None:
            swapped, kept = self._marked[a], self._marked[a] != self._marked[b]
        if self._new is not None:
            kept &= self._new[a] | self._new[b]
        return np.where(swapped, b, a), np.where(swapped, a, b), kept


class DocumentPairs:
    """Pairs of documents for pairs of texts. Where copies make more than `cap` pairs, those with
    the first copy of either only.

    `left_out` counts the others.
    """

    def __init__(self, documents: Carriers, cap: int | None) -> None:
        self._documents, self._cap = documents, cap
        self.left_out = 0

    def between(self, left: Places, right: Places) -> Iterator[tuple[Places, Places]]:
        """The pairs of documents between the texts of each pair, in blocks."""
        first, sizes = self._documents.first, self._documents.sizes
        plain = (sizes[left] == 1) & (sizes[right] == 1)
        yield first[left[plain]], first[right[plain]]
        yield from _blocks(
            self._paired(self._documents[a], self._documents[b])
            for a, b in zip(left[~plain].tolist(), right[~plain].tolist(), strict=True)
        )

    def among(self) -> Iterator[tuple[Places, Places]]:
        """The pairs of documents among the copies of each text, in blocks."""
        return _blocks(
            self._copies(self._documents[text])
            for text in np.flatnonzero(self._documents.sizes > 1).tolist()
        )

    def _paired(self, one: Sequence[int], other: Sequence[int]) -> Iterator[tuple[int, int]]:
        every = len(one) * len(other)
        if self._cap is None or every <= self._cap:
            yield from product(one, other)
            return
        self.left_out += every - (len(one) + len(other) - 1)
        yield from ((one[0], document) for document in other)
        yield from ((document, other[0]) for document in one[1:])

    def _copies(self, copies: Sequence[int]) -> Iterator[tuple[int, int]]:
        every = len(copies) * (len(copies) - 1) // 2
        if self._cap is None or every <= self._cap:
            yield from combinations(copies, 2)
            return
        self.left_out += every - (len(copies) - 1)
        yield from ((copies[0], document) for document in copies[1:])


def _blocks(groups: Iterable[Iterable[tuple[int, int]]]) -> Iterator[tuple[Places, Places]]:
    """Pairs as arrays, in the order given."""
    held: list[tuple[int, int]] = []
    for pairs in groups:
        for pair in pairs:
            held.append(pair)
            if len(held) == HELD:
                yield _columns(held)
                held = []
    yield _columns(held)


def _columns(pairs: Sequence[tuple[int, int]]) -> tuple[Places, Places]:
    columns = np.array(pairs, dtype=np.int32).reshape(len(pairs), 2)
    return columns[:, 0], columns[:, 1]
