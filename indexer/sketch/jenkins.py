"""Jenkins' lookup3 hash of many keys at once.

Written from the definition of `hashlittle2` in Bob Jenkins' lookup3.c (May 2006, public domain);
its self-test's vectors are in the tests. All arithmetic is modulo 2**32.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint32]

_START = 0xDEADBEEF
_BLOCK = 12


def jenkins64(keys: Sequence[bytes]) -> NDArray[np.uint64]:
    """Return 64-bit hashes, (n,) uint64.

    By hashlittle2 with both seeds zero, *pc + (*pb << 32), as lookup3.c recommends.

    >>> [hex(value) for value in jenkins64([b"", b"Four score and seven years ago"]).tolist()]
    ['0xdeadbeefdeadbeef', '0xce7226e617770551']
    """
    low, high = hashlittle2(keys)
    joined: NDArray[np.uint64] = high.astype(np.uint64) << np.uint64(32) | low.astype(np.uint64)
    return joined


def hashlittle2(keys: Sequence[bytes], pc: int = 0, pb: int = 0) -> tuple[Words, Words]:
    """Return *pc and *pb after hashlittle2 of each key with these seeds: (n,) uint32 each.

    >>> pc, pb = hashlittle2([b"Four score and seven years ago"], pc=0, pb=1)
    >>> hex(pc[0]), hex(pb[0])
    ('0xe3607cae', '0xbd371de4')
    """
    first, second = np.empty(len(keys), np.uint32), np.empty(len(keys), np.uint32)
    blocks = np.array([-(-len(key) // _BLOCK) for key in keys], dtype=np.int64)
    for count in np.unique(blocks).tolist():
        places = np.flatnonzero(blocks == count)
        same_length = [keys[place] for place in places.tolist()]
        first[places], second[places] = _hash_blocks(same_length, count, pc, pb)
    return first, second


def _hash_blocks(keys: list[bytes], blocks: int, pc: int, pb: int) -> tuple[Words, Words]:
    """Return `hashlittle2` of keys that all have the same number of 12-byte blocks."""
    lengths = np.array([len(key) for key in keys], dtype=np.uint32)
    a = b = lengths + np.uint32((_START + pc) % (1 << 32))
    c = a + np.uint32(pb)
    padded = b"".join(key.ljust(blocks * _BLOCK, b"\0") for key in keys)
    words = np.frombuffer(padded, "<u4").reshape(len(keys), -1)
    for start in range(0, 3 * blocks, 3):
        a, b, c = a + words[:, start], b + words[:, start + 1], c + words[:, start + 2]
        a, b, c = _final(a, b, c) if start == 3 * (blocks - 1) else _mix(a, b, c)
    return c, b


def _mix(a: Words, b: Words, c: Words) -> tuple[Words, Words, Words]:
    for rotation in (4, 6, 8, 16, 19, 4):
        a = (a - c) ^ _rotated(c, rotation)
        c = c + b
        a, b, c = b, c, a
    return a, b, c


def _final(a: Words, b: Words, c: Words) -> tuple[Words, Words, Words]:
    for rotation in (14, 11, 25, 16, 4, 14, 24):
        c = (c ^ b) - _rotated(b, rotation)
        a, b, c = b, c, a
    return c, a, b


def _rotated(word: Words, places: int) -> Words:
    turned: Words = word << np.uint32(places) | word >> np.uint32(32 - places)
    return turned
