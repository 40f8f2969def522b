"""Kept rows of dataset files, written to another file as they stand."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import compress
from pathlib import Path
from typing import BinaryIO, cast

from indexer.errors import MissingExtra
from indexer.sources.base import Reading
from indexer.sources.dataset_files import KeptRows


def copy_rows(parts: KeptRows, out: Path, reading: Reading) -> None:
    """Write the rows that are kept of files of one kind into one file, in their order.

    `parts`: each file with (rows,) bool, whether a row is kept. A text file is packed by gzip where
    the name of `out` ends so. Of several files `check_columns` has accepted the columns. Raises
    `MissingExtra` for Parquet without pyarrow.
    """
    if parts[0][0].kind == "parquet":
        try:
            from indexer.deduplicating.parquet_copies import copy_parquet_rows
        except ModuleNotFoundError as error:
            raise MissingExtra(package="pyarrow", extra="parquet") from error
        copy_parquet_rows(parts, out)
        return
    with _opened(out) as stream:
        for row in _text_rows(parts, reading):
            stream.write(row if row.endswith(b"\n") else row + b"\n")


def _text_rows(parts: KeptRows, reading: Reading) -> Iterator[bytes]:
    """Yield the rows that are kept, of CSV the names of the columns before them."""
    for place, (file, kept) in enumerate(parts):
        rows = file.raw_rows(reading)
        if file.kind != "jsonl":
            names = next(rows)
            if place == 0:
                yield names
        yield from compress(rows, kept.tolist())


@contextmanager
def _opened(out: Path) -> Iterator[BinaryIO]:
    with out.open("wb") as file:
        if not out.name.lower().endswith(".gz"):
            yield file
            return
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
            yield cast(BinaryIO, packed)
