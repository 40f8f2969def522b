"""Input of a run: parquet, JSON lines, text files or a store; each document becomes a row."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from indexer.documents.base import DEFAULT_LIMITS
from indexer.documents.blobs import file_payload, identifier
from indexer.documents.extractors import extractor_named
from indexer.errors import ExtractionError, SourceNotFound, UsageError
from indexer.fingerprinting.fingerprint import fingerprints
from indexer.grouping.checked_rows import read_fresh
from indexer.jobs.document_rows import ExtractedBlob, row_of
from indexer.model import Blob, Document
from indexer.recipe import Recipe
from indexer.spark.arrow_rows import ROW, Batches, Mapper, batch, ddl, pack_row, with_fields
from indexer.spark.session import Stage, Work
from indexer.stores import open_store
from indexer.wording import count_of

# Rows of documents, fingerprinted in batches on the executors: a table, text files, or a store.

BATCH = 200
ERROR = "error"
OWN = "own"  # of rows of a dataset: the JSON of the id that each has itself
OUTCOME = {**ROW, ERROR: "string"}


def record_signer(recipe: Recipe, labels: tuple[str, ...]) -> Mapper:
    """Return a mapper from records with the columns of `input_documents.RECORD` to rows.

    A missing id or text becomes the empty string.
    """

    def fingerprint_batch(parts: Batches) -> Batches:
        for part in parts:
            for start in range(0, part.num_rows, BATCH):
                records = part.slice(start, BATCH).to_pylist()
                blobs = [_record_document(record) for record in records]
                yield from _with_error_column(pack_row(_rows(blobs, recipe, labels)))

    return fingerprint_batch


def file_signer(recipe: Recipe, labels: tuple[str, ...], root: str) -> Mapper:
    """Return a mapper from text files (path, content and time) to rows.

    Their ids are those that `nearfold index` gives them below `root`. A file that is not plain
    text becomes a row of its path and the reason why it could not be read.
    """

    def fingerprint_batch(parts: Batches) -> Batches:
        for part in parts:
            for start in range(0, part.num_rows, BATCH):
                records = part.slice(start, BATCH).to_pylist()
                outcomes = [_file_document(record, root) for record in records]
                blobs = [outcome for outcome in outcomes if isinstance(outcome, ExtractedBlob)]
                yield from _with_error_column(pack_row(_rows(blobs, recipe, labels)))
                failed = [outcome for outcome in outcomes if isinstance(outcome, str)]
                if failed:
                    yield _failures(failed)

    return fingerprint_batch


def store_scanner(url: str, recipe: Recipe, write: bool) -> Mapper:
    """Return a mapper that yields all rows of a store; it must run in one task.

    Those that earlier statistics of its `recipe` fingerprinted have the fingerprint by the current
    ones, and texts that other programs changed their own keys, which are stored with `write`.
    """
    carried = _with_counts(recipe)

    def scan(_: Batches) -> Batches:
        with closing(open_store(url)) as store:
            rows = read_fresh(store, carried, write)
            yield from _with_error_column(pack_row(rows))

    return scan


def _with_counts(recipe: Recipe) -> Recipe:
    """Return a recipe that carries its current statistics to a task, if rows have earlier ones."""
    if recipe.corpus is None or len(recipe.by_statistics()) == 1:
        return recipe
    counts = recipe.corpus()
    return replace(recipe, corpus=lambda: counts)


def _rows(items: list[ExtractedBlob], recipe: Recipe, labels: tuple[str, ...]) -> Iterator[Any]:
    fingerprinted = fingerprints([item.document.text for item in items], recipe)
    name = recipe.id
    for index, item in enumerate(items):
        yield row_of(item, fingerprinted[index], name, labels)


def _record_document(record: dict[str, Any]) -> ExtractedBlob:
    """Return a record as a document; its digests are of its text."""
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
    try:
        document = extractor_named("plain")(DEFAULT_LIMITS).extract(data, name)
    except ExtractionError:
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


Form: TypeAlias = Literal["parquet", "json", "text", "store"]
_PARQUET_STARTS = (b"PAR1", b"PARE")  # PARE: with an encrypted footer
_NOT_PARQUET = ("not a Parquet file", "CANNOT_READ_FILE_FOOTER", "UNABLE_TO_INFER_SCHEMA")
RECORD = {
    "id": "string",
    "text": "string",
    "title": "string",
    "path": "string",
    "content_type": "string",
    "modified": "bigint",
    "labels": "array<string>",
    "truncated": "boolean",
}


@dataclass(frozen=True, slots=True)
class Input:
    """Documents to read.

    `path` is a folder, a file or a pattern that Spark can read, or with `store` a store's URL.
    Records of parquet and JSON lines carry an id, which is the document's id, and a text; optional
    are the other columns of `RECORD`: `modified` in milliseconds since 1970 UTC or a timestamp,
    `labels` a list or one string, `truncated` true for a text that was cut. Each text file is a
    document, with the id that `nearfold index` gives it.
    """

    path: str
    form: Form
    id_field: str = "id"
    text_field: str = "text"
    labels: tuple[str, ...] = ()

    @property
    def root(self) -> str:
        """The place as it appears in paths of Spark; ids of text files are relative to it."""
        return self.path.rstrip("/") if "://" in self.path else os.path.realpath(self.path)


def documents(work: Work, source: Input, recipe: Recipe) -> Stage:
    """Return the fingerprinted rows of all documents that could be read."""
    return readable_rows(fingerprinted_documents(work, source, recipe))


def fingerprinted_documents(
    work: Work, source: Input, recipe: Recipe, write: bool = False
) -> Stage:
    """Return the rows of all documents; those that could not be read have an `error`.

    `facts` counts both. With `write`, a store gets the keys of texts that other programs changed.
    A store's rows are taken as the first run into this work folder reads them.
    Raises `SourceNotFound`, and `UsageError` when a column is missing, or ids are missing or come
    twice.
    """
    settings = {**{name: getattr(source, name) for name in Input.__slots__}, "recipe": recipe.id}
    settings["files"] = None if source.form == "store" else file_digest(work.spark, source)
    stage = work.stage(
        "signed",
        settings,
        [],
        lambda: _fingerprint_batch(work.spark, source, recipe, write),
        _count_outcomes,
    )
    if trouble := stage.facts["trouble"]:
        raise UsageError(f"{source.path}: {trouble}; give every document a distinct id")
    return stage


def readable_rows(stage: Stage) -> Stage:
    """Return the rows of `fingerprinted_documents` without those that could not be read."""
    rows = stage.rows.where(sf.col(ERROR).isNull()).drop(ERROR, OWN)
    return Stage(stage.digest, rows, stage.facts)


def failures(stage: Stage) -> DataFrame:
    """Return what could not be read: `path` and `error`."""
    return stage.rows.where(sf.col(ERROR).isNotNull()).select("path", ERROR)


def _fingerprint_batch(
    spark: SparkSession, source: Input, recipe: Recipe, write: bool
) -> DataFrame:
    schema = ddl(OUTCOME)
    if source.form == "store":
        scanner = store_scanner(source.path, recipe, write)
        return spark.range(1, numPartitions=1).mapInArrow(scanner, schema)
    if source.form == "text":
        files = _files(spark, source).select(
            "path", "content", sf.unix_millis("modificationTime").alias("modified")
        )
        return files.mapInArrow(file_signer(recipe, source.labels, source.root), schema)
    table = _parquet(spark, source) if source.form == "parquet" else _json(spark, source)
    return _records(table, source).mapInArrow(record_signer(recipe, source.labels), schema)


def _json(spark: SparkSession, source: Input) -> DataFrame:
    """Return a table of records, with values as they are written; of numbers and lists too.

    Spark reads all records to find out their columns, so that is left to records without the named
    fields, which are refused for it.
    """
    named = source.id_field, source.text_field
    columns = dict.fromkeys([*(name for name in RECORD if name not in ("id", "text")), *named])
    table = spark.read.schema(ddl(dict.fromkeys(columns, "string"))).json(source.path)
    is_known = all(not table.where(sf.col(f"`{name}`").isNotNull()).isEmpty() for name in named)
    return table if is_known else spark.read.json(source.path)


def check_local_files(source: Input) -> None:
    """Raise `UsageError` for files on this machine that are not parquet and should be.

    The first hundred are looked at. Where Hadoop is configured, a path may be one of its own.
    """
    if source.form != "parquet" or "HADOOP_CONF_DIR" in os.environ:
        return
    for path in islice(_local_files(source.path), 100):
        with suppress(OSError), path.open("rb") as file:
            if file.read(4) not in (b"", *_PARQUET_STARTS):
                raise _not_parquet(source)


def _local_files(place: str) -> Iterator[Path]:
    """Yield the files that Spark reads at a position or below; none of a URL."""
    for path in glob.iglob(place):  # noqa: PTH207 - it may be absolute
        if Path(path).is_file():
            yield Path(path)
        for folder, folders, names in os.walk(path):
            folders[:] = [name for name in folders if not name.startswith(("_", "."))]
            yield from (Path(folder, name) for name in names if not name.startswith(("_", ".")))


def _not_parquet(source: Input) -> UsageError:
    return UsageError(
        f"{source.path} holds files that are not parquet; "
        "say what they are by --format json, text or store"
    )


def _parquet(spark: SparkSession, source: Input) -> DataFrame:
    """Return a table of parquet files. Raises `UsageError` for files of another kind."""
    try:
        return spark.read.parquet(source.path)
    except Exception as error:  # py4j, whose errors these are, has no types
        if not any(sign in str(error) for sign in _NOT_PARQUET):
            raise
        raise _not_parquet(source) from error


def _records(table: DataFrame, source: Input) -> DataFrame:
    """Return a table with the columns of `RECORD`; those that are missing are empty."""
    kinds: Mapping[str, str] = {name: field.simpleString() for name, field in _types(table).items()}
    named = {"id": source.id_field, "text": source.text_field}
    if missing := [name for name in named.values() if name not in kinds]:
        raise UsageError(
            f"{source.path} has no column {', '.join(missing)}; it has {', '.join(sorted(kinds))}"
        )
    return table.select(*(_column(name, named.get(name, name), kinds) for name in RECORD))


def _column(name: str, source: str, kinds: Mapping[str, str]) -> Column:
    column = sf.col(f"`{source}`") if source in kinds else sf.lit(None)
    kind = kinds.get(source, "")
    if name == "modified" and kind.startswith("timestamp"):
        column = sf.unix_millis(column.cast("timestamp"))
    if name == "modified" and kind == "string":
        number = column.try_cast("double").cast("bigint")
        time = sf.unix_millis(column.try_cast("timestamp"))
        column = sf.coalesce(column.try_cast("bigint"), number, time)
    if name == "labels" and kind == "string":
        several = sf.when(column.startswith("["), sf.from_json(column, "array<string>"))
        column = sf.when(column.isNotNull(), sf.coalesce(several, sf.array(column)))
    return column.cast(RECORD[name]).alias(name)


def _types(table: DataFrame) -> dict[str, Any]:
    return {field.name: field.dataType for field in table.schema.fields}


def _files(spark: SparkSession, source: Input) -> DataFrame:
    return spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(source.path)


def file_digest(spark: SparkSession, source: Input) -> str:
    """Return a digest of the names, sizes and times of the files, to detect changes."""
    try:
        files = (
            _files(spark, source)
            .select("path", "length", sf.unix_micros("modificationTime"))
            .collect()
        )
    except AnalysisException as error:
        if "PATH_NOT_FOUND" in str(error):
            raise SourceNotFound(path=source.path) from error
        raise
    lines = sorted(f"{path}\t{length}\t{time}\n" for path, length, time in files)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _count_outcomes(rows: DataFrame) -> dict[str, Any]:
    good = sf.col(ERROR).isNull()
    is_nameless = sf.col("id") == ""
    counts = rows.agg(sf.count_if(good), sf.count_if(~good), sf.count_if(is_nameless)).first()
    read, failed, nameless = counts or (0, 0, 0)
    repeated = rows.where(good).groupBy("id").count().where("count > 1").limit(3).collect()
    trouble = [f"{count_of(nameless, 'record')} without an id"] if nameless else []
    trouble += [f"id {row['id']!r} comes {row['count']} times" for row in repeated if row["id"]]
    return {"documents": read, "failed": failed, "trouble": "; ".join(trouble)}
