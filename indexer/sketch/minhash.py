"""MinHash by Fast Similarity Sketching.

Dahlgaard, Knudsen & Thorup, "Fast Similarity Sketching", FOCS 2017. Equal slots of two sketches
estimate the Jaccard similarity of their feature sets without bias. It takes one pass over long
texts, and has a lower error than k hash functions on short ones.
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
    sketch = np.full(slots, _EMPTY, dtype=np.uint64)
    for number in range(2 * slots):
        _fill_round(sketch, hashes, number)
        if not np.any(sketch == _EMPTY):
            break
    return sketch.astype(np.uint32)


def _fill_round(sketch: NDArray[np.uint64], hashes: NDArray[np.uint64], number: int) -> None:
    """Fill empty slots in one round; `sketch` is changed in place."""
    slots = len(sketch)
    empty = sketch == _EMPTY
    shift = np.uint64(number * GAMMA % (1 << 64))
    values = hashes if number == 0 else mix64_array(hashes + shift)
    if number >= slots:
        if empty[number - slots]:
            sketch[number - slots] = (values & _LOW).min()
        return
    places = ((values >> np.uint64(32)) * np.uint64(slots) >> np.uint64(32)).astype(np.intp)
    is_open = empty[places]
    np.minimum.at(sketch, places[is_open], values[is_open] & _LOW)
