"""Keys of short texts over a cluster, as `indexer.joins.short_texts` has them."""

from __future__ import annotations

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from indexer.grouping.group_options import GroupOptions
from indexer.joins.short_texts import FEW_WORDS, most_words, short_keys
from indexer.matching.match import MatchOptions
from indexer.recipe import Recipe
from indexer.sketch.sketch_options import has_bits_alone
from indexer.sketch.string_hashes import string_hashes
from indexer.sketch.word_features import number_occurrences
from indexer.spark.arrow_rows import Batches, Mapper, batch, ddl
from indexer.spark.hot_values import BAND, BY_WORDS
from indexer.spark.work_folder import Stage, Work
from indexer.text.normal_words import normal_words


def short_text_keys(
    work: Work,
    rows: Stage,
    numbered: Stage,
    ranked: Stage,
    recipe: Recipe,
    options: MatchOptions | GroupOptions,
) -> Stage | None:
    """Return the keys of the texts that short ones may resemble by `lcs`, in the band `BY_WORDS`.

    None by other measures and for bits, and where no text is short. `rows` has the documents,
    `numbered` the texts, `ranked` those with sketches and their ranks.
    """
    if options.measure != "lcs" or has_bits_alone(recipe):
        return None
    threshold = options.band_plan(recipe).threshold
    first = rows.rows.select(sf.col("id").alias("first"), "words", sf.col("text").alias("content"))
    texts = numbered.rows.where("minhash IS NOT NULL").select("text", "first")
    counted = texts.join(first.where(sf.col("words") <= most_words(threshold)), "first")
    if counted.where(sf.col("words") < FEW_WORDS).isEmpty():
        return None
    mapper = short_key_mapper(threshold)

    def make() -> DataFrame:
        ranks = ranked.rows.select("text", "rank")
        known = counted.select("text", "content").join(ranks, "text")
        return known.select("text", "rank", "content").mapInArrow(mapper, ddl(BAND))

    return work.stage("short", {"threshold": threshold}, [rows, numbered, ranked], make)


def short_key_mapper(threshold: float) -> Mapper:
    """Return a mapper that yields each text once for every key."""

    def add_keys(parts: Batches) -> Batches:
        for part in parts:
            columns = [part.column(name).to_pylist() for name in ("text", "rank", "content")]
            for text, rank, content in zip(*columns, strict=True):
                words = normal_words(content)
                hashes = string_hashes(words.vocabulary)[words.numbers]
                keys = short_keys(np.sort(number_occurrences(hashes))[None], threshold)[0]
                size = len(keys)
                bands = np.full(size, BY_WORDS, dtype=np.int32)
                texts, ranks = np.full(size, text), np.full(size, rank)
                yield batch(BAND, [bands, keys.view(np.int64), texts, ranks])

    return add_keys
