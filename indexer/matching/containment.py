"""Excerpts, replies that quote, documents inside longer ones: pairs of texts of which one holds
much of the other.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from indexer.joins.bands import CapReport
from indexer.joins.copies import PairFilter
from indexer.joins.external_sort import Codes, Sorter, bits_for
from indexer.joins.memory_budget import Column, parts
from indexer.joins.pair_codes import decode_pair, encode_pair
from indexer.joins.runs import find_runs, pairs_in_runs, slices_of_runs
from indexer.matching.collection import Collection
from indexer.matching.text_pairs import AT_ONCE, TextPairs
from indexer.matching.verification import Verifier
from indexer.sketch.passage_keys import contained_share, passage_keys
from indexer.system.progress_callback import Progress


def containing(
    collection: Collection,
    verifier: Verifier,
    threshold: float,
    wanted: PairFilter,
    cap: int,
    progress: Progress,
) -> TextPairs:
    """The wanted pairs that share the key of a passage, and of which one text lies in the other to
    `threshold` or more.

    How much of a text lies in another is measured on the texts, in shared runs, both ways; the
    larger side is the similarity. A passage that more than `cap` texts share makes no pair: texts
    that share no other are not found, and `capped` counts such passages. Reads all texts once, and
    those of candidates again. The memory budget holds 8 bytes for each 13 letters of a text.
    """
    codes, capped = _candidates(collection, verifier, wanted, cap, progress)
    columns = [
        Column(collection.budget, dtype) for dtype in (np.int32, np.int32, np.float64, np.float64)
    ]
    for part in parts(len(codes), AT_ONCE):
        left, right = decode_pair(codes[part])
        within = _within(verifier, left, right)
        kept = (within.max(axis=1) >= threshold) & (within.max(axis=1) > 0)
        for column, values in zip(columns, (left, right, *within.T), strict=True):
            column.add(values[kept])
        progress("verifying pairs", part.stop, len(codes))
    left, right, one, other = (column.whole() for column in columns)
    within = np.stack([one, other], axis=1)
    return TextPairs(
        left, right, within.max(axis=1), np.ones(len(left), dtype=bool), len(codes), capped, within
    )


def _candidates(
    collection: Collection, verifier: Verifier, wanted: PairFilter, cap: int, progress: Progress
) -> tuple[Codes, CapReport]:
    """The wanted pairs that share a key, as left << 32 | right, ascending; and what was passed
    over.
    """
    bits = np.uint64(bits_for(len(collection.documents)))
    low = (np.uint64(1) << bits) - np.uint64(1)
    keys, found, capped = (
        Sorter(collection.budget),
        Sorter(collection.budget, unique=True),
        CapReport(),
    )
    for text, side in enumerate(verifier.every(progress, "reading passages")):
        keys.add(passage_keys(side.runs) & ~low | np.uint64(text))
    codes = keys.sorted()
    for part in slices_of_runs(codes, low, collection.budget.block):
        texts = (codes[part] & low).astype(np.int32)
        starts, sizes = find_runs(codes[part] >> bits)
        hot = sizes > cap
        capped = _added(capped, sizes[hot])
        for left, right in pairs_in_runs(starts[~hot], sizes[~hot], collection.budget.block):
            one, other = wanted.texts(texts[left], texts[right])
            apart = one != other
            found.add(encode_pair(one[apart], other[apart]))
        progress("pairing passages", part.stop, len(codes))
    return found.sorted(), capped


def _added(capped: CapReport, sizes: NDArray[np.int64]) -> CapReport:
    return replace(
        capped,
        keys=capped.keys + len(sizes),
        largest=max(capped.largest, int(sizes.max(initial=0))),
        pairs=capped.pairs + int((sizes * (sizes - 1) // 2).sum()),
    )


def _within(
    verifier: Verifier, left: NDArray[np.int32], right: NDArray[np.int32]
) -> NDArray[np.float64]:
    """How much of each left text lies in the right one, and the other way: (pairs, 2)."""
    within = np.empty((len(left), 2))
    for part in verifier.batches(left, right):
        verifier.read([*left[part].tolist(), *right[part].tolist()])
        for place in range(part.start, part.stop):
            one, other = verifier.side(int(left[place])).runs, verifier.side(int(right[place])).runs
            within[place] = contained_share(one, other), contained_share(other, one)
    return within
