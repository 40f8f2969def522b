"""From pairs of distinct texts to pairs of the documents that carry them, and which of those were asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from indexer.joining import Places

Documents = Sequence[Sequence[int]]


class Wanted:
    """Which pairs of documents were asked for: of one in `marked` and one outside, if given; touching one in `new`, if given.

    `documents[i]` are the documents that carry text i, each carried by one text; `marked` and `new` are (documents,) bool.
    """

    def __init__(self, documents: Documents, marked: NDArray[np.bool_] | None, new: NDArray[np.bool_] | None) -> None:
        self.documents, self._marked, self._new = documents, marked, new
        self._some = None if marked is None else self._texts(marked)
        self._others = None if marked is None else self._texts(~marked)
        self._fresh = None if new is None else self._texts(new)

    def texts(self, left: Places, right: Places) -> tuple[Places, Places]:
        """The pairs of texts between which a pair of documents may be wanted."""
        kept = np.ones(len(left), dtype=bool)
        if self._some is not None and self._others is not None:
            kept &= (self._some[left] & self._others[right]) | (self._others[left] & self._some[right])
        if self._fresh is not None:
            kept &= self._fresh[left] | self._fresh[right]
        return (left, right) if kept.all() else (left[kept], right[kept])

    def turned(self, a: Places, b: Places) -> tuple[Places, Places, NDArray[np.bool_]]:
        """Pairs of documents with the lower place first, or the one outside `marked`; and which of them are wanted."""
        swapped, kept = a > b, np.ones(len(a), dtype=bool)
        if self._marked is not None:
            swapped, kept = self._marked[a], self._marked[a] != self._marked[b]
        if self._new is not None:
            kept &= self._new[a] | self._new[b]
        return np.where(swapped, b, a), np.where(swapped, a, b), kept

    def _texts(self, documents: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return np.array([bool(documents[list(places)].any()) for places in self.documents], dtype=bool)


@dataclass(frozen=True, slots=True)
class SpelledOut:
    """Pairs of documents; `origin` is the place of the pair of texts, -1 for two copies of one text.

    `left_out` counts pairs of documents that are not listed because a text has too many copies.
    """

    a: Places
    b: Places
    origin: Places
    left_out: int


def spelled_out(left: Places, right: Places, documents: Documents, cap: int | None) -> SpelledOut:
    """The pairs of documents between the texts of each pair, and among the copies of each text.

    Where that makes more than `cap` pairs, only those with the first copy of either text are listed.
    """
    sizes = np.array([len(places) for places in documents], dtype=np.int64)
    first = np.array([places[0] for places in documents], dtype=np.int32)
    plain = (sizes[left] == 1) & (sizes[right] == 1)
    several, left_out = [], 0
    for a, b, origin in _with_copies(left, right, sizes, plain):
        made = list(_between(documents[a], documents[b], cap) if origin >= 0 else _among(documents[a], cap))
        left_out += (len(documents[a]) * len(documents[b]) if origin >= 0 else _all_among(len(documents[a]))) - len(made)
        several += [(one, other, origin) for one, other in made]
    rest = np.array(several, dtype=np.int32).reshape(len(several), 3)
    return SpelledOut(
        np.concatenate([first[left[plain]], rest[:, 0]]),
        np.concatenate([first[right[plain]], rest[:, 1]]),
        np.concatenate([np.flatnonzero(plain).astype(np.int32), rest[:, 2]]),
        left_out,
    )


def _with_copies(
    left: Places, right: Places, sizes: NDArray[np.int64], plain: NDArray[np.bool_]
) -> Iterator[tuple[int, int, int]]:
    """Pairs of texts of which one has copies, with their place; then each text that has copies, with itself."""
    for place in np.flatnonzero(~plain).tolist():
        yield int(left[place]), int(right[place]), place
    for text in np.flatnonzero(sizes > 1).tolist():
        yield text, text, -1


def _between(one: Sequence[int], other: Sequence[int], cap: int | None) -> Iterator[tuple[int, int]]:
    if cap is None or len(one) * len(other) <= cap:
        yield from product(one, other)
        return
    yield from ((one[0], document) for document in other)
    yield from ((document, other[0]) for document in one[1:])


def _among(copies: Sequence[int], cap: int | None) -> Iterator[tuple[int, int]]:
    if cap is None or _all_among(len(copies)) <= cap:
        yield from combinations(copies, 2)
        return
    yield from ((copies[0], document) for document in copies[1:])


def _all_among(copies: int) -> int:
    return copies * (copies - 1) // 2
