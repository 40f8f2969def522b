"""Survey of a whole store: its share of duplicates, the sizes of families, and the changes that
another threshold would make.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from indexer.clustering.principals import principal_order
from indexer.clustering.regroup import DocumentOrder, SimilarPairs, ThresholdFamilies
from indexer.joins.bands import Join
from indexer.joins.slot_bounds import similarity_intervals, slot_similarity
from indexer.joins.slot_counter import SlotCounter
from indexer.matching.collection import Collection, Entry, collect
from indexer.matching.limits import CAP
from indexer.matching.verification import Verifier
from indexer.sketch.plan import plan_for_recall
from indexer.stores.base import Store
from indexer.stores.requirements import require_recipe
from indexer.system.progress_callback import Progress, no_progress

FLOOR, RECALL = 0.5, 0.99
MOST_VERIFIED = 20_000
BINS = 20
SIZES = ((1, 1), (2, 2), (3, 5), (6, 10), (11, 50), (51, 200), (201, None))
STEPS = tuple(step / 100 for step in range(50, 101, 2))


@dataclass(frozen=True, slots=True)
class FamilySize:
    """A family by its id, the path of its principal (its id if that is gone), and its number of
    documents.
    """

    id: str
    path: str
    documents: int


@dataclass(frozen=True, slots=True)
class Move:
    """Documents of one family that would be in another, named by their principals."""

    before: str
    before_path: str
    after: str
    after_path: str
    documents: int


@dataclass(frozen=True, slots=True)
class Preview:
    """The families that a threshold would make, and the families that would change most. `measure`
    names what decides.
    """

    threshold: float
    measure: str
    documents: int
    families: int
    gathered: int
    largest: int
    moved: int
    moves: tuple[Move, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """Number of families that one threshold makes, and of documents in them."""

    threshold: float
    families: int
    gathered: int


class Survey:
    """Figures from one reading of a whole store. `measure`: the measure by which `at` decides;
    `estimate` if there are very many pairs.
    """

    def __init__(
        self, store: Store, collection: Collection, progress: Progress = no_progress
    ) -> None:
        entries = collection.entries
        self.documents = len(entries)
        self._ids = [entry.id for entry in entries]
        self._paths = [entry.path for entry in entries]
        self.provisional = sum(entry.provisional for entry in entries)
        families = Counter(entry.family for entry in entries)
        self.sizes = _sizes(families)
        self.redundant = sum(size - 1 for size in families.values())
        filled = [entry for entry in entries if entry.status != "empty"]
        self.same_text = _count_repeats(entry.exact for entry in filled)
        self.same_bytes = _count_repeats(entry.raw for entry in filled)
        self.similarities = _histogram(
            [entry.similarity for entry in entries if entry.similarity is not None]
        )
        labels = Counter(label for entry in entries for label in entry.labels)
        self.labels = dict(labels.most_common(20))
        places = {id: place for place, id in enumerate(self._ids)}
        by_size = sorted(families.items(), key=lambda item: (-item[1], item[0]))
        self.largest = tuple(
            FamilySize(id, self._paths[places[id]] if id in places else id, size)
            for id, size in by_size[:10]
            if size > 1
        )
        self.measure, self._pairs = _pairs(store, collection, places, progress)
        self.steps = tuple(self._steps())

    def at(self, threshold: float) -> Preview:
        """Return the families at a threshold, not written; below `FLOOR` those at `FLOOR`. A recipe
        without slots has none.
        """
        preview = self._at(max(FLOOR, round(threshold, 3)))
        if preview is None:
            return Preview(threshold, self.measure, self.documents, 0, 0, 0, 0)
        return Preview(
            preview.threshold,
            self.measure,
            self.documents,
            preview.families,
            preview.gathered,
            preview.largest,
            preview.moved,
            self._moves(preview),
        )

    def _steps(self) -> Iterator[Step]:
        for threshold in STEPS:
            preview = self._at(threshold)
            if preview:
                yield Step(threshold, preview.families, preview.gathered)

    @lru_cache(maxsize=256)  # noqa: B019 - a survey lives as long as its cache
    def _at(self, threshold: float) -> ThresholdFamilies | None:
        return self._pairs.at(threshold) if self._pairs else None

    def _moves(self, preview: ThresholdFamilies) -> tuple[Move, ...]:
        """Return the twenty greatest moves."""
        if not self._pairs:
            return ()
        before = self._pairs.before
        changed = np.flatnonzero(preview.heads != before)
        ends = zip(before[changed].tolist(), preview.heads[changed].tolist(), strict=True)
        greatest = sorted(Counter(ends).items(), key=lambda item: (-item[1], item[0]))[:20]
        ids = self._ids
        paths = self._paths
        return tuple(
            Move(ids[old], paths[old], ids[new], paths[new], number)
            for (old, new), number in greatest
        )


def survey(store: Store, progress: Progress = no_progress) -> Survey:
    """Survey a store, read once; the texts of pairs that are measured are read again, up to 20,000
    pairs.

    Raises `StoreError` when nothing was indexed yet.
    """
    return Survey(store, collect(store, require_recipe(store), progress), progress)


def _sizes(families: Counter[str]) -> tuple[tuple[str, int], ...]:
    """Return the number of families in each range of sizes."""
    sizes = Counter(families.values())
    ranges = []
    for low, high in SIZES:
        number = sum(count for size, count in sizes.items() if low <= size <= (high or size))
        ranges.append((_name_range(low, high), number))
    return tuple(ranges)


def _name_range(low: int, high: int | None) -> str:
    if high is None:
        return f"{low}+"
    return f"{low}" if low == high else f"{low}–{high}"


def _count_repeats(digests: Iterable[str]) -> int:
    """Return the number of documents that repeat one before them."""
    return sum(number - 1 for digest, number in Counter(digests).items() if digest)


def _histogram(values: list[float]) -> tuple[int, ...]:
    """Return similarities to the principal in twenty bins of .05; the last one holds 1, too."""
    return tuple(np.histogram(values, bins=BINS, range=(0, 1))[0].tolist())


def _pairs(
    store: Store, collection: Collection, places: dict[str, int], progress: Progress
) -> tuple[str, SimilarPairs | None]:
    """Return the measure and the pairs of texts at `FLOOR` or above, by the features of the texts
    or, if they are many, by their slots.
    """
    if not collection.slots.shape[1]:
        return "none", None
    left, right, equal = _similar_by_slots(collection, progress)
    similarity = slot_similarity(equal, collection.slots.shape[1], collection.slot_bits)
    measure = "estimate"
    if len(left) <= MOST_VERIFIED:
        progress("measuring pairs", 0, len(left))
        measure = "jaccard"
        similarity = Verifier(store, collection, measure).similarities(left, right)
    documents = _document_order(list(collection.entries), places)
    return measure, SimilarPairs(documents, left, right, similarity)


def _document_order(entries: Sequence[Entry], places: dict[str, int]) -> DocumentOrder:
    texts = np.array([entry.text for entry in entries], dtype=np.int32)
    before = np.array(
        [places.get(entry.family, place) for place, entry in enumerate(entries)], dtype=np.int32
    )
    words = [entry.words for entry in entries]
    ids = [entry.id for entry in entries]
    order = principal_order("longest", words, [None] * len(ids), [0.0] * len(ids), ids)
    order.sort(key=lambda place: entries[place].status != "complete")
    return DocumentOrder(order, texts, before)


def _similar_by_slots(
    collection: Collection, progress: Progress
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint16]]:
    """Return pairs of texts with slots enough in common for `FLOOR`, ascending by left, then
    right.
    """
    width = collection.slots.shape[1]
    layout = plan_for_recall(FLOOR + 0.1, RECALL, width)
    join = Join(
        collection.slots,
        layout.bands,
        layout.rows,
        np.arange(len(collection.slots)),
        CAP,
        collection.budget,
    )
    counter = SlotCounter(collection.slots, collection.budget)
    least = int(np.argmax(similarity_intervals(width, bits=collection.slot_bits)[1] >= FLOOR))
    blocks = [(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.uint16))]
    for left, right in join.blocks():
        blocks.append(counter.at_least(left, right, least))
        progress("comparing sketches", join.done, join.total)
    left, right, equal = (np.concatenate(column) for column in zip(*blocks, strict=True))
    order = np.lexsort((right, left))
    return left[order], right[order], equal[order]
