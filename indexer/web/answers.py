"""The answers of pages and the API as plain values: pages show them, the API sends them as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from indexer.comparing.blocks_view import Cells, Fact
from indexer.grouping.label_journal import LabelEvent, LabelJob
from indexer.grouping.survey_figures import FamilyChanges, FamilySize, LessSimilar, Move, Step
from indexer.jobs.review_file import Note, SavedSearch
from indexer.model import Estimate, Facet, FoldedHit, Match, NewWords, Part, Row, Status
from indexer.web.original_kinds import Kind


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """A stored document without its text.

    `modified` is in milliseconds since 1970 UTC; `similarity` is to the principal.
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
        """Return the facts of a row."""
        return cls(
            id=row.id,
            path=row.path,
            title=row.title,
            content_type=row.content_type,
            status=row.status,
            words=row.words,
            size=row.size,
            modified=row.modified,
            labels=row.labels,
            family=row.family,
            principal=row.principal,
            similarity=row.similarity,
            provisional=row.provisional,
        )


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of an excerpt; `found` if it matches the query."""

    text: str
    found: bool


@dataclass(frozen=True, slots=True)
class ShownHit:
    """A hit with the near duplicates folded under it.

    `document` is None if it was deleted since. `part`: the position of a part; None for a whole
    document.
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
    """A page of folded hits.

    `families` is exact if `relation` is `eq`, else a lower bound. `measure` names the similarity
    of folded hits, `threshold` is the least by which they were folded, None where that is not
    known. `passed_over`: by fold `types`, hits whose texts did not fit into what is compared; if
    not `ready`, `done` of `to_compare` texts are read, and there are no hits yet. `unranked`:
    matches that are not ranked yet, and come last.
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
    threshold: float | None = None
    passed_over: int = 0
    ready: bool = True
    done: int = 0
    to_compare: int = 0
    unranked: int = 0


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """An attachment of a mail: its number from 1, and the id of a document with its bytes."""

    number: int
    name: str
    content_type: str
    size: int
    document: str | None


@dataclass(frozen=True, slots=True)
class OriginalView:
    """The way in which a file is shown; `none` where it is not, for a `reason`."""

    kind: Kind
    reason: str
    attachments: tuple[AttachedFile, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentAnswer:
    """A document and a part of its text.

    `metadata` comes from the extractor. `original`: the file itself may be fetched;
    `original_gone`: it is no longer in the folder of originals. `view`, where it was asked for, is
    of the file, or of its attachment of this number.
    """

    document: DocumentFacts
    text: str
    part: int
    parts: int
    metadata: dict[str, str]
    extractor: str
    warnings: tuple[str, ...]
    original: bool
    original_gone: bool
    attachment: int
    view: OriginalView | None


@dataclass(frozen=True, slots=True)
class Similar:
    """The near duplicates of a document, most similar first, and notes on what may be missing.

    `ready` is False while those of a long document are looked up; there are no matches then.
    """

    document: DocumentFacts
    threshold: float
    matches: tuple[Match, ...]
    notes: tuple[str, ...]
    ready: bool = True


@dataclass(frozen=True, slots=True)
class StepAnswer:
    """The step from `origin`, another document, to a version.

    `dated`: the version has the later date; else the order of the two is not known. `similarity`
    is by `lcs`; `added` and `removed` count words; `redline`, empty unless requested, is the
    whole text as stretches that are `same`, `removed` or `added`.
    """

    origin: str
    dated: bool
    similarity: float
    added: int
    removed: int
    redline: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class VersionAnswer:
    """A text of a family.

    `date` is in milliseconds since 1970 UTC, from the `document` or its `file` (`date_of`).
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
    """The versions in a family, each after its probable origin.

    `notes` state the limits of that order.
    """

    family: str
    documents: int
    versions: tuple[VersionAnswer, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ThreadMailAnswer:
    """A mail in its thread.

    `date`: when it was sent, in milliseconds since 1970 UTC; None if that is not known. `parent`:
    the id of the mail that it answers, None for the first one and where that mail is not in the
    store; `depth` counts the mails above it. `copy_of`: the id of the first mail with the same
    Message-ID, None for that one.
    """

    id: str
    path: str
    title: str
    sender: str
    date: int | None
    parent: str | None
    depth: int
    copy_of: str | None
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ThreadAnswer:
    """The thread of a mail in the order of its tree; no mails for a document that is none.

    `thread` is the MIH of its first message.
    """

    document: DocumentFacts
    thread: str
    mails: tuple[ThreadMailAnswer, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FamilyAnswer:
    """A family: its principal (None if it is not in the store), and members by similarity.

    `matrix[i][j]`: the similarity of documents i and j of `compared`, estimated from their slots.
    `measure`: that of the last `group`, None if it is not known here. `versions` is None for a
    family that is too large to be ordered with every request: `/api/versions` does it.
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
    measure: str | None


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure of two texts by name.

    `low` and `high`: the 95 % interval of an estimate. Values are None without a sketch.
    """

    name: str
    meaning: str
    value: float | None
    other: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class WithoutBoilerplate:
    """S_R with five-word shingles weighted by their rarity in the store, beside plain S_R.

    The weights leave out the text that forms share. `similarity`, `plain` (S_R itself) and
    `common` (the share of the shingles that a tenth or more of the store's texts carry) are None
    until the store's passages are counted (`ready` False), and if there are no other texts
    (`texts` is 0). `note` explains the figure in a sentence.
    """

    ready: bool
    similarity: float | None
    plain: float | None
    common: float | None
    texts: int
    note: str


@dataclass(frozen=True, slots=True)
class MapLink:
    """A segment of the map of a comparison.

    `differing`: the share of it that differs; `first` and `last`: the numbers of the differences
    that begin there, None without one, and `part` that of the part with the first. `moved`: it has
    a moved passage.
    """

    differing: float
    first: int | None
    last: int | None
    part: int
    moved: bool


@dataclass(frozen=True, slots=True)
class ComparisonAnswer:
    """Two documents side by side, one part of them.

    In the texts of `cells`, characters that could mislead a reader are spelled out. `part` counts
    from 1. `first` is the number of the first difference of this part; `passages` counts shared
    passages; `new_words` are those that only A (left) or B (right) has; `map` shows the whole
    texts. `chars`: how many characters of each long text are compared, while the whole texts are
    being compared; None for the whole. `originals`: both files may be there; `views`, where asked
    for, say how each is shown.
    """

    a: DocumentFacts
    b: DocumentFacts
    matching: Literal["literal", "information"]
    words: tuple[int, int]
    measures: tuple[Measure, ...]
    discounted: WithoutBoilerplate
    passages: int
    shared_words: int
    new_words: NewWords
    differences: int
    first: int | None
    part: int
    parts: int
    cells: tuple[Cells, ...]
    facts: tuple[Fact, ...]
    warnings: tuple[str, ...]
    map: tuple[MapLink, ...]
    chars: int | None = None
    views: tuple[OriginalView, ...] = ()
    originals: bool = False


@dataclass(frozen=True, slots=True)
class FailedFile:
    """A file that could not be read, and the error."""

    path: str
    error: str


@dataclass(frozen=True, slots=True)
class StoreState:
    """The current contents of the store.

    `running`: a job is running on it, and its failures are known when it ends. `regrouping`: how
    far the last `group` is that these pages started, or what became of it; empty without one.
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
    regrouping: str = ""


@dataclass(frozen=True, slots=True)
class Labellings:
    """The labellings of a store, newest first, undone ones among them.

    `busy`: a job is running on the store, and `jobs` is empty.
    """

    busy: bool
    jobs: tuple[LabelJob, ...]


@dataclass(frozen=True, slots=True)
class FiguresAnswer:
    """Figures of the stored families; until they are read, `ready` is False and they are empty.

    `redundant`: documents of a family other than its principal. `similarities`: documents by
    similarity to their principal, in twenty steps of .05. `threshold` is that of the last group; if
    it is not known here, `grouped` is False, and measure and threshold are the default ones. `at`:
    when the store was read, ISO 8601 in UTC; labels that these pages wrote since are in. `stale`:
    documents or families have changed since.
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
    measure: str = ""
    threshold: float = 0.0
    grouped: bool = False
    stale: bool = False
    at: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class SurveyAnswer:
    """The families of other thresholds; until they are read, `ready` is False.

    `steps` are by `measure`; those below `measured_from` are estimated. `threshold`, `grouped`,
    `at` and `stale` are as in `FiguresAnswer`. `less_similar`: while it is not `ready`, how many
    documents would leave their principal at higher thresholds, as soon as the figures are read.
    """

    ready: bool
    stage: str
    done: int
    total: int
    less_similar: tuple[LessSimilar, ...] = ()
    documents: int = 0
    steps: tuple[Step, ...] = ()
    measure: str = ""
    threshold: float = 0.0
    grouped: bool = False
    measured_from: float = 0.0
    stale: bool = False
    at: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class RegroupAnswer:
    """Changes that `group` at a threshold would make; until these are known, `ready` is False.

    `survey_ready`: the store is read, of which they are. `before`: the threshold of the stored
    families, None if it is not recorded. `moved`: documents that would be in another family than
    now. `estimated`: by sketches; `group` measures texts. `stale`: as in `SurveyAnswer`. `seen`:
    the state of the store to which all this belongs.
    """

    ready: bool
    threshold: float
    survey_ready: bool = False
    stage: str = ""
    done: int = 0
    total: int = 0
    measure: str = ""
    before: float | None = None
    estimated: bool = False
    moved: int = 0
    changes: FamilyChanges = field(default_factory=FamilyChanges)
    stale: bool = False
    seen: str = ""


@dataclass(frozen=True, slots=True)
class GroupStart:
    """The start of `group` at a threshold; if not `started`, the store has changed: ask again."""

    started: bool
    threshold: float


@dataclass(frozen=True, slots=True)
class PreviewAnswer:
    """The families that a threshold would make; nothing is written.

    `moved` counts documents that would be in another family than now. `measure` names what decides,
    `estimated` if it is estimated from sketches. `ready` is False until the store is read.
    """

    ready: bool
    threshold: float
    measure: str = ""
    estimated: bool = False
    documents: int = 0
    families: int = 0
    gathered: int = 0
    largest: int = 0
    moved: int = 0
    moves: tuple[Move, ...] = ()


@dataclass(frozen=True, slots=True)
class ReviewProgress:
    """The number of documents that are reviewed, and that of all of them."""

    reviewed: int
    documents: int


@dataclass(frozen=True, slots=True)
class WorkFamily:
    """A family of the work list; `reviewer`: whose work it is, empty for nobody's.

    `path` is that of its principal. `similarity`: of the member that is least similar to it, None
    for a single document. `conflict`: reviewed documents carry different labels.
    """

    family: str
    path: str
    documents: int
    reviewed: int
    similarity: float | None
    conflict: bool
    reviewer: str


@dataclass(frozen=True, slots=True)
class WorkListAnswer:
    """A page of the work list; until the store is read, `ready` is False and it is empty.

    `families`: how many the list has. `of_list`: the documents of all families of these sizes and
    this reviewer, whether or not they are shown. `stale`: labels or families may have changed since
    it was read; it is being read again.
    """

    ready: bool
    stage: str
    done: int
    total: int
    families: int = 0
    of_list: ReviewProgress = ReviewProgress(0, 0)
    of_store: ReviewProgress = ReviewProgress(0, 0)
    page: int = 1
    more: bool = False
    items: tuple[WorkFamily, ...] = ()
    stale: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """The family that a reviewer goes on with, empty if none is left.

    `ready` is False until the store is read.
    """

    ready: bool
    family: str


@dataclass(frozen=True, slots=True)
class Assignments:
    """Families that were given to a reviewer, empty for nobody."""

    reviewer: str
    families: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DocumentHistory:
    """The changes of a document's labels, the last one first, and the notes, the oldest first.

    `busy`: a job is running on the store, and `events` is empty.
    """

    busy: bool
    events: tuple[LabelEvent, ...]
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A passage of several versions. `readings`: its texts as (change, text) from the first one;
    `cells`: for each version the place of its reading, None if it lacks the passage.
    """

    number: int
    cells: tuple[int | None, ...]
    readings: tuple[tuple[tuple[str, str], ...], ...]


@dataclass(frozen=True, slots=True)
class MatrixAnswer:
    """Versions of a family side by side, a part of their passages in rows.

    `others`: further documents of the family that can be chosen, one of each other text.
    `passages`: all rows; `shared`: those that all versions have in the same words. `cut`: passages
    at the end of long versions are left out. `part` counts from 1.
    """

    family: str
    versions: tuple[DocumentFacts, ...]
    others: tuple[DocumentFacts, ...]
    passages: int
    shared: int
    rows: tuple[MatrixRow, ...]
    cut: bool
    part: int
    parts: int


@dataclass(frozen=True, slots=True)
class SavedSearches:
    """The saved searches and work lists of a store, by name."""

    searches: tuple[SavedSearch, ...]
