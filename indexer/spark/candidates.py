"""Candidate pairs of texts over a cluster: texts that share a band, a block, or words if short."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from indexer.joins.runs import find_runs, pairs_in_runs
from indexer.spark.arrow_rows import Batches, Mapper, batch, ddl
from indexer.spark.sharing import (
    HotKeys,
    Sharing,
    Sketches,
    close_hot,
    hot_keys,
    shares_key,
    star_pairs,
)
from indexer.spark.work_folder import Stage, Work

BAND = {"band": "int", "hash": "bigint", "text": "bigint", "rank": "bigint"}
BY_WORDS = -1  # the band of the keys of short texts
AT_ONCE = 1 << 16  # texts whose keys are counted together
TEXTS_A_PART = 1 << 20  # texts whose sketches a task compares, about

_PAIR = {"left": "bigint", "right": "bigint"}
_COUNTED = {**BAND, "size": "bigint"}
_PART = {"part": "int", "text": "bigint", "minhash": "binary"}
# A row of a task that counts its candidates has no pair.
_SHARING = {**_PAIR, "equal": "int", "candidates": "bigint"}


def candidate_pairs(
    work: Work, ranked: Stage, sharing: Sharing, cap: int, short: Stage | None = None
) -> Stage:
    """Return pairs of texts that share a band or block, with enough equal slots or bits.

    Columns: `left` < `right` and `equal`, the number of equal slots or bits; 0 of those found by
    their words alone, which slots do not rule out. `ranked` has `text`, `rank` (distinct numbers)
    and `minhash`, the sketch, and among its `facts` the number of `texts`; `short` the keys of
    short texts, in the band `BY_WORDS`. A value that more than `cap` texts share is hot: it pairs
    the text of least rank with all others. Hot values are counted first, in parts that are summed,
    so no task holds such a bucket. A task has the sketches of the texts that share its other
    values, and compares them there. `facts`: `candidates`, and what caps left out.
    """
    shape = {**sharing.shape, "cap": cap}
    sources = [ranked] if short is None else [ranked, short]
    hot = work.stage(
        "hot", shape, sources, lambda: _hot_values(ranked.rows, sharing, cap, short), _count_capped
    )

    def make() -> DataFrame:
        known = hot_keys(sharing, hot.rows.where(sf.col("band") != BY_WORDS).toArrow())
        near = _near_pairs(ranked, sharing, known)
        if short is None:
            return near
        pairs = _pairs_by_words(short.rows, hot)
        return near.union(_with_sketches(pairs, ranked.rows, sharing, known))

    stage = work.stage("sharing", {"least": sharing.least}, [*sources, hot], make, _count_pairs)
    pairs = stage.rows.where("left IS NOT NULL").drop("candidates")
    return Stage(stage.digest, pairs, {**hot.facts, **stage.facts})


def _hot_values(ranked: DataFrame, sharing: Sharing, cap: int, short: Stage | None) -> DataFrame:
    """Return values of more texts than the cap: `size`, `centre` (least rank), its `minhash`."""
    counted = _sketches(ranked).mapInArrow(value_counter(sharing), ddl(_COUNTED))
    if short is not None:
        counted = counted.union(short.rows.select(*BAND, sf.lit(1).cast("bigint")))
    hot = (
        counted.groupBy("band", "hash")
        .agg(sf.sum("size").alias("size"), sf.min(sf.struct("rank", "text")).alias("first"))
        .where(sf.col("size") > cap)
        .select("band", "hash", "size", sf.col("first.text").alias("centre"))
    )
    sketches = ranked.select(sf.col("text").alias("centre"), "minhash")
    return sketches.join(sf.broadcast(hot), "centre")


def _sketches(ranked: DataFrame) -> DataFrame:
    return ranked.select("text", "rank", "minhash")


def _count_capped(hot: DataFrame) -> dict[str, int]:
    left_out = sf.sum(((sf.col("size") - 1) * (sf.col("size") - 2) / 2).cast("bigint"))
    row = hot.agg(sf.count("*"), sf.max("size"), left_out).first() or (0, 0, 0)
    return {"hot_bands": row[0], "largest_band": row[1] or 0, "pairs_left_out": row[2] or 0}


def _count_pairs(pairs: DataFrame) -> dict[str, int]:
    row = pairs.agg(sf.sum("candidates")).first()
    return {"candidates": (row and row[0]) or 0}


def _near_pairs(ranked: Stage, sharing: Sharing, hot: HotKeys) -> DataFrame:
    """Return the pairs of the values that are not hot, and of the stars of hot ones."""
    spark = ranked.rows.sparkSession
    parts = -(-ranked.facts["texts"] * sharing.bands // TEXTS_A_PART)
    parts = max(parts, int(spark.conf.get("spark.sql.shuffle.partitions") or 1))
    spread = _sketches(ranked.rows).mapInArrow(part_mapper(sharing, hot, parts), ddl(_PART))
    compared = spread.repartitionById(parts, sf.col("part"))
    near = compared.mapInArrow(part_comparer(sharing, hot, parts), ddl(_SHARING))
    if not len(hot.values):
        return near
    return near.union(_sketches(ranked.rows).mapInArrow(star_mapper(sharing, hot), ddl(_SHARING)))


def _pairs_by_words(short: DataFrame, hot: Stage) -> DataFrame:
    """Return the distinct pairs of short texts that share words."""
    hot_words = sf.broadcast(hot.rows.where(sf.col("band") == BY_WORDS).select("hash", "centre"))
    buckets = (
        short.join(hot_words, "hash", "left_anti")
        .groupBy("hash")
        .agg(sf.collect_list("text").alias("texts"))
        .where(sf.size("texts") > 1)
    )
    pairs = buckets.select("texts").mapInArrow(pair_buckets, ddl(_PAIR))
    stars = short.join(hot_words, "hash").where("text != centre")
    ends = sf.least("text", "centre"), sf.greatest("text", "centre")
    return pairs.union(stars.select(*ends)).distinct()


def _with_sketches(
    pairs: DataFrame, ranked: DataFrame, sharing: Sharing, hot: HotKeys
) -> DataFrame:
    """Return the pairs by words that `_near_pairs` lacks."""
    slots = ranked.select("text", "minhash")
    right = slots.withColumnsRenamed({"text": "right", "minhash": "right_slots"})
    left = slots.withColumnsRenamed({"text": "left", "minhash": "left_slots"})
    joined = pairs.join(right, "right").join(left, "left")
    return joined.mapInArrow(word_pair_mapper(sharing, hot), ddl(_SHARING))


def value_counter(sharing: Sharing) -> Mapper:
    """Return a mapper that counts the texts of each band or block value, some of them together.

    Rows have `size`, and the `text` of least `rank`.
    """

    def count(parts: Batches) -> Batches:
        for columns in _gathered(parts, ("text", "rank"), sharing):
            text, rank, sketches = columns
            order = np.argsort(rank)
            text, rank = text[order], rank[order]
            for band, hashes in enumerate(sharing.keys(sketches)[order].T):
                by_hash = np.argsort(hashes, kind="stable")
                starts, sizes = find_runs(hashes[by_hash])
                first = by_hash[starts]
                bands = np.full(len(starts), band, dtype=np.int32)
                values = hashes[first].view(np.int64)
                yield batch(_COUNTED, [bands, values, text[first], rank[first], sizes])

    return count


def part_mapper(sharing: Sharing, hot: HotKeys, parts: int) -> Mapper:
    """Return a mapper that yields each text once for every part that has one of its values."""

    def spread(batches: Batches) -> Batches:
        for rows in batches:
            keys = sharing.keys(sharing.unpack(rows.column("minhash")))
            text, band = np.nonzero(hot.places(keys) < 0)
            is_in = np.zeros((len(keys), parts), dtype=np.bool_)
            is_in[text, (keys[text, band] % np.uint64(parts)).astype(np.intp)] = True
            places, part = np.nonzero(is_in)
            texts = rows.column("text").to_numpy()[places]
            sketches = rows.column("minhash").take(places)
            yield batch(_PART, [part.astype(np.int32), texts, sketches])

    return spread


def part_comparer(sharing: Sharing, hot: HotKeys, parts: int) -> Mapper:
    """Return a mapper of all rows of some parts to the pairs with enough equal slots or bits."""

    def compare(batches: Batches) -> Batches:
        rows = list(_gathered(batches, ("part", "text"), sharing, None))
        for part, text, sketches in rows:
            for number in np.unique(part):
                is_here = part == number
                yield from near(number, text[is_here], sketches[is_here])

    def near(part: int, text: NDArray[np.int64], sketches: Sketches) -> Iterator[Any]:
        order = np.argsort(text)
        text, sketches = text[order], sketches[order]
        keys = sharing.keys(sketches)
        places = hot.places(keys)
        is_open = (places < 0) & (keys % np.uint64(parts) == np.uint64(part))
        close, candidates = sharing.near(sketches, close_hot(keys, places, text), is_open)
        left, right = text[close[:, 0]], text[close[:, 1]]
        yield from _pair_batches(left, right, close[:, 2], candidates)

    return compare


def star_mapper(sharing: Sharing, hot: HotKeys) -> Mapper:
    """Return a mapper of texts to their pairs with the centres of hot values."""

    def pair(batches: Batches) -> Batches:
        for rows in batches:
            texts = rows.column("text").to_numpy()
            sketches = sharing.unpack(rows.column("minhash"))
            left, right, equal = star_pairs(sharing, hot, texts, sketches)
            near = equal >= sharing.least
            yield from _pair_batches(left[near], right[near], equal[near], len(left))

    return pair


def word_pair_mapper(sharing: Sharing, hot: HotKeys) -> Mapper:
    """Return a mapper of pairs by words to those that have too few equal slots, with 0 of them.

    Pairs that share a band as well are counted there.
    """

    def compare(batches: Batches) -> Batches:
        for rows in batches:
            left, right = (rows.column(name).to_numpy() for name in _PAIR)
            sketches = [sharing.unpack(rows.column(f"{name}_slots")) for name in _PAIR]
            keys = sharing.keys(sketches[0]), sharing.keys(sketches[1])
            is_shared = shares_key(hot, keys, (left, right))
            is_listed = is_shared & (sharing.equal(*sketches) >= sharing.least)
            left, right = left[~is_listed], right[~is_listed]
            equal = np.zeros(len(left), dtype=np.int32)
            yield from _pair_batches(left, right, equal, int(np.count_nonzero(~is_shared)))

    return compare


def pair_buckets(parts: Batches) -> Batches:
    """Yield all pairs of the texts of each bucket, the lower number first."""
    for part in parts:
        buckets = part.column("texts")
        members = buckets.flatten().to_numpy()
        sizes = np.diff(buckets.offsets.to_numpy()).astype(np.int64)
        for first, second in pairs_in_runs(np.cumsum(sizes) - sizes, sizes):
            a, b = members[first], members[second]
            yield batch(_PAIR, [np.minimum(a, b), np.maximum(a, b)])


def _gathered(
    batches: Batches, names: tuple[str, str], sharing: Sharing, most: int | None = AT_ONCE
) -> Iterator[tuple[NDArray[Any], NDArray[Any], Sketches]]:
    """Yield two columns and the sketches of some `most` rows together, or of all."""
    columns: list[tuple[Any, ...]] = []
    count = 0
    for rows in batches:
        first, second = (rows.column(name).to_numpy() for name in names)
        columns.append((first, second, sharing.unpack(rows.column("minhash"))))
        count += rows.num_rows
        if most is not None and count >= most:
            yield _concatenated(columns)
            columns, count = [], 0
    if count:
        yield _concatenated(columns)


def _concatenated(columns: list[tuple[Any, ...]]) -> tuple[Any, Any, Any]:
    first, second, sketches = (np.concatenate(column) for column in zip(*columns, strict=True))
    return first, second, sketches


def _pair_batches(
    left: NDArray[Any], right: NDArray[Any], equal: NDArray[Any], candidates: int
) -> Iterator[Any]:
    """Yield the pairs, and a row that counts the candidates among which they were."""
    nothing = np.zeros(len(left), dtype=np.int64)
    yield batch(_SHARING, [left, right, equal.astype(np.int32), nothing])
    yield batch(_SHARING, [[None], [None], [None], [candidates]])
