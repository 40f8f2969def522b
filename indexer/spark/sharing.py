"""Bands of slots or blocks of bits, of which similar sketches share one; values that are hot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.joins.bit_tables import bit_words, bits_apart, block_hashes
from indexer.joins.near_in_buckets import Flags, Keys, count_in_buckets, near_in_buckets
from indexer.joins.near_sketches import NearSketches
from indexer.recipe import Recipe
from indexer.sketch.blocks import design_for, tables
from indexer.sketch.codec import unpack_slots
from indexer.sketch.keys import band_hashes
from indexer.sketch.plan import Plan
from indexer.sketch.sketch_options import equal_parts, sketch_size
from indexer.spark.arrow_rows import Batches

AT_ONCE = 1 << 16  # texts whose keys are computed together
_NO_KEY = np.uint64(1 << 63)

Sketches: TypeAlias = NDArray[Any]
"""(n, slots) of uint8 or uint32; of bits (n, words) of uint64."""


@dataclass(frozen=True, slots=True)
class Sharing:
    """The bands or blocks of which similar texts share one, and how much of both must be equal.

    `shape`: its settings, by which stages are told apart. `least`: so many slots or bits are equal
    in a pair that may be similar. `sketch_bytes`: the size of a sketch. `masks`: of the tables of
    blocks, for sketches of `bits`.
    """

    shape: Mapping[str, int]
    least: int
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
            return near_in_buckets(sketches, keys, is_open, self.least)

        def equal(left: NDArray[np.intp], right: NDArray[np.intp]) -> NDArray[np.int64]:
            return self.bits - bits_apart(sketches[left], sketches[right])

        return count_in_buckets(keys, is_open, equal, self.least)

    def equal(self, left: Sketches, right: Sketches) -> NDArray[Any]:
        """Return the number of equal slots or bits of each pair of sketches."""
        if self.masks:
            return self.bits - bits_apart(left, right)
        counts: NDArray[np.intp] = np.count_nonzero(left == right, axis=1)
        return counts


def share_bands(layout: Plan, least: int, recipe: Recipe) -> Sharing:
    """Return bands of this layout, with `least` equal slots or more, of a recipe's sketches."""
    shape = {"bands": layout.bands, "rows": layout.rows}
    return Sharing(shape, least, recipe.slot_bytes, recipe.sketch_bytes)


def share_blocks(recipe: Recipe, threshold: float) -> Sharing:
    """Return blocks of bits that no pair at a threshold lacks, as one machine has them."""
    bits = sketch_size(recipe)
    least = equal_parts(recipe, threshold)
    design = design_for(bits, bits - least)
    shape = {"bits": bits, "tables": design.tables, "distance": bits - least}
    return Sharing(shape, least, sketch_bytes=bits // 8, bits=bits, masks=tuple(tables(design)))


@dataclass(frozen=True, slots=True)
class HotKeys:
    """Keys that more texts share than the cap allows, by band and key.

    `starts`: of each band in the other arrays; `centres`: the text that is paired with all others,
    `sketches` and `keys` (n, bands) those of the centre.
    """

    values: Keys
    starts: NDArray[np.intp]
    centres: NDArray[np.int64]
    sketches: Sketches
    keys: Keys

    def places(self, keys: Keys) -> NDArray[np.intp]:
        """Return the place of each key here, -1 of one that is not hot: (n, bands)."""
        places = np.full(keys.shape, -1, dtype=np.intp)
        for band, (start, stop) in enumerate(zip(self.starts[:-1], self.starts[1:], strict=True)):
            hot = self.values[start:stop]
            if len(hot):
                nearest = np.minimum(np.searchsorted(hot, keys[:, band]), len(hot) - 1)
                is_hot = hot[nearest] == keys[:, band]
                places[is_hot, band] = nearest[is_hot] + start
        return places


def hot_keys(sharing: Sharing, rows: Any) -> HotKeys:
    """Return a table of `band`, `hash`, `centre` and the centre's `minhash` as hot keys."""
    band = rows.column("band").to_numpy()
    values = rows.column("hash").to_numpy().view(np.uint64)
    order = np.lexsort((values, band))
    sketches = sharing.unpack(rows.column("minhash"))[order]
    keys = sharing.keys(sketches) if len(order) else np.zeros((0, sharing.bands), np.uint64)
    starts = np.searchsorted(band[order], np.arange(sharing.bands + 1))
    centres = rows.column("centre").to_numpy()[order]
    return HotKeys(values[order], starts, centres, sketches, keys)


def star_pairs(
    sharing: Sharing, hot: HotKeys, texts: NDArray[np.int64], sketches: Sketches
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
    """Return the pairs of texts with the centres of their hot keys, and their equal slots or bits.

    Those that share a key that is not hot are left out; each other pair comes once.
    """
    keys = sharing.keys(sketches)
    places = hot.places(keys)
    is_hot = places >= 0
    centres = np.where(is_hot, hot.centres[places] if len(hot.values) else -1, -1)
    parts = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64))]
    for band in range(sharing.bands):
        centre = centres[:, band]
        is_repeated = (centres[:, :band] == centre[:, None]).any(axis=1)
        rows = np.flatnonzero(is_hot[:, band] & (centre != texts) & ~is_repeated)
        place = places[rows, band]
        shares_other = ((hot.keys[place] == keys[rows]) & ~is_hot[rows]).any(axis=1)
        rows, place = rows[~shares_other], place[~shares_other]
        equal = sharing.equal(sketches[rows], hot.sketches[place])
        parts.append((texts[rows], hot.centres[place], equal))
    text, centre, equal = (np.concatenate(column) for column in zip(*parts, strict=True))
    return np.minimum(text, centre), np.maximum(text, centre), equal


def shares_key(
    hot: HotKeys, keys: tuple[Keys, Keys], texts: tuple[NDArray[np.int64], NDArray[np.int64]]
) -> NDArray[np.bool_]:
    """Return for each pair whether it is one of those that share a key, or of a hot one's star."""
    places = hot.places(keys[0])
    shared = keys[0] == keys[1]
    is_star = np.zeros(shared.shape, dtype=np.bool_)
    if len(hot.values):
        centres = hot.centres[places]
        is_star = (centres == texts[0][:, None]) | (centres == texts[1][:, None])
    flags: NDArray[np.bool_] = (shared & ((places < 0) | is_star)).any(axis=1)
    return flags


def close_hot(keys: Keys, is_hot: Flags, texts: NDArray[np.int64]) -> Keys:
    """Return keys of which those that are hot are replaced by values that no other text has."""
    own = texts.astype(np.uint64) | _NO_KEY
    return np.where(is_hot, own[:, None], keys)


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
