"""A dataset without its duplicates over a cluster: the rows that one machine keeps."""

from __future__ import annotations

import dataclasses
import json
import time
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from indexer.errors import UsageError
from indexer.jobs.dedup import DedupOptions
from indexer.recipe import DEFAULT
from indexer.spark.arrow_rows import Batches, Mapper, batch
from indexer.spark.dataset import (
    Dataset,
    Files,
    check_columns,
    fingerprint_dataset,
    fingerprint_dataset_rows,
    kept_lines,
    kept_rows,
    list_files,
    read_rows,
)
from indexer.spark.group import group
from indexer.spark.input_documents import ERROR, OWN, Input, file_digest, readable_rows
from indexer.spark.principals import order_key
from indexer.spark.session import Stage, Work

_NEVER = "cast(null as string)"
_KEPT_OWN = "kept_own"


def dedup(spark: SparkSession, dataset: Dataset, out: str, options: DedupOptions) -> dict[str, Any]:
    """Write the rows of a dataset without duplicates, as they stand, and return the account.

    The rows that stay are those that `indexer.dedup` keeps, in the same order: in `out/rows`, lines
    of JSON or CSV as they were, of CSV after one row of names, or parquet with all columns, and the
    others, and why, in `out/removed`, with the lines of its report. `out/account.json` has the
    counts. Stages are kept in `out/work`; an interrupted run goes on there, with the same result.

    Raises `SourceNotFound`, and `UsageError` for a dataset without files or without the column of
    texts or without a text, for CSV files with unlike columns, and when `out` cannot be written.
    """
    start = time.monotonic()
    position = out.rstrip("/")
    work = Work(spark, f"{position}/work")
    work.check()
    files = list_files(spark, dataset)
    source = _source(work, dataset, files)
    table = _csv_table(work, dataset, files, source) if dataset.kind == "csv" else None
    fingerprinted = _fingerprinted(work, dataset, files, source, table)
    facts = fingerprinted.facts
    if 0 < facts["documents"] == facts["without_text"]:
        raise UsageError(
            f"no row of {dataset.path} has a text in the field {dataset.options.text_field!r}; "
            "name the field by --text-field"
        )
    rows = readable_rows(fingerprinted)
    settings = options.family_options()
    assigned = group(work, rows, DEFAULT, settings)
    texts = order_key(work, rows, DEFAULT, settings.folding).members
    removed = work.stage(
        "removed",
        {},
        [assigned, texts, fingerprinted],
        lambda: _removed(assigned, texts, fingerprinted),
        _counts,
    )
    kept = rows.rows.select("id").join(removed.rows.select("id"), "id", "left_anti")
    if table is None:
        rows_kept = kept_rows(spark, dataset, files, kept)
    else:
        rows_kept = kept_lines(table.rows, files, kept)
    writer = rows_kept.write.mode("overwrite")
    if dataset.kind == "parquet":
        writer.parquet(f"{position}/rows")
    else:
        writer.option("lineSep", "\n").text(f"{position}/rows")
    report = removed.rows.orderBy("id").mapInArrow(_report(files), "value string")
    report.write.mode("overwrite").text(f"{position}/removed")
    read = facts["documents"] + facts["failed"]
    counts = {name: removed.facts[name] for name in ("exact", "near", "failed")}
    account = {
        "read": read,
        "kept": read - sum(counts.values()),
        **counts,
        "without_text": facts["without_text"],
        "files": len(files.names),
        "settings": dataclasses.asdict(options),
        "stages": {"made": work.new_stages, "kept": work.old_stages},
        "seconds": round(time.monotonic() - start, 1),
    }
    work.note(f"{position}/account.json", json.dumps(account, indent=2))
    return account


def _csv_table(work: Work, dataset: Dataset, files: Files, source: dict[str, Any]) -> Stage:
    """Return the rows of CSV files. Raises `UsageError` where not all have the same columns."""
    table = work.stage("csv", source, [], lambda: read_rows(work.spark, dataset, files))
    check_columns(table.rows, files)
    return table


def _source(work: Work, dataset: Dataset, files: Files) -> dict[str, Any]:
    """Return what the rows depend on: the files as they are, and how they are read."""
    options = dataset.options
    fields = [options.text_field, options.delimiter, *filter(None, [options.id_field])]
    return {
        "dataset": [dataset.path, dataset.kind, *fields],
        "names": list(files.names),
        "files": file_digest(work.spark, Input(dataset.path, "json")),
    }


def _fingerprinted(
    work: Work, dataset: Dataset, files: Files, source: dict[str, Any], table: Stage | None
) -> Stage:
    """Return the rows with their fingerprints; those that could not be read have an `error`.

    `table`: the rows of CSV files.
    """

    def make() -> DataFrame:
        if table is not None:
            return fingerprint_dataset_rows(table.rows, dataset.options)
        return fingerprint_dataset(work.spark, dataset, files)

    def count(rows: DataFrame) -> dict[str, Any]:
        good = sf.col(ERROR).isNull()
        blank = good & (sf.col("chars") == 0) & (sf.col("raw") == "")
        counted = rows.agg(sf.count_if(good), sf.count_if(~good), sf.count_if(blank)).first()
        names = ("documents", "failed", "without_text")
        return dict(zip(names, counted or (0, 0, 0), strict=True))

    return work.stage("dataset", source, [] if table is None else [table], make, count)


def _removed(assigned: Stage, texts: Stage, fingerprinted: Stage) -> DataFrame:
    """Return the rows that do not stay: `id`, `kept`, `similarity`, `exact`, `error`, and the ids
    of their own of both rows.
    """
    others = assigned.rows.where("family <> id").select(
        "id", sf.col("family").alias("kept"), "similarity"
    )
    numbered = texts.rows.select("id", "text")
    kept = numbered.toDF("kept", "kept_text")
    duplicates = (
        others.join(numbered, "id")
        .join(kept, "kept")
        .selectExpr("id", "kept", "similarity", "text = kept_text AS exact", f"{_NEVER} AS {ERROR}")
    )
    failed = fingerprinted.rows.where(sf.col(ERROR).isNotNull()).selectExpr(
        "id", f"{_NEVER} AS kept", "cast(null as double) AS similarity", "false AS exact", ERROR
    )
    own = fingerprinted.rows.select("id", OWN)
    kept_own = own.toDF("kept", _KEPT_OWN)
    return duplicates.unionByName(failed).join(own, "id", "left").join(kept_own, "kept", "left")


def _counts(removed: DataFrame) -> dict[str, Any]:
    failed, exact = sf.col(ERROR).isNotNull(), sf.col("exact")
    counted = removed.agg(
        sf.count_if(exact), sf.count_if(~exact & ~failed), sf.count_if(failed)
    ).first() or (0, 0, 0)
    return dict(zip(("exact", "near", "failed"), counted, strict=True))


def _report(files: Files) -> Mapper:
    """Return a mapper from removed rows to the lines of the report of one machine."""

    def line(
        id: str,
        kept: str | None,
        similarity: float,
        exact: bool,
        error: str | None,
        own: str | None,
        kept_own: str | None,
    ) -> str:
        file, row = files.row(id)
        fields: dict[str, object] = {"file": file, "row": row}
        if kept is None:
            fields |= {"outcome": "failed", "error": error}
        else:
            kept_file, kept_row = files.row(kept)
            fields |= {
                "outcome": "exact" if exact else "near",
                "kept_file": kept_file,
                "kept_row": kept_row,
                "similarity": similarity,
            }
        if own is not None:
            fields["id"] = json.loads(own)
        if kept_own is not None:
            fields["kept_id"] = json.loads(kept_own)
        return json.dumps(fields)

    def report(parts: Batches) -> Batches:
        names = ("id", "kept", "similarity", "exact", ERROR, OWN, _KEPT_OWN)
        for part in parts:
            columns = [part.column(name).to_pylist() for name in names]
            lines = [line(*values) for values in zip(*columns, strict=True)]
            yield batch({"value": "string"}, [lines])

    return report
