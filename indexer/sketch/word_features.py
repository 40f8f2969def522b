"""Features of `default_v2`: the occurrences of word pairs.

Each pair of neighbouring words counts as often as it occurs: its second occurrence is another
feature than its first, as Haveliwala, Gionis & Indyk replicate weighted elements (WebDB 2000). In
scripts written without spaces each character is a word. Measured against other features in
docs/decisions/012-default-v2.md.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from indexer.sketch.hashing import GAMMA, mix64_array, shingle_hashes, word_hashes
from indexer.sketch.siphash import keyed_letter_hashes, siphash24
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


def keyed_word_features(codes: NDArray[np.uint32], key: tuple[int, int]) -> NDArray[np.uint64]:
    """Return the features of code points normalised by `default_v2`, under a key of two words.

    `sip24_pairs_v1`: (words - 1,) uint64, ascending by pair. Words and pairs are hashed as without
    a key, except that the hash of a letter is SipHash-2-4 of [code + place * 2**21, 2**64 - 1]; a
    feature is SipHash-2-4 of [pair, number of the occurrence from 0]. Messages have 16 bytes, two
    little-endian words.
    """
    words = word_hashes(codes, word_starts(codes), partial(keyed_letter_hashes, key=key))
    return siphash24(*occurrences(shingle_hashes(words, 2)), key)


def number_occurrences(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a hash for each occurrence of each hash, ascending by hash and occurrence: (n,).

    The first is the hash itself, occurrence k (from 0) mix64(hash + k * GAMMA).
    """
    ordered, before = occurrences(hashes)
    return np.where(before == 0, ordered, mix64_array(ordered + before * np.uint64(GAMMA)))


def occurrences(hashes: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the hashes in ascending order, and how many equal ones come before each: (n,) both."""
    ordered = np.sort(hashes)
    places = np.arange(len(ordered))
    is_first = np.concatenate(([True], ordered[1:] != ordered[:-1]))[: len(ordered)]
    before = places - np.maximum.accumulate(np.where(is_first, places, 0))
    return ordered, before.astype(np.uint64)
