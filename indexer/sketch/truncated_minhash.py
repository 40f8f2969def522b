"""The MinHash of the signature study: the minima of four truncated cryptographic hashes.

Roegiest & Lee, SIGIR 2019: for N bits, MD5, SHA-1, SHA-256 and SHA-512 of every feature are cut to
N / 4 bits, and the least value of each hash is kept. The paper cuts to the first bits (`first_v1`);
its released code cuts to the last (`last_v1`).

At N = 1024 a quarter is 256 bits, more than MD5 (128) and SHA-1 (160) have. The definition then
takes the whole hash, so a `first_v1` signature of 1024 bits has 128 + 160 + 256 + 256 = 800; the
released code fills its quarters up with leading zeros, so `last_v1` has 1024, of which 224 are
always zero. N = 768 is the same case on a smaller scale (MD5 and SHA-1 under 192 bits).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from indexer.errors import NoFeatures, UnknownName, UsageError

_HASHES = (("md5", 128), ("sha1", 160), ("sha256", 256), ("sha512", 512))
VERSIONS = ("first_v1", "last_v1")


def truncated_minhash(features: Iterable[bytes], bits: int, version: str = "first_v1") -> int:
    """Return the signature of a set of features, MD5's part most significant.

    Repeats change nothing. `bits` is a multiple of 4 from 16 to 1024; `signature_width` gives the
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
            least = min(value >> (length - length_taken) for value in values)
        else:
            least = min(value & ((1 << length_taken) - 1) for value in values)
        signature = signature << width | least
    return signature


def signature_width(bits: int, version: str = "first_v1") -> int:
    """Return the number of bits of a signature.

    It is `bits`, except where `first_v1` would need more bits than a hash has.

    >>> signature_width(512), signature_width(1024), signature_width(1024, "last_v1")
    (512, 800, 1024)
    """
    return sum(_widths(bits, version))


def _widths(bits: int, version: str) -> list[int]:
    if version not in VERSIONS:
        raise UnknownName("version", version, VERSIONS)
    if bits % 4 or not 16 <= bits <= 1024:
        raise UsageError(f"the signature has a multiple of 4 bits from 16 to 1024, not {bits}")
    return [min(bits // 4, length) if version == "first_v1" else bits // 4 for _, length in _HASHES]
