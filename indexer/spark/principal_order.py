"""Principal order over a cluster: the place of every document, and the first and last place of
every text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from indexer.clustering.families import Principal
from indexer.recipe import Recipe
from indexer.spark import distinct_texts as texts
from indexer.spark.arrow_rows import Batches, batch, ddl
from indexer.spark.work_folder import Stage, Work

_SUMS = {"text": "bigint", "sum": "double"}
_ORDERS: Mapping[Principal, Callable[[], Column]] = MappingProxyType(
    {
        "longest": lambda: sf.desc("words"),
        "first": lambda: sf.asc_nulls_last("modified"),
        "central": lambda: sf.desc("sum"),
    }
)


@dataclass(frozen=True, slots=True)
class OrderKey:
    """The documents that have keys, and their distinct texts."""

    numbered: Stage
    members: Stage


def keyed(work: Work, rows: Stage, recipe: Recipe) -> OrderKey:
    """The documents of some rows that have keys."""
    numbered = texts.texts(work, rows, recipe)
    return OrderKey(numbered, texts.members(work, rows, numbered, recipe))


def placed(work: Work, documents: OrderKey, kind: Principal, sums: Stage | None = None) -> Stage:
    """Documents in principal order: `id`, `text`, whether one may lead (`leads`), and its `place`.

    Places are distinct numbers, with gaps. Documents that are not complete may not lead and come
    after all others; ties go by id. `central` needs `sums`: `text` and `sum`.
    """

    def make() -> DataFrame:
        made = (
            documents.members.rows
            if sums is None
            else documents.members.rows.join(sums.rows, "text")
        )
        leads = (sf.col("status") == "complete").alias("leads")
        ordered = made.select("*", leads).orderBy(sf.desc("leads"), _ORDERS[kind](), "id")
        return ordered.select(
            "id", "text", "leads", sf.monotonically_increasing_id().alias("place")
        )

    return work.stage(
        f"placed-{kind}", {}, [documents.members, *([] if sums is None else [sums])], make
    )


def ranked(work: Work, places: Stage) -> Stage:
    """Texts: `rank` and `last`, the first and the last place of their documents, and whether the
    first may lead: `leads`.
    """
    first, last = sf.min(sf.struct("place", "leads")).alias("first"), sf.max("place").alias("last")
    made = places.rows.groupBy("text").agg(first, last)
    columns = (
        "text",
        sf.col("first.place").alias("rank"),
        "last",
        sf.col("first.leads").alias("leads"),
    )
    return work.stage("ranked", {}, [places], lambda: made.select(*columns))


def sums(
    work: Work,
    documents: OrderKey,
    sources: list[Stage],
    similar: Callable[[], DataFrame],
    settings: Mapping[str, Any],
) -> Stage:
    """For each text the similarities of its documents to all they match, summed as
    `indexer.clustering.families.sum_similarities` does.

    `similar` makes the pairs of texts, with their similarity, from `sources`.
    """

    def make() -> DataFrame:
        pairs = similar()
        both = pairs.union(pairs.select("right", "left", "similarity")).toDF(
            "text", "other", "similarity"
        )
        copies = documents.numbered.rows.select(sf.col("text").alias("other"), "copies")
        parts = both.join(copies, "other").select(
            "text", (sf.col("similarity") * sf.col("copies")).alias("part")
        )
        own = documents.numbered.rows.select(
            "text", (sf.col("copies") - 1).cast("double").alias("part")
        )
        collected = parts.union(own).groupBy("text").agg(sf.collect_list("part").alias("parts"))
        return collected.mapInArrow(summed, ddl(_SUMS))

    return work.stage("sums", settings, [documents.numbered, *sources], make)


def summed(parts: Batches) -> Batches:
    """The sum of each list, exactly rounded, so that it does not hang on their order."""
    for part in parts:
        totals = [math.fsum(values) for values in part.column("parts").to_pylist()]
        yield batch(_SUMS, [part.column("text"), totals])
