"""Documents and their distinct texts as numbers: what is joined is small, and ordered as one
machine orders it.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from indexer.matching.collection import KEYED
from indexer.recipe import Recipe
from indexer.spark.work_folder import Stage, Work


def texts(work: Work, rows: Stage, recipe: Recipe) -> Stage:
    """Distinct normalised texts of documents that have keys: `text`, `key`, `first`, `minhash`,
    `simhash`, `copies`.

    `text` numbers them, not without gaps, in the order of `first`, the least id of a document that
    carries it; the sketches are that document's.
    """

    def make() -> DataFrame:
        first = sf.min(sf.struct("id", "minhash", "simhash")).alias("first")
        found = (
            keyed(rows.rows, recipe)
            .groupBy("key")
            .agg(first, sf.count("*").alias("copies"))
            .orderBy("first.id")
        )
        number = sf.monotonically_increasing_id().alias("text")
        return found.select(
            number,
            "key",
            sf.col("first.id").alias("first"),
            "first.minhash",
            "first.simhash",
            "copies",
        )

    return work.stage("texts", {}, [rows], make, lambda made: {"texts": made.count()})


def members(work: Work, rows: Stage, numbered: Stage, recipe: Recipe) -> Stage:
    """Documents that have keys: `id`, `text`, `status`, `words`, `modified`, `labels`."""

    def make() -> DataFrame:
        found = keyed(rows.rows, recipe).join(numbered.rows.select("key", "text"), "key")
        return found.select("id", "text", "status", "words", "modified", "labels")

    return work.stage("members", {}, [rows, numbered], make)


def keyed(rows: DataFrame, recipe: Recipe) -> DataFrame:
    """The rows that have slots, with the `key` that tells their text."""
    width = 4 * (recipe.slots or 0)
    fit = sf.col("status").isin(*KEYED) & (sf.length("minhash") == width)
    return (
        rows.where(fit)
        .drop("text")
        .withColumn("key", sf.when(sf.col("exact") != "", sf.col("exact")).otherwise(sf.col("id")))
    )


def contents(rows: DataFrame, numbered: DataFrame, needed: DataFrame) -> DataFrame:
    """The texts whose numbers are in the column `text` of `needed`: `text`, `content`, `minhash`,
    `simhash`.
    """
    few = numbered.join(needed.distinct(), "text", "left_semi").select(
        "text", "first", "minhash", "simhash"
    )
    spelled = rows.select(sf.col("id").alias("first"), sf.col("text").alias("content"))
    return few.join(spelled, "first").drop("first")
