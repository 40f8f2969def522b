"""The records of exports (documents, pairs, batches), and their columns in tables and load files.

In a load file a family is an e-mail with its attachments, so near duplicates are a group there,
never a family.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from indexer.documents.mail.threads import Thread, ThreadMail
from indexer.jobs.threads import NearMail, ThreadsResult
from indexer.model import Row
from indexer.review.exports.batches import Batch, Piece
from indexer.review.exports.custody import NO_CUSTODY, Custody
from indexer.review.exports.formats import Column


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A document: its row without the text, and facts about its family and its copies.

    `size`: the number of documents in its family. `copies`: the id of the first document with the
    same text, itself included; None if no other document has that text. `custody`: its attachment
    family and custodians, for load files.
    """

    row: Row
    size: int
    copies: str | None
    custody: Custody = NO_CUSTODY

    @property
    def is_principal(self) -> bool:
        """Return whether it is the principal of its family, also of a family of one."""
        return self.row.family == self.row.id

    @property
    def similarity(self) -> float | None:
        """Return the similarity to the principal in a group of two or more."""
        if self.size == 1:
            return None
        return 1.0 if self.is_principal else self.row.similarity


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """A document in a batch."""

    document: DocumentRecord
    batch: Batch
    piece: Piece


@dataclass(frozen=True, slots=True)
class QueueRecord:
    """A document to be reviewed, because others of its family have these labels."""

    document: DocumentRecord
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PairRecord:
    """A pair of near duplicates with the paths of both; `low` and `high` as in `Pair`."""

    a: str
    b: str
    similarity: float
    measure: str
    low: float
    high: float
    a_path: str
    b_path: str


def _of_document(value: Callable[[DocumentRecord], Any], record: Any) -> Any:
    return value(record.document)


def document_columns(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Return columns of documents as columns of records that hold a document."""
    return tuple(
        Column(column.name, column.kind, partial(_of_document, column.value)) for column in columns
    )


FAMILIES = (
    Column("id", "text", lambda record: record.row.id),
    Column("path", "text", lambda record: record.row.path),
    Column("title", "text", lambda record: record.row.title),
    Column("family", "text", lambda record: record.row.family),
    Column("family_size", "whole", lambda record: record.size),
    Column("principal", "flag", lambda record: record.is_principal),
    Column("similarity", "share", lambda record: record.row.similarity),
    Column("provisional", "flag", lambda record: record.row.provisional),
    Column("cluster", "text", lambda record: record.row.cluster),
    Column("same_text", "text", lambda record: record.copies),
    Column("labels", "list", lambda record: list(record.row.labels)),
    Column("status", "text", lambda record: record.row.status),
    Column("words", "whole", lambda record: record.row.words),
    Column("content_type", "text", lambda record: record.row.content_type),
    Column("size", "whole", lambda record: record.row.size),
    Column("modified", "time", lambda record: record.row.modified),
    Column("sha256", "text", lambda record: record.row.raw),
)
LOAD_FILE_FAMILIES = (
    Column("DOCID", "text", lambda record: record.row.id),
    Column("NearDupGroup", "text", lambda record: record.row.family if record.size > 1 else None),
    Column("NearDupPrincipal", "flag", lambda record: record.size > 1 and record.is_principal),
    Column("NearDupSimilarity", "share", lambda record: record.similarity),
    Column("NearDupCluster", "text", lambda record: record.row.cluster),
    Column("ExactDupGroup", "text", lambda record: record.copies),
    Column("SHA256", "text", lambda record: record.row.raw),
    Column("FilePath", "text", lambda record: record.row.path),
    Column("Title", "text", lambda record: record.row.title),
    Column("ContentType", "text", lambda record: record.row.content_type),
    Column("DateModified", "time", lambda record: record.row.modified),
    Column("FileSize", "whole", lambda record: record.row.size),
    Column("WordCount", "whole", lambda record: record.row.words),
    Column("TextStatus", "text", lambda record: record.row.status),
    Column("Labels", "list", lambda record: list(record.row.labels)),
)
CUSTODY = (
    Column("ParentID", "text", lambda record: record.custody.mail),
    Column("BegAttach", "text", lambda record: record.custody.begin),
    Column("EndAttach", "text", lambda record: record.custody.end),
    Column("AttachRange", "text", lambda record: record.custody.attach_range),
    Column("Custodian", "text", lambda record: record.custody.custodian),
    Column("AllCustodians", "list", lambda record: list(record.custody.custodians)),
    Column("AllPaths", "list", lambda record: list(record.custody.paths)),
    Column("MIH", "text", lambda record: record.custody.mih),
)
PAIRS = (
    Column("a", "text", lambda record: record.a),
    Column("b", "text", lambda record: record.b),
    Column("similarity", "share", lambda record: record.similarity),
    Column("measure", "text", lambda record: record.measure),
    Column("low", "share", lambda record: record.low),
    Column("high", "share", lambda record: record.high),
    Column("a_path", "text", lambda record: record.a_path),
    Column("b_path", "text", lambda record: record.b_path),
)
_SIMILAR = ("NearDupSimilarity", "NearDupMeasure", "NearDupSimilarityLow", "NearDupSimilarityHigh")
LOAD_FILE_PAIRS = tuple(
    Column(name, column.kind, column.value)
    for name, column in zip(
        ("DOCID", "NearDupDOCID", *_SIMILAR, "FilePath", "NearDupFilePath"), PAIRS, strict=True
    )
)
BATCHES = (
    Column("batch", "whole", lambda record: record.batch.number),
    Column("reviewer", "text", lambda record: record.batch.reviewer),
    Column("because", "text", lambda record: "reviewed" if record.piece.is_begun else "workload"),
    Column("part", "whole", lambda record: record.piece.part),
    Column("parts", "whole", lambda record: record.piece.parts),
)
_LOAD_FILE_BATCH_NAMES = ("ReviewBatch", "Reviewer", "ReviewerBecause", "GroupPart", "GroupParts")
_REVIEW_FOR = Column("review_for", "list", lambda record: list(record.labels))
COLUMNS = {
    ("families", False): FAMILIES,
    ("families", True): (*LOAD_FILE_FAMILIES, *CUSTODY),
    ("pairs", False): PAIRS,
    ("pairs", True): LOAD_FILE_PAIRS,
    ("queue", False): (_REVIEW_FOR, *document_columns(FAMILIES)),
    ("queue", True): (
        *document_columns((*LOAD_FILE_FAMILIES, *CUSTODY)),
        Column("ReviewFor", _REVIEW_FOR.kind, _REVIEW_FOR.value),
    ),
    ("batches", False): (*BATCHES, *document_columns(FAMILIES)),
    ("batches", True): (
        *document_columns((*LOAD_FILE_FAMILIES, *CUSTODY)),
        *(
            Column(name, column.kind, column.value)
            for name, column in zip(_LOAD_FILE_BATCH_NAMES, BATCHES, strict=True)
        ),
    ),
}
"""The columns by what is exported, and whether into a load file."""


# The records of threads, one a mail, and their columns in tables and load files.


@dataclass(frozen=True, slots=True)
class ThreadRecord:
    """A mail in its thread; `place` is its place in the tree, from 1. `near` is None for a mail
    without near duplicates.
    """

    thread: Thread
    place: int
    mail: ThreadMail
    near: NearMail | None


def thread_records(result: ThreadsResult) -> Iterator[ThreadRecord]:
    """Yield the mails of threads, in the order of the trees."""
    for thread in result.threads:
        for place, mail in enumerate(thread.mails, 1):
            yield ThreadRecord(thread, place, mail, result.near.get(mail.message.id))


THREADS = (
    Column("id", "text", lambda record: record.mail.message.id),
    Column("thread", "text", lambda record: record.thread.id),
    Column("place", "whole", lambda record: record.place),
    Column("depth", "whole", lambda record: record.mail.depth),
    Column("parent", "text", lambda record: record.mail.parent),
    Column("link", "text", lambda record: record.mail.link),
    Column("copy_of", "text", lambda record: record.mail.copy_of),
    Column("inclusive", "flag", lambda record: record.mail.is_inclusive),
    Column("reasons", "list", lambda record: list(record.mail.reasons)),
    Column("held_by", "text", lambda record: record.mail.held_by),
    Column("own_group", "text", lambda record: record.near and record.near.principal),
    Column("own_similarity", "share", lambda record: record.near and record.near.similarity),
    Column(
        "quotes_contained", "share", lambda record: record.near and record.near.quotes_contained
    ),
    Column("mih", "text", lambda record: record.mail.message.mih or None),
    Column("message_id", "text", lambda record: record.mail.message.message_id or None),
    Column("date", "time", lambda record: record.mail.message.date),
    Column("from", "text", lambda record: record.mail.message.sender),
    Column("subject", "text", lambda record: record.mail.message.subject),
    Column("attachments", "whole", lambda record: len(record.mail.message.attachments)),
    Column("path", "text", lambda record: record.mail.message.path),
)
_LOAD_FILE_NAMES = {
    "id": "DOCID",
    "thread": "ThreadID",
    "place": "ThreadOrder",
    "depth": "ThreadDepth",
    "parent": "ThreadParent",
    "link": "ThreadLink",
    "copy_of": "MessageCopyOf",
    "inclusive": "Inclusive",
    "reasons": "InclusiveReason",
    "held_by": "HeldBy",
    "own_group": "OwnTextGroup",
    "own_similarity": "OwnTextSimilarity",
    "quotes_contained": "QuotesContained",
    "mih": "MIH",
    "message_id": "MessageID",
    "date": "DateSent",
    "from": "From",
    "subject": "Subject",
    "attachments": "AttachmentCount",
    "path": "FilePath",
}
LOAD_FILE_THREADS = tuple(
    Column(_LOAD_FILE_NAMES[column.name], column.kind, column.value) for column in THREADS
)
