"""Reconstruct the versions of a document: the probable origin of each text of a family, and the
changes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.compare import Change, Stretch, redline
from indexer.comparing.measures import ComparedText, feature_set, measure_pair
from indexer.errors import DocumentNotFound
from indexer.fingerprinting.fingerprint import rows_with_symbols
from indexer.model import Query, Row
from indexer.recipe import Recipe
from indexer.stores.base import Store
from indexer.stores.fields import named_date
from indexer.stores.requirements import require_recipe
from indexer.wording import count_of

# The probable origin of each version of a text: the tree with the fewest differences.

Numbers64 = NDArray[np.int64]
_NEVER, _ROOT, _MAX_DIFFERENCES = np.int64(1 << 61), np.int64(1 << 56), np.int64((1 << 24) - 1)


def lineage(
    differences: Numbers64, times: Sequence[int | None], preferred: Sequence[int]
) -> list[int | None]:
    """Return the origin of each version, None for the first of all.

    `differences`: (n, n), symmetric, the difference of two versions; 2**24 and more is the same,
    and n at most 1,000. `times`: the creation times, None where unknown: no version comes from a
    younger one, and versions without a time or with the same time may go either way. `preferred`:
    all versions, the likely first one first; it decides where differences and times do not: the
    tree begins with the earliest in this order, and of equally near origins the nearest in it is
    taken.

    >>> far = np.array([[0, 2, 5], [2, 0, 3], [5, 3, 0]])
    >>> lineage(far, [None] * 3, [0, 1, 2]), lineage(far, [30, 20, 10], [2, 1, 0])
    ([None, 0, 1], [1, 2, None])
    """
    count = len(differences)
    if not count:
        return []
    rank = np.empty(count, dtype=np.int64)
    rank[list(preferred)] = np.arange(count)
    costs = np.full((count + 1, count + 1), _NEVER)
    ties = np.abs(rank[:, None] - rank[None, :])
    weighted = np.minimum(differences, _MAX_DIFFERENCES) * (count * count + 1) + ties
    costs[:count, :count] = np.where(_is_younger(times), _NEVER, weighted)
    costs[count, :count] = _ROOT + rank
    parents = _arborescence(costs, count)
    return [None if parent == count else parent for parent in parents[:count]]


def _is_younger(times: Sequence[int | None]) -> NDArray[np.bool_]:
    """Flag the pairs (from, to) whose origin is younger than the copy."""
    is_dated = np.array([time is not None for time in times])
    seconds = np.array([time or 0 for time in times], dtype=np.int64)
    later: NDArray[np.bool_] = seconds[:, None] > seconds[None, :]
    later &= is_dated[:, None] & is_dated[None, :]
    return later


def _arborescence(costs: Numbers64, root: int) -> list[int]:
    """Return the parent of each node in the cheapest tree from the root, which is its own parent.

    `costs[i, j]` is from i to j.
    """
    costs = costs.copy()
    np.fill_diagonal(costs, _NEVER)
    parents: list[int] = costs.argmin(axis=0).tolist()
    parents[root] = root
    cycle = _cycle(parents)
    if not cycle:
        return parents
    outside = [node for node in range(len(costs)) if node not in set(cycle)]
    saved = np.array([costs[parents[node], node] for node in cycle])
    entering = costs[np.ix_(outside, cycle)] - saved
    leaving = costs[np.ix_(cycle, outside)]
    smaller = np.full((len(outside) + 1, len(outside) + 1), _NEVER)
    smaller[:-1, :-1] = costs[np.ix_(outside, outside)]
    smaller[:-1, -1] = entering.min(axis=1)
    smaller[-1, :-1] = leaving.min(axis=0)
    chosen = _arborescence(smaller, outside.index(root))
    for index, node in enumerate(outside):
        if node == root:
            continue
        if chosen[index] < len(outside):
            parents[node] = outside[chosen[index]]
        else:
            parents[node] = cycle[int(leaving[:, index].argmin())]
    entry = chosen[-1]
    parents[cycle[int(entering[entry].argmin())]] = outside[entry]
    return parents


def _cycle(parents: Sequence[int]) -> list[int]:
    """Return the nodes of one cycle of parents; empty when there is none.

    A node that is its own parent is not a cycle.
    """
    visited_from = [-1] * len(parents)
    for start in range(len(parents)):
        node = start
        while visited_from[node] < 0 and parents[node] != node:
            visited_from[node] = start
            node = parents[node]
        if visited_from[node] == start and parents[node] != node:
            return _around(parents, node)
    return []


def _around(parents: Sequence[int], start: int) -> list[int]:
    nodes, node = [start], parents[start]
    while node != start:
        nodes.append(node)
        node = parents[node]
    return nodes


MAX_VERSIONS = 200
_FEATURES_AT_ONCE = 1 << 14
Source: TypeAlias = Literal["document", "file"]


@dataclass(frozen=True)
class Step:
    """The change from one version to another, which is measured on first use.

    `dated`: the origin is older by its date. Otherwise which of the two came first is not known.
    """

    origin: str
    dated: bool
    texts: tuple[str, str] = field(repr=False)
    recipe: Recipe = field(repr=False)

    @cached_property
    def redline(self) -> tuple[Stretch, ...]:
        """The changes."""
        return tuple(redline(*self.texts))

    @cached_property
    def similarity(self) -> float:
        """The similarity of both texts by `lcs`."""
        before, after = (ComparedText(text, self.recipe) for text in self.texts)
        return measure_pair("lcs", before, after).similarity

    @property
    def added(self) -> int:
        """The number of words that are added."""
        return self._words("added")

    @property
    def removed(self) -> int:
        """The number of words that are removed."""
        return self._words("removed")

    @property
    def is_measured(self) -> bool:
        """True once the changes and the similarity are known."""
        return self.__dict__.keys() >= {"redline", "similarity"}

    def _words(self, change: Change) -> int:
        return sum(stretch.words for stretch in self.redline if stretch.change == change)


@dataclass(frozen=True, slots=True)
class Version:
    """A text of a family: a document that has it, its other documents as (id, path), and its
    origin.

    `date` in milliseconds since 1970 UTC: the earliest of its documents, from the metadata of the
    document (last saved, or sent) or from its file. `step` is None for the first version. `depth`:
    steps from the first version.
    """

    id: str
    path: str
    words: int
    date: int | None
    source: Source | None
    copies: tuple[tuple[str, str], ...]
    depth: int
    step: Step | None


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions of a family, each after its origin. `documents` includes the copies; `notes` are
    sentences.
    """

    family: str
    documents: int
    versions: tuple[Version, ...]
    notes: tuple[str, ...]


def versions(store: Store, id: str, *, dates: bool = True) -> Versions:
    """Order the versions in the family of a document, identified by any of its members.

    The tree has the smallest number of differing features (`lineage`). Dates give the
    direction; with `dates` False, or where they are missing or the same, the tree begins with the
    shortest text, as drafts tend to grow. Of a family with more than 200 texts the 200 most
    similar to the principal are ordered.

    Raises `DocumentNotFound`, and `StoreError` when nothing was indexed yet.
    """
    return order_versions(read_members(store, id), require_recipe(store), dates=dates)


def order_versions(members: Sequence[Row], recipe: Recipe, *, dates: bool = True) -> Versions:
    """Order the versions among documents of a family, the first 200 texts as above."""
    name = members[0].family
    rows = sorted(members, key=lambda row: (row.id != name, -(row.similarity or 0.0), row.id))
    texts = _texts(list(rows_with_symbols(rows, recipe)))
    left_out, texts = len(texts) - MAX_VERSIONS, texts[:MAX_VERSIONS]
    dated = [_earliest(copies) if dates else (None, None) for copies in texts]
    representatives = [copies[0] for copies in texts]
    order = sorted(
        range(len(representatives)),
        key=lambda position: _likely_first(dated[position][0], representatives[position]),
    )
    parents = lineage(_differences(representatives, recipe), [date for date, _ in dated], order)
    ordered = tuple(_ordered_versions(texts, dated, parents, order, recipe))
    return Versions(name, len(rows), ordered, tuple(_notes(ordered, dates, left_out)))


def read_members(store: Store, id: str) -> list[Row]:
    """Return the documents of the family of one; raise `DocumentNotFound`."""
    document = store.get([id]).get(id)
    if document is None:
        raise DocumentNotFound(id=id)
    hits = store.search(Query("", (("family", document.family),), "path")).hits
    ids = [hit.id for hit in islice(hits, 10 * MAX_VERSIONS)]
    rows = store.get(list(dict.fromkeys([id, *ids])))
    return [row for row in rows.values() if row.family == document.family]


def _texts(rows: Sequence[Row]) -> list[list[Row]]:
    """Group documents by normalised text, in the given order."""
    same: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        same[row.exact or row.id].append(row)
    return list(same.values())


def _earliest(copies: Sequence[Row]) -> tuple[int | None, Source | None]:
    dates = [own_date(row) for row in copies]
    return min((date for date in dates if date[0] is not None), default=(None, None))


def own_date(row: Row) -> tuple[int | None, Source | None]:
    """Return when a document was saved or sent by its metadata, else when its file was changed."""
    date, kind = named_date(row.metadata, row.content_type, row.modified)
    return date, kind if kind in ("file", None) else "document"


def _likely_first(date: int | None, row: Row) -> tuple[bool, int, int, str]:
    return date is None, date or 0, row.words, row.id


def _differences(representatives: Sequence[Row], recipe: Recipe) -> Numbers64:
    """Return how many features two versions do not share, as an (n, n) matrix."""
    sets = [feature_set(row.text, recipe).hashes for row in representatives]
    sizes = np.array(list(map(len, sets)), dtype=np.int64)
    hashes = np.concatenate(sets)
    order = np.argsort(hashes)
    hashes, owners = hashes[order], np.repeat(np.arange(len(sets)), sizes)[order]
    columns = np.cumsum(np.append(0, hashes[1:] != hashes[:-1])) if len(hashes) else order
    common = np.zeros((len(sets), len(sets)))
    for first in range(0, int(columns[-1]) + 1 if len(columns) else 0, _FEATURES_AT_ONCE):
        start, end = np.searchsorted(columns, (first, first + _FEATURES_AT_ONCE))
        table = np.zeros((len(sets), _FEATURES_AT_ONCE), dtype=np.float32)
        table[owners[start:end], columns[start:end] - first] = 1
        common += table @ table.T
    return sizes[:, None] + sizes[None, :] - 2 * common.astype(np.int64)


def _ordered_versions(
    texts: Sequence[Sequence[Row]],
    dated: Sequence[tuple[int | None, Source | None]],
    parents: Sequence[int | None],
    order: Sequence[int],
    recipe: Recipe,
) -> Iterator[Version]:
    """Yield the versions depth-first, each branch to its end before the next."""
    waiting = [(position, 0) for position in order if parents[position] is None]
    while waiting:
        position, depth = waiting.pop()
        row, parent = texts[position][0], parents[position]
        step = None
        if parent is not None:
            origin = texts[parent][0]
            is_dated = _before(dated[parent][0], dated[position][0])
            step = Step(origin.id, is_dated, (origin.text, row.text), recipe)
        copies = tuple((row_copy.id, row_copy.path) for row_copy in texts[position][1:])
        yield Version(row.id, row.path, row.words, *dated[position], copies, depth, step)
        waiting.extend(
            (child, depth + 1) for child in reversed(order) if parents[child] == position
        )


def _before(earlier: int | None, later: int | None) -> bool:
    return earlier is not None and later is not None and earlier < later


def _notes(ordered: Sequence[Version], dates: bool, left_out: int) -> Iterator[str]:
    """Yield notes on how reliable the order is."""
    steps = [version.step for version in ordered if version.step]
    if steps:
        yield (
            "an order that explains the versions by the fewest differences; "
            "it is probable, not proven"
        )
    undated = sum(not step.dated for step in steps)
    if undated:
        reason = "their dates are the same or missing" if dates else "dates were left out"
        yield (
            f"which came first is not known for {undated:,} of {len(steps):,} steps ({reason}); "
            "the shortest stands first"
        )
    if any(version.source == "file" for version in ordered):
        yield (
            "some dates are those of files, which copying may change: "
            "an order by the texts alone may be the better one"
        )
    if left_out > 0:
        yield f"{count_of(left_out, 'more text')} of the group not ordered"
