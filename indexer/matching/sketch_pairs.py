"""Pairs of texts by stored bits or rare terms, for recipes that make no slots."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from indexer.joins.bit_tables import ClosePairs, bit_words
from indexer.joins.memory_budget import parts
from indexer.joins.pair_codes import decode_pair
from indexer.joins.prefixes import FeatureOrder, SimilarSets
from indexer.matching.band_pairs import BandPairs
from indexer.matching.collection import Collection
from indexer.matching.text_pairs import AT_ONCE, TextPairs, TextPairsBuilder
from indexer.matching.verification import MatchContext
from indexer.model import TERM_HEAD
from indexer.sketch.blocks import design_for, farthest
from indexer.sketch.distance import allowed_distance
from indexer.sketch.hashing import mix64_array
from indexer.sketch.sketch_options import equal_parts, sketch_size
from indexer.sketch.term_vectors import common_entries


def collect_close_pairs(
    context: MatchContext, rank: NDArray[np.int64], threshold: float, cap: int
) -> BandPairs:
    """Return the selected pairs within the distance of a threshold, with their equal bits.

    At most those of `farthest`. `rank`: (texts,) the order in which texts are preferred where the
    cap leaves pairs out.
    """
    collection = context.collection
    bits = collection.recipe.bits or 64
    distance = min(allowed_distance(threshold, bits), farthest(bits))
    design = design_for(bits, distance)
    close = ClosePairs(_bit_words(collection), design, distance, rank, cap, collection.budget)
    pairs = BandPairs(len(collection.chars), bits, collection.budget)
    for left, right, apart in close.blocks():
        is_selected = context.selection.may_include(left, right)
        equal = (bits - apart[is_selected]).astype(np.uint16)
        pairs.add(left[is_selected], right[is_selected], equal)
        context.progress("comparing bits", *close.progress)
    pairs.sort()
    pairs.candidates, pairs.capped = close.candidates, close.capped
    return pairs


def _bit_words(collection: Collection) -> NDArray[np.uint64]:
    """Return the bits of texts as words of 64, the first bits first: (texts, words)."""
    if not collection.recipe.has_long_bits:
        return collection.simhash[:, None]
    octets = collection.slots
    words = collection.budget.array((len(octets), -(-octets.shape[1] // 8)), np.uint64)
    for part in parts(len(octets), collection.budget.block):
        words[part] = bit_words(octets[part])
    return words


def collect_term_pairs(context: MatchContext, threshold: float) -> BandPairs:
    """Return the selected pairs whose vectors reach a threshold, with their common entries.

    None is missed, and there is no cap: every such pair has an entry in common among the first of
    both in one order of all entries.
    """
    collection, recipe = context.collection, context.collection.recipe
    vectors, size = collection.slots, sketch_size(recipe)
    texts = len(vectors)
    order = FeatureOrder()
    for entries in _entries(vectors):
        order.count(entries)
    similar = SimilarSets(np.full(texts, size), order, threshold, collection.budget, of_larger=True)
    for text, entries in enumerate(_entries(vectors)):
        similar.put(text, entries)
        if text % 1000 == 0:
            context.progress("comparing rare terms", text, texts)
    codes = similar.candidates()
    pairs = BandPairs(texts, size, collection.budget)
    least = equal_parts(recipe, threshold)
    for part in parts(len(codes), collection.budget.block):
        left, right = decode_pair(np.asarray(codes[part]))
        common = common_entries(vectors[left], vectors[right])
        is_selected = (common >= least) & context.selection.may_include(left, right)
        pairs.add(left[is_selected], right[is_selected], common[is_selected])
    pairs.sort()
    pairs.candidates = len(codes)
    return pairs


def _entries(vectors: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Return the entries of vectors, spread over 64 bits: (texts, size)."""
    entries: NDArray[np.uint64] = mix64_array(vectors[:, TERM_HEAD:].astype(np.uint64))
    return entries


def collect_sketch_pairs(
    context: MatchContext, rank: NDArray[np.int64], threshold: float, cap: int
) -> BandPairs:
    """Return the selected pairs by bits as above, or by rare terms, of which there is no cap."""
    if context.collection.recipe.terms:
        return collect_term_pairs(context, threshold)
    return collect_close_pairs(context, rank, threshold, cap)


def find_sketch_pairs(context: MatchContext, threshold: float, cap: int) -> TextPairs:
    """Return the selected pairs of texts that reach a threshold by the measure of their sketches.

    Stored sketches decide; texts are read where there are criteria.
    """
    collection = context.collection
    size = sketch_size(collection.recipe)
    pairs = collect_sketch_pairs(context, np.arange(len(collection.chars)), threshold, cap)
    builder = TextPairsBuilder(collection.budget, math.nextafter(threshold, 0))
    for left, right, equal in pairs.blocks(size=AT_ONCE):
        similarity = equal / size
        if collection.criteria:
            similarity = context.verifier.similarities(left, right, threshold)
        context.on_pairs(builder.add(left, right, similarity, np.ones(len(left), dtype=bool)))
    return builder.build(pairs.candidates, pairs.capped)
