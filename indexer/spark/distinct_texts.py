"""Documents and their distinct texts as numbers, in the order that one machine gives them."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from indexer.matching.collection import KEYED
from indexer.recipe import Recipe
from indexer.spark.work_folder import Stage, Work


def number_texts(work: Work, rows: Stage, recipe: Recipe) -> Stage:
    """Return distinct normalised texts of documents that have keys.

    Columns: `text`, `key`, `first`, `minhash`, `simhash`, `copies`. `text` numbers them, with
    gaps, in the order of `first`, the least id of a document that
    carries it; the sketches are that document's.
    """

    def make() -> DataFrame:
        first = sf.min(sf.struct("id", "minhash", "simhash")).alias("first")
        distinct = (
            rows_with_keys(rows.rows, recipe)
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
            "copies",
        )

    return work.stage("texts", {}, [rows], make, lambda numbered: {"texts": numbered.count()})


def keyed_documents(work: Work, rows: Stage, numbered: Stage, recipe: Recipe) -> Stage:
    """Return documents that have keys: `id`, `text`, `status`, `words`, `modified`, `labels`."""

    def make() -> DataFrame:
        texts = numbered.rows.select("key", "text")
        documents = rows_with_keys(rows.rows, recipe).join(texts, "key")
        return documents.select("id", "text", "status", "words", "modified", "labels")

    return work.stage("members", {}, [rows, numbered], make)


def rows_with_keys(rows: DataFrame, recipe: Recipe) -> DataFrame:
    """Return the rows that have slots, with the `key` that identifies their text."""
    width = 4 * (recipe.slots or 0)
    has_slots = sf.col("status").isin(*KEYED) & (sf.length("minhash") == width)
    key = sf.when(sf.col("exact") != "", sf.col("exact")).otherwise(sf.col("id"))
    return rows.where(has_slots).drop("text").withColumn("key", key)


def text_contents(rows: DataFrame, numbered: DataFrame, needed: DataFrame) -> DataFrame:
    """Return the texts whose numbers are in the column `text` of `needed`.

    Columns: `text`, `content`, `minhash`, `simhash`.
    """
    sketches = numbered.select("text", "first", "minhash", "simhash")
    selected = sketches.join(needed.distinct(), "text", "left_semi")
    texts = rows.select(sf.col("id").alias("first"), sf.col("text").alias("content"))
    return selected.join(texts, "first").drop("first")
