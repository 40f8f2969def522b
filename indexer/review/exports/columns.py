"""The records of exports (documents, pairs, batches), and their columns in tables and load files.

In a load file a family is an e-mail with its attachments, so near duplicates are a group there,
never a family.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from indexer.coding import CODING_MARK, SEPARATOR, Coding, CodingField
from indexer.documents.base import CUSTODIAN
from indexer.documents.mail.threads import Thread, ThreadMail
from indexer.jobs.threads import NearMail, ThreadsResult
from indexer.model import Mark, Row
from indexer.review.exports.batches import Batch, Piece
from indexer.review.exports.custody import NO_CUSTODY, Custody
from indexer.review.exports.writers import Column
from indexer.stores.fields import DateKind, named_date
from indexer.wording import format_marks


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A document: its row without the text, and facts about its group and its copies.

    `size`: the number of documents in its group. `copies`: the id of the first document with the
    same text, itself included; None if no other document has that text. `custody`: its attachment
    family and custodians, for load files. `group`: the principal, where an export leaves out that
    of the row. `marks`: the marks of a member next to its principal.
    """

    row: Row
    size: int
    copies: str | None
    custody: Custody = NO_CUSTODY
    group: str | None = None
    marks: tuple[Mark, ...] = ()

    @property
    def family(self) -> str:
        """Return the principal of its group."""
        return self.group or self.row.family

    @property
    def is_principal(self) -> bool:
        """Return whether it is the principal of its group, also of a group of one."""
        return self.family == self.row.id

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
    """A document to be reviewed, because others of its group have these labels."""

    document: DocumentRecord
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PairRecord:
    """A pair of near duplicates with the paths and the marks of both; `low` and `high` as in
    `Pair`.
    """

    a: str
    b: str
    similarity: float
    measure: str
    low: float
    high: float
    a_path: str
    b_path: str
    marks: tuple[Mark, ...] = ()


def _of_document(value: Callable[[DocumentRecord], Any], record: Any) -> Any:
    return value(record.document)


def document_columns(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Return columns of documents as columns of records that hold a document."""
    return tuple(
        Column(column.name, column.kind, partial(_of_document, column.value)) for column in columns
    )


METADATA = ("from", "to", "cc", CUSTODIAN, "created", "modified")  # that columns read


def date_of(row: Row) -> tuple[int | None, DateKind | None]:
    """Return the date of a document, and which one it is."""
    return named_date(row.metadata, row.content_type, row.modified)


def _of_metadata(name: str, record: DocumentRecord) -> str | None:
    return record.row.metadata.get(name)


# Each column is declared once. `load_file` is its name in a load file, where it has one, and
# `load_value` its value there, where that is another.
FAMILIES = (
    Column("id", "text", lambda record: record.row.id, "DOCID"),
    Column("path", "text", lambda record: record.row.path, "FilePath"),
    Column("title", "text", lambda record: record.row.title, "Title"),
    Column(
        "family",
        "text",
        lambda record: record.family,
        "NearDupGroup",
        lambda record: record.family if record.size > 1 else None,
    ),
    Column("family_size", "whole", lambda record: record.size),
    Column(
        "principal",
        "flag",
        lambda record: record.is_principal,
        "NearDupPrincipal",
        lambda record: record.size > 1 and record.is_principal,
    ),
    Column(
        "similarity",
        "fraction",
        lambda record: None if record.is_principal else record.row.similarity,
        "NearDupSimilarity",
        lambda record: record.similarity,
    ),
    Column("marks", "text", lambda record: format_marks(record.marks) or None, "NearDupMarks"),
    Column("provisional", "flag", lambda record: record.row.provisional),
    Column("cluster", "text", lambda record: record.row.cluster, "NearDupCluster"),
    Column("same_text", "text", lambda record: record.copies, "ExactDupGroup"),
    Column("labels", "list", lambda record: list(record.row.labels), "Labels"),
    Column("status", "text", lambda record: record.row.status, "TextStatus"),
    Column("words", "whole", lambda record: record.row.words, "WordCount"),
    Column("content_type", "text", lambda record: record.row.content_type, "ContentType"),
    Column("size", "whole", lambda record: record.row.size, "FileSize"),
    Column("modified", "time", lambda record: record.row.modified, "DateModified"),
    Column("date", "time", lambda record: date_of(record.row)[0], "DocDate"),
    Column("date_of", "text", lambda record: date_of(record.row)[1], "DocDateType"),
    Column("from", "text", partial(_of_metadata, "from"), "From"),
    Column("to", "text", partial(_of_metadata, "to"), "To"),
    Column("cc", "text", partial(_of_metadata, "cc"), "CC"),
    Column("custodian", "text", partial(_of_metadata, CUSTODIAN), "Custodian"),
    Column("sha256", "text", lambda record: record.row.raw, "SHA256"),
)
_LABELS = ("labels", "Labels")
_LOAD_FILE_ORDER = (
    "DOCID",
    "NearDupGroup",
    "NearDupPrincipal",
    "NearDupSimilarity",
    "NearDupMarks",
    "NearDupCluster",
    "ExactDupGroup",
    "SHA256",
    "FilePath",
    "Title",
    "ContentType",
    "DocDate",
    "DocDateType",
    "DateModified",
    "FileSize",
    "WordCount",
    "TextStatus",
    "Labels",
    "From",
    "To",
    "CC",
    "Custodian",
)
# Columns of load files alone.
CUSTODY = (
    Column("ParentID", "text", lambda record: record.custody.mail),
    Column("BegAttach", "text", lambda record: record.custody.begin),
    Column("EndAttach", "text", lambda record: record.custody.end),
    Column("AttachRange", "text", lambda record: record.custody.attach_range),
    Column("AllCustodians", "list", lambda record: list(record.custody.custodians)),
    Column("AllPaths", "list", lambda record: list(record.custody.paths)),
    Column("MIH", "text", lambda record: record.custody.mih),
)
PAIRS = (
    Column("a", "text", lambda record: record.a, "DOCID"),
    Column("b", "text", lambda record: record.b, "NearDupDOCID"),
    Column("similarity", "fraction", lambda record: record.similarity, "NearDupSimilarity"),
    Column("measure", "text", lambda record: record.measure, "NearDupMeasure"),
    Column("low", "fraction", lambda record: record.low, "NearDupSimilarityLow"),
    Column("high", "fraction", lambda record: record.high, "NearDupSimilarityHigh"),
    Column("a_path", "text", lambda record: record.a_path, "FilePath"),
    Column("b_path", "text", lambda record: record.b_path, "NearDupFilePath"),
    Column("marks", "text", lambda record: format_marks(record.marks) or None, "NearDupMarks"),
)
BATCHES = (
    Column("batch", "whole", lambda record: record.batch.number, "ReviewBatch"),
    Column("reviewer", "text", lambda record: record.batch.reviewer, "Reviewer"),
    Column(
        "because",
        "text",
        lambda record: "reviewed" if record.piece.is_begun else "workload",
        "ReviewerBecause",
    ),
    Column("part", "whole", lambda record: record.piece.part, "GroupPart"),
    Column("parts", "whole", lambda record: record.piece.parts, "GroupParts"),
)
QUEUE = (Column("review_for", "list", lambda record: list(record.labels), "ReviewFor"),)


def load_file_columns(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Return these columns as they are in a load file, without those that it does not have."""
    return tuple(
        Column(column.load_file, column.kind, column.load_value or column.value)
        for column in columns
        if column.load_file
    )


LOAD_FILE_FAMILIES = tuple(
    sorted(load_file_columns(FAMILIES), key=lambda column: _LOAD_FILE_ORDER.index(column.name))
)
_OF_DOCUMENTS = (*LOAD_FILE_FAMILIES, *CUSTODY)
COLUMNS = {
    ("families", False): FAMILIES,
    ("families", True): _OF_DOCUMENTS,
    ("pairs", False): PAIRS,
    ("pairs", True): load_file_columns(PAIRS),
    ("queue", False): (*QUEUE, *document_columns(FAMILIES)),
    ("queue", True): (*document_columns(_OF_DOCUMENTS), *load_file_columns(QUEUE)),
    ("batches", False): (*BATCHES, *document_columns(FAMILIES)),
    ("batches", True): (*document_columns(_OF_DOCUMENTS), *load_file_columns(BATCHES)),
}
"""The columns by what is exported, and whether into a load file."""


def coded_columns(columns: tuple[Column, ...], coding: Coding) -> tuple[Column, ...]:
    """Return columns with one for each field of the coding after that of labels, which then has
    those without a field. A field that has the name of another column is marked.
    """
    at = next((i for i, column in enumerate(columns) if column.name in _LABELS), None)
    if not coding.fields or at is None:
        return columns
    labels = columns[at]
    names = {column.name.casefold() for column in columns}
    own = [
        Column(
            field.name + (CODING_MARK if field.name.casefold() in names else ""),
            "list" if field.many else "text",
            partial(_values, field, labels.value),
        )
        for field in coding.fields
    ]
    rest = Column(labels.name, labels.kind, partial(_without_field, coding, labels.value))
    return (*columns[:at], rest, *own, *columns[at + 1 :])


def _values(field: CodingField, labels: Callable[[Any], Sequence[str]], record: Any) -> Any:
    values = [field.value(label) for label in field.of(labels(record))]
    return values if field.many else SEPARATOR.join(values)


def _without_field(coding: Coding, labels: Callable[[Any], Sequence[str]], record: Any) -> Any:
    return list(coding.without_field(labels(record)))


# The records of threads, one a mail, and their columns in tables and load files.


@dataclass(frozen=True, slots=True)
class ThreadRecord:
    """A mail in its thread; `position` is its place in the tree, from 1. `near` is None for a mail
    without near duplicates.
    """

    thread: Thread
    position: int
    mail: ThreadMail
    near: NearMail | None


def thread_records(result: ThreadsResult) -> Iterator[ThreadRecord]:
    """Yield the mails of threads, in the order of the trees."""
    for thread in result.threads:
        for index, mail in enumerate(thread.mails, 1):
            yield ThreadRecord(thread, index, mail, result.near.get(mail.message.id))


THREADS = (
    Column("id", "text", lambda record: record.mail.message.id, "DOCID"),
    Column("thread", "text", lambda record: record.thread.id, "ThreadID"),
    Column("place", "whole", lambda record: record.position, "ThreadOrder"),
    Column("depth", "whole", lambda record: record.mail.depth, "ThreadDepth"),
    Column("parent", "text", lambda record: record.mail.parent, "ThreadParent"),
    Column("link", "text", lambda record: record.mail.link, "ThreadLink"),
    Column("copy_of", "text", lambda record: record.mail.copy_of, "MessageCopyOf"),
    Column("inclusive", "flag", lambda record: record.mail.is_inclusive, "Inclusive"),
    Column("reasons", "list", lambda record: list(record.mail.reasons), "InclusiveReason"),
    Column("held_by", "text", lambda record: record.mail.held_by, "HeldBy"),
    Column(
        "own_group", "text", lambda record: record.near and record.near.principal, "OwnTextGroup"
    ),
    Column(
        "own_similarity",
        "fraction",
        lambda record: record.near and record.near.similarity,
        "OwnTextSimilarity",
    ),
    Column(
        "quotes_contained",
        "fraction",
        lambda record: record.near and record.near.quotes_contained,
        "QuotesContained",
    ),
    Column("mih", "text", lambda record: record.mail.message.mih or None, "MIH"),
    Column(
        "message_id", "text", lambda record: record.mail.message.message_id or None, "MessageID"
    ),
    Column("date", "time", lambda record: record.mail.message.date, "DateSent"),
    Column("from", "text", lambda record: record.mail.message.sender, "From"),
    Column("subject", "text", lambda record: record.mail.message.subject, "Subject"),
    Column(
        "attachments",
        "whole",
        lambda record: len(record.mail.message.attachments),
        "AttachmentCount",
    ),
    Column("path", "text", lambda record: record.mail.message.path, "FilePath"),
)
LOAD_FILE_THREADS = load_file_columns(THREADS)
