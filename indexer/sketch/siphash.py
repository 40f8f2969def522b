"""Hashes under a secret key: `sip24_v1` of runs of characters, `sip24_pairs_v1` of word pairs.

Without the key nobody can craft texts that a sketch treats in a chosen way. SipHash-2-4 (Aumasson &
Bernstein, "SipHash: a fast short-input PRF", Indocrypt 2012). All arithmetic is modulo 2**64.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indexer.sketch.hashing import CODE_BITS

_INITIAL = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
_SIXTEEN_BYTES = 16 << 56
_LETTER = (1 << 64) - 1  # the second word of a letter's message: no occurrence has this number
Words = NDArray[np.uint64]


def keyed_gram_hashes(codes: NDArray[np.uint32], width: int, key: tuple[int, int]) -> Words:
    """Return the hashes of all runs of `width` (1 to 6) code points under a key of two words.

    (max(0, n - width + 1),) uint64. The message has 16 bytes: c0 + c1 * 2**21 + c2 * 2**42 and c3 +
    c4 * 2**21 + c5 * 2**42 in little-endian order, a missing code point counting as 0: no two runs
    give the same message.

    >>> hex(int(keyed_gram_hashes(np.array([102, 111, 108, 100], dtype=np.uint32), 4, (1, 2))[0]))
    '0xc83a7b5cb3cf04bd'
    """
    count = max(0, len(codes) - width + 1)
    wide = codes.astype(np.uint64)
    halves = np.zeros((2, count), dtype=np.uint64)
    for place in range(width):
        halves[place // 3] |= wide[place : place + count] << np.uint64(CODE_BITS * (place % 3))
    return siphash24(halves[0], halves[1], key)


def keyed_letter_hashes(letters: Words, key: tuple[int, int]) -> Words:
    """Return the keyed hash of each letter at its place, given as code + place * 2**21."""
    return siphash24(letters, np.full(len(letters), _LETTER, dtype=np.uint64), key)


def siphash24(first: Words, second: Words, key: tuple[int, int]) -> Words:
    """Return the keyed hash of each message of 16 bytes, given as two little-endian words."""
    start = zip(_INITIAL, (*key, *key), strict=True)
    state = [np.full(len(first), initial ^ half, dtype=np.uint64) for initial, half in start]
    for word in (first, second, np.uint64(_SIXTEEN_BYTES)):
        state[3] = state[3] ^ word
        _rounds(state, 2)
        state[0] = state[0] ^ word
    state[2] = state[2] ^ np.uint64(0xFF)
    _rounds(state, 4)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def _rounds(state: list[Words], count: int) -> None:
    """Apply `count` SipRounds; `state` is changed in place."""
    a, b, c, d = state
    for _ in range(count):
        a, c = a + b, c + d
        b, d = _turned(b, 13) ^ a, _turned(d, 16) ^ c
        a = _turned(a, 32)
        a, c = a + d, c + b
        d, b = _turned(d, 21) ^ a, _turned(b, 17) ^ c
        c = _turned(c, 32)
    state[:] = a, b, c, d


def _turned(words: Words, bits: int) -> Words:
    turned: Words = words << np.uint64(bits) | words >> np.uint64(64 - bits)
    return turned
