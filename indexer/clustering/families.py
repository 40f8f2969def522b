"""Families around a principal, and clusters by chains: what they are, whatever a document is and
however two are compared.

Documents and texts are numbers; several documents may carry one text and are then similar to 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.joins.external_sort import MemoryBudget, Sorter

Principal: TypeAlias = Literal["longest", "first", "central"]
Similarities: TypeAlias = Callable[[int, Sequence[int]], Sequence[float]]
Texts: TypeAlias = NDArray[np.int32]
BATCH = 500
_HALF, _LOW = np.uint64(32), np.uint64((1 << 32) - 1)


class Graph:
    """Which texts may be similar to which; `count` texts, pairs each given once, in blocks; 16
    bytes a pair in the room.
    """

    def __init__(
        self, pairs: Iterable[tuple[Texts, Texts]], count: int, budget: MemoryBudget | None = None
    ) -> None:
        sorter = Sorter(budget or MemoryBudget())
        for left, right in pairs:
            one, other = left.astype(np.uint64), right.astype(np.uint64)
            sorter.add(one << _HALF | other)
            sorter.add(other << _HALF | one)
        self._codes = sorter.sorted()
        self._ends = np.searchsorted(self._codes, np.arange(count + 1, dtype=np.uint64) << _HALF)

    def of(self, text: int) -> Texts:
        """The texts that may be similar to this one, itself left out, ascending."""
        others: Texts = (self._codes[self._ends[text] : self._ends[text + 1]] & _LOW).astype(
            np.int32
        )
        return others


@dataclass(frozen=True, slots=True)
class Visit:
    """A document on its way into a family. `leads`: it may become a principal."""

    document: int
    text: int
    leads: bool


def families(
    visits: Iterable[Visit], graph: Graph, texts: int, similarities: Similarities, threshold: float
) -> dict[int, tuple[int, float | None]]:
    """The principal of each visited document, itself where it has none, and the similarity to it
    (None to itself).

    In the order of the visits each document joins the most similar earlier principal among those of
    its own text and of the texts that `graph` gives, at `threshold` or more; ties go to the earlier
    one. Else it becomes a principal if it may.
    """
    led: NDArray[np.int64] = np.full(texts, -1)
    made: dict[int, tuple[int, float | None]] = {}
    for visit in visits:
        principal, similarity = _most_similar(visit.text, led, graph, similarities, made)
        if principal >= 0 and similarity >= threshold:
            made[visit.document] = (principal, similarity)
            continue
        made[visit.document] = (visit.document, None)
        if visit.leads:
            led[visit.text] = visit.document
    return made


def _most_similar(
    text: int,
    led: NDArray[np.int64],
    graph: Graph,
    similarities: Similarities,
    visited: dict[int, tuple[int, float | None]],
) -> tuple[int, float]:
    """The principal to join and its similarity; (-1, 0) when there is no candidate."""
    if led[text] >= 0:
        return int(led[text]), 1.0
    others = graph.of(text)
    others = others[led[others] >= 0]
    if not len(others):
        return -1, 0.0
    values = similarities(text, others.tolist())
    best = max(values)
    ties = {
        int(led[other])
        for other, value in zip(others.tolist(), values, strict=True)
        if value == best
    }
    if len(ties) == 1:
        return ties.pop(), best
    return next(document for document in visited if document in ties), best


def principal_order(
    kind: Principal,
    words: Sequence[int],
    modified: Sequence[int | None],
    sums: Sequence[float],
    ids: Sequence[str],
) -> list[int]:
    """Documents in the order in which they may become principals; ties by id.

    `longest`: most words first; `first`: oldest first, those without a time last; `central`:
    greatest `sums` first.

    >>> principal_order("longest", [5, 9, 9], [None] * 3, [0.0] * 3, ["a", "c", "b"])
    [2, 1, 0]
    """
    keys: dict[Principal, Callable[[int], tuple[float, ...]]] = {
        "longest": lambda place: (-words[place],),
        "first": lambda place: (modified[place] is None, modified[place] or 0),
        "central": lambda place: (-sums[place],),
    }
    return sorted(range(len(ids)), key=lambda place: (*keys[kind](place), ids[place]))


def sum_similarities(pairs: Iterable[tuple[int, int, float]], copies: Sequence[int]) -> list[float]:
    """For each text the similarities of its documents to all others, summed exactly rounded, so in
    any order of pairs.

    `copies[i]` documents carry text i, and are similar to 1 among themselves.
    """
    parts: list[list[float]] = [[float(number - 1)] for number in copies]
    for a, b, similarity in pairs:
        parts[a].append(similarity * copies[b])
        parts[b].append(similarity * copies[a])
    return [math.fsum(part) for part in parts]


class ConnectedTexts:
    """Texts connected through any chain of pairs (union-find; the least text of a chain stands for
    it).
    """

    def __init__(self, texts: int) -> None:
        self._parents = list(range(texts))

    def root(self, text: int) -> int:
        """The least text of the chain."""
        parents = self._parents
        while parents[text] != text:
            parents[text] = parents[parents[text]]
            text = parents[text]
        return text

    def join(self, a: int, b: int) -> None:
        """Connect two texts."""
        a, b = self.root(a), self.root(b)
        self._parents[max(a, b)] = min(a, b)

    def extend(
        self,
        pairs: Sequence[tuple[int, int]],
        similarities: Callable[[Sequence[tuple[int, int]]], Sequence[float]],
        threshold: float,
    ) -> None:
        """Connect the pairs that reach `threshold`; those that are connected already are not
        measured.
        """
        for start in range(0, len(pairs), BATCH):
            apart = [
                (a, b) for a, b in pairs[start : start + BATCH] if self.root(a) != self.root(b)
            ]
            for (a, b), value in zip(apart, similarities(apart), strict=True):
                if value >= threshold:
                    self.join(a, b)
