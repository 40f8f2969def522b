"""I-Match with lexicon randomisation: hashes over the terms of medium rarity.

Chowdhury, Frieder, Grossman & McCabe, "Collection Statistics for Fast Duplicate Document
Detection", TOIS 2002; Kolcz, Chowdhury & Alspector, "Improved Robustness of Signature-Based
Near-Replica Detection via Lexicon Randomization", KDD 2004. A baseline: it only tests hashes for
equality.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from indexer.sketch.corpus_statistics import CorpusStatistics
from indexer.sketch.hashing import GAMMA, mix64_array
from indexer.sketch.logarithm import natural_log
from indexer.sketch.string_hashes import string_hashes

LOW, HIGH = 0.2, 0.8  # idf of the lexicon, as shares of the greatest possible
LEXICONS = 10  # random parts of the lexicon
DROPPED = 1 / 3  # of the lexicon, that each part leaves out


def imatch(
    tokens: Sequence[str],
    statistics: CorpusStatistics,
    lexicons: int = LEXICONS,
) -> tuple[str, ...]:
    """Return SHA-1 signatures of a text. `imatch_v1`.

    One over the whole lexicon, then one for each of `lexicons` random parts of it. The lexicon are
    the terms whose idf, ln(documents / holders), lies between `LOW` and `HIGH` times the greatest
    possible, ln(documents). Each random part leaves out a third of it, by hash. Two texts match
    when any two signatures at the same place are equal. A text without terms in the lexicon has no
    signatures: it would match every other such text.
    """
    terms = sorted(set(tokens))
    hashes = string_hashes(terms)
    inside = _in_lexicon(hashes, statistics)
    if not np.any(inside):
        return ()
    parts = (inside & _part(hashes, number) for number in range(1, lexicons + 1))
    return tuple(_signature(list(compress(terms, part.tolist()))) for part in (inside, *parts))


def signatures_match(left: Sequence[str], right: Sequence[str]) -> bool:
    """Return whether any signature equals the one at the same place.

    An empty signature, of a part of the lexicon without terms of the text, equals none.

    >>> signatures_match(("a", "b"), ("c", "b")), signatures_match(("a", "b"), ("b", "a"))
    (True, False)
    >>> signatures_match((), ())
    False
    """
    return any(a == b != "" for a, b in zip(left, right, strict=False))


def _in_lexicon(hashes: NDArray[np.uint64], statistics: CorpusStatistics) -> NDArray[np.bool_]:
    """Return which terms have a medium idf; terms unknown to the statistics do not count."""
    holders = statistics.holders(hashes)
    if statistics.documents < 2:
        return np.zeros(len(hashes), dtype=np.bool_)
    greatest = natural_log(np.array([float(statistics.documents)]))[0]
    share = natural_log(statistics.documents / np.maximum(holders, 1)) / greatest
    inside: NDArray[np.bool_] = (holders > 0) & (share >= LOW) & (share <= HIGH)
    return inside


def _part(hashes: NDArray[np.uint64], number: int) -> NDArray[np.bool_]:
    """Return the terms in the random part of that number: two thirds of all."""
    mixed = mix64_array(hashes + np.uint64(number * GAMMA % (1 << 64)))
    inside: NDArray[np.bool_] = mixed >= np.uint64(int(DROPPED * 2**64))
    return inside


def _signature(terms: list[str]) -> str:
    if not terms:
        return ""
    return hashlib.sha1("\n".join(terms).encode(), usedforsecurity=False).hexdigest()
