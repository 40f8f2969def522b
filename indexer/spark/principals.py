"""Principals over a cluster: the order of documents, and who becomes one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from indexer.comparing.criteria import COMPARED, Criteria, missing_field
from indexer.fingerprinting.fingerprint import SYMBOL_IN_NUMBER, rows_with_symbols
from indexer.grouping.group_options import (
    FieldOrder,
    Principal,
    missing_order,
    quoted_words,
    rounded_sum,
)
from indexer.model import COLUMNS_PATTERN, DIGITS, NO_FILES
from indexer.recipe import Recipe
from indexer.spark.arrow_rows import (
    ROW,
    Batches,
    Mapper,
    batch,
    ddl,
    pack_row,
    unpack_row,
    with_fields,
)
from indexer.spark.session import Stage, Work

# Documents and their distinct texts as numbers, in the order that one machine gives them.


def number_texts(
    work: Work,
    rows: Stage,
    recipe: Recipe,
    criteria: Criteria,
    statuses: tuple[str, ...] = COMPARED,
) -> Stage:
    """Return distinct texts, as criteria distinguish them. Texts of other `statuses` have no keys.

    Columns: `text`, `key`, `first`, `minhash`, `simhash`, `values`, `copies`. `text` numbers them,
    with gaps, in the order of `first`, the minimum id of a document that carries it; the sketches
    are that document's, null for a text without keys. `values`: what the rules of the criteria
    compare, as JSON. Raises `UsageError` for a field of which no document has a value.
    """

    def make() -> DataFrame:
        first = sf.min(sf.struct("id", "minhash", "simhash", "values")).alias("first")
        distinct = (
            rows_by_text(rows.rows, recipe, criteria, statuses)
            .groupBy("key")
            .agg(first, sf.count("*").alias("copies"))
            .orderBy("first.id")
        )
        number = sf.monotonically_increasing_id().alias("text")
        return distinct.select(
            number,
            "key",
            sf.col("first.id").alias("first"),
            "first.minhash",
            "first.simhash",
            "first.values",
            "copies",
        )

    settings: dict[str, Any] = {"criteria": asdict(criteria)} if criteria else {}
    if statuses != COMPARED:
        settings["statuses"] = list(statuses)
    numbered = work.stage("texts", settings, [rows], make, lambda rows: {"texts": rows.count()})
    _check_fields(numbered.rows, criteria)
    return numbered


def _check_fields(numbered: DataFrame, criteria: Criteria) -> None:
    """Raise `UsageError` for fields of the rules of which no text has a value."""
    values = sf.from_json("values", "array<string>")
    for index, field in enumerate(criteria.fields):
        has_value = values[index].isNotNull()
        if numbered.where(has_value).isEmpty() and not numbered.isEmpty():
            raise missing_field([field])


def keyed_documents(
    work: Work, rows: Stage, numbered: Stage, recipe: Recipe, criteria: Criteria
) -> Stage:
    """Return documents: `id`, `text`, `status`, `words`, `modified`, `labels`."""

    def make() -> DataFrame:
        texts = numbered.rows.select("key", "text")
        documents = rows_by_text(rows.rows, recipe, criteria).join(texts, "key")
        return documents.select("id", "text", "status", "words", "modified", "labels")

    return work.stage("members", {}, [rows, numbered], make)


def rows_by_text(
    rows: DataFrame, recipe: Recipe, criteria: Criteria, statuses: tuple[str, ...] = COMPARED
) -> DataFrame:
    """Return the rows with the `key` that identifies their text, and `minhash` of those with keys.

    The key is `Criteria.content_key` of `indexer.comparing.criteria`. Of a recipe that keeps at
    most 64 bits and no slots, `minhash` is their 8 bytes.
    """
    size = recipe.sketch_bytes
    has_slots = sf.col("status").isin(*statuses) & (sf.length("minhash") == size)
    sketch = sf.when(has_slots, sf.col("minhash"))
    if not size:
        has_bits = sf.col("status").isin(*statuses) & sf.col("simhash").isNotNull()
        sketch = sf.when(has_bits, sf.unhex(sf.lpad(sf.hex("simhash"), 16, "0")))
    whole = rows.select(*ROW)
    if not recipe.exact:
        whole = whole.mapInArrow(digests_with_symbols(recipe), ddl(ROW))
    fingerprinted = whole.withColumn("minhash", sketch)
    if criteria.decides_copies:
        columns = {**ROW, "key": "string", "values": "string"}
        return fingerprinted.mapInArrow(text_keys(criteria), ddl(columns)).drop("text")
    found = sf.regexp_extract_all("text", sf.lit(SYMBOL_IN_NUMBER), sf.lit(0))
    numbers = sf.transform(found, lambda number: sf.translate(number, "\u2044 ", "/"))
    signs = sf.array_join(numbers, " ")
    exact = sf.rtrim(sf.concat_ws(" ", "exact", signs))
    key = (
        sf.when((sf.col("chars") > 0) & (sf.col("exact") != ""), exact)
        .when(sf.col("raw") != "", sf.concat(sf.lit("bytes "), "raw"))
        .otherwise(sf.col("id"))
    )
    values = sf.lit("[]")
    if criteria.reads_embedded:
        files = sf.substring("embedded", 1, DIGITS)
        files = sf.when(files != NO_FILES, files).otherwise("")
        values = sf.to_json(sf.array(files, sf.regexp_extract("embedded", COLUMNS_PATTERN, 1)))
    return fingerprinted.withColumns({"key": key, "values": values}).drop("text")


def digests_with_symbols(recipe: Recipe) -> Mapper:
    """Return a mapper that gives rows digests that read symbols of value."""

    def digest(parts: Batches) -> Batches:
        for part in parts:
            yield from pack_row(rows_with_symbols(unpack_row(part), recipe))

    return digest


def text_keys(criteria: Criteria) -> Mapper:
    """Return a mapper that adds the `key` of each row's text, and the `values` of its rules."""

    def add_keys(parts: Batches) -> Batches:
        for part in parts:
            rows = list(unpack_row(part))
            keyed = with_fields(part, "key", "string", list(map(criteria.text_key, rows)))
            values = [json.dumps(criteria.values(row)) for row in rows]
            yield with_fields(keyed, "values", "string", values)

    return add_keys


def text_contents(rows: DataFrame, numbered: DataFrame, needed: DataFrame) -> DataFrame:
    """Return the texts whose numbers are in the column `text` of `needed`.

    Columns: `text`, `content`, `minhash`, `simhash`, `values`.
    """
    sketches = numbered.select("text", "first", "minhash", "simhash", "values")
    selected = sketches.join(needed.distinct(), "text", "left_semi")
    texts = rows.select(sf.col("id").alias("first"), sf.col("text").alias("content"))
    return selected.join(texts, "first").drop("first")


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
    """Return documents in principal order: `id`, `text` and `position`.

    Positions are distinct numbers, with gaps. Documents that are not complete come after all
    others; ties go by id. `central` needs `sums`: `text` and `sum`; they are 0 where `original` has
    none.
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
        return ordered.select("id", "text", sf.monotonically_increasing_id().alias("position"))

    sources = [documents.members] if sums is None else [documents.members, sums]
    if isinstance(kind, FieldOrder):
        return work.stage("ordered-field", {"order": str(kind)}, sources, make)
    return work.stage(f"ordered-{kind}", {}, sources, make)


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


def rank_texts(work: Work, positions: Stage) -> Stage:
    """Return texts with `rank` and `last`, the first and the last position of their documents."""
    first, last = sf.min("position").alias("rank"), sf.max("position").alias("last")
    texts = positions.rows.groupBy("text").agg(first, last)
    return work.stage("ranked", {}, [positions], lambda: texts)


def sum_similarities(
    work: Work,
    documents: OrderKey,
    sources: list[Stage],
    similar: Callable[[], DataFrame],
    settings: Mapping[str, Any],
    of_copies: float = 1.0,
) -> Stage:
    """Return for each text the sum of the similarities of its documents to all their matches.

    It is the sum of `indexer.grouping.principals.sum_similarities`, or `sum_equal_slots` with
    equal slots for similarities. `similar` makes the pairs of texts, with their similarity, from
    `sources`; `of_copies` is the value of copies.
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
    """Yield the `rounded_sum` of each list."""
    for part in parts:
        totals = list(map(rounded_sum, part.column("parts").to_pylist()))
        yield batch(_SUMS, [part.column("text"), totals])


# Principals over a cluster, the same as if all texts were visited one after the other.

EDGE = {"earlier": "bigint", "later": "bigint"}
MEASURED = {**EDGE, "similarity": "double"}
_LOST = {"later": "bigint"}
MeasureEdges = Callable[[DataFrame], DataFrame]


@dataclass(frozen=True, slots=True)
class PrincipalSteps:
    """Finder of the texts that are not principals, identified by their ranks.

    `measure` adds `similarity` to edges, `measure_name` is the name of the measure. `at_once`
    edges or fewer are left to one task.
    """

    work: Work
    measure: MeasureEdges
    threshold: float
    measure_name: str
    at_once: int

    def decide(self, edges: Stage) -> tuple[Stage, Stage]:
        """Return the texts that are similar to an earlier principal, and all measured edges.

        The column of the texts is `later`. `edges`: pairs that may be similar, of a text
        and a later one.
        """
        lost: list[Stage] = []
        measured: list[Stage] = []
        turn = 0
        while edges.facts["edges"] > self.at_once:
            turn += 1
            principals = self._stage(
                f"principals-{turn}", [edges], partial(current_principals, edges.rows)
            )
            measured.append(
                self._measured(
                    f"measured-{turn}", [edges, principals], _edges_from(edges, principals)
                )
            )
            lost.append(Stage(measured[-1].digest, self._too_similar(measured[-1].rows)))
            edges = self._undecided(f"undecided-{turn}", edges, principals, lost[-1])
        measured.append(self._measured("measured-last", [edges], edges.rows))
        lost.append(self._last(measured[-1]))
        return Stage(lost[-1].digest, _union(lost)), Stage(measured[-1].digest, _union(measured))

    @property
    def _settings(self) -> dict[str, Any]:
        return {"threshold": self.threshold, "measure": self.measure_name}

    def _stage(self, name: str, sources: list[Stage], make: Callable[[], DataFrame]) -> Stage:
        return self.work.stage(name, self._settings, sources, make)

    def _measured(self, name: str, sources: list[Stage], edges: DataFrame) -> Stage:
        return self._stage(name, sources, lambda: self.measure(edges))

    def _too_similar(self, measured: DataFrame) -> DataFrame:
        return measured.where(sf.col("similarity") >= self.threshold).select("later").distinct()

    def _undecided(self, name: str, edges: Stage, principals: Stage, lost: Stage) -> Stage:
        """Return the edges between texts that are not decided yet."""
        decided = principals.rows.toDF("text").union(lost.rows.toDF("text"))
        earlier, later = decided.toDF("earlier"), decided.toDF("later")
        rest = (
            edges.rows.join(earlier, "earlier", "left_anti")
            .join(later, "later", "left_anti")
            .select(*EDGE)
        )
        return self.work.stage(
            name, self._settings, [edges, principals, lost], lambda: rest, count_edges
        )

    def _last(self, measured: Stage) -> Stage:
        near = measured.rows.where(sf.col("similarity") >= self.threshold)
        ordered = near.coalesce(1).sortWithinPartitions("later", "earlier")
        return self._stage(
            "lost-last", [measured], lambda: ordered.mapInArrow(lost_texts, ddl(_LOST))
        )


def count_edges(edges: DataFrame) -> dict[str, int]:
    """Return the number of edges."""
    return {"edges": edges.count()}


def current_principals(edges: DataFrame) -> DataFrame:
    """Return the texts that later ones may join and that are similar to no undecided earlier one.

    Their column is `earlier`.
    """
    later = edges.select(sf.col("later").alias("earlier")).distinct()
    return edges.select("earlier").distinct().join(later, "earlier", "left_anti")


def _edges_from(edges: Stage, principals: Stage) -> DataFrame:
    return edges.rows.join(principals.rows, "earlier", "left_semi").select(*EDGE)


def _union(stages: list[Stage]) -> DataFrame:
    rows = stages[0].rows
    for stage in stages[1:]:
        rows = rows.unionByName(stage.rows)
    return rows


def lost_texts(parts: Batches) -> Batches:
    """Yield the texts that are not principals.

    The edges are similar enough, and sorted by the later text.
    """
    lost: set[int] = set()
    for part in parts:
        pairs = zip(*(part.column(name).to_pylist() for name in EDGE), strict=True)
        for earlier, later in pairs:
            if earlier not in lost:
                lost.add(later)
    yield batch(_LOST, [sorted(lost)])
