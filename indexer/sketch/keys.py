"""Keys: exact-match strings of sketches, by which an inverted index finds near duplicates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.sketch.hashing import mix64_array

LONGEST_KEY = 12  # base-32 digits of a short key
_BASE_32 = np.array(list("0123456789abcdefghijklmnopqrstuv"))


def band_hashes(minhash: NDArray[Any], bands: int, rows: int) -> NDArray[np.uint64]:
    """Hash each band of `rows` consecutive slots: (n, slots) -> (n, bands) uint64.

    h = 0, then h = mix64(h xor slot) for each slot of the band in order. Slots beyond bands * rows
    are not used.
    """
    used = minhash[:, : bands * rows].reshape(len(minhash), bands, rows).astype(np.uint64)
    hashed = np.zeros(used.shape[:2], dtype=np.uint64)
    for place in range(rows):
        hashed = mix64_array(hashed ^ used[:, :, place])
    return hashed


def band_keys(
    minhash: NDArray[Any], bands: int, rows: int, digits: int | None = None
) -> list[tuple[str, ...]]:
    """Return the band keys of each row of (n, slots) slots.

    A key is two hexadecimal digits of the band and 16 of its hash. With `digits` it is short: the
    lowest `digits` base-32 digits (0 to 9, a to v) of mix64(hash xor band), at most 12.
    """
    if digits is None:
        return [_long_keys(row) for row in band_hashes(minhash, bands, rows).tolist()]
    keys = short_keys(minhash, bands, rows, digits)
    shifts = np.arange(5 * (digits - 1), -1, -5, dtype=np.uint64)
    places = (keys[:, :, None] >> shifts & np.uint64(31)).astype(np.intp)
    spelled = _BASE_32[places].view(f"U{digits}").reshape(keys.shape)
    return [tuple(row) for row in spelled.tolist()]


def short_keys(minhash: NDArray[Any], bands: int, rows: int, digits: int) -> NDArray[np.uint64]:
    """Return the short keys of each row of (n, slots) slots as numbers: (n, bands) uint64."""
    hashes = band_hashes(minhash, bands, rows) ^ np.arange(bands, dtype=np.uint64)
    mask = np.uint64((1 << 5 * digits) - 1)
    keys: NDArray[np.uint64] = mix64_array(hashes) & mask
    return keys


def _long_keys(hashes: list[int]) -> tuple[str, ...]:
    return tuple(f"{band:02x}{value:016x}" for band, value in enumerate(hashes))


def block_keys(bits: int, width: int, blocks: int) -> tuple[str, ...]:
    """Return the keys of `blocks` equal parts of a `width`-bit sketch, most significant first.

    Two sketches that differ in fewer bits than there are blocks share at least one (Manku, Jain &
    Das Sarma, WWW 2007). Each key is two hexadecimal digits of the block and then its value.

    >>> block_keys(0x0123456789ABCDEF, width=64, blocks=4)
    ('000123', '014567', '0289ab', '03cdef')
    """
    part = width // blocks
    digits = -(-part // 4)
    return tuple(
        f"{place:02x}{bits >> (width - part * (place + 1)) & (1 << part) - 1:0{digits}x}"
        for place in range(blocks)
    )
