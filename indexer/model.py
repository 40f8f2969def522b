"""The words of the house: one frozen value for each arrow of the flow, and the outcomes of a job.

source -> Blob -> Document -> Fingerprint -> Row -> store -> Candidate -> Match, and Hit for what a
search shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indexer.errors import ExtractionError

Status: TypeAlias = Literal[
    "complete", "truncated", "empty", "too_short", "numbers_only", "unsigned"
]
"""`unsigned`: an ingest pipeline took the document and could not sign it; `near_error` says why."""
Scope: TypeAlias = Literal["documents", "parts", "both"]
"""What a store is asked about: whole documents, their parts (clauses), or every row."""
SkipReason: TypeAlias = Literal["unchanged", "special_file", "excluded"]


@dataclass(frozen=True, slots=True)
class Blob:
    """One file or record of a source, before anything was read of it but its directory entry.

    `id` is stable: a digest of the namespace and the source key, never of time or chance. `path` is
    what a person is shown and may open; bytes of a name that are not UTF-8 appear as U+FFFD there,
    never in `key`. `modified` is in nanoseconds since 1970 UTC, None where a source does not tell.
    `opener` is what the operating system is asked to open (bytes: names need not be UTF-8), or what
    reads a blob that is no file.

    What a source may know beforehand: `source`, the digest that tells whether the blob changed, as
    reading it will give it (None: only reading tells), and labels and metadata that its document is
    to have.
    """

    id: str
    key: bytes
    path: str
    opener: bytes | Opener
    size: int
    modified: int | None
    source: str | None = None
    labels: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict, hash=False)


class Opener(Protocol):
    """Reads one blob that is no file of the operating system."""

    def read(self, max_bytes: int) -> Payload:
        """What the blob holds. Raises `Unreadable` when it is gone, failing, or larger than
        `max_bytes`.
        """
        ...

    def stream(self) -> BinaryIO:
        """The bytes from the beginning, to be closed by who asked. Raises `Unreadable`."""
        ...


@dataclass(frozen=True, slots=True)
class Payload:
    """What a blob held at one moment.

    `modified` is in nanoseconds since 1970 UTC. `raw` is the SHA-256 of the bytes, `source` the
    digest that tells whether it changed; both 64 hexadecimal digits. `made` is the document where
    the source gives texts, not files, or why there is none.
    """

    data: bytes
    size: int
    modified: int | None
    raw: str
    source: str
    made: Document | ExtractionError | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """What extraction made of a blob. `truncated`: the text was cut at a limit, or the reader gave
    up in the middle.

    `labels` are those that came with the text itself, `headings` level and words of those that its
    format marks, in order, where the extractor was asked for them.
    """

    text: str
    title: str = ""
    content_type: str = "application/octet-stream"
    metadata: Mapping[str, str] = field(default_factory=dict)
    extractor: str = ""
    truncated: bool = False
    warnings: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    headings: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The sketches and keys of one text under one recipe.

    `minhash`: (slots,) uint32, uint64 under `affine64`; `simhash`: an unsigned integer of the
    recipe's bits; both None, and no keys, when the status is not `complete`, or when the recipe
    makes none. `exact` is the SHA-256 of the normalised text in UTF-8, 64 hexadecimal digits.
    `words` counts words of the text, `chars` code points of the normalised text. `terms` are the
    rarest words, rarest first, and `rare` their keys.
    """

    status: Status
    minhash: NDArray[Any] | None
    simhash: int | None
    bands: tuple[str, ...]
    blocks: tuple[str, ...]
    exact: str
    words: int
    chars: int
    terms: tuple[str, ...] = ()
    rare: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """What a store keeps of one document; the same fields in every store. `id` is the engines'
    `_id`.

    `modified` is in milliseconds since 1970 UTC, or None. `source` is the digest of size, time and
    bytes that tells an unchanged file; `raw` the SHA-256 of the bytes. `family` is never empty: a
    document without near duplicates carries its own id.

    A part of a document is a row of its own: `parent` is the document's id, `text` its characters
    [`start`, `stop`), `title` the number and heading that it stands under. `parts` are rows to be
    written with their document, in place of those that it had; None leaves them as they are. Rows
    that are read have none: parts are asked for as such.
    """

    id: str
    recipe: str
    status: Status
    title: str
    text: str
    path: str
    content_type: str
    modified: int | None
    size: int
    source: str
    extractor: str
    raw: str
    exact: str
    words: int
    chars: int
    family: str
    labels: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    bands: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    minhash: bytes | None = None
    simhash: int | None = None
    provisional: bool = True
    principal: bool | None = None
    similarity: float | None = None
    cluster: str | None = None
    parent: str | None = None
    start: int | None = None
    stop: int | None = None
    parts: tuple[Row, ...] | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A stored row that shares keys with a query. `minhash` and `simhash` are the stored
    sketches.
    """

    id: str
    path: str
    keys_shared: int
    minhash: bytes | None
    simhash: int | None


@dataclass(frozen=True, slots=True)
class Candidates:
    """Candidates, most keys shared first (ties by path), and the keys that were not asked because
    too many rows carry them.

    `cut` is True when the limit left candidates out.
    """

    found: tuple[Candidate, ...]
    capped_keys: tuple[str, ...] = ()
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """A full-text search in our words. `filters` are (field, value) pairs that must all hold.

    `facets` are fields whose values are counted over all matches; `families` asks how many families
    the matches are of.
    """

    text: str
    filters: tuple[tuple[str, str], ...] = ()
    sort: Literal["relevance", "path", "modified"] = "relevance"
    facets: tuple[str, ...] = ()
    families: bool = False


@dataclass(frozen=True, slots=True)
class Facet:
    """A value of a field, and how many of the matching documents, and of their families, carry
    it.
    """

    value: str
    documents: int
    families: int


@dataclass(frozen=True, slots=True)
class RankedRow:
    """One hit as the store ranks it; `score` is None when the order is not by relevance."""

    id: str
    path: str
    score: float | None
    family: str
    status: Status
    minhash: bytes | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """A similarity estimated from sketches, with its 95 % Wilson interval; all in [0, 1]."""

    similarity: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of words that two texts share: character offsets [start, end) in each, and its length
    in words.
    """

    a: tuple[int, int]
    b: tuple[int, int]
    words: int


@dataclass(frozen=True, slots=True)
class Match:
    """A candidate after re-scoring. `low` and `high` equal `similarity` where the measure is exact.

    `containment`: how much of the query's features lie in the match, and of the match's in the
    query.
    """

    id: str
    path: str
    similarity: float
    measure: str
    low: float
    high: float
    keys_shared: int
    containment: tuple[float, float]
    shared: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """Where a part lies: characters [`start`, `stop`) of the text of document `parent`, under
    `heading` (number and title).
    """

    parent: str
    heading: str
    start: int | None
    stop: int | None


@dataclass(frozen=True, slots=True)
class FoldedHit:
    """A hit that is shown under another one, with its similarity to it; `type` where hits fold by
    duplicate type.

    `part`: where it lies; None of a whole document.
    """

    id: str
    path: str
    similarity: float
    type: str | None = None
    part: Part | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One shown search hit with the near duplicates folded under it; `part` as in `FoldedHit`."""

    id: str
    path: str
    title: str
    score: float | None
    folded: tuple[FoldedHit, ...] = ()
    part: Part | None = None


@dataclass(frozen=True, slots=True)
class IndexedBlob:
    """A row was written, whatever its status."""

    path: str
    status: Status


@dataclass(frozen=True, slots=True)
class SkippedBlob:
    """Nothing was done, on purpose."""

    path: str
    reason: SkipReason


@dataclass(frozen=True, slots=True)
class FailedBlob:
    """No row: the error says why, and what to do."""

    path: str
    error: str


Outcome: TypeAlias = IndexedBlob | SkippedBlob | FailedBlob


@dataclass(frozen=True, slots=True)
class PrincipalRow:
    """A complete document that leads its own family, so that others may join it, and its stored
    slots.
    """

    id: str
    minhash: bytes


@dataclass(frozen=True, slots=True)
class Assignment:
    """The family fields of one row, as grouping writes them back."""

    id: str
    family: str
    principal: bool
    similarity: float | None
    cluster: str | None
    provisional: bool = False
