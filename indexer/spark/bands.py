"""Pairs of sketches that share a key and have enough slots or bits in common, each pair once.

For tasks of a cluster, each of which holds the sketches of some keys: a pair is listed where the
first key that it shares is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from indexer.comparing.band_plan import Plan, equal_parts, has_bits_alone, sketch_size
from indexer.comparing.words import normal_words
from indexer.fingerprinting.hashing import number_occurrences, string_hashes
from indexer.fingerprinting.keys import (
    band_hashes,
    bit_words,
    block_hashes,
    count_ones,
    design_for,
    tables,
    unpack_slots,
)
from indexer.fingerprinting.minhash import NearSketches
from indexer.grouping.group_options import GroupOptions
from indexer.grouping.match import MatchOptions
from indexer.grouping.words_in_common import FEW_WORDS, max_words, short_keys
from indexer.recipe import Recipe
from indexer.spark.arrow_rows import Batches, Mapper, batch, ddl
from indexer.spark.session import Stage, Work
from indexer.system.external_memory import find_runs, pairs_in_runs

try:
    from indexer import _kernel
except ImportError:
    _kernel = None  # type: ignore[assignment]

BLOCK = 1 << 16  # pairs that are compared at a time

Flags: TypeAlias = NDArray[np.bool_]
Keys: TypeAlias = NDArray[np.uint64]
CountEqual: TypeAlias = Callable[[NDArray[np.intp], NDArray[np.intp]], NDArray[Any]]
"""Return how much is equal in the sketches at the places left and right."""


def _equal_slots(
    slots: NDArray[Any], left: NDArray[np.intp], right: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Return the number of equal slots of each pair, (pairs,)."""
    counts: NDArray[np.intp] = np.count_nonzero(slots[left] == slots[right], axis=1)
    return counts


def near_in_buckets(
    slots: NDArray[Any], keys: Keys, is_open: Flags, minimum: int
) -> tuple[NearSketches, int]:
    """Return the pairs with `minimum` equal slots, and the number of all pairs that were looked at.

    `slots`: (n, slots) of uint8 or uint32. `keys`: (n, bands). A pair is looked at in the first
    band whose key it shares, if `is_open`, (n, bands), says so for both there. Pairs come in no
    order, the lower position left. The compiled kernel, where installed, gives the same pairs
    faster.

    >>> slots = np.array([[1, 2], [1, 9], [1, 2]], np.uint8)
    >>> keys = np.array([[5, 7], [5, 8], [6, 7]], np.uint64)
    >>> near, candidates = near_in_buckets(slots, keys, np.ones((3, 2), bool), 2)
    >>> near.tolist(), candidates
    ([[0, 2, 2]], 2)
    """
    if _kernel is None or not hasattr(_kernel, "near_in_buckets") or not keys.size:
        return count_in_buckets(keys, is_open, partial(_equal_slots, slots), minimum)
    low = slots.astype(np.uint8, copy=False)
    result, candidates = _kernel.near_in_buckets(
        low.tobytes(), low.shape[1], keys.tobytes(), keys.shape[1], is_open.tobytes(), minimum
    )
    near: NearSketches = np.frombuffer(result, dtype=np.uint32).reshape(-1, 3)
    if slots.dtype == np.uint8:
        return near, candidates
    exact: NearSketches = near.copy()
    exact[:, 2] = np.count_nonzero(slots[near[:, 0]] == slots[near[:, 1]], axis=1)
    return exact[exact[:, 2] >= minimum], candidates


def count_in_buckets(
    keys: Keys, is_open: Flags, equal: CountEqual, minimum: int
) -> tuple[NearSketches, int]:
    """Return what `near_in_buckets` does for sketches of any kind, by numpy."""
    near, candidates = [np.zeros((0, 3), np.uint32)], 0
    for band in range(keys.shape[1]):
        for left, right in _pairs_of_band(keys[:, band], is_open[:, band]):
            is_new = ~(keys[left, :band] == keys[right, :band]).any(axis=1)
            first, second = left[is_new], right[is_new]
            candidates += len(first)
            counts = equal(first, second)
            is_near = counts >= minimum
            columns = first[is_near], second[is_near], counts[is_near]
            near.append(np.column_stack(columns).astype(np.uint32))
    return np.concatenate(near), candidates


def _pairs_of_band(
    keys: Keys, is_open: NDArray[np.bool_]
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield the pairs of positions that are open and have the same key, in blocks."""
    members = np.flatnonzero(is_open)
    members = members[np.argsort(keys[members], kind="stable")]
    starts, sizes = find_runs(keys[members])
    for first, second in pairs_in_runs(starts[sizes > 1], sizes[sizes > 1], BLOCK):
        yield members[first], members[second]


# Bands of slots or blocks of bits, of which similar sketches share one; frequent values.

AT_ONCE = 1 << 16  # texts whose keys are computed together
_NO_KEY = np.uint64(1 << 63)

Sketches: TypeAlias = NDArray[Any]
"""(n, slots) of uint8 or uint32; of bits (n, words) of uint64."""


@dataclass(frozen=True, slots=True)
class Sharing:
    """The bands or blocks of which similar texts share one, and how much of both must be equal.

    `shape`: its settings, by which stages are distinguished. `min_equal`: so many slots or bits are
    equal in a pair that may be similar. `sketch_bytes`: the size of a sketch. `masks`: the masks of
    the tables of blocks, for sketches of `bits`.
    """

    shape: Mapping[str, int]
    min_equal: int
    slot_bytes: int = 1
    sketch_bytes: int = 8
    bits: int = 0
    masks: tuple[int, ...] = ()

    @property
    def bands(self) -> int:
        """The number of keys of a text."""
        return len(self.masks) or self.shape["bands"]

    def unpack(self, packed: Any) -> Sketches:
        """Return a column of packed sketches, all of one width, as an array."""
        values = packed.to_pylist()
        slots = unpack_slots(b"".join(values), self.slot_bytes)
        if not values:
            return slots.reshape(0, 1)
        slots = slots.reshape(len(values), -1)
        return bit_words(slots) if self.masks else slots

    def from_bytes(self, data: bytes, count: int) -> Sketches:
        """Return so many sketches, 1 or more, from the bytes of their array."""
        kind = "<u8" if self.masks else f"<u{self.slot_bytes}"
        sketches: Sketches = np.frombuffer(data, dtype=kind).reshape(count, -1)
        return sketches

    def keys(self, sketches: Sketches) -> Keys:
        """Return the hash of each band or block: (n, bands)."""
        if not self.masks:
            return band_hashes(sketches, self.shape["bands"], self.shape["rows"])
        keys: Keys = np.stack([block_hashes(sketches, mask) for mask in self.masks], axis=1)
        return keys

    def near(self, sketches: Sketches, keys: Keys, is_open: Flags) -> tuple[NearSketches, int]:
        """Return pairs that share a key, as `near_in_buckets` does."""
        if not self.masks:
            return near_in_buckets(sketches, keys, is_open, self.min_equal)

        def equal(left: NDArray[np.intp], right: NDArray[np.intp]) -> NDArray[np.int64]:
            return self.bits - count_ones(np.bitwise_xor(sketches[left], sketches[right]))

        return count_in_buckets(keys, is_open, equal, self.min_equal)

    def equal(self, left: Sketches, right: Sketches) -> NDArray[Any]:
        """Return the number of equal slots or bits of each pair of sketches."""
        if self.masks:
            return self.bits - count_ones(np.bitwise_xor(left, right))
        counts: NDArray[np.intp] = np.count_nonzero(left == right, axis=1)
        return counts


def band_sharing(layout: Plan, minimum: int, recipe: Recipe) -> Sharing:
    """Return bands of this layout, with `minimum` equal slots or more, of a recipe's sketches."""
    shape = {"bands": layout.bands, "rows": layout.rows}
    return Sharing(shape, minimum, recipe.slot_bytes, recipe.sketch_bytes)


def block_sharing(recipe: Recipe, threshold: float) -> Sharing:
    """Return blocks of bits that no pair at a threshold lacks, as one machine has them."""
    bits = sketch_size(recipe)
    minimum = equal_parts(recipe, threshold)
    design = design_for(bits, bits - minimum)
    shape = {"bits": bits, "tables": design.tables, "distance": bits - minimum}
    return Sharing(shape, minimum, sketch_bytes=bits // 8, bits=bits, masks=tuple(tables(design)))


@dataclass(frozen=True, slots=True)
class FrequentKeys:
    """Keys that more texts share than the cap allows, by band and key.

    `starts`: the first position of each band in the other arrays; `centres`: the text that is
    paired with all others, `sketches` and `keys` (n, bands) of the centre.
    """

    values: Keys
    starts: NDArray[np.intp]
    centres: NDArray[np.int64]
    sketches: Sketches
    keys: Keys

    def positions(self, keys: Keys) -> NDArray[np.intp]:
        """Return the position of each key here, -1 of one that is not frequent: (n, bands)."""
        positions = np.full(keys.shape, -1, dtype=np.intp)
        for band, (start, stop) in enumerate(zip(self.starts[:-1], self.starts[1:], strict=True)):
            frequent = self.values[start:stop]
            if len(frequent):
                nearest = np.minimum(np.searchsorted(frequent, keys[:, band]), len(frequent) - 1)
                is_frequent = frequent[nearest] == keys[:, band]
                positions[is_frequent, band] = nearest[is_frequent] + start
        return positions


def frequent_keys(sharing: Sharing, rows: Any) -> FrequentKeys:
    """Return a table of `band`, `hash`, `centre` and the centre's `minhash` as frequent keys."""
    band = rows.column("band").to_numpy()
    values = rows.column("hash").to_numpy().view(np.uint64)
    order = np.lexsort((values, band))
    sketches = sharing.unpack(rows.column("minhash"))[order]
    keys = sharing.keys(sketches) if len(order) else np.zeros((0, sharing.bands), np.uint64)
    starts = np.searchsorted(band[order], np.arange(sharing.bands + 1))
    centres = rows.column("centre").to_numpy()[order]
    return FrequentKeys(values[order], starts, centres, sketches, keys)


def star_pairs(
    sharing: Sharing, frequent: FrequentKeys, texts: NDArray[np.int64], sketches: Sketches
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
    """Return pairs of texts with the centres of their frequent keys, and equal slots or bits.

    Those that share a key that is not frequent are left out; each other pair comes once.
    """
    keys = sharing.keys(sketches)
    positions = frequent.positions(keys)
    is_frequent = positions >= 0
    centres = np.where(is_frequent, frequent.centres[positions] if len(frequent.values) else -1, -1)
    parts = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64))]
    for band in range(sharing.bands):
        centre = centres[:, band]
        is_repeated = (centres[:, :band] == centre[:, None]).any(axis=1)
        rows = np.flatnonzero(is_frequent[:, band] & (centre != texts) & ~is_repeated)
        position = positions[rows, band]
        fractions_other = ((frequent.keys[position] == keys[rows]) & ~is_frequent[rows]).any(axis=1)
        rows, position = rows[~fractions_other], position[~fractions_other]
        equal = sharing.equal(sketches[rows], frequent.sketches[position])
        parts.append((texts[rows], frequent.centres[position], equal))
    text, centre, equal = (np.concatenate(column) for column in zip(*parts, strict=True))
    return np.minimum(text, centre), np.maximum(text, centre), equal


def shares_key(
    frequent: FrequentKeys,
    keys: tuple[Keys, Keys],
    texts: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> NDArray[np.bool_]:
    """Return for each pair whether it shares a key, or is of a frequent key's star."""
    positions = frequent.positions(keys[0])
    shared = keys[0] == keys[1]
    is_star = np.zeros(shared.shape, dtype=np.bool_)
    if len(frequent.values):
        centres = frequent.centres[positions]
        is_star = (centres == texts[0][:, None]) | (centres == texts[1][:, None])
    flags: NDArray[np.bool_] = (shared & ((positions < 0) | is_star)).any(axis=1)
    return flags


def close_frequent(keys: Keys, is_frequent: Flags, texts: NDArray[np.int64]) -> Keys:
    """Return keys, the frequent ones replaced by values that no other text has."""
    own = texts.astype(np.uint64) | _NO_KEY
    return np.where(is_frequent, own[:, None], keys)


def gathered(
    batches: Batches, sharing: Sharing
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], Sketches]]:
    """Yield `text`, `rank` and the sketches (`minhash`) of some `AT_ONCE` rows together."""
    columns: list[tuple[Any, ...]] = []
    count = 0
    for rows in batches:
        numbers = (rows.column(name).to_numpy() for name in ("text", "rank"))
        columns.append((*numbers, sharing.unpack(rows.column("minhash"))))
        count += rows.num_rows
        if count >= AT_ONCE:
            yield _concatenated(columns)
            columns, count = [], 0
    if count:
        yield _concatenated(columns)


def _concatenated(columns: list[tuple[Any, ...]]) -> tuple[Any, Any, Any]:
    text, rank, sketches = (np.concatenate(column) for column in zip(*columns, strict=True))
    return text, rank, sketches


# Frequent values over a cluster: bands or blocks that more texts share than the cap allows.

BAND = {"band": "int", "hash": "bigint", "text": "bigint", "rank": "bigint"}
BY_WORDS = -1  # the band of the keys of short texts
MIN_BUCKETS = 1 << 12

_COUNTED = {**BAND, "size": "bigint"}
# Of a band, the count of each bucket or a flag for each, as the bytes of an array.
_BUCKETS = {"band": "int", "buckets": "binary"}
_COUNT = np.dtype("<u4")

Crowded: TypeAlias = NDArray[np.bool_]
"""(bands, buckets): the buckets of values that hold more texts than the cap."""


def frequent_values(
    work: Work, ranked: Stage, sharing: Sharing, cap: int, short: Stage | None = None
) -> Stage:
    """Return the values of more texts than the cap.

    Columns: `band`, `hash`, `size`, `centre` (the text of minimum rank) and the `minhash` of that
    text. `ranked` and `short` are as `candidate_pairs` has them. Texts are first counted by the
    remainders of their values (`crowded_buckets`), which needs no row for each value; only values
    of buckets that hold more texts than the cap are counted one by one, in parts that are summed.
    `facts`: the number of frequent values, the largest, and the pairs that the cap leaves out.
    """
    shape = {**sharing.shape, "cap": cap}
    sources = [ranked] if short is None else [ranked, short]

    def make() -> DataFrame:
        crowded = crowded_buckets(ranked, sharing, cap)
        return _frequent_values(ranked.rows, sharing, crowded, cap, short)

    return work.stage("frequent", shape, sources, make, _count_capped)


def crowded_buckets(ranked: Stage, sharing: Sharing, cap: int) -> Crowded:
    """Return which remainders of the values of each band belong to more texts than the cap.

    So many buckets that one has at most half of the cap on average.
    """
    texts = ranked.facts["texts"]
    buckets = max(MIN_BUCKETS, 1 << (2 * texts // cap).bit_length())
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
            positions = (sharing.keys(sketches) % np.uint64(buckets)).astype(np.intp)
            for band in range(sharing.bands):
                counts[band] += np.bincount(positions[:, band], minlength=buckets).astype(_COUNT)
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


def _frequent_values(
    ranked: DataFrame, sharing: Sharing, crowded: Crowded, cap: int, short: Stage | None
) -> DataFrame:
    counted = ranked.mapInArrow(value_counter(sharing, crowded), ddl(_COUNTED))
    if short is not None:
        counted = counted.union(short.rows.select(*BAND, sf.lit(1).cast("bigint")))
    frequent = (
        counted.groupBy("band", "hash")
        .agg(sf.sum("size").alias("size"), sf.min(sf.struct("rank", "text")).alias("first"))
        .where(sf.col("size") > cap)
        .select("band", "hash", "size", sf.col("first.text").alias("centre"))
    )
    centres = ranked.select(sf.col("text").alias("centre"), "minhash")
    return centres.join(sf.broadcast(frequent), "centre")


def value_counter(sharing: Sharing, crowded: Crowded) -> Mapper:
    """Return a mapper that counts the texts of each value in a crowded bucket, some together.

    Rows have `size`, and the `text` of minimum `rank`.
    """
    buckets = np.uint64(crowded.shape[1])

    def count(parts: Batches) -> Batches:
        if not crowded.any():
            return
        for text, rank, sketches in gathered(parts, sharing):
            keys = sharing.keys(sketches)
            for band, flags in enumerate(crowded):
                positions = np.flatnonzero(flags[(keys[:, band] % buckets).astype(np.intp)])
                positions = positions[np.lexsort((rank[positions], keys[positions, band]))]
                hashes = keys[positions, band]
                starts, sizes = find_runs(hashes)
                first = positions[starts]
                bands = np.full(len(starts), band, dtype=np.int32)
                values = hashes[starts].view(np.int64)
                yield batch(_COUNTED, [bands, values, text[first], rank[first], sizes])

    return count


def _count_capped(frequent: DataFrame) -> dict[str, int]:
    left_out = sf.sum(((sf.col("size") - 1) * (sf.col("size") - 2) / 2).cast("bigint"))
    row = frequent.agg(sf.count("*"), sf.max("size"), left_out).first() or (0, 0, 0)
    return {"hot_bands": row[0], "largest_band": row[1] or 0, "pairs_left_out": row[2] or 0}


# Keys of short texts over a cluster, as `indexer.grouping.words_in_common` makes them.


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
    counted = texts.join(first.where(sf.col("words") <= max_words(threshold)), "first")
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
