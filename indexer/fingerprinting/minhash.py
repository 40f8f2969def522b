"""MinHash sketches: how they are made, compared, and what their equal slots estimate.

The default is Fast Similarity Sketching: Dahlgaard, Knudsen & Thorup, "Fast Similarity Sketching",
FOCS 2017. Equal slots of two sketches estimate the Jaccard similarity of their feature sets without
bias. It takes one pass over long texts, and has a lower error than k hash functions on short ones.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, TypeAlias

import mmh3
import numpy as np
from numpy.typing import NDArray

from indexer.errors import NoFeatures, UnknownName, UsageError
from indexer.fingerprinting.hashing import GAMMA, mix64, mix64_array, natural_log
from indexer.fingerprinting.keys import band_hashes, unpack_slots
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


# Classic MinHash: the minimum of each of k permutations, with the same bits as datasketch.

Hash = Callable[[bytes], int]

_SEED = 1
_MERSENNE = np.uint64((1 << 61) - 1)
_LOW_32_BITS = np.uint64((1 << 32) - 1)
_CHUNK = 1024  # features that are permuted together
SCHEMES = ("affine32", "affine64", "legacy")


@dataclass(frozen=True, slots=True)
class _Mixer:
    """A MurmurHash3 finaliser: xor-shift, multiply, xor-shift, multiply, xor-shift."""

    first: int
    multiplier: int
    second: int
    other: int
    third: int


_MIX32 = _Mixer(16, 0x85EBCA6B, 13, 0xC2B2AE35, 16)
_MIX64 = _Mixer(33, 0xFF51AFD7ED558CCD, 33, 0xC4CEB9FE1A85EC53, 33)


def sha1_32(feature: bytes) -> int:
    """Return the first 4 bytes of SHA-1, little-endian.

    >>> sha1_32(b"token")
    108566510
    """
    return int.from_bytes(hashlib.sha1(feature, usedforsecurity=False).digest()[:4], "little")


def sha1_64(feature: bytes) -> int:
    """Return the first 8 bytes of SHA-1, little-endian, as `affine64` uses by default."""
    return int.from_bytes(hashlib.sha1(feature, usedforsecurity=False).digest()[:8], "little")


def mmh3_32(feature: bytes) -> int:
    """Return MurmurHash3 x86_32 with seed 0, unsigned."""
    return mmh3.hash(feature, signed=False)


HASHES: dict[str, Hash] = {"sha1": sha1_32, "mmh3": mmh3_32, "crc32": zlib.crc32}


def feature_hashes(
    features: Iterable[bytes], name: str = "sha1", scheme: str = "affine32"
) -> NDArray[np.uint64]:
    """Return the distinct hashes of features, ascending, (n,) uint64.

    32 bits wide, but 64 for SHA-1 under `affine64`. Raises `UnknownName` for another hash or
    scheme.

    >>> feature_hashes([b"b", b"a", b"a"], "crc32").tolist()
    [1908338681, 3904355907]
    """
    _check("hash", name, tuple(HASHES))
    _check("scheme", scheme, SCHEMES)
    function = sha1_64 if (name, scheme) == ("sha1", "affine64") else HASHES[name]
    return np.array(sorted({function(feature) for feature in features}), dtype=np.uint64)


def permuted_minima(
    hashes: NDArray[np.uint64], slots: int, scheme: str = "affine32"
) -> NDArray[Any]:
    """Return the minimum value of each of `slots` permutations.

    (slots,) uint32, uint64 under `affine64`. Repeats change nothing. An empty set has no sketch:
    raises `NoFeatures`. Raises `UnknownName` for another scheme.

    >>> permuted_minima(feature_hashes([b"a", b"b"]), 3).tolist()
    [1200720104, 1576973892, 798820969]
    """
    _check("scheme", scheme, SCHEMES)
    if len(hashes) == 0:
        raise NoFeatures
    kind = np.uint64 if scheme == "affine64" else np.uint32
    minima = np.full(slots, np.iinfo(kind).max, dtype=kind)
    for start in range(0, len(hashes), _CHUNK):
        values = _permute(hashes[start : start + _CHUNK, None], slots, scheme)
        np.minimum(minima, values.min(axis=0).astype(kind), out=minima)
    return minima


def _permute(hashes: NDArray[np.uint64], slots: int, scheme: str) -> NDArray[Any]:
    """Return the (n, slots) values of all permutations of (n, 1) hashes."""
    factors, terms = _parameters(slots, scheme)
    values: NDArray[Any]
    if scheme == "legacy":
        values = (hashes * factors + terms) % _MERSENNE & _LOW_32_BITS
        return values
    mixer = _MIX32 if scheme == "affine32" else _MIX64
    values = _mix(hashes.astype(factors.dtype), mixer) * factors + terms
    return values


def _mix(values: NDArray[Any], mixer: _Mixer) -> NDArray[Any]:
    kind = values.dtype.type
    values = (values ^ (values >> kind(mixer.first))) * kind(mixer.multiplier)
    values = (values ^ (values >> kind(mixer.second))) * kind(mixer.other)
    mixed: NDArray[Any] = values ^ (values >> kind(mixer.third))
    return mixed


@cache
def _parameters(slots: int, scheme: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return factors and terms of the permutations, in datasketch's order of generation."""
    generator = np.random.RandomState(_SEED)
    if scheme == "legacy":
        pairs = np.empty((slots, 2), dtype=np.uint64)
        for pair in pairs:
            pair[0] = generator.randint(1, _MERSENNE, dtype=np.uint64)
            pair[1] = generator.randint(0, _MERSENNE, dtype=np.uint64)
        return pairs[:, 0], pairs[:, 1]
    width, kind = (32, np.uint32) if scheme == "affine32" else (64, np.uint64)
    factors = generator.randint(0, 1 << (width - 1), slots, dtype=kind) * kind(2) + kind(1)
    return factors, generator.randint(0, 1 << width, slots, dtype=kind)


def _check(what: str, name: str, known: tuple[str, ...]) -> None:
    if name not in known:
        raise UnknownName(what, name, known)


# The MinHash of the signature study: the minima of four truncated cryptographic hashes.

_HASHES = (("md5", 128), ("sha1", 160), ("sha256", 256), ("sha512", 512))
VERSIONS = ("first_v1", "last_v1")


def truncated_minhash(features: Iterable[bytes], bits: int, version: str = "first_v1") -> int:
    """Return the signature of a set of features, MD5's part most significant.

    Repeats change nothing. `bits` is a multiple of 4 from 16 to 1024; `truncated_width` gives the
    actual width. Raises `NoFeatures` for an empty set, `UsageError` for other widths, `UnknownName`
    for other versions.

    >>> hex(truncated_minhash([b"near", b"dupe"], 32))
    '0x85d843c6'
    >>> hex(truncated_minhash([b"near", b"dupe"], 32, "last_v1"))
    '0xe397647'
    """
    distinct = set(features)
    widths = _widths(bits, version)
    if not distinct:
        raise NoFeatures
    signature = 0
    for (name, length), width in zip(_HASHES, widths, strict=True):
        length_taken = min(width, length)
        digests = (hashlib.new(name, item, usedforsecurity=False).digest() for item in distinct)
        values = [int.from_bytes(digest, "big") for digest in digests]
        if version == "first_v1":
            minimum = min(value >> (length - length_taken) for value in values)
        else:
            minimum = min(value & ((1 << length_taken) - 1) for value in values)
        signature = signature << width | minimum
    return signature


def truncated_width(bits: int, version: str = "first_v1") -> int:
    """Return the number of bits of a signature.

    It is `bits`, except where `first_v1` would need more bits than a hash has.

    >>> truncated_width(512), truncated_width(1024), truncated_width(1024, "last_v1")
    (512, 800, 1024)
    """
    return sum(_widths(bits, version))


def _widths(bits: int, version: str) -> list[int]:
    if version not in VERSIONS:
        raise UnknownName("version", version, VERSIONS)
    if bits % 4 or not 16 <= bits <= 1024:
        raise UsageError(f"the signature has a multiple of 4 bits from 16 to 1024, not {bits}")
    return [min(bits // 4, length) if version == "first_v1" else bits // 4 for _, length in _HASHES]


# Weighted MinHash by improved consistent weighted sampling. `icws_v1`.

_DRAWS = 5
_CHUNK_VALUES = 1 << 16


def weighted_minhash(
    hashes: NDArray[np.uint64], weights: NDArray[np.float64], slots: int
) -> NDArray[np.uint32]:
    """Return the sketch of distinct 64-bit feature hashes with positive weights: (slots,) uint32.

    The order does not matter. A slot is 32 mixed bits of the sample (x, t) that wins it, so
    different samples agree with a chance of 2**-32. Raises `NoFeatures` for an empty set,
    `UsageError` when a weight is not positive.

    >>> weighted_minhash(np.array([1, 2], np.uint64), np.array([1.0, 0.5]), 3).tolist()
    [1452414493, 3687987351, 1452414493]
    """
    if len(hashes) == 0:
        raise NoFeatures
    if not np.all(weights > 0):
        raise UsageError("weights of features must be positive; leave out features of weight 0")
    logs = natural_log(weights.astype(np.float64))
    step = max(1, _CHUNK_VALUES // len(hashes))
    parts = [
        _samples(hashes, logs, np.arange(start, min(start + step, slots)))
        for start in range(0, slots, step)
    ]
    return np.concatenate(parts)


def _samples(
    hashes: NDArray[np.uint64], logs: NDArray[np.float64], slots: NDArray[np.int64]
) -> NDArray[np.uint32]:
    """Return the samples of slots.

    For each slot and feature r, c and beta are random; t = floor(ln S / r + beta); the lowest ln c
    - r (t - beta) - r wins.
    """
    draws = [_uniform(hashes, _DRAWS * slots + draw) for draw in range(_DRAWS)]
    spread = -natural_log(draws[0] * draws[1])  # two exponentials: a Gamma(2, 1) variable
    scale = -natural_log(draws[2] * draws[3])
    shift = draws[4]
    steps = np.floor(logs / spread + shift)
    winners = np.argmin(natural_log(scale) - spread * (steps - shift) - spread, axis=1)
    levels = steps[np.arange(len(slots)), winners].astype(np.int64).view(np.uint64)
    values: NDArray[np.uint32] = (
        mix64_array(hashes[winners] + mix64_array(levels)) >> np.uint64(32)
    ).astype(np.uint32)
    return values


def _uniform(hashes: NDArray[np.uint64], draws: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return (draws, features) numbers in (0, 1) with 52 random bits.

    Each is a function of its feature and its draw.
    """
    streams = (draws + 1).astype(np.uint64) * np.uint64(GAMMA)
    mixed = mix64_array(hashes + streams[:, None])
    numbers: NDArray[np.float64] = ((mixed >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
    return numbers


# Super-shingles and mega-shingles: hashes of groups of MinHash slots, and of pairs of groups.

GROUPS, ROWS = 6, 14  # groups of slots, and slots of a group
NEEDED = 2  # equal groups of near duplicates


def super_shingles(slots: NDArray[np.uint32]) -> tuple[int, ...]:
    """Return a 64-bit hash of each group of `ROWS` consecutive slots.

    Raises `UsageError` when there are too few slots.

    >>> len(super_shingles(np.arange(84, dtype=np.uint32)))
    6
    """
    needed = GROUPS * ROWS
    if len(slots) < needed:
        raise UsageError(
            f"{GROUPS} groups of {ROWS} slots need {needed} slots, not {len(slots)}; "
            "give a longer sketch"
        )
    return tuple(band_hashes(slots[None, :], GROUPS, ROWS)[0].tolist())


def mega_shingles(slots: NDArray[np.uint32]) -> tuple[int, ...]:
    """Return a 64-bit hash of each pair of super-shingles and their positions: 15 of 6.

    One in common means two super-shingles in common.
    """
    hashes = super_shingles(slots)
    pairs = itertools.combinations(range(GROUPS), NEEDED)
    return tuple(
        mix64(mix64(hashes[a] ^ a) ^ mix64(hashes[b] ^ b) ^ (a << 8 | b)) for a, b in pairs
    )


def chance(similarity: float) -> float:
    """Return the chance that two texts of this similarity share at least `NEEDED` groups.

    >>> round(chance(0.95), 3), round(chance(0.80), 4)
    (0.879, 0.0258)
    """
    equal = similarity**ROWS
    return sum(
        math.comb(GROUPS, count) * equal**count * (1 - equal) ** (GROUPS - count)
        for count in range(NEEDED, GROUPS + 1)
    )


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
    """Flag the packed sketches, (sketches, bytes), that have enough slots in common with a screen.

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
    """Return the candidates that pass a screen, or have no sketch, whatever their lengths."""
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
