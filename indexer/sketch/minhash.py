"""MinHash by Fast Similarity Sketching: one pass over long texts, lower error than k hash functions
on short ones.

Dahlgaard, Knudsen & Thorup, "Fast Similarity Sketching", FOCS 2017. Equal slots of two sketches
estimate the Jaccard similarity of their feature sets without bias.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indexer.errors import NoFeatures
from indexer.sketch.hashing import GAMMA, mix64_array

_LOW = np.uint64(0xFFFFFFFF)
_EMPTY = np.uint64(1 << 32)


def fast_similarity_sketch(hashes: NDArray[np.uint64], slots: int) -> NDArray[np.uint32]:
    """Sketch a set of 64-bit feature hashes: (slots,) uint32. `fss_v1`. Repeats change nothing.

    Round r of 2 * slots gives every feature x the hash y = x for r = 0, else mix64(x + r * GAMMA).
    In the first `slots` rounds the feature falls into slot (y >> 32) * slots >> 32, later into slot
    r - slots; the slot takes the least low 32 bits of y seen in the first round that reaches it.
    Rounds end when every slot is taken.

    An empty set has no sketch: raises `NoFeatures`.
    """
    if len(hashes) == 0:
        raise NoFeatures
    taken = np.full(slots, _EMPTY, dtype=np.uint64)
    for turn in range(2 * slots):
        _play_round(taken, hashes, turn)
        if not np.any(taken == _EMPTY):
            break
    return taken.astype(np.uint32)


def _play_round(taken: NDArray[np.uint64], hashes: NDArray[np.uint64], turn: int) -> None:
    """Let every feature try for the slots that are still empty; `taken` is changed in place."""
    slots = len(taken)
    empty = taken == _EMPTY
    shifted = np.uint64(turn * GAMMA % (1 << 64))
    values = hashes if turn == 0 else mix64_array(hashes + shifted)
    if turn >= slots:
        if empty[turn - slots]:
            taken[turn - slots] = (values & _LOW).min()
        return
    places = ((values >> np.uint64(32)) * np.uint64(slots) >> np.uint64(32)).astype(np.intp)
    open_places = empty[places]
    np.minimum.at(taken, places[open_places], values[open_places] & _LOW)
