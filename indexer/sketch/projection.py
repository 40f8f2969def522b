"""Sums of weighted vectors that are the same on every machine, and their signs as bits.

Floating-point sums depend on their order, and fast matrix products choose their own. Every weight
is therefore first rounded to a multiple of 2^-20 and counted in that unit: sums of such integers
below 2^53 are exact in any order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
