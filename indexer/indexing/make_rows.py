"""The row of one document, made of what was extracted and what was signed."""

from __future__ import annotations

import os
from dataclasses import dataclass

from indexer.model import Blob, Document, Fingerprint, Row
from indexer.sketch.codec import pack_slots


@dataclass(frozen=True, slots=True)
class ExtractedBlob:
    """A blob with its text; the bytes are gone. `replaces` as in `Pending`."""

    blob: Blob
    raw: str
    source: str
    document: Document
    replaces: bool = False


def row_of(
    item: ExtractedBlob, signed: Fingerprint, recipe_id: str, labels: tuple[str, ...] = ()
) -> Row:
    """The row of one document. Cut text is `truncated`, never `complete`; until it is grouped a row
    is its own family.
    """
    blob, document = item.blob, item.document
    cut = document.truncated and signed.status == "complete"
    return Row(
        id=blob.id,
        recipe=recipe_id,
        status="truncated" if cut else signed.status,
        title=document.title or file_name(blob.path),
        text=document.text,
        path=blob.path,
        content_type=document.content_type,
        modified=None if blob.modified is None else blob.modified // 1_000_000,
        size=blob.size,
        source=item.source,
        extractor=document.extractor,
        raw=item.raw,
        exact=signed.exact,
        words=signed.words,
        chars=signed.chars,
        family=blob.id,
        labels=tuple(dict.fromkeys((*blob.labels, *document.labels, *labels))),
        metadata={**document.metadata, **blob.metadata},
        bands=signed.bands,
        blocks=signed.blocks,
        minhash=None if signed.minhash is None else pack_slots(signed.minhash),
        simhash=signed.simhash,
    )


def file_name(path: str) -> str:
    """The last part of a path; making a Path of it costs as much as reading a small file."""
    return path.rpartition(os.sep)[2]
