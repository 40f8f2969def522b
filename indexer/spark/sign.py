"""Documents in, rows out: a table, a folder of texts, or a store, signed in batches on the
executors.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any

from indexer.extraction.base import DEFAULT_LIMITS
from indexer.extraction.plain import plain_document
from indexer.indexing.make_rows import ExtractedBlob, row_of
from indexer.model import Blob, Document
from indexer.recipe import Recipe
from indexer.sketch.fingerprint import fingerprints
from indexer.sources.members import identifier
from indexer.sources.payloads import file_payload
from indexer.spark.arrow_rows import ROW, Batches, Mapper, batch, pack_row, with_fields
from indexer.stores import open_store

BATCH = 200
FAILED = "error"
OUTCOME = {**ROW, FAILED: "string"}


def signs_records(recipe: Recipe, labels: tuple[str, ...]) -> Mapper:
    """Rows of records with the columns of `documents.RECORD`; a record without an id or a text has
    the empty one.
    """

    def sign(parts: Batches) -> Batches:
        for part in parts:
            for start in range(0, part.num_rows, BATCH):
                records = part.slice(start, BATCH).to_pylist()
                yield from _outcomes(
                    pack_row(_rows([_of_record(record) for record in records], recipe, labels))
                )

    return sign


def signs_files(recipe: Recipe, labels: tuple[str, ...], root: str) -> Mapper:
    """Rows of text files, given as path, content and time, with the ids that `nearfold index` gives
    them below `root`.

    What is not plain text becomes a row with no more than its path and why it could not be read.
    """

    def sign(parts: Batches) -> Batches:
        for part in parts:
            for start in range(0, part.num_rows, BATCH):
                made = [_of_file(record, root) for record in part.slice(start, BATCH).to_pylist()]
                yield from _outcomes(
                    pack_row(
                        _rows(
                            [one for one in made if isinstance(one, ExtractedBlob)], recipe, labels
                        )
                    )
                )
                if failed := [one for one in made if isinstance(one, str)]:
                    yield _failures(failed)

    return sign


def scans(url: str) -> Mapper:
    """All rows of a store, signed as they are, read by whoever runs this: one task."""

    def scan(_: Batches) -> Batches:
        with closing(open_store(url)) as store:
            yield from _outcomes(pack_row(store.scan()))

    return scan


def _rows(items: list[ExtractedBlob], recipe: Recipe, labels: tuple[str, ...]) -> Iterator[Any]:
    signed = fingerprints([item.document.text for item in items], recipe)
    name = recipe.id
    for place, item in enumerate(items):
        yield row_of(item, signed[place], name, labels)


def _of_record(record: dict[str, Any]) -> ExtractedBlob:
    """A record as a document; its digests are those of its text."""
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


def _of_file(record: dict[str, Any], root: str) -> ExtractedBlob | str:
    where = str(record["path"]).removeprefix("file:")
    data, name = record["content"], where.rpartition("/")[2]
    document = plain_document(data, name, DEFAULT_LIMITS)
    if document is None:
        return where
    key = where.removeprefix(root).lstrip("/") if where != root else name
    space = root if where != root else where.rpartition("/")[0]
    payload = file_payload(data, record["modified"] * 1_000_000)
    blob = Blob(
        identifier(os.fsencode(space), os.fsencode(key)),
        b"",
        where,
        b"",
        payload.size,
        payload.modified,
    )
    return ExtractedBlob(blob, payload.raw, payload.source, document)


def _outcomes(parts: Iterable[Any]) -> Batches:
    """Batches of rows with a column for the error, which they have none of."""
    for part in parts:
        yield with_fields(part, FAILED, "string", [None] * part.num_rows)


def _failures(paths: list[str]) -> Any:
    reason = "it is not plain text; index it with `nearfold index`, and give Spark the store"
    empty: list[Any] = [None] * len(paths)
    columns: dict[str, list[Any]] = dict.fromkeys(OUTCOME, empty)
    columns["path"], columns[FAILED] = list(paths), [reason] * len(paths)
    columns["id"] = [hashlib.sha256(path.encode()).hexdigest()[:32] for path in paths]
    return batch(OUTCOME, list(columns.values()))
