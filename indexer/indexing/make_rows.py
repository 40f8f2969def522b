"""Rows of documents, made of what was extracted and what was signed."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from indexer.model import Blob, Document, Fingerprint, Row
from indexer.sketch.stored_sketch import stored_bits, stored_sketch

if TYPE_CHECKING:
    from indexer.text.clauses.structure import Heading

Structure: TypeAlias = Mapping[str, "Sequence[Heading]"]
Divide: TypeAlias = Callable[[Sequence[Row], Collection[str], Structure], list[Row]]


@dataclass(frozen=True, slots=True)
class ExtractedBlob:
    """A blob with its text; the bytes are gone. `replaces`: the store has a row of its earlier
    content.
    """

    blob: Blob
    raw: str
    source: str
    document: Document
    replaces: bool = False


def row_of(
    item: ExtractedBlob,
    signature: Fingerprint,
    recipe_id: str,
    labels: tuple[str, ...] = (),
    *,
    is_alone: bool = False,
) -> Row:
    """Return the row of one document. Cut text is `truncated`, never `complete`; until it is
    grouped a row is its own family, whose principal it is, if complete, when it `is_alone`.
    """
    blob = item.blob
    document = item.document
    cut = document.truncated and signature.status == "complete"
    status = "truncated" if cut else signature.status
    return Row(
        id=blob.id,
        recipe=recipe_id,
        status=status,
        title=document.title or file_name(blob.path),
        text=document.text,
        path=blob.path,
        content_type=document.content_type,
        modified=None if blob.modified is None else blob.modified // 1_000_000,
        size=blob.size,
        source=item.source,
        extractor=document.extractor,
        raw=item.raw,
        exact=signature.exact,
        words=signature.words,
        chars=signature.chars,
        family=blob.id,
        labels=tuple(dict.fromkeys((*blob.labels, *document.labels, *labels))),
        metadata={**document.metadata, **blob.metadata},
        bands=signature.bands,
        blocks=signature.blocks,
        minhash=stored_sketch(signature),
        simhash=stored_bits(signature),
        principal=status == "complete" if is_alone else None,
    )


def with_labels_of(stored: Row | None, row: Row) -> Row:
    """Return the row with the labels of the stored row of its id before its own; what people
    decided about a document is not lost when it is read again.
    """
    if stored is None or not stored.labels:
        return row
    return replace(row, labels=tuple(dict.fromkeys((*stored.labels, *row.labels))))


def file_name(path: str) -> str:
    """Return the last part of a path; making a Path of it costs as much as reading a small file."""
    return path.rpartition(os.sep)[2]
