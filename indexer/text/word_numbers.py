"""Words and runs of words as integers that are equal exactly where the words are.

Nothing is hashed, so there are no collisions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

_MAX_SPAN = 1 << 62
_SURROGATES = range(0xD800, 0xE000)
MOST_CODES = 0x110000 - len(_SURROGATES)


@dataclass(frozen=True)
class Words:
    """The words of one text in order.

    `vocabulary`: the distinct folded spellings, by first appearance. (n,) int64 each: `numbers`,
    the place of each word in the vocabulary; `starts` and `ends`, offsets [start, end) into the
    text.
    """

    vocabulary: tuple[str, ...]
    numbers: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def numbering(self) -> dict[str, int]:
        """The number of each word of the vocabulary, in its order."""
        return {word: number for number, word in enumerate(self.vocabulary)}

    @cached_property
    def firsts(self) -> NDArray[np.int64]:
        """The place where each word of the vocabulary first stands: (vocabulary,)."""
        return np.unique(self.numbers, return_index=True)[1]

    @property
    def folded(self) -> list[str]:
        """The folded spelling of every word."""
        return [self.vocabulary[number] for number in self.numbers.tolist()]


def number_strings(items: Sequence[str]) -> tuple[NDArray[np.int64], list[str]]:
    """Number strings from 0 by first appearance, and return the distinct ones in that order.

    >>> number_strings(["to", "be", "to"])
    (array([0, 1, 0]), ['to', 'be'])
    """
    places = {item: place for place, item in enumerate(dict.fromkeys(items))}
    numbers = np.fromiter(map(places.__getitem__, items), dtype=np.int64, count=len(items))
    return numbers, list(places)


def shared_numbers(a: Words, b: Words) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the words of two texts as numbers from 0, the same for the same word in both.

    (words,) for either text; empty for a text without words. Those of a are its own.

    >>> from indexer.text.words import words
    >>> [numbers.tolist() for numbers in shared_numbers(words("to be"), words("be not"))]
    [[0, 1], [1, 2]]
    """
    translation = translate_numbers(a, b)
    is_new = translation < 0
    translation[is_new] = len(a.vocabulary) + np.arange(np.count_nonzero(is_new))
    return a.numbers, translation[b.numbers]


def translate_numbers(a: Words, b: Words) -> NDArray[np.int64]:
    """Return the number that each word of b's vocabulary has in a; -1 where a lacks it."""
    numbers = (a.numbering.get(word, -1) for word in b.vocabulary)
    return np.fromiter(numbers, np.int64, len(b.vocabulary))


def is_lesser(a: Words, b: Words) -> bool:
    """Return whether a has fewer words, or as many and the lesser one where they first differ."""
    return len(a) < len(b) if len(a) != len(b) else a.folded < b.folded


def number_runs(
    a: NDArray[np.int64], b: NDArray[np.int64], width: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number every run of `width` consecutive words from 0: (n - width + 1,) each.

    Two runs have the same number exactly when they are equal; a text shorter than `width` has none.
    O(n log n) for n words of both texts together.

    >>> [runs.tolist() for runs in number_runs(np.array([7, 8, 9]), np.array([8, 9]), 2)]
    [[0, 1], [1]]
    """
    count_a = max(0, len(a) - width + 1)
    count_b = max(0, len(b) - width + 1)
    base = 1 + max(int(a.max(initial=0)), int(b.max(initial=0)))
    runs = np.concatenate([a[:count_a], b[:count_b]])
    span = base
    for place in range(1, width):
        if span * base > _MAX_SPAN:
            distinct, runs = np.unique(runs, return_inverse=True)
            span = len(distinct)
        runs = runs * base
        runs += np.concatenate([a[place : place + count_a], b[place : place + count_b]])
        span *= base
    runs = np.unique(runs, return_inverse=True)[1]
    return runs[:count_a], runs[count_a:]


def as_numbers(codes: str) -> NDArray[np.int64]:
    """Return the numbers of which `as_string` made a string: (n,).

    >>> as_numbers(str(as_string(np.array([0, 60000, 2])))).tolist()
    [0, 60000, 2]
    """
    numbers = np.frombuffer(codes.encode("utf-32-le"), dtype="<u4").astype(np.int64)
    numbers[numbers >= _SURROGATES.stop] -= len(_SURROGATES)
    return numbers


def as_string(numbers: NDArray[np.int64]) -> str | list[int]:
    """Return numbers as the code points of a string, surrogates left out.

    A list of the numbers themselves where there are more of them than code points.
    """
    if int(numbers.max(initial=0)) >= MOST_CODES:
        listed: list[int] = numbers.tolist()
        return listed
    codes = numbers + len(_SURROGATES) * (numbers >= _SURROGATES.start)
    return codes.astype("<u4").tobytes().decode("utf-32-le")
