"""A cache of the words of texts as sequences, within the memory budget, and their `lcs`."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from indexer.similarity.word_sequences import (
    Vocabulary,
    WordSequence,
    lcs_of_sequences,
    may_reach,
)
from indexer.sketch.string_hashes import string_hashes
from indexer.sketch.word_features import number_occurrences
from indexer.text.normal_words import normal_words
from indexer.text.word_numbers import Words

BYTES_A_WORD = 150  # of a vocabulary

Contents = Callable[[Sequence[int]], list[str]]


class SequenceCache:
    """Word sequences of texts by number, at most `memory` bytes of them and of their vocabulary.

    `contents` returns the texts of these numbers.
    """

    def __init__(self, contents: Contents, memory: int) -> None:
        self._contents = contents
        self._memory = memory
        self._vocabulary = Vocabulary()
        self._sequences: OrderedDict[int, WordSequence | None] = OrderedDict()
        self._size = 0

    def measure_pairs(self, pairs: Sequence[tuple[int, int]], least: float) -> list[float | None]:
        """Return `lcs` of each pair, 0 for one below `least`; None where texts are too long."""
        values: list[float | None] = [None] * len(pairs)
        for place, left, right, is_possible in self._bounded(pairs, least):
            values[place] = lcs_of_sequences(left, right, least) if is_possible else 0.0
        return values

    def words(self, pairs: Sequence[tuple[int, int]]) -> list[tuple[Words, Words]] | None:
        """Return the words of the texts of each pair; None if one has more than code points."""
        self.read(dict.fromkeys(text for pair in pairs for text in pair))
        result = []
        for a, b in pairs:
            left, right = self._sequences[a], self._sequences[b]
            if left is None or right is None:
                return None
            result.append((self._vocabulary.words(left), self._vocabulary.words(right)))
        return result

    def may_reach(self, pairs: Sequence[tuple[int, int]], least: float) -> NDArray[np.bool_]:
        """Return for each pair whether its lengths and its words allow an `lcs` of `least`."""
        flags = np.ones(len(pairs), dtype=bool)
        for place, _, _, is_possible in self._bounded(pairs, least):
            flags[place] = is_possible
        return flags

    def _bounded(
        self, pairs: Sequence[tuple[int, int]], least: float
    ) -> Iterator[tuple[int, WordSequence, WordSequence, bool]]:
        """Yield place and sequences of the pairs that have both, and whether they may reach it."""
        self.read(dict.fromkeys(text for pair in pairs for text in pair))
        known = []
        for place, (a, b) in enumerate(pairs):
            left, right = self._sequences[a], self._sequences[b]
            if left is not None and right is not None:
                known.append((place, left, right))
        possible = may_reach([(left, right) for _, left, right in known], least)
        for entry, is_possible in zip(known, possible.tolist(), strict=True):
            yield (*entry, is_possible)

    def occurrences(self, texts: Sequence[int]) -> Iterator[NDArray[np.uint64]]:
        """Yield a hash for each occurrence of each word of these texts, and keep their sequences.

        Two texts share as many hashes as words, each word as often as both have it.
        """
        self._evict()
        for text, content in zip(texts, self._contents(texts), strict=True):
            of_text = normal_words(content)
            self._keep(text, self._vocabulary.sequence(of_text))
            yield number_occurrences(string_hashes(of_text.vocabulary)[of_text.numbers])

    def read(self, texts: Collection[int]) -> None:
        """Read those of these distinct texts that are not kept; evict the longest unused."""
        for text in texts:
            if text in self._sequences:
                self._sequences.move_to_end(text)
        self._evict()
        missing = [text for text in texts if text not in self._sequences]
        for text, content in zip(missing, self._contents(missing), strict=True):
            self._keep(text, self._vocabulary.sequence_of(content))

    def _keep(self, text: int, sequence: WordSequence | None) -> None:
        self._size -= _size(self._sequences.pop(text, None))
        self._sequences[text] = sequence
        self._size += _size(sequence)

    def _evict(self) -> None:
        if BYTES_A_WORD * len(self._vocabulary) > self._memory // 2:
            self._vocabulary = Vocabulary()
            self._sequences.clear()
            self._size = 0
        while self._size > self._memory // 2 and self._sequences:
            self._size -= _size(self._sequences.popitem(last=False)[1])


def _size(sequence: WordSequence | None) -> int:
    return 0 if sequence is None else sequence.size
