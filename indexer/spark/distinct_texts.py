"""Documents and their distinct texts as numbers, in the order that one machine gives them."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from indexer.comparing.criteria import COMPARED, Criteria, missing_field
from indexer.fingerprinting.fingerprint import SYMBOL_IN_NUMBER, rows_with_symbols
from indexer.model import DIGITS
from indexer.recipe import Recipe
from indexer.spark.arrow_rows import ROW, Batches, Mapper, ddl, pack_row, unpack_row, with_fields
from indexer.spark.session import Stage, Work


def number_texts(
    work: Work,
    rows: Stage,
    recipe: Recipe,
    criteria: Criteria,
    statuses: tuple[str, ...] = COMPARED,
) -> Stage:
    """Return distinct texts, as criteria distinguish them. Texts of other `statuses` have no keys.

    Columns: `text`, `key`, `first`, `minhash`, `simhash`, `values`, `copies`. `text` numbers them,
    with gaps, in the order of `first`, the least id of a document that carries it; the sketches are
    that document's, null for a text without keys. `values`: what the rules of the criteria compare,
    as JSON. Raises `UsageError` for a field of which no document has a value.
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
        values = sf.to_json(sf.array(sf.substring("embedded", 1, DIGITS)))
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
