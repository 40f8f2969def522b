"""Words in order of many pairs: `lcs` of texts whose words have numbers of one vocabulary.

A text becomes a string with one code point a word, equal where the words are, so that a pair needs
no dictionary of its own. A pair that cannot reach a threshold is ruled out first by the number of
words of either text, then by the words that both have. These are counted in bins: two words in one
bin count as the same, so the bound is never too low.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from indexer.similarity.lcs import EXACT_CELLS, lcs_of_strings
from indexer.text.normal_words import folded_words, normal_words
from indexer.text.word_numbers import MOST_CODES, Words, as_numbers, as_string

BINS = 1 << 10
_MOST_COUNTED = (1 << 16) - 1


@dataclass(frozen=True, slots=True)
class WordSequence:
    """The words of a text as code points, and how many of them fall into each of `BINS` bins."""

    codes: str
    counts: NDArray[np.uint16]

    @property
    def size(self) -> int:
        """The bytes that it takes, about."""
        return 4 * len(self.codes) + self.counts.nbytes + 200


class Vocabulary:
    """The numbers of words, in the order in which they come first."""

    def __init__(self) -> None:
        self._numbers: defaultdict[str, int] = defaultdict(count().__next__)
        self._spelled: list[str] = []

    def __len__(self) -> int:
        return len(self._numbers)

    def words(self, sequence: WordSequence) -> Words:
        """Return the words of a sequence of this vocabulary, without their places in the text."""
        if len(self._spelled) < len(self._numbers):
            self._spelled = list(self._numbers)
        numbers = as_numbers(sequence.codes)
        distinct, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        vocabulary = tuple(self._spelled[number] for number in distinct[order].tolist())
        nowhere = np.zeros(0, dtype=np.int64)
        return Words(vocabulary, rank[inverse.reshape(-1)], nowhere, nowhere)

    def sequence(self, words: Words) -> WordSequence | None:
        """Return the words of a text as numbers; None when there are more than code points."""
        if len(self._numbers) + len(words.vocabulary) > MOST_CODES:
            return None
        places = self._places(words.vocabulary)
        return self._sequence(places[words.numbers])

    def sequence_of(self, text: str) -> WordSequence | None:
        """Return the `sequence` of the `normal_words` of a text."""
        words = folded_words(text)
        if len(self._numbers) + len(words) > MOST_CODES:
            return self.sequence(normal_words(text))
        return self._sequence(self._places(words))

    def _places(self, words: Sequence[str]) -> NDArray[np.int64]:
        return np.fromiter(map(self._numbers.__getitem__, words), np.int64, len(words))

    def _sequence(self, numbers: NDArray[np.int64]) -> WordSequence:
        if len(numbers) > _MOST_COUNTED:
            counts = np.full(BINS, _MOST_COUNTED, dtype=np.uint16)
        else:
            counts = np.bincount(numbers & (BINS - 1), minlength=BINS).astype(np.uint16)
        codes = as_string(numbers)
        return WordSequence(str(codes), counts)


def may_reach_pair(a: WordSequence, b: WordSequence, least: float) -> bool:
    """Return what `may_reach` does for one pair, sooner."""
    shorter, longer = sorted((len(a.codes), len(b.codes)))
    needed = math.ceil(least * longer - 1e-9)
    if shorter < needed:
        return False
    return int(np.minimum(a.counts, b.counts).sum(dtype=np.int64)) >= needed


def may_reach(
    pairs: Sequence[tuple[WordSequence, WordSequence]], least: float
) -> NDArray[np.bool_]:
    """Return for each pair whether its lengths and its words allow an `lcs` of `least`.

    (pairs,) bool; True for a pair of empty texts.
    """
    lengths = np.array([(len(a.codes), len(b.codes)) for a, b in pairs]).reshape(-1, 2)
    needed = np.ceil(least * lengths.max(axis=1) - 1e-9)
    possible: NDArray[np.bool_] = lengths.min(axis=1) >= needed
    places = np.flatnonzero(possible).tolist()
    if places:
        left = np.stack([pairs[place][0].counts for place in places])
        right = np.stack([pairs[place][1].counts for place in places])
        shared = np.minimum(left, right).sum(axis=1, dtype=np.int64)
        possible[places] = shared >= needed[places]
    return possible


def lcs_of_sequences(a: WordSequence, b: WordSequence, least: float) -> float | None:
    """Return `lcs` as `indexer.similarity.lcs` does; 0 for a pair below `least`.

    None for texts so long that they are aligned otherwise.
    """
    longer = max(len(a.codes), len(b.codes))
    if len(a.codes) * len(b.codes) > EXACT_CELLS:
        return None
    needed = math.ceil(least * longer - 1e-9)
    return lcs_of_strings(a.codes, b.codes, needed) / longer if longer else 0.0
