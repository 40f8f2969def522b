"""Families at any threshold from pairs that are known already: nothing is read or measured, so a
slider can ask for it.

The definition is that of `indexer.clustering.families`; only the pairs with their similarities are
kept, sorted once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers32 = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class ThresholdFamilies:
    """The families at one threshold. `heads`: the principal of each document, itself where it has
    none.

    `families` have two documents or more; `gathered` documents are in one of them, the principal
    counted; `moved` are in another family than before.
    """

    threshold: float
    heads: Numbers32
    families: int
    gathered: int
    largest: int
    moved: int


class SimilarPairs:
    """Documents in principal order, their texts, and the similar pairs of texts, each given once.

    `order`: documents that have a text, in the order in which they may become principals; those
    that are not in `leading` only join. `texts`: the text of each document, -1 for none. `before`:
    the principal that each document has now.
    """

    def __init__(
        self,
        order: Sequence[int],
        leading: NDArray[np.bool_],
        texts: Numbers32,
        before: Numbers32,
        left: Numbers32,
        right: Numbers32,
        similarity: NDArray[np.float64],
    ) -> None:
        self.texts, self.before = texts, before
        count = int(texts.max(initial=-1)) + 1
        both = np.concatenate([left, right])
        values = np.concatenate([similarity, similarity])
        arranged = np.lexsort((-values, both))
        self._others: list[int] = np.concatenate([right, left])[arranged].tolist()
        self._values: list[float] = values[arranged].tolist()
        self._ends: list[int] = np.searchsorted(both[arranged], np.arange(count + 1)).tolist()
        carriers = np.bincount(texts[texts >= 0], minlength=count)
        busy = (np.diff(self._ends) > 0) | (carriers > 1)
        self._visits = [
            (place, int(texts[place]), bool(leading[place]))
            for place in order
            if busy[texts[place]]
        ]

    def at(self, threshold: float) -> ThresholdFamilies:
        """The families at a threshold; those of a lower one than the pairs were looked for would
        lack pairs.

        >>> empty, one = np.zeros(0, dtype=np.int32), np.ones(2, dtype=bool)
        >>> two = np.array([0, 1], dtype=np.int32)
        >>> pairs = SimilarPairs([0, 1], one, two, two, two[:1], two[1:], np.array([0.9]))
        >>> pairs.at(0.9).heads.tolist(), pairs.at(0.95).heads.tolist()
        ([0, 0], [0, 1])
        """
        heads = np.arange(len(self.texts), dtype=np.int32)
        led = [-1] * (len(self._ends) - 1)
        ranks: dict[int, int] = {}
        for place, text, leads in self._visits:
            head = led[text] if led[text] >= 0 else self._best(text, led, ranks, threshold)
            if head >= 0:
                heads[place] = head
            elif leads:
                led[text] = place
                ranks[place] = len(ranks)
        sizes = np.bincount(heads, minlength=1)
        several = sizes[sizes > 1]
        moved = int(np.count_nonzero((heads != self.before) & (self.texts >= 0)))
        return ThresholdFamilies(
            threshold, heads, len(several), int(several.sum()), int(sizes.max(initial=0)), moved
        )

    def _best(self, text: int, led: Sequence[int], ranks: dict[int, int], threshold: float) -> int:
        """The most similar principal at the threshold, ties to the earlier one; -1 for none."""
        found, best = -1, threshold
        for place in range(self._ends[text], self._ends[text + 1]):
            value = self._values[place]
            if value < best:
                break
            head = led[self._others[place]]
            if head >= 0 and (found < 0 or ranks[head] < ranks[found]):
                found, best = head, value
        return found
