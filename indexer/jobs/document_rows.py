"""Rows of documents, made of what was extracted and what was fingerprinted."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from indexer.documents.base import CUSTODIAN, DEFAULT_LIMITS, OCR, PARENT, Limits, Task
from indexer.documents.blobs import read
from indexer.documents.extractors import document_or_task, extractor_pool, name_with_format
from indexer.documents.sources import walk
from indexer.errors import ExtractionError, SourceNotFound, UnreadableFile, UsageError
from indexer.fingerprinting.fingerprint import content_digest, with_pictographs
from indexer.fingerprinting.keys import stored_bits, stored_sketch
from indexer.model import Blob, Document, Fingerprint, Row, with_unread
from indexer.stores.base import Store
from indexer.stores.fields import named_date
from indexer.stores.requirements import former_ids

if TYPE_CHECKING:
    from indexer.comparing.clauses.segmentation import Heading


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
    fingerprint: Fingerprint,
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
    cut = document.truncated and fingerprint.status == "complete"
    status = "truncated" if cut else fingerprint.status
    embedded = _embedded(document, blob.path, item.raw, blob.embedded)
    modified = None if blob.modified is None else blob.modified // 1_000_000
    metadata = {**document.metadata, **_warning(document), **blob.metadata}
    return Row(
        id=blob.id,
        recipe=recipe_id,
        status=status,
        title=document.title or file_name(blob.path),
        text=document.text,
        path=blob.path,
        content_type=document.content_type,
        modified=modified,
        size=blob.size,
        source=item.source,
        extractor=document.extractor,
        raw=item.raw,
        exact=content_digest(fingerprint.exact, embedded),
        words=fingerprint.words,
        chars=fingerprint.chars,
        family=blob.id,
        labels=tuple(dict.fromkeys((*blob.labels, *document.labels, *labels))),
        metadata=metadata,
        bands=fingerprint.bands,
        blocks=fingerprint.blocks,
        minhash=stored_sketch(fingerprint),
        simhash=stored_bits(fingerprint),
        principal=status == "complete" if is_alone else None,
        embedded=embedded,
        date=named_date(metadata, document.content_type, modified)[0],
        custodian=metadata.get(CUSTODIAN, ""),
        ocr=metadata.get(OCR, ""),
    )


def _embedded(document: Document, path: str, raw: str, of_source: str = "") -> str:
    """Return the files in a document, those that its source names before those that were found in
    it, pictographs such as ticks, and what was not read of a text that was cut.
    """
    embedded = with_pictographs(of_source or document.embedded, document.text)
    if not document.truncated:
        return embedded
    return with_unread(embedded, f"unread part of {file_name(path)}", raw)


WARNING = "warning"
"""The name of metadata that holds the warnings of an extraction."""


def _warning(document: Document) -> dict[str, str]:
    return {WARNING: "; ".join(document.warnings)} if document.warnings else {}


def with_stored_ids(
    blobs: Sequence[Blob], store: Store, renamed: dict[str, str]
) -> tuple[list[Blob], dict[str, str]]:
    """Return the blobs, each with the id under which its real path is stored, and the `source`
    digests of those that are stored, by id.

    A file that came by another PATH has another id than by this one, and keeps it. `renamed` gets
    the stored id of each such blob, by which the mail that others were attached to is named, too.
    """
    sources = store.sources([blob.id for blob in blobs]) if blobs else {}
    new_files = [blob for blob in blobs if blob.other_ids is not tuple and blob.id not in sources]
    others = {blob.id: tuple(blob.other_ids()) for blob in new_files}
    known = store.sources([id for ids in others.values() for id in ids]) if others else {}
    for own_id, ids in others.items():
        if stored_id := next((id for id in ids if id in known), None):
            renamed[own_id] = stored_id
            sources[stored_id] = known[stored_id]
    named = [_renamed(blob, renamed) for blob in blobs] if renamed else list(blobs)
    return named, sources


def _renamed(blob: Blob, stored: Mapping[str, str]) -> Blob:
    parent = blob.metadata.get(PARENT, "")
    metadata = blob.metadata
    if parent in stored:
        metadata = {**metadata, PARENT: stored[parent]}
    return replace(blob, id=stored.get(blob.id, blob.id), metadata=metadata)


def with_labels_of(stored: Row | None, row: Row) -> Row:
    """Return the row with the labels of the stored row of its id before its own, and with its
    former ids; what people decided about a document is not lost when it is read again.
    """
    if stored is None:
        return row
    if former := former_ids(stored):
        row = replace(row, metadata={**row.metadata, **former})
    if not stored.labels:
        return row
    return replace(row, labels=tuple(dict.fromkeys((*stored.labels, *row.labels))))


def file_name(path: str) -> str:
    """Return the last part of a path; making a Path of it costs as much as reading a small file."""
    return path.rpartition(os.sep)[2]


# Single documents by path or from stdin, for look-ups, comparisons and `hash`.

STDIN = "-"
_IRREGULAR = UnreadableFile(reason="it is not a regular file", remedy="give a file")


def document_at(path: str) -> tuple[str, Document]:
    """Read one file, or text on stdin for `-`: its real path (`-` for stdin) and its document.

    The real path is for display, as `Blob.path`: open the file by `path`, whose name may hold
    characters that the locale lacks, or bytes that are not UTF-8.

    Raises `SourceNotFound`, `UsageError` for a folder, and `ExtractionError` when the file cannot
    be read.
    """
    [(where, result)] = documents_at([path])
    if isinstance(result, ExtractionError):
        raise result
    return where, result


def row_at(path: str, real_path: str, document: Document) -> Row:
    """Return the document of a file, and its real path, as `document_at` gives them, as a row of
    its fields, without fingerprint.
    """
    facts = Path(path).stat()
    raw = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    return Row(
        id="",
        recipe="",
        status="truncated" if document.truncated else "complete",
        title=document.title or file_name(real_path),
        text=document.text,
        path=real_path,
        content_type=document.content_type,
        modified=facts.st_mtime_ns // 1_000_000,
        size=facts.st_size,
        source="",
        extractor=document.extractor,
        raw=raw,
        exact="",
        words=0,
        chars=0,
        family="",
        labels=document.labels,
        metadata=document.metadata,
        embedded=_embedded(document, real_path, raw),
        ocr=document.metadata.get(OCR, ""),
    )


def documents_at(
    paths: Iterable[str], limits: Limits = DEFAULT_LIMITS
) -> Iterator[tuple[str, Document | ExtractionError]]:
    """Read many paths as `document_at` does, each as it is ready; an unreadable one yields its
    error.
    """
    items = _tasks(paths, limits)
    for item in items:
        if isinstance(item, Task):
            yield from _extract(chain([item], items), 1, limits)
        else:
            yield item


def documents_under(
    folder: str, without: Path | None = None
) -> Iterator[tuple[str, Document | ExtractionError]]:
    """Read every file of a folder as `documents_at` does, in no particular order; nothing of the
    real folder `without`.

    Raises `SourceNotFound`.
    """
    blobs = (item for item in walk([folder]) if isinstance(item, Blob))
    yield from documents_of(
        blob
        for blob in blobs
        if not (without and Path(blob.path).resolve().is_relative_to(without))
    )


def documents_of(
    blobs: Iterable[Blob], limits: Limits = DEFAULT_LIMITS, extractor: str = "native"
) -> Iterator[tuple[str, Document | ExtractionError]]:
    """Read blobs as `documents_at` does, in no particular order."""
    yield from _extract((_task(blob, limits) for blob in blobs), None, limits, extractor)


def _extract(
    items: Iterable[Task[str] | tuple[str, Document | ExtractionError]],
    workers: int | None,
    limits: Limits,
    extractor: str = "native",
) -> Iterator[tuple[str, Document | ExtractionError]]:
    """Yield the results of tasks by worker processes, and other items as they are."""
    with extractor_pool(extractor, workers, limits) as pool:
        results: Iterator[tuple[str, Document | ExtractionError]] = pool.extract_all(items)
        yield from results


def _tasks(
    paths: Iterable[str], limits: Limits
) -> Iterator[Task[str] | tuple[str, Document | ExtractionError]]:
    """Yield plain documents and errors at once, tasks for the rest. Raises `SourceNotFound` before
    anything is read.
    """
    paths = list(paths)
    for path in paths:
        if path != STDIN and not os.path.lexists(path):
            raise SourceNotFound(path=path)
    for path in paths:
        if path == STDIN:
            yield _from_stdin(limits)
            continue
        if Path(path).is_dir():
            raise UsageError(f"{path} is a folder; give files, or index the folder")
        for item in walk([path]):
            yield _task(item, limits) if isinstance(item, Blob) else (item.path, _IRREGULAR)


def _from_stdin(limits: Limits) -> Task[str] | tuple[str, Document | ExtractionError]:
    """Read stdin, of any format, as if it were a file without a name."""
    data = sys.stdin.buffer.read(limits.bytes + 1)
    if len(data) > limits.bytes:
        return STDIN, UnreadableFile(
            reason=f"stdin holds more than {limits.bytes:,} bytes", remedy="give less of it"
        )
    return _read(STDIN, data, "", limits)


def _task(blob: Blob, limits: Limits) -> Task[str] | tuple[str, Document | ExtractionError]:
    where = blob.path
    try:
        payload = read(blob, limits.bytes)
    except ExtractionError as error:
        return where, error
    if payload.document is not None:
        return where, payload.document
    name = name_with_format(blob.path, payload.data)
    return _read(where, payload.data, name, limits)


def _read(
    where: str, data: bytes, name: str, limits: Limits
) -> Task[str] | tuple[str, Document | ExtractionError]:
    """Return a plain document at once, a task for any other."""
    try:
        result = document_or_task(where, data, name, limits)
    except ExtractionError as error:
        return where, error
    return result if isinstance(result, Task) else (where, result)
