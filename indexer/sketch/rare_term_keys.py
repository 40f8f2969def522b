"""Keys of rare-term signatures, by which no pair at the threshold is lost.

Prefix filtering (Chaudhuri, Ganti & Kaushik, ICDE 2006): order all entries in one global order.
When two vectors of n entries have ceil(t n) or more in common, one of these is among the first n -
ceil(t n) + 1 of both. Length filtering: lengths within 20 % of each other lie in the same or
neighbouring buckets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from indexer.sketch.rare_terms import RareTerms

THRESHOLD = 0.9
TOLERANCE = 0.2


def prefix_keys(signature: RareTerms, threshold: float = THRESHOLD) -> tuple[str, ...]:
    """Return the entries by which every text of at least `threshold` overlap (`padded`) is found.

    Empty for a signature that is not reliable. Two padded vectors have equal length, so a pair at
    the threshold always shares a key.
    """
    return prefix(signature.entries, threshold) if signature.is_reliable else ()


def prefix(ordered: Sequence[str], threshold: float) -> tuple[str, ...]:
    """Return the first n - ceil(t n) + 1 of n entries in the global order; all at threshold 0.

    >>> prefix([str(number) for number in range(30)], 0.9)
    ('0', '1', '2', '3')
    """
    count = len(ordered)
    needed = max(1, math.ceil(exact_fraction(threshold) * count))
    return tuple(ordered[: count - needed + 1])


@cache
def exact_fraction(share: float) -> Fraction:
    """Return a share as it is written: .9 is nine tenths, not the nearest float.

    >>> exact_fraction(0.9)
    Fraction(9, 10)
    """
    return Fraction(str(share))


def lengths_agree(left: int, right: int, tolerance: float = TOLERANCE) -> bool:
    """Return whether neither text is shorter than the other by more than `tolerance` of its length.

    >>> lengths_agree(80, 100), lengths_agree(79, 100)
    (True, False)
    """
    return min(left, right) >= (1 - exact_fraction(tolerance)) * max(left, right)


def length_bucket(length: int, tolerance: float = TOLERANCE) -> int:
    """Return the b with r**b <= length < r**(b + 1), r = 1 / (1 - tolerance).

    Texts whose lengths agree are at most one bucket apart: a text is stored with its bucket, and
    looked up with that and both neighbours. Lengths below 1 count as 1.

    >>> [length_bucket(length) for length in (1, 2, 80, 100, 125)]
    [0, 3, 19, 20, 21]
    """
    ratio = 1 / (1 - exact_fraction(tolerance))
    length = max(1, length)
    bucket = int(math.log(length) / math.log(ratio))
    while ratio**bucket > length:
        bucket -= 1
    while ratio ** (bucket + 1) <= length:
        bucket += 1
    return bucket
