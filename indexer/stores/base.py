"""The interface of a store: what every use-case can rely on, in terms of the domain model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from indexer.model import Candidates, CountRelation, Facet, Prefilter, Query, RankedRow, Row, Status
from indexer.recipe import Recipe

if TYPE_CHECKING:
    from indexer.stores.address import StoreAddress


FREQUENT_KEY_FLOOR, FREQUENT_KEY_FRACTION = 1000, 0.05

Lookup: TypeAlias = tuple[Sequence[str], Sequence[str]]
"""The bands and the blocks of one document whose candidates are looked up."""


class SketchRow(NamedTuple):
    """The columns of a ranked row that are read before its id and path, named as in `RankedRow`."""

    score: float
    status: Status
    minhash: bytes | None
    words: int | None


RankedHit: TypeAlias = RankedRow | SketchRow
"""A hit that was read with its id and path, or without them."""


class SketchReader(Protocol):
    """Reads the sketches of hits, which some stores read sooner than ids and paths."""

    @property
    def first(self) -> int:
        """The first hits of the ranking, which are not among these."""
        ...

    def best(self, window: int) -> Sequence[SketchRow]:
        """Return the best hits after the first ones, `window` with these.

        Hits of the same score come in any order.
        """
        ...

    def rows(self, positions: Sequence[int]) -> list[Row] | None:
        """Return the rows of hits by their positions in `best`; None where two cannot be
        distinguished.
        """
        ...


class MemberReader(Protocol):
    """Returns the first `limit` hits of a search that are in one of some families, in order."""

    def __call__(self, families: Sequence[str], limit: int) -> list[RankedRow]:
        """Read the hits."""
        ...


@dataclass(frozen=True, slots=True)
class Ranking:
    """The result of a full-text search: how many documents match, and the hits in order, fetched as
    they are read.

    The order is total and stable while the iterator lives: ties of the sort key go by path, then
    id.

    `families` of all matches, if the query asks for them; a document without a family counts as one
    of its own. `facets`: the `FACET_VALUES` most frequent values of each requested field, ties by
    value. `families_relation`: `approximate` in a search engine beyond 1,000 families.
    `unranked`: how many matches were not ranked, as `Query.max_ranked` allows.
    `snapshot` names the point in time of a search at a snapshot; None for other searches, and in a
    store that keeps no snapshots. `sketches`: a reader of their sketches, if the query allows it
    and the store reads them sooner; as long as the iterator lives. `members`: a reader of the hits
    in some families, if the query asks for families and the store finds them sooner than by reading
    on; as long as the iterator lives.
    """

    total: int
    hits: Iterator[RankedRow]
    families: int | None = None
    families_relation: CountRelation = "eq"
    facets: Mapping[str, tuple[Facet, ...]] = field(default_factory=dict)
    snapshot: str | None = None
    unranked: int = 0
    sketches: SketchReader | None = None
    members: MemberReader | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """The contents of a store in numbers: documents by status, by content type and by recipe id,
    distinct families, parts, and bytes on disk where known.

    `families_relation` is that of `families` to their number; `approximate` in a search engine
    beyond 10,000 of them.
    """

    documents: int
    by_status: dict[Status, int] = field(default_factory=dict)
    by_content_type: dict[str, int] = field(default_factory=dict)
    by_recipe: dict[str, int] = field(default_factory=dict)
    families: int = 0
    families_relation: CountRelation = "eq"
    size_bytes: int | None = None
    parts: int = 0

    @property
    def not_fingerprinted(self) -> int:
        """The documents that no nearfold fingerprinted, as in an index of other programs."""
        return self.documents - sum(self.by_status.values())


class Store(Protocol):
    """A store of rows. Opening it reads and creates nothing; `prepare` creates what is missing.

    Other reads and writes on a store that was never prepared raise `StoreError` with the way
    forward. A lone surrogate in any text, id or path becomes U+FFFD, in rows and in queries. Paths,
    ids and keys are ordered by their UTF-8 bytes.

    A key is frequent when more than `frequent_key_floor` rows and more than `frequent_key_fraction`
    of all rows carry it. `writers` is the number of threads from which `write` may usefully be
    called at once; 0 for a store whose reads wait for its writes.
    `shared`: other programs may write at the same time. `url` is `address.url`.

    `candidates`, `search`, `scan`, `counts` and frequent keys are about whole documents; a view
    (`indexer.stores.abilities.Parts`) of the same store is about parts, or about both. Methods that
    take ids find either.
    """

    address: StoreAddress
    url: str
    writers: int
    shared: bool
    frequent_key_floor: int
    frequent_key_fraction: float

    def stored_recipe(self) -> Recipe | None:
        """Return the recipe this store was prepared with, or None when it does not exist yet."""
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
        cannot write any more; what was acknowledged before stays.
        """
        ...

    def delete(self, ids: Sequence[str]) -> int:
        """Remove rows, and the parts of documents; return how many of the ids existed.

        Ids that do not exist are no error.
        """
        ...

    def refresh(self) -> None:
        """Make everything acknowledged so far visible to `candidates`, `search`, `scan` and
        `counts`.

        `get` and `sources` always see it.
        """
        ...

    def get(self, ids: Sequence[str]) -> dict[str, Row]:
        """Return whole rows by id; ids that do not exist are absent."""
        ...

    def sources(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the `source` digest of each row that exists, by id, without reading texts."""
        ...

    def candidates(
        self,
        lookups: Sequence[Lookup],
        limit: int,
        shared: int = 1,
        prefilters: Sequence[Prefilter | None] = (),
    ) -> list[Candidates]:
        """Return for each look-up the rows that share at least `shared` of its keys, by few
        requests.

        Most keys shared first, ties by path and then id, at most `limit` for each look-up. A
        frequent key is not looked up; it is named in `capped_keys`, bands before blocks, in the
        order given, and counts as shared by every row that shares another key. Where the look-up
        has a prefilter, rows of other lengths are no candidates, and of the candidates it leaves
        some out. Raises `SnapshotExpired` if nothing was found since another index has taken the
        name.
        """
        ...

    def search(self, query: Query) -> Ranking:
        """Search the full text of titles and texts, whatever the characters of the query.

        Any word may match; `indexer.stores.query_syntax` says how words are required, excluded,
        joined and cut off. Words of scripts written without spaces are found inside a sentence.
        Case does not matter, nor do marks on Latin letters. An empty query matches every document,
        one without letters and digits none. Filters are (field,
        value) pairs that must all hold exactly; fields are the names in `FILTERS` and
        `metadata.NAME`, others raise `UsageError`; facets are counted for the fields of `FILTERS`.
        `folder` holds for a path and all below it; `indexer.stores.filters.range_of` says which
        ranges there are. `label_conflict` is `true` for documents of families whose documents do
        not all carry the same labels, `near_duplicates` for those that share their family; both are
        computed at the time of the search.

        `relevance` orders best first, `path` ascending, `newest` and `oldest` by `date`, `modified`
        newest file first, rows without a time last. Ties, and an empty query by relevance, go by
        path and then id.
        """
        ...

    def scan(self, under: str | None = None) -> Iterator[Row]:
        """Yield every row, ascending by id; with `under`, those whose path is that folder or lies
        in it.
        """
        ...

    def counts(self) -> Counts:
        """Return the contents of the store in numbers."""
        ...

    def close(self) -> None:
        """Release connections; calling it twice is not an error."""
        ...


class Documents(Protocol):
    """Documents as their owner keeps them in a store."""

    def documents(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield id and fields of each document, as they are when the first is read, with bounded
        memory.
        """
        ...

    def close(self) -> None:
        """Release connections."""
        ...
