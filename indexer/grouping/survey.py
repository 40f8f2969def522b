"""A whole store surveyed: how much of it is duplicate, how large families are, and what another
threshold would change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from indexer.clustering.families import principal_order
from indexer.clustering.regroup import SimilarPairs, ThresholdFamilies
from indexer.joins.bands import Join
from indexer.joins.slot_bounds import similarity_intervals
from indexer.joins.slot_counter import SlotCounter
from indexer.matching.collection import Collection, collect
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
    """A family by its id, the path of its principal (of any member where that is gone), and how
    many documents it has.
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
    """How many families one threshold makes, and how many documents are in them."""

    threshold: float
    families: int
    gathered: int


class Survey:
    """What reading all of a store once told. `measure`: what `at` decides by; `estimate` where
    there are very many pairs.
    """

    def __init__(
        self, store: Store, collection: Collection, progress: Progress = no_progress
    ) -> None:
        entries = collection.entries
        self.documents = len(entries)
        self._ids, self._paths = [entry.id for entry in entries], [entry.path for entry in entries]
        self.provisional = sum(entry.provisional for entry in entries)
        families = Counter(entry.family for entry in entries)
        self.sizes = _sizes(families)
        self.redundant = sum(size - 1 for size in families.values())
        self.same_text = _repeated(entry.exact for entry in entries if entry.text is not None)
        self.same_bytes = _repeated(entry.raw for entry in entries if entry.text is not None)
        self.similarities = _histogram(
            [entry.similarity for entry in entries if entry.similarity is not None]
        )
        self.labels = dict(
            Counter(label for entry in entries for label in entry.labels).most_common(20)
        )
        places = {id: place for place, id in enumerate(self._ids)}
        self.largest = tuple(
            FamilySize(id, self._paths[places[id]] if id in places else id, size)
            for id, size in sorted(families.items(), key=lambda item: (-item[1], item[0]))[:10]
            if size > 1
        )
        self.measure, self._pairs = _pairs(store, collection, places, progress)
        self.steps = tuple(
            Step(step, made.families, made.gathered) for step in STEPS if (made := self._at(step))
        )

    def at(self, threshold: float) -> Preview:
        """The families at a threshold, not written; below `FLOOR` those at `FLOOR`. A recipe
        without slots has none.
        """
        made = self._at(max(FLOOR, round(threshold, 3)))
        if made is None:
            return Preview(threshold, self.measure, self.documents, 0, 0, 0, 0)
        numbers = made.families, made.gathered, made.largest, made.moved
        return Preview(made.threshold, self.measure, self.documents, *numbers, self._moves(made))

    @lru_cache(maxsize=256)  # noqa: B019 - a survey lives as long as its cache
    def _at(self, threshold: float) -> ThresholdFamilies | None:
        return self._pairs.at(threshold) if self._pairs else None

    def _moves(self, made: ThresholdFamilies) -> tuple[Move, ...]:
        """The twenty greatest moves."""
        if not self._pairs:
            return ()
        changed = np.flatnonzero((made.heads != self._pairs.before) & (self._pairs.texts >= 0))
        counted = Counter(
            zip(self._pairs.before[changed].tolist(), made.heads[changed].tolist(), strict=True)
        )
        ordered = sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:20]
        ids, paths = self._ids, self._paths
        return tuple(Move(ids[a], paths[a], ids[b], paths[b], number) for (a, b), number in ordered)


def survey(store: Store, progress: Progress = no_progress) -> Survey:
    """Read all of a store once; texts of pairs whose similarity is asked are read again, up to
    20,000 pairs.

    Raises `StoreError` when nothing was indexed yet.
    """
    return Survey(store, collect(store, require_recipe(store), progress), progress)


def _sizes(families: Counter[str]) -> tuple[tuple[str, int], ...]:
    """How many families there are of each range of sizes."""
    sizes = Counter(families.values())
    return tuple(
        (
            f"{low}" if low == high else f"{low}+" if high is None else f"{low}–{high}",
            sum(number for size, number in sizes.items() if low <= size <= (high or size)),
        )
        for low, high in SIZES
    )


def _repeated(digests: Iterable[str]) -> int:
    """How many documents repeat one that comes before them."""
    return sum(number - 1 for digest, number in Counter(digests).items() if digest)


def _histogram(values: list[float]) -> tuple[int, ...]:
    """Similarities to the principal in twenty bins of .05; the last one holds 1, too."""
    return tuple(np.histogram(values, bins=BINS, range=(0, 1))[0].tolist())


def _pairs(
    store: Store, collection: Collection, places: dict[str, int], progress: Progress
) -> tuple[str, SimilarPairs | None]:
    """The pairs of texts at `FLOOR` or above, by the features of the texts or, where they are many,
    by their slots.
    """
    if not collection.slots.shape[1]:
        return "none", None
    left, right, equal = _alike(collection, progress)
    similarity, measure = equal / collection.slots.shape[1], "estimate"
    if len(left) <= MOST_VERIFIED:
        progress("measuring pairs", 0, len(left))
        similarity, measure = (
            Verifier(store, collection, "jaccard").similarities(left, right),
            "jaccard",
        )
    entries = list(collection.entries)
    texts = np.array(
        [-1 if entry.text is None else entry.text for entry in entries], dtype=np.int32
    )
    before = np.array(
        [places.get(entry.family, place) for place, entry in enumerate(entries)], dtype=np.int32
    )
    leading = np.array([entry.status == "complete" for entry in entries], dtype=bool)
    words, ids = [entry.words for entry in entries], [entry.id for entry in entries]
    order = principal_order("longest", words, [None] * len(ids), [0.0] * len(ids), ids)
    order = sorted(
        (place for place in order if texts[place] >= 0), key=lambda place: not leading[place]
    )
    return measure, SimilarPairs(order, leading, texts, before, left, right, similarity)


def _alike(
    collection: Collection, progress: Progress
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint16]]:
    """Pairs of texts with slots enough in common for `FLOOR`, ascending by left, then right."""
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
    least = int(np.argmax(similarity_intervals(width)[1] >= FLOOR))
    found = [(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.uint16))]
    for left, right in join.blocks():
        found.append(counter.at_least(left, right, least))
        progress("comparing sketches", join.done, join.total)
    a, b, equal = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.lexsort((b, a))
    return a[order], b[order], equal[order]
