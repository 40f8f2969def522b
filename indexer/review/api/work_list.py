"""Endpoints of the work of reviewers: work lists, assignments, histories of labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from indexer.coding import CodingField, CodingRule
from indexer.errors import DocumentNotFound, StoreBusy, UsageError
from indexer.jobs.label import LabelEvent, label_events_of
from indexer.jobs.review_file import Note, SavedSearch
from indexer.review.access import Login
from indexer.review.api.endpoints import (
    WAIT_SECONDS,
    DocumentId,
    Item,
    NoParameters,
    Parameters,
    ReadEndpoint,
    Wait,
    Waiting,
    WriteEndpoint,
    about,
    number_meta,
    text_meta,
)
from indexer.review.work_list import (
    FieldProgress,
    Order,
    Part,
    Positions,
    ReviewProgress,
    WorkList,
)
from indexer.wording import visible

if TYPE_CHECKING:
    from indexer.review.site import Site

_NOTHING = ReviewProgress(0, 0)


@dataclass(frozen=True, slots=True)
class WorkFamily:
    """A group of the work list; `reviewer`: whose work it is, empty for nobody's.

    `path` is that of its principal. `similarity` is that of the member that is least similar to it,
    None for a single document. `conflict`: reviewed documents carry different labels.
    """

    family: str
    path: str
    documents: int
    reviewed: int
    similarity: float | None
    conflict: bool
    reviewer: str


@dataclass(frozen=True, slots=True)
class WorkListResponse:
    """A page of the work list; until the store is read, `ready` is False and it is empty.

    `families`: how many the list has. `of_list`: the documents of all groups of these sizes and
    this reviewer, whether or not they are shown. `stale`: labels or groups may have changed since
    it was read; it is being read again.
    """

    ready: bool
    stage: str
    done: int
    total: int
    families: int = 0
    of_list: ReviewProgress = _NOTHING
    of_store: ReviewProgress = _NOTHING
    page: int = 1
    more: bool = False
    items: tuple[WorkFamily, ...] = ()
    stale: bool = False


@dataclass(frozen=True, slots=True)
class Dashboard:
    """The progress of the review of a store; until it is read, `ready` is False and all is 0.

    `groups` and `singles`: groups of two or more, and single documents, with something to review.
    `conflicts`: groups whose documents differ in their labels. `fields`: the progress of each field
    of the coding. `unlike`: groups with a
    member under .95 similar to the principal. `next_group`: the largest open group that is
    nobody's, None if there is none.
    """

    ready: bool
    progress: ReviewProgress = _NOTHING
    groups: int = 0
    singles: int = 0
    conflicts: int = 0
    unlike: int = 0
    next_group: WorkFamily | None = None
    fields: tuple[FieldProgress, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """The group that a reviewer goes on with, empty if none is left.

    `ready` is False until the store is read.
    """

    ready: bool
    family: str


@dataclass(frozen=True, slots=True)
class Assignments:
    """Groups that were given to a reviewer, empty for nobody."""

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
class CodingResponse:
    """The fields and rules of the store, and the key of each label that has one."""

    fields: tuple[CodingField, ...]
    rules: tuple[CodingRule, ...]
    keys: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SavedSearches:
    """The saved searches and work lists of a store, by name."""

    searches: tuple[SavedSearch, ...]


_UNLIKE = 0.95  # similarity to the principal, below which the dashboard counts a group
_MAX_NAME = 200  # characters of a reviewer


class ListParameters(Parameters, frozen=True):
    """Which near-duplicate groups are in a work list, and their order."""

    order: Annotated[
        Order,
        about(
            "the largest, the least similar, those whose labels differ, or the least reviewed first"
        ),
    ] = "size"
    part: Annotated[
        Part,
        about("groups with documents to review, without any, with labels that differ, or all"),
    ] = "open"
    field: Annotated[
        str, text_meta("the field of the coding by which documents are reviewed and labels differ")
    ] = ""
    label: Annotated[str, text_meta("only groups of which a document has this label")] = ""
    least: Annotated[int, number_meta("documents of a group at least", 1, 1 << 31)] = 2
    most: Annotated[int, number_meta("documents of a group at most; 0: any number", 0, 1 << 31)] = 0
    reviewer: Annotated[str, text_meta("only groups of this reviewer")] = ""
    wait: Wait = WAIT_SECONDS


class WorkListParameters(ListParameters, frozen=True):
    """A page of a work list."""

    limit: Annotated[int, number_meta("groups per page", 1, 500)] = 50
    page: Annotated[int, number_meta("number of the page, from 1", 1, 1_000_000)] = 1


class ClaimParameters(ListParameters, frozen=True):
    """A work list, and the group that a reviewer comes from."""

    after: Annotated[str, text_meta("the group before it")] = ""


class AssignParameters(Parameters, frozen=True):
    """Groups for a reviewer."""

    id: Annotated[tuple[Item, ...], about("ids of groups")] = ()
    reviewer: Annotated[str, text_meta("the name")] = ""


def work_list(site: Site, values: WorkListParameters) -> WorkListResponse:
    """Return a page of the work list, or the progress of reading it."""
    read = site.work_list(values.wait)
    if read is None:
        progress = site.work_list_reader.progress
        return WorkListResponse(False, progress.stage, progress.done, progress.total)
    work, is_stale = read[0].of_field(values.field), read[1]
    owners = site.review.assignments()
    positions = _positions(work, owners, values)
    listed = work.in_part(positions, values.part)
    start, end = (values.page - 1) * values.limit, values.page * values.limit
    of_store = ReviewProgress(*work.counts())
    return WorkListResponse(
        ready=True,
        stage="done",
        done=of_store.documents,
        total=of_store.documents,
        families=len(listed),
        of_list=ReviewProgress(*work.counts(positions)),
        of_store=of_store,
        page=values.page,
        more=len(listed) > end,
        items=tuple(_work_family(work, owners, at) for at in listed[start:end].tolist()),
        stale=is_stale,
    )


def _work_family(work: WorkList, owners: Mapping[str, str], position: int) -> WorkFamily:
    item = work[position]
    return WorkFamily(
        family=item.family,
        path=item.path,
        documents=item.documents,
        reviewed=item.reviewed,
        similarity=item.similarity,
        conflict=item.conflict,
        reviewer=owners.get(item.family, ""),
    )


def dashboard(site: Site, values: Waiting) -> Dashboard:
    """Return how far the review is, and what comes next."""
    read = site.work_list(values.wait)
    if read is None:
        return Dashboard(False)
    work, owners = read[0], site.review.assignments()
    groups = work.in_part(work.positions("size", 2), "open")
    free = (at for at in groups.tolist() if not owners.get(work[at].family))
    first = next(free, None)
    return Dashboard(
        ready=True,
        progress=ReviewProgress(*work.counts()),
        groups=len(groups),
        singles=len(work.in_part(work.positions("size", 1, 1), "open")),
        conflicts=len(work.in_part(work.positions("size", 2), "conflict")),
        unlike=work.count_unlike(_UNLIKE),
        next_group=None if first is None else _work_family(work, owners, first),
        fields=work.progress_of_fields(),
    )


def _positions(work: WorkList, owners: Mapping[str, str], values: ListParameters) -> Positions:
    """Return the positions of the groups of a list in its order, whatever its part."""
    positions = work.positions(values.order, values.least, values.most)
    if values.label:
        positions = work.with_label(positions, values.label)
    reviewer = values.reviewer
    if not reviewer:
        return positions
    return work.of_families(
        positions, [name for name, owner in owners.items() if owner == reviewer]
    )


def claim(site: Site, values: ClaimParameters, login: Login) -> Claim:
    """Give the next group of a list to whoever asks: one to review that is nobody else's.

    Of a list of conflicts it is one of these. The next one is that after the group `after`;
    behind the last one the list begins again.
    """
    read = site.work_list(values.wait)
    if read is None:
        return Claim(False, "")
    work = read[0].of_field(values.field)
    owners = site.review.assignments()
    positions = _positions(work, owners, values)
    part: Part = "conflict" if values.part == "conflict" else "open"
    after = work.of_families(positions, [values.after])
    first = int(np.flatnonzero(positions == after[0])[0]) + 1 if len(after) else 0
    for position in work.in_part(np.roll(positions, -first), part).tolist():
        family = work[position].family
        is_free = family != values.after and owners.get(family, login.name) == login.name
        if is_free and site.review.claim(family, login.name):
            return Claim(True, family)
    return Claim(True, "")


def assign(site: Site, values: AssignParameters, login: Login) -> Assignments:
    """Give groups to a reviewer.

    Raises `DocumentNotFound` for the first id that is no group's, and then assigns none.
    """
    reviewer = values.reviewer.strip()
    if not values.id:
        raise UsageError("no group is named; check at least one, or give its id")
    if len(reviewer) > _MAX_NAME or visible(reviewer) != reviewer:
        raise UsageError(f"a reviewer has a name of visible characters, {_MAX_NAME} at most")
    rows = site.store.get(values.id)
    others = [id for id in values.id if id not in rows or rows[id].family != id]
    read = site.work_list() if others else None  # has families whose principal is gone, too
    for id in others:
        if read is None or id not in read[0]:
            raise DocumentNotFound(id=id)
    site.review.assign(values.id, reviewer)
    return Assignments(reviewer, values.id)


def history(site: Site, values: DocumentId) -> DocumentHistory:
    """Return the labellings of a document and the notes on it."""
    notes = site.review.notes(values.id)
    try:
        return DocumentHistory(False, label_events_of(site.store, values.id), notes)
    except StoreBusy:
        return DocumentHistory(True, (), notes)


def coding(site: Site, values: NoParameters) -> CodingResponse:
    """Return the fields and rules by which documents are coded."""
    offered = site.offered_coding()
    return CodingResponse(offered.fields, offered.rules, offered.keys())


WORK_LIST_READS: Mapping[str, ReadEndpoint] = {
    "worklist": ReadEndpoint(
        "worklist",
        "The near-duplicate groups of the store as work: how much of each is reviewed, and whose "
        "it is. A "
        "document is reviewed if it has a label, of the given set if there is one, and of each "
        "field of the coding that it needs.",
        WorkListParameters,
        work_list,
        WorkListResponse,
    ),
    "dashboard": ReadEndpoint(
        "dashboard",
        "How far the review of the store is, what comes next, and what needs attention.",
        Waiting,
        dashboard,
        Dashboard,
    ),
    "coding": ReadEndpoint(
        "coding",
        "The fields of the coding, their values and rules. The label of a value is FIELD=VALUE; "
        "those of the field without a name are labels as they are.",
        NoParameters,
        coding,
        CodingResponse,
    ),
    "history": ReadEndpoint(
        "history",
        "The labellings of a document, the last one first, and the notes on it.",
        DocumentId,
        history,
        DocumentHistory,
    ),
}
WORK_LIST_WRITES: Mapping[str, WriteEndpoint] = {
    "claim": WriteEndpoint(
        "worklist/next",
        "Take the next group of a work list that is open and nobody else's.",
        ClaimParameters,
        claim,
        Claim,
    ),
    "assign": WriteEndpoint(
        "worklist/assign",
        "Give groups to a reviewer, or to nobody.",
        AssignParameters,
        assign,
        Assignments,
    ),
}
