"""Candidate pairs of texts over a cluster: those that share a band, hot bands as stars, judged by
their slots.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from indexer.joins.runs import pairs_in_runs
from indexer.joins.slot_counter import SlotCounter
from indexer.sketch.keys import band_hashes
from indexer.sketch.plan import Plan
from indexer.spark.arrow_rows import Batches, Mapper, batch, ddl
from indexer.spark.work_folder import Stage, Work

_BAND = {"band": "int", "hash": "bigint", "text": "bigint", "rank": "bigint"}
_PAIR = {"left": "bigint", "right": "bigint"}
_SHARING = {**_PAIR, "equal": "int"}


def sharing(work: Work, ranked: Stage, layout: Plan, least: int, cap: int) -> Stage:
    """Pairs of texts that share a band of this layout, `left` < `right`, and their `equal` slots,
    `least` or more.

    `ranked` has `text`, `rank` (distinct numbers) and `minhash`. A band value that more than `cap`
    texts share is hot: it pairs the text of least rank with all others. What is hot is counted
    first, in parts that are summed, so no task holds such a bucket; the others hold `cap` texts at
    most. `facts`: `candidates`, and what caps left out.
    """
    shape = {"bands": layout.bands, "rows": layout.rows, "cap": cap}
    hot = work.stage(
        "hot", shape, [ranked], lambda: _hot(_banded(ranked.rows, layout), cap), _capped
    )
    found = work.stage(
        "candidates", shape, [ranked, hot], lambda: _candidates(ranked.rows, hot, layout), _number
    )
    judged = work.stage(
        "sharing",
        {"least": least},
        [ranked, found],
        lambda: _judged(found.rows, ranked.rows, least),
    )
    return Stage(judged.digest, judged.rows, {**hot.facts, **found.facts})


def _banded(ranked: DataFrame, layout: Plan) -> DataFrame:
    return ranked.select("text", "rank", "minhash").mapInArrow(
        bands(layout.bands, layout.rows), ddl(_BAND)
    )


def _hot(banded: DataFrame, cap: int) -> DataFrame:
    """Band values of more texts than the cap: `size`, and the `centre`, the text of least rank."""
    centre = sf.min(sf.struct("rank", "text")).alias("centre")
    found = (
        banded.groupBy("band", "hash")
        .agg(sf.count("*").alias("size"), centre)
        .where(sf.col("size") > cap)
    )
    return found.select("band", "hash", "size", sf.col("centre.text").alias("centre"))


def _capped(hot: DataFrame) -> dict[str, int]:
    left_out = sf.sum(((sf.col("size") - 1) * (sf.col("size") - 2) / 2).cast("bigint"))
    row = hot.agg(sf.count("*"), sf.max("size"), left_out).first() or (0, 0, 0)
    return {"hot_bands": row[0], "largest_band": row[1] or 0, "pairs_left_out": row[2] or 0}


def _candidates(ranked: DataFrame, hot: Stage, layout: Plan) -> DataFrame:
    """Distinct pairs of the bands that are not hot, and of the stars."""
    banded = _banded(ranked, layout)
    few = sf.broadcast(hot.rows.select("band", "hash", "centre"))
    cold = banded.join(few, ["band", "hash"], "left_anti") if hot.facts["hot_bands"] else banded
    buckets = (
        cold.groupBy("band", "hash")
        .agg(sf.collect_list("text").alias("texts"))
        .where(sf.size("texts") > 1)
    )
    pairs = buckets.select("texts").mapInArrow(paired, ddl(_PAIR))
    if hot.facts["hot_bands"]:
        stars = banded.join(few, ["band", "hash"]).where("text != centre")
        pairs = pairs.union(stars.select(sf.least("text", "centre"), sf.greatest("text", "centre")))
    return pairs.distinct()


def _number(pairs: DataFrame) -> dict[str, int]:
    return {"candidates": pairs.count()}


def _judged(pairs: DataFrame, ranked: DataFrame, least: int) -> DataFrame:
    slots = ranked.select("text", "minhash")
    right = slots.withColumnsRenamed({"text": "right", "minhash": "right_slots"})
    left = slots.withColumnsRenamed({"text": "left", "minhash": "left_slots"})
    joined = pairs.join(right, "right").join(left, "left")
    return joined.mapInArrow(counts(least), ddl(_SHARING))


def bands(count: int, rows: int) -> Mapper:
    """Each text once for every band, with the hash of its slots there."""

    def spell(parts: Batches) -> Batches:
        for part in parts:
            hashes = band_hashes(slots_of(part.column("minhash")), count, rows)
            text, rank = (
                np.repeat(part.column(name).to_numpy(), count) for name in ("text", "rank")
            )
            band = np.tile(np.arange(count, dtype=np.int32), len(hashes))
            yield batch(_BAND, [band, hashes.ravel().view(np.int64), text, rank])

    return spell


def paired(parts: Batches) -> Batches:
    """All pairs of the texts of each bucket, the lower number first."""
    for part in parts:
        buckets = part.column("texts")
        members = buckets.flatten().to_numpy()
        sizes = np.diff(buckets.offsets.to_numpy()).astype(np.int64)
        for first, second in pairs_in_runs(np.cumsum(sizes) - sizes, sizes):
            a, b = members[first], members[second]
            yield batch(_PAIR, [np.minimum(a, b), np.maximum(a, b)])


def counts(least: int) -> Mapper:
    """The pairs with `least` equal slots or more, and how many are equal."""

    def count(parts: Batches) -> Batches:
        for part in parts:
            size = part.num_rows
            slots = np.concatenate(
                [slots_of(part.column("left_slots")), slots_of(part.column("right_slots"))]
            )
            places = np.arange(size, dtype=np.int32)
            kept, _, equal = SlotCounter(slots).at_least(places, places + np.int32(size), least)
            columns = [part.column(name).to_numpy()[kept] for name in _PAIR]
            yield batch(_SHARING, [*columns, equal.astype(np.int32)])

    return count


def slots_of(packed: Any) -> NDArray[np.uint32]:
    """A column of packed slots, all of one width, as (n, slots) uint32."""
    values = packed.to_pylist()
    width = len(values[0]) // 4 if values else 0
    return (
        np.frombuffer(b"".join(values), dtype=">u4").astype(np.uint32).reshape(len(values), width)
    )
