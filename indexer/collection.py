"""A whole store in columns: what matching and grouping need of every document, the texts left where they are.

Documents with the same normalised text share one entry of everything that comes from the text, their slots above all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.model import Row, Status
from indexer.recipe import Recipe
from indexer.stores.base import Store

Progress: TypeAlias = Callable[[str, int, int], None]
KEYED = ("complete", "truncated")
EVERY = 1000


def silent(_stage: str, _done: int, _total: int) -> None:
    """The progress of a caller who does not want any."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What is kept of one document. `text` is the number of its text, None when its status gives it no keys."""

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


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents ascending by id, and their distinct texts in the order in which they come first.

    `documents[i]` are the places in `entries` that carry text i, ascending. `slots`: (texts, slots) uint32, with no columns
    when the recipe has no MinHash. `simhash`: (texts,) uint64, 0 where there is none. Memory: the slots, and about 1 KB a
    document.
    """

    recipe: Recipe
    entries: list[Entry]
    documents: list[list[int]]
    slots: NDArray[np.uint32]
    simhash: NDArray[np.uint64]

    def first_id(self, text: int) -> str:
        """The id of the first document that carries a text."""
        return self.entries[self.documents[text][0]].id


@dataclass(slots=True)
class _Texts:
    """Distinct texts while they are collected."""

    width: int
    numbers: dict[str, int] = field(default_factory=dict)
    documents: list[list[int]] = field(default_factory=list)
    slots: bytearray = field(default_factory=bytearray)
    simhash: list[int] = field(default_factory=list)

    def number(self, row: Row, place: int) -> int | None:
        if row.status not in KEYED or len(row.minhash or b"") != 4 * self.width:
            return None
        number = self.numbers.setdefault(row.exact or row.id, len(self.numbers))
        if number == len(self.documents):
            self.documents.append([])
            self.slots += row.minhash or b""
            self.simhash.append(row.simhash or 0)
        self.documents[number].append(place)
        return number


def collect(store: Store, recipe: Recipe, progress: Progress = silent) -> Collection:
    """Read every row of a store once, texts let go at once. `progress` hears of every thousandth row."""
    store.refresh()
    return gathered(store.scan(), recipe, store.counts().documents, progress)


def gathered(rows: Iterable[Row], recipe: Recipe, total: int, progress: Progress = silent) -> Collection:
    """The collection of these rows, which come ascending by id; `total` is how many there are about."""
    width = recipe.slots or 0 if recipe.minhash else 0
    texts, entries = _Texts(width), []
    for place, row in enumerate(rows):
        entries.append(_entry(row, texts.number(row, place)))
        if place % EVERY == 0:
            progress("reading", place, total)
    slots = np.frombuffer(texts.slots, dtype=">u4").astype(np.uint32).reshape(len(texts.documents), width)
    return Collection(recipe, entries, texts.documents, slots, np.array(texts.simhash, dtype=np.uint64))


def _entry(row: Row, text: int | None) -> Entry:
    return Entry(
        id=row.id,
        path=row.path,
        status=row.status,
        words=row.words,
        modified=row.modified,
        raw=row.raw,
        exact=row.exact,
        labels=row.labels,
        family=row.family,
        principal=row.principal,
        similarity=row.similarity,
        cluster=row.cluster,
        provisional=row.provisional,
        text=text,
    )
