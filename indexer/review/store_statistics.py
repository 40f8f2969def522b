"""Statistics of the groups of a store as they are stored; no documents are compared."""

from __future__ import annotations

import heapq
import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from indexer.fingerprinting.hashing import distinct_values
from indexer.grouping.collection import Entry
from indexer.grouping.group_options import DEFAULT_OPTIONS, GroupOptions
from indexer.model import Progress, no_progress
from indexer.stores.abilities import FullStore, Outline, outlines
from indexer.stores.base import Store
from indexer.stores.journal import known_group_settings
from indexer.stores.requirements import require_recipe

# Figures of the statistics of a store, as pages and reports show them.


@dataclass(frozen=True, slots=True)
class FamilySize:
    """A group and its number of documents; `path` is that of its principal, or its id if gone."""

    id: str
    path: str
    documents: int


@dataclass(frozen=True, slots=True)
class LessSimilar:
    """The number of documents that are less similar to their principal than a threshold."""

    threshold: float
    documents: int


@dataclass(frozen=True, slots=True)
class Move:
    """Documents of one group that would be in another, named by their principals."""

    before: str
    before_path: str
    after: str
    after_path: str
    documents: int


@dataclass(frozen=True, slots=True)
class NearPair:
    """Two documents, named by id and path, that are similar enough for one group.

    `reason`: what keeps them out of it.
    """

    similarity: float
    a: str
    a_path: str
    b: str
    b_path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Preview:
    """The groups that a threshold would make, and the greatest moves between groups.

    `measure` decides; `estimated` if it is estimated from sketches. `gathered`: documents in
    groups of two or more; `moved`: documents that would be in another group than now. `separated`:
    pairs of texts that are similar enough, and that the rules of the last `group` keep out of one
    group.
    """

    threshold: float
    measure: str
    estimated: bool
    documents: int
    families: int
    gathered: int
    largest: int
    moved: int
    moves: tuple[Move, ...] = ()
    separated: int = 0


@dataclass(frozen=True, slots=True)
class FamilyChange:
    """A group that would split, or that would be made of several.

    `parts`: the largest groups that it would become, or that it would be made of, each with how
    many of its documents; `number`: how many of these there are.
    """

    family: FamilySize
    parts: tuple[FamilySize, ...]
    number: int


@dataclass(frozen=True, slots=True)
class FamilyChanges:
    """The groups that a threshold would split or merge: the largest, and how many there are."""

    splits: tuple[FamilyChange, ...] = ()
    merges: tuple[FamilyChange, ...] = ()
    split: int = 0
    merged: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """The number of groups that one threshold makes, and of documents in them.

    `estimated` if similarities are estimated from sketches.
    """

    threshold: float
    families: int
    gathered: int
    estimated: bool = False


# The groups of a store, as its rows name them.

ALONE = math.inf  # instead of the similarity of a family without members besides its principal


class StoredFamilies:
    """Groups in the order in which they come first.

    `names`, `paths`, `sizes` and `similarities` by position: the path is that of the principal, or
    the group's name where that is gone; the similarity that of the member least similar to it.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.paths: list[str] = []
        self.sizes: list[int] = []
        self.similarities: list[float] = []
        self._positions: dict[str, int] = {}

    def add(self, rows: Iterable[Outline | Entry]) -> list[int]:
        """Count documents, and return the positions of their groups."""
        positions, sizes, similarities = self._positions, self.sizes, self.similarities
        added = []
        for row in rows:
            position = positions.setdefault(row.family, len(sizes))
            if position == len(sizes):
                self.names.append(row.family)
                self.paths.append(row.family)
                sizes.append(0)
                similarities.append(ALONE)
            sizes[position] += 1
            similarity = row.similarity
            if row.id == row.family:
                self.paths[position] = row.path
            elif similarity is not None and similarity < similarities[position]:
                similarities[position] = similarity
            added.append(position)
        return added


BINS = 20  # of similarities to the principal, .05 wide
SIZES = ((1, 1), (2, 2), (3, 5), (6, 10), (11, 50), (51, 200), (201, None))
_LARGEST, _LABELS = 10, 20
_THRESHOLDS = 10  # above the threshold of the families
_AT_ONCE = 1000  # documents, between two reports of progress


class StoreStatistics:
    """Figures from one reading of the rows of a store, without texts.

    `redundant`: documents that are not the principal of their group.
    `same_text`, `same_bytes`: documents that repeat an earlier one; empty texts repeat no text.
    `sizes`: how many groups are of each range of sizes, as (name, number).
    `similarities`: documents by similarity to their principal, in 20 steps of .05.
    `largest`: the ten largest groups.
    `less_similar`: how many documents are less similar to their principal, and would leave it, by
    some thresholds above `threshold`, up to 1.
    `measure`, `threshold`: those of the last `group`, or the default ones where `is_grouped` is
    False.
    """

    def __init__(
        self,
        batches: Iterable[Sequence[Outline | Entry]],
        options: GroupOptions,
        is_grouped: bool,
    ) -> None:
        self.options = options
        self.measure = options.measure
        self.threshold = options.threshold
        self.is_grouped = is_grouped
        self.documents = self.provisional = 0
        self._labels: Counter[str] = Counter()
        families, similarities = StoredFamilies(), array("d")
        exact, raw = _Repeats(), _Repeats()
        for batch in batches:
            families.add(batch)
            self.documents += len(batch)
            self.provisional += sum([row.provisional for row in batch])
            self._labels.update(chain.from_iterable([row.labels for row in batch]))
            similarities.extend([row.similarity for row in batch if row.similarity is not None])
            raw.add([row.raw for row in batch])
            exact.add([row.exact for row in batch if row.status != "empty"])
        self.redundant = self.documents - len(families.sizes)
        self.same_text, self.same_bytes = exact.count(), raw.count()
        self.sizes = _sizes(families.sizes)
        self.similarities = _histogram(similarities)
        self.largest = tuple(_largest(families))
        self.less_similar = tuple(_less_similar(similarities, options.threshold))

    @property
    def labels(self) -> dict[str, int]:
        """Return the twenty most frequent labels, each with how many documents have it."""
        return dict(self._labels.most_common(_LABELS))

    def relabel(self, changes: Iterable[tuple[tuple[str, ...], tuple[str, ...]]]) -> None:
        """Follow labels that were written, given the labels of each document before and after."""
        for before, after in changes:
            self._labels.subtract(before)
            self._labels.update(after)
        self._labels = +self._labels


def store_statistics(store: FullStore, progress: Progress = no_progress) -> StoreStatistics:
    """Return the statistics of a store; raises `StoreError` when nothing was indexed yet."""
    require_recipe(store)
    options = last_group_options(store)
    batches = outline_batches(store, progress)
    return StoreStatistics(batches, options or DEFAULT_OPTIONS, options is not None)


def last_group_options(store: FullStore) -> GroupOptions | None:
    """Return the options of the last `group` on a store, None where they are not known here."""
    settings = known_group_settings(store.address)
    return GroupOptions.from_settings(settings) if settings else None


def outline_batches(store: Store, progress: Progress = no_progress) -> Iterator[list[Outline]]:
    """Yield the outlines of a store, many together, whose fields are read one after the other."""
    total = store.counts().documents
    unread = outlines(store)
    done = 0
    while batch := list(islice(unread, _AT_ONCE)):
        progress("families", done, total)
        yield batch
        done += len(batch)


class _Repeats:
    """Counts digests that come again, in eight bytes each."""

    def __init__(self) -> None:
        self._hashes = array("q")

    def add(self, digests: Iterable[str]) -> None:
        """Add digests; empty ones count for nothing."""
        self._hashes.extend(map(hash, filter(None, digests)))

    def count(self) -> int:
        """Return how many repeat one before them."""
        hashes = np.frombuffer(self._hashes, np.int64) if self._hashes else np.zeros(0, np.int64)
        return len(hashes) - len(distinct_values(hashes))


def _largest(families: StoredFamilies) -> Iterator[FamilySize]:
    """Yield the ten largest groups of two documents or more, ties by name."""
    lines = zip(families.sizes, families.names, families.paths, strict=True)
    for size, name, path in heapq.nsmallest(_LARGEST, lines, key=lambda line: (-line[0], line[1])):
        if size > 1:
            yield FamilySize(name, path, size)


def _sizes(families: Iterable[int]) -> tuple[tuple[str, int], ...]:
    """Return the number of groups in each range of sizes."""
    sizes = Counter(families)
    ranges = []
    for low, high in SIZES:
        number = sum(count for size, count in sizes.items() if low <= size <= (high or size))
        ranges.append((_name_range(low, high), number))
    return tuple(ranges)


def _name_range(low: int, high: int | None) -> str:
    if high is None:
        return f"{low}+"
    return f"{low}" if low == high else f"{low}–{high}"


def _less_similar(similarities: Iterable[float], threshold: float) -> Iterator[LessSimilar]:
    """Yield the numbers of values below thresholds above this one, ten at most.

    >>> [(item.threshold, item.documents) for item in _less_similar([0.97, 0.99, 1.0], 0.975)]
    [(0.98, 1), (0.99, 1), (1.0, 2)]
    """
    values = np.sort(np.array(similarities, dtype=np.float64))
    first = math.floor(round(100 * threshold, 6)) + 1
    for hundredth in range(first, 101, max(1, -(-(101 - first) // _THRESHOLDS))):
        minimum = hundredth / 100
        yield LessSimilar(minimum, int(np.searchsorted(values, minimum)))


def _histogram(values: Iterable[float]) -> tuple[int, ...]:
    """Return similarities to the principal in twenty bins of .05; the last one holds 1, too.

    >>> _histogram([0.85, 0.9, 1.0])[17:]
    (1, 1, 1)
    """
    edges = [path / BINS for path in range(BINS + 1)]  # the nearest floats, as filters have them
    return tuple(np.histogram(np.array(values, dtype=np.float64), bins=edges)[0].tolist())
