"""What exports tell of documents, pairs and batches: the records, and their columns in tables and
in load files.

In a load file a family is an e-mail with its attachments, so near duplicates are a group there,
never a family.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from indexer.exports.review_batches import Batch, Piece
from indexer.exports.tables import Column
from indexer.model import Row


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A row without its text. `size`: documents in its family; `copies`: the first with the same
    text, None without copies.
    """

    row: Row
    size: int
    copies: str | None

    @property
    def leads(self) -> bool:
        """Whether it is the principal of its family, be it alone in it."""
        return self.row.family == self.row.id

    @property
    def similarity(self) -> float | None:
        """The similarity to the principal of a group of two or more, the principal's own being
        1.
        """
        return None if self.size == 1 else 1.0 if self.leads else self.row.similarity


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """A document in a batch."""

    document: DocumentRecord
    batch: Batch
    piece: Piece


@dataclass(frozen=True, slots=True)
class QueueRecord:
    """A document to be reviewed, for others of its family carry these labels."""

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


def _of_document(value: Callable[[DocumentRecord], Any], one: BatchRecord | QueueRecord) -> Any:
    return value(one.document)


def _assigned(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Columns of documents as columns of what is in batches, or in a queue."""
    return tuple(
        Column(column.name, column.kind, partial(_of_document, column.value)) for column in columns
    )


FAMILIES = (
    Column("id", "text", lambda one: one.row.id),
    Column("path", "text", lambda one: one.row.path),
    Column("title", "text", lambda one: one.row.title),
    Column("family", "text", lambda one: one.row.family),
    Column("family_size", "whole", lambda one: one.size),
    Column("principal", "flag", lambda one: one.leads),
    Column("similarity", "share", lambda one: one.row.similarity),
    Column("provisional", "flag", lambda one: one.row.provisional),
    Column("cluster", "text", lambda one: one.row.cluster),
    Column("same_text", "text", lambda one: one.copies),
    Column("labels", "list", lambda one: list(one.row.labels)),
    Column("status", "text", lambda one: one.row.status),
    Column("words", "whole", lambda one: one.row.words),
    Column("content_type", "text", lambda one: one.row.content_type),
    Column("size", "whole", lambda one: one.row.size),
    Column("modified", "time", lambda one: one.row.modified),
    Column("sha256", "text", lambda one: one.row.raw),
)
GROUPS = (
    Column("DOCID", "text", lambda one: one.row.id),
    Column("NearDupGroup", "text", lambda one: one.row.family if one.size > 1 else None),
    Column("NearDupPrincipal", "flag", lambda one: one.size > 1 and one.leads),
    Column("NearDupSimilarity", "share", lambda one: one.similarity),
    Column("NearDupCluster", "text", lambda one: one.row.cluster),
    Column("ExactDupGroup", "text", lambda one: one.copies),
    Column("SHA256", "text", lambda one: one.row.raw),
    Column("FilePath", "text", lambda one: one.row.path),
    Column("Title", "text", lambda one: one.row.title),
    Column("ContentType", "text", lambda one: one.row.content_type),
    Column("DateModified", "time", lambda one: one.row.modified),
    Column("FileSize", "whole", lambda one: one.row.size),
    Column("WordCount", "whole", lambda one: one.row.words),
    Column("TextStatus", "text", lambda one: one.row.status),
    Column("Labels", "list", lambda one: list(one.row.labels)),
)
PAIRS = (
    Column("a", "text", lambda one: one.a),
    Column("b", "text", lambda one: one.b),
    Column("similarity", "share", lambda one: one.similarity),
    Column("measure", "text", lambda one: one.measure),
    Column("low", "share", lambda one: one.low),
    Column("high", "share", lambda one: one.high),
    Column("a_path", "text", lambda one: one.a_path),
    Column("b_path", "text", lambda one: one.b_path),
)
_SIMILAR = ("NearDupSimilarity", "NearDupMeasure", "NearDupSimilarityLow", "NearDupSimilarityHigh")
PAIRED = tuple(
    Column(name, column.kind, column.value)
    for name, column in zip(
        ("DOCID", "NearDupDOCID", *_SIMILAR, "FilePath", "NearDupFilePath"), PAIRS, strict=True
    )
)
BATCHES = (
    Column("batch", "whole", lambda one: one.batch.number),
    Column("reviewer", "text", lambda one: one.batch.reviewer),
    Column("because", "text", lambda one: "reviewed" if one.piece.known else "workload"),
    Column("part", "whole", lambda one: one.piece.part),
    Column("parts", "whole", lambda one: one.piece.parts),
)
_LOADED = ("ReviewBatch", "Reviewer", "ReviewerBecause", "GroupPart", "GroupParts")
_AWAITED = Column("review_for", "list", lambda one: list(one.labels))
COLUMNS = {
    ("families", False): FAMILIES,
    ("families", True): GROUPS,
    ("pairs", False): PAIRS,
    ("pairs", True): PAIRED,
    ("queue", False): (_AWAITED, *_assigned(FAMILIES)),
    ("queue", True): (*_assigned(GROUPS), Column("ReviewFor", _AWAITED.kind, _AWAITED.value)),
    ("batches", False): (*BATCHES, *_assigned(FAMILIES)),
    ("batches", True): (
        *_assigned(GROUPS),
        *(
            Column(name, column.kind, column.value)
            for name, column in zip(_LOADED, BATCHES, strict=True)
        ),
    ),
}
"""The columns by what is exported, and whether into a load file."""
