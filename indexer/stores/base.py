"""The store seam: what a use-case may ask of any store, in our words and never in an engine's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from indexer.model import Assignment, Candidates, Query, Ranked, Row, Status
from indexer.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Ranking:
    """The answer to a full-text search: how many documents match, and the hits in order, fetched as they are read.

    The order is total and stable while the iterator lives: ties of the sort key go by path, then id.
    """

    total: int
    hits: Iterator[Ranked]


@dataclass(frozen=True, slots=True)
class Counts:
    """What is in a store: documents by status, and rows that could not be told apart from their family yet."""

    documents: int
    by_status: dict[Status, int] = field(default_factory=dict)
    by_content_type: dict[str, int] = field(default_factory=dict)
    families: int = 0
    size_bytes: int | None = None


class Store(Protocol):
    """A place for rows. Opening one reads nothing and creates nothing; `prepare` creates, the rest needs what exists.

    Reads on a store that was never prepared raise `StoreError` with the way forward.
    """

    url: str

    def stored_recipe(self) -> Recipe | None:
        """The recipe this store was prepared with, or None when it does not exist yet."""
        ...

    def prepare(self, recipe: Recipe) -> None:
        """Create what is missing; raise `RecipeMismatch` or `MappingMismatch` when what exists does not fit."""
        ...

    def write(self, rows: Sequence[Row]) -> list[str | None]:
        """Insert or replace rows by id, durably: one entry a row in order, None when acknowledged, else why it was refused.

        Two rows with one id in a call: the last wins. Raises `StoreStopped` when the store takes nothing any more.
        """
        ...

    def delete(self, ids: Sequence[str]) -> int:
        """Remove rows; ids that do not exist are no error. Returns how many existed."""
        ...

    def refresh(self) -> None:
        """Make everything acknowledged so far visible to `candidates` and `search`."""
        ...

    def get(self, ids: Sequence[str]) -> dict[str, Row]:
        """Whole rows by id; ids that do not exist are absent."""
        ...

    def sources(self, ids: Sequence[str]) -> dict[str, str]:
        """The `source` digest of each row that exists, by id, without reading texts."""
        ...

    def candidates(self, bands: Sequence[str], blocks: Sequence[str], limit: int) -> Candidates:
        """Rows that share at least one key, most keys shared first, ties by path and then id, at most `limit`.

        A key that more than the store's `hot_key_share` of the rows (and more than `hot_key_floor` rows) carry is not
        asked and is named in `capped_keys`.
        """
        ...

    def search(self, query: Query) -> Ranking:
        """Full-text search over title and text. Words are all required; `"quoted words"` stand together. Words of scripts
        written without spaces are found inside a sentence. An empty text matches every document."""
        ...

    def scan(self, under: str | None = None) -> Iterator[Row]:
        """Every row by id; with `under`, those whose path is that folder or lies in it."""
        ...

    def assign(self, assignments: Iterable[Assignment]) -> int:
        """Write family fields back to rows that exist; returns how many were written."""
        ...

    def counts(self) -> Counts:
        """What is in the store."""
        ...

    def close(self) -> None:
        """Release what is held; calling it twice is no error."""
        ...
