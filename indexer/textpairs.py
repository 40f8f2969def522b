"""Pairs of the distinct texts of a collection: likely ones by their slots, or all of them by their features."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.collection import Collection, Progress
from indexer.copies import Wanted
from indexer.joining import Capped, Join, Places, SlotCounter, intervals, within
from indexer.planning import Plan
from indexer.prefixes import FeatureOrder, Prefixes, parity_map, prefix_length
from indexer.verifying import BATCH, Verifier

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Sharing:
    """Pairs of texts that share a band, and how many of their slots are equal; ascending by left, then right.

    `candidates` counts all that share a band, those with too few equal slots included.
    """

    left: Places
    right: Places
    equal: NDArray[np.uint16]
    candidates: int
    capped: Capped


@dataclass(frozen=True, slots=True)
class TextPairs:
    """Pairs of texts at or above a threshold. `exact`: measured on the texts, else estimated from the slots."""

    left: Places
    right: Places
    similarity: NDArray[np.float64]
    exact: NDArray[np.bool_]
    candidates: int
    capped: Capped


def sharing(
    collection: Collection, layout: Plan, rank: NDArray[np.int64], least: int, cap: int, wanted: Wanted, progress: Progress
) -> Sharing:
    """The wanted pairs that share a band of this layout and have `least` equal slots or more.

    Texts of least `rank` are the centres of hot bands. Memory: 4 bytes a band and text, 5 a slot and text, 10 a pair.
    """
    join = Join(collection.slots, layout.bands, layout.rows, rank, cap)
    counter = SlotCounter(collection.slots)
    parts = [counter.at_least(np.zeros(0, np.int32), np.zeros(0, np.int32), least)]
    candidates = 0
    for left, right in join.blocks():
        candidates += len(left)
        parts.append(counter.at_least(*wanted.texts(left, right), least))
        progress("pairing", candidates, 0)
    left, right, equal = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((right, left))
    return Sharing(left[order], right[order], equal[order], candidates, join.capped)


def likely(
    collection: Collection,
    verifier: Verifier,
    threshold: float,
    layout: Plan,
    wanted: Wanted,
    exact: bool,
    cap: int,
    progress: Progress,
) -> TextPairs:
    """Pairs that share a band: the slots decide what they can of `features`, the texts the rest, or all of it if `exact`.

    Pairs whose 95 % interval ends below the threshold are out. `estimate` needs no texts, every other measure reads them.
    """
    width = collection.slots.shape[1]
    low, _ = intervals(width)
    rank, least = np.arange(len(collection.slots)), fewest_equal(verifier.measure, width, threshold)
    found = sharing(collection, layout, rank, least, cap, wanted, progress)
    decided = {"features": (low[found.equal] >= threshold) & (not exact), "estimate": np.ones(len(found.left), dtype=bool)}
    measured = ~decided.get(verifier.measure, np.zeros(len(found.left), dtype=bool))
    similarity = found.equal / width
    similarity[measured] = verifier.similarities(found.left[measured], found.right[measured], progress)
    kept = ~measured | ((similarity >= threshold) & (similarity > 0))
    columns = (found.left[kept], found.right[kept], similarity[kept], measured[kept])
    return TextPairs(*columns, found.candidates, found.capped)


def fewest_equal(measure: str, width: int, threshold: float) -> int:
    """The fewest of `width` slots that are equal in a pair which slots do not rule out; measures that slots say nothing of: 0.

    >>> fewest_equal("features", 128, 0.5), fewest_equal("estimate", 128, 0.5), fewest_equal("overlap", 128, 0.5)
    (53, 64, 0)
    """
    if measure == "estimate":
        return math.ceil(threshold * width - _ROUNDING)
    return int(np.argmax(intervals(width)[1] >= threshold)) if measure == "features" else 0


def complete(collection: Collection, verifier: Verifier, threshold: float, wanted: Wanted, progress: Progress) -> TextPairs:
    """Every wanted pair whose `features` similarity is `threshold` or more, by prefixes; reads all texts twice or more.

    Memory: 16 bytes for each feature of a prefix, about (1 - threshold) of all features, 512 a text, and 8 for each
    candidate.
    """
    prefixes = _prefixes(collection, verifier, threshold, progress)
    left, right = wanted.texts(*prefixes.pairs(threshold))
    similarity = verifier.similarities(left, right, progress)
    kept = (similarity >= threshold) & (similarity > 0)
    return TextPairs(left[kept], right[kept], similarity[kept], np.ones(kept.sum(), dtype=bool), len(left), Capped())


def _prefixes(collection: Collection, verifier: Verifier, threshold: float, progress: Progress) -> Prefixes:
    count, order = len(collection.documents), FeatureOrder()
    for start in range(0, count, BATCH):
        for features in verifier.features(range(start, min(start + BATCH, count))):
            order.count(features)
        progress("counting features", min(start + BATCH, count), count)
    hashes, sizes = [np.zeros(0, dtype=np.uint64)], np.zeros(count, dtype=np.int64)
    maps = np.zeros((count, len(parity_map(hashes[0]))), dtype=np.uint16)
    for start in range(0, count, BATCH):
        for text, features in enumerate(verifier.features(range(start, min(start + BATCH, count))), start):
            sizes[text], maps[text] = len(features), parity_map(features)
            hashes.append(order.first(features, prefix_length(len(features), threshold)))
        progress("choosing features", min(start + BATCH, count), count)
    lengths = np.array([len(part) for part in hashes[1:]], dtype=np.int64)
    sets = np.repeat(np.arange(count, dtype=np.int32), lengths)
    return Prefixes(np.concatenate(hashes), sets, within(lengths).astype(np.int32), sizes, maps)
