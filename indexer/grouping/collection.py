"""A whole store in columns: what matching and grouping need of every document but its text.

Copies, documents with the same normalised text, share one entry of everything that comes from the
text, their slots above all.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b, shake_256
from itertools import combinations, product, tee
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, get_args, overload

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.criteria import COMPARED, NO_CRITERIA, Criteria, RuleValues, Value
from indexer.fingerprinting.fingerprint import rows_with_symbols
from indexer.model import Progress, Row, Status, no_progress
from indexer.recipe import Recipe
from indexer.system.external_memory import (
    Codes,
    Column,
    MemoryBudget,
    Names,
    Positions,
    Records,
    Sorter,
    StringSequence,
    decode_pair,
    encode_pair,
    parts,
)

if TYPE_CHECKING:
    from indexer.grouping.candidates import TextPairs

# From pairs of distinct texts to pairs of the documents that carry them.

BLOCK_PAIRS = 1 << 16


class Carriers(Sequence[list[int]]):
    """The documents that carry each text, ascending.

    `texts` is the number of each document's text, -1 for none; each of the `count` texts has a
    document. `first` and `sizes`: (count,) the first document of each text, and how many carry it.

    >>> list(Carriers(np.array([0, 1, -1, 0], dtype=np.int32), 2))
    [[0, 3], [1]]
    """

    def __init__(self, texts: NDArray[np.int32], count: int) -> None:
        self.texts = texts
        carrying = np.flatnonzero(texts >= 0)
        self._documents = carrying[np.argsort(texts[carrying], kind="stable")].astype(np.int32)
        self.sizes = np.bincount(texts[carrying], minlength=count)
        self._starts = np.cumsum(self.sizes) - self.sizes
        self.first: Positions = self._documents[self._starts]

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, text: int) -> list[int]:  # type: ignore[override]
        start = self._starts[text]
        documents: list[int] = self._documents[start : start + self.sizes[text]].tolist()
        return documents

    def pairs_between(self, left: Positions, right: Positions, cap: int) -> NDArray[np.int64]:
        """Return how many pairs of documents `DocumentPairs` makes of each pair of texts."""
        a, b = self.sizes[left], self.sizes[right]
        return np.where(a * b <= cap, a * b, a + b - 1)

    def pairs_of_copies(self, cap: int) -> int:
        """Return how many pairs of documents `DocumentPairs` makes of the copies of each text."""
        pairs = self.sizes * (self.sizes - 1) // 2
        return int(np.where(pairs <= cap, pairs, self.sizes - 1).sum())

    def texts_of(self, documents: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which texts any of these documents carries: (documents,) to (texts,) bool."""
        return np.bincount(self.texts[documents & (self.texts >= 0)], minlength=len(self)) > 0


class PairFilter:
    """A filter for the requested pairs of documents.

    With `marked`, one document is marked and the other is not. With `new`, at least one is new.
    Both are (documents,) bool. With `scans`, (texts,) bool, at least one text is a scan, or none
    unless `of_scans`.
    """

    def __init__(
        self,
        documents: Carriers,
        marked: NDArray[np.bool_] | None,
        new: NDArray[np.bool_] | None,
        scans: NDArray[np.bool_] | None = None,
        of_scans: bool = False,
    ) -> None:
        self.documents, self._marked, self._new = documents, marked, new
        self._marked_texts = None if marked is None else documents.texts_of(marked)
        self._other_texts = None if marked is None else documents.texts_of(~marked)
        self._new_texts = None if new is None else documents.texts_of(new)
        self._scans, self._of_scans = scans, of_scans

    @property
    def selects_all(self) -> bool:
        """True if every pair is requested."""
        return self._marked is None and self._new is None and self._scans is None

    def texts(self, left: Positions, right: Positions) -> tuple[Positions, Positions]:
        """Return the pairs of texts that may hold a requested pair of documents."""
        possible = self.may_include(left, right)
        return (left, right) if possible.all() else (left[possible], right[possible])

    def may_include(self, left: Positions, right: Positions) -> NDArray[np.bool_]:
        """Return for each pair of texts whether it may hold a requested pair of documents."""
        possible = np.ones(len(left), dtype=bool)
        if self._marked_texts is not None and self._other_texts is not None:
            marked, others = self._marked_texts, self._other_texts
            possible &= (marked[left] & others[right]) | (others[left] & marked[right])
        if self._new_texts is not None:
            possible &= self._new_texts[left] | self._new_texts[right]
        if self._scans is not None:
            possible &= (self._scans[left] | self._scans[right]) == self._of_scans
        return possible

    def orient(self, a: Positions, b: Positions) -> tuple[Positions, Positions, NDArray[np.bool_]]:
        """Return pairs of documents in order, and which of them are requested.

        The lower position comes first; with `marked`, the document that is not marked.
        """
        swapped, requested = a > b, np.ones(len(a), dtype=bool)
        if self._marked is not None:
            swapped, requested = self._marked[a], self._marked[a] != self._marked[b]
        if self._new is not None:
            requested &= self._new[a] | self._new[b]
        return np.where(swapped, b, a), np.where(swapped, a, b), requested


class DocumentPairs:
    """Pairs of documents for pairs of texts.

    When the copies of two texts make more than `cap` pairs, only those with the first copy of
    either are made; `left_out` counts the others.
    """

    def __init__(self, documents: Carriers, cap: int | None) -> None:
        self._documents, self._cap = documents, cap
        self.left_out = 0

    def between_texts(
        self, left: Positions, right: Positions
    ) -> Iterator[tuple[Positions, Positions]]:
        """Yield the pairs of documents between the texts of each pair, in blocks."""
        first, sizes = self._documents.first, self._documents.sizes
        plain = (sizes[left] == 1) & (sizes[right] == 1)
        yield first[left[plain]], first[right[plain]]
        pairs = zip(left[~plain].tolist(), right[~plain].tolist(), strict=True)
        yield from _blocks(
            self._pair_across(self._documents[a], self._documents[b]) for a, b in pairs
        )

    def within_texts(self) -> Iterator[tuple[Positions, Positions]]:
        """Yield the pairs of documents among the copies of each text, in blocks."""
        repeated = np.flatnonzero(self._documents.sizes > 1).tolist()
        return _blocks(self._pair_copies(self._documents[text]) for text in repeated)

    def _pair_across(self, left: Sequence[int], right: Sequence[int]) -> Iterator[tuple[int, int]]:
        total = len(left) * len(right)
        if self._cap is None or total <= self._cap:
            yield from product(left, right)
            return
        self.left_out += total - (len(left) + len(right) - 1)
        yield from ((left[0], document) for document in right)
        yield from ((document, right[0]) for document in left[1:])

    def _pair_copies(self, copies: Sequence[int]) -> Iterator[tuple[int, int]]:
        total = len(copies) * (len(copies) - 1) // 2
        if self._cap is None or total <= self._cap:
            yield from combinations(copies, 2)
            return
        self.left_out += total - (len(copies) - 1)
        yield from ((copies[0], document) for document in copies[1:])


def _blocks(groups: Iterable[Iterable[tuple[int, int]]]) -> Iterator[tuple[Positions, Positions]]:
    """Yield pairs as arrays of at most `BLOCK_PAIRS`, in order."""
    block: list[tuple[int, int]] = []
    for pairs in groups:
        for pair in pairs:
            block.append(pair)
            if len(block) == BLOCK_PAIRS:
                yield _columns(block)
                block = []
    yield _columns(block)


def _columns(pairs: Sequence[tuple[int, int]]) -> tuple[Positions, Positions]:
    columns = np.array(pairs, dtype=np.int32).reshape(len(pairs), 2)
    return columns[:, 0], columns[:, 1]


# The fields of documents that matching and grouping need, in a few hundred bytes each.


@dataclass(frozen=True, slots=True)
class Entry:
    """The fields of one document that matching and grouping need.

    `order_value` is what documents are ordered by, where that is a field; `rule_values` what the
    rules compare; `text` the number of its text; `stored_exact` its stored digest if it differs.
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
    stored_exact: str | None
    order_value: Value
    rule_values: RuleValues
    text: int


class Entries(Sequence[Entry]):
    """The entries of all documents, unpacked from a few hundred bytes at each access."""

    ids: StringSequence

    def __init__(self, ids: Names, paths: Names, rest: Records, texts: NDArray[np.int32]) -> None:
        self.ids = ids
        self.paths = paths
        self._rest = rest
        self._texts = texts

    def __len__(self) -> int:
        return len(self._texts)

    @overload
    def __getitem__(self, position: int) -> Entry: ...
    @overload
    def __getitem__(self, position: slice) -> list[Entry]: ...
    def __getitem__(self, position: Any) -> Any:
        if isinstance(position, slice):
            return [self[number] for number in range(*position.indices(len(self)))]
        position = range(len(self))[position]
        rest: list[Any] = [*marshal.loads(self._rest[position]), int(self._texts[position])]
        return Entry(self.ids[position], self.paths[position], *rest)

    def __iter__(self) -> Iterator[Entry]:
        columns = self.ids, self.paths, self._rest, self._texts.tolist()
        for id, path, packed, text in zip(*columns, strict=True):
            rest: list[Any] = [*marshal.loads(packed), text]
            yield Entry(id, path, *rest)

    def order_fields(self) -> Iterator[tuple[Status, int, int | None, Value]]:
        """Yield status, words, time and value of each document, by which documents are ordered."""
        for rest in self._rest:
            fields = marshal.loads(rest)
            yield fields[0], fields[1], fields[2], fields[-2]


def pack_entry(row: Row, stored: str, order: Value, rules: RuleValues) -> bytes:
    """Return the fields of an `Entry` between its path and its text, as `Entries` unpacks them."""
    fields = (
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
    return marshal.dumps((*fields, None if stored == row.exact else stored, order, rules))


OrderValue: TypeAlias = Callable[[Row], Value]
EVERY = 1000  # rows between two reports of progress, and rows that are packed at once


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents ascending by id, and their distinct texts.

    Texts with keys come first, then the others, each in the order of their first documents. Texts
    without keys are similar to their copies only. `criteria` say which documents are copies.

    `entries`: the documents. `documents[i]`: the positions in `entries` that carry text i,
    ascending.
    `truncated`: the documents whose texts were cut. `has_embedded`: documents have files in them.
    `scans`: the documents whose characters a program recognised.
    `contents`: (texts, 2) uint64, equal for copies; no rows unless the rules `differ` or `window`
    make copies texts of their own, which then have slots in common also without keys.

    Of the texts with keys:
    - `slots`: (texts, slots) uint32, or uint8 of a recipe that packs slots; rare-term signatures
      (`indexer.fingerprinting.rare_terms`) of a recipe that makes those, the bytes of one of more
      than 64       bits; no columns without any
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
    has_embedded: bool = False
    scans: frozenset[int] = frozenset()

    def are_copies(self, left: Any, right: Any) -> Any:
        """Return for two texts, or each pair of two arrays of texts, whether they are copies, whose
        fields may differ.
        """
        if not len(self.contents):
            return left == right
        return (self.contents[left] == self.contents[right]).all(axis=-1)

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
            values = zip(self.criteria.fields, entry.rule_values, strict=False)
            missing -= {field for field, value in values if value is not None}
        return missing


STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True, slots=True)
class TextColumns:
    """Rows that have a text and no fields, in columns.

    `keys`: (rows, 2) uint64, equal for copies. `statuses`: (rows,) uint8, positions in `STATUSES`.
    `slots`: (rows, bytes) uint8, of the rows that have them, (rows,) bool, as they are stored.
    `words` and `chars`: (rows,) int64.
    """

    keys: NDArray[np.uint64]
    statuses: NDArray[np.uint8]
    has_slots: NDArray[np.bool_]
    slots: NDArray[np.uint8]
    words: NDArray[np.int64]
    chars: NDArray[np.int64]


class SketchColumns:
    """Position and digest of the text of documents, and the sketches of those that have keys."""

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
        self._positions = Column(budget, np.int32)
        self._digests = Column(budget, np.uint64)
        self._contents = Column(budget, np.uint64)
        self._slots = Column(budget, self._type)
        self._simhash = Column(budget, np.uint64)
        self._chars = Column(budget, np.int64)
        self._words = Column(budget, np.int64)
        # Copies may differ in fields then, and are found as pairs of texts are, by slots.
        self._width_of_copies = self.width if criteria.differ or criteria.window else 0
        self._pending: list[tuple[int, Row]] = []
        self._other_positions = Column(budget, np.int32)
        self._other_digests = Column(budget, np.uint64)
        self._others: list[tuple[int, str]] = []

    def add(self, row: Row, position: int) -> None:
        """Add the row at a position."""
        is_whole = len(row.minhash or b"") == self._size if self._size else row.simhash is not None
        if row.status in self._statuses and is_whole:
            self._pending.append((position, row))
        elif self._width_of_copies:
            self._pending.append((position, replace(row, minhash=self._copy_slots(row))))
        else:
            self._others.append((position, self._criteria.text_key(row)))
        if len(self._pending) + len(self._others) >= EVERY:
            self._pack()

    def add_columns(self, columns: TextColumns, position: int) -> None:
        """Add rows without fields, the first of which is at a position."""
        codes = [STATUSES.index(status) for status in self._statuses]
        is_compared = columns.has_slots & np.isin(columns.statuses, codes)
        positions = np.arange(position, position + len(is_compared), dtype=np.int32)
        self._positions.add(positions[is_compared])
        self._digests.add(columns.keys[is_compared].reshape(-1))
        self._slots.add(columns.slots[is_compared].reshape(-1).view(self._stored))
        self._simhash.add(np.zeros(np.count_nonzero(is_compared), np.uint64))
        self._chars.add(columns.chars[is_compared])
        self._words.add(columns.words[is_compared])
        self._other_positions.add(positions[~is_compared])
        self._other_digests.add(columns.keys[~is_compared].reshape(-1))

    def _copy_slots(self, row: Row) -> bytes:
        """Return slots that a document without keys shares with its copies, and hardly any else."""
        key = self._criteria.content_key(row).encode(errors="replace")
        return shake_256(key).digest(self._size or 0)

    def _pack(self) -> None:
        self._pack_others()
        rows = [row for _, row in self._pending]
        digests = b"".join(_digest(self._criteria.text_key(row)) for row in rows)
        slots = b"".join(row.minhash or b"" for row in rows)
        self._positions.add(np.array([position for position, _ in self._pending], dtype=np.int32))
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
        self._other_positions.add(
            np.array([position for position, _ in self._others], dtype=np.int32)
        )
        self._other_digests.add(np.frombuffer(digests, dtype=np.uint64))
        self._others = []

    def texts(self, documents: int) -> tuple[NDArray[np.int32], int, NDArray[np.int64]]:
        """Return the number of each document's text, of how many, and the first of each with keys.

        The latter are positions among the documents with keys.
        """
        self._pack()
        numbers, first = _text_numbers(self._digests.whole().reshape(-1, 2))
        others, first_other = _text_numbers(self._other_digests.whole().reshape(-1, 2))
        texts = np.empty(documents, dtype=np.int32)
        texts[self._positions.whole()] = numbers
        texts[self._other_positions.whole()] = others + len(first)
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
            for part in parts(len(first), self._budget.items(8, self._size or 1)):
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
    sketches = SketchColumns(recipe, budget, criteria, statuses)
    truncated, scans, has_embedded = set[int](), set[int](), False
    ids = Names(budget)
    paths = Names(budget)
    rest = Records(budget)
    rows, stored_rows = tee(rows)
    for index, row in enumerate(rows_with_symbols(rows, recipe)):
        ids.add(row.id)
        paths.add(row.path)
        rest.add(pack_entry(row, next(stored_rows).exact, order_value(row), criteria.values(row)))
        sketches.add(row, index)
        has_embedded = has_embedded or bool(row.embedded)
        if row.status == "truncated":
            truncated.add(index)
        if row.ocr:
            scans.add(index)
        if index % EVERY == 0:
            progress("reading rows", index, total)
    texts, count, first = sketches.texts(len(rest))
    entries = Entries(ids, paths, rest, texts)
    documents = Carriers(texts, count)
    columns = sketches.sketches(first)
    contents = sketches.contents(first)
    parts = (recipe, entries, documents, *columns, budget, criteria, contents)
    return Collection(*parts, frozenset(truncated), has_embedded, frozenset(scans))


def _digest(key: str) -> bytes:
    return blake2b(key.encode(), digest_size=16).digest()


def _text_numbers(digests: NDArray[np.uint64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return one number for equal digests, and the position where each number comes first.

    Numbers are in the order in which they come first.
    """
    order = np.lexsort((digests[:, 1], digests[:, 0]))
    arranged = digests[order]
    begins = np.append(True, (arranged[1:] != arranged[:-1]).any(axis=1))[: len(order)]
    firsts = order[begins]
    numbers = np.empty(len(order), dtype=np.int32)
    numbers[order] = np.argsort(np.argsort(firsts))[np.cumsum(begins) - 1]
    return numbers, np.sort(firsts)


# Pairs of documents, made from the pairs of the distinct texts that they carry.

Pairs = TypeVar("Pairs", bound="PairColumns")


@dataclass(frozen=True, slots=True)
class PairColumns:
    """Pairs of documents in ascending order, one array a property.

    `left` and `right`: (pairs,) positions of documents in the collection. `exact`: (pairs,) whether
    `similarity` was measured on the texts. `copy`: (pairs,) whether they are copies. `rank`:
    (pairs,) by which they are ordered. `within`: (pairs, 2) containment, where the pairs of
    texts have it. `copies_left_out`: how many pairs between copies of one text are not listed.
    """

    left: Positions
    right: Positions
    similarity: NDArray[np.float64]
    exact: NDArray[np.bool_]
    copy: NDArray[np.bool_]
    rank: NDArray[np.float64]
    within: NDArray[np.float64] | None
    copies_left_out: int

    def at(self: Pairs, positions: NDArray[Any]) -> Pairs:
        """Return the pairs at these positions, (n,) integers, in their order."""
        return replace(
            self,
            left=self.left[positions],
            right=self.right[positions],
            similarity=self.similarity[positions],
            exact=self.exact[positions],
            copy=self.copy[positions],
            rank=self.rank[positions],
            within=None if self.within is None else self.within[positions],
        )


def document_pairs(
    collection: Collection,
    text_pairs: TextPairs,
    selection: PairFilter,
    cap: int | None,
    with_copies: bool = True,
) -> PairColumns:
    """Return the selected pairs of documents that pairs of texts stand for, and pairs of copies.

    Copies that make more than `cap` pairs are listed with the first of them only; None: with all.
    Copies are 1 to each other; they are left out unless `with_copies`.
    """
    expansion = DocumentPairs(collection.documents, cap)
    codes = _selected_codes(collection, text_pairs, selection, expansion, with_copies)
    left, right, origin = _origins(collection, text_pairs, codes)
    similarity, exact, rank = _similarities(collection, text_pairs, origin)
    copy = _copies(collection, left, right)
    within = None
    if text_pairs.within is not None:
        within = _containments(collection, text_pairs.within, left, right, origin)
    return PairColumns(left, right, similarity, exact, copy, rank, within, expansion.left_out)


def _selected_codes(
    collection: Collection,
    text_pairs: TextPairs,
    selection: PairFilter,
    expansion: DocumentPairs,
    with_copies: bool,
) -> Codes:
    """Return the selected pairs of documents as sorted codes."""
    sorter = Sorter(collection.budget)
    for part in parts(len(text_pairs.left), collection.budget.block):
        for a, b in expansion.between_texts(text_pairs.left[part], text_pairs.right[part]):
            sorter.add(_selected(a, b, selection))
    for a, b in expansion.within_texts() if with_copies else ():
        sorter.add(_selected(a, b, selection))
    return sorter.sorted()


def _selected(a: Positions, b: Positions, selection: PairFilter) -> Codes:
    left, right, is_selected = selection.orient(a, b)
    return encode_pair(left[is_selected], right[is_selected])


def _origins(
    collection: Collection, text_pairs: TextPairs, codes: Codes
) -> tuple[Positions, Positions, NDArray[np.int64]]:
    """Return left and right documents, and the position of the pair of their texts.

    The position is -1 for copies of one text.
    """
    known = _text_codes(collection, text_pairs)
    columns = [Column(collection.budget, dtype) for dtype in (np.int32, np.int32, np.int64)]
    for part in parts(len(codes), collection.budget.block):
        left, right = decode_pair(codes[part])
        left_text = collection.documents.texts[left]
        right_text = collection.documents.texts[right]
        ordered = encode_pair(np.minimum(left_text, right_text), np.maximum(left_text, right_text))
        positions = np.where(left_text == right_text, -1, np.searchsorted(known, ordered))
        for column, values in zip(columns, (left, right, positions), strict=True):
            column.add(values)
    left, right, origin = (column.whole() for column in columns)
    return left, right, origin


def _text_codes(collection: Collection, text_pairs: TextPairs) -> Codes:
    column = Column(collection.budget, np.uint64)
    for part in parts(len(text_pairs.left), collection.budget.block):
        column.add(encode_pair(text_pairs.left[part], text_pairs.right[part]))
    return column.whole()


def _similarities(
    collection: Collection, text_pairs: TextPairs, origin: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
    """Return the similarity of each pair, whether it was measured on the texts, and the rank."""
    similarity: NDArray[np.float64] = collection.budget.array(len(origin), np.float64)
    rank: NDArray[np.float64] = collection.budget.array(len(origin), np.float64)
    exact: NDArray[np.bool_] = collection.budget.array(len(origin), np.bool_)
    for part in parts(len(origin), collection.budget.block):
        is_copy = origin[part] < 0
        positions = origin[part][~is_copy]
        similarity[part] = 1.0
        similarity[part][~is_copy] = text_pairs.similarity[positions]
        rank[part] = 1.0
        rank[part][~is_copy] = text_pairs.rank[positions]
        exact[part] = True
        exact[part][~is_copy] = text_pairs.exact[positions]
    return similarity, exact, rank


def _copies(collection: Collection, left: Positions, right: Positions) -> NDArray[np.bool_]:
    """Return whether the documents of each pair are copies, whose fields may differ."""
    texts = collection.documents.texts
    copy: NDArray[np.bool_] = collection.budget.array(len(left), np.bool_)
    for part in parts(len(left), collection.budget.block):
        copy[part] = collection.are_copies(texts[left[part]], texts[right[part]])
    return copy


def _containments(
    collection: Collection,
    of_texts: NDArray[np.float64],
    left: Positions,
    right: Positions,
    origin: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return (pairs, 2): how much of the left document is in the right one, and the other way.

    `of_texts` has the same for the pairs of texts, whose left text has the lower number.
    """
    texts = collection.documents.texts
    within: NDArray[np.float64] = collection.budget.array((len(left), 2), np.float64)
    for part in parts(len(left), collection.budget.block):
        is_copy = origin[part] < 0
        fractions = of_texts[origin[part][~is_copy]]
        is_swapped = texts[left[part][~is_copy]] > texts[right[part][~is_copy]]
        within[part] = 1.0
        within[part][~is_copy] = np.where(is_swapped[:, None], fractions[:, ::-1], fractions)
    return within
