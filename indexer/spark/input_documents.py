"""Where a run's documents come from: parquet, JSON lines, text files, or a store; each becomes a
row with its sketches.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from indexer.errors import SourceNotFound, UsageError
from indexer.recipe import Recipe
from indexer.spark.arrow_rows import ddl
from indexer.spark.sign import FAILED, OUTCOME, scans, signs_files, signs_records
from indexer.spark.work_folder import Stage, Work

Form: TypeAlias = Literal["parquet", "json", "text", "store"]
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
    """What to read. `place` is a folder, a file or a pattern that Spark can read, or with `store` a
    store's URL.

    Records of parquet and JSON lines carry an id, which is the document's id, and a text; optional
    are the other columns of `RECORD`: `modified` in milliseconds since 1970 UTC or a timestamp,
    `labels` a list or one string, `truncated` tells that the text was cut. Text files are a
    document each, with the ids that `nearfold index` gives them.
    """

    place: str
    form: Form
    id_field: str = "id"
    text_field: str = "text"
    labels: tuple[str, ...] = ()

    @property
    def root(self) -> str:
        """The place as Spark spells it in paths, which ids of text files are relative to."""
        return self.place.rstrip("/") if "://" in self.place else os.path.realpath(self.place)


def documents(work: Work, given: Input, recipe: Recipe) -> Stage:
    """The rows of all documents, signed, one each; what could not be read left out."""
    return readable(signed_documents(work, given, recipe))


def signed_documents(work: Work, given: Input, recipe: Recipe) -> Stage:
    """The rows of all documents, and with an `error` those that could not be read; `facts` counts
    both.

    A store's rows are taken as they are, at the moment of the first run into this work folder.
    Raises `SourceNotFound`, and `UsageError` when a column is missing, or ids are missing or come
    twice.
    """
    settings = {**{name: getattr(given, name) for name in Input.__slots__}, "recipe": recipe.id}
    settings["files"] = None if given.form == "store" else _digest(work.spark, given)
    stage = work.stage("signed", settings, [], lambda: _signed(work.spark, given, recipe), _counted)
    if trouble := stage.facts["trouble"]:
        raise UsageError(
            f"{given.place}: {trouble}; ids must be there and distinct, for they name documents"
        )
    return stage


def readable(stage: Stage) -> Stage:
    """What `signed_documents` gives, without what could not be read."""
    return Stage(stage.digest, stage.rows.where(sf.col(FAILED).isNull()).drop(FAILED), stage.facts)


def failures(stage: Stage) -> DataFrame:
    """What could not be read: `path` and `error`."""
    return stage.rows.where(sf.col(FAILED).isNotNull()).select("path", FAILED)


def _signed(spark: SparkSession, given: Input, recipe: Recipe) -> DataFrame:
    schema = ddl(OUTCOME)
    if given.form == "store":
        return spark.range(1, numPartitions=1).mapInArrow(scans(given.place), schema)
    if given.form == "text":
        files = _files(spark, given).select(
            "path", "content", sf.unix_millis("modificationTime").alias("modified")
        )
        return files.mapInArrow(signs_files(recipe, given.labels, given.root), schema)
    table = (
        spark.read.parquet(given.place) if given.form == "parquet" else spark.read.json(given.place)
    )
    return _records(table, given).mapInArrow(signs_records(recipe, given.labels), schema)


def _records(table: DataFrame, given: Input) -> DataFrame:
    """A table with the columns of `RECORD`, those that it lacks empty."""
    kinds: Mapping[str, str] = {name: field.simpleString() for name, field in _types(table).items()}
    named = {"id": given.id_field, "text": given.text_field}
    if missing := [name for name in named.values() if name not in kinds]:
        raise UsageError(
            f"{given.place} has no column {', '.join(missing)}; it has {', '.join(sorted(kinds))}"
        )
    return table.select(*(_column(name, named.get(name, name), kinds) for name in RECORD))


def _column(name: str, source: str, kinds: Mapping[str, str]) -> Column:
    column = sf.col(f"`{source}`") if source in kinds else sf.lit(None)
    if name == "modified" and kinds.get(source, "").startswith("timestamp"):
        column = sf.unix_millis(column.cast("timestamp"))
    if name == "labels" and kinds.get(source) == "string":
        column = sf.array(column)
    return column.cast(RECORD[name]).alias(name)


def _types(table: DataFrame) -> dict[str, Any]:
    return {field.name: field.dataType for field in table.schema.fields}


def _files(spark: SparkSession, given: Input) -> DataFrame:
    return spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(given.place)


def _digest(spark: SparkSession, given: Input) -> str:
    """What tells whether files changed: their names, sizes and times."""
    try:
        files = (
            _files(spark, given)
            .select("path", "length", sf.unix_micros("modificationTime"))
            .collect()
        )
    except AnalysisException as error:
        if "PATH_NOT_FOUND" in str(error):
            raise SourceNotFound(path=given.place) from error
        raise
    listed = sorted(f"{path}\t{length}\t{time}\n" for path, length, time in files)
    return hashlib.sha256("".join(listed).encode()).hexdigest()


def _counted(rows: DataFrame) -> dict[str, Any]:
    good = sf.col(FAILED).isNull()
    one = rows.agg(sf.count_if(good), sf.count_if(~good), sf.count_if(sf.col("id") == "")).first()
    read, failed, nameless = one or (0, 0, 0)
    twice = rows.where(good).groupBy("id").count().where("count > 1").limit(3).collect()
    trouble = [f"{nameless:,} records without an id"] if nameless else []
    trouble += [f"id {row['id']!r} comes {row['count']} times" for row in twice if row["id"]]
    return {"documents": read, "failed": failed, "trouble": "; ".join(trouble)}
