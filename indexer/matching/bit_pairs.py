"""Pairs of texts whose sketches differ in few bits, for recipes that make bits and no slots."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from indexer.joins.bit_tables import ClosePairs
from indexer.matching.band_pairs import BandPairs
from indexer.matching.text_pairs import AT_ONCE, TextPairs, TextPairsBuilder
from indexer.matching.verification import MatchContext
from indexer.sketch.blocks import FARTHEST, design_for
from indexer.sketch.distance import allowed_distance


def collect_close_pairs(
    context: MatchContext, rank: NDArray[np.int64], threshold: float, cap: int
) -> BandPairs:
    """Return the selected pairs within the distance of a threshold, with their equal bits.

    At most 8 bits. `rank`: (texts,) the order in which texts are preferred where the cap leaves
    pairs out.
    """
    collection = context.collection
    bits = collection.recipe.bits or 64
    distance = min(allowed_distance(threshold, bits), FARTHEST)
    design = design_for(bits, distance)
    close = ClosePairs(collection.simhash, design, distance, rank, cap, collection.budget)
    pairs = BandPairs(len(collection.simhash), bits, collection.budget)
    for left, right, apart in close.blocks():
        is_selected = context.selection.may_include(left, right)
        equal = (bits - apart[is_selected]).astype(np.uint16)
        pairs.add(left[is_selected], right[is_selected], equal)
        context.progress("comparing bits", *close.progress)
    pairs.sort()
    pairs.candidates, pairs.capped = close.candidates, close.capped
    return pairs


def find_bit_pairs(context: MatchContext, threshold: float, cap: int) -> TextPairs:
    """Return the selected pairs of texts that reach a threshold by `hamming`.

    Stored bits decide; texts are read where there are criteria.
    """
    collection = context.collection
    bits = collection.recipe.bits or 64
    pairs = collect_close_pairs(context, np.arange(len(collection.simhash)), threshold, cap)
    builder = TextPairsBuilder(collection.budget, math.nextafter(threshold, 0))
    for left, right, equal in pairs.blocks(size=AT_ONCE):
        similarity = equal / bits
        if collection.criteria:
            similarity = context.verifier.similarities(left, right, threshold)
        context.on_pairs(builder.add(left, right, similarity, np.ones(len(left), dtype=bool)))
    return builder.build(pairs.candidates, pairs.capped)
