"""b-bit MinHash: the low b bits of each slot, with an estimate that is corrected for chance.

Li & König, "b-Bit Minwise Hashing", WWW 2010. Two slots that differ still agree in their low b bits
with a chance of 2^-b, so slots agree with chance P = c + (1 - c) J with c = 2^-b, and J = (P - c) /
(1 - c). That is the paper's limit for feature sets that are small against the universe of features;
64-bit hashes leave no other case.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.errors import UsageError
from indexer.model import Estimate
from indexer.sketch.wilson import wilson

WIDTHS = (1, 2, 4, 8)
FULL = 32  # bits of a slot beyond which agreement by chance is ignored


def pack_low_bits(slots: NDArray[Any], bits: int) -> bytes:
    """Return the low `bits` (1, 2, 4 or 8) of each slot as bytes.

    The first slot is most significant; the last byte is padded with zeros.

    >>> pack_low_bits(np.array([0xA1, 0xB2, 0xC3], dtype=np.uint32), 4).hex()
    '1230'
    """
    _check(bits)
    rows = np.unpackbits(slots.astype(np.uint8)[:, None], axis=1)[:, 8 - bits :]
    return np.packbits(rows.ravel()).tobytes()


def unpack_low_bits(packed: bytes, bits: int, slots: int) -> NDArray[np.uint8]:
    """Return the slots that `pack_low_bits` packed: (slots,) uint8 below 2**bits.

    Raises `UsageError` when the lengths do not fit.

    >>> unpack_low_bits(bytes.fromhex("1230"), 4, 3).tolist()
    [1, 2, 3]
    """
    _check(bits)
    size = -(-slots * bits // 8)
    if len(packed) != size:
        raise UsageError(f"{slots} slots of {bits} bits take {size} bytes, not {len(packed)}")
    every_bit = np.unpackbits(np.frombuffer(packed, dtype=np.uint8), count=slots * bits)
    powers = (1 << np.arange(bits - 1, -1, -1)).astype(np.uint8)
    return every_bit.reshape(slots, bits) @ powers


def correct_for_chance(agreeing: int, slots: int, bits: int) -> Estimate:
    """Return the corrected estimate from the number of agreeing b-bit slots, clipped to [0, 1].

    The interval is Wilson's for the share of agreeing slots, corrected the same way. No slots: the
    interval is (0, 1).

    >>> estimate = correct_for_chance(72, 128, 1)
    >>> round(estimate.similarity, 3), round(estimate.low, 3), round(estimate.high, 3)
    (0.125, 0.0, 0.291)
    """
    _check(bits)
    share = agreeing / slots if slots else 0.0
    estimates = without_chance(np.array([share, *wilson(agreeing, slots)]), bits)
    return Estimate(*estimates.tolist())


def standard_error(similarity: float, slots: int, bits: int) -> float:
    """Return the standard deviation of the estimate before clipping (the paper's theorem 2).

    >>> round(standard_error(0.8, 128, 8), 4), round(standard_error(0.8, 128, 1), 4)
    (0.0354, 0.053)
    """
    chance = 2.0**-bits
    share = chance + (1 - chance) * similarity
    return math.sqrt(share * (1 - share) / slots) / (1 - chance)


def without_chance(shares: NDArray[np.float64], bits: int) -> NDArray[np.float64]:
    """Return the similarities that shares of agreeing slots of `bits` estimate, within [0, 1].

    The shares themselves for slots of `FULL` bits or more.

    >>> without_chance(np.array([1 / 256, 1.0]), 8).tolist()
    [0.0, 1.0]
    """
    chance = 2.0**-bits if bits < FULL else 0.0
    similarity: NDArray[np.float64] = np.clip((shares - chance) / (1 - chance), 0.0, 1.0)
    return similarity


def _check(bits: int) -> None:
    if bits not in WIDTHS:
        raise UsageError(f"slots are packed to 1, 2, 4 or 8 bits, not {bits}")
