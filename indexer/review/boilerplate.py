"""Compare two texts with shingles weighted by how rare they are in a store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.words import Words, normal_words
from indexer.defaults import SHINGLE_WORDS
from indexer.fingerprinting import hashing
from indexer.fingerprinting.fingerprint import fingerprint
from indexer.fingerprinting.hashing import distinct_values, string_hashes
from indexer.model import Progress, no_progress
from indexer.stores.base import Store
from indexer.stores.requirements import require_recipe

COMMON = 0.1  # fraction of the texts from which on a shingle is common


@dataclass(frozen=True, slots=True)
class DiscountedSimilarity:
    """The similarity of two texts when common passages count for little.

    `similarity` in [0, 1] equals `plain` (S_R) where all shingles have the same weight; 0 where no
    shingle has any. `common`: the share of the distinct shingles of both texts that a tenth or more
    of the corpus has. `texts`: the texts of the corpus; with 0 all weights are the same.
    """

    similarity: float
    plain: float
    common: float
    texts: int


def text_shingles(text: Words, width: int = SHINGLE_WORDS) -> NDArray[np.uint64]:
    """Return the distinct runs of `width` words of a text as 64-bit hashes, ascending.

    A text with fewer words has none.
    """
    words = string_hashes(text.vocabulary)[text.numbers]
    return distinct_values(hashing.shingle_hashes(words, width))


class Corpus:
    """The number of texts that have each shingle; a text is an array of its distinct shingles."""

    def __init__(self, texts: Iterable[NDArray[np.uint64]]) -> None:
        arrays = list(texts)
        self.texts = len(arrays)
        joined = np.concatenate(arrays) if arrays else np.empty(0, dtype=np.uint64)
        self._shingles, self._counts = np.unique(joined, return_counts=True)

    def frequencies(
        self, shingles: NDArray[np.uint64], excluded: Sequence[NDArray[np.uint64]] = ()
    ) -> Frequencies:
        """Count the texts that have each of these shingles, ascending and distinct.

        `excluded` are texts of the corpus that do not count.

        >>> shingles = np.array([3, 5, 9], dtype=np.uint64)
        >>> corpus = Corpus([shingles[:2], shingles[1:2], shingles])
        >>> counted = corpus.frequencies(shingles, [shingles])
        >>> counted.texts, counted.weights(shingles).round(2).tolist()
        (2, [0.37, 0.0, 1.0])
        """
        counts = np.zeros(len(shingles), dtype=np.int64)
        if len(self._shingles):
            positions = np.minimum(
                np.searchsorted(self._shingles, shingles), len(self._shingles) - 1
            )
            counts = np.where(self._shingles[positions] == shingles, self._counts[positions], 0)
        for text in excluded:
            counts = counts - np.isin(shingles, text, assume_unique=True)
        return Frequencies(shingles, counts, self.texts - len(excluded))


class Frequencies:
    """The number of texts, of `texts`, that have each of some shingles."""

    def __init__(self, shingles: NDArray[np.uint64], counts: NDArray[np.int64], texts: int) -> None:
        self._shingles, self._counts, self.texts = shingles, counts, texts

    def weights(self, shingles: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Return the weight of each of these shingles, all counted; all 1 without a corpus.

        (n,) float64 in [0, 1]: 0 for a shingle that all texts have, 1 for one that none has.
        """
        if not self.texts:
            return np.ones(len(shingles))
        counts = self._counts[np.searchsorted(self._shingles, shingles)]
        weights: NDArray[np.float64] = np.log((self.texts + 1) / (counts + 1))
        weights /= np.log(self.texts + 1)
        return weights

    def common(self) -> float:
        """Return the fraction of the counted shingles that a tenth or more of the corpus has.

        0 without shingles or without a corpus.
        """
        if not self.texts or not len(self._shingles):
            return 0.0
        return float(np.mean(self._counts >= COMMON * self.texts))


def discounted_similarity(
    a: NDArray[np.uint64],
    b: NDArray[np.uint64],
    corpus: Corpus,
    excluded: Sequence[NDArray[np.uint64]] = (),
) -> DiscountedSimilarity:
    """Compare the shingles of two texts, weighted by a corpus. Symmetric.

    `excluded`: the texts of the corpus that are a or b.

    >>> form = np.array([1, 2, 3], dtype=np.uint64)
    >>> left, right = (np.append(form, np.uint64(end)) for end in (7, 8))
    >>> result = discounted_similarity(left, right, Corpus([form] * 9))
    >>> result.plain, result.similarity, result.common
    (0.6, 0.0, 0.6)
    """
    both = distinct_values(np.concatenate((a, b)))
    shared = np.intersect1d(a, b, assume_unique=True)
    frequencies = corpus.frequencies(both, excluded)
    whole = float(frequencies.weights(both).sum())
    weight = float(frequencies.weights(shared).sum())
    return DiscountedSimilarity(
        similarity=min(1.0, weight / whole) if whole else 0.0,
        plain=len(shared) / len(both) if len(both) else 0.0,
        common=frequencies.common(),
        texts=frequencies.texts,
    )


def width_for(texts: Sequence[Words]) -> int:
    """Return the words of a shingle, as in S_R: five, or those of a shorter text; at least one."""
    return max(1, min(SHINGLE_WORDS, *(len(text) for text in texts)))


SAMPLE, MAX_SHINGLES = 2000, 4_000_000
EVERY = 100


class Sample:
    """The shingles of `width` words in the texts of a store, by which others are weighted; read
    once for many comparisons.

    The texts are those of the first `limit` documents by id, copies counted once: nearfold's ids
    are digests, so these are a fair and stable sample. Very long texts end it early, after four
    million shingles. Raises `StoreError` when nothing was indexed yet.
    """

    def __init__(
        self,
        store: Store,
        width: int = SHINGLE_WORDS,
        limit: int = SAMPLE,
        progress: Progress = no_progress,
    ) -> None:
        self._store, self._recipe, self._width = store, require_recipe(store), width
        self._ids: dict[str, str] = {}
        self._corpus = Corpus(self._read(limit, progress))

    def compare(self, a: str, b: str) -> DiscountedSimilarity:
        """Compare two texts by S_R, shingles weighted by how rare they are in the sample; copies of
        the two do not count.
        """
        left, right = (text_shingles(normal_words(text), self._width) for text in (a, b))
        copies = {fingerprint(text, self._recipe).exact for text in (a, b)} & self._ids.keys()
        rows = self._store.get([self._ids[exact] for exact in copies]).values()
        return discounted_similarity(
            left,
            right,
            self._corpus,
            [text_shingles(normal_words(row.text), self._width) for row in rows],
        )

    def _read(self, limit: int, progress: Progress) -> Iterator[NDArray[np.uint64]]:
        shingle_count = 0
        for index, row in enumerate(islice(self._store.scan(), limit)):
            if index % EVERY == 0:
                progress("counting passages", index, limit)
            if row.exact not in self._ids:
                self._ids[row.exact] = row.id
                shingles = text_shingles(normal_words(row.text), self._width)
                yield shingles
                shingle_count += len(shingles)
            if shingle_count > MAX_SHINGLES:
                return


def shingle_width(a: str, b: str) -> int:
    """Return the number of words of a shingle for two texts: five, or those of the shorter one."""
    return width_for((normal_words(a), normal_words(b)))


def discount(
    store: Store, a: str, b: str, sample: int = SAMPLE, progress: Progress = no_progress
) -> DiscountedSimilarity:
    """Compare two texts by S_R with shingles weighted by how rare they are in a `Sample` of a
    store.
    """
    return Sample(store, shingle_width(a, b), sample, progress).compare(a, b)
