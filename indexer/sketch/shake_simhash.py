"""SimHash of any length by SHAKE256 of the SHA-3 family, or by SHA-512 up to 512 bits.

Charikar, STOC 2002, as in Roegiest & Lee (SIGIR 2019): every occurrence of a feature votes with the
bits of its hash, 1 for and 0 against, so a feature counts as often as it occurs in the text (raw
frequency). A bit is set when its sum is strictly positive. Bits are in the order of the hash's
bytes, most significant first, as in the authors' released code.

With other weights than frequencies it answers the paper's question whether corpus statistics and
SHA-3 together do as well as weighted TopSig: `indexer.sketch.topsig` has the weights.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from indexer.errors import NoFeatures, UnknownName, UsageError
from indexer.sketch.projection import sign_bits, to_units, weighted_sum

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
        raise UsageError(f"the signature has a positive multiple of 8 bits, not {bits}")
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
