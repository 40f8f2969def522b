"""Families at any threshold from known pairs: nothing is read or measured again.

The definition is that of `indexer.clustering.principals`. Only the pairs with their similarities
are kept, sorted once, so that an interactive slider can ask for any threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
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


@dataclass(frozen=True, slots=True)
class DocumentOrder:
    """Documents in principal order.

    `order`: documents in the order in which they may become principals. `texts`: the text of each
    document. `before`: the principal that each document has now.
    """

    order: Sequence[int]
    texts: Numbers32
    before: Numbers32


class SimilarPairs:
    """Documents in principal order, and the similar pairs of their texts, each once."""

    def __init__(
        self,
        documents: DocumentOrder,
        left: Numbers32,
        right: Numbers32,
        similarity: NDArray[np.float64],
    ) -> None:
        texts = documents.texts
        self.texts = texts
        self.before = documents.before
        count = int(texts.max(initial=-1)) + 1
        both = np.concatenate([left, right])
        values = np.concatenate([similarity, similarity])
        by_text = np.lexsort((-values, both))
        self._others: list[int] = np.concatenate([right, left])[by_text].tolist()
        self._values: list[float] = values[by_text].tolist()
        self._ends: list[int] = np.searchsorted(both[by_text], np.arange(count + 1)).tolist()
        carriers = np.bincount(texts, minlength=count)
        has_similar = (np.diff(self._ends) > 0) | (carriers > 1)
        self._visits = [
            (place, int(texts[place])) for place in documents.order if has_similar[texts[place]]
        ]

    def at(self, threshold: float) -> ThresholdFamilies:
        """Return the families at a threshold, which is not below that of the pairs.

        >>> two = np.array([0, 1], dtype=np.int32)
        >>> documents = DocumentOrder([0, 1], two, two)
        >>> pairs = SimilarPairs(documents, two[:1], two[1:], np.array([0.9]))
        >>> pairs.at(0.9).heads.tolist(), pairs.at(0.95).heads.tolist()
        ([0, 0], [0, 1])
        """
        heads = np.arange(len(self.texts), dtype=np.int32)
        head_of_text = [-1] * (len(self._ends) - 1)
        ranks: dict[int, int] = {}
        for place, text in self._visits:
            head = head_of_text[text]
            if head < 0:
                head = self._best(text, head_of_text, ranks, threshold)
            if head >= 0:
                heads[place] = head
            else:
                head_of_text[text] = place
                ranks[place] = len(ranks)
        sizes = np.bincount(heads, minlength=1)
        several = sizes[sizes > 1]
        moved = int(np.count_nonzero(heads != self.before))
        return ThresholdFamilies(
            threshold, heads, len(several), int(several.sum()), int(sizes.max(initial=0)), moved
        )

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
