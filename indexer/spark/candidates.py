"""Candidate pairs of texts over a cluster: texts that share a band, verified by their slots."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from indexer.joins.runs import pairs_in_runs
from indexer.joins.slot_counter import SlotCounter
from indexer.sketch.codec import unpack_slots
from indexer.sketch.keys import band_hashes
from indexer.sketch.plan import Plan
from indexer.spark.arrow_rows import Batches, Mapper, batch, ddl
from indexer.spark.work_folder import Stage, Work

_BAND = {"band": "int", "hash": "bigint", "text": "bigint", "rank": "bigint"}
_PAIR = {"left": "bigint", "right": "bigint"}
_SHARING = {**_PAIR, "equal": "int"}


def candidate_pairs(
    work: Work, ranked: Stage, layout: Plan, least: int, cap: int, slot_bytes: int
) -> Stage:
    """Return pairs of texts that share a band of this layout, with `least` equal slots or more.

    Columns: `left` < `right` and `equal`, the number of equal slots. `ranked` has
    `text`, `rank` (distinct numbers) and `minhash`, of `slot_bytes` a slot. A band value that more
    than `cap` texts share is hot: it pairs the text of least rank with all others. Hot values are
    counted first, in parts that are summed, so no task holds such a bucket; the others hold `cap`
    texts at most.
    `facts`: `candidates`, and what caps left out.
    """
    shape = {"bands": layout.bands, "rows": layout.rows, "cap": cap}
    hot = work.stage(
        "hot",
        shape,
        [ranked],
        lambda: _hot_bands(_band_rows(ranked.rows, layout, slot_bytes), cap),
        _count_capped,
    )
    candidates = work.stage(
        "candidates",
        shape,
        [ranked, hot],
        lambda: _distinct_pairs(ranked.rows, hot, layout, slot_bytes),
        _count_pairs,
    )
    verified = work.stage(
        "sharing",
        {"least": least},
        [ranked, candidates],
        lambda: _verified_pairs(candidates.rows, ranked.rows, least, slot_bytes),
    )
    return Stage(verified.digest, verified.rows, {**hot.facts, **candidates.facts})


def _band_rows(ranked: DataFrame, layout: Plan, slot_bytes: int) -> DataFrame:
    return ranked.select("text", "rank", "minhash").mapInArrow(
        band_mapper(layout.bands, layout.rows, slot_bytes), ddl(_BAND)
    )


def _hot_bands(banded: DataFrame, cap: int) -> DataFrame:
    """Return band values of more texts than the cap: `size` and `centre` (least rank)."""
    centre = sf.min(sf.struct("rank", "text")).alias("centre")
    hot = (
        banded.groupBy("band", "hash")
        .agg(sf.count("*").alias("size"), centre)
        .where(sf.col("size") > cap)
    )
    return hot.select("band", "hash", "size", sf.col("centre.text").alias("centre"))


def _count_capped(hot: DataFrame) -> dict[str, int]:
    left_out = sf.sum(((sf.col("size") - 1) * (sf.col("size") - 2) / 2).cast("bigint"))
    row = hot.agg(sf.count("*"), sf.max("size"), left_out).first() or (0, 0, 0)
    return {"hot_bands": row[0], "largest_band": row[1] or 0, "pairs_left_out": row[2] or 0}


def _distinct_pairs(ranked: DataFrame, hot: Stage, layout: Plan, slot_bytes: int) -> DataFrame:
    """Return the distinct pairs of the bands that are not hot, and of the stars of hot ones."""
    banded = _band_rows(ranked, layout, slot_bytes)
    hot_bands = sf.broadcast(hot.rows.select("band", "hash", "centre"))
    cold = banded
    if hot.facts["hot_bands"]:
        cold = banded.join(hot_bands, ["band", "hash"], "left_anti")
    buckets = (
        cold.groupBy("band", "hash")
        .agg(sf.collect_list("text").alias("texts"))
        .where(sf.size("texts") > 1)
    )
    pairs = buckets.select("texts").mapInArrow(pair_buckets, ddl(_PAIR))
    if hot.facts["hot_bands"]:
        stars = banded.join(hot_bands, ["band", "hash"]).where("text != centre")
        pairs = pairs.union(stars.select(sf.least("text", "centre"), sf.greatest("text", "centre")))
    return pairs.distinct()


def _count_pairs(pairs: DataFrame) -> dict[str, int]:
    return {"candidates": pairs.count()}


def _verified_pairs(pairs: DataFrame, ranked: DataFrame, least: int, slot_bytes: int) -> DataFrame:
    slots = ranked.select("text", "minhash")
    right = slots.withColumnsRenamed({"text": "right", "minhash": "right_slots"})
    left = slots.withColumnsRenamed({"text": "left", "minhash": "left_slots"})
    joined = pairs.join(right, "right").join(left, "left")
    return joined.mapInArrow(equal_slots_mapper(least, slot_bytes), ddl(_SHARING))


def band_mapper(count: int, rows: int, slot_bytes: int) -> Mapper:
    """Return a mapper that yields each text once for every band, with the hash of its slots."""

    def hash_bands(parts: Batches) -> Batches:
        for part in parts:
            hashes = band_hashes(slots_array(part.column("minhash"), slot_bytes), count, rows)
            text = np.repeat(part.column("text").to_numpy(), count)
            rank = np.repeat(part.column("rank").to_numpy(), count)
            band = np.tile(np.arange(count, dtype=np.int32), len(hashes))
            yield batch(_BAND, [band, hashes.ravel().view(np.int64), text, rank])

    return hash_bands


def pair_buckets(parts: Batches) -> Batches:
    """Yield all pairs of the texts of each bucket, the lower number first."""
    for part in parts:
        buckets = part.column("texts")
        members = buckets.flatten().to_numpy()
        sizes = np.diff(buckets.offsets.to_numpy()).astype(np.int64)
        for first, second in pairs_in_runs(np.cumsum(sizes) - sizes, sizes):
            a, b = members[first], members[second]
            yield batch(_PAIR, [np.minimum(a, b), np.maximum(a, b)])


def equal_slots_mapper(least: int, slot_bytes: int) -> Mapper:
    """Return a mapper that yields the pairs with `least` equal slots or more, and that number."""

    def count_equal(parts: Batches) -> Batches:
        for part in parts:
            size = part.num_rows
            left_slots = slots_array(part.column("left_slots"), slot_bytes)
            right_slots = slots_array(part.column("right_slots"), slot_bytes)
            slots = np.concatenate([left_slots, right_slots])
            places = np.arange(size, dtype=np.int32)
            rights = places + np.int32(size)
            similar, _, equal = SlotCounter(slots).at_least(places, rights, least)
            columns = [part.column(name).to_numpy()[similar] for name in _PAIR]
            yield batch(_SHARING, [*columns, equal.astype(np.int32)])

    return count_equal


def slots_array(packed: Any, slot_bytes: int) -> NDArray[Any]:
    """Return a column of packed slots, all of one width, as (n, slots)."""
    values = packed.to_pylist()
    width = len(values[0]) // slot_bytes if values else 0
    return unpack_slots(b"".join(values), slot_bytes).reshape(len(values), width)
