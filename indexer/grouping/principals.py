"""Near-duplicate groups around a principal, and clusters of connected texts.

Pure definitions: documents and texts are numbers, and the caller supplies the similarity. Several
documents may carry one text and are then similar to 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.criteria import METADATA, ORDERED, stored_value
from indexer.errors import UsageError
from indexer.model import Row
from indexer.system.external_memory import MemoryBudget, Sorter, encode_pair

Principal: TypeAlias = Literal["original", "longest", "first", "central"]
SimilarityFunction: TypeAlias = Callable[[int, Sequence[int]], Sequence[float]]
ReadAhead: TypeAlias = Callable[[Sequence[tuple[int, int]]], None]
Texts: TypeAlias = NDArray[np.int32]
BATCH = 500
AHEAD = 256  # visits whose pairs are announced together
_HALF, _LOW = np.uint64(32), np.uint64((1 << 32) - 1)


class Graph:
    """The texts that may be similar to each of `count` texts.

    `pairs`: blocks of pairs of texts, each pair once. Takes 16 bytes a pair of the memory budget.
    """

    def __init__(
        self, pairs: Iterable[tuple[Texts, Texts]], count: int, budget: MemoryBudget | None = None
    ) -> None:
        sorter = Sorter(budget or MemoryBudget())
        for left, right in pairs:
            sorter.add(encode_pair(left, right))
            sorter.add(encode_pair(right, left))
        self._codes = sorter.sorted()
        self._ends = np.searchsorted(self._codes, np.arange(count + 1, dtype=np.uint64) << _HALF)

    def of(self, text: int) -> Texts:
        """Return the other texts that may be similar to this one, ascending."""
        codes = self._codes[self._ends[text] : self._ends[text + 1]]
        others: Texts = (codes & _LOW).astype(np.int32)
        return others


@dataclass(frozen=True, slots=True)
class Visit:
    """A document to be assigned to a family."""

    document: int
    text: int


def announce_nothing(_pairs: Sequence[tuple[int, int]]) -> None:
    """Take no notice of pairs that may be measured soon."""


def assign_principals(
    visits: Iterable[Visit],
    graph: Graph,
    texts: int,
    similarities: SimilarityFunction,
    threshold: float,
    known: Texts | None = None,
    read_ahead: ReadAhead = announce_nothing,
) -> Iterator[tuple[int, int, float | None]]:
    """Yield each visited document, its principal and the similarity to it.

    A document without a principal is its own, with the similarity None. In the order of the visits
    each document joins the most similar earlier principal, at `threshold` or more, among those of
    its own text and of the texts that `graph` gives; ties go to the earlier one. Otherwise it
    becomes a principal. `known`: the principal of each document that was assigned before, -1 of the
    others; those that were are not yielded again. `read_ahead` is called with the pairs of texts
    that the next visits may measure, so that their texts can be read together.
    """
    principals = _PrincipalTexts(texts)
    for visit in _announced(visits, graph, principals, read_ahead):
        if known is not None and known[visit.document] >= 0:
            if known[visit.document] == visit.document:
                principals.add(visit)
            continue
        principal, similarity = principals.most_similar(visit.text, graph, similarities)
        if principal >= 0 and similarity >= threshold:
            yield visit.document, principal, similarity
            continue
        yield visit.document, visit.document, None
        principals.add(visit)


def _announced(
    visits: Iterable[Visit], graph: Graph, principals: _PrincipalTexts, read_ahead: ReadAhead
) -> Iterator[Visit]:
    """Yield the visits, `AHEAD` at a time after the pairs that these may measure."""
    waiting = iter(visits)
    while batch := list(islice(waiting, AHEAD)):
        read_ahead(principals.possible_pairs([visit.text for visit in batch], graph))
        yield from batch


class _PrincipalTexts:
    """The principals so far: by text, -1 for none, and their places in the order of coming."""

    def __init__(self, texts: int) -> None:
        self._of_text: NDArray[np.int64] = np.full(texts, -1)
        self._turns: NDArray[np.int64] = np.zeros(texts, np.int64)
        self._count = 0

    def add(self, visit: Visit) -> None:
        """Make a document a principal."""
        self._of_text[visit.text] = visit.document
        self._turns[visit.text] = self._count
        self._count += 1

    def possible_pairs(self, coming: Sequence[int], graph: Graph) -> list[tuple[int, int]]:
        """Return the pairs that texts which come in this order may be measured in.

        Each with the principals so far, and with those before it, which may become principals.
        """
        pairs: list[tuple[int, int]] = []
        before: set[int] = set()
        for text in coming:
            if text in before or self._of_text[text] >= 0:
                continue
            others = graph.of(text)
            is_principal = self._of_text[others] >= 0
            pairs += [
                (text, other)
                for other, is_one in zip(others.tolist(), is_principal.tolist(), strict=True)
                if is_one or other in before
            ]
            before.add(text)
        return pairs

    def most_similar(
        self, text: int, graph: Graph, similarities: SimilarityFunction
    ) -> tuple[int, float]:
        """Return the principal to join and its similarity; (-1, 0) when there is no candidate."""
        if self._of_text[text] >= 0:
            return int(self._of_text[text]), 1.0
        others = graph.of(text)
        others = others[self._of_text[others] >= 0]
        if not len(others):
            return -1, 0.0
        values = np.array(similarities(text, others.tolist()))
        best = values.max()
        ties = others[values == best]
        first = ties[np.argmin(self._turns[ties])]
        return int(self._of_text[first]), float(best)


def principal_order(
    kind: Principal | FieldOrder,
    words: Sequence[int],
    modified: Sequence[int | None],
    sums: Sequence[float],
    ids: Sequence[str],
    values: Sequence[Value] = (),
) -> list[int]:
    """Return documents in the order in which they may become principals; ties by id.

    `original`: fewest quoted words first, which are the `values`, then greatest `sums`, then most
    words; `longest`: most words first; `first`: oldest first, those without a time last; `central`:
    greatest `sums` first; a field: by its `values`.

    >>> principal_order("longest", [5, 9, 9], [None] * 3, [0.0] * 3, ["a", "c", "b"])
    [2, 1, 0]
    """
    if isinstance(kind, FieldOrder):
        by_id = sorted(range(len(ids)), key=lambda place: ids[place])
        places = kind.places([values[place] for place in by_id])
        return [by_id[place] for place in places]
    keys: dict[Principal, Callable[[int], tuple[Any, ...]]] = {
        "original": lambda place: (values[place], -sums[place], -words[place]),
        "longest": lambda place: (-words[place],),
        "first": lambda place: (modified[place] is None, modified[place] or 0),
        "central": lambda place: (-sums[place],),
    }
    return sorted(range(len(ids)), key=lambda place: (*keys[kind](place), ids[place]))


def sum_similarities(pairs: Iterable[tuple[int, int, float]], copies: Sequence[int]) -> list[float]:
    """Return for each text the sum of the similarities of one of its documents to all others.

    `copies[i]` documents carry text i, and are similar to 1 among themselves. Sums are exactly
    rounded, so they do not depend on the order of the pairs.
    """
    terms: list[list[float]] = [[float(number - 1)] for number in copies]
    for a, b, similarity in pairs:
        terms[a].append(similarity * copies[b])
        terms[b].append(similarity * copies[a])
    return [math.fsum(values) for values in terms]


def sum_equal_slots(
    blocks: Iterable[tuple[Texts, Texts, NDArray[np.uint16]]], copies: NDArray[np.int64], width: int
) -> list[float]:
    """Return for each text the equal slots of one of its documents with all others, summed.

    `blocks`: pairs of texts with their equal slots. `copies[i]` documents carry text i, whose
    `width` slots are equal. The sums are integers.
    """
    sums = (copies - 1) * float(width)
    for left, right, equal in blocks:
        sums += np.bincount(left, equal * copies[right], len(copies))
        sums += np.bincount(right, equal * copies[left], len(copies))
    totals: list[float] = sums.tolist()
    return totals


class ConnectedTexts:
    """Texts connected through any chain of pairs (union-find).

    The least text of a chain is its representative.
    """

    def __init__(self, texts: int) -> None:
        self._parents = list(range(texts))

    def root(self, text: int) -> int:
        """Return the least text of the chain."""
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
        """Connect the pairs that reach `threshold`; connected ones are not measured."""
        for start in range(0, len(pairs), BATCH):
            batch = pairs[start : start + BATCH]
            apart = [(a, b) for a, b in batch if self.root(a) != self.root(b)]
            for (a, b), value in zip(apart, similarities(apart), strict=True):
                if value >= threshold:
                    self.join(a, b)


_DIRECTIONS = {"": False, "asc": False, "desc": True}


Value: TypeAlias = str | int | None


@dataclass(frozen=True, slots=True)
class FieldOrder:
    """An order by a field of `ORDERED`, or by `metadata.NAME`.

    Documents without a value come last in either direction.
    """

    field: str
    is_descending: bool = False

    def __str__(self) -> str:
        return f"{self.field}:desc" if self.is_descending else self.field

    @property
    def metadata_name(self) -> str | None:
        """Return the name of the metadata that is compared; None for another field."""
        return self.field.removeprefix(METADATA) if self.field.startswith(METADATA) else None

    def value(self, row: Row) -> Value:
        """Return what a document is compared by."""
        return stored_value(row, self.field)

    def places(self, values: Sequence[Value]) -> list[int]:
        """Return the places of values of this field in order, equal ones as they come.

        >>> FieldOrder("size", is_descending=True).places([3, None, 9, 3])
        [2, 0, 3, 1]
        """
        present = [(value, place) for place, value in enumerate(values) if value is not None]
        present.sort(key=_first, reverse=self.is_descending)
        absent = [place for place, value in enumerate(values) if value is None]
        return [place for _, place in present] + absent


def _first(pair: tuple[str | int, int]) -> tuple[str | int]:
    return (pair[0],)


def parse_order(text: str) -> FieldOrder:
    """Return the order that a user writes as `FIELD`, `FIELD:asc` or `FIELD:desc`.

    Raises `UsageError` for another field or direction.

    >>> parse_order("modified:desc")
    FieldOrder(field='modified', is_descending=True)
    """
    field, _, direction = text.partition(":")
    if field.startswith(METADATA):
        field, _, direction = _split_last(text)
    is_metadata = field.startswith(METADATA) and field != METADATA
    is_known = field in ORDERED or is_metadata
    if not is_known or direction not in _DIRECTIONS:
        raise UsageError(
            f"cannot order by {text!r}; give a field, or FIELD:desc for the opposite order: "
            f"{', '.join(ORDERED)} or metadata.NAME"
        )
    return FieldOrder(field, _DIRECTIONS[direction])


def _split_last(text: str) -> tuple[str, str, str]:
    """Return field, colon and direction; names of metadata hold colons, such as `dc:title`."""
    field, colon, direction = text.rpartition(":")
    return (field, colon, direction) if direction in ("asc", "desc") else (text, "", "")
