"""Compare two texts with shingles weighted by how rare they are in a store."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from indexer.similarity.boilerplate_discount import (
    Corpus,
    DiscountedSimilarity,
    discounted_similarity,
    shingle_hashes,
    width_for,
)
from indexer.similarity.measures import SHINGLE_WORDS
from indexer.sketch.fingerprint import fingerprint
from indexer.stores.base import Store
from indexer.stores.requirements import require_recipe
from indexer.system.progress_callback import Progress, no_progress
from indexer.text.normal_words import normal_words

SAMPLE, MOST_SHINGLES = 2000, 4_000_000
EVERY = 100


class Sample:
    """The shingles of `width` words in the texts of a store, by which others are weighted; read
    once for many comparisons.

    The texts are those of the first `most` documents by id, copies counted once: nearfold's ids are
    digests, so these are a fair and stable sample. Very long texts end it early,
    after four million shingles. Raises `StoreError` when nothing was indexed yet.
    """

    def __init__(
        self,
        store: Store,
        width: int = SHINGLE_WORDS,
        most: int = SAMPLE,
        progress: Progress = no_progress,
    ) -> None:
        self._store, self._recipe, self._width = store, require_recipe(store), width
        self._ids: dict[str, str] = {}
        self._corpus = Corpus(self._read(most, progress))

    def compare(self, a: str, b: str) -> DiscountedSimilarity:
        """Compare two texts by S_R, shingles weighted by how rare they are in the sample; copies of
        the two do not count.
        """
        left, right = (shingle_hashes(normal_words(text), self._width) for text in (a, b))
        copies = {fingerprint(text, self._recipe).exact for text in (a, b)} & self._ids.keys()
        rows = self._store.get([self._ids[exact] for exact in copies]).values()
        return discounted_similarity(
            left,
            right,
            self._corpus,
            [shingle_hashes(normal_words(row.text), self._width) for row in rows],
        )

    def _read(self, most: int, progress: Progress) -> Iterator[NDArray[np.uint64]]:
        shingle_count = 0
        for place, row in enumerate(islice(self._store.scan(), most)):
            if place % EVERY == 0:
                progress("counting passages", place, most)
            if row.exact not in self._ids:
                self._ids[row.exact] = row.id
                shingles = shingle_hashes(normal_words(row.text), self._width)
                yield shingles
                shingle_count += len(shingles)
            if shingle_count > MOST_SHINGLES:
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
