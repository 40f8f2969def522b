"""Values that pages show, and the API sends as JSON: the work of reviewers."""

from __future__ import annotations

from dataclasses import dataclass

from indexer.grouping.label_journal import LabelEvent
from indexer.jobs.review_file import Note, SavedSearch


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
