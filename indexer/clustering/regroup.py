"""Families at any threshold from known pairs: nothing is read or measured again.

The definition is that of `indexer.clustering.principals`. Only the pairs with their similarities
are kept, sorted once, so that an interactive slider can ask for any threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers32 = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class ThresholdFamilies:
    """The families at one threshold.

    `heads`: the principal of each document, itself where it has none. `families`: how many have two
    documents or more; `gathered`: the documents in those, principals included; `largest`: the
    documents in the largest; `moved`: the documents whose family differs from before.
    """

    threshold: float
    heads: Numbers32
    families: int
    gathered: int
    largest: int
    moved: int


def summarise(threshold: float, heads: Numbers32, before: Numbers32) -> ThresholdFamilies:
    """Return the families of documents by their principals, compared with those before.

    >>> summarise(0.9, np.array([0, 0, 2]), np.array([0, 1, 2])).moved
    1
    """
    sizes = np.bincount(heads, minlength=1)
    several = sizes[sizes > 1]
    moved = int(np.count_nonzero(heads != before))
    return ThresholdFamilies(
        threshold, heads, len(several), int(several.sum()), int(sizes.max(initial=0)), moved
    )


class SimilarPairs:
    """Documents by the numbers of their `texts`, and the similar pairs of texts, each once.

    `order` returns the documents in the order in which they may become principals at a threshold.
    """

    def __init__(
        self,
        texts: Numbers32,
        pairs: tuple[Numbers32, Numbers32],
        similarity: NDArray[np.float64],
        order: Callable[[float], Sequence[int]],
    ) -> None:
        self._texts = texts
        self._order = order
        count = int(texts.max(initial=-1)) + 1
        left, right = pairs
        both = np.concatenate([left, right])
        values = np.concatenate([similarity, similarity])
        by_text = np.lexsort((-values, both))
        self._others: list[int] = np.concatenate([right, left])[by_text].tolist()
        self._values: list[float] = values[by_text].tolist()
        self._ends: list[int] = np.searchsorted(both[by_text], np.arange(count + 1)).tolist()
        carriers = np.bincount(texts, minlength=count)
        self._has_similar = (np.diff(self._ends) > 0) | (carriers > 1)

    def heads(self, threshold: float) -> Numbers32:
        """Return the principal of each document, itself where it has none, at a threshold that is
        not below that of the pairs.

        >>> two = np.array([0, 1], dtype=np.int32)
        >>> pairs = SimilarPairs(two, (two[:1], two[1:]), np.array([0.9]), lambda _: [0, 1])
        >>> pairs.heads(0.9).tolist(), pairs.heads(0.95).tolist()
        ([0, 0], [0, 1])
        """
        heads = np.arange(len(self._texts), dtype=np.int32)
        head_of_text = [-1] * (len(self._ends) - 1)
        ranks: dict[int, int] = {}
        order = np.asarray(self._order(threshold), dtype=np.int64)
        order = order[self._has_similar[self._texts[order]]]
        visits = zip(order.tolist(), self._texts[order].tolist(), strict=True)
        for place, text in visits:
            head = head_of_text[text]
            if head < 0:
                head = self._best(text, head_of_text, ranks, threshold)
            if head >= 0:
                heads[place] = head
            else:
                head_of_text[text] = place
                ranks[place] = len(ranks)
        return heads

    def _best(
        self, text: int, head_of_text: Sequence[int], ranks: dict[int, int], threshold: float
    ) -> int:
        """Return the most similar principal at the threshold, ties to the earlier; -1 for none."""
        best_head, best = -1, threshold
        for place in range(self._ends[text], self._ends[text + 1]):
            value = self._values[place]
            if value < best:
                break
            head = head_of_text[self._others[place]]
            if head >= 0 and (best_head < 0 or ranks[head] < ranks[best_head]):
                best_head, best = head, value
        return best_head
