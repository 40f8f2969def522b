"""Stored documents read for folding: titles, positions of parts, exact similarities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, NamedTuple, TypeAlias

from indexer.comparing.criteria import NO_CRITERIA, Criteria, RuleValues
from indexer.comparing.measures import ComparedText, stored_text
from indexer.comparing.reasons import Rarity, TextDifferences, explain
from indexer.defaults import MEASURE
from indexer.fingerprinting.fingerprint import current_rows, fresh_rows, rows_with_symbols
from indexer.grouping.words_in_common import (
    accepts_in_common,
    measure_in_common,
    words_in_common,
)
from indexer.model import Part, RankedRow, Row, SnippetPiece
from indexer.recipe import Recipe
from indexer.searching.snippets import snippet
from indexer.stores.abilities import FullStore
from indexer.stores.requirements import is_shared
from indexer.system.external_memory import LruCache

# A cache of compared texts, for all look-ups and searches of a process.

MAX_CHARS = 1 << 20
MIN_CHARS = 200  # that a text counts for at least
_Key: TypeAlias = tuple[str, Recipe, bytes | None, int | None]


class TextCache:
    """The texts that were compared last, of `limit` characters at most together."""

    def __init__(self, limit: int = MAX_CHARS) -> None:
        self._lock = Lock()
        self._texts = LruCache[_Key, ComparedText](limit, _weight)

    def compared(
        self, text: str, recipe: Recipe, minhash: bytes | None = None, simhash: int | None = None
    ) -> ComparedText:
        """Return a text as measures read it, with its sketches; `minhash` is as it is stored."""
        key = text, recipe, minhash, simhash
        with self._lock:
            compared = self._texts.get(key)
            if compared is None:
                compared = stored_text(text, recipe, minhash, simhash)
                self._texts.put(key, compared)
        return compared

    def clear(self) -> None:
        """Discard all texts."""
        with self._lock:
            self._texts.clear()


def _weight(compared: ComparedText) -> int:
    return max(len(compared.text), MIN_CHARS)


text_cache = TextCache()


KEPT = 512  # documents that are remembered
_BATCH = 100


@dataclass(frozen=True)
class _Memory:
    """The part of a document that is remembered; one that is gone does not exist."""

    title: str
    path: str
    compared: ComparedText
    embedded: str
    values: RuleValues
    key: str
    exists: bool
    is_changed: bool


class Heading(NamedTuple):
    """The title of a document, and a snippet if there is a query."""

    title: str = ""
    snippet: tuple[SnippetPiece, ...] = ()


@dataclass(slots=True)
class StoredTexts:
    """Reads documents of a store, or of a snapshot of it.

    Titles, texts and features of the last few hundred documents are remembered. `parts`: the
    offsets of the parts that were read, by id. `metadata`: the names of metadata of what was read.
    `criteria`: what texts meet whose similarity, by `measure`, is `threshold` or more.
    `stored_measure`: the measure of the similarities that hits have; empty for an unknown one.
    """

    store: FullStore
    recipe: Recipe
    snapshot: str | None = None
    criteria: Criteria = NO_CRITERIA
    measure: str = MEASURE
    threshold: float = 0.0
    stored_measure: str = ""
    parts: dict[str, Part] = field(default_factory=dict)
    metadata: set[str] = field(default_factory=set)
    rarity: Rarity = field(init=False)
    _known: LruCache[str, _Memory] = field(default_factory=lambda: LruCache(KEPT))

    def __post_init__(self) -> None:
        self.rarity = Rarity(self.store.vocabulary.frequencies)

    def rows(self, ids: Sequence[str]) -> list[Row]:
        """Return the rows of these ids in the order given; those that are gone are left out."""
        if not ids:
            rows: dict[str, Row] = {}
        elif self.snapshot is None:
            rows = self.store.get(ids)
        else:
            rows = self.store.snapshots.get(ids, self.snapshot)
        self._note(rows.values())
        return [rows[id] for id in ids if id in rows]

    def _note(self, rows: Iterable[Row]) -> None:
        """Note the names of metadata, and where parts lie."""
        for row in rows:
            self.metadata.update(row.metadata)
            if row.parent:
                self.parts[row.id] = Part(row.parent, row.title, row.start, row.stop)

    def headings(self, ids: Sequence[str], query: str | None) -> dict[str, Heading]:
        """Return titles by id, with snippets for a query; these documents are remembered."""
        headings: dict[str, Heading] = {}
        for start in range(0, len(ids), KEPT):
            batch = ids[start : start + KEPT]
            self.read_ahead(batch)
            for id in batch:
                known = self._known[id]
                if known.exists:
                    pieces = () if query is None else snippet(known.compared.text, query)
                    headings[id] = Heading(known.title, pieces)
        return headings

    def read_ahead(self, ids: Sequence[str]) -> None:
        """Read the first `KEPT` documents that are not cached."""
        distinct = dict.fromkeys(ids[:KEPT])
        self._known.use(distinct)
        missing = [id for id in distinct if id not in self._known]
        for start in range(0, len(missing), _BATCH):
            self._read(missing[start : start + _BATCH])

    def similarity(self, a: str, b: str, minimum: float = 0.0) -> float:
        """Return the similarity of the texts of two documents by id.

        It is 1 for copies, and 0 if they do not meet the criteria, or one is gone. Below
        `minimum` it may be less, which is found out sooner.
        """
        if a not in self._known or b not in self._known:
            self.read_ahead([a, b])
        left, right = self._document(a), self._document(b)
        if a == b:
            return 1.0
        if not self.criteria.allows(left.values, right.values):
            return 0.0
        if left.key == right.key:
            return 1.0
        others = [right.compared]
        [(value, common)] = measure_in_common(self.measure, left.compared, others, minimum)
        if not self.criteria or value < self.threshold:
            return value
        meets = accepts_in_common(self.criteria, left.compared, right.compared, common, self.rarity)
        return value if meets else 0.0

    def may_be_similar(self, id: str, others: Sequence[str], minimum: float) -> Sequence[str]:
        """Return the other documents whose `similarity` to one may reach a minimum.

        By `lcs` one call of the kernel leaves others out; by another measure none are left out.
        """
        if self.measure != "lcs":
            return others
        own = self._document(id)
        possible: list[str] = []
        for start in range(0, len(others), _BATCH):
            batch = {other: self._document(other) for other in others[start : start + _BATCH]}
            texts = [document.compared.text for document in batch.values()]
            counted = words_in_common(own.compared.text, texts, minimum)
            possible += [
                other
                for (other, document), common in zip(batch.items(), counted, strict=True)
                if document.key == own.key or common is None or common.lcs >= minimum
            ]
        return possible

    def changed(self, ids: Sequence[str]) -> set[str]:
        """Return the documents whose text is not the one of their fingerprint."""
        changed: set[str] = set()
        for start in range(0, len(ids), KEPT):
            batch = ids[start : start + KEPT]
            self.read_ahead(batch)
            changed |= {id for id in batch if self._known[id].is_changed}
        return changed

    def sketch(self, id: str) -> Any:
        """Return the bits, or the rare-term vector, of a document; None if it has none."""
        text = self._document(id).compared
        return text.vector if self.recipe.terms else text.simhash

    def similarities(self, representative: str, ids: Sequence[str]) -> list[float]:
        """Return the similarity of one document to each of others, read in batches."""
        values: list[float] = []
        for start in range(0, len(ids), _BATCH):
            batch = ids[start : start + _BATCH]
            self.read_ahead([representative, *batch])
            values += [self.similarity(representative, id) for id in batch]
        return values

    def differences(self, representative: str, ids: Sequence[str]) -> list[TextDifferences]:
        """Return in what each of some documents differs from one, read together.

        None differ where a document is gone.
        """
        self.read_ahead([representative, *ids])
        first = self._document(representative)
        return [_differences(first, self._document(id)) for id in ids]

    def _document(self, id: str) -> _Memory:
        if id not in self._known:
            self._read([id])
        return self._known[id]

    def remember(self, rows: Sequence[Row]) -> None:
        """Remember documents that were read in another way."""
        self._note(rows)
        self._remember([row.id for row in rows], rows)

    def _read(self, ids: Sequence[str]) -> None:
        self._remember(ids, self.rows(ids))

    def _remember(self, ids: Sequence[str], read: Sequence[Row]) -> None:
        rows = comparable_rows(self.store, self.recipe, read)
        # one without a recipe was sent again past the pipeline: no group was made for its text
        changed = {row.id for row in read if rows[row.id].exact != row.exact or not row.recipe}
        by_content = rows_with_symbols(rows.values(), self.recipe)
        keys = {row.id: self.criteria.content_key(row) for row in by_content}
        for id in ids:
            row = rows.get(id)
            text, bits = (row.text, row.simhash) if row else ("", None)
            packed = row.minhash if row and self.recipe.has_vector else None
            compared = text_cache.compared(text, self.recipe, packed, bits)
            values = self.criteria.values(row) if row else (None,)
            title = row.title if row else ""
            path = row.path if row else ""
            embedded = row.embedded if row else ""
            key, exists = keys.get(id, id), row is not None
            memory = _Memory(title, path, compared, embedded, values, key, exists, id in changed)
            self._known.put(id, memory)


def _differences(a: _Memory, b: _Memory) -> TextDifferences:
    if not (a.exists and b.exists):
        return TextDifferences((), ())
    paths, embedded = (a.path, b.path), (a.embedded, b.embedded)
    return explain(a.compared, b.compared, paths=paths, embedded=embedded)


def comparable_rows(store: FullStore, recipe: Recipe, rows: Iterable[Row]) -> dict[str, Row]:
    """Return rows of a store by id, in order, each with a current fingerprint of its text.

    Rows that earlier statistics fingerprinted, and texts that other programs changed, are
    fingerprinted again. What the recipe leaves out of texts is blank in them.
    """
    current = current_rows(rows, recipe)
    if is_shared(store):
        current = (fresh for _, fresh in fresh_rows(current, recipe))
    if not recipe.left_out:
        return {row.id: row for row in current}
    return {row.id: replace(row, text=recipe.compared(row.text)) for row in current}


def ranked_row(row: Row) -> RankedRow:
    """Return a row as a hit without a score."""
    digest = row.raw if row.status == "empty" else row.exact
    return RankedRow(row.id, row.path, None, row.family, row.status, row.minhash, digest, row.words)
