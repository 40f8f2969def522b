"""MinHash sketches: how they are made, compared, and what their equal slots estimate.

The default is Fast Similarity Sketching: Dahlgaard, Knudsen & Thorup, "Fast Similarity Sketching",
FOCS 2017. Equal slots of two sketches estimate the Jaccard similarity of their feature sets without
bias. It takes one pass over long texts, and has a lower error than k hash functions on short ones.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.errors import NoFeatures, UsageError
from indexer.fingerprinting.hashing import GAMMA, mix64_array
from indexer.fingerprinting.keys import unpack_slots
from indexer.model import Candidates, Estimate, Prefilter

_LOW = np.uint64(0xFFFFFFFF)
_EMPTY = np.uint64(1 << 32)


def fast_similarity_sketch(hashes: NDArray[np.uint64], slots: int) -> NDArray[np.uint32]:
    """Sketch a set of 64-bit feature hashes: (slots,) uint32. `fss_v1`. Repeats change nothing.

    Round r of 2 * slots gives every feature x the hash y = x for r = 0, else mix64(x + r * GAMMA).
    In the first `slots` rounds the feature falls into slot (y >> 32) * slots >> 32, later into slot
    r - slots; the slot takes the minimum low 32 bits of y seen in the first round that reaches it.
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
    positions = ((values >> np.uint64(32)) * np.uint64(slots) >> np.uint64(32)).astype(np.intp)
    is_open = empty[positions]
    np.minimum.at(sketch, positions[is_open], values[is_open] & _LOW)


# Wilson's score interval of a fraction.

Z95 = 1.959963984540054


def wilson(successes: float, trials: int, z: float = Z95) -> tuple[float, float]:
    """Return the Wilson score interval of a share: (low, high) in [0, 1] (Wilson, JASA 1927).

    The default z gives 95 %. No trials: (0, 1).

    >>> low, high = wilson(100, 200)
    >>> round(low, 3), round(high, 3)
    (0.431, 0.569)
    """
    if trials == 0:
        return 0.0, 1.0
    fraction = successes / trials
    spread = z * math.sqrt(fraction * (1 - fraction) / trials + z * z / (4 * trials * trials))
    centre = fraction + z * z / (2 * trials)
    scale = 1 + z * z / trials
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


# b-bit MinHash: the low b bits of each slot, with an estimate that is corrected for chance.

WIDTHS = (1, 2, 4, 8)
FULL = 32  # bits of a slot beyond which agreement by chance is ignored


def pack_low_bits(slots: NDArray[Any], bits: int) -> bytes:
    """Return the low `bits` (1, 2, 4 or 8) of each slot as bytes.

    The first slot is most significant; the last byte is padded with zeros.

    >>> pack_low_bits(np.array([0xA1, 0xB2, 0xC3], dtype=np.uint32), 4).hex()
    '1230'
    """
    _check_bit_count(bits)
    rows = np.unpackbits(slots.astype(np.uint8)[:, None], axis=1)[:, 8 - bits :]
    return np.packbits(rows.ravel()).tobytes()


def unpack_low_bits(packed: bytes, bits: int, slots: int) -> NDArray[np.uint8]:
    """Return the slots that `pack_low_bits` packed: (slots,) uint8 below 2**bits.

    Raises `UsageError` when the lengths do not fit.

    >>> unpack_low_bits(bytes.fromhex("1230"), 4, 3).tolist()
    [1, 2, 3]
    """
    _check_bit_count(bits)
    size = -(-slots * bits // 8)
    if len(packed) != size:
        raise UsageError(f"{slots} slots of {bits} bits take {size} bytes, not {len(packed)}")
    every_bit = np.unpackbits(np.frombuffer(packed, dtype=np.uint8), count=slots * bits)
    powers = (1 << np.arange(bits - 1, -1, -1)).astype(np.uint8)
    return every_bit.reshape(slots, bits) @ powers


def correct_for_chance(agreeing: int, slots: int, bits: int) -> Estimate:
    """Return the corrected estimate from the number of agreeing b-bit slots, clipped to [0, 1].

    The interval is Wilson's for the fraction of agreeing slots, corrected the same way. No slots:
    the interval is (0, 1).

    >>> estimate = correct_for_chance(72, 128, 1)
    >>> round(estimate.similarity, 3), round(estimate.low, 3), round(estimate.high, 3)
    (0.125, 0.0, 0.291)
    """
    _check_bit_count(bits)
    fraction = agreeing / slots if slots else 0.0
    estimates = without_chance(np.array([fraction, *wilson(agreeing, slots)]), bits)
    return Estimate(*estimates.tolist())


def standard_error(similarity: float, slots: int, bits: int) -> float:
    """Return the standard deviation of the estimate before clipping (the paper's theorem 2).

    >>> round(standard_error(0.8, 128, 8), 4), round(standard_error(0.8, 128, 1), 4)
    (0.0354, 0.053)
    """
    chance = 2.0**-bits
    fraction = chance + (1 - chance) * similarity
    return math.sqrt(fraction * (1 - fraction) / slots) / (1 - chance)


def without_chance(fractions: NDArray[np.float64], bits: int) -> NDArray[np.float64]:
    """Return the similarities that fractions of agreeing slots of `bits` estimate, within [0, 1].

    The shares themselves for slots of `FULL` bits or more.

    >>> without_chance(np.array([1 / 256, 1.0]), 8).tolist()
    [0.0, 1.0]
    """
    chance = 2.0**-bits if bits < FULL else 0.0
    similarity: NDArray[np.float64] = np.clip((fractions - chance) / (1 - chance), 0.0, 1.0)
    return similarity


def _check_bit_count(bits: int) -> None:
    if bits not in WIDTHS:
        raise UsageError(f"slots are packed to 1, 2, 4 or 8 bits, not {bits}")


# Pairs of MinHash sketches of two sets with enough slots in common.

try:
    from indexer import _kernel
except ImportError:
    _kernel = None  # type: ignore[assignment]

NearSketches: TypeAlias = NDArray[np.uint32]
"""(pairs, 3): the position of either sketch, and their equal slots."""


def near_sketches(left: NDArray[Any], right: NDArray[Any], minimum: int) -> NearSketches:
    """Return the pairs with at least `minimum` equal slots, by row in `left`, then in `right`.

    Sketches are rows of uint8 or uint32: `left` (n, slots), `right` (m, slots); no pairs where n or
    m is 0. Of wider slots the low bytes are compared first: they rule out most pairs. The compiled
    kernel, where installed, does that faster with the same result.

    >>> left, right = np.array([[1, 2, 3]], np.uint8), np.array([[1, 2, 9], [7, 8, 9]], np.uint8)
    >>> near_sketches(left, right, 2).tolist()
    [[0, 0, 2]]
    """
    low_left, low_right = left.astype(np.uint8), right.astype(np.uint8)
    if _kernel is not None and hasattr(_kernel, "near_sketches") and left.shape[1]:
        result = _kernel.near_sketches(
            low_left.tobytes(), low_right.tobytes(), left.shape[1], minimum
        )
        near = np.frombuffer(result, dtype=np.uint32).reshape(-1, 3)
    else:
        near = count_equal(low_left, low_right, minimum)
    if left.dtype == np.uint8 or not len(near):
        return near
    exact: NearSketches = near.copy()
    exact[:, 2] = np.count_nonzero(left[near[:, 0]] == right[near[:, 1]], axis=1)
    return exact[exact[:, 2] >= minimum]


def count_equal(left: NDArray[np.uint8], right: NDArray[np.uint8], minimum: int) -> NearSketches:
    """Return what `near_sketches` does for slots of a byte, by numpy: (pairs, 3) uint32."""
    by_slot = np.ascontiguousarray(right.T)
    counting = np.uint8 if left.shape[1] < 256 else np.uint32
    near = []
    for index, slots in enumerate(left):
        is_equal = by_slot == slots[:, None]
        equal = np.add.reduce(is_equal.view(np.uint8), axis=0, dtype=counting)
        rows = np.flatnonzero(equal >= minimum)
        near.append(np.column_stack([np.full(len(rows), index), rows, equal[rows]]))
    return np.concatenate(near).astype(np.uint32) if near else np.zeros((0, 3), np.uint32)


def pass_prefilter(prefilter: Prefilter, packed: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Flag the packed sketches, (sketches, bytes), that have enough slots in common with a
    prefilter.

    >>> pass_prefilter(Prefilter(bytes([1, 2, 3]), 1, 2), np.array([[1, 2, 9], [7, 8, 9]], "u1"))
    array([ True, False])
    """
    if not len(packed):
        return np.zeros(0, dtype=np.bool_)
    slots = unpack_slots(packed.tobytes(), prefilter.slot_bytes).reshape(len(packed), -1)
    own = unpack_slots(prefilter.slots, prefilter.slot_bytes)
    passes = np.zeros(len(slots), dtype=np.bool_)
    passes[near_sketches(own[np.newaxis], slots, prefilter.min_equal)[:, 1]] = True
    return passes


def filter_candidates(candidates: Candidates, prefilter: Prefilter) -> Candidates:
    """Return the candidates that pass a prefilter, or have no sketch, whatever their lengths."""
    size = len(prefilter.slots)
    every = candidates.found
    sketches = [entry.minhash for entry in every if entry.minhash and len(entry.minhash) == size]
    packed = np.frombuffer(b"".join(sketches), dtype=np.uint8).reshape(len(sketches), size)
    passes = iter(pass_prefilter(prefilter, packed).tolist())
    passing_entries = tuple(
        entry for entry in every if not entry.minhash or len(entry.minhash) != size or next(passes)
    )
    return replace(candidates, found=passing_entries, filtered=len(every) - len(passing_entries))


# Bounds on equal slots that accept a pair, or rule it out, without its texts.

Z999 = 3.2905267314919255


@lru_cache(maxsize=64)
def similarity_intervals(
    slots: int, z: float = Z95, bits: int = FULL
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return both ends of the Wilson interval for 0, 1, ... `slots` equal slots: (slots + 1,) each.

    The default z gives 95 %. Ends are corrected for slots of `bits` that agree by chance. The
    arrays are kept for the next call, and cannot be written.
    """
    ends = np.array([wilson(equal, slots, z) for equal in range(slots + 1)])
    intervals = without_chance(ends[:, 0], bits), without_chance(ends[:, 1], bits)
    for end in intervals:
        end.flags.writeable = False
    return intervals


def slot_similarity(
    equal: NDArray[np.unsignedinteger[Any]], slots: int, bits: int
) -> NDArray[np.float64]:
    """Return the similarity that numbers of equal slots estimate, corrected for chance.

    `equal`: (n,), each in [0, `slots`]. (n,) float64 in [0, 1].
    """
    return without_chance(equal / slots, bits)


def equal_slots(similarity: NDArray[np.float64], slots: int, bits: int) -> NDArray[np.intp]:
    """Return the numbers of equal slots that `slot_similarity` gave these similarities, (n,)."""
    equal: NDArray[np.intp] = np.rint(_fraction(similarity, bits) * slots).astype(np.intp)
    return equal


def _fraction(similarity: Any, bits: int) -> Any:
    """Return the fraction of equal slots to expect."""
    chance = 2.0**-bits if bits < FULL else 0.0
    return chance + (1 - chance) * similarity
