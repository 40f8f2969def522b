"""An estimate of the pairs that `match` misses, from a stratified random sample.

Pairs that it does not list are verified on their texts. Pairs whose sketches could be those of near
duplicates are all found, by bands so short that hardly one escapes, and put into strata by the
similarity that their slots promise. All other pairs are one stratum, which is sampled at random.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.joins.bands import Join
from indexer.joins.external_sort import Codes
from indexer.joins.pair_codes import decode_pair, encode_pair
from indexer.joins.slot_bounds import slot_similarity
from indexer.joins.slot_counter import SlotCounter
from indexer.matching.band_pairs import BandPairs
from indexer.matching.text_pairs import TextPairs
from indexer.matching.verification import MatchContext
from indexer.sketch.plan import plan_for_recall
from indexer.statistics.intervals import random_places
from indexer.statistics.strata import (
    ESCAPING,
    Audit,
    Stratum,
    allot,
    audit_strata,
    chance_at_least,
    chance_at_most,
)

EDGES = (0.9, 0.5, 0.1, 0.01)  # chances to reach the threshold between which strata lie
SKETCH_PRECISION = 0.98  # chance that a pair which its sketches alone list is rightly listed
FAR_SHARE = 4  # one in so many pairs is sampled from those far apart
MOST_LISTED = 200_000  # pairs far apart up to which all are listed to sample from
MEASURED = "listed, measured on texts"
FAR = "far apart by their sketches"


@dataclass(frozen=True)
class _Group:
    """The pairs of one stratum before they are sampled."""

    name: str
    codes: Codes
    expected: float
    listed: bool

    @property
    def spread(self) -> float:
        """The standard deviation of one draw, by the expected share of pairs at the threshold."""
        return math.sqrt(self.expected * (1 - self.expected))


@dataclass(frozen=True)
class _NearPairs:
    """Pairs that are not listed and may be near duplicates by their slots.

    `codes`, and the equal slots of each.
    """

    codes: Codes
    equal: NDArray[np.uint16]


def audit_pairs(
    context: MatchContext,
    listed: TextPairs,
    threshold: float,
    sample_size: int,
    seed: int,
    cap: int,
) -> Audit:
    """Estimate which share of the pairs at the threshold are `listed`.

    Verifies about `sample_size` pairs of distinct texts, 20 or more, sampled by `seed`.
    """
    listed_codes = encode_pair(listed.left, listed.right)
    near = _near_pairs(context, listed_codes, threshold, cap)
    by_sketch = _Group(
        "listed by their sketches", listed_codes[~listed.exact], SKETCH_PRECISION, True
    )
    width, bits = context.collection.slots.shape[1], context.collection.slot_bits
    candidates = [by_sketch, *_groups(near, width, bits, threshold)]
    groups = [group for group in candidates if len(group.codes)]
    far = _FarPairs(len(context.collection.slots), np.union1d(listed_codes, near.codes))
    near_size = sum(len(group.codes) for group in groups)
    far_draws = min(far.size, max(sample_size // FAR_SHARE, sample_size - near_size))
    sizes = [len(group.codes) for group in groups]
    draws = allot(sizes, [group.spread for group in groups], sample_size - far_draws)
    sampler = _Sampler(context, threshold)
    measured = int(listed.exact.sum())
    strata = [Stratum(MEASURED, measured, measured, measured, 1.0, True)]
    strata += [
        _sampled_stratum(group, number, seed, sampler)
        for group, number in zip(groups, draws, strict=True)
    ]
    far_sample = far.sample(far_draws, seed)
    far_right = sampler.count_reaching(far_sample)
    strata.append(Stratum(FAR, far.size, len(far_sample), far_right, 0.0, False, placed=False))
    return audit_strata(threshold, strata)


def _sampled_stratum(group: _Group, draws: int, seed: int, sampler: _Sampler) -> Stratum:
    size = len(group.codes)
    right = sampler.count_reaching(group.codes[distinct(draws, size, seed)])
    return Stratum(group.name, size, draws, right, group.expected, group.listed)


def _near_pairs(context: MatchContext, listed: Codes, threshold: float, cap: int) -> _NearPairs:
    """Return the pairs that are not listed and may reach the threshold by their slots.

    By a layout that lets one in ten thousand pairs at the threshold escape, and a least number of
    equal slots that does the same.
    """
    slots, budget = context.collection.slots, context.collection.budget
    width = slots.shape[1]
    layout = plan_for_recall(min(threshold, 0.999), 1 - ESCAPING, width)
    least = next(
        equal for equal in range(width + 1) if chance_at_most(equal, width, threshold) > ESCAPING
    )
    join = Join(slots, layout.bands, layout.rows, np.arange(len(slots)), cap, budget)
    counter = SlotCounter(slots, budget)
    pairs = BandPairs(len(slots), slots.shape[1], budget)
    for left, right in join.blocks():
        pairs.add(*counter.at_least(left, right, least))
        context.progress("auditing: comparing slots", join.done, join.total)
    pairs.sort()
    code_blocks = [np.zeros(0, dtype=np.uint64)]
    equal_blocks = [np.zeros(0, dtype=np.uint16)]
    for left, right, equal in pairs.blocks():
        code_blocks.append(encode_pair(left, right))
        equal_blocks.append(equal)
    codes = np.concatenate(code_blocks)
    is_new = ~np.isin(codes, listed)
    return _NearPairs(codes[is_new], np.concatenate(equal_blocks)[is_new])


def _groups(near: _NearPairs, width: int, bits: int, threshold: float) -> Iterator[_Group]:
    """Yield the strata of pairs that are not listed, nearest first.

    They are named by the similarity that their slots estimate.
    """
    chances = np.array([chance_at_least(equal, width, threshold) for equal in range(width + 1)])
    stratum = np.searchsorted(-np.array(EDGES), -chances, side="left")[near.equal]
    for number in range(len(EDGES) + 1):
        equal = near.equal[stratum == number]
        if len(equal):
            low, high = slot_similarity(np.array([equal.min(), equal.max()]), width, bits)
            name = f"not listed, estimated {low:.2f} to {high:.2f}"
            codes = near.codes[stratum == number]
            yield _Group(name, codes, float(chances[equal].mean()), False)


class _FarPairs:
    """All pairs of texts but those of `others` (sorted codes)."""

    def __init__(self, texts: int, others: Codes) -> None:
        self._texts = texts
        self._others = others
        self.size = texts * (texts - 1) // 2 - len(others)

    def sample(self, number: int, seed: int) -> Codes:
        """Return so many of them, with equal chance, none twice."""
        if self.size + len(self._others) <= max(MOST_LISTED, 4 * number):
            pairs = self._all()
            return pairs[distinct(number, len(pairs), seed + 1)]
        sample: Codes = np.zeros(0, dtype=np.uint64)
        step = 0
        while len(sample) < number:
            a = random_places(4 * number, seed + 2 + step, self._texts)
            b = random_places(4 * number, seed + 3 + step, self._texts)
            is_pair = a != b
            codes = encode_pair(np.minimum(a, b)[is_pair], np.maximum(a, b)[is_pair])
            joined = np.concatenate([sample, codes[~np.isin(codes, self._others)]])
            sample = joined[np.sort(np.unique(joined, return_index=True)[1])]
            step += 2
        return sample[:number]

    def _all(self) -> Codes:
        left, right = np.triu_indices(self._texts, 1)
        codes = encode_pair(left.astype(np.int32), right.astype(np.int32))
        return np.setdiff1d(codes, self._others, assume_unique=True)


class _Sampler:
    """Verifies pairs by their codes."""

    def __init__(self, context: MatchContext, threshold: float) -> None:
        self._context = context
        self._threshold = threshold
        self._done = 0

    def count_reaching(self, codes: Codes) -> int:
        """Return how many of these pairs reach the threshold on their texts."""
        codes = np.sort(codes)
        left, right = decode_pair(codes)
        similarity = self._context.verifier.similarities(left, right)
        self._done += len(codes)
        self._context.progress("auditing: verifying pairs", self._done, 0)
        return int(np.count_nonzero((similarity >= self._threshold) & (similarity > 0)))


def distinct(number: int, among: int, seed: int) -> NDArray[np.int64]:
    """Return so many different places below `among`, with equal chance; the same for a seed."""
    if number * 4 >= among:
        order: NDArray[np.int64] = np.argsort(random_places(among, seed, 1 << 62), kind="stable")[
            :number
        ]
        return order
    candidates = random_places(4 * number + 64, seed, among)
    first: Sequence[int] = np.sort(np.unique(candidates, return_index=True)[1])[:number].tolist()
    return candidates[first]
