"""The natural logarithm with the same bits on every machine.

The logarithms of C libraries and of NumPy's vector code differ in the last bit between processors;
a sketch may not. This code uses only sums, products and quotients, which IEEE 754 rounds the same
everywhere: v = m 2^e with m in [sqrt 1/2, sqrt 2), ln v = e ln 2 + 2 artanh((m - 1) / (m + 1)).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
