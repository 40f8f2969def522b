"""Tables as Parquet files, by pyarrow."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from indexer.exports.csv_tables import Table
from indexer.exports.parquet_pairs import check_library

ROWS = 50_000


def write_parquet(table: Table, out: Path) -> int:
    """Write a table; returns how many records. Shares are doubles, times are timestamps in UTC,
    lists are lists of text.

    Raises `MissingExtra` without pyarrow.
    """
    check_library()
    import pyarrow  # type: ignore[import-untyped]
    import pyarrow.parquet  # type: ignore[import-untyped]

    kinds = {
        "text": pyarrow.string(),
        "whole": pyarrow.int64(),
        "share": pyarrow.float64(),
        "flag": pyarrow.bool_(),
        "time": pyarrow.timestamp("ms", tz="UTC"),
        "list": pyarrow.list_(pyarrow.string()),
    }
    schema = pyarrow.schema([(column.name, kinds[column.kind]) for column in table.columns])
    rows, row_count = iter(table.rows()), 0
    with pyarrow.parquet.ParquetWriter(out, schema) as writer:
        while part := list(islice(rows, ROWS)):
            columns = [list(values) for values in zip(*part, strict=True)]
            writer.write_table(
                pyarrow.table(dict(zip(schema.names, columns, strict=True)), schema=schema)
            )
            row_count += len(part)
    return row_count
