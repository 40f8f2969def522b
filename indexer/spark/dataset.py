"""Rows of a dataset that Spark reads, numbered as one machine does, with their fingerprints."""

from __future__ import annotations

import io
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, Literal, TypeAlias
from urllib.parse import unquote

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from indexer.documents import tables
from indexer.documents.base import ReadOptions
from indexer.documents.blobs import DamagedRecord
from indexer.errors import ExtractionError, SourceNotFound, UsageError
from indexer.jobs.dataset_files import RowText, column_difference
from indexer.jobs.dedup import (
    BATCH_CHARS,
    BATCH_ROWS,
    fingerprint_texts,
    own_id,
    row_text,
)
from indexer.recipe import DEFAULT
from indexer.spark.arrow_rows import Batches, Mapper, batch, ddl, pack_row, with_fields
from indexer.spark.input_documents import ERROR, OUTCOME, OWN
from indexer.stores.fields import storable

Kind: TypeAlias = Literal["parquet", "jsonl", "csv"]
LINE = {"id": "string", "line": "binary"}
_FINGERPRINTED = {**OUTCOME, OWN: "string"}
_ENDINGS = {
    "parquet": "*.parquet",
    "jsonl": "*.{jsonl,ndjson,jsonl.gz,ndjson.gz}",
    "csv": "*.{csv,tsv,csv.gz,tsv.gz}",
}
_PARTS = "spark.sql.files.minPartitionNum"
FILE = "nearfold_file"  # columns in addition to the dataset's
PLACE = "nearfold_place"
NUMBER = "nearfold_number"
_ID = "nearfold_id"


@dataclass(frozen=True, slots=True)
class Dataset:
    """A file of JSON Lines, CSV or Parquet that Spark can read, or a folder or pattern of them.

    Files are reported by their names, as on one machine: `.parquet`, or `.jsonl` and `.ndjson`, or
    `.csv` and `.tsv`, these also as `.gz`.
    """

    path: str
    kind: Kind
    options: ReadOptions


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a dataset, by the bytes of their paths below the folder that holds all of them.

    `names` are these paths, `numbers` their positions by the path that Spark gives, `starts` the
    number of lines before each part of a file that a task reads, by path and offset.
    """

    names: Sequence[str]
    numbers: Mapping[str, int]
    starts: Mapping[tuple[str, int], int]

    def id_in(self, path: str, row: int) -> str:
        """Return the id of a row of the file at a path; `row` is counted from 1."""
        return self.id_of(self.numbers[path], row)

    def id_of(self, file: int, row: int) -> str:
        """Return the id of a row of a file by its number, which ascends as rows do."""
        return f"{file:06}-{row:012}"

    def row(self, id: str) -> tuple[str, int]:
        """Return the file and the number of a row."""
        file, _, row = id.partition("-")
        return self.names[int(file)], int(row)


def list_files(spark: SparkSession, dataset: Dataset) -> Files:
    """Return the files that hold the rows.

    From then on the session reads the same parts of them in every task, also if it loses executors.
    Raises `SourceNotFound`, and `UsageError` where none has such a name.
    """
    if spark.conf.get(_PARTS, None) is None:  # else it goes by the processors of the moment
        spark.conf.set(_PARTS, str(spark.sparkContext.defaultParallelism))
    try:
        counted = _count_lines(read_dataset(spark, dataset), dataset.kind).collect()
    except AnalysisException as error:
        if "PATH_NOT_FOUND" in str(error):
            raise SourceNotFound(path=dataset.path) from error
        if "UNABLE_TO_INFER_SCHEMA" not in str(error):
            raise
        counted = []
    paths = {row[FILE] for row in counted}
    if not paths:
        raise UsageError(
            f"no rows in files {_ENDINGS[dataset.kind]} at {dataset.path}; check the path, and "
            "give the kind of files by --format"
        )
    base = os.path.commonpath([os.path.dirname(path) for path in paths])  # noqa: PTH120 - of URLs
    names = {path: unquote(path.removeprefix(base).lstrip("/")) for path in paths}
    ordered = sorted(paths, key=lambda path: os.fsencode(names[path]))
    starts: dict[tuple[str, int], int] = {}
    before: Counter[str] = Counter()
    for row in sorted(counted, key=lambda row: (row[FILE], row[PLACE])):
        starts[row[FILE], row[PLACE]] = before[row[FILE]]
        before[row[FILE]] += row["count"]
    numbers = {path: number for number, path in enumerate(ordered)}
    return Files([names[path] for path in ordered], numbers, starts)


def _count_lines(table: DataFrame, kind: Kind) -> DataFrame:
    """Return the files, of lines also each part that a task reads, with the number of its lines."""
    if kind != "jsonl":
        return table.select(FILE, sf.lit(0).alias(PLACE), sf.lit(0).alias("count")).distinct()
    return table.groupBy(FILE, PLACE).count()


def fingerprint_dataset(spark: SparkSession, dataset: Dataset, files: Files) -> DataFrame:
    """Return a row of `OUTCOME` and `OWN` for each row of JSON Lines or Parquet; its place is the
    id.
    """
    if dataset.kind == "jsonl":
        records: _Records = _records_of_lines(files, dataset.options)
        table = read_dataset(spark, dataset)
    else:
        records = _records_of_table(files)
        columns = [f"`{column}`" for column in _columns(spark, dataset)]
        table = read_dataset(spark, dataset).select(*columns, FILE, PLACE)
    options = dataset.options

    def texts(part: Any) -> Iterator[tuple[str, RowText]]:
        for id, record in records(part):
            yield id, RowText(0, 0, row_text(record, options), own_id(record, options))

    return table.mapInArrow(signer(texts, options), ddl(_FINGERPRINTED))


def kept_rows(spark: SparkSession, dataset: Dataset, files: Files, kept: DataFrame) -> DataFrame:
    """Return the rows with these ids as they stand, in their order: `value`, the line, of JSON
    Lines, of Parquet all columns.
    """
    table = read_dataset(spark, dataset)
    if dataset.kind == "jsonl":
        numbered = table.mapInArrow(_line_numberer(files), ddl(LINE))
        lines = numbered.join(kept.select("id"), "id", "left_semi").orderBy("id")
        return lines.select(sf.col("line").cast("string").alias("value"))
    position = sf.format_string("%06d-%012d", NUMBER, sf.col(PLACE) + 1)
    rows = with_numbers(spark, table, files).withColumn(_ID, position)
    ids = kept.select(sf.col("id").alias(_ID))
    return rows.join(ids, _ID, "left_semi").orderBy(_ID).drop(FILE, PLACE, NUMBER, _ID)


def with_numbers(spark: SparkSession, table: DataFrame, files: Files) -> DataFrame:
    """Return rows with the number of their file."""
    numbers = spark.createDataFrame(list(files.numbers.items()), f"{FILE} string, {NUMBER} int")
    return table.join(sf.broadcast(numbers), FILE)


def read_dataset(spark: SparkSession, dataset: Dataset) -> DataFrame:
    """Return the rows of Parquet, or the lines of other files, with their file and their place: of
    a line the offset of the part of the file that its task reads, else the number of the row from
    0.
    """
    reader = spark.read.option("recursiveFileLookup", "true")
    reader = reader.option("pathGlobFilter", _ENDINGS[dataset.kind])
    file = sf.col("_metadata.file_path").alias(FILE)
    if dataset.kind != "parquet":
        lines = reader.option("lineSep", "\n").text(dataset.path)
        position = sf.col("_metadata.file_block_start").alias(PLACE)
        return lines.select(sf.col("value").cast("binary").alias("line"), file, position)
    table = reader.parquet(dataset.path)
    return table.select("*", file, sf.col("_metadata.row_index").alias(PLACE))


def _columns(spark: SparkSession, dataset: Dataset) -> list[str]:
    """Return the columns that hold the text and the id, or the structures with them."""
    names = read_dataset(spark, dataset).columns
    options = dataset.options
    chosen: dict[str, None] = {}
    for option, field in (("--text-field", options.text_field), ("--id-field", options.id_field)):
        if field is None:
            continue
        column = field if field in names else field.partition(".")[0]
        if column not in names:
            columns = [name for name in names if name not in (FILE, PLACE)]
            raise UsageError(
                f"{dataset.path} has no column {field!r}, but: {', '.join(columns[:20])}; "
                f"choose by {option}"
            )
        chosen[column] = None
    return list(chosen)


_Record: TypeAlias = Mapping[str, Any] | ExtractionError
_Records: TypeAlias = Callable[[Any], Iterator[tuple[str, _Record]]]


def _records_of_lines(files: Files, options: ReadOptions) -> _Records:
    """Return a function that yields the id and the record of each line that is not empty."""
    number = _line_ids(files)

    def records(part: Any) -> Iterator[tuple[str, _Record]]:
        for id, line in zip(number(part), part.column("line").to_pylist(), strict=True):
            for _, record in tables.json_records("", BytesIO(line), options):
                yield id, record

    return records


def _records_of_table(files: Files) -> _Records:
    def records(part: Any) -> Iterator[tuple[str, _Record]]:
        for record in part.to_pylist():
            id = files.id_in(record.pop(FILE), record.pop(PLACE) + 1)
            yield id, record

    return records


def _line_ids(files: Files) -> Callable[[Any], list[str]]:
    """Return a function that gives ids to the lines of the batches of one task, in their order."""
    seen: Counter[tuple[str, int]] = Counter()

    def ids(part: Any) -> list[str]:
        positions = []
        columns = part.column(FILE).to_pylist(), part.column(PLACE).to_pylist()
        for where in zip(*columns, strict=True):
            seen[where] += 1
            positions.append(files.id_in(where[0], files.starts[where] + seen[where]))
        return positions

    return ids


def _line_numberer(files: Files) -> Callable[[Batches], Batches]:
    """Return a mapper from lines to `LINE`, without the byte order mark that a file begins with."""

    def number(parts: Batches) -> Batches:
        ids = _line_ids(files)
        for part in parts:
            lines = [_without_mark(line) for line in part.column("line").to_pylist()]
            yield batch(LINE, [ids(part), lines])

    return number


def _without_mark(line: bytes) -> bytes:
    return next(tables.json_lines("", BytesIO(line), ReadOptions()), b"")


def signer(texts_of: TextReader, options: ReadOptions) -> Callable[[Batches], Batches]:
    """Return a mapper from rows of a dataset to `OUTCOME`; `texts_of` reads a batch."""
    recipe = replace(DEFAULT, bands=0, rows=0)

    def fingerprint_batch(parts: Batches) -> Batches:
        for part in parts:
            for some in _batches(list(texts_of(part))):
                yield from _outcomes(some, options, recipe)

    return fingerprint_batch


Texts: TypeAlias = Sequence[tuple[str, RowText]]
TextReader: TypeAlias = Callable[[Any], Iterable[tuple[str, RowText]]]


def _batches(texts: Texts) -> Iterator[Texts]:
    some: list[tuple[str, RowText]] = []
    chars = 0
    for item in texts:
        some.append(item)
        chars += item[1].chars
        if len(some) >= BATCH_ROWS or chars >= BATCH_CHARS:
            yield some
            some, chars = [], 0
    if some:
        yield some


def _outcomes(texts: Texts, options: ReadOptions, recipe: Any) -> Batches:
    sources = [source for _, source in texts]
    rows = fingerprint_texts(sources, options, recipe)
    failed = [
        (id, str(source.text)) for id, source in texts if isinstance(source.text, ExtractionError)
    ]
    read = [
        index
        for index, source in enumerate(sources)
        if not isinstance(source.text, ExtractionError)
    ]
    own = iter([sources[index].own for index in read])
    for part in pack_row(storable(rows.row(index, texts[index][0])) for index in read):
        with_error = with_fields(part, ERROR, "string", [None] * part.num_rows)
        yield with_fields(with_error, OWN, "string", list(islice(own, part.num_rows)))
    if failed:
        columns: dict[str, list[Any]] = dict.fromkeys(_FINGERPRINTED, [None] * len(failed))
        columns["id"], columns[ERROR] = map(list, zip(*failed, strict=True))
        yield batch(_FINGERPRINTED, list(columns.values()))


# Rows of CSV files: each file is read by one task, since a row may have several lines.

ROW = {"id": "string", "line": "binary", "text": "string", ERROR: "string", OWN: "string"}
_ORDER = "nearfold_order"
_TOGETHER = 500  # rows of a batch
_NAMES = 0  # the row of the names of columns

Row: TypeAlias = tuple[str, bytes, str | None, str | None, str | None]


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
    return ordered.mapInArrow(_row_reader(files, dataset.options), ddl(ROW))


def check_columns(rows: DataFrame, files: Files) -> None:
    """Raise `UsageError` for a file that has other columns than the first one."""
    representatives = rows.where(_is_names()).select("id", "text").orderBy("id").collect()
    for representative in representatives:
        if representative["text"] != representatives[0]["text"]:
            columns, first = (
                json.loads(row["text"]) for row in (representative, representatives[0])
            )
            names = [files.row(row["id"])[0] for row in (representative, representatives[0])]
            raise UsageError(
                f"{names[0]} has other columns than {names[1]} "
                f"({column_difference(columns, first)}), so one table cannot hold the rows of "
                "both; deduplicate them separately"
            )


def fingerprint_dataset_rows(rows: DataFrame, options: ReadOptions) -> DataFrame:
    """Return a row of `OUTCOME` and `OWN` for each row except rows of names."""
    texts = rows.where(~_is_names()).select("id", "text", ERROR, OWN)
    return texts.mapInArrow(signer(_texts, options), ddl(_FINGERPRINTED))


def kept_lines(rows: DataFrame, files: Files, kept: DataFrame) -> DataFrame:
    """Return the rows with these ids as they stand (`value`), after the names of the columns."""
    names = rows.where(sf.col("id") == files.id_of(0, _NAMES))
    lines = names.union(rows.join(kept.select("id"), "id", "left_semi")).orderBy("id")
    return lines.select(sf.col("line").cast("string").alias("value"))


def _is_names() -> Column:
    return sf.col("id").endswith(f"-{_NAMES:012}")


def _texts(part: Any) -> Iterator[tuple[str, RowText]]:
    columns = [part.column(name).to_pylist() for name in ("id", "text", ERROR, OWN)]
    for id, text, error, own in zip(*columns, strict=True):
        yield id, RowText(0, 0, text if error is None else ExtractionError(error), own)


def _row_reader(files: Files, options: ReadOptions) -> Mapper:
    """Return a mapper from all lines of some files, in their order, to `ROW`."""

    def read(parts: Batches) -> Batches:
        for number, lines in groupby(_numbered_lines(parts), key=itemgetter(0)):
            rows = _rows_of_file(number, files, map(itemgetter(1), lines), options)
            while some := list(islice(rows, _TOGETHER)):
                yield batch(ROW, list(zip(*some, strict=True)))

    return read


def _numbered_lines(parts: Batches) -> Iterator[tuple[int, bytes]]:
    for part in parts:
        columns: Sequence[list[Any]] = [part.column(name).to_pylist() for name in (NUMBER, "line")]
        yield from zip(*columns, strict=True)


def _rows_of_file(
    number: int, files: Files, lines: Iterable[bytes], options: ReadOptions
) -> Iterator[Row]:
    name = files.names[number]
    stream = io.BufferedReader(_LineStream(lines))
    try:
        columns, names, rows = tables.table_rows(name, stream, options)
        yield files.id_of(number, _NAMES), _without_end(names), json.dumps(columns), None, None
        for row, (line, record) in enumerate(rows, 1):
            text = row_text(record, options)
            outcome = (None, str(text)) if isinstance(text, ExtractionError) else (text, None)
            own = own_id(record, options)
            yield files.id_of(number, row), _without_end(line), *outcome, own
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
        for index, line in enumerate(lines):
            part = b"\n" + line if index else line
            total += len(part)
            if part:
                yield part
        if total % 2 and part.endswith(b"\0"):  # UTF-16 and UTF-32 whose last byte is a line feed
            yield b"\n"
