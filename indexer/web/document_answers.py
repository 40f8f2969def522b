"""Values that pages show, and the API sends as JSON: documents, hits and mails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from indexer.model import Facet, FoldedHit, Match, Part
from indexer.web.document_facts import DocumentFacts
from indexer.web.original_kinds import OriginalView


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
