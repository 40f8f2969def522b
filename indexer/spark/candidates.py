"""Candidate pairs of texts over a cluster: texts that share a band, a block, or words if short."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from indexer.joins.bit_tables import bit_words, bits_apart, block_hashes
from indexer.joins.runs import pairs_in_runs
from indexer.joins.slot_counter import SlotCounter
from indexer.recipe import Recipe
from indexer.sketch.blocks import design_for, tables
from indexer.sketch.codec import unpack_slots
from indexer.sketch.keys import band_hashes
from indexer.sketch.plan import Plan
from indexer.sketch.sketch_options import equal_parts, sketch_size
from indexer.spark.arrow_rows import Batches, Mapper, batch, ddl
from indexer.spark.work_folder import Stage, Work

BAND = {"band": "int", "hash": "bigint", "text": "bigint", "rank": "bigint"}
BY_WORDS = -1  # the band of the keys of short texts
_PAIR = {"left": "bigint", "right": "bigint"}
_CANDIDATE = {**_PAIR, "by_words": "boolean"}
_SHARING = {**_PAIR, "equal": "int"}


@dataclass(frozen=True, slots=True)
class Sharing:
    """The bands or blocks that similar texts share.

    `shape`: its settings, by which stages are told apart. `spread` yields each text once for every
    band or block, with a hash; `count_equal` yields the pairs that have enough equal slots or bits.
    """

    shape: Mapping[str, int]
    spread: Mapper
    count_equal: Mapper
    least: int


def share_bands(layout: Plan, least: int, slot_bytes: int) -> Sharing:
    """Return bands of this layout, with `least` equal slots or more, of `slot_bytes` each."""
    shape = {"bands": layout.bands, "rows": layout.rows}
    spread = band_mapper(layout.bands, layout.rows, slot_bytes)
    return Sharing(shape, spread, equal_slots_mapper(least, slot_bytes), least)


def share_blocks(recipe: Recipe, threshold: float) -> Sharing:
    """Return blocks of bits that no pair at a threshold lacks, as one machine has them."""
    bits = sketch_size(recipe)
    least = equal_parts(recipe, threshold)
    design = design_for(bits, bits - least)
    shape = {"bits": bits, "tables": design.tables, "distance": bits - least}
    return Sharing(shape, block_mapper(tables(design)), equal_bits_mapper(least, bits), least)


def candidate_pairs(
    work: Work, ranked: Stage, sharing: Sharing, cap: int, short: Stage | None = None
) -> Stage:
    """Return pairs of texts that share a band or block, with enough equal slots or bits.

    Columns: `left` < `right` and `equal`, the number of equal slots or bits; 0 of those found by
    their words alone, which slots do not rule out. `ranked` has `text`, `rank` (distinct numbers)
    and `minhash`, the sketch; `short` the keys of short texts, in the band `BY_WORDS`. A band value
    that more than `cap` texts share is hot: it pairs the text of least rank with all others. Hot
    values are counted first, in parts that are summed, so no task holds such a bucket; the others
    hold `cap` texts at most. `facts`: `candidates`, and what caps left out.
    """
    shape = {**sharing.shape, "cap": cap}
    sources = [ranked] if short is None else [ranked, short]
    hot = work.stage(
        "hot",
        shape,
        sources,
        lambda: _hot_bands(_band_rows(ranked.rows, sharing, short), cap),
        _count_capped,
    )
    candidates = work.stage(
        "candidates",
        shape,
        [*sources, hot],
        lambda: _distinct_pairs(_band_rows(ranked.rows, sharing, short), hot),
        _count_pairs,
    )
    verified = work.stage(
        "sharing",
        {"least": sharing.least},
        [ranked, candidates],
        lambda: _verified_pairs(candidates.rows, ranked.rows, sharing),
    )
    return Stage(verified.digest, verified.rows, {**hot.facts, **candidates.facts})


def _band_rows(ranked: DataFrame, sharing: Sharing, short: Stage | None) -> DataFrame:
    bands = ranked.select("text", "rank", "minhash").mapInArrow(sharing.spread, ddl(BAND))
    return bands if short is None else bands.union(short.rows.select(*BAND))


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


def _distinct_pairs(banded: DataFrame, hot: Stage) -> DataFrame:
    """Return the distinct pairs of the bands that are not hot, and of the stars of hot ones.

    `by_words` says which share words as short texts do, `alone` those that share no band.
    """
    hot_bands = sf.broadcast(hot.rows.select("band", "hash", "centre"))
    cold = banded
    if hot.facts["hot_bands"]:
        cold = banded.join(hot_bands, ["band", "hash"], "left_anti")
    buckets = (
        cold.groupBy("band", "hash")
        .agg(sf.collect_list("text").alias("texts"))
        .where(sf.size("texts") > 1)
    )
    pairs = buckets.select("band", "texts").mapInArrow(pair_buckets, ddl(_CANDIDATE))
    if hot.facts["hot_bands"]:
        stars = banded.join(hot_bands, ["band", "hash"]).where("text != centre")
        ends = sf.least("text", "centre"), sf.greatest("text", "centre")
        pairs = pairs.union(stars.select(*ends, sf.col("band") == BY_WORDS))
    return pairs.groupBy(*_PAIR).agg(
        sf.max("by_words").alias("by_words"), sf.min("by_words").alias("alone")
    )


def _count_pairs(pairs: DataFrame) -> dict[str, int]:
    return {"candidates": pairs.count()}


def _verified_pairs(pairs: DataFrame, ranked: DataFrame, sharing: Sharing) -> DataFrame:
    slots = ranked.select("text", "minhash")
    right = slots.withColumnsRenamed({"text": "right", "minhash": "right_slots"})
    left = slots.withColumnsRenamed({"text": "left", "minhash": "left_slots"})
    joined = pairs.join(right, "right").join(left, "left")
    return joined.mapInArrow(sharing.count_equal, ddl(_SHARING))


def band_mapper(count: int, rows: int, slot_bytes: int) -> Mapper:
    """Return a mapper that yields each text once for every band, with the hash of its slots."""

    def hash_bands(parts: Batches) -> Batches:
        for part in parts:
            hashes = band_hashes(slots_array(part.column("minhash"), slot_bytes), count, rows)
            text = np.repeat(part.column("text").to_numpy(), count)
            rank = np.repeat(part.column("rank").to_numpy(), count)
            band = np.tile(np.arange(count, dtype=np.int32), len(hashes))
            yield batch(BAND, [band, hashes.ravel().view(np.int64), text, rank])

    return hash_bands


def block_mapper(masks: Sequence[int]) -> Mapper:
    """Return a mapper that yields each text once for every table, with the hash of its block."""

    def hash_blocks(parts: Batches) -> Batches:
        for part in parts:
            words = bit_words(slots_array(part.column("minhash"), 1))
            hashes = np.stack([block_hashes(words, mask) for mask in masks], axis=1)
            text = np.repeat(part.column("text").to_numpy(), len(masks))
            rank = np.repeat(part.column("rank").to_numpy(), len(masks))
            table = np.tile(np.arange(len(masks), dtype=np.int32), len(hashes))
            yield batch(BAND, [table, hashes.ravel().astype(np.int64), text, rank])

    return hash_blocks


def pair_buckets(parts: Batches) -> Batches:
    """Yield all pairs of the texts of each bucket, the lower number first."""
    for part in parts:
        buckets = part.column("texts")
        members = buckets.flatten().to_numpy()
        by_words = part.column("band").to_numpy() == BY_WORDS
        sizes = np.diff(buckets.offsets.to_numpy()).astype(np.int64)
        has_words = np.repeat(by_words, sizes)
        for first, second in pairs_in_runs(np.cumsum(sizes) - sizes, sizes):
            a, b = members[first], members[second]
            yield batch(_CANDIDATE, [np.minimum(a, b), np.maximum(a, b), has_words[first]])


def equal_slots_mapper(least: int, slot_bytes: int) -> Mapper:
    """Return a mapper that yields the pairs with `least` equal slots or more, and that number.

    Those that share words, and otherwise are not among them, have 0.
    """

    def count_equal(parts: Batches) -> Batches:
        for part in parts:
            size = part.num_rows
            left_slots = slots_array(part.column("left_slots"), slot_bytes)
            right_slots = slots_array(part.column("right_slots"), slot_bytes)
            slots = np.concatenate([left_slots, right_slots])
            places = np.arange(size, dtype=np.int32)
            rights = places + np.int32(size)
            similar, _, counts = SlotCounter(slots).at_least(places, rights, least)
            equal = np.zeros(size, dtype=np.int32)
            equal[similar] = counts
            equal[np.array(part.column("alone").to_pylist(), dtype=bool)] = 0
            by_words = np.array(part.column("by_words").to_pylist(), dtype=bool)
            is_kept = (equal > 0) | by_words
            columns = [part.column(name).to_numpy()[is_kept] for name in _PAIR]
            yield batch(_SHARING, [*columns, equal[is_kept]])

    return count_equal


def equal_bits_mapper(least: int, bits: int) -> Mapper:
    """Return a mapper that yields the pairs with `least` equal bits or more, and that number."""

    def count_equal(parts: Batches) -> Batches:
        for part in parts:
            sides = (part.column(f"{side}_slots") for side in _PAIR)
            left, right = (bit_words(slots_array(side, 1)) for side in sides)
            equal = bits - bits_apart(left, right)
            near = equal >= least
            columns = [part.column(name).to_numpy()[near] for name in _PAIR]
            yield batch(_SHARING, [*columns, equal[near].astype(np.int32)])

    return count_equal


def slots_array(packed: Any, slot_bytes: int) -> NDArray[Any]:
    """Return a column of packed slots, all of one width, as (n, slots)."""
    values = packed.to_pylist()
    width = len(values[0]) // slot_bytes if values else 0
    return unpack_slots(b"".join(values), slot_bytes).reshape(len(values), width)
