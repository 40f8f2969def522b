"""Keys: exact-match strings of sketches, by which an inverted index finds near duplicates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.sketch.hashing import mix64_array


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
    minhash: NDArray[Any], bands: int, rows: int, digits: int = 16
) -> list[tuple[str, ...]]:
    """Return the band keys of each row of (n, slots) slots.

    A key is two hexadecimal digits of the band and the last `digits` of its hash.
    """
    mask = np.uint64((1 << 4 * digits) - 1)
    hashes = band_hashes(minhash, bands, rows) & mask
    return [_keys_of(row, digits) for row in hashes.tolist()]


def _keys_of(hashes: list[int], digits: int) -> tuple[str, ...]:
    return tuple(f"{band:02x}{value:0{digits}x}" for band, value in enumerate(hashes))


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
