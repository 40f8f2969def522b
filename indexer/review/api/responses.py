"""The responses of several endpoints, made of rows, hits, versions and comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Literal

from indexer.comparing.compare import Stretch, redline
from indexer.comparing.measures import MeasureValues, describe_measures
from indexer.jobs.versions import Version, Versions
from indexer.model import (
    CountRelation,
    Estimate,
    Facet,
    FoldedHit,
    Hit,
    Match,
    NewWords,
    Part,
    Row,
    SnippetPiece,
    Status,
)
from indexer.review.boilerplate import DiscountedSimilarity
from indexer.review.collation import CollationRow
from indexer.review.compared_documents import stored_original
from indexer.review.family_view import MemberDifferences, NearCopy, VaryingPassage
from indexer.review.originals.files import OriginalView
from indexer.review.side_by_side import Cells, Fact
from indexer.searching.fold_hits import Fold
from indexer.stores.fields import DateKind, named_date
from indexer.wording import count_of, format_words_in_order, percent

# Facts about a stored document.


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """A stored document without its text.

    `modified`, of the file, and `date` are in milliseconds since 1970 UTC; `date_kind` says what
    `date` is: `sent` of a mail, `modified` or `created` as the document says, or `file`; None
    without one. `similarity` is to the principal.
    """

    id: str
    path: str
    title: str
    content_type: str
    status: Status
    words: int
    size: int
    modified: int | None
    date: int | None
    date_kind: DateKind | None
    labels: tuple[str, ...]
    family: str
    principal: bool | None
    similarity: float | None
    provisional: bool

    @classmethod
    def of(cls, row: Row) -> DocumentFacts:
        """Return the facts of a row."""
        date, date_kind = named_date(row.metadata, row.content_type, row.modified)
        return cls(
            id=row.id,
            path=row.path,
            title=row.title,
            content_type=row.content_type,
            status=row.status,
            words=row.words,
            size=row.size,
            modified=row.modified,
            date=date,
            date_kind=date_kind,
            labels=row.labels,
            family=row.family,
            principal=row.principal,
            similarity=row.similarity,
            provisional=row.provisional,
        )


# Documents, hits and mails.


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
    excerpt: tuple[SnippetPiece, ...]
    folded: tuple[FoldedHit, ...]
    document: DocumentFacts | None
    part: Part | None = None


@dataclass(frozen=True, slots=True)
class Results:
    """A page of folded hits.

    `families` is exact if `relation` is `eq`, within 1 % if it is `approximate`, else a lower
    bound. `measure` names the similarity of folded hits, `threshold` is the least by which they
    were folded, None where that is not known, `policy` what they may differ in. `passed_over`: hits
    whose texts did not fit into what fold `types` compares; if not `ready`, `done` of `to_compare`
    texts are read, and there are no hits yet. `unranked`: matches that are not ranked yet, and come
    last. `fold`: how hits are folded.
    """

    query: str
    total: int
    families: int
    relation: CountRelation
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
    policy: str | None = None
    fold: Fold = "live"


@dataclass(frozen=True, slots=True)
class DifferingFacts:
    """The differences of a document from another one in words: its marks, and the facts."""

    id: str
    marks: str
    differences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FactsResponse:
    """The documents that were compared with the one of this id."""

    id: str
    others: tuple[DifferingFacts, ...]


@dataclass(frozen=True, slots=True)
class DocumentResponse:
    """A document and a part of its text.

    `metadata` comes from the extractor. `original`: the file itself may be fetched;
    `original_gone`: it is no longer in the folder of originals. `view`, where it was asked for, is
    of the file, or of its attachment of this number. `attachments`: the first 100 of a mail, where
    they are documents of their own; `unread_attachments`: the names of those that nothing was read
    of; `mail`: the one that this document is attached to.
    `grouped`: other documents are in its near-duplicate group.
    `custodians`: the custodians of this group, the most frequent first. `copies`: the ids of exact
    copies, with the same text and files, by other custodian; up to 100 in all.
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
    mail: DocumentFacts | None = None
    attachments: tuple[DocumentFacts, ...] = ()
    unread_attachments: tuple[str, ...] = ()
    grouped: bool = False
    custodians: tuple[Facet, ...] = ()
    copies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Similar:
    """The near duplicates of a document by rank, and notes on what may be missing.

    `ready` is False while a long document is looked up; there are no matches then. `limit`:
    the highest number of matches. `reasons`: why matches in other near-duplicate groups, by id, are
    not in the document's group.
    """

    document: DocumentFacts
    threshold: float
    matches: tuple[Match, ...]
    notes: tuple[str, ...]
    limit: int
    ready: bool = True
    reasons: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ThreadMailResponse:
    """A mail in its thread.

    `date`: the time when it was sent, in milliseconds since 1970 UTC; None if that is not known.
    `parent`: the id of the mail that it replies to, None for the first one and where that mail is
    not in the store; `depth` counts the mails above it. `copy_of`: the id of the first mail with
    the same Message-ID, None for that one. `inclusive`: no later mail holds it, for these
    `reasons`; else it is `held_by` one; None where the texts were not compared. `near`: the mail of
    the thread whose sender wrote nearly the same before, and how similar it is.
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
    inclusive: bool | None = None
    reasons: tuple[str, ...] = ()
    held_by: str | None = None
    near: str | None = None
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class ThreadResponse:
    """The thread of a mail in the order of its tree; no mails for a document that is none.

    `thread` is the MIH of its first message.
    """

    document: DocumentFacts
    thread: str
    mails: tuple[ThreadMailResponse, ...]
    notes: tuple[str, ...]


# Pairs, versions and near-duplicate groups.


@dataclass(frozen=True, slots=True)
class StepResponse:
    """The step from `origin`, another document, to a version.

    `dated`: the version has the later date; else the order of the two is not known. `similarity`
    is by `lcs`; `added` and `removed` count words; all are None until they are measured. `redline`,
    empty unless requested, is the whole text as stretches that are `same`, `removed` or `added`.
    """

    origin: str
    dated: bool
    similarity: float | None
    added: int | None
    removed: int | None
    redline: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class VersionResponse:
    """A text of a group.

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
    step: StepResponse | None


@dataclass(frozen=True, slots=True)
class VersionsResponse:
    """The versions in a group, each after its probable origin.

    `notes` state the limits of that order. `ready` once `done` of the steps `to_compare` are all.
    """

    family: str
    documents: int
    versions: tuple[VersionResponse, ...]
    notes: tuple[str, ...]
    ready: bool = True
    done: int = 0
    to_compare: int = 0


@dataclass(frozen=True, slots=True)
class NearCopies:
    """The documents of other groups that are near the principal of a group; none until `ready`."""

    copies: tuple[NearCopy, ...]
    ready: bool = True


@dataclass(frozen=True, slots=True)
class GroupDifferences:
    """The differences of the members of a group from the principal, by id.

    Until it is `ready`, these are the first `done` of those `to_compare`. `sentences` sum all of
    them up; `others` are the members that a reviewer has to read; both are empty before. `leave`
    repeats the request.
    """

    members: dict[str, MemberDifferences]
    sentences: tuple[str, ...]
    others: tuple[str, ...]
    leave: bool
    done: int = 0
    to_compare: int = 0
    ready: bool = True


@dataclass(frozen=True, slots=True)
class GroupVariants:
    """The passages of a group's principal, and those in which its documents vary.

    `documents`: their paths by id; `names`: distinct short names by path; `compared`: how many of
    them are compared, since a page has no room for more. None until `ready`.
    """

    family: str
    principal: DocumentFacts | None
    documents: dict[str, str]
    names: dict[str, str]
    passages: int
    compared: int
    varying: tuple[VaryingPassage, ...]
    ready: bool = True


@dataclass(frozen=True, slots=True)
class JoinResult:
    """The number of documents that are in another group now."""

    changed: int


@dataclass(frozen=True, slots=True)
class FamilyResponse:
    """A group: its principal (None if it is not in the store), and its members, the least
    similar first.

    `matrix[i][j]`: the similarity of documents i and j of `compared`, estimated from their slots.
    `measure`: that of the last `group`, None if it is not known here. `versions` is None for a
    group that is too large to be ordered with every request: `/api/versions` does it. `joined`:
    members that reviewers put into the group.
    """

    id: str
    size: int
    principal: DocumentFacts | None
    members: tuple[DocumentFacts, ...]
    compared: tuple[str, ...]
    matrix: tuple[tuple[Estimate | None, ...], ...]
    labels: dict[str, int]
    warnings: tuple[str, ...]
    versions: VersionsResponse | None
    measure: str | None
    joined: tuple[str, ...] = ()


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
    """S_R with five-word shingles weighted by their rarity in the store, next to plain S_R.

    The weights leave out the text that forms share. `similarity`, `plain` (S_R itself) and
    `common` (the fraction of the shingles that a tenth or more of the store's texts carry) are None
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

    `differing`: the fraction of it that differs; `first` and `last`: the numbers of the differences
    that begin there, None without one, and `part` that of the part with the first. `moved`: it has
    a moved passage.
    """

    differing: float
    first: int | None
    last: int | None
    part: int
    moved: bool


@dataclass(frozen=True, slots=True)
class ComparisonResponse:
    """Two documents side by side, one part of them.

    In the texts of `cells`, characters that could mislead a reader are written out. `part` counts
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
class MatrixRow:
    """A passage of several versions. `readings`: its variants as (change, text) from the first one;
    `cells`: the position of the variant of each version, None if it lacks the passage.
    """

    number: int
    cells: tuple[int | None, ...]
    readings: tuple[tuple[tuple[str, str], ...], ...]


@dataclass(frozen=True, slots=True)
class MatrixResponse:
    """Versions of a group side by side, a part of their passages in rows.

    `others`: further documents of the group that can be chosen, one of each other text.
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


# Responses made of rows, hits, versions and measures.

_UNCHANGED = "same"
NOT_COUNTED = "the passages of the store are being counted; look again"
NO_STATISTICS = "no corpus statistics: {}"


def hit_response(hit: Hit, row: Row | None) -> ShownHit:
    """Return a hit with its facts; `row` is None if the document was deleted since."""
    values = hit.id, hit.path, hit.title, hit.score, hit.snippet, hit.folded
    return ShownHit(*values, DocumentFacts.of(row) if row else None, hit.part)


def versions_response(tree: Versions, with_redline: bool) -> VersionsResponse:
    """Return the versions of a group, with their changes word by word if `with_redline`."""
    versions = tuple(_version_response(version, with_redline) for version in tree.versions)
    steps = [version.step for version in tree.versions if version.step]
    done = sum(step.is_measured for step in steps)
    counts = done == len(steps), done, len(steps)
    return VersionsResponse(tree.family, tree.documents, versions, tree.notes, *counts)


def _version_response(version: Version, with_redline: bool) -> VersionResponse:
    return VersionResponse(
        id=version.id,
        path=version.path,
        words=version.words,
        date=version.date,
        date_of=version.source,
        copies=version.copies,
        depth=version.depth,
        step=_step_response(version, with_redline),
    )


def _step_response(version: Version, with_redline: bool) -> StepResponse | None:
    step = version.step
    if not step:
        return None
    if not step.is_measured:
        return StepResponse(step.origin, step.dated, None, None, None, ())
    changes = _changes(step.redline) if with_redline else ()
    return StepResponse(step.origin, step.dated, step.similarity, step.added, step.removed, changes)


def _changes(stretches: Iterable[Stretch]) -> tuple[tuple[str, str], ...]:
    return tuple((part.change, part.text) for part in stretches)


def matrix_row(number: int, row: CollationRow) -> MatrixRow:
    """Return a passage, its further variants with the changes from the first one."""
    first = row.variants[0]
    others = (_changes(redline(first, variant)) for variant in row.variants[1:])
    return MatrixRow(number, tuple(row.cells), (((_UNCHANGED, first),), *others))


def warnings_of(row: Row) -> Sequence[str]:
    """Return the warnings about the extraction of a document."""
    return stored_original(row).warnings


def facts_of(row: Row) -> Mapping[str, str]:
    """Return the facts of a document that a comparison shows, by name."""
    counts = {"words": f"{row.words:,}", "status": row.status.replace("_", " ")}
    return {**counts, **stored_original(row).facts}


def without_boilerplate(
    discounted: DiscountedSimilarity | None, missing: str = ""
) -> WithoutBoilerplate:
    """Return the discounted similarity with its explanation.

    Without one, `missing` is the reason; empty if it is still being computed.
    """
    if discounted is None:
        note = NO_STATISTICS.format(missing) if missing else NOT_COUNTED
        return WithoutBoilerplate(bool(missing), None, None, None, 0, note)
    if not discounted.texts:
        note = NO_STATISTICS.format("the store has no other texts to compare with")
        return WithoutBoilerplate(True, None, None, None, 0, note)
    note = (
        f"S_R with shingles weighted by rarity in {count_of(discounted.texts, 'text')} "
        f"of the store; {percent(discounted.common)} of them are common there"
    )
    return WithoutBoilerplate(
        True, discounted.similarity, discounted.plain, discounted.common, discounted.texts, note
    )


def measures_of(measures: MeasureValues) -> Sequence[Measure]:
    """Return every measure by name, in the order in which they are shown."""
    in_order = format_words_in_order(*astuple(measures.in_order))
    meanings = {**describe_measures(measures), "lcs": in_order}
    return [_measure(measures, name, meaning) for name, meaning in meanings.items()]


def _measure(measures: MeasureValues, name: str, meaning: str) -> Measure:
    value = measures.value(name)
    if isinstance(value, tuple):
        return Measure(name, meaning, value[0], other=value[1])
    if isinstance(value, Estimate):
        return Measure(name, meaning, value.similarity, None, value.low, value.high)
    bounds = measures.hamming_interval if name == "hamming" else None
    return Measure(name, meaning, value, None, *(bounds or ()))
