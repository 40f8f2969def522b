"""Sketches of bits: SimHash, the majority of each bit over the feature hashes, and TopSig.

SimHash is by Charikar, STOC 2002.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from indexer.errors import NoFeatures, UnknownName, UsageError
from indexer.fingerprinting.hashing import GAMMA, distinct_hashes, mix64_array, natural_log
from indexer.fingerprinting.rare_terms import CorpusStatistics
from indexer.fingerprinting.tokens import Segmenter, tokens

# Sums of weighted vectors that are the same on every machine, and their signs as bits.

UNIT = 2.0**-20


def to_units(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights as whole numbers of 2^-20, halves to even.

    >>> to_units(np.array([1.0, -0.5, 1e-7])).tolist()
    [1048576.0, -524288.0, 0.0]
    """
    units: NDArray[np.float64] = np.rint(weights / UNIT)
    return units


def weighted_sum(vectors: NDArray[np.int8], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of the rows of (n, bits) vectors, each times its weight: (bits,) float64.

    Exact for whole-numbered weights while the sum of their sizes stays below 2**53.
    """
    total: NDArray[np.float64] = weights @ vectors.astype(np.float64)
    return total


def sign_bits(sums: NDArray[np.float64]) -> int:
    """Return a bit for each sum, the first most significant: 1 when it is strictly positive.

    A tie gives 0.

    >>> bin(sign_bits(np.array([2.0, -1.0, 0.0, 0.5])))
    '0b1001'
    """
    bits = np.packbits(sums > 0)
    return int.from_bytes(bits.tobytes(), "big") >> (-len(sums) % 8)


def simhash(hashes: NDArray[np.uint64]) -> int:
    """Return the 64-bit SimHash of the distinct values of `hashes`. `distinct_v1`.

    Bit b is 1 when strictly more than half of the distinct hashes have it set; a tie gives 0. Each
    feature counts once: raw frequency lets a few frequent features decide every bit. An empty set
    has no sketch: raises `NoFeatures`.

    >>> simhash(np.array([3, 5, 5], dtype=np.uint64))
    1
    """
    if len(hashes) == 0:
        raise NoFeatures
    distinct = distinct_hashes(hashes)
    rows = np.unpackbits(distinct.astype(">u8").view(np.uint8)).reshape(-1, 64)
    bits = 2 * rows.sum(axis=0, dtype=np.int64) > len(distinct)
    return int.from_bytes(np.packbits(bits).tobytes(), "big")


# SimHash of any length by SHAKE256 of the SHA-3 family, or by SHA-512 up to 512 bits.

HASHES = ("shake_256", "sha512")
SHA512_BITS = 512
_CHUNK = 1024  # features that are counted together


def shake_simhash(features: Iterable[bytes], bits: int, hash: str = "shake_256") -> int:
    """Return the signature of features, repeats counted. `raw_v1`.

    It has `bits` bits, a multiple of 8. `hash` is `shake_256`, or `sha512`, of which a signature
    takes the first bits. Raises `NoFeatures` without features, and `UsageError` for another width
    or more bits than the hash has.

    >>> hex(shake_simhash([b"near", b"dupe", b"near"], 32))
    '0x4ee05b58'
    """
    return shake_projection(Counter(features), bits, hash)


def shake_projection(weights: Mapping[bytes, float], bits: int, hash: str = "shake_256") -> int:
    """Return the signature of distinct features with weights, rounded to 2**-20.

    Negative weights vote the other way round.
    """
    if bits <= 0 or bits % 8:
        raise UsageError(f"a fingerprint has a positive multiple of 8 bits, not {bits}")
    if hash not in HASHES:
        raise UnknownName("hash", hash, HASHES)
    if hash == "sha512" and bits > SHA512_BITS:
        raise UsageError(f"SHA-512 has {SHA512_BITS} bits, not {bits}; use fewer")
    if not weights:
        raise NoFeatures
    features = list(weights)
    units = to_units(np.array(list(weights.values()), dtype=np.float64))
    sums = np.zeros(bits)
    for start in range(0, len(features), _CHUNK):
        votes = _votes(features[start : start + _CHUNK], bits, hash)
        sums += weighted_sum(votes, units[start : start + _CHUNK])
    return sign_bits(sums)


def _votes(features: list[bytes], bits: int, hash: str) -> NDArray[np.int8]:
    """Return the votes of each feature, (n, bits) of 1 and -1."""
    if hash == "sha512":
        digests = b"".join(hashlib.sha512(feature).digest()[: bits // 8] for feature in features)
    else:
        digests = b"".join(hashlib.shake_256(feature).digest(bits // 8) for feature in features)
    rows = np.unpackbits(np.frombuffer(digests, dtype=np.uint8)).reshape(len(features), bits)
    return 2 * rows.view(np.int8) - 1


# Jenkins' lookup3 hash of many keys at once.

Words = NDArray[np.uint32]

START = 0xDEADBEEF
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
        positions = np.flatnonzero(blocks == count)
        same_length = [keys[position] for position in positions.tolist()]
        first[positions], second[positions] = _hash_blocks(same_length, count, pc, pb)
    return first, second


def _hash_blocks(keys: list[bytes], blocks: int, pc: int, pb: int) -> tuple[Words, Words]:
    """Return `hashlittle2` of keys that all have the same number of 12-byte blocks."""
    lengths = np.array([len(key) for key in keys], dtype=np.uint32)
    a = b = lengths + np.uint32((START + pc) % (1 << 32))
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


def _rotated(word: Words, positions: int) -> Words:
    turned: Words = word << np.uint32(positions) | word >> np.uint32(32 - positions)
    return turned


# The SimHash of tokens by the `simhash-doc` scheme.

BITS = 64
VERSIONS = ("v1", "v2", "v3", "v4", "v5", "v6")
_DISTINCT = ("v4",)


def simhash_doc_tokens(words: Sequence[str], version: str = "v2") -> int:
    """Return the 64 bits of tokens, for callers with their own tokeniser.

    Each repeat counts, except in `v4`.
    """
    if version not in VERSIONS:
        raise UnknownName("version", version, VERSIONS)
    if not words:
        raise NoFeatures
    counts = Counter(words)
    hashes = jenkins64([word.encode() for word in counts])
    bits = np.unpackbits(hashes.astype(">u8").view(np.uint8)).reshape(-1, BITS)
    votes = 2 * bits.view(np.int8) - 1
    weights = np.array(list(counts.values()), dtype=np.float64)
    if version in _DISTINCT:
        weights = np.ones(len(counts))
    return sign_bits(weighted_sum(votes, weights))


# The `simhash-doc` scheme: 64-bit SimHash of a document's tokens, and its serialised form.

LOOSE, CLOSE = 0.90, 0.98  # similarities for which tables are made
_SPELLING = re.compile(r"simhash-doc-(v[1-9][0-9]*):([a-z2-7]{13})", re.ASCII)


def simhash_doc(
    text: str,
    version: str = "v2",
    stop_words: Collection[str] = (),
    segmenter: Segmenter | None = None,
) -> int:
    """Return the 64 bits of a text.

    Raises `NoFeatures` for a text without tokens, `UnknownName` for another version. A stop list or
    a segmenter makes another scheme: sketches compare only when both are equal.

    >>> format_base32(simhash_doc("The quick brown fox jumps over the lazy dog"), "v2")
    'simhash-doc-v2:4l24lemdc4rhm'
    """
    return simhash_doc_tokens(tokens(text, version, stop_words, segmenter), version)


def format_base32(bits: int, version: str) -> str:
    """Return the serialised form: scheme, version, colon, and the 8 octets in base32.

    Base32 is as in RFC 4648, in lower case without padding.

    >>> format_base32(0x0123456789ABCDEF, "v1")
    'simhash-doc-v1:aerukz4jvpg66'
    """
    digits = base64.b32encode(bits.to_bytes(8, "big")).decode().rstrip("=").lower()
    return f"simhash-doc-{version}:{digits}"


def parse_base32(spelling: str) -> tuple[int, str]:
    """Return the bits and the version of a serialised form; its case does not matter.

    Raises `UsageError` for any other string.

    >>> parse_base32("SIMHASH-DOC-V1:AERUKZ4JVPG66") == (0x0123456789ABCDEF, "v1")
    True
    """
    match = _SPELLING.fullmatch(spelling.lower())
    if match is None or match[1] not in VERSIONS:
        raise UsageError(
            f"{spelling!r} is not a simhash-doc; one looks like simhash-doc-v1:aerukz4jvpg66"
        )
    try:
        bits = int.from_bytes(base64.b32decode(match[2].upper() + "==="), "big")
    except binascii.Error:
        raise UsageError(f"{spelling!r} is not a simhash-doc: its base32 is damaged") from None
    if format_base32(bits, match[1]) != spelling.lower():
        raise UsageError(
            f"{spelling!r} is not a simhash-doc: its last character has bits that no sketch sets"
        )
    return bits, match[1]


# TopSig: signatures of N bits from sums of sparse random vectors of -1, 0 and 1.

VECTORS = ("paper_v1", "released_v1")
WEIGHTS = ("frequency_v1", "log_ratio_v1", "log_ratio_tool_v1")
_CHUNK_BITS = 1 << 18  # bits that are computed together


def topsig(
    hashes: NDArray[np.uint64],
    bits: int,
    statistics: CorpusStatistics | None = None,
    vectors: str = "paper_v1",
    weights: str | None = None,
) -> int:
    """Return the signature of a text from the hashes of its features, with repeats, in any order.

    `bits` is 16 to 1024, a multiple of 8. Weights are by default `log_ratio_v1` with statistics and
    `frequency_v1` without. Raises `NoFeatures` without features, `UsageError` for other settings.

    >>> hex(topsig(np.array([1, 2, 2, 3], np.uint64), 32))
    '0x90014858'
    """
    if bits % 8 or not 16 <= bits <= 1024:
        raise UsageError(f"a fingerprint has a multiple of 8 bits from 16 to 1024, not {bits}")
    distinct, values = feature_weights(hashes, statistics, weights)
    units = to_units(values)
    sums = np.zeros(bits)
    step = _CHUNK_BITS // bits
    for start in range(0, len(distinct), step):
        part = slice(start, start + step)
        sums += weighted_sum(sparse_vectors(distinct[part], bits, vectors), units[part])
    return sign_bits(sums)


def sparse_vectors(
    hashes: NDArray[np.uint64], bits: int, vectors: str = "paper_v1"
) -> NDArray[np.int8]:
    """Return the vectors of features: (n, bits) of -1, 0 and 1.

    Entry i comes from y = mix64(hash + (i + 1) GAMMA): not zero when the upper half of y is below
    the chance times 2**32, and then 1 when y is odd, else -1.
    """
    positions = np.arange(1, bits + 1, dtype=np.uint64) * np.uint64(GAMMA)
    mixed = mix64_array(hashes[:, None] + positions)
    present = mixed >> np.uint64(32) < np.uint64(_threshold(bits, vectors))
    signs = (mixed & np.uint64(1)).astype(np.int8) * 2 - 1
    return np.where(present, signs, 0).astype(np.int8)


def feature_weights(
    hashes: NDArray[np.uint64],
    statistics: CorpusStatistics | None = None,
    weights: str | None = None,
) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
    """Return the distinct features, ascending, and their weights: (n,) uint64, (n,) float64."""
    weights = weights or ("frequency_v1" if statistics is None else "log_ratio_v1")
    if weights not in WEIGHTS:
        raise UnknownName("weights", weights, WEIGHTS)
    if len(hashes) == 0:
        raise NoFeatures
    distinct, times = np.unique(hashes, return_counts=True)
    frequency = times.astype(np.float64)
    if weights == "frequency_v1":
        return distinct, frequency
    if statistics is None:
        raise UsageError(f"weights {weights} need corpus statistics")
    logs = _log_ratios(distinct, frequency, len(hashes), statistics)
    if weights == "log_ratio_tool_v1":
        return distinct, np.where(logs > 0, logs * (frequency - 0.5), frequency)
    return distinct, logs


def _log_ratios(
    distinct: NDArray[np.uint64],
    frequency: NDArray[np.float64],
    length: int,
    statistics: CorpusStatistics,
) -> NDArray[np.float64]:
    """Return ln((tf / |d|) / (cf / |C|)) = ln(tf |C| / (cf |d|))."""
    in_corpus = np.maximum(statistics.occurrences(distinct), frequency)
    return natural_log(frequency * max(statistics.length, length) / (in_corpus * length))


def _threshold(bits: int, vectors: str) -> int:
    """Return the chance of an entry that is not zero, times 2**32, rounded down."""
    if vectors == "paper_v1":
        return math.isqrt((1 << 64) // bits)
    if vectors == "released_v1":
        return 1 << 28 if bits <= 256 else 1 << 27
    raise UnknownName("vectors", vectors, VECTORS)
