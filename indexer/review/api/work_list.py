"""Values that pages show, and the API sends as JSON: the work of reviewers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from indexer.errors import DocumentNotFound, StoreBusy, UsageError
from indexer.grouping.label import LabelEvent, label_events_of
from indexer.jobs.review_file import Note, SavedSearch
from indexer.review.access import Login
from indexer.review.api.endpoints import ID, WAIT, Action, Parameter, ParameterValues, Question
from indexer.review.work_list import ORDERS, PARTS, Part, Places, WorkList
from indexer.wording import visible

if TYPE_CHECKING:
    from indexer.review.site import Site


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
class SavedSearches:
    """The saved searches and work lists of a store, by name."""

    searches: tuple[SavedSearch, ...]


# Questions and actions about the work of reviewers: the work list, assignments, histories.

_MOST_NAME = 200  # characters of a reviewer


def work_list(site: Site, values: ParameterValues) -> WorkListAnswer:
    """Return a page of the work list, or the progress of reading it."""
    read = site.work_list(values["wait"])
    if read is None:
        progress = site.work_list_reader.progress
        return WorkListAnswer(False, progress.stage, progress.done, progress.total)
    work, is_stale = read
    owners = site.review.assignments()
    places = _places(work, owners, values)
    shown = work.in_part(places, values["part"])
    start, end = (values["page"] - 1) * values["limit"], values["page"] * values["limit"]
    of_store = ReviewProgress(*work.counts())
    return WorkListAnswer(
        ready=True,
        stage="done",
        done=of_store.documents,
        total=of_store.documents,
        families=len(shown),
        of_list=ReviewProgress(*work.counts(places)),
        of_store=of_store,
        page=values["page"],
        more=len(shown) > end,
        items=tuple(
            WorkFamily(
                family=item.family,
                path=item.path,
                documents=item.documents,
                reviewed=item.reviewed,
                similarity=item.similarity,
                conflict=item.conflict,
                reviewer=owners.get(item.family, ""),
            )
            for item in map(work.__getitem__, shown[start:end].tolist())
        ),
        stale=is_stale,
    )


def _places(work: WorkList, owners: Mapping[str, str], values: ParameterValues) -> Places:
    """Return the places of the families of a list in its order, whatever its part."""
    places = work.places(values["order"], values["least"], values["most"])
    reviewer = values["reviewer"]
    if not reviewer:
        return places
    return work.of_families(places, [name for name, owner in owners.items() if owner == reviewer])


def claim(site: Site, values: ParameterValues, login: Login) -> Claim:
    """Give the next family of a list to whoever asks: one to review that is nobody else's.

    Of a list of conflicts it is one of these. The next one is that after the family `after`;
    behind the last one the list begins again.
    """
    read = site.work_list(values["wait"])
    if read is None:
        return Claim(False, "")
    work = read[0]
    owners = site.review.assignments()
    places = _places(work, owners, values)
    part: Part = "conflict" if values["part"] == "conflict" else "open"
    after = work.of_families(places, [values["after"]])
    first = int(np.flatnonzero(places == after[0])[0]) + 1 if len(after) else 0
    for place in work.in_part(np.roll(places, -first), part).tolist():
        family = work[place].family
        is_free = family != values["after"] and owners.get(family, login.name) == login.name
        if is_free and site.review.claim(family, login.name):
            return Claim(True, family)
    return Claim(True, "")


def assign(site: Site, values: ParameterValues, login: Login) -> Assignments:
    """Give families to a reviewer.

    Raises `DocumentNotFound` for the first id that is no family's, and then assigns none.
    """
    reviewer = values["reviewer"].strip()
    if not values["id"]:
        raise UsageError("no family is named; check at least one, or give its id")
    if len(reviewer) > _MOST_NAME or visible(reviewer) != reviewer:
        raise UsageError(f"a reviewer has a name of visible characters, {_MOST_NAME} at most")
    rows = site.store.get(values["id"])
    others = [id for id in values["id"] if id not in rows or rows[id].family != id]
    read = site.work_list() if others else None  # has families whose principal is gone, too
    for id in others:
        if read is None or id not in read[0]:
            raise DocumentNotFound(id=id)
    site.review.assign(values["id"], reviewer)
    return Assignments(reviewer, values["id"])


def history(site: Site, values: ParameterValues) -> DocumentHistory:
    """Return the labellings of a document and the notes on it."""
    notes = site.review.notes(values["id"])
    try:
        return DocumentHistory(False, label_events_of(site.store, values["id"]), notes)
    except StoreBusy:
        return DocumentHistory(True, (), notes)


LIST_PARAMETERS = (
    Parameter(
        "order",
        "the largest, the least similar, those whose labels differ, or the least reviewed first",
        "size",
        choices=ORDERS,
    ),
    Parameter(
        "part",
        "families with documents to review, without any, with labels that differ, or all",
        "open",
        choices=PARTS,
    ),
    Parameter("least", "documents of a family at least", 2, "integer", low=1, high=1 << 31),
    Parameter(
        "most", "documents of a family at most; 0: any number", 0, "integer", low=0, high=1 << 31
    ),
    Parameter("reviewer", "only families of this reviewer", ""),
    WAIT,
)
_LIMIT = Parameter("limit", "families per page", 50, "integer", low=1, high=500)
_PAGE = Parameter("page", "number of the page, from 1", 1, "integer", low=1, high=1_000_000)

WORK_LIST_QUESTIONS: Mapping[str, Question] = {
    "worklist": Question(
        "worklist",
        "The families of the store as work: how much of each is reviewed, and whose it is. A "
        "document is reviewed if it has a label, of the given set if there is one.",
        (*LIST_PARAMETERS, _LIMIT, _PAGE),
        work_list,
        WorkListAnswer,
    ),
    "history": Question(
        "history",
        "The labellings of a document, the last one first, and the notes on it.",
        (ID,),
        history,
        DocumentHistory,
    ),
}
WORK_LIST_ACTIONS: Mapping[str, Action] = {
    "claim": Action(
        "worklist/next",
        "Take the next family of a work list that is open and nobody else's.",
        (*LIST_PARAMETERS, Parameter("after", "the family before it", "")),
        claim,
        Claim,
    ),
    "assign": Action(
        "worklist/assign",
        "Give families to a reviewer, or to nobody.",
        (Parameter("id", "ids of families", many=True), Parameter("reviewer", "the name", "")),
        assign,
        Assignments,
    ),
}
