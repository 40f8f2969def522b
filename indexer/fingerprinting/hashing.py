"""64-bit hashes of features, keyed hashes, and a logarithm with the same bits everywhere.

Only multiplication, xor and shifts modulo 2**64, so that any language can compute the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import mmh3
import numpy as np
from numpy.typing import NDArray

from indexer.fingerprinting.normalise import word_starts

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
    for position in range(width):
        part = wide[position : position + count] << np.uint64(CODE_BITS * (position % 3))
        packed += part * np.uint64(GRAM_MULTIPLIER) if position >= 3 else part
    return mix64_array(packed)


def distinct_hashes(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the distinct values of (n,) hashes, ascending.

    numpy's `unique` looks hashes up in a table since 2.3, which takes ten times as long as to sort
    the few thousand of a text.

    >>> distinct_hashes(np.array([5, 3, 5], dtype=np.uint64)).tolist()
    [3, 5]
    """
    return distinct_sorted(np.sort(hashes))


def distinct_values(values: NDArray[Any]) -> NDArray[Any]:
    """Return each value of an array once, ascending, as `np.unique`, which hashes numbers since
    NumPy 2.3 and takes ten times as long, or thirty times of a million.

    >>> distinct_values(np.array([7, 1, 7, 4])).tolist()
    [1, 4, 7]
    """
    return distinct_sorted(np.sort(values))


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
    sum, modulo 2**64, of mix64(code + position * 2**21) over its code points, positions from 0;
    `letter_hashes` replaces that inner mix64.

    >>> codes = np.array([ord(c) for c in "fold or fold"], dtype=np.uint32)
    >>> word_hashes(codes, np.array([0, 5, 8])).tolist()
    [6520343049697339722, 1962354902815163165, 6520343049697339722]
    """
    if len(starts) == 0:
        return np.empty(0, dtype=np.uint64)
    lengths = np.diff(np.append(starts, len(codes)))
    positions = np.arange(starts[0], len(codes)) - np.repeat(starts, lengths)
    characters = codes[starts[0] :].astype(np.uint64)
    terms = letter_hashes(characters + (positions.astype(np.uint64) << np.uint64(CODE_BITS)))
    terms[characters == BLANK] = 0
    return mix64_array(np.add.reduceat(terms, starts - starts[0]))


def shingle_hashes(words: NDArray[np.uint64], width: int) -> NDArray[np.uint64]:
    """Return the hash of each run of `width` consecutive words, in order.

    h = 0, then h = mix64(h xor word) for each word: (max(0, n - width + 1),) uint64.
    """
    count = max(0, len(words) - width + 1)
    hashes = np.zeros(count, dtype=np.uint64)
    for position in range(width):
        hashes = mix64_array(hashes ^ words[position : position + count])
    return hashes


# 64-bit hashes of features that are strings. `string64_v1`.


def string_hashes(features: Iterable[str]) -> NDArray[np.uint64]:
    """Return the hash of each feature, in order: (n,) uint64.

    It is the first 64 bits of MurmurHash3 x64 128 with seed 0 of the feature's UTF-8 octets; a
    surrogate escape is the octet that it stands for.

    >>> [hex(value) for value in string_hashes(["token", "été"]).tolist()]
    ['0x12716bd0d89a75dc', '0x53bf5f6c9b9d9a14']
    """
    octets = (feature.encode(errors="surrogateescape") for feature in features)
    hashes = [mmh3.hash64(encoded, signed=False)[0] for encoded in octets]
    return np.array(hashes, dtype=np.uint64)


# Hashes under a secret key: `sip24_v1` of runs of characters, `sip24_pairs_v1` of word pairs.

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
    for position in range(width):
        halves[position // 3] |= wide[position : position + count] << np.uint64(
            CODE_BITS * (position % 3)
        )
    return siphash24(halves[0], halves[1], key)


def keyed_letter_hashes(characters: Words, key: tuple[int, int]) -> Words:
    """Return the keyed hash of each letter at its position, given as code + position * 2**21."""
    return siphash24(characters, np.full(len(characters), _LETTER, dtype=np.uint64), key)


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


# The natural logarithm with the same bits on every machine.

_LN2_HIGH = 0.693147180369123816490  # 33 bits, so that its product with an exponent is exact
_LN2_LOW = 1.90821492927058770002e-10
_TERMS = range(23, 1, -2)


def natural_log(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return natural logarithms of positive finite numbers, right to about one part in 10^15.

    >>> natural_log(np.array([1.0, 2.0, 10.0])).round(12).tolist()
    [0.0, 0.69314718056, 2.302585092994]
    """
    mantissa, exponent = np.frexp(values)
    small = mantissa < 0.7071067811865476
    mantissa = np.where(small, 2.0 * mantissa, mantissa)
    exponent = (exponent - small).astype(np.float64)
    ratio = (mantissa - 1.0) / (mantissa + 1.0)
    square = ratio * ratio
    series = np.zeros_like(ratio)
    for odd in _TERMS:
        series = (series + 1.0 / odd) * square
    logs: NDArray[np.float64] = exponent * _LN2_HIGH + (
        2.0 * ratio * (1.0 + series) + exponent * _LN2_LOW
    )
    return logs


# Features of `default_v2`: the occurrences of word pairs.


def word_features(codes: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Return the features of code points normalised by `default_v2`, ascending by pair.

    `word_pairs_v1`: (words - 1,) uint64.

    >>> from indexer.fingerprinting.normalise import normalised_codes_v2
    >>> len(word_features(normalised_codes_v2("to be or not to be: 近似")))
    7
    """
    words = word_hashes(codes, word_starts(codes))
    return number_occurrences(shingle_hashes(words, 2))


def keyed_word_features(codes: NDArray[np.uint32], key: tuple[int, int]) -> NDArray[np.uint64]:
    """Return the features of code points normalised by `default_v2`, under a key of two words.

    `sip24_pairs_v1`: (words - 1,) uint64, ascending by pair. Words and pairs are hashed as without
    a key, except that the hash of a letter is SipHash-2-4 of [code + position * 2**21, 2**64 - 1];
    a feature is SipHash-2-4 of [pair, number of the occurrence from 0]. Messages have 16 bytes, two
    little-endian words.
    """
    words = word_hashes(codes, word_starts(codes), partial(keyed_letter_hashes, key=key))
    return siphash24(*occurrences(shingle_hashes(words, 2)), key)


def number_occurrences(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a hash for each occurrence of each hash, ascending by hash and occurrence: (n,).

    The first is the hash itself, occurrence k (from 0) mix64(hash + k * GAMMA).
    """
    ordered, before = occurrences(hashes)
    return np.where(before == 0, ordered, mix64_array(ordered + before * np.uint64(GAMMA)))


def occurrences(hashes: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the hashes in ascending order, and how many equal ones come before each: (n,) both."""
    ordered = np.sort(hashes)
    positions = np.arange(len(ordered))
    is_first = np.concatenate(([True], ordered[1:] != ordered[:-1]))[: len(ordered)]
    before = positions - np.maximum.accumulate(np.where(is_first, positions, 0))
    return ordered, before.astype(np.uint64)


def random_indexes(draws: int, seed: int, among: int) -> NDArray[np.int64]:
    """Return `draws` positions below `among`, with replacement, the same for the same seed.

    (draws,) int64; `among` is at least 1.
    """
    steps = np.arange(1, draws + 1, dtype=np.uint64) * np.uint64(GAMMA)
    randoms = mix64_array(steps + np.uint64(mix64(seed & MASK)))
    positions: NDArray[np.int64] = (randoms % np.uint64(among)).astype(np.int64)
    return positions
