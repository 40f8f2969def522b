"""64-bit mixing of features.

Only multiplication, xor and shifts modulo 2**64, so that any language can compute the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

MASK = (1 << 64) - 1
GAMMA = 0x9E3779B97F4A7C15
GRAM_MULTIPLIER = 0xD1342543DE82EF95
MIX_ONE = 0xBF58476D1CE4E5B9
MIX_TWO = 0x94D049BB133111EB
CODE_BITS = 21
BLANK = 0x20
MAX_GRAM = 6


def mix64(value: int) -> int:
    """Mix 64 bits; a bijection in which each input bit flips each output bit with chance 1/2.

    Stafford's variant 13 of the MurmurHash3 finaliser, as in SplitMix64 (Steele, Lea & Flood,
    OOPSLA 2014).

    >>> hex(mix64(1))
    '0x5692161d100b05e5'
    """
    value ^= value >> 30
    value = value * MIX_ONE & MASK
    value ^= value >> 27
    value = value * MIX_TWO & MASK
    return value ^ value >> 31


def mix64_array(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return `mix64` of every element, in the shape of `values`."""
    mixed: NDArray[np.uint64] = values ^ (values >> np.uint64(30))
    mixed = mixed * np.uint64(MIX_ONE)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(MIX_TWO)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def gram_hashes(codes: NDArray[np.uint32], width: int) -> NDArray[np.uint64]:
    """Return the hashes of all runs of `width` (1 to 6) code points, in order. `gram64_v1`.

    (max(0, n - width + 1),) uint64. With p(a, b, c) = a + b * 2**21 + c * 2**42 (a missing code
    point counts as 0), hash = mix64(p(c0, c1, c2) + GRAM_MULTIPLIER * p(c3, c4, c5) + GAMMA). Code
    points have 21 bits, so p is one-to-one.

    >>> gram_hashes(np.array([102, 111, 108, 100], dtype=np.uint32), 4).tolist()
    [15197965243600533015]
    """
    count = len(codes) - width + 1
    if count <= 0:
        return np.empty(0, dtype=np.uint64)
    wide = codes.astype(np.uint64)
    packed = np.full(count, GAMMA, dtype=np.uint64)
    for place in range(width):
        part = wide[place : place + count] << np.uint64(CODE_BITS * (place % 3))
        packed += part * np.uint64(GRAM_MULTIPLIER) if place >= 3 else part
    return mix64_array(packed)


def distinct_hashes(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the distinct values of (n,) hashes, ascending.

    numpy's `unique` looks hashes up in a table since 2.3, which takes ten times as long as to sort
    the few thousand of a text.

    >>> distinct_hashes(np.array([5, 3, 5], dtype=np.uint64)).tolist()
    [3, 5]
    """
    return distinct_sorted(np.sort(hashes))


def distinct_sorted(values: NDArray[Any]) -> NDArray[Any]:
    """Return each value of a sorted array once.

    >>> distinct_sorted(np.array([1, 1, 4, 7, 7], dtype=np.uint64)).tolist()
    [1, 4, 7]
    """
    is_first = np.ones(len(values), dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=is_first[1:])
    first: NDArray[Any] = values[is_first]
    return first


def word_hashes(
    codes: NDArray[np.uint32],
    starts: NDArray[np.intp],
    letter_hashes: Callable[[NDArray[np.uint64]], NDArray[np.uint64]] = mix64_array,
) -> NDArray[np.uint64]:
    """Return the hash of each word, given where the words start. `word64_v1`.

    A word goes to the next start, without the blanks (U+0020) at its end. The hash is mix64 of the
    sum, modulo 2**64, of mix64(code + place * 2**21) over its code points, places from 0;
    `letter_hashes` takes the place of that inner mix64.

    >>> codes = np.array([ord(c) for c in "fold or fold"], dtype=np.uint32)
    >>> word_hashes(codes, np.array([0, 5, 8])).tolist()
    [6520343049697339722, 1962354902815163165, 6520343049697339722]
    """
    if len(starts) == 0:
        return np.empty(0, dtype=np.uint64)
    lengths = np.diff(np.append(starts, len(codes)))
    places = np.arange(starts[0], len(codes)) - np.repeat(starts, lengths)
    shown = codes[starts[0] :].astype(np.uint64)
    terms = letter_hashes(shown + (places.astype(np.uint64) << np.uint64(CODE_BITS)))
    terms[shown == BLANK] = 0
    return mix64_array(np.add.reduceat(terms, starts - starts[0]))


def shingle_hashes(words: NDArray[np.uint64], width: int) -> NDArray[np.uint64]:
    """Return the hash of each run of `width` consecutive words, in order.

    h = 0, then h = mix64(h xor word) for each word: (max(0, n - width + 1),) uint64.
    """
    count = max(0, len(words) - width + 1)
    hashes = np.zeros(count, dtype=np.uint64)
    for place in range(width):
        hashes = mix64_array(hashes ^ words[place : place + count])
    return hashes
