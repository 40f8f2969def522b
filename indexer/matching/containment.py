"""Excerpts, replies that quote, documents inside longer ones.

These are pairs of texts of which one holds much of the other.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from indexer.joins.bands import CapReport
from indexer.joins.external_sort import Codes, Sorter, bits_for
from indexer.joins.memory_budget import Column, parts
from indexer.joins.pair_codes import decode_pair, encode_pair
from indexer.joins.runs import find_runs, pairs_in_runs, slices_of_runs
from indexer.matching.text_pairs import AT_ONCE, TextPairs
from indexer.matching.verification import MatchContext, Verifier
from indexer.sketch.passage_keys import RunIndex, passage_keys


def find_contained_pairs(context: MatchContext, threshold: float, cap: int) -> TextPairs:
    """Return the selected pairs of which one text lies in the other to `threshold` or more.

    They share the key of a passage. How much of a text lies in another is measured on the texts, in
    shared runs, both ways; the larger side is the similarity. A passage that more than `cap` texts
    share makes no pair: texts that share no other are not found, and `capped` counts such passages.
    Reads all texts once, and those of candidates again. The memory budget holds 8 bytes for each 13
    letters of a text.
    """
    codes, capped = _candidates(context, cap)
    dtypes = (np.int32, np.int32, np.float64, np.float64)
    columns = [Column(context.collection.budget, dtype) for dtype in dtypes]
    for part in parts(len(codes), AT_ONCE):
        left, right = decode_pair(codes[part])
        within = _within(context.verifier, left, right, threshold)
        larger = within.max(axis=1)
        reaches = (larger >= threshold) & (larger > 0)
        left, right, within = left[reaches], right[reaches], within[reaches]
        for column, values in zip(columns, (left, right, *within.T), strict=True):
            column.add(values)
        exact = np.ones(len(left), dtype=bool)
        context.on_pairs(TextPairs(left, right, within.max(axis=1), exact, within=within))
        context.progress("verifying pairs", part.stop, len(codes))
    left, right, of_left, of_right = (column.whole() for column in columns)
    within = np.stack([of_left, of_right], axis=1)
    exact = np.ones(len(left), dtype=bool)
    return TextPairs(left, right, within.max(axis=1), exact, len(codes), capped, within)


def _candidates(context: MatchContext, cap: int) -> tuple[Codes, CapReport]:
    """Return the codes of the selected pairs that share a key, ascending, and what was capped."""
    budget = context.collection.budget
    bits = np.uint64(bits_for(len(context.collection.documents)))
    low = (np.uint64(1) << bits) - np.uint64(1)
    codes = _key_codes(context, low)
    pairs = Sorter(budget, unique=True)
    capped = CapReport()
    for part in slices_of_runs(codes, low, budget.block):
        texts = (codes[part] & low).astype(np.int32)
        starts, sizes = find_runs(codes[part] >> bits)
        is_hot = sizes > cap
        capped = _with_hot_passages(capped, sizes[is_hot])
        for left, right in pairs_in_runs(starts[~is_hot], sizes[~is_hot], budget.block):
            a, b = context.selection.texts(texts[left], texts[right])
            is_apart = a != b
            pairs.add(encode_pair(a[is_apart], b[is_apart]))
        context.progress("pairing passages", part.stop, len(codes))
    return pairs.sorted(), capped


def _key_codes(context: MatchContext, low: np.uint64) -> Codes:
    """Return sorted codes: the high bits of a passage's key, the number of its text in `low`."""
    keys = Sorter(context.collection.budget)
    sides = context.verifier.all_sides(context.progress, "reading passages")
    for text, side in enumerate(sides):
        keys.add(passage_keys(side.runs) & ~low | np.uint64(text))
    return keys.sorted()


def _with_hot_passages(capped: CapReport, sizes: NDArray[np.int64]) -> CapReport:
    return replace(
        capped,
        keys=capped.keys + len(sizes),
        largest=max(capped.largest, int(sizes.max(initial=0))),
        pairs=capped.pairs + int((sizes * (sizes - 1) // 2).sum()),
    )


def _within(
    verifier: Verifier, left: NDArray[np.int32], right: NDArray[np.int32], threshold: float
) -> NDArray[np.float64]:
    """Return (pairs, 2): how much of each left text lies in the right one, and the other way.

    0 for pairs below the threshold and for those that do not meet the criteria.
    """
    within = np.empty((len(left), 2))
    index, indexed = RunIndex(np.empty(0, dtype=np.uint64)), -1  # of the left text
    for part in verifier.batches(left, right):
        verifier.read([*left[part].tolist(), *right[part].tolist()])
        for place in range(part.start, part.stop):
            texts = int(left[place]), int(right[place])
            a, b = map(verifier.side, texts)
            if texts[0] != indexed:
                index, indexed = RunIndex(a.runs), texts[0]
            shares = index.contained_shares(b.runs)
            is_near = (
                max(shares) >= threshold
                and verifier.allows(*texts)
                and verifier.accepts_each([(a, b)])[0]
            )
            within[place] = shares if is_near else 0.0
    return within
