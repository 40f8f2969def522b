"""Principal order over a cluster: the place of every document, first and last place of a text."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from indexer.clustering.field_order import FieldOrder
from indexer.clustering.principals import Principal
from indexer.grouping.group_options import missing_order
from indexer.recipe import Recipe
from indexer.similarity.criteria import Criteria
from indexer.spark.arrow_rows import Batches, batch, ddl
from indexer.spark.distinct_texts import keyed_documents, number_texts
from indexer.spark.work_folder import Stage, Work
from indexer.text.quoted_lines import quoted_words

_SUMS = {"text": "bigint", "sum": "double"}
_QUOTED = {"id": "string", "quoted": "bigint"}
_ORDERS: Mapping[Principal, Callable[[], Sequence[Column]]] = MappingProxyType(
    {
        "original": lambda: (sf.asc("quoted"), sf.desc("sum"), sf.desc("words")),
        "longest": lambda: (sf.desc("words"),),
        "first": lambda: (sf.asc_nulls_last("modified"),),
        "central": lambda: (sf.desc("sum"),),
    }
)


@dataclass(frozen=True, slots=True)
class OrderKey:
    """Documents, their distinct texts and their rows: what the order is made of."""

    rows: Stage
    numbered: Stage
    members: Stage


def order_key(work: Work, rows: Stage, recipe: Recipe, criteria: Criteria) -> OrderKey:
    """Return the documents of some rows."""
    numbered = number_texts(work, rows, recipe, criteria, criteria.folded)
    members = keyed_documents(work, rows, numbered, recipe, criteria)
    return OrderKey(rows, numbered, members)


def order_documents(
    work: Work, documents: OrderKey, kind: Principal | FieldOrder, sums: Stage | None = None
) -> Stage:
    """Return documents in principal order: `id`, `text` and `place`.

    Places are distinct numbers, with gaps. Documents that are not complete come after all others;
    ties go by id. `central` needs `sums`: `text` and `sum`; they are 0 where `original` has none.
    """

    def make() -> DataFrame:
        members = documents.members.rows
        if isinstance(kind, FieldOrder):
            values = documents.rows.rows.select("id", _value(kind).alias("value"))
            members = members.join(values, "id")
        if kind == "original":
            texts = documents.rows.rows.select("id", "text")
            members = members.join(texts.mapInArrow(count_quoted, ddl(_QUOTED)), "id")
        if sums is not None:
            members = members.join(sums.rows, "text")
        else:
            members = members.withColumn("sum", sf.lit(0.0))
        is_complete = sf.col("status") == "complete"
        ordered = members.orderBy(is_complete.desc(), *_directions(kind), "id")
        return ordered.select("id", "text", sf.monotonically_increasing_id().alias("place"))

    sources = [documents.members] if sums is None else [documents.members, sums]
    if isinstance(kind, FieldOrder):
        return work.stage("placed-field", {"order": str(kind)}, sources, make)
    return work.stage(f"placed-{kind}", {}, sources, make)


def check_order(rows: DataFrame, kind: Principal | FieldOrder) -> None:
    """Raise `UsageError` for metadata, to order by, that none of these documents has."""
    if not isinstance(kind, FieldOrder) or kind.metadata_name is None:
        return
    if rows.where(_value(kind).isNotNull()).isEmpty() and not rows.isEmpty():
        raise missing_order(kind)


def _value(order: FieldOrder) -> Column:
    """Return the column of rows that documents are ordered by."""
    name = order.metadata_name
    if name is None:
        return sf.col(order.field)
    return sf.try_element_at("metadata", sf.lit(name))


def _directions(kind: Principal | FieldOrder) -> Sequence[Column]:
    if not isinstance(kind, FieldOrder):
        return _ORDERS[kind]()
    return [sf.desc_nulls_last("value") if kind.is_descending else sf.asc_nulls_last("value")]


def count_quoted(parts: Batches) -> Batches:
    """Yield documents with the number of words that each quotes."""
    for part in parts:
        quoted = list(map(quoted_words, part.column("text").to_pylist()))
        yield batch(_QUOTED, [part.column("id"), quoted])


def rank_texts(work: Work, places: Stage) -> Stage:
    """Return texts with `rank` and `last`, the first and the last place of their documents."""
    first, last = sf.min("place").alias("rank"), sf.max("place").alias("last")
    texts = places.rows.groupBy("text").agg(first, last)
    return work.stage("ranked", {}, [places], lambda: texts)


def sum_similarities(
    work: Work,
    documents: OrderKey,
    sources: list[Stage],
    similar: Callable[[], DataFrame],
    settings: Mapping[str, Any],
    of_copies: float = 1.0,
) -> Stage:
    """Return for each text the sum of the similarities of its documents to all their matches.

    It is the sum of `indexer.clustering.principals.sum_similarities`, or `sum_equal_slots` with
    equal slots for similarities. `similar` makes the pairs of texts, with their similarity, from
    `sources`; `of_copies` is that of copies.
    """

    def make() -> DataFrame:
        pairs = similar()
        turned = pairs.select("right", "left", "similarity")
        both = pairs.union(turned).toDF("text", "other", "similarity")
        copies = documents.numbered.rows.select(sf.col("text").alias("other"), "copies")
        parts = both.join(copies, "other").select(
            "text", (sf.col("similarity") * sf.col("copies")).alias("part")
        )
        own = documents.numbered.rows.select(
            "text", ((sf.col("copies") - 1) * sf.lit(of_copies)).alias("part")
        )
        collected = parts.union(own).groupBy("text").agg(sf.collect_list("part").alias("parts"))
        return collected.mapInArrow(add_exactly, ddl(_SUMS))

    return work.stage("sums", settings, [documents.numbered, *sources], make)


def add_exactly(parts: Batches) -> Batches:
    """Yield the sum of each list, exactly rounded, so that it does not depend on the order."""
    for part in parts:
        totals = [math.fsum(values) for values in part.column("parts").to_pylist()]
        yield batch(_SUMS, [part.column("text"), totals])
