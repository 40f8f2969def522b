"""Similarity without boilerplate: five-word shingles weighted by how rare they are among many
texts.

Two invoices on one form are alike because of the form. S_R counts each distinct shingle once; here
it counts by its weight,

    weight = log((N + 1) / (df + 1)) / log(N + 1),

where df of the N texts of a corpus carry it: 1 for what no text has, 0 for what all have (inverse
document frequency, Spärck Jones, 1972, made to lie in [0, 1]). The measure is the weighted Jaccard
similarity: weight in common / weight of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.similarity.alignment import WIDTH
from indexer.sketch.string_hashes import string_hashes
from indexer.text.word_numbers import Words

OFTEN = 0.1


@dataclass(frozen=True, slots=True)
class DiscountedSimilarity:
    """How alike two texts are when common passages count for little.

    `similarity` in [0, 1] equals `plain` (S_R) where all shingles weigh the same; 0 where nothing
    with a weight is left. `common`: the share of the distinct shingles of both texts that a tenth
    or more of the corpus carries. `texts`: how many texts the corpus has; none: all weigh the same.
    """

    similarity: float
    plain: float
    common: float
    texts: int


def shingle_hashes(text: Words, width: int = WIDTH) -> NDArray[np.uint64]:
    """The distinct runs of `width` words of a text as 64-bit hashes, ascending; none of a text with
    fewer words.
    """
    folded = text.folded
    runs = {" ".join(folded[place : place + width]) for place in range(len(folded) - width + 1)}
    return np.unique(string_hashes(sorted(runs)))


class Corpus:
    """In how many texts each shingle occurs; each text is given by its distinct shingles."""

    def __init__(self, texts: Iterable[NDArray[np.uint64]]) -> None:
        listed = list(texts)
        self.texts = len(listed)
        joined = np.concatenate(listed) if listed else np.empty(0, dtype=np.uint64)
        self._shingles, self._counts = np.unique(joined, return_counts=True)

    def frequencies(
        self, asked: NDArray[np.uint64], apart: Sequence[NDArray[np.uint64]] = ()
    ) -> Frequencies:
        """How often some shingles, ascending and distinct, occur; `apart` are texts of the corpus
        that do not count.

        >>> asked = np.array([3, 5, 9], dtype=np.uint64)
        >>> counted = Corpus([asked[:2], asked[1:2], asked]).frequencies(asked, [asked])
        >>> counted.texts, counted.weights(asked).round(2).tolist()
        (2, [0.37, 0.0, 1.0])
        """
        counts = np.zeros(len(asked), dtype=np.int64)
        if len(self._shingles):
            places = np.minimum(np.searchsorted(self._shingles, asked), len(self._shingles) - 1)
            counts = np.where(self._shingles[places] == asked, self._counts[places], 0)
        for one in apart:
            counts = counts - np.isin(asked, one, assume_unique=True)
        return Frequencies(asked, counts, self.texts - len(apart))


class Frequencies:
    """In how many of so many texts each of some shingles occurs."""

    def __init__(self, asked: NDArray[np.uint64], counts: NDArray[np.int64], texts: int) -> None:
        self._asked, self._counts, self.texts = asked, counts, texts

    def weights(self, shingles: NDArray[np.uint64]) -> NDArray[np.float64]:
        """The weight of each of these shingles, which were asked for; all 1 without a corpus."""
        if not self.texts:
            return np.ones(len(shingles))
        counts = self._counts[np.searchsorted(self._asked, shingles)]
        made: NDArray[np.float64] = np.log((self.texts + 1) / (counts + 1)) / np.log(self.texts + 1)
        return made

    def common(self) -> float:
        """The share of the shingles asked for that a tenth or more of the corpus carries; 0 without
        either.
        """
        if not self.texts or not len(self._asked):
            return 0.0
        return float(np.mean(self._counts >= OFTEN * self.texts))


def discounted_similarity(
    a: NDArray[np.uint64],
    b: NDArray[np.uint64],
    corpus: Corpus,
    apart: Sequence[NDArray[np.uint64]] = (),
) -> DiscountedSimilarity:
    """Compare the shingles of two texts, weighted by a corpus; `apart`: those of its texts that are
    a or b. Symmetric.

    >>> form, left, right = (np.array(one, dtype=np.uint64) for one in ([1, 2, 3], [1, 2, 3, 7], [1, 2, 3, 8]))
    >>> found = discounted_similarity(left, right, Corpus([form] * 9))
    >>> found.plain, found.similarity, found.common
    (0.6, 0.0, 0.6)
    """
    both, shared = np.union1d(a, b), np.intersect1d(a, b, assume_unique=True)
    found = corpus.frequencies(both, apart)
    whole = float(found.weights(both).sum())
    similarity = min(1.0, float(found.weights(shared).sum()) / whole) if whole else 0.0
    return DiscountedSimilarity(
        similarity, len(shared) / len(both) if len(both) else 0.0, found.common(), found.texts
    )


def width_for(texts: Sequence[Words]) -> int:
    """The words of a shingle, as in S_R: five, or the words of the shorter text where it has fewer,
    but at least one.
    """
    return max(1, min(WIDTH, *(len(text) for text in texts)))
