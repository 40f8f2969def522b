"""Rows of CSV files over a cluster: each file is read by one task, since a row may have several
lines.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, TypeAlias

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from indexer.errors import ExtractionError, UsageError
from indexer.sources import delimited
from indexer.sources.base import Reading
from indexer.sources.dataset_files import column_difference
from indexer.sources.payloads import DamagedRecord
from indexer.spark.arrow_rows import Batches, Mapper, batch, ddl
from indexer.spark.dataset_rows import (
    NUMBER,
    PLACE,
    Dataset,
    Files,
    read_dataset,
    record_text,
    signer,
    with_numbers,
)
from indexer.spark.sign import ERROR, OUTCOME

ROW = {"id": "string", "line": "binary", "text": "string", ERROR: "string"}
_ORDER = "nearfold_order"
_TOGETHER = 500  # rows of a batch
_NAMES = 0  # the row of the names of columns

Row: TypeAlias = tuple[str, bytes, str | None, str | None]


def read_rows(spark: SparkSession, dataset: Dataset, files: Files) -> DataFrame:
    """Return the columns `ROW` of all rows: the line or lines of each as they stand, without the
    last line feed, and its text, or why it has none.

    The row of names is number 0 of its file, and has as text the columns as JSON. Raises
    `UsageError`, in a task, for a file without such a row or without the column of texts, and for
    one that cannot be read to its end.
    """
    lines = read_dataset(spark, dataset).withColumn(_ORDER, sf.monotonically_increasing_id())
    numbered = with_numbers(spark, lines, files)
    placed = numbered.repartitionById(len(files.names), sf.col(NUMBER))
    ordered = placed.sortWithinPartitions(NUMBER, PLACE, _ORDER).select(NUMBER, "line")
    return ordered.mapInArrow(_row_reader(files, dataset.reading), ddl(ROW))


def check_columns(rows: DataFrame, files: Files) -> None:
    """Raise `UsageError` for a file that has other columns than the first one."""
    heads = rows.where(_is_names()).select("id", "text").orderBy("id").collect()
    for head in heads:
        if head["text"] != heads[0]["text"]:
            columns, first = (json.loads(row["text"]) for row in (head, heads[0]))
            names = [files.row(row["id"])[0] for row in (head, heads[0])]
            raise UsageError(
                f"{names[0]} has other columns than {names[1]} "
                f"({column_difference(columns, first)}), so one table cannot hold the rows of "
                "both; deduplicate them apart"
            )


def sign_rows(rows: DataFrame, reading: Reading) -> DataFrame:
    """Return a row of `sign.OUTCOME` for each row but those of names."""
    texts = rows.where(~_is_names()).select("id", "text", ERROR)
    return texts.mapInArrow(signer(_texts, reading), ddl(OUTCOME))


def kept_lines(rows: DataFrame, files: Files, kept: DataFrame) -> DataFrame:
    """Return the rows with these ids as they stand (`value`), after the names of the columns."""
    names = rows.where(sf.col("id") == files.id_of(0, _NAMES))
    lines = names.union(rows.join(kept.select("id"), "id", "left_semi")).orderBy("id")
    return lines.select(sf.col("line").cast("string").alias("value"))


def _is_names() -> Column:
    return sf.col("id").endswith(f"-{_NAMES:012}")


def _texts(part: Any) -> Iterator[tuple[str, str | ExtractionError]]:
    columns = [part.column(name).to_pylist() for name in ("id", "text", ERROR)]
    for id, text, error in zip(*columns, strict=True):
        yield id, text if error is None else ExtractionError(error)


def _row_reader(files: Files, reading: Reading) -> Mapper:
    """Return a mapper from all lines of some files, in their order, to `ROW`."""

    def read(parts: Batches) -> Batches:
        for number, lines in groupby(_numbered_lines(parts), key=itemgetter(0)):
            rows = _rows_of_file(number, files, map(itemgetter(1), lines), reading)
            while some := list(islice(rows, _TOGETHER)):
                yield batch(ROW, list(zip(*some, strict=True)))

    return read


def _numbered_lines(parts: Batches) -> Iterator[tuple[int, bytes]]:
    for part in parts:
        columns: Sequence[list[Any]] = [part.column(name).to_pylist() for name in (NUMBER, "line")]
        yield from zip(*columns, strict=True)


def _rows_of_file(
    number: int, files: Files, lines: Iterable[bytes], reading: Reading
) -> Iterator[Row]:
    name = files.names[number]
    stream = io.BufferedReader(_LineStream(lines))
    try:
        columns, names, rows = delimited.table_rows(name, stream, reading)
        yield files.id_of(number, _NAMES), _without_end(names), json.dumps(columns), None
        for row, (line, record) in enumerate(rows, 1):
            text = record_text(record, reading)
            failed = isinstance(text, ExtractionError)
            outcome = (None, str(text)) if failed else (str(text), None)
            yield files.id_of(number, row), _without_end(line), *outcome
    except DamagedRecord as error:
        raise UsageError(f"{name}: {error}") from error


def _without_end(line: bytes) -> bytes:
    return line.removesuffix(b"\n")


class _LineStream(io.RawIOBase):
    """A file from its lines, which were cut at line feeds; whether it ended with one is not known.

    A line feed of several bytes is whole again at the end.
    """

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._parts = self._joined(lines)
        self._part = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._part:
            self._part = next(self._parts, b"")
        size = min(len(buffer), len(self._part))
        buffer[:size], self._part = self._part[:size], self._part[size:]
        return size

    @staticmethod
    def _joined(lines: Iterable[bytes]) -> Iterator[bytes]:
        total, part = 0, b""
        for place, line in enumerate(lines):
            part = b"\n" + line if place else line
            total += len(part)
            if part:
                yield part
        if total % 2 and part.endswith(b"\0"):  # UTF-16 and UTF-32 whose last byte is a line feed
            yield b"\n"
