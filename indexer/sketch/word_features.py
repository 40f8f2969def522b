"""Features of `default_v2`: the occurrences of word pairs.

Each pair of neighbouring words counts as often as it occurs: its second occurrence is another
feature than its first, as Haveliwala, Gionis & Indyk replicate weighted elements (WebDB 2000). In
scripts written without spaces each character is a word. Measured against other features in
docs/decisions/012-default-v2.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indexer.sketch.hashing import GAMMA, mix64_array, shingle_hashes, word_hashes
from indexer.text.normalise_v2 import word_starts


def word_features(codes: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Return the features of code points normalised by `default_v2`, ascending by pair.

    `word_pairs_v1`: (words - 1,) uint64.

    >>> from indexer.text.normalise_v2 import normalised_codes_v2
    >>> len(word_features(normalised_codes_v2("to be or not to be: 近似")))
    7
    """
    words = word_hashes(codes, word_starts(codes))
    return number_occurrences(shingle_hashes(words, 2))


def number_occurrences(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a hash for each occurrence of each hash, ascending by hash and occurrence.

    The first is the hash itself, occurrence k (from 0) mix64(hash + k * GAMMA).
    """
    ordered = np.sort(hashes)
    places = np.arange(len(ordered))
    is_first = np.concatenate(([True], ordered[1:] != ordered[:-1]))[: len(ordered)]
    before = places - np.maximum.accumulate(np.where(is_first, places, 0))
    shifted = mix64_array(ordered + before.astype(np.uint64) * np.uint64(GAMMA))
    return np.where(is_first, ordered, shifted)
