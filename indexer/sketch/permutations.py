"""Classic MinHash: the least value of each of k permutations, with the same bits as datasketch.

Broder, "On the resemblance and containment of documents", SEQUENCES 1997. Three schemes of
datasketch:

* `affine32`, its default since 2.0: h = fmix32(hash), then (a h + b) mod 2^32 with odd a;
* `affine64`: the same over 64 bits;
* `legacy`, the only one before 2.0 (which copietje pins): ((a h + b) mod 2^64 mod (2^61 - 1)) mod
  2^32. The first modulus is the overflow of 64-bit words; on large sets it estimates too high.

The permutations are those of datasketch's seed 1, from NumPy's frozen legacy generator.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import mmh3
import numpy as np
from numpy.typing import NDArray

from indexer.errors import NoFeatures, UnknownName

Hash = Callable[[bytes], int]

_SEED = 1
_MERSENNE = np.uint64((1 << 61) - 1)
_LOW = np.uint64((1 << 32) - 1)
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
    """Return the least value of each of `slots` permutations.

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
        values = (hashes * factors + terms) % _MERSENNE & _LOW
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
