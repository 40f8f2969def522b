"""The MinHash of the signature study: four cryptographic hashes, cut short, their minima side by
side.

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
    """Signature of a set of features, MD5's part most significant. Repeats change nothing.

    `bits` is a multiple of 4 from 16 to 1024; how many the signature has is `signature_width`. An
    empty set has no signature: raises `NoFeatures`. Raises `UsageError` for other widths,
    `UnknownName` for other versions.

    >>> hex(truncated_minhash([b"near", b"dupe"], 32)), hex(truncated_minhash([b"near", b"dupe"], 32, "last_v1"))
    ('0x85d843c6', '0xe397647')
    """
    distinct = set(features)
    widths = _widths(bits, version)
    if not distinct:
        raise NoFeatures
    signature = 0
    for (name, length), width in zip(_HASHES, widths, strict=True):
        taken = min(width, length)
        values = (
            int.from_bytes(hashlib.new(name, feature, usedforsecurity=False).digest(), "big")
            for feature in distinct
        )
        least = min(
            value >> (length - taken) if version == "first_v1" else value & ((1 << taken) - 1)
            for value in values
        )
        signature = signature << width | least
    return signature


def signature_width(bits: int, version: str = "first_v1") -> int:
    """The number of bits that a signature has: `bits`, save that `first_v1` cannot cut more from a
    hash than it has.

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
