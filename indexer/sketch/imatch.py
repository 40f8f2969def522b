"""I-Match, with lexicon randomisation: one hash over the terms of middling rarity, and more over
random parts of the lexicon.

Chowdhury, Frieder, Grossman & McCabe, "Collection Statistics for Fast Duplicate Document
Detection", TOIS 2002; Kolcz, Chowdhury & Alspector, "Improved Robustness of Signature-Based
Near-Replica Detection via Lexicon Randomization", KDD 2004. A baseline: nothing but equality of a
hash can be asked of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from indexer.sketch.corpus_statistics import CorpusStatistics
from indexer.sketch.hashing import GAMMA, mix64_array
from indexer.sketch.logarithm import natural_log
from indexer.sketch.string_hashes import string_hashes

LOW, HIGH = 0.2, 0.8
LEXICONS = 10
DROPPED = 1 / 3


def imatch(
    tokens: Sequence[str],
    statistics: CorpusStatistics,
    lexicons: int = LEXICONS,
    low: float = LOW,
    high: float = HIGH,
) -> tuple[str, ...]:
    """SHA-1 signatures of a text: one over the whole lexicon, then one for each of `lexicons`
    random parts of it. `imatch_v1`.

    The lexicon are the terms whose idf, ln(documents / holders), lies between `low` and `high`
    times the greatest there can be, ln(documents). Each random part leaves out a third of it, by
    hash. Two texts match when any two signatures at the same place are equal. None for a text that
    has no term in the lexicon, which would be a false match with every other such.
    """
    terms = sorted(set(tokens))
    hashes = string_hashes(terms)
    inside = _in_lexicon(hashes, statistics, low, high)
    if not np.any(inside):
        return ()
    kept = [inside, *(inside & _part(hashes, number) for number in range(1, lexicons + 1))]
    return tuple(
        _signature([term for term, keep in zip(terms, one.tolist(), strict=True) if keep])
        for one in kept
    )


def signatures_match(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether any signature equals the one at the same place; a part of the lexicon that holds no
    term of a text equals none.

    >>> signatures_match(("a", "b"), ("c", "b")), signatures_match(("a", "b"), ("b", "a")), signatures_match((), ())
    (True, False, False)
    """
    return any(one == other != "" for one, other in zip(left, right, strict=False))


def _in_lexicon(
    hashes: NDArray[np.uint64], statistics: CorpusStatistics, low: float, high: float
) -> NDArray[np.bool_]:
    """Terms of middling idf; terms that the statistics have not seen are outside."""
    holders = statistics.holders(hashes)
    if statistics.documents < 2:
        return np.zeros(len(hashes), dtype=np.bool_)
    greatest = natural_log(np.array([float(statistics.documents)]))[0]
    share = natural_log(statistics.documents / np.maximum(holders, 1)) / greatest
    inside: NDArray[np.bool_] = (holders > 0) & (share >= low) & (share <= high)
    return inside


def _part(hashes: NDArray[np.uint64], number: int) -> NDArray[np.bool_]:
    """The terms that the random part of that number keeps: two thirds of all there are."""
    mixed = mix64_array(hashes + np.uint64(number * GAMMA % (1 << 64)))
    kept: NDArray[np.bool_] = mixed >= np.uint64(int(DROPPED * 2**64))
    return kept


def _signature(terms: list[str]) -> str:
    return (
        hashlib.sha1("\n".join(terms).encode(), usedforsecurity=False).hexdigest() if terms else ""
    )
