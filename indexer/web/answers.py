"""What the pages and the API answer, in plain values: pages show them, the API sends them as JSON
of the same shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from indexer.comparing.blocks_view import Cells, Fact
from indexer.grouping.label_journal import LabelJob
from indexer.grouping.survey import FamilySize, Move, Step
from indexer.model import Estimate, Facet, FoldedHit, Match, Part, Row, Status


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """A stored document without its text. `modified` is in milliseconds since 1970 UTC;
    `similarity` is to the principal.
    """

    id: str
    path: str
    title: str
    content_type: str
    status: Status
    words: int
    size: int
    modified: int | None
    labels: tuple[str, ...]
    family: str
    principal: bool | None
    similarity: float | None
    provisional: bool

    @classmethod
    def of(cls, row: Row) -> DocumentFacts:
        """The facts of a row."""
        return cls(
            row.id, row.path, row.title, row.content_type, row.status, row.words, row.size, row.modified, row.labels,
            row.family, row.principal, row.similarity, row.provisional,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of an excerpt; `found`: it was searched for."""

    text: str
    found: bool


@dataclass(frozen=True, slots=True)
class ShownHit:
    """A hit with the near duplicates folded under it. `document` is None when it was deleted in
    between.

    `part`: where a part lies; None of a whole document.
    """

    id: str
    path: str
    title: str
    score: float | None
    excerpt: tuple[Piece, ...]
    folded: tuple[FoldedHit, ...]
    document: DocumentFacts | None
    part: Part | None = None


@dataclass(frozen=True, slots=True)
class Results:
    """A page of folded hits. `families` is exact when `relation` is `eq`, else there are at least
    so many.

    `measure`: what the similarity of folded hits is.
    """

    query: str
    total: int
    families: int
    relation: Literal["eq", "gte"]
    page: int
    more: bool
    hits: tuple[ShownHit, ...]
    facets: dict[str, tuple[Facet, ...]]
    notes: tuple[str, ...]
    measure: str


@dataclass(frozen=True, slots=True)
class DocumentAnswer:
    """A document and a part of its text; `metadata` is what the extractor told. `original`: the
    file itself may be fetched.
    """

    document: DocumentFacts
    text: str
    part: int
    parts: int
    metadata: dict[str, str]
    extractor: str
    warnings: tuple[str, ...]
    original: bool


@dataclass(frozen=True, slots=True)
class Similar:
    """The near duplicates of a document, most similar first, and what may be missing."""

    document: DocumentFacts
    threshold: float
    matches: tuple[Match, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StepAnswer:
    """How a version came from `origin`, another document. `dated`: its date is later; else which
    came first is not known.

    `similarity` by features; `added` and `removed` words; `redline` spells them out when it is
    asked for: stretches that are `same`, `removed` or `added`, whole.
    """

    origin: str
    dated: bool
    similarity: float
    added: int
    removed: int
    redline: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class VersionAnswer:
    """A text of a family. `date` is in milliseconds since 1970 UTC, told by the `document` or its
    `file` (`date_of`).

    `copies`: other documents with the same text, as id and path. `step` is None for the first
    version; `depth` counts steps.
    """

    id: str
    path: str
    words: int
    date: int | None
    date_of: str | None
    copies: tuple[tuple[str, str], ...]
    depth: int
    step: StepAnswer | None


@dataclass(frozen=True, slots=True)
class VersionsAnswer:
    """The versions in a family, each after the one it probably came from; `notes` say how far that
    can be trusted.
    """

    family: str
    documents: int
    versions: tuple[VersionAnswer, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FamilyAnswer:
    """A family: its principal (None when it is not in the store), members by similarity, who
    resembles whom, warnings.

    `matrix[i][j]`: how much documents i and j of `compared` resemble each other, estimated from
    their slots. `versions` is None for a family that is too large to be ordered in passing:
    `/api/versions` does it.
    """

    id: str
    size: int
    principal: DocumentFacts | None
    members: tuple[DocumentFacts, ...]
    compared: tuple[str, ...]
    matrix: tuple[tuple[Estimate | None, ...], ...]
    labels: dict[str, int]
    warnings: tuple[str, ...]
    versions: VersionsAnswer | None


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure of two texts by name. `low` and `high`: the 95 % interval of an estimate; None
    where there is no sketch.
    """

    name: str
    meaning: str
    value: float | None
    other: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class WithoutBoilerplate:
    """S_R beside S_R with five-word shingles weighted by how rare they are in the store, which
    leaves out what forms share.

    `similarity`, `plain` (S_R itself) and `common` (the share of the shingles that a tenth or more
    of the store's texts carry) are None until the store's passages are counted (`ready` False), and
    where there is nothing to weigh by (`texts` is 0). `note` says it in a sentence.
    """

    ready: bool
    similarity: float | None
    plain: float | None
    common: float | None
    texts: int
    note: str


@dataclass(frozen=True, slots=True)
class ComparisonAnswer:
    """Two documents side by side, one part of them. In the texts of `cells` what could steer a
    reader is spelled out.

    `part` counts from 1. `first` is the number of the first difference of this part; `passages`
    counts shared passages.
    """

    a: DocumentFacts
    b: DocumentFacts
    matching: Literal["literal", "information"]
    words: tuple[int, int]
    measures: tuple[Measure, ...]
    discounted: WithoutBoilerplate
    passages: int
    shared_words: int
    differences: int
    first: int | None
    part: int
    parts: int
    cells: tuple[Cells, ...]
    facts: tuple[Fact, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FailedFile:
    """A file that could not be read, and why."""

    path: str
    error: str


@dataclass(frozen=True, slots=True)
class StoreState:
    """What is in the store now. `running`: a job is at work on it, and failures are not known
    before it ends.
    """

    store: str
    recipe: str
    documents: int
    families: int
    size_bytes: int | None
    by_status: dict[str, int]
    by_content_type: dict[str, int]
    running: bool
    failed: int
    failures: tuple[FailedFile, ...]


@dataclass(frozen=True, slots=True)
class Labellings:
    """The labellings of a store that can be undone or were, newest first. `busy`: a job is at work,
    and they are not told.
    """

    busy: bool
    jobs: tuple[LabelJob, ...]


@dataclass(frozen=True, slots=True)
class SurveyAnswer:
    """What reading the whole store told. Until it is read, `ready` is False and the numbers are
    empty.

    `redundant`: documents that are in a family and not its principal. `similarities`: documents by
    similarity to their principal, in twenty steps of .05. `steps`: what other thresholds would
    make. `measure`: what decides there.
    """

    ready: bool
    stage: str
    done: int
    total: int
    documents: int = 0
    redundant: int = 0
    same_text: int = 0
    same_bytes: int = 0
    provisional: int = 0
    sizes: tuple[tuple[str, int], ...] = ()
    similarities: tuple[int, ...] = ()
    labels: dict[str, int] | None = None
    largest: tuple[FamilySize, ...] = ()
    steps: tuple[Step, ...] = ()
    measure: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class PreviewAnswer:
    """The families that a threshold would make; nothing is written. `moved` documents would be in
    another family than now.

    `ready` is False until the store is read.
    """

    ready: bool
    threshold: float
    measure: str = ""
    documents: int = 0
    families: int = 0
    gathered: int = 0
    largest: int = 0
    moved: int = 0
    moves: tuple[Move, ...] = ()
