"""Single documents by path, from stdin, or by id: what look-ups, comparisons and `hash` start from."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from indexer.errors import DocumentNotFound, ExtractionError, UsageError
from indexer.extract.base import DEFAULT_LIMITS, Limits
from indexer.extract.choosing import extractor_named
from indexer.extract.plain import plain_document
from indexer.extract.pool import Pool, Task
from indexer.model import Blob, Document
from indexer.sources.folder import walk
from indexer.sources.reading import read
from indexer.stores.base import Store

STDIN = "-"


def document_at(path: str, limits: Limits = DEFAULT_LIMITS) -> tuple[str, Document]:
    """Read one file, or text on stdin for `-`: its real path (`-` for stdin) and its document.

    Raises `SourceNotFound`, `UsageError` for a folder, and `ExtractionError` when the file cannot be read.
    """
    [(where, result)] = documents_at([path], limits)
    if isinstance(result, ExtractionError):
        raise result
    return where, result


def documents_at(paths: Iterable[str], limits: Limits = DEFAULT_LIMITS) -> Iterator[tuple[str, Document | ExtractionError]]:
    """`document_at` for many paths, each as it is ready; what cannot be read comes as its error."""
    with Pool(extractor_named("native"), 1, limits) as pool:
        results: Iterator[tuple[str, Document | ExtractionError]] = pool.extract_all(_tasks(paths, limits))
        yield from results


def documents_under(folder: str, limits: Limits = DEFAULT_LIMITS) -> Iterator[Document]:
    """Every document of a folder that can be read, in no particular order. Raises `SourceNotFound`."""
    with Pool(extractor_named("native"), None, limits) as pool:
        tasks = (_task(found, limits) for found in walk([folder]) if isinstance(found, Blob))
        results: Iterator[tuple[str, Document | ExtractionError]] = pool.extract_all(tasks)
        for _, result in results:
            if isinstance(result, Document):
                yield result


def document_of(name: str, store: Store) -> tuple[str, Document]:
    """A document by path or by id; what exists as a path is a path. Raises `DocumentNotFound` when it is neither."""
    if name == STDIN or Path(name).exists():
        return document_at(name)
    row = store.get([name]).get(name) if store.stored_recipe() else None
    if row is None:
        raise DocumentNotFound(id=name)
    cut = row.status == "truncated"
    return row.path, Document(row.text, row.title, row.content_type, row.metadata, row.extractor, cut)


def _tasks(paths: Iterable[str], limits: Limits) -> Iterator[Task[str] | tuple[str, Document | ExtractionError]]:
    """Plain documents and errors at once, tasks for the rest."""
    for path in paths:
        if path == STDIN:
            yield STDIN, Document(sys.stdin.buffer.read().decode("utf-8", "replace"), content_type="text/plain")
            continue
        if Path(path).is_dir():
            raise UsageError(f"{path} is a folder; give a file, or index the folder and ask with --id")
        for found in walk([path]):
            yield (
                _task(found, limits)
                if isinstance(found, Blob)
                else (found.path, ExtractionError(f"{found.path}: not a regular file"))
            )


def _task(blob: Blob, limits: Limits) -> Task[str] | tuple[str, Document | ExtractionError]:
    where, name = os.path.realpath(blob.path), Path(blob.path).name
    try:
        payload = read(blob, limits.bytes)
        document = plain_document(payload.data, name, limits)
    except ExtractionError as error:
        return where, error
    return Task(where, payload.data, name) if document is None else (where, document)
