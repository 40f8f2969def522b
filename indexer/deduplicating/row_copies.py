"""Kept rows of dataset files, written to another file as they stand."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import compress
from pathlib import Path
from typing import Any, BinaryIO, cast

from indexer.deduplicating.span_copies import SpanEdits, with_csv_text, with_json_text
from indexer.errors import ExtractionError, MissingExtra
from indexer.sources.base import Reading
from indexer.sources.dataset_files import DatasetFile, KeptRows
from indexer.sources.record_documents import text_of


def copy_rows(parts: KeptRows, out: Path, reading: Reading, edits: SpanEdits | None) -> None:
    """Write the rows that are kept of files of one kind into one file, in their order.

    `parts`: each file with (rows,) bool, whether a row is kept. A text file is packed by gzip where
    the name of `out` ends so. Of several files `check_columns` has accepted the columns. `edits`
    change the texts of rows. Raises `MissingExtra` for Parquet without pyarrow.
    """
    if parts[0][0].kind == "parquet":
        try:
            from indexer.deduplicating.parquet_copies import copy_parquet_rows
        except ModuleNotFoundError as error:
            raise MissingExtra(package="pyarrow", extra="parquet") from error
        copy_parquet_rows(parts, out, reading.text_field, edits)
        return
    with _opened(out) as stream:
        for row in _text_rows(parts, reading, edits):
            stream.write(row if row.endswith(b"\n") else row + b"\n")


def _text_rows(parts: KeptRows, reading: Reading, edits: SpanEdits | None) -> Iterator[bytes]:
    """Yield the rows that are kept, of CSV the names of the columns before them."""
    for place, (file, kept) in enumerate(parts):
        rows = file.raw_rows(reading)
        if file.kind != "jsonl":
            names = next(rows)
            if place == 0:
                yield names
        if edits is None:
            yield from compress(rows, kept.tolist())
            continue
        both = zip(rows, file.records(reading), strict=True)
        for row, (number, record) in compress(both, kept.tolist()):
            yield _edited(row, file, int(number), record, reading, edits)


def _edited(
    row: bytes,
    file: DatasetFile,
    number: int,
    record: Mapping[str, Any] | ExtractionError,
    reading: Reading,
    edits: SpanEdits,
) -> bytes:
    """Return a row with its text edited; as it is where the text is not one string in it."""
    text = None if isinstance(record, ExtractionError) else text_of(record, reading)
    if not isinstance(text, str):
        return row
    source = row.decode("utf-8", "surrogateescape")

    def replaced(shorter: str) -> str | None:
        if file.kind == "jsonl":
            return with_json_text(source, reading.text_field, text, shorter)
        return with_csv_text(source, text, shorter)

    edited = edits.edit(file.name, number, text, replaced)
    return row if edited is None else edited.encode("utf-8", "surrogateescape")


@contextmanager
def _opened(out: Path) -> Iterator[BinaryIO]:
    with out.open("wb") as file:
        if not out.name.lower().endswith(".gz"):
            yield file
            return
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
            yield cast(BinaryIO, packed)
