"""Words and runs of words as integers that are equal exactly where the words are: no hash, so no
collision.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indexer.text.words import Words, numbered

_ROOM = 1 << 62


def shared_numbers(a: Words, b: Words) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The words of two texts as numbers from 0, the same number for the same word in both.

    >>> from indexer.text.words import words
    >>> [numbers.tolist() for numbers in shared_numbers(words("to be"), words("be not"))]
    [[0, 1], [1, 2]]
    """
    numbers, _ = numbered([*a.vocabulary, *b.vocabulary])
    return numbers[: len(a.vocabulary)][a.numbers], numbers[len(a.vocabulary) :][b.numbers]


def grams(
    a: NDArray[np.int64], b: NDArray[np.int64], width: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Every run of `width` consecutive numbers as one number from 0: (n - width + 1,) each, empty
    for shorter texts.

    Two runs have the same number exactly when they are equal. O(n log n) for n numbers of both
    texts together.

    >>> [runs.tolist() for runs in grams(np.array([7, 8, 9]), np.array([8, 9]), 2)]
    [[0, 1], [1]]
    """
    counts = [max(0, len(text) - width + 1) for text in (a, b)]
    span = base = 1 + max((int(text.max()) for text in (a, b) if len(text)), default=0)
    runs = np.concatenate([a[: counts[0]], b[: counts[1]]])
    for place in range(1, width):
        if span * base > _ROOM:
            runs, span = ranks(runs)
        runs = runs * base + np.concatenate(
            [a[place : place + counts[0]], b[place : place + counts[1]]]
        )
        span *= base
    runs, _ = ranks(runs)
    return runs[: counts[0]], runs[counts[0] :]


def ranks(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """The rank of each value among the distinct values, from 0, and how many distinct values there
    are.

    >>> ranks(np.array([30, 10, 30]))
    (array([1, 0, 1]), 2)
    """
    order = np.argsort(values)
    in_order = values[order]
    new = np.ones(len(values), dtype=np.int64)
    new[1:] = in_order[1:] != in_order[:-1]
    ranked = np.empty(len(values), dtype=np.int64)
    ranked[order] = np.cumsum(new) - 1
    return ranked, int(new.sum())
