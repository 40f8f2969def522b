"""All pairs of texts by their features or their words, without chance.

A pair with `lcs` of t shares at least t of the words of the longer text, each word as often as both
have it. Occurrences of words are therefore joined as sets that share so much of the larger one, and
the pairs that remain are aligned.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from indexer.joins.bands import CapReport
from indexer.joins.memory_budget import Column, parts
from indexer.joins.pair_codes import decode_pair
from indexer.joins.prefixes import FeatureOrder, SimilarSets
from indexer.matching.text_pairs import AT_ONCE, TextPairs, TextPairsBuilder
from indexer.matching.verification import MatchContext

MEASURES = ("jaccard", "lcs")  # of which all pairs can be found

Hashes = NDArray[np.uint64]


def find_all_pairs(context: MatchContext, threshold: float) -> TextPairs:
    """Return every selected pair whose `jaccard` or `lcs` is `threshold` or more.

    The verifier's measure is one of `MEASURES`. Reads all texts twice for `jaccard` and once for
    `lcs`, and those of candidates again. The memory budget holds about three bits for each feature
    or word of a text, at high thresholds 8 bytes for each of a prefix, and 8 bytes for each word.
    """
    sets = _similar_sets(context, threshold)
    codes = sets.candidates(lambda done, total: context.progress("ruling out pairs", done, total))
    builder = TextPairsBuilder(context.collection.budget, threshold)
    candidates = 0
    for part in parts(len(codes), AT_ONCE):
        left, right = context.selection.texts(*decode_pair(codes[part]))
        similarity = context.verifier.similarities(left, right, threshold)
        taken = builder.add(left, right, similarity, np.ones(len(left), dtype=bool))
        context.on_pairs(taken)
        candidates += len(left)
        context.progress("verifying pairs", part.stop, len(codes))
    return builder.build(candidates, CapReport())


def _similar_sets(context: MatchContext, threshold: float) -> SimilarSets:
    budget = context.collection.budget
    order = FeatureOrder()
    sizes = np.zeros(len(context.collection.chars), dtype=np.int64)
    has_words = context.verifier.measure == "lcs"
    words = Column(budget, np.uint64)
    for text, hashes in enumerate(_hashes(context, "counting features")):
        order.count(hashes)
        sizes[text] = len(hashes)
        if has_words:
            words.add(hashes)
    sets = SimilarSets(sizes, order, threshold, budget, of_larger=has_words)
    again = _slices(words, sizes) if has_words else _hashes(context, "choosing features")
    for text, hashes in enumerate(again):
        sets.put(text, hashes)
    return sets


def _hashes(context: MatchContext, stage: str) -> Iterator[Hashes]:
    """Yield the distinct hashes of the features, or of the occurrences of words, of every text."""
    verifier = context.verifier
    if verifier.measure == "lcs":
        texts = np.arange(len(context.collection.chars))
        return verifier.occurrences(texts, context.progress, stage)
    return (side.features.hashes for side in verifier.all_sides(context.progress, stage))


def _slices(column: Column, sizes: NDArray[np.int64]) -> Iterator[Hashes]:
    values = column.whole()
    for size, end in zip(sizes.tolist(), np.cumsum(sizes).tolist(), strict=True):
        yield values[end - size : end]
