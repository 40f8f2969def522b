"""A whole store in columns: what matching and grouping need of every document, the texts left where
they are.

Documents with the same normalised text share one entry of everything that comes from the text,
their slots above all.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from indexer.joins.copies import Carriers
from indexer.joins.memory_budget import Column, MemoryBudget, parts
from indexer.joins.record_pages import Names, Records
from indexer.model import Row, Status
from indexer.recipe import Recipe
from indexer.stores.base import Store
from indexer.system.progress_callback import Progress, no_progress

KEYED = ("complete", "truncated")
EVERY = 1000


@dataclass(frozen=True, slots=True)
class Entry:
    """What is kept of one document. `text` is the number of its text, None when its status gives it
    no keys.
    """

    id: str
    path: str
    status: Status
    words: int
    modified: int | None
    raw: str
    exact: str
    labels: tuple[str, ...]
    family: str
    principal: bool | None
    similarity: float | None
    cluster: str | None
    provisional: bool
    text: int | None


class Entries(Sequence[Entry]):
    """The entries of all documents, made anew from a few hundred bytes each time that one is asked
    for.
    """

    def __init__(self, ids: Names, paths: Names, rest: Records, texts: NDArray[np.int32]) -> None:
        self.ids, self.paths, self._rest, self._texts = ids, paths, rest, texts

    def __len__(self) -> int:
        return len(self._texts)

    @overload
    def __getitem__(self, place: int) -> Entry: ...
    @overload
    def __getitem__(self, place: slice) -> list[Entry]: ...
    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        place = range(len(self))[place]
        text = int(self._texts[place])
        rest: list[Any] = [*marshal.loads(self._rest[place]), None if text < 0 else text]
        return Entry(self.ids[place], self.paths[place], *rest)

    def __iter__(self) -> Iterator[Entry]:
        return (self[place] for place in range(len(self)))


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents ascending by id, and their distinct texts in the order in which they come first.

    `documents[i]` are the places in `entries` that carry text i, ascending. `slots`: (texts, slots)
    uint32, with no columns when the recipe has no MinHash. `simhash`: (texts,) uint64, 0 where
    there is none. `chars`: (texts,) int64, normalised. All of it lies in `budget`; what always takes
    memory is some 50 bytes a document.
    """

    recipe: Recipe
    entries: Entries
    documents: Carriers
    slots: NDArray[np.uint32]
    simhash: NDArray[np.uint64]
    chars: NDArray[np.int64]
    budget: MemoryBudget

    def first_id(self, text: int) -> str:
        """The id of the first document that carries a text."""
        return self.entries.ids[int(self.documents.first[text])]


class _Keyed:
    """Documents that have keys while they are read: where they stand, a digest of their text, their
    sketches.
    """

    def __init__(self, width: int, budget: MemoryBudget) -> None:
        self.width, self._budget = width, budget
        self._places, self._digests = Column(budget, np.int32), Column(budget, np.uint64)
        self._slots, self._simhash, self._chars = (
            Column(budget, np.uint32),
            Column(budget, np.uint64),
            Column(budget, np.int64),
        )
        self._pending: list[tuple[int, Row]] = []

    def add(self, row: Row, place: int) -> None:
        if row.status in KEYED and len(row.minhash or b"") == 4 * self.width:
            self._pending.append((place, row))
            if len(self._pending) >= EVERY:
                self._put_down()

    def _put_down(self) -> None:
        rows = [row for _, row in self._pending]
        digests = b"".join(
            blake2b((row.exact or row.id).encode(), digest_size=16).digest() for row in rows
        )
        self._places.add(np.array([place for place, _ in self._pending], dtype=np.int32))
        self._digests.add(np.frombuffer(digests, dtype=np.uint64))
        self._slots.add(np.frombuffer(b"".join(row.minhash or b"" for row in rows), dtype=">u4"))
        self._simhash.add(np.array([row.simhash or 0 for row in rows], dtype=np.uint64))
        self._chars.add(np.array([row.chars for row in rows], dtype=np.int64))
        self._pending = []

    def texts(self, documents: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The number of each document's text, -1 without keys; and which of the documents with keys
        come first with theirs.
        """
        self._put_down()
        numbers, first = _numbered(self._digests.whole().reshape(-1, 2))
        texts = np.full(documents, -1, dtype=np.int32)
        texts[self._places.whole()] = numbers
        return texts, first

    def sketches(
        self, first: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint64], NDArray[np.int64]]:
        """Slots, SimHash and characters of these documents."""
        rows = self._slots.whole().reshape(len(self._simhash), self.width)
        slots: NDArray[np.uint32] = rows
        if len(first) < len(rows):
            slots = self._budget.array((len(first), self.width), np.uint32)
            for part in parts(len(first), self._budget.share(8, 4 * self.width or 1)):
                slots[part] = rows[first[part]]
        return slots, self._simhash.whole()[first], self._chars.whole()[first]


def collect(
    store: Store,
    recipe: Recipe,
    progress: Progress = no_progress,
    budget: MemoryBudget | None = None,
) -> Collection:
    """Read every row of a store once, texts let go at once. `progress` hears of every thousandth
    row.
    """
    store.refresh()
    return gather(store.scan(), recipe, store.counts().documents, progress, budget)


def gather(
    rows: Iterable[Row],
    recipe: Recipe,
    total: int,
    progress: Progress = no_progress,
    budget: MemoryBudget | None = None,
) -> Collection:
    """The collection of these rows, which come ascending by id; `total` is how many there are
    about.
    """
    budget = budget or MemoryBudget()
    keyed = _Keyed(recipe.slots or 0 if recipe.minhash else 0, budget)
    ids, paths, rest = Names(budget), Names(budget), Records(budget)
    for place, row in enumerate(rows):
        ids.add(row.id)
        paths.add(row.path)
        rest.add(marshal.dumps(_rest(row)))
        keyed.add(row, place)
        if place % EVERY == 0:
            progress("reading rows", place, total)
    texts, first = keyed.texts(len(rest))
    entries = Entries(ids, paths, rest, texts)
    return Collection(recipe, entries, Carriers(texts, len(first)), *keyed.sketches(first), budget)


def _numbered(digests: NDArray[np.uint64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Equal digests get one number, in the order in which they come first; and the place where each
    number comes first.
    """
    order = np.lexsort((digests[:, 1], digests[:, 0]))
    arranged = digests[order]
    begins = np.append(True, (arranged[1:] != arranged[:-1]).any(axis=1))[: len(order)]
    firsts = order[begins]
    numbers = np.empty(len(order), dtype=np.int32)
    numbers[order] = np.argsort(np.argsort(firsts))[np.cumsum(begins) - 1]
    return numbers, np.sort(firsts)


def _rest(row: Row) -> tuple[Any, ...]:
    """The fields of an `Entry` from the third to the last but one."""
    return (
        row.status,
        row.words,
        row.modified,
        row.raw,
        row.exact,
        row.labels,
        row.family,
        row.principal,
        row.similarity,
        row.cluster,
        row.provisional,
    )
