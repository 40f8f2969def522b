"""Rare-term signatures as rows keep them: length, hash and vector in 32-bit numbers.

The first number is the length in tokens, the next two are the published hash of the rarest terms
(`rare_terms.hash_key`), the higher half first; the rest are the entries of the padded vector,
rarest first, each the upper half of its 64-bit string hash. Two entries of a vector whose halves
are equal, one pair in ten million, are told apart by adding 1 to the later one.

Keys are the hash, and the first entries, by which no pair at the threshold is lost
(`rare_term_keys`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.model import TERM_HEAD as HEAD
from indexer.sketch.rare_term_keys import TOLERANCE, exact_fraction, lengths_agree, prefix
from indexer.sketch.string_hashes import string_hashes

if TYPE_CHECKING:
    from indexer.sketch.rare_terms import RareTerms

_PAIRS = 4096  # pairs of vectors that are compared at once

Vectors: TypeAlias = NDArray[np.uint32]


def term_vector(signature: RareTerms, key: str) -> Vectors:
    """Return the numbers of a signature with at least one term, and of its hash of 16 digits.

    (HEAD + size,) uint32.
    """
    entries: dict[int, None] = {}
    for half in (string_hashes(signature.entries) >> np.uint64(32)).tolist():
        entry = half
        while entry in entries:
            entry = (entry + 1) % (1 << 32)
        entries[entry] = None
    length = min(signature.length, (1 << 32) - 1)
    return np.array([length, int(key[:8], 16), int(key[8:], 16), *entries], dtype=np.uint32)


def spell_hash(vector: NDArray[Any]) -> str:
    """Return the hash of a vector, 16 hexadecimal digits.

    >>> spell_hash(np.array([7, 1, 255, 9], np.uint32))
    '00000001000000ff'
    """
    return f"{int(vector[1]):08x}{int(vector[2]):08x}"


def term_keys(vector: NDArray[Any], threshold: float) -> tuple[str, ...]:
    """Return the keys of a vector: its hash, then its first entries for an overlap `threshold`.

    >>> term_keys(np.array([7, 1, 255, *range(30)], np.uint32), 0.9)
    ('h00000001000000ff', 't00000000', 't00000001', 't00000002', 't00000003')
    """
    entries = prefix([f"t{entry:08x}" for entry in vector[HEAD:].tolist()], threshold)
    return (f"h{spell_hash(vector)}", *entries)


def vector_overlap(a: NDArray[Any], b: NDArray[Any]) -> float:
    """Return the share of common entries of two vectors of one size, in [0, 1].

    0 where one length is more than 20 % below the other, which no duplicate's is.

    >>> vector_overlap(np.array([9, 0, 0, 1, 2], np.uint32), np.array([8, 0, 0, 2, 3], np.uint32))
    0.5
    """
    if not lengths_agree(int(a[0]), int(b[0])):
        return 0.0
    return len(np.intersect1d(a[HEAD:], b[HEAD:])) / (len(a) - HEAD)


def common_entries(left: NDArray[Any], right: NDArray[Any]) -> NDArray[np.uint16]:
    """Return the numbers of common entries of pairs of vectors, 0 where lengths disagree.

    (n, width) each; as `vector_overlap` has them, which is their share.
    """
    common = np.zeros(len(left), dtype=np.uint16)
    for start in range(0, len(left), _PAIRS):
        part = slice(start, start + _PAIRS)
        equal = left[part, HEAD:, None] == right[part, None, HEAD:]
        common[part] = np.count_nonzero(equal.any(axis=2), axis=1)
    kept = 1 - exact_fraction(TOLERANCE)
    shorter = np.minimum(left[:, 0], right[:, 0]).astype(np.int64)
    longer = np.maximum(left[:, 0], right[:, 0]).astype(np.int64)
    agree = shorter * kept.denominator >= longer * kept.numerator
    return np.where(agree, common, 0).astype(np.uint16)


def fewest_common(threshold: float, size: int) -> int:
    """Return the least common entries whose share of `size` reaches a threshold.

    >>> fewest_common(0.9, 30), fewest_common(0.91, 30)
    (27, 28)
    """
    return math.ceil(exact_fraction(threshold) * size)
