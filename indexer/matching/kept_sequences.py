"""The words of texts as sequences, read once and kept within the memory budget, and their `lcs`."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

from indexer.similarity.word_sequences import (
    Vocabulary,
    WordSequence,
    lcs_of_sequences,
    may_reach,
)
from indexer.text.words import words

BYTES_A_WORD = 150  # of a vocabulary

Contents = Callable[[Sequence[int]], list[str]]


class KeptSequences:
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
        self._read(dict.fromkeys(text for pair in pairs for text in pair))
        values: list[float | None] = [None] * len(pairs)
        known = []
        for place, (a, b) in enumerate(pairs):
            left, right = self._sequences[a], self._sequences[b]
            if left is not None and right is not None:
                known.append((place, (left, right)))
        possible = may_reach([pair for _, pair in known], least)
        for (place, (left, right)), is_possible in zip(known, possible.tolist(), strict=True):
            values[place] = lcs_of_sequences(left, right, least) if is_possible else 0.0
        return values

    def _read(self, texts: dict[int, None]) -> None:
        """Read those of these texts that are not kept; evict the longest unused."""
        if BYTES_A_WORD * len(self._vocabulary) > self._memory // 2:
            self._vocabulary = Vocabulary()
            self._sequences.clear()
            self._size = 0
        for text in texts.keys() & self._sequences.keys():
            self._sequences.move_to_end(text)
        while self._size > self._memory // 2 and self._sequences:
            self._size -= _size(self._sequences.popitem(last=False)[1])
        missing = [text for text in texts if text not in self._sequences]
        for text, content in zip(missing, self._contents(missing), strict=True):
            sequence = self._vocabulary.sequence(words(content))
            self._sequences[text] = sequence
            self._size += _size(sequence)


def _size(sequence: WordSequence | None) -> int:
    return 0 if sequence is None else sequence.size
