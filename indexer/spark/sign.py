"""Rows of documents, signed in batches on the executors: a table, text files, or a store."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

from indexer.extraction.base import DEFAULT_LIMITS
from indexer.extraction.plain import plain_document
from indexer.indexing.make_rows import ExtractedBlob, row_of
from indexer.model import Blob, Document
from indexer.recipe import Recipe
from indexer.sketch.fingerprint import fingerprints
from indexer.sketch.row_keys import current_rows
from indexer.sources.members import identifier
from indexer.sources.payloads import file_payload
from indexer.spark.arrow_rows import ROW, Batches, Mapper, batch, pack_row, with_fields
from indexer.stores import open_store

BATCH = 200
ERROR = "error"
OUTCOME = {**ROW, ERROR: "string"}


def record_signer(recipe: Recipe, labels: tuple[str, ...]) -> Mapper:
    """Return a mapper from records with the columns of `input_documents.RECORD` to rows.

    A missing id or text becomes the empty string.
    """

    def sign(parts: Batches) -> Batches:
        for part in parts:
            for start in range(0, part.num_rows, BATCH):
                records = part.slice(start, BATCH).to_pylist()
                blobs = [_record_document(record) for record in records]
                yield from _with_error_column(pack_row(_rows(blobs, recipe, labels)))

    return sign


def file_signer(recipe: Recipe, labels: tuple[str, ...], root: str) -> Mapper:
    """Return a mapper from text files (path, content and time) to rows.

    Their ids are those that `nearfold index` gives them below `root`. A file that is not plain
    text becomes a row of its path and the reason why it could not be read.
    """

    def sign(parts: Batches) -> Batches:
        for part in parts:
            for start in range(0, part.num_rows, BATCH):
                records = part.slice(start, BATCH).to_pylist()
                outcomes = [_file_document(record, root) for record in records]
                blobs = [outcome for outcome in outcomes if isinstance(outcome, ExtractedBlob)]
                yield from _with_error_column(pack_row(_rows(blobs, recipe, labels)))
                failed = [outcome for outcome in outcomes if isinstance(outcome, str)]
                if failed:
                    yield _failures(failed)

    return sign


def store_scanner(url: str, recipe: Recipe) -> Mapper:
    """Return a mapper that yields all rows of a store as they are; it must run in one task.

    Those that earlier statistics of its `recipe` signed have the signature by the current ones.
    """
    carried = _with_counts(recipe)

    def scan(_: Batches) -> Batches:
        with closing(open_store(url)) as store:
            rows = current_rows(store.scan(), carried)
            yield from _with_error_column(pack_row(rows))

    return scan


def _with_counts(recipe: Recipe) -> Recipe:
    """Return a recipe that carries its current statistics to a task, if rows have earlier ones."""
    if recipe.corpus is None or len(recipe.by_statistics()) == 1:
        return recipe
    counts = recipe.corpus()
    return replace(recipe, corpus=lambda: counts)


def _rows(items: list[ExtractedBlob], recipe: Recipe, labels: tuple[str, ...]) -> Iterator[Any]:
    signed = fingerprints([item.document.text for item in items], recipe)
    name = recipe.id
    for place, item in enumerate(items):
        yield row_of(item, signed[place], name, labels)


def _record_document(record: dict[str, Any]) -> ExtractedBlob:
    """Return a record as a document; its digests are those of its text."""
    text = record["text"] or ""
    data = text.encode("utf-8", "surrogatepass")
    modified = record["modified"]
    payload = file_payload(data, None if modified is None else modified * 1_000_000)
    blob = Blob(
        record["id"] or "",
        b"",
        record["path"] or record["id"] or "",
        b"",
        payload.size,
        payload.modified,
    )
    document = Document(
        text,
        title=record["title"] or "",
        content_type=record["content_type"] or "text/plain",
        extractor="spark/1",
        truncated=bool(record["truncated"]),
        labels=tuple(label for label in record["labels"] or () if label is not None),
    )
    return ExtractedBlob(blob, payload.raw, payload.source, document)


def _file_document(record: dict[str, Any], root: str) -> ExtractedBlob | str:
    """Return a text file as a document; its path when it is not plain text."""
    path = str(record["path"]).removeprefix("file:")
    data = record["content"]
    name = path.rpartition("/")[2]
    document = plain_document(data, name, DEFAULT_LIMITS)
    if document is None:
        return path
    key, namespace = path.removeprefix(root).lstrip("/"), root
    if path == root:
        key, namespace = name, path.rpartition("/")[0]
    payload = file_payload(data, record["modified"] * 1_000_000)
    blob = Blob(
        identifier(os.fsencode(namespace), os.fsencode(key)),
        b"",
        path,
        b"",
        payload.size,
        payload.modified,
    )
    return ExtractedBlob(blob, payload.raw, payload.source, document)


def _with_error_column(parts: Iterable[Any]) -> Batches:
    """Yield batches of rows with an empty column for the error."""
    for part in parts:
        yield with_fields(part, ERROR, "string", [None] * part.num_rows)


def _failures(paths: list[str]) -> Any:
    reason = "it is not plain text; index it with `nearfold index`, and give Spark the store"
    empty: list[Any] = [None] * len(paths)
    columns: dict[str, list[Any]] = dict.fromkeys(OUTCOME, empty)
    columns["path"] = list(paths)
    columns[ERROR] = [reason] * len(paths)
    columns["id"] = [hashlib.sha256(path.encode()).hexdigest()[:32] for path in paths]
    return batch(OUTCOME, list(columns.values()))
