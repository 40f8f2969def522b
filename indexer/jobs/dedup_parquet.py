"""Kept rows of Parquet files, by pyarrow: all columns, types and metadata as they were."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow  # type: ignore[import-untyped]
import pyarrow.parquet  # type: ignore[import-untyped]
from numpy.typing import NDArray

from indexer.jobs.dataset_files import DatasetFile, KeptRows, other_columns
from indexer.jobs.dedup_passages import SpanEdits

BATCH_ROWS = 256  # rows that are read at a time
GROUP_BYTES = 32 << 20  # of rows that are written at a time
_STRINGS = (pyarrow.string(), pyarrow.large_string())


def copy_parquet_rows(parts: KeptRows, out: Path, field: str, edits: SpanEdits | None) -> None:
    """Write the rows that are kept into one file, with the schema and codec of the first.

    `edits` change the texts of the column `field`, if that is one of strings. Raises `UsageError`
    for a file of another schema.
    """
    first = parts[0][0]
    with _opened(first) as file:
        schema = file.schema_arrow
        codec = _codec(file.metadata)
    with pyarrow.parquet.ParquetWriter(out, schema, compression=codec) as writer:
        pending: list[Any] = []
        size = 0
        for batch in _batches(parts, schema, field, edits):
            pending.append(batch)
            size += batch.nbytes
            if size >= GROUP_BYTES:
                writer.write_table(pyarrow.Table.from_batches(pending, schema))
                pending, size = [], 0
        if pending:
            writer.write_table(pyarrow.Table.from_batches(pending, schema))


def _batches(parts: KeptRows, schema: Any, field: str, edits: SpanEdits | None) -> Iterator[Any]:
    for dataset_file, kept in parts:
        with _opened(dataset_file) as file:
            if not file.schema_arrow.equals(schema):
                raise other_columns(dataset_file, parts[0][0], "another schema")
            for start, is_kept, batch in _kept(file, kept):
                rows = batch.filter(pyarrow.array(is_kept))
                if edits is None:
                    yield rows
                    continue
                numbers = start + 1 + np.flatnonzero(is_kept)
                yield _edited(rows, field, edits, dataset_file.name, numbers.tolist())


def _edited(batch: Any, field: str, edits: SpanEdits, path: str, numbers: Sequence[int]) -> Any:
    position = batch.schema.get_field_index(field)
    if position < 0 or batch.schema.types[position] not in _STRINGS:
        return batch
    values = batch.column(position).to_pylist()
    for row, (number, text) in enumerate(zip(numbers, values, strict=True)):
        shorter = None if text is None else edits.edit(path, number, text, str)
        values[row] = text if shorter is None else shorter
    column = pyarrow.array(values, type=batch.schema.types[position])
    return batch.set_column(position, batch.schema.field(position), column)


def _kept(file: Any, kept: NDArray[np.bool_]) -> Iterator[tuple[int, NDArray[np.bool_], Any]]:
    """Yield batches with rows that are kept, which these are, and the rows before them."""
    start = 0
    for batch in file.iter_batches(BATCH_ROWS):
        is_kept = kept[start : start + len(batch)]
        if is_kept.any():
            yield start, is_kept, batch
        start += len(batch)


def _opened(file: DatasetFile) -> Any:
    return pyarrow.parquet.ParquetFile(file.path)


def _codec(metadata: Any) -> str:
    """Return the compression of a file's first column; `snappy` of one without rows."""
    if not metadata.num_row_groups or not metadata.num_columns:
        return "snappy"
    codec = metadata.row_group(0).column(0).compression.lower()
    return "none" if codec == "uncompressed" else str(codec)
