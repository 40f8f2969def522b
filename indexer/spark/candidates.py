"""Candidate pairs of texts over a cluster: texts that share a band, a block, or words if short."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from indexer.fingerprinting.hashing import distinct_values
from indexer.spark.arrow_rows import Batches, Mapper, batch, ddl
from indexer.spark.bands import (
    BY_WORDS,
    Flags,
    FrequentKeys,
    Sharing,
    Sketches,
    close_frequent,
    frequent_keys,
    frequent_values,
    gathered,
    shares_key,
    star_pairs,
)
from indexer.spark.session import Stage, Work
from indexer.system.external_memory import find_runs, pairs_in_runs

TEXTS_A_PART = 1 << 19  # texts whose sketches a task compares, about
ROUND_BYTES = 3 << 30  # bytes of sketches that are sent between tasks at a time, for each core

_PAIR = {"left": "bigint", "right": "bigint"}
# Texts of a part: their numbers, sketches and frequent bands, each as the bytes of an array.
_PART = {"part": "int", "texts": "binary", "sketches": "binary", "frequent": "binary"}
# A row of a task that counts its candidates has no pair.
_SHARING = {**_PAIR, "equal": "int", "candidates": "bigint"}


def candidate_pairs(
    work: Work, ranked: Stage, sharing: Sharing, cap: int, short: Stage | None = None
) -> Stage:
    """Return pairs of texts that share a band or block, with enough equal slots or bits.

    Columns: `left` < `right` and `equal`, the number of equal slots or bits; 0 of those found by
    their words alone, which slots do not rule out. `ranked` has `text`, `rank` (distinct numbers)
    and `minhash`, the sketch, and among its `facts` the number of `texts`; `short` the keys of
    short texts, in the band `BY_WORDS`. A value that more than `cap` texts share is frequent: it
    pairs the text of minimum rank with all others. A task has the sketches of the texts that share
    its other values, and compares them there; they are sent to tasks in rounds, each of which is a
    stage, so that what is sent at a time fits on disk. `facts`: `candidates`, and what caps left
    out.
    """
    columns = ranked.rows.select("text", "rank", "minhash")
    ranked = Stage(ranked.digest, columns, ranked.facts)
    frequent = frequent_values(work, ranked, sharing, cap, short)
    known = frequent_keys(sharing, frequent.rows.where(sf.col("band") != BY_WORDS).toArrow())
    parts, rounds = _parts_and_rounds(ranked, sharing)
    sources = [ranked, frequent] if short is None else [ranked, frequent, short]

    def make(number: int) -> DataFrame:
        pairs = _near_pairs(ranked.rows, sharing, known, parts, (number, rounds))
        if number == 0 and len(known.values):
            stars = ranked.rows.mapInArrow(star_mapper(sharing, known), ddl(_SHARING))
            pairs = pairs.union(stars)
        if number == 0 and short is not None:
            by_words = _pairs_by_words(short.rows, frequent)
            pairs = pairs.union(_with_sketches(by_words, ranked.rows, sharing, known))
        return pairs

    stages = []
    for number in range(rounds):
        settings = {"min_equal": sharing.min_equal, "parts": parts, "round": [number, rounds]}
        stages.append(work.stage("sharing", settings, sources, partial(make, number), _count_pairs))
    rows = reduce(DataFrame.union, [stage.rows for stage in stages])
    pairs = rows.where("left IS NOT NULL").drop("candidates")
    candidates = sum(stage.facts["candidates"] for stage in stages)
    return Stage(stages[-1].digest, pairs, {**frequent.facts, "candidates": candidates})


def _parts_and_rounds(ranked: Stage, sharing: Sharing) -> tuple[int, int]:
    """Return into how many parts values are dealt, and in how many rounds these are compared."""
    context = ranked.rows.sparkSession.sparkContext
    minimum = int(ranked.rows.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
    copies = ranked.facts["texts"] * sharing.bands
    parts = max(-(-copies // TEXTS_A_PART), minimum)
    sent = copies * sharing.sketch_bytes
    rounds = -(-sent // (ROUND_BYTES * context.defaultParallelism))
    return parts, max(rounds, 1)


def _count_pairs(pairs: DataFrame) -> dict[str, int]:
    row = pairs.agg(sf.sum("candidates")).first()
    return {"candidates": (row and row[0]) or 0}


def _near_pairs(
    ranked: DataFrame, sharing: Sharing, frequent: FrequentKeys, parts: int, turn: tuple[int, int]
) -> DataFrame:
    """Return the pairs of the values that are not frequent, of the parts of one round.

    `turn`: the number of the round, and of all rounds.
    """
    spread = ranked.mapInArrow(part_mapper(sharing, frequent, parts, turn), ddl(_PART))
    number, rounds = turn
    tasks = len(range(number, parts, rounds))
    position = ((sf.col("part") - number) / rounds).cast("int")
    return spread.repartitionById(tasks, position).mapInArrow(
        part_comparer(sharing, parts), ddl(_SHARING)
    )


def _pairs_by_words(short: DataFrame, frequent: Stage) -> DataFrame:
    """Return the distinct pairs of short texts that share words."""
    frequent_words = sf.broadcast(
        frequent.rows.where(sf.col("band") == BY_WORDS).select("hash", "centre")
    )
    buckets = (
        short.join(frequent_words, "hash", "left_anti")
        .groupBy("hash")
        .agg(sf.collect_list("text").alias("texts"))
        .where(sf.size("texts") > 1)
    )
    pairs = buckets.select("texts").mapInArrow(pair_buckets, ddl(_PAIR))
    stars = short.join(frequent_words, "hash").where("text != centre")
    ends = sf.least("text", "centre"), sf.greatest("text", "centre")
    return pairs.union(stars.select(*ends)).distinct()


def _with_sketches(
    pairs: DataFrame, ranked: DataFrame, sharing: Sharing, frequent: FrequentKeys
) -> DataFrame:
    """Return the pairs by words that `_near_pairs` lacks."""
    slots = ranked.select("text", "minhash")
    right = slots.withColumnsRenamed({"text": "right", "minhash": "right_slots"})
    left = slots.withColumnsRenamed({"text": "left", "minhash": "left_slots"})
    joined = pairs.join(right, "right").join(left, "left")
    return joined.mapInArrow(word_pair_mapper(sharing, frequent), ddl(_SHARING))


def part_mapper(
    sharing: Sharing, frequent: FrequentKeys, parts: int, turn: tuple[int, int]
) -> Mapper:
    """Return a mapper that yields each text once for every part that has one of its values.

    A value that is not frequent belongs to the part of its remainder. `turn`: the number of the
    round and of all rounds; only the parts of this round are yielded. A row has all texts of a part
    among some thousands.
    """
    number, rounds = turn

    def spread(batches: Batches) -> Batches:
        for texts, _, sketches in gathered(batches, sharing):
            keys = sharing.keys(sketches)
            is_frequent = frequent.positions(keys) >= 0
            part = (keys % np.uint64(parts)).astype(np.int64)
            row, band = np.nonzero(~is_frequent & (part % rounds == number))
            if not len(row):
                continue
            positions = distinct_values(part[row, band] * len(texts) + row)
            part, row = np.divmod(positions, len(texts))
            starts, sizes = find_runs(part)
            flags = np.packbits(is_frequent, axis=1)
            rows = [row[start : start + size] for start, size in zip(starts, sizes, strict=True)]
            columns = [_bytes_of(array, rows) for array in (texts, sketches, flags)]
            yield batch(_PART, [part[starts].astype(np.int32), *columns])

    return spread


def _bytes_of(array: NDArray[Any], rows: list[NDArray[np.int64]]) -> list[bytes]:
    return [array[some].tobytes() for some in rows]


def part_comparer(sharing: Sharing, parts: int) -> Mapper:
    """Return a mapper of all rows of some parts to the pairs with enough equal slots or bits."""

    def compare(batches: Batches) -> Batches:
        for part, rows in _rows_by_part(batches).items():
            texts, sketches, is_frequent = _joined(rows, sharing)
            yield from near(part, texts, sketches, is_frequent)

    def near(
        part: int, texts: NDArray[np.int64], sketches: Sketches, is_frequent: Flags
    ) -> Iterator[Any]:
        keys = sharing.keys(sketches)
        is_open = ~is_frequent & (keys % np.uint64(parts) == np.uint64(part))
        close, candidates = sharing.near(
            sketches, close_frequent(keys, is_frequent, texts), is_open
        )
        left, right = texts[close[:, 0]], texts[close[:, 1]]
        yield from _pair_batches(left, right, close[:, 2], candidates)

    return compare


def _rows_by_part(batches: Batches) -> dict[int, list[tuple[bytes, bytes, bytes]]]:
    rows: dict[int, list[tuple[bytes, bytes, bytes]]] = defaultdict(list)
    for part in batches:
        for row in part.to_pylist():
            rows[row["part"]].append((row["texts"], row["sketches"], row["frequent"]))
    return rows


def _joined(
    rows: list[tuple[bytes, bytes, bytes]], sharing: Sharing
) -> tuple[NDArray[np.int64], Sketches, Flags]:
    """Return the texts of a part, ascending, their sketches, and which of their bands are
    frequent."""
    numbers, sketches, frequent = (b"".join(column) for column in zip(*rows, strict=True))
    texts = np.frombuffer(numbers, dtype=np.int64)
    order = np.argsort(texts)
    packed = np.frombuffer(frequent, dtype=np.uint8).reshape(len(texts), -1)
    is_frequent = np.unpackbits(packed[order], axis=1, count=sharing.bands).astype(np.bool_)
    return texts[order], sharing.from_bytes(sketches, len(texts))[order], is_frequent


def star_mapper(sharing: Sharing, frequent: FrequentKeys) -> Mapper:
    """Return a mapper of texts to their pairs with the centres of frequent values."""

    def pair(batches: Batches) -> Batches:
        for rows in batches:
            texts = rows.column("text").to_numpy()
            sketches = sharing.unpack(rows.column("minhash"))
            left, right, equal = star_pairs(sharing, frequent, texts, sketches)
            near = equal >= sharing.min_equal
            yield from _pair_batches(left[near], right[near], equal[near], len(left))

    return pair


def word_pair_mapper(sharing: Sharing, frequent: FrequentKeys) -> Mapper:
    """Return a mapper of pairs by words to those that have too few equal slots, with 0 of them.

    Pairs that share a band as well are counted there.
    """

    def compare(batches: Batches) -> Batches:
        for rows in batches:
            left, right = (rows.column(name).to_numpy() for name in _PAIR)
            sketches = [sharing.unpack(rows.column(f"{name}_slots")) for name in _PAIR]
            keys = sharing.keys(sketches[0]), sharing.keys(sketches[1])
            is_shared = shares_key(frequent, keys, (left, right))
            is_listed = is_shared & (sharing.equal(*sketches) >= sharing.min_equal)
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


def _pair_batches(
    left: NDArray[Any], right: NDArray[Any], equal: NDArray[Any], candidates: int
) -> Iterator[Any]:
    """Yield the pairs, and a row that counts the candidates among which they were."""
    nothing = np.zeros(len(left), dtype=np.int64)
    yield batch(_SHARING, [left, right, equal.astype(np.int32), nothing])
    yield batch(_SHARING, [[None], [None], [None], [candidates]])
