"""Near-duplicate groups around a principal.

Pure definitions: documents and texts are numbers, and the caller supplies the similarity. Several
documents may carry one text and are then similar to 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.criteria import Value
from indexer.grouping.group_options import FieldOrder, Principal, rounded_sum
from indexer.system.external_memory import MemoryBudget, Sorter, encode_pair

SimilarityFunction: TypeAlias = Callable[[int, Sequence[int]], Sequence[float]]
ReadAhead: TypeAlias = Callable[[Sequence[tuple[int, int]]], None]
Texts: TypeAlias = NDArray[np.int32]
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
        self._has_pairs = (np.diff(self._ends) > 0).tobytes()

    def has_pairs(self, text: int) -> bool:
        """Return whether another text may be similar to this one."""
        return bool(self._has_pairs[text])

    def of(self, text: int) -> Texts:
        """Return the other texts that may be similar to this one, ascending."""
        codes = self._codes[self._ends[text] : self._ends[text + 1]]
        others: Texts = (codes & _LOW).astype(np.int32)
        return others


class Visit(NamedTuple):
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
    others; those that were are not yielded again. `similarities` gets principals in the order of
    coming, and may return a value below `threshold` for all but the first of the nearest.
    `read_ahead` is called with the pairs of texts that the next visits may measure, so that their
    texts can be read together.
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
    """The principals so far: by text, -1 for none, and their positions in the order of coming."""

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
            if not graph.has_pairs(text) or text in before or self._of_text[text] >= 0:
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
        if not graph.has_pairs(text):
            return -1, 0.0
        others = graph.of(text)
        others = others[self._of_text[others] >= 0]
        if not len(others):
            return -1, 0.0
        others = others[np.argsort(self._turns[others])]
        values = similarities(text, others.tolist())
        first = max(range(len(values)), key=values.__getitem__)  # ties go to the earlier one
        return int(self._of_text[others[first]]), values[first]


def principal_order(
    kind: Principal | FieldOrder,
    words: Sequence[int],
    modified: Sequence[int | None],
    sums: Sequence[float],
    ids: Sequence[str] | range,
    values: Sequence[Value] = (),
) -> list[int]:
    """Return documents in the order in which they may become principals; ties by id.

    `ids`: a range stands for documents that ascend by id.

    `original`: fewest quoted words first, which are the `values`, then greatest `sums`, then most
    words; `longest`: most words first; `first`: oldest first, those without a time last; `central`:
    greatest `sums` first; a field: by its `values`.

    >>> principal_order("longest", [5, 9, 9], [None] * 3, [0.0] * 3, ["a", "c", "b"])
    [2, 1, 0]
    """
    if isinstance(kind, FieldOrder):
        by_id = sorted(range(len(ids)), key=lambda position: ids[position])
        positions = kind.ranks([values[position] for position in by_id])
        return [by_id[position] for position in positions]
    keys: dict[Principal, Callable[[int], tuple[Any, ...]]] = {
        "original": lambda position: (values[position], -sums[position], -words[position]),
        "longest": lambda position: (-words[position],),
        "first": lambda position: (modified[position] is None, modified[position] or 0),
        "central": lambda position: (-sums[position],),
    }
    return sorted(range(len(ids)), key=lambda position: (*keys[kind](position), ids[position]))


def sum_similarities(pairs: Iterable[tuple[int, int, float]], copies: Sequence[int]) -> list[float]:
    """Return for each text the sum of the similarities of one of its documents to all others.

    `copies[i]` documents carry text i, and are similar to 1 among themselves. Sums are
    those of `rounded_sum`.
    """
    terms: list[list[float]] = [[float(number - 1)] for number in copies]
    for a, b, similarity in pairs:
        terms[a].append(similarity * copies[b])
        terms[b].append(similarity * copies[a])
    return list(map(rounded_sum, terms))


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
