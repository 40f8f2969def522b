"""The byte layout of stored sketches, big-endian."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def pack_slots(slots: NDArray[Any]) -> bytes:
    """Return slots as big-endian unsigned numbers of their own size, 4 bytes or 1.

    >>> pack_slots(np.array([1, 258], dtype=np.uint32)).hex()
    '0000000100000102'
    """
    return slots.astype(slots.dtype.newbyteorder(">")).tobytes()


def unpack_slots(packed: bytes, slot_bytes: int = 4) -> NDArray[Any]:
    """Return the slots that `pack_slots` packed: uint32, or uint8 with one byte a slot.

    >>> unpack_slots(bytes.fromhex("0000000100000102")).tolist()
    [1, 258]
    >>> unpack_slots(bytes.fromhex("0102"), 1).tolist()
    [1, 2]
    """
    native = np.dtype(f"u{slot_bytes}")
    return np.frombuffer(packed, dtype=native.newbyteorder(">")).astype(native)


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
