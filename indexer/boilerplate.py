"""Two texts compared with what a store says about how common their words are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from indexer.collection import Progress, silent
from indexer.discounting import Discounted, discounted, shingle_hashes, width_for
from indexer.fingerprinting import fingerprint
from indexer.lookup import recipe_of
from indexer.stores.base import Store
from indexer.text.words import words

SAMPLE = 2000
EVERY = 100


def discount(store: Store, a: str, b: str, sample: int = SAMPLE, progress: Progress = silent) -> Discounted:
    """Compare two texts by S_R with shingles weighted by how rare they are in a store.

    The corpus is the first `sample` documents by id: nearfold's ids are digests, so these are a fair sample,
    and always the same one. Copies of the two texts do not count, and copies of others count once. Raises `StoreError` when
    nothing was indexed yet.
    """
    recipe = recipe_of(store)
    sides = words(a), words(b)
    width = width_for(sides)

    def corpus() -> Iterator[NDArray[np.uint64]]:
        seen = {fingerprint(text, recipe).exact for text in (a, b)}
        for place, row in enumerate(islice(store.scan(), sample)):
            if place % EVERY == 0:
                progress("counting passages", place, sample)
            if row.exact not in seen:
                seen.add(row.exact)
                yield shingle_hashes(words(row.text), width)

    return discounted(shingle_hashes(sides[0], width), shingle_hashes(sides[1], width), corpus())
