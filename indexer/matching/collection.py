"""A whole store in columns: what matching and grouping need of every document but its text.

Copies, documents with the same normalised text, share one entry of everything that comes from the
text, their slots above all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from hashlib import blake2b, shake_256
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.clustering.field_order import Value
from indexer.joins.copies import Carriers
from indexer.joins.memory_budget import Column, MemoryBudget, parts
from indexer.joins.record_pages import Names, Records
from indexer.matching.entries import Entries, pack_entry
from indexer.model import Row
from indexer.recipe import Recipe
from indexer.similarity.criteria import COMPARED, NO_CRITERIA, Criteria
from indexer.similarity.field_rules import RuleValues
from indexer.system.progress_callback import Progress, no_progress

OrderValue: TypeAlias = Callable[[Row], Value]
EVERY = 1000  # rows between two reports of progress, and rows that are packed at once


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents ascending by id, and their distinct texts.

    Texts with keys come first, then the others, each in the order of their first documents. Texts
    without keys are similar to their copies only. `criteria` say which documents are copies.

    `entries`: the documents. `documents[i]`: the places in `entries` that carry text i, ascending.
    `truncated`: the documents whose texts were cut.
    `contents`: (texts, 2) uint64, equal for copies; no rows unless the rules `differ` or `window`
    make copies texts of their own, which then have slots in common also without keys.

    Of the texts with keys:
    - `slots`: (texts, slots) uint32, or uint8 of a recipe that packs slots; rare-term signatures
      (`indexer.sketch.term_vectors`) of a recipe that makes those, the bytes of one of more than 64
      bits; no columns without any
    - `simhash`: (texts,) uint64, 0 where there is none
    - `chars`: (texts,) int64, of the normalised text
    - `words`: (texts,) int64, as the row counts them

    The arrays are kept by `budget`; some 50 bytes a document always take memory.
    """

    recipe: Recipe
    entries: Entries
    documents: Carriers
    slots: NDArray[Any]
    simhash: NDArray[np.uint64]
    chars: NDArray[np.int64]
    words: NDArray[np.int64]
    budget: MemoryBudget
    criteria: Criteria = NO_CRITERIA
    contents: NDArray[np.uint64] = field(default_factory=lambda: np.zeros((0, 2), np.uint64))
    truncated: frozenset[int] = frozenset()

    def are_copies(self, left: NDArray[np.int32], right: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return for each pair of texts whether they are copies, whose fields may differ."""
        equal: NDArray[np.bool_] = left == right
        if len(self.contents):
            equal |= (self.contents[left] == self.contents[right]).all(axis=1)
        return equal

    @property
    def slot_bits(self) -> int:
        """The bits of each slot."""
        return 8 * self.slots.dtype.itemsize

    def first_id(self, text: int) -> str:
        """Return the id of the first document that carries a text."""
        return self.entries.ids[int(self.documents.first[text])]

    def rule_values(self, text: int) -> RuleValues:
        """Return what the rules of the criteria compare of a text, the same for all its copies."""
        return self.entries[int(self.documents.first[text])].rule_values

    def fields_without_values(self) -> set[str]:
        """Return the fields of the rules of which no document has a value."""
        missing = set(self.criteria.fields)
        for entry in self.entries:
            if not missing:
                break
            values = zip(self.criteria.fields, entry.rule_values, strict=True)
            missing -= {field for field, value in values if value is not None}
        return missing


class _SketchColumns:
    """Place and digest of the text of documents, and the sketches of those that have keys."""

    def __init__(
        self,
        recipe: Recipe,
        budget: MemoryBudget,
        criteria: Criteria,
        statuses: tuple[str, ...],
    ) -> None:
        self._statuses = statuses
        self.width = recipe.sketch_width
        self._size = recipe.sketch_bytes
        self._stored = np.dtype(f">u{recipe.slot_bytes}")
        self._type = self._stored.newbyteorder("=")
        self._criteria = criteria
        self._budget = budget
        self._places = Column(budget, np.int32)
        self._digests = Column(budget, np.uint64)
        self._contents = Column(budget, np.uint64)
        self._slots = Column(budget, self._type)
        self._simhash = Column(budget, np.uint64)
        self._chars = Column(budget, np.int64)
        self._words = Column(budget, np.int64)
        # Copies may differ in fields then, and are found as pairs of texts are, by slots.
        self._width_of_copies = self.width if criteria.differ or criteria.window else 0
        self._pending: list[tuple[int, Row]] = []
        self._other_places = Column(budget, np.int32)
        self._other_digests = Column(budget, np.uint64)
        self._others: list[tuple[int, str]] = []

    def add(self, row: Row, place: int) -> None:
        is_whole = len(row.minhash or b"") == self._size if self._size else row.simhash is not None
        if row.status in self._statuses and is_whole:
            self._pending.append((place, row))
        elif self._width_of_copies:
            self._pending.append((place, replace(row, minhash=self._copy_slots(row))))
        else:
            self._others.append((place, self._criteria.text_key(row)))
        if len(self._pending) + len(self._others) >= EVERY:
            self._pack()

    def _copy_slots(self, row: Row) -> bytes:
        """Return slots that a document without keys shares with its copies, and hardly any else."""
        key = self._criteria.content_key(row).encode(errors="replace")
        return shake_256(key).digest(self._size or 0)

    def _pack(self) -> None:
        self._pack_others()
        rows = [row for _, row in self._pending]
        digests = b"".join(_digest(self._criteria.text_key(row)) for row in rows)
        slots = b"".join(row.minhash or b"" for row in rows)
        self._places.add(np.array([place for place, _ in self._pending], dtype=np.int32))
        self._digests.add(np.frombuffer(digests, dtype=np.uint64))
        if self._width_of_copies:
            contents = b"".join(_digest(self._criteria.content_key(row)) for row in rows)
            self._contents.add(np.frombuffer(contents, dtype=np.uint64))
        self._slots.add(np.frombuffer(slots, dtype=self._stored))
        self._simhash.add(np.array([row.simhash or 0 for row in rows], dtype=np.uint64))
        self._chars.add(np.array([row.chars for row in rows], dtype=np.int64))
        self._words.add(np.array([row.words for row in rows], dtype=np.int64))
        self._pending = []

    def _pack_others(self) -> None:
        digests = b"".join(_digest(key) for _, key in self._others)
        self._other_places.add(np.array([place for place, _ in self._others], dtype=np.int32))
        self._other_digests.add(np.frombuffer(digests, dtype=np.uint64))
        self._others = []

    def texts(self, documents: int) -> tuple[NDArray[np.int32], int, NDArray[np.int64]]:
        """Return the number of each document's text, of how many, and the first of each with keys.

        The latter are places among the documents with keys.
        """
        self._pack()
        numbers, first = _text_numbers(self._digests.whole().reshape(-1, 2))
        others, first_other = _text_numbers(self._other_digests.whole().reshape(-1, 2))
        texts = np.empty(documents, dtype=np.int32)
        texts[self._places.whole()] = numbers
        texts[self._other_places.whole()] = others + len(first)
        return texts, len(first) + len(first_other), first

    def contents(self, first: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return what these documents share with copies of other fields; no rows if all do not."""
        contents = self._contents.whole().reshape(-1, 2)
        return contents[first] if len(contents) else contents

    def sketches(
        self, first: NDArray[np.int64]
    ) -> tuple[NDArray[Any], NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
        """Return slots, SimHash, characters and words of these documents."""
        rows = self._slots.whole().reshape(len(self._simhash), self.width)
        slots: NDArray[Any] = rows
        if len(first) < len(rows):
            slots = self._budget.array((len(first), self.width), self._type)
            for part in parts(len(first), self._budget.share(8, self._size or 1)):
                slots[part] = rows[first[part]]
        columns = (self._simhash, self._chars, self._words)
        simhash, chars, words = (column.whole()[first] for column in columns)
        return slots, simhash, chars, words


def _no_value(row: Row) -> Value:
    return None


def gather(
    rows: Iterable[Row],
    recipe: Recipe,
    total: int,
    progress: Progress = no_progress,
    budget: MemoryBudget | None = None,
    order_value: OrderValue = _no_value,
    criteria: Criteria = NO_CRITERIA,
    statuses: tuple[str, ...] = COMPARED,
) -> Collection:
    """Return the collection of these rows, which come ascending by id.

    `total`: about how many there are, for `progress`. `order_value` returns what a row is ordered
    by. `criteria` decide which rows are copies. Rows of other `statuses` match copies only.
    """
    budget = budget or MemoryBudget()
    sketches = _SketchColumns(recipe, budget, criteria, statuses)
    truncated: set[int] = set()
    ids = Names(budget)
    paths = Names(budget)
    rest = Records(budget)
    for place, row in enumerate(rows):
        ids.add(row.id)
        paths.add(row.path)
        rest.add(pack_entry(row, order_value(row), criteria.values(row)))
        sketches.add(row, place)
        if row.status == "truncated":
            truncated.add(place)
        if place % EVERY == 0:
            progress("reading rows", place, total)
    texts, count, first = sketches.texts(len(rest))
    entries = Entries(ids, paths, rest, texts)
    documents = Carriers(texts, count)
    columns = sketches.sketches(first)
    contents = sketches.contents(first)
    cut = frozenset(truncated)
    return Collection(recipe, entries, documents, *columns, budget, criteria, contents, cut)


def _digest(key: str) -> bytes:
    return blake2b(key.encode(), digest_size=16).digest()


def _text_numbers(digests: NDArray[np.uint64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return one number for equal digests, and the place where each number comes first.

    Numbers are in the order in which they come first.
    """
    order = np.lexsort((digests[:, 1], digests[:, 0]))
    arranged = digests[order]
    begins = np.append(True, (arranged[1:] != arranged[:-1]).any(axis=1))[: len(order)]
    firsts = order[begins]
    numbers = np.empty(len(order), dtype=np.int32)
    numbers[order] = np.argsort(np.argsort(firsts))[np.cumsum(begins) - 1]
    return numbers, np.sort(firsts)
