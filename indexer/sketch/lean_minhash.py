"""The serialised form of datasketch's `LeanMinHash`, to read stores of datasketch or copietje.

Layout: seed, 8 bytes signed; number of slots, 4 bytes signed, negative since datasketch 2.0 and
then followed by one byte that names the scheme; the slots, 4 bytes each, 8 under `affine64`.
copietje writes big-endian (`!`).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.errors import UsageError

_CODES = {1: "affine32", 2: "affine64"}
_NUMBERS = {name: code for code, name in _CODES.items()}


@dataclass(frozen=True, slots=True, eq=False)
class StoredSketch:
    """Slots with their scheme and seed; different schemes or seeds do not compare."""

    slots: NDArray[Any]
    scheme: str
    seed: int = 1


def unpack_lean(packed: bytes, byte_order: str = "!") -> StoredSketch:
    """Read one stored sketch; slots are uint32, uint64 under `affine64`.

    `byte_order` is one of the characters of Python's `struct`: `!` big-endian, `<` little-endian,
    `@` native with padding (datasketch's default). Raises `UsageError` for other bytes.
    """
    try:
        seed, count = struct.unpack_from(f"{byte_order}qi", packed)
        head, scheme = f"{byte_order}qi", "legacy"
        if count < 0:
            head, count = f"{head}B", -count
            scheme = _CODES[struct.unpack_from(head, packed)[2]]
        body = f"{head}{count}{'Q' if scheme == 'affine64' else 'I'}"
        slots = struct.unpack_from(body, packed)[-count:] if count else ()
    except (struct.error, KeyError):
        raise UsageError("these bytes are not a LeanMinHash; try another byte order") from None
    size = struct.calcsize(body)
    if len(packed) != size:
        raise UsageError(
            f"a LeanMinHash of {count} slots has {size} bytes, not {len(packed)}; "
            "try another byte order"
        )
    kind = np.uint64 if scheme == "affine64" else np.uint32
    return StoredSketch(np.array(slots, dtype=kind), scheme, seed)


def pack_lean(sketch: StoredSketch, byte_order: str = "!") -> bytes:
    """Return a sketch as datasketch serialises it; the inverse of `unpack_lean`.

    >>> pack_lean(StoredSketch(np.array([258], dtype=np.uint32), "legacy")).hex()
    '00000000000000010000000100000102'
    """
    count, slots = len(sketch.slots), sketch.slots.tolist()
    if sketch.scheme == "legacy":
        return struct.pack(f"{byte_order}qi{count}I", sketch.seed, count, *slots)
    letter = "Q" if sketch.scheme == "affine64" else "I"
    return struct.pack(
        f"{byte_order}qiB{count}{letter}", sketch.seed, -count, _NUMBERS[sketch.scheme], *slots
    )
