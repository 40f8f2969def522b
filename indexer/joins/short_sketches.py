"""Bounds on the equal slots of two texts of which one is short."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from indexer.joins.short_texts import fewest_in_common, most_words
from indexer.recipe import Recipe

_Z = 5.0  # standard deviations: one pair in three million has fewer equal slots by chance
_LEAST = 3  # slots that texts without a common feature hardly ever have in common


@lru_cache(maxsize=256)
def slots_of_short_pairs(threshold: float, recipe: Recipe) -> NDArray[np.int64]:
    """Return the fewest equal slots of two texts at an `lcs` threshold, one of them short.

    By the words of the longer text, from none to `most_words`. No numbers where the features are
    not word pairs. A word that the other text lacks breaks two pairs of its own and one of the
    other at most. That holds for texts in which no pair of words comes twice; from .8 on they have
    a pair in common, below that some have none and are left out.

    >>> from indexer.recipe import DEFAULT_V2
    >>> slots_of_short_pairs(0.9, DEFAULT_V2)[[9, 10, 15, 20]].tolist()
    [128, 35, 55, 38]
    """
    if not recipe.minhash or recipe.features != "word_pairs_v1" or not 0 < threshold <= 1:
        return np.zeros(0, dtype=np.int64)
    slots = recipe.slots or 0
    lengths = range(most_words(threshold) + 1)
    return np.array([_fewest(words, threshold, slots) for words in lengths])


def _fewest(words: int, threshold: float, slots: int) -> int:
    pairs, broken = words - 1, 3 * (words - fewest_in_common(words, threshold))
    if pairs <= max(broken, 0):
        return _LEAST
    share = (pairs - broken) / (pairs + broken)
    return max(_LEAST, math.floor(slots * share - _Z * math.sqrt(slots * share * (1 - share))))
