"""SimHash: the majority of each bit over the feature hashes (Charikar, STOC 2002)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indexer.errors import NoFeatures
from indexer.sketch.hashing import distinct_hashes


def simhash(hashes: NDArray[np.uint64]) -> int:
    """Return the 64-bit SimHash of the distinct values of `hashes`. `distinct_v1`.

    Bit b is 1 when strictly more than half of the distinct hashes have it set; a tie gives 0. Each
    feature counts once: raw frequency lets a few frequent features decide every bit. An empty set
    has no sketch: raises `NoFeatures`.

    >>> simhash(np.array([3, 5, 5], dtype=np.uint64))
    1
    """
    if len(hashes) == 0:
        raise NoFeatures
    distinct = distinct_hashes(hashes)
    rows = np.unpackbits(distinct.astype(">u8").view(np.uint8)).reshape(-1, 64)
    bits = 2 * rows.sum(axis=0, dtype=np.int64) > len(distinct)
    return int.from_bytes(np.packbits(bits).tobytes(), "big")
