"""Parquet: one record a row, read a few rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow  # type: ignore[import-untyped]
import pyarrow.parquet  # type: ignore[import-untyped]

from indexer.errors import ExtractionError
from indexer.model import Blob, FailedBlob
from indexer.sources import record_documents as _records
from indexer.sources.base import Reading
from indexer.sources.record_documents import DamagedRecord
from indexer.sources.streams import open_stream, seekable

_ROWS = 256


def blobs(outer: Blob, reading: Reading) -> Iterator[Blob | FailedBlob]:
    """The rows of a file; one is known by its number, counted from 1, or by its `id_field`.

    The file has failed when the text field is no column. Columns of lists and structures are not
    read, but for those named.
    """
    with open_stream(outer) as stream:
        if isinstance(stream, FailedBlob):
            yield stream
            return
        yield from _records.blobs(outer, _records_in(stream, reading), reading)


def _records_in(
    stream: Any, reading: Reading
) -> Iterator[tuple[str, Mapping[str, Any] | ExtractionError]]:
    try:
        with seekable(stream) as whole, pyarrow.parquet.ParquetFile(whole) as file:
            wanted = _columns(file.schema_arrow, reading)
            number = 0
            for batch in file.iter_batches(_ROWS, columns=wanted):
                for record in batch.to_pylist():
                    number += 1
                    yield str(number), record
    except (pyarrow.ArrowException, OSError) as error:
        raise DamagedRecord(
            f"it is no readable Parquet ({error}); mend the file, then run again"
        ) from error


def _columns(schema: Any, reading: Reading) -> list[str]:
    """The columns to read. Raises `DamagedRecord` when one that was named is not there."""
    named = [name for name in (reading.text_field, reading.id_field, reading.label_field) if name]
    tops = [name if name in schema.names else name.partition(".")[0] for name in named]
    if missing := [name for name, top in zip(named, tops, strict=True) if top not in schema.names]:
        raise DamagedRecord(
            f"it has no column {missing[0]!r}, but: {', '.join(schema.names[:20])}; choose by --text-field and --id-field"
        )
    return [
        name
        for name in schema.names
        if name in tops or not pyarrow.types.is_nested(schema.field(name).type)
    ]
