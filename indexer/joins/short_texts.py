"""Candidate pairs of short texts, without chance: texts that share a choice of their words.

At `lcs` t the longest of two texts, of m words, shares ceil(t m) words with the other, each as
often as both have it. Texts of n and m words that share c have l common words among the first
n - c + l and m - c + l in any one order of words (Wang, Li & Feng, SIGMOD 2012). Each choice of l
of these is a key, so that such texts share a key. With l = c, as at high thresholds, the keys are
the texts with each word left out that may be missing (Bocek, Hunt & Stiller, 2007), and hardly
other texts share one.
"""

from __future__ import annotations

import math
from collections import defaultdict
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from indexer.joins.bands import CapReport
from indexer.joins.external_sort import Codes, Sorter, bits_for
from indexer.joins.memory_budget import MemoryBudget
from indexer.joins.pair_codes import encode_pair
from indexer.joins.runs import Places, find_runs, pairs_in_runs, slices_of_runs
from indexer.sketch.hashing import GAMMA, mix64_array

FEW_WORDS = 20  # a text of fewer is short
_MOST_KEYS = 220  # of one number of common words; so many are the choices of nine of twelve
_SLACK = 1e-9
_AT_ONCE = 1000  # texts whose keys are made together

Choices = tuple[tuple[int, NDArray[np.intp]], ...]


def most_words(threshold: float) -> int:
    """Return the most words of a text that a short one may resemble.

    >>> most_words(0.8), most_words(0.5)
    (23, 38)
    """
    return math.floor((FEW_WORDS - 1) / threshold + _SLACK)


def short_keys(words: NDArray[np.uint64], threshold: float) -> NDArray[np.uint64]:
    """Return the keys of texts of the same number of words: (texts, keys).

    `words`: (texts, words) a hash for each occurrence of each word, ascending. Two texts with `lcs`
    of `threshold` or more share a key if one of them is short.
    """
    columns = []
    for common, choices in _choices(words.shape[1], threshold):
        salt = np.uint64(common * GAMMA % (1 << 64))
        columns.append(mix64_array(words[:, choices].sum(axis=2, dtype=np.uint64) + salt))
    return np.concatenate([np.zeros((len(words), 0), np.uint64), *columns], axis=1)


@lru_cache(maxsize=512)
def _choices(words: int, threshold: float) -> Choices:
    """Return for each number of words that may be common the places of the words of each key."""
    longest = min(words / threshold, most_words(threshold)) + _SLACK
    numbers = {
        fewest_in_common(longer, threshold) for longer in range(words, math.floor(longest) + 1)
    }
    choices = []
    for common in sorted(number for number in numbers if number <= min(words, FEW_WORDS - 1)):
        size = _words_of_key(common, threshold)
        places = list(combinations(range(words - common + size), size))
        choices.append((common, np.array(places, dtype=np.intp)))
    return tuple(choices)


def fewest_in_common(longer: int, threshold: float) -> int:
    """Return the fewest words that a text of so many has in common at a threshold; at least 1."""
    return max(1, math.ceil(threshold * longer - _SLACK))


def _words_of_key(common: int, threshold: float) -> int:
    """Return of how many words keys are made of texts that share `common`, whatever their length.

    So many that the longest of these texts has at most `_MOST_KEYS` keys, if it can.
    """
    missing = math.floor(common / threshold + _SLACK) - common
    sizes = range(common, 0, -1)
    return next((size for size in sizes if math.comb(missing + size, size) <= _MOST_KEYS), 1)


class ShortTexts:
    """The pairs of texts of which one is short, and that may reach a threshold of `lcs`.

    `rank`: (texts,) distinct numbers. A key that more than `cap` texts share is hot: it pairs the
    text of least rank with all others. The memory budget holds 8 bytes a key, and 8 a pair.
    """

    def __init__(
        self, threshold: float, rank: NDArray[np.int64], cap: int, budget: MemoryBudget
    ) -> None:
        self._threshold, self._rank, self._cap, self._budget = threshold, rank, cap, budget
        self._bits = np.uint64(bits_for(len(rank)))
        self._keys = Sorter(budget)
        self._waiting: dict[int, list[tuple[int, NDArray[np.uint64]]]] = defaultdict(list)
        self.capped = CapReport()

    def put(self, text: int, words: NDArray[np.uint64]) -> None:
        """Add a text, by a hash for each occurrence of each word: (words,) uint64, distinct."""
        waiting = self._waiting[len(words)]
        waiting.append((text, words))
        if len(waiting) == _AT_ONCE:
            self._add_keys(len(words))

    def pairs(self) -> Codes:
        """Return the pairs as codes of `encode_pair`, left < right, each once, ascending.

        No text may be added afterwards.
        """
        for length in list(self._waiting):
            self._add_keys(length)
        low = (np.uint64(1) << self._bits) - np.uint64(1)
        codes = self._keys.sorted()
        pairs = Sorter(self._budget, unique=True)
        for part in slices_of_runs(codes, low, self._budget.block):
            texts = (codes[part] & low).astype(np.int32)
            starts, sizes = find_runs(codes[part] & ~low)
            hot = sizes > self._cap
            for left, right in pairs_in_runs(starts[~hot], sizes[~hot], self._budget.block):
                pairs.add(encode_pair(texts[left], texts[right]))
            for start, size in zip(starts[hot].tolist(), sizes[hot].tolist(), strict=True):
                pairs.add(self._star(texts[start : start + size]))
        return pairs.sorted()

    def _add_keys(self, length: int) -> None:
        """Make the keys of the texts of so many words that wait for it."""
        waiting = self._waiting.pop(length)
        texts = np.array([text for text, _ in waiting], dtype=np.uint64)
        words = np.sort(np.stack([hashes for _, hashes in waiting]), axis=1)
        keys = short_keys(words, self._threshold)
        self._keys.add((keys >> self._bits << self._bits | texts[:, None]).ravel())

    def _star(self, texts: Places) -> Codes:
        """Return the pairs of the text of least rank with all others."""
        centre = texts[np.argmin(self._rank[texts])]
        others = texts[texts != centre]
        size = len(texts)
        left_out = (size - 1) * (size - 2) // 2
        self.capped = self.capped.merge(CapReport(1, size, left_out))
        return encode_pair(np.minimum(others, centre), np.maximum(others, centre))
