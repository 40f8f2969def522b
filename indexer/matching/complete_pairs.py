"""All pairs of texts by their features, without chance."""

from __future__ import annotations

import numpy as np

from indexer.joins.bands import CapReport
from indexer.joins.memory_budget import parts
from indexer.joins.pair_codes import decode_pair
from indexer.joins.prefixes import FeatureOrder, SimilarSets
from indexer.matching.text_pairs import AT_ONCE, TextPairs, TextPairsBuilder
from indexer.matching.verification import MatchContext


def find_all_pairs(context: MatchContext, threshold: float) -> TextPairs:
    """Return every selected pair whose `jaccard` similarity is `threshold` or more.

    Reads all texts twice or more. The memory budget holds about three bits for each feature of a
    text, and at high thresholds 8 bytes for each feature of a prefix.
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
    verifier, progress = context.verifier, context.progress
    order = FeatureOrder()
    sizes = np.zeros(len(context.collection.chars), dtype=np.int64)
    for text, side in enumerate(verifier.all_sides(progress, "counting features")):
        order.count(side.features.hashes)
        sizes[text] = len(side.features)
    sets = SimilarSets(sizes, order, threshold, context.collection.budget)
    for text, side in enumerate(verifier.all_sides(progress, "choosing features")):
        sets.put(text, side.features.hashes)
    return sets
