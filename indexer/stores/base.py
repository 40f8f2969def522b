"""The store seam: what a use-case may ask of any store, in our words and never in an engine's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from indexer.errors import UsageError
from indexer.model import (
    Assignment,
    Candidates,
    Facet,
    PrincipalRow,
    Query,
    RankedRow,
    Row,
    Scope,
    Status,
)
from indexer.recipe import Recipe
from indexer.stores.address import StoreAddress

HOT_KEY_FLOOR, HOT_KEY_SHARE = 1000, 0.05
FACET_VALUES = 20
FILTERS = ("path", "content_type", "status", "labels", "family", "recipe")
CONFLICT = "label_conflict"
_METADATA = re.compile(r"metadata\.(?P<name>.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The answer to a full-text search: how many documents match, and the hits in order, fetched as
    they are read.

    The order is total and stable while the iterator lives: ties of the sort key go by path, then
    id.

    `families` of all matches, where the query asks for them; a document without a family is one of
    its own. `facets`: for each field asked, its `FACET_VALUES` most frequent values, ties by value.
    A search engine counts families exactly up to 40,000, in a facet up to 10,000. `snapshot`: what
    `search` and `get` take to go on reading the documents as they were; None where a store keeps no
    moments, or was not asked to hold it.
    """

    total: int
    hits: Iterator[RankedRow]
    families: int | None = None
    facets: Mapping[str, tuple[Facet, ...]] = field(default_factory=dict)
    snapshot: str | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """What is in a store: documents by status and by content type, distinct families, bytes on disk
    where known; and parts.

    `families` is exact up to 40,000 and within a few per cent beyond that in a search engine,
    always exact in SQLite.
    """

    documents: int
    by_status: dict[Status, int] = field(default_factory=dict)
    by_content_type: dict[str, int] = field(default_factory=dict)
    families: int = 0
    size_bytes: int | None = None
    parts: int = 0


class Store(Protocol):
    """A place for rows. Opening one reads nothing and creates nothing; `prepare` creates, the rest
    needs what exists.

    Reads and writes on a store that was never prepared raise `StoreError` with the way forward. A
    lone surrogate in any text, id or path becomes U+FFFD, in rows as in questions. Paths, ids and
    keys are ordered by their UTF-8 bytes.

    A key is hot when more than `hot_key_floor` rows and more than `hot_key_share` of all rows carry
    it. `writers` is the number of threads from which `write` may usefully be called at once.
    `shared`: other programs may write at the same time.

    `candidates`, `search`, `scan`, `principals`, `counts` and hot keys are about whole documents;
    `of` gives a view of the same store that is about parts, or about both. Everything that is asked
    by id finds either.
    """

    address: StoreAddress
    url: str
    writers: int
    shared: bool
    hot_key_floor: int
    hot_key_share: float

    def stored_recipe(self) -> Recipe | None:
        """The recipe this store was prepared with, or None when it does not exist yet."""
        ...

    def of(self, scope: Scope) -> Store:
        """The same store, asked about parts, about documents, or about every row. Closing either
        closes both.
        """
        ...

    def stored_parts(self) -> str | None:
        """How its documents are divided, such as `clauses_v1`; None when they are not, or when
        there is no store yet.
        """
        ...

    def keep_parts(self, kind: str) -> None:
        """Record how its documents are divided from now on."""
        ...

    def prepare(self, recipe: Recipe) -> None:
        """Create what is missing; raise `RecipeMismatch` or `MappingMismatch` when what exists does
        not fit.
        """
        ...

    def write(self, rows: Sequence[Row]) -> list[str | None]:
        """Insert or replace rows by id, durably: one entry a row in order, None when acknowledged,
        else why it was refused.

        `Row.parts` are written with their document: in one step in SQLite, before it in a search
        engine, so that a document that is there has its parts; one whose part is refused is
        refused. Two rows with one id in a call: the last wins. Raises `StoreStopped` when the store
        takes nothing any more; what was acknowledged before stays.
        """
        ...

    def delete(self, ids: Sequence[str]) -> int:
        """Remove rows, and the parts of documents; ids that do not exist are no error. Returns how
        many of them existed.
        """
        ...

    def refresh(self) -> None:
        """Make everything acknowledged so far visible to `candidates`, `search`, `scan` and
        `counts`.

        `get` and `sources` always see it.
        """
        ...

    def get(self, ids: Sequence[str], snapshot: str | None = None) -> dict[str, Row]:
        """Whole rows by id, now or as they were at a snapshot; ids that do not exist are absent. May
        raise `MomentGone`.
        """
        ...

    def sources(self, ids: Sequence[str]) -> dict[str, str]:
        """The `source` digest of each row that exists, by id, without reading texts."""
        ...

    def candidates(self, bands: Sequence[str], blocks: Sequence[str], limit: int) -> Candidates:
        """Rows that share at least one key, most keys shared first, ties by path and then id, at
        most `limit`.

        A hot key is not asked; it is named in `capped_keys`, bands before blocks, in the order
        given.
        """
        ...

    def candidates_of(
        self, asked: Sequence[tuple[Sequence[str], Sequence[str]]], limit: int
    ) -> list[Candidates]:
        """What `candidates` finds for each pair of bands and blocks, in order, by as few requests
        as the store can.
        """
        ...

    def search(
        self, query: Query, snapshot: str | None = None, keep_alive: bool = False
    ) -> Ranking:
        """Full-text search over title and text, whatever the characters of the query.

        Words are all required; `"quoted words"` stand together. Words of scripts written without
        spaces are found inside a sentence. Case does not matter, nor do marks on Latin letters. An
        empty query matches every document, one without letters and digits none. Filters are (field,
        value) pairs that must all hold exactly; fields are those of `FILTERS` and `metadata.NAME`,
        others raise `UsageError`; facets are counted for the fields of `FILTERS`. `label_conflict`
        is `true` for documents of families whose documents do not all carry the same labels, worked
        out when it is asked.

        `relevance`: best first; `path`: ascending; `modified`: newest first, rows without a time
        last. Ties, and an empty query by relevance, go by path and then id.

        `keep_alive` keeps the documents as they are for searches that are given the ranking's `snapshot`:
        in a search engine for five minutes after each use, or until `release`. Raises `MomentGone`
        for one that is over.
        """
        ...

    def release(self, snapshot: str) -> None:
        """Let a snapshot go; one that is over already is no error."""
        ...

    def scan(self, under: str | None = None) -> Iterator[Row]:
        """Every row, ascending by id; with `under`, those whose path is that folder or lies in
        it.
        """
        ...

    def assign(self, assignments: Iterable[Assignment]) -> int:
        """Write family fields back to rows that exist; returns how many were written. The last one
        for an id wins.
        """
        ...

    def relabel(self, labels: Mapping[str, Sequence[str]]) -> int:
        """Replace the labels of rows that exist, by id, and of their parts, and nothing else;
        returns how many were named.
        """
        ...

    def principals(self, asked: Sequence[Sequence[str]] | None, limit: int) -> list[PrincipalRow]:
        """Principals that share bands with documents, given by their bands: all of them, or some
        when `limit` is reached.

        Documents that were never grouped lead themselves. Who shares most with one of the documents
        is among those found. None asks for the principals of all families.
        """
        ...

    def members(
        self, field: Literal["family", "cluster", "parent"], names: Sequence[str]
    ) -> Iterator[tuple[str, str]]:
        """Id and family (or cluster, or parent) of every row in one of these, principals
        included.
        """
        ...

    def counts(self) -> Counts:
        """What is in the store."""
        ...

    def close(self) -> None:
        """Release what is held; calling it twice is no error."""
        ...


class Documents(Protocol):
    """Documents that somebody keeps in a store, as they are there."""

    def documents(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Id and fields of each, as they were when the first is read, a bounded number at a
        time.
        """
        ...

    def close(self) -> None:
        """Release what is held."""
        ...


@dataclass(frozen=True, slots=True)
class Change:
    """What was done, or would be done, to one piece of an installation.

    `impossible`, `left out` (the engine lacks what only this piece needs, and the others do
    without) and `kept` give the reason in `detail`.
    """

    kind: str
    name: str
    action: Literal["created", "updated", "unchanged", "removed", "kept", "impossible", "left out"]
    detail: str = ""


@runtime_checkable
class Installable(Protocol):
    """A store whose engine can sign and fold for programs that know nothing of nearfold."""

    def install(self, recipe: Recipe, dry_run: bool, text_field: str | None = None) -> list[Change]:
        """Put there what is missing or old, in an order that leaves every state in between usable.

        `text_field` None: the field that is signed there already, else `text`. Raises
        `RecipeMismatch`, `MappingMismatch`, `TextFieldMismatch`, `StoreRefused` (naming the right
        that is missing), and `StoreError` when a newer nearfold or another pipeline is there
        already.
        """
        ...

    def uninstall(self, recipe: Recipe, dry_run: bool) -> list[Change]:
        """Take away what `install` put there, pieces that other indices use excepted; documents
        keep their fields.
        """
        ...

    def put_roles(self, dry_run: bool) -> list[Change]:
        """Put the `roles` into the cluster that it lacks or that grant something else; `impossible`
        where it keeps none.

        One that was changed and limits documents or fields is `kept`. Raises `StoreRefused` naming
        the right that is missing.
        """
        ...

    def remove_roles(self, dry_run: bool) -> list[Change]:
        """Remove the `roles` that are there, whoever put them. Raises as `put_roles` does."""
        ...

    def roles(self) -> dict[str, dict[str, Any]]:
        """What searchers, indexers and admins of this index must be allowed: roles by name, as the
        engine spells rights.
        """
        ...


def metadata_name(field: str) -> str | None:
    """The NAME of a filter field `metadata.NAME`, dots included; None for a field of `FILTERS`.
    Others raise `UsageError`.

    >>> metadata_name("metadata.dc.creator"), metadata_name("path")
    ('dc.creator', None)
    """
    if field in FILTERS:
        return None
    if found := _METADATA.fullmatch(field):
        return found["name"]
    raise UsageError(
        f"cannot filter on {field!r}; choose one of: {', '.join((*FILTERS, CONFLICT))}, metadata.NAME"
    )


def conflict_asked(value: str) -> bool:
    """The value of a `label_conflict` filter; raises `UsageError` for anything but `true` and
    `false`.
    """
    if value not in ("true", "false"):
        raise UsageError(f"{CONFLICT} is true or false, not {value!r}")
    return value == "true"


def facet_field(field: str) -> str:
    """The field itself when its values can be counted; others raise `UsageError`."""
    if field in FILTERS:
        return field
    raise UsageError(f"cannot count the values of {field!r}; choose one of: {', '.join(FILTERS)}")
