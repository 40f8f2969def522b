"""Keys of rare-term signatures that lose no pair, and the published hash key, which may.

Prefix filtering (Chaudhuri, Ganti & Kaushik, ICDE 2006): order all entries in one global order.
When two vectors of n entries have ceil(t n) or more in common, one of these is among the first n -
ceil(t n) + 1 of both. Length filtering: lengths within 20 % of each other lie in the same or
neighbouring buckets.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

from indexer.errors import NoFeatures
from indexer.sketch.corpus_statistics import CorpusStatistics
from indexer.sketch.rare_terms import RareTerms, by_rarity

THRESHOLD = 0.9
TOLERANCE = 0.2


def prefix_keys(signature: RareTerms, threshold: float = THRESHOLD) -> tuple[str, ...]:
    """The entries by which every text of at least `threshold` overlap (`padded`) is found; none
    when it is not reliable.

    Two padded vectors have equal length, so a pair at the threshold shares a key for certain.
    """
    return prefix(signature.entries, threshold) if signature.reliable else ()


def prefix(ordered: Sequence[str], threshold: float) -> tuple[str, ...]:
    """The first n - ceil(t n) + 1 of n entries in the global order; all of them at threshold 0.

    >>> prefix([str(number) for number in range(30)], 0.9)
    ('0', '1', '2', '3')
    """
    count = len(ordered)
    needed = max(1, math.ceil(exact_fraction(threshold) * count))
    return tuple(ordered[: count - needed + 1])


@cache
def exact_fraction(share: float) -> Fraction:
    """A share as it is written: .9 is nine tenths, and not the float beside it.

    >>> exact_fraction(0.9)
    Fraction(9, 10)
    """
    return Fraction(str(share))


def lengths_agree(left: int, right: int, tolerance: float = TOLERANCE) -> bool:
    """Whether neither text is shorter than the other by more than `tolerance` of its length.

    >>> lengths_agree(80, 100), lengths_agree(79, 100)
    (True, False)
    """
    return min(left, right) >= (1 - exact_fraction(tolerance)) * max(left, right)


def length_bucket(length: int, tolerance: float = TOLERANCE) -> int:
    """The b with r**b <= length < r**(b + 1), r = 1 / (1 - tolerance); texts whose lengths agree
    are at most one bucket apart.

    A text is stored with its bucket and looked up with that and both neighbours. Lengths below 1
    count as 1.

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


def hash_key(tokens: Sequence[str], statistics: CorpusStatistics, terms: int = 3) -> str:
    """The published equality key: 16 hexadecimal digits of a hash over the rarest terms and where
    they first stand, in tenths.

    It finds pairs whose rarest terms and places are all equal, and loses the others: an option,
    with its cost in recall in docs/schemes.md. Raises `NoFeatures` for a text without tokens.
    """
    if not tokens:
        raise NoFeatures
    rarest = by_rarity(tokens, statistics)[:terms]
    places = (f"{term}@{10 * tokens.index(term) // len(tokens)}" for term in rarest)
    return hashlib.sha256("\n".join(places).encode()).hexdigest()[:16]
