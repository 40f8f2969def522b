"""The byte layout of stored sketches, big-endian."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def pack_slots(slots: NDArray[np.uint32]) -> bytes:
    """Return slots as big-endian unsigned 32-bit words, 4 * len(slots) bytes.

    >>> pack_slots(np.array([1, 258], dtype=np.uint32)).hex()
    '0000000100000102'
    """
    return slots.astype(">u4").tobytes()


def unpack_slots(packed: bytes) -> NDArray[np.uint32]:
    """Return the slots that `pack_slots` packed, (len(packed) // 4,) uint32.

    >>> unpack_slots(bytes.fromhex("0000000100000102")).tolist()
    [1, 258]
    """
    return np.frombuffer(packed, dtype=">u4").astype(np.uint32)


def signed64(bits: int) -> int:
    """Return the signed number with the same 64 bits, as engines' `long` and SQLite store it.

    >>> signed64(2**64 - 1)
    -1
    """
    return bits - (1 << 64) if bits >= 1 << 63 else bits


def unsigned64(number: int) -> int:
    """Return the unsigned number with the same 64 bits, the inverse of `signed64`.

    >>> unsigned64(-1) == 2**64 - 1
    True
    """
    return number % (1 << 64)
