"""Hot values over a cluster: those of bands or blocks that more texts share than the cap allows."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from indexer.joins.runs import find_runs
from indexer.spark.arrow_rows import Batches, Mapper, batch, ddl
from indexer.spark.sharing import Sharing, gathered
from indexer.spark.work_folder import Stage, Work

BAND = {"band": "int", "hash": "bigint", "text": "bigint", "rank": "bigint"}
BY_WORDS = -1  # the band of the keys of short texts
FEWEST_BUCKETS = 1 << 12

_COUNTED = {**BAND, "size": "bigint"}
# Of a band, the count of each bucket or a flag for each, as the bytes of an array.
_BUCKETS = {"band": "int", "buckets": "binary"}
_COUNT = np.dtype("<u4")

Crowded: TypeAlias = NDArray[np.bool_]
"""(bands, buckets): the buckets of values that hold more texts than the cap."""


def hot_values(
    work: Work, ranked: Stage, sharing: Sharing, cap: int, short: Stage | None = None
) -> Stage:
    """Return the values of more texts than the cap.

    Columns: `band`, `hash`, `size`, `centre` (the text of least rank) and the `minhash` of that
    text. `ranked` and `short` are as `candidate_pairs` has them. Texts are first counted by the
    remainders of their values (`crowded_buckets`), which needs no row for each value; only values
    of buckets that hold more texts than the cap are counted one by one, in parts that are summed.
    `facts`: the number of hot values, the largest, and the pairs that the cap leaves out.
    """
    shape = {**sharing.shape, "cap": cap}
    sources = [ranked] if short is None else [ranked, short]

    def make() -> DataFrame:
        crowded = crowded_buckets(ranked, sharing, cap)
        return _hot_values(ranked.rows, sharing, crowded, cap, short)

    return work.stage("hot", shape, sources, make, _count_capped)


def crowded_buckets(ranked: Stage, sharing: Sharing, cap: int) -> Crowded:
    """Return which remainders of the values of each band belong to more texts than the cap.

    So many buckets that one has at most half of the cap on average.
    """
    texts = ranked.facts["texts"]
    buckets = max(FEWEST_BUCKETS, 1 << (2 * texts // cap).bit_length())
    crowded = np.zeros((sharing.bands, buckets), dtype=np.bool_)
    if texts <= cap:
        return crowded
    counted = ranked.rows.mapInArrow(bucket_counter(sharing, buckets), ddl(_BUCKETS))
    summed = counted.repartition("band").mapInArrow(bucket_summer(cap), ddl(_BUCKETS))
    for row in summed.collect():
        flags = np.frombuffer(row["buckets"], dtype=np.uint8)
        crowded[row["band"]] = np.unpackbits(flags, count=buckets).astype(np.bool_)
    return crowded


def bucket_counter(sharing: Sharing, buckets: int) -> Mapper:
    """Return a mapper of texts to their number in each bucket: one row for each band."""

    def count(batches: Batches) -> Batches:
        counts = np.zeros((sharing.bands, buckets), dtype=_COUNT)
        for _, _, sketches in gathered(batches, sharing):
            places = (sharing.keys(sketches) % np.uint64(buckets)).astype(np.intp)
            for band in range(sharing.bands):
                counts[band] += np.bincount(places[:, band], minlength=buckets).astype(_COUNT)
        bands = np.arange(sharing.bands, dtype=np.int32)
        yield batch(_BUCKETS, [bands, [row.tobytes() for row in counts]])

    return count


def bucket_summer(cap: int) -> Mapper:
    """Return a mapper of the counts of some bands to flags of the buckets above the cap."""

    def add(batches: Batches) -> Batches:
        sums: dict[int, NDArray[np.int64]] = {}
        for rows in batches:
            for row in rows.to_pylist():
                counts = np.frombuffer(row["buckets"], dtype=_COUNT).astype(np.int64)
                sums[row["band"]] = sums.get(row["band"], np.int64(0)) + counts
        flags = [np.packbits(counts > cap).tobytes() for counts in sums.values()]
        yield batch(_BUCKETS, [np.array(list(sums), dtype=np.int32), flags])

    return add


def _hot_values(
    ranked: DataFrame, sharing: Sharing, crowded: Crowded, cap: int, short: Stage | None
) -> DataFrame:
    counted = ranked.mapInArrow(value_counter(sharing, crowded), ddl(_COUNTED))
    if short is not None:
        counted = counted.union(short.rows.select(*BAND, sf.lit(1).cast("bigint")))
    hot = (
        counted.groupBy("band", "hash")
        .agg(sf.sum("size").alias("size"), sf.min(sf.struct("rank", "text")).alias("first"))
        .where(sf.col("size") > cap)
        .select("band", "hash", "size", sf.col("first.text").alias("centre"))
    )
    centres = ranked.select(sf.col("text").alias("centre"), "minhash")
    return centres.join(sf.broadcast(hot), "centre")


def value_counter(sharing: Sharing, crowded: Crowded) -> Mapper:
    """Return a mapper that counts the texts of each value in a crowded bucket, some together.

    Rows have `size`, and the `text` of least `rank`.
    """
    buckets = np.uint64(crowded.shape[1])

    def count(parts: Batches) -> Batches:
        if not crowded.any():
            return
        for text, rank, sketches in gathered(parts, sharing):
            keys = sharing.keys(sketches)
            for band, flags in enumerate(crowded):
                places = np.flatnonzero(flags[(keys[:, band] % buckets).astype(np.intp)])
                places = places[np.lexsort((rank[places], keys[places, band]))]
                hashes = keys[places, band]
                starts, sizes = find_runs(hashes)
                first = places[starts]
                bands = np.full(len(starts), band, dtype=np.int32)
                values = hashes[starts].view(np.int64)
                yield batch(_COUNTED, [bands, values, text[first], rank[first], sizes])

    return count


def _count_capped(hot: DataFrame) -> dict[str, int]:
    left_out = sf.sum(((sf.col("size") - 1) * (sf.col("size") - 2) / 2).cast("bigint"))
    row = hot.agg(sf.count("*"), sf.max("size"), left_out).first() or (0, 0, 0)
    return {"hot_bands": row[0], "largest_band": row[1] or 0, "pairs_left_out": row[2] or 0}
