"""Pairs of texts that share a band, or are short, and reach a threshold by slots or texts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from indexer.joins.bands import Join
from indexer.joins.hot_bands import HotBands, MissedEstimate
from indexer.joins.short_texts import FEW_WORDS, ShortTexts, most_words
from indexer.joins.slot_bounds import enough_equal, slot_similarity
from indexer.joins.slot_counter import SlotCounter
from indexer.matching.band_pairs import BandPairs
from indexer.matching.short_pairs import ShortPairs
from indexer.matching.text_pairs import TextPairs, TextPairsBuilder
from indexer.matching.verification import MatchContext
from indexer.sketch.plan import Plan
from indexer.sketch.wilson import wilson

REPORTED = 1 << 12  # pairs that are verified before those that reach the threshold are reported
ESTIMATED = 20_000  # pairs to verify above which an estimate comes first
SAMPLE = 300  # pairs that are verified for the estimate


def find_likely_pairs(
    context: MatchContext, layout: Plan, threshold: float, cap: int, exact: bool
) -> TextPairs:
    """Return the selected pairs that share a band and reach the threshold.

    Pairs with fewer equal slots than the layout asks for are left out. Of the others, by `jaccard`,
    slots decide where their interval does not hold the threshold, and texts the rest; texts decide
    all if `exact`, or if there are criteria. `estimate` needs no texts, every other measure reads
    them.
    """
    slots, verifier = context.collection.slots, context.verifier
    width, bits = slots.shape[1], context.collection.slot_bits
    decisive = enough_equal(verifier.measure, width, threshold, exact, bits)
    if context.collection.criteria:
        decisive = width + 1
    rank = np.arange(len(slots))
    pairs = find_band_pairs(context, layout, rank, layout.fewest_equal, threshold, cap)
    total = sum(int((equal < decisive).sum()) for _, _, equal in pairs.blocks())
    if total > ESTIMATED:
        context.on_estimate(_expected_pairs(context, pairs, decisive, threshold, total, cap))
    builder = TextPairsBuilder(context.collection.budget, threshold)
    done = 0
    for left, right, equal in pairs.blocks(size=REPORTED):
        is_open = equal < decisive
        similarity = slot_similarity(equal, width, bits)
        similarity[is_open] = verifier.similarities(left[is_open], right[is_open], threshold)
        context.on_pairs(builder.add(left, right, similarity, is_open))
        done += int(is_open.sum())
        context.progress("verifying pairs", done, total)
    return builder.build(pairs.candidates, pairs.capped)


def _expected_pairs(
    context: MatchContext,
    pairs: BandPairs,
    decisive: int,
    threshold: float,
    total: int,
    cap: int,
) -> str:
    """Estimate how many pairs reach the threshold, from a sample of those to verify.

    Each pair of texts stands for the pairs of their copies, on average of those in the sample, and
    the copies of one text are pairs too; where only some pairs of documents are selected, these are
    not counted.
    """
    left, right, equal = pairs.sample(SAMPLE)
    is_open = equal < decisive
    left, right = left[is_open], right[is_open]
    values = context.verifier.similarities(left, right, threshold)
    reaches = (values >= threshold) & (values > 0)
    low, high = wilson(int(np.count_nonzero(reaches)), len(values))
    decided = len(pairs) - total
    documents, of_each, copies = context.collection.documents, 1.0, 0
    unit = "pairs of texts, not counting copies,"
    if context.selection.selects_all:
        between = documents.pairs_between(left[reaches], right[reaches], cap)
        of_each = float(between.mean()) if len(between) else 1.0
        copies, unit = documents.pairs_of_copies(cap), "pairs of documents"
    ends = (copies + of_each * (decided + share * total) for share in (low, high))
    fewest, most = (f"{end:,.0f}" for end in ends)
    return (
        f"{total:,} pairs of texts to verify, after which about {fewest} to {most} {unit} "
        f"reach {threshold:g}"
    )


def find_band_pairs(
    context: MatchContext,
    layout: Plan,
    rank: NDArray[np.int64],
    least: int,
    threshold: float,
    cap: int,
) -> BandPairs:
    """Return the selected pairs that share a band and have `least` equal slots or more.

    By `lcs` also those of which one text is short, at the threshold of the layout.

    `rank`: (texts,) the order in which texts are preferred. In a band that more than `cap` texts
    share, only the first by rank is paired with all others; of the pairs that this leaves out a
    sample is verified at `threshold`. The memory budget holds 4 bytes a band and text, 5 a slot and
    text, 8 a pair.
    """
    slots, budget = context.collection.slots, context.collection.budget
    short = ShortPairs(_short_texts(context, layout.threshold, rank, cap))
    join = Join(slots, layout.bands, layout.rows, rank, cap, budget)
    counter = SlotCounter(slots, budget)
    pairs = BandPairs(len(slots), slots.shape[1], budget)
    for left, right in join.blocks():
        pairs.candidates += len(left) - int(short.contains(left, right).sum())
        near = counter.at_least(*context.selection.texts(left, right), least)
        short.discard(*near[:2])
        pairs.add(*near)
        context.progress("comparing slots", join.done, join.total)
    left, right = short.rest(context.selection)
    pairs.candidates += len(short.codes)
    pairs.add(left, right, np.zeros(len(left), dtype=np.uint16))
    pairs.sort()
    pairs.capped = join.capped.merge(short.capped)
    if join.hot.pairs:
        missed = _missed(context, join.hot, counter, short, least, threshold)
        pairs.capped = replace(pairs.capped, missed=missed)
    return pairs


def _short_texts(
    context: MatchContext, threshold: float, rank: NDArray[np.int64], cap: int
) -> ShortTexts | None:
    """Return the texts that short ones may resemble by `lcs`, which are read; None if none is."""
    words = context.collection.words
    if context.verifier.measure != "lcs" or not (words < FEW_WORDS).any():
        return None
    chosen = np.flatnonzero(words <= most_words(threshold))
    join = ShortTexts(threshold, rank, cap, context.collection.budget)
    texts = context.verifier.occurrences(chosen, context.progress, "comparing short texts")
    for text, hashes in zip(chosen.tolist(), texts, strict=True):
        join.put(text, hashes)
    return join


def _missed(
    context: MatchContext,
    hot: HotBands,
    counter: SlotCounter,
    short: ShortPairs,
    least: int,
    threshold: float,
) -> MissedEstimate:
    """Estimate how many pairs hot bands left out.

    Verifies those of their random sample that would have been listed, had they been looked at.
    """
    weights = hot.weights()
    smaller, larger = hot.sides
    order = np.lexsort((larger, smaller))
    order = order[weights[order] > 0]
    left, right = smaller[order], larger[order]
    is_promising = counter.reaches(left, right, least) & ~short.contains(left, right)
    is_promising &= context.selection.may_include(left, right)
    similarities = context.verifier.similarities(left[is_promising], right[is_promising], threshold)
    is_missed = np.zeros(len(weights), dtype=bool)
    is_missed[order[is_promising]] = similarities >= threshold
    return hot.missed(threshold, is_missed, weights)
