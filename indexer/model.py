"""The domain model: one frozen value for each step of the data flow, and the outcomes of a job.

source -> Blob -> Document -> Fingerprint -> Row -> store -> Candidate -> Match.
A search returns Hits.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indexer.errors import ExtractionError


Status: TypeAlias = Literal[
    "complete", "truncated", "empty", "too_short", "numbers_only", "unsigned"
]
"""The state of a row's fingerprint.

`unsigned`: an ingest pipeline accepted the document but could not compute its fingerprint;
`near_error` says why.
"""
MIN_TERMS = 10  # distinct terms of a text below which rare terms are not reliable
TERM_PREFIX = 3  # numbers before the entries of a stored rare-term vector: its length, its hash
CONFLICT = "label_conflict"  # the filter for families whose documents differ in their labels
Scope: TypeAlias = Literal["documents", "parts", "both"]
"""The rows that a request covers: whole documents, their parts (clauses), or all."""
CountRelation: TypeAlias = Literal["eq", "gte", "approximate"]
"""What a printed number of families is: equal to their number, a lower bound, or within
`FAMILIES_ERROR` of it.
"""
FAMILIES_ERROR = 0.01  # engines estimate large numbers with a standard deviation of .4 % or less
SkipReason: TypeAlias = Literal["unchanged", "special_file", "symbolic_link", "excluded"]
Matching: TypeAlias = Literal["literal", "information"]
"""The two ways to count words in matching chunks, as `indexer.comparing.measures` defines them."""


EmbeddedKind: TypeAlias = Literal["attachment", "picture", "media", "object", "unread", "columns"]
"""The kinds of what a file holds besides its text: the attachments of a mail, whether their text is
read or not; what is never read: pictures, sound and video, objects of other programs; what was not
read of the file itself, such as text beyond a limit, for which its whole bytes stand; and which
cells of its tables are empty, which formats without cells do not show (`NO_GAPS`: none is), or the
elements of XML.
"""
MAX_EMBEDDED = 8_000  # characters of what is listed of one document
DIGITS = 64  # of a SHA-256
NO_FILES = "0" * DIGITS  # the digest of a document with nothing but tables
NO_GAPS = "0"  # the digest of tables in which no cell is empty before another one of its row
COLUMNS_PATTERN = r'\["columns","[^"]*","(\w+)"\]'
_MAX_NAME = 100


class EmbeddedFile(NamedTuple):
    """A file in a document: its kind, name and SHA-256; and its anchor, which is in the digest of
    the files alone: its page, the number of characters before it, or the name that counts.
    """

    kind: EmbeddedKind
    name: str
    sha256: str
    anchor: str = ""


def pack_embedded(files: Iterable[EmbeddedFile]) -> str:
    """Return what a document holds besides its text, as rows keep it; empty for nothing.

    The SHA-256 of the digests and anchors comes first, then the number of files, then JSON of as
    many of them as fit into `MAX_EMBEDDED` characters; columns come first, are no file in the
    number, and not in the SHA-256, which is zeros without files.

    >>> pack_embedded([EmbeddedFile("picture", "a.png", "0f")])[64:]
    ' 1 [["picture","a.png","0f"]]'
    >>> pack_embedded([])
    ''
    """
    every = list(files)
    counted = [file for file in every if file.kind != "columns"]
    every = [*_joined([file for file in every if file.kind == "columns"]), *counted]
    if not every:
        return ""
    digests = sorted({f"{file.anchor} {file.sha256}".lstrip() for file in counted})
    digest = hashlib.sha256("\n".join(digests).encode(errors="replace")).hexdigest()
    listed: list[str] = []
    left = MAX_EMBEDDED
    for kind, name, sha256, _ in every:
        written = json.dumps([kind, name[:_MAX_NAME], sha256], separators=(",", ":"))
        left -= len(written) + 1
        if left < 0:
            break
        listed.append(written)
    return f"{digest if counted else NO_FILES} {len(counted)} [{','.join(listed)}]"


def _joined(tables: list[EmbeddedFile]) -> list[EmbeddedFile]:
    """Return the columns of tables in several parts of a document as if they were one table."""
    with_gaps = [file for file in tables if file.sha256 != NO_GAPS]
    if len(with_gaps) < 2:
        return with_gaps or tables[:1]
    digest = hashlib.sha256("\n".join(file.sha256 for file in with_gaps).encode()).hexdigest()
    name = with_gaps[0].name.partition(" in ")[0]
    return [with_gaps[0]._replace(name=name, sha256=digest)]


def with_unread(packed: str, name: str, raw: str) -> str:
    """Return what a document holds besides its text, with what was not read of it: `raw` is a
    SHA-256, such as that of its bytes.

    >>> with_unread("", "unread part of a.txt", "0f")[64:]
    ' 1 [["unread","unread part of a.txt","0f"]]'
    """
    unread = pack_embedded([EmbeddedFile("unread", name, raw)])
    if not packed:
        return unread
    digest, count, _ = packed.split(" ", 2)
    if digest == NO_FILES:
        digest = unread[:DIGITS]
    else:
        digest = hashlib.sha256(f"{digest}\n{raw}".encode()).hexdigest()
    files = [file[:3] for file in (*unpack_embedded(unread), *unpack_embedded(packed))]
    return f"{digest} {int(count) + 1} {json.dumps(files, separators=(',', ':'))}"


def unpack_embedded(packed: str) -> tuple[EmbeddedFile, ...]:
    """Return the files that `pack_embedded` listed.

    >>> unpack_embedded(pack_embedded([EmbeddedFile("picture", "a.png", "0f")]))
    (EmbeddedFile(kind='picture', name='a.png', sha256='0f', anchor=''),)
    """
    if not packed:
        return ()
    _, _, listed = packed.split(" ", 2)
    return tuple(EmbeddedFile(*file) for file in json.loads(listed))


@dataclass(frozen=True, slots=True)
class Blob:
    """One file or record of a source; only its directory entry has been read.

    `id` is stable: a digest of the namespace and the source key, never of time or chance. `path` is
    for display and for people to open; bytes of a name that are not UTF-8 are U+FFFD there, but
    never in `key`. `modified` is in nanoseconds since 1970 UTC, None if the source does not say.
    `opener` is the name that the operating system opens (bytes: names need not be UTF-8), or the
    reader of a blob that is not a file.

    Some sources know more in advance: `source`, the digest that changes when the blob changes, as
    reading the blob will compute it (None: known by reading alone); `labels` and `metadata` of the
    document. `other_ids` gives the ids that a file, or what lies in it, has by other folders that
    could have been the PATH. `embedded`, as rows keep it, of a mail without its attachments.
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
    other_ids: Callable[[], Iterable[str]] = field(default=tuple, compare=False, repr=False)
    embedded: str = ""


class Opener(Protocol):
    """A reader of one blob that is not a file of the operating system."""

    def read(self, max_bytes: int) -> Payload:
        """Read the whole blob.

        Raises `UnreadableFile` when it was deleted, fails, or is larger than `max_bytes`.
        """
        ...

    def stream(self) -> BinaryIO:
        """Open the blob at its first byte; the caller closes it. Raises `UnreadableFile`."""
        ...


@dataclass(frozen=True, slots=True)
class Payload:
    """The contents of a blob as they were read.

    `modified` is in nanoseconds since 1970 UTC. `raw` is the SHA-256 of the bytes, `source` the
    digest that changes when the blob changes; both 64 hexadecimal digits. `document`: the document
    of a source of texts instead of files, or the error why there is none.
    """

    data: bytes
    size: int
    modified: int | None
    raw: str
    source: str
    document: Document | ExtractionError | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """The result of extracting a blob.

    `truncated`: the text was cut at a limit, or reading failed in the middle. `labels` are those
    that came with the text itself. `headings`: level and words of the headings that the format
    marks, in order, if they were requested. `embedded`: the files in it, as rows keep them.
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
    embedded: str = ""


READ_AS = " as "
"""Between the identity of an extractor and the encoding that it guessed."""


def guessed_encoding(extractor: str) -> str:
    """Return the encoding that an extractor guessed, from what is stored with each text; empty for
    none.

    >>> guessed_encoding("plain/4 as cp1252"), guessed_encoding("plain/2")
    ('cp1252', '')
    """
    return extractor.partition(READ_AS)[2]


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The sketches and keys of one text under one recipe.

    `minhash`: (slots,) uint32, uint64 under `affine64`; `simhash`: an unsigned integer of the
    recipe's bits; both None, and no keys, when the status is not `complete`, or when the recipe
    makes none. `exact` is the SHA-256 of the normalised text in UTF-8, 64 hexadecimal digits.
    `words` counts words of the text, `chars` code points of the normalised text. `terms` are the
    rarest words, rarest first, and `rare` their keys. `vector` is what rows keep instead of slots:
    the vector of rare terms (`indexer.fingerprinting.rare_terms`), or the bytes of a `simhash`
    of more than 64 bits, the first bit first.
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
    vector: NDArray[Any] | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A stored document; the same fields in every store.

    `id` is the engines' `_id`. `modified` is in milliseconds since 1970 UTC, or None. `source` is
    the digest of size, time and bytes by which an unchanged file is recognised; `raw` the SHA-256
    of the bytes. `minhash` is the sketch as `indexer.fingerprinting.keys` packs it. `family` is
    never empty: a document without near duplicates has its own id. `embedded` lists the files in
    the document (`pack_embedded`); they are in the digest `exact`, too, so that equal texts around
    other files are no copies. `date`, in milliseconds since 1970 UTC, is when a mail was sent, when
    another document says that it was modified or created, else the time of its file; None without
    any. `custodian`: who held it; empty for nobody. `ocr`: the program that recognised the
    characters of a scan; empty for other texts.

    A part of a document is a row of its own: `parent` is the document's id, `text` its characters
    [`start`, `stop`), `title` the number and heading above it. `parts` are written with their
    document and replace its earlier parts; None leaves those as they are. Rows that are read have
    none: parts are requested by `Scope`.
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
    embedded: str = ""
    date: int | None = None
    custodian: str = ""
    ocr: str = ""
    parts: tuple[Row, ...] | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A stored row that shares keys with a query, with its stored sketches."""

    id: str
    path: str
    keys_shared: int
    minhash: bytes | None
    simhash: int | None


@dataclass(frozen=True, slots=True)
class Prefilter:
    """Bounds that leave out candidates whose rows need not be read.

    Rows with a sketch have at least `min_equal` slots equal to `slots`, a sketch as it is stored,
    with slots of `slot_bytes`. `lengths`: the fewest and the most words of the text, if they
    matter. `ocr`: only rows that have a value of `ocr`.
    """

    slots: bytes
    slot_bytes: int
    min_equal: int
    lengths: tuple[int, int] | None = None
    ocr: bool = False


@dataclass(frozen=True, slots=True)
class WordLookup:
    """A look-up of rows by words, each in the ways in which it may be written: a row has `shared`
    of them in its text of `min_words` to `max_words` words. `sampled`: a store may look up only the
    rarer words, of which a row has as large a fraction.
    """

    words: tuple[tuple[str, ...], ...]
    shared: int
    min_words: int
    max_words: int
    sampled: bool = False


@dataclass(frozen=True, slots=True)
class Candidates:
    """Candidates, most keys shared first (ties by path).

    `capped_keys` were not searched because too many rows have them. `cut`: the limit left
    candidates out. `filtered`: how many a prefilter left out. `complete`: no row that is similar
    enough is missing, but for those that the limit left out.
    """

    found: tuple[Candidate, ...]
    capped_keys: tuple[str, ...] = ()
    cut: bool = False
    filtered: int = 0
    complete: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """A full-text search, independent of the engine.

    `filters` are (field, value) pairs that must all hold. `facets` are fields whose values are
    counted over all matches; `families`: count the families of the matches. `expected`: the hits
    that will probably be read, which a store may fetch at once; it changes no result. `first`: if
    not 0, the hits that are needed with id and path; of the others sketches may do.
    `max_ranked`: a store that ranks slowly may rank only about so many of the matches, those
    written last, and give the others after them. None: it ranks all. `join`: any of the words may
    match, or all of them must.
    """

    text: str
    filters: tuple[tuple[str, str], ...] = ()
    sort: Literal["relevance", "path", "modified", "newest", "oldest"] = "relevance"
    facets: tuple[str, ...] = ()
    families: bool = False
    expected: int = 0
    max_ranked: int | None = None
    first: int = 0
    join: Literal["any", "all"] = "any"


@dataclass(frozen=True, slots=True)
class Facet:
    """A value of a field, with the numbers of matching documents and families that have it.

    `relation` is that of `families` to their number.
    """

    value: str
    documents: int
    families: int
    relation: CountRelation = "eq"


@dataclass(frozen=True, slots=True)
class RankedRow:
    """One hit in the order of the store; `score` is None when that is not by relevance.

    `digest`: that of the normalised text or, where nothing is left of it, of the bytes; copies have
    the same. `words` are counted by the recipe; None where that is not known. `similarity` is that
    of a member of a group to its principal, as `group` stored it; else None.
    """

    id: str
    path: str
    score: float | None
    family: str
    status: Status
    minhash: bytes | None
    digest: str = ""
    words: int | None = None
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """A similarity estimated from sketches, with its 95 % Wilson interval; all in [0, 1]."""

    similarity: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of words that two texts share: character offsets [start, end) in each, and its words.

    `words` is its length in words.
    """

    a: tuple[int, int]
    b: tuple[int, int]
    words: int


WITHOUT_ACCENTS = 0.95  # what a word counts that is the same but for its accents


@dataclass(frozen=True, slots=True)
class WordsInOrder:
    """The number of words that two texts have in the same order, and the words of each text.

    `accents`: words that are in order, too, and the same but for their accents, where one text has
    accents and the other none.
    """

    common: int
    words: tuple[int, int]
    accents: int = 0

    @property
    def similarity(self) -> float:
        """The fraction of the words of the longer text; 0 when neither has any."""
        counted = self.common + WITHOUT_ACCENTS * self.accents
        return counted / max(self.words) if any(self.words) else 0.0


DifferenceKind: TypeAlias = Literal[
    "number", "date", "amount", "negation", "obligation", "name", "address", "sign", "link",
    "renamed", "header",
]  # fmt: skip

MarkKind: TypeAlias = Literal[
    "negated",
    "parties_exchanged",
    "form",
    "message",
    "embedded",
    "obligation",
    "version",
    "amount",
    "deadline",
    "date",
    "number",
    "symbol",
    "name",
    "address",
    "accents",
    "clause_added",
    "rearranged",
    "grown",
    "language",
    "link",
    "renamed",
    "header",
    "format",
]
"""The kinds of marks, the most serious first; `indexer.comparing.marks` defines them."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A kind of difference between two documents that a reader must know.

    `a` and `b`: what either document has where they differ so first; None where it has nothing, and
    for kinds of whole documents. `count`: how many differences are of this kind.
    """

    kind: MarkKind
    a: str | None = None
    b: str | None = None
    count: int = 1


@dataclass(frozen=True, slots=True)
class Difference:
    """A fact in which two texts differ, as either writes it; None where a text has none.

    A fact that both state, but in other surroundings, is the same in both texts.
    """

    kind: DifferenceKind
    a: str | None
    b: str | None


@dataclass(frozen=True, slots=True)
class Sameness:
    """A common trait of copies: the bytes of their files, their texts, or the words of these.

    `ignored`: the differences of their texts that do not count. `as_read`: a text was cut, so that
    the rest is not known. `extracted`: their files differ, and not in their texts alone, from which
    the extractor leaves out markup and the like.
    """

    kind: Literal["bytes", "text", "words"]
    ignored: tuple[str, ...] = ()
    as_read: bool = False
    extracted: bool = False


@dataclass(frozen=True, slots=True)
class WordFrequencies:
    """The number of `documents` of a store, and of those that a search for each word finds."""

    documents: int
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RareWord:
    """A word that few documents of a store have: which of two texts has it, how many documents."""

    word: str
    side: Literal["left", "right"]
    documents: int


@dataclass(frozen=True, slots=True)
class NewWords:
    """The distinct words of either of two texts that the other lacks.

    `left` and `right`: how many. `rare`: those in at most 2 % of the documents of a store, or in
    one, the rarest first, ties by spelling. `novelty`: the sum over all of them of ln(documents /
    documents with the word), from 0 without new words; a word in no document counts as in one.
    Both are None where no store says how frequent words are.
    """

    left: int = 0
    right: int = 0
    rare: tuple[RareWord, ...] | None = None
    novelty: float | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """A candidate after re-scoring.

    `low` and `high` equal `similarity` if the measure is exact. `containment`: the fraction of the
    query's features that the match has, and of the match's that the query has; None if one has
    none. `in_order`: the words that both have in the same order. `rearranged`: nine tenths or more
    of the words of both stand in shared passages, but in an order that leaves `lcs` below the
    threshold. `marks`: the kinds of differences that a reader must know, the most serious first.
    `differences`: the facts that differ. `same`: what a copy has in common with the
    query, None for others. `new_words`: the words of the query (left) and of the match (right) that
    the other lacks. `rank` orders matches: the similarity less what new words cost.
    """

    id: str
    path: str
    similarity: float
    measure: str
    low: float
    high: float
    keys_shared: int
    containment: tuple[float, float] | None
    shared: tuple[Passage, ...] = ()
    in_order: WordsInOrder | None = None
    rearranged: bool = False
    differences: tuple[Difference, ...] = ()
    same: Sameness | None = None
    new_words: NewWords = NewWords()
    marks: tuple[Mark, ...] = ()
    rank: float = 0.0


@dataclass(frozen=True, slots=True)
class Part:
    """The location of a part: characters [`start`, `stop`) of the text of document `parent`.

    `heading`: the number and title above it.
    """

    parent: str
    heading: str
    start: int | None
    stop: int | None


def part_id(document: str, number: int) -> str:
    """Return the id of a part of a document; parts are numbered from 1."""
    return f"{document}#{number}"


def is_part_id(id: str, document: str) -> bool:
    """Return whether an id is one that nearfold gives to a part of a document.

    >>> is_part_id("a#12", "a"), is_part_id("a#12", "b"), is_part_id("a#x", "a")
    (True, False, False)
    """
    name, _, number = id.rpartition("#")
    return name == document and number.isdecimal()


@dataclass(frozen=True, slots=True)
class FoldedHit:
    """A hit that is folded under another one, with its similarity to it.

    `type`: the duplicate type, if hits are folded by type. `part`: its location; None for a whole
    document. `as_read`: one of both texts was cut, and the rest of it is not known. `differences`:
    the facts in which it differs from the other one, which the similarity does not show; None where
    they were not looked for. `marks`: the kinds of differences that a reader must know, the most
    serious first.
    """

    id: str
    path: str
    similarity: float
    type: str | None = None
    part: Part | None = None
    differences: tuple[Difference, ...] | None = None
    as_read: bool = False
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class SnippetPiece:
    """A piece of a snippet; `found` if it matches the query."""

    text: str
    found: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """A search hit with the near duplicates folded under it, the most similar first (by duplicate
    type, where there is one, before); `part` as in `FoldedHit`. `snippet`: the text around the
    first words that match, in pieces; empty where none was asked for.
    """

    id: str
    path: str
    title: str
    score: float | None
    folded: tuple[FoldedHit, ...] = ()
    part: Part | None = None
    snippet: tuple[SnippetPiece, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexedBlob:
    """A row was written, whatever its status. `extractor` is the one that is stored with it."""

    path: str
    status: Status
    extractor: str = ""


@dataclass(frozen=True, slots=True)
class SkippedBlob:
    """Nothing was done, on purpose."""

    path: str
    reason: SkipReason


@dataclass(frozen=True, slots=True)
class FailedBlob:
    """No row was written: the error says why, and what to do."""

    path: str
    error: str


Outcome: TypeAlias = IndexedBlob | SkippedBlob | FailedBlob


@dataclass(frozen=True, slots=True)
class PrincipalRow:
    """A complete document that is the principal of its family, and its stored slots."""

    id: str
    minhash: bytes


@dataclass(frozen=True, slots=True)
class Assignment:
    """The family fields of one row, as grouping writes them."""

    id: str
    family: str
    principal: bool
    similarity: float | None
    cluster: str | None
    provisional: bool = False
    exact: str | None = None  # of the text that was compared; None: whatever the text is now
    principal_exact: str | None = None  # the same of the principal's text


# The callback by which a long job reports its progress.

Progress: TypeAlias = Callable[[str, int, int], None]
"""Takes the name of the stage, how much of it is done, and the total (0 when not known)."""


def no_progress(_stage: str, _done: int, _total: int) -> None:
    """Report nothing: the default of every `progress` parameter."""
