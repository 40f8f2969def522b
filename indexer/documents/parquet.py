"""Parquet: one record a row, known by its number, counted from 1; read a few rows at a time."""

from __future__ import annotations

from typing import Any, BinaryIO

import pyarrow  # type: ignore[import-untyped]
import pyarrow.parquet  # type: ignore[import-untyped]

from indexer.documents.base import ReadOptions, Records
from indexer.documents.blobs import DamagedRecord, seekable

_BATCH_ROWS = 256


def records(path: str, stream: BinaryIO, read_options: ReadOptions) -> Records:
    """Yield the rows of a file.

    Columns of lists and structures are read only if they are named, others also as metadata.

    Raises `DamagedRecord` when the text field is not a column, or the file cannot be read.
    """
    try:
        with seekable(stream) as content, pyarrow.parquet.ParquetFile(content) as file:
            columns = _columns(file.schema_arrow, read_options)
            number = 0
            for batch in file.iter_batches(_BATCH_ROWS, columns=columns):
                for record in batch.to_pylist():
                    number += 1
                    yield str(number), record
    except (pyarrow.ArrowException, OSError) as error:
        raise DamagedRecord(
            f"it cannot be read as Parquet ({error}); repair the file, then run again"
        ) from error


def columns(path: str, stream: BinaryIO, read_options: ReadOptions) -> dict[str, str]:
    """Return the names of the columns in their order, each with its type.

    Raises `DamagedRecord` as `records` does.
    """
    try:
        with seekable(stream) as content, pyarrow.parquet.ParquetFile(content) as file:
            schema = file.schema_arrow
    except (pyarrow.ArrowException, OSError) as error:
        raise DamagedRecord(
            f"it cannot be read as Parquet ({error}); repair the file, then run again"
        ) from error
    _columns(schema, read_options)
    return {field.name: f"{field.type}{'' if field.nullable else ' not null'}" for field in schema}


def _columns(schema: Any, read_options: ReadOptions) -> list[str]:
    """Return the columns to read. Raises `DamagedRecord` when a named one is missing."""
    columns = set()
    for name in read_options.required_fields:
        column = name if name in schema.names else name.partition(".")[0]
        if column not in schema.names:
            raise DamagedRecord(
                f"it has no column {name!r}, but: {', '.join(schema.names[:20])}; "
                "choose by --text-field and --id-field"
            )
        columns.add(column)
    if not read_options.metadata:
        return sorted(columns)
    return [name for name in schema.names if name in columns or not _is_nested(schema, name)]


def _is_nested(schema: Any, name: str) -> bool:
    return bool(pyarrow.types.is_nested(schema.field(name).type))
