"""Distances between bit sketches."""

from __future__ import annotations


def hamming(left: int, right: int) -> int:
    """Return the number of bits in which two sketches differ.

    >>> hamming(0b1010, 0b0011)
    2
    """
    return (left ^ right).bit_count()


def bit_similarity(left: int, right: int, bits: int) -> float:
    """Return 1 - d / bits for the Hamming distance d, in [0, 1].

    >>> bit_similarity(0b1010, 0b0011, bits=64)
    0.96875
    """
    return 1.0 - hamming(left, right) / bits


def allowed_distance(similarity: float, bits: int = 64) -> int:
    """Return the greatest Hamming distance d with 1 - d / bits >= similarity.

    >>> allowed_distance(0.90), allowed_distance(0.98)
    (6, 1)
    """
    return int((1.0 - similarity) * bits + 1e-9)
