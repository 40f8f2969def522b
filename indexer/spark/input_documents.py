"""Input of a run: parquet, JSON lines, text files or a store; each document becomes a row."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from indexer.errors import SourceNotFound, UsageError
from indexer.recipe import Recipe
from indexer.spark.arrow_rows import ddl
from indexer.spark.sign import ERROR, OUTCOME, file_signer, record_signer, store_scanner
from indexer.spark.work_folder import Stage, Work
from indexer.text.wording import count_of

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

    `place` is a folder, a file or a pattern that Spark can read, or with `store` a store's URL.
    Records of parquet and JSON lines carry an id, which is the document's id, and a text; optional
    are the other columns of `RECORD`: `modified` in milliseconds since 1970 UTC or a timestamp,
    `labels` a list or one string, `truncated` true for a text that was cut. Each text file is a
    document, with the id that `nearfold index` gives it.
    """

    place: str
    form: Form
    id_field: str = "id"
    text_field: str = "text"
    labels: tuple[str, ...] = ()

    @property
    def root(self) -> str:
        """The place as it appears in paths of Spark; ids of text files are relative to it."""
        return self.place.rstrip("/") if "://" in self.place else os.path.realpath(self.place)


def documents(work: Work, source: Input, recipe: Recipe) -> Stage:
    """Return the signed rows of all documents that could be read."""
    return readable_rows(signed_documents(work, source, recipe))


def signed_documents(work: Work, source: Input, recipe: Recipe) -> Stage:
    """Return the rows of all documents; those that could not be read have an `error`.

    `facts` counts both. A store's rows are taken as the first run into this work folder reads them.
    Raises `SourceNotFound`, and `UsageError` when a column is missing, or ids are missing or come
    twice.
    """
    settings = {**{name: getattr(source, name) for name in Input.__slots__}, "recipe": recipe.id}
    settings["files"] = None if source.form == "store" else file_digest(work.spark, source)
    stage = work.stage(
        "signed", settings, [], lambda: _sign(work.spark, source, recipe), _count_outcomes
    )
    if trouble := stage.facts["trouble"]:
        raise UsageError(f"{source.place}: {trouble}; give every document a distinct id")
    return stage


def readable_rows(stage: Stage) -> Stage:
    """Return the rows of `signed_documents` without those that could not be read."""
    return Stage(stage.digest, stage.rows.where(sf.col(ERROR).isNull()).drop(ERROR), stage.facts)


def failures(stage: Stage) -> DataFrame:
    """Return what could not be read: `path` and `error`."""
    return stage.rows.where(sf.col(ERROR).isNotNull()).select("path", ERROR)


def _sign(spark: SparkSession, source: Input, recipe: Recipe) -> DataFrame:
    schema = ddl(OUTCOME)
    if source.form == "store":
        scanner = store_scanner(source.place, recipe)
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
    table = spark.read.schema(ddl(dict.fromkeys(columns, "string"))).json(source.place)
    is_known = all(not table.where(sf.col(f"`{name}`").isNotNull()).isEmpty() for name in named)
    return table if is_known else spark.read.json(source.place)


def check_local_files(source: Input) -> None:
    """Raise `UsageError` for files on this machine that are not parquet and should be.

    The first hundred are looked at. Where Hadoop is configured, a path may be one of its own.
    """
    if source.form != "parquet" or "HADOOP_CONF_DIR" in os.environ:
        return
    for path in islice(_local_files(source.place), 100):
        with suppress(OSError), path.open("rb") as file:
            if file.read(4) not in (b"", *_PARQUET_STARTS):
                raise _not_parquet(source)


def _local_files(place: str) -> Iterator[Path]:
    """Yield the files that Spark reads at a place or below; none of a URL."""
    for path in glob.iglob(place):  # noqa: PTH207 - it may be absolute
        if Path(path).is_file():
            yield Path(path)
        for folder, folders, names in os.walk(path):
            folders[:] = [name for name in folders if not name.startswith(("_", "."))]
            yield from (Path(folder, name) for name in names if not name.startswith(("_", ".")))


def _not_parquet(source: Input) -> UsageError:
    return UsageError(
        f"{source.place} holds files that are not parquet; "
        "say what they are by --format json, text or store"
    )


def _parquet(spark: SparkSession, source: Input) -> DataFrame:
    """Return a table of parquet files. Raises `UsageError` for files of another kind."""
    try:
        return spark.read.parquet(source.place)
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
            f"{source.place} has no column {', '.join(missing)}; it has {', '.join(sorted(kinds))}"
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
    return spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(source.place)


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
            raise SourceNotFound(path=source.place) from error
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
