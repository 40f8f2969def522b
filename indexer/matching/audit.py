"""What `match` misses: pairs that it does not list, drawn in strata of their sketches and verified
on their texts.

Pairs whose sketches could be those of near duplicates are all found, by bands so short that hardly
one escapes, and put into strata by what their slots promise. All other pairs are one stratum, from
which pairs are drawn at random.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.errors import UsageError
from indexer.joins.bands import Join
from indexer.joins.external_sort import Codes
from indexer.joins.pair_codes import decode_pair, encode_pair
from indexer.joins.slot_counter import SlotCounter
from indexer.matching.collection import Collection
from indexer.matching.text_pairs import Sharing, TextPairs
from indexer.matching.verification import Verifier
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
from indexer.system.progress_callback import Progress

EDGES = (0.9, 0.5, 0.1, 0.01)  # chances to reach the threshold between which strata lie
LET_IN = 0.98  # chance that a pair which its sketches alone let in is rightly listed
FAR = 4  # one in so many pairs is drawn from those far apart
ALL = 200_000
MEASURED = "listed, measured on texts"


@dataclass(frozen=True)
class _Group:
    """Pairs of one stratum before any are drawn."""

    name: str
    codes: Codes
    expected: float
    listed: bool


@dataclass(frozen=True)
class _Near:
    """Pairs that are not listed and may be near duplicates by their slots: codes, and equal slots
    of each.
    """

    codes: Codes
    equal: NDArray[np.uint16]


def audit_of(
    collection: Collection,
    verifier: Verifier,
    found: TextPairs,
    threshold: float,
    draws: int,
    seed: int,
    cap: int,
    progress: Progress,
) -> Audit:
    """Verify some `draws` pairs of distinct texts, and estimate what share of the pairs at the
    threshold `found` has.

    Raises `UsageError` for fewer than 20 draws.
    """
    if draws < 20:
        raise UsageError(
            f"an audit takes 20 pairs or more, not {draws}; some hundreds tell something"
        )
    listed = encode_pair(found.left, found.right)
    near = _near(collection, listed, threshold, cap, progress)
    groups = [
        _Group("listed by their sketches", listed[~found.exact], LET_IN, True),
        *_bins(near, collection, threshold),
    ]
    groups = [one for one in groups if len(one.codes)]
    far = _Far(len(collection.slots), np.union1d(listed, near.codes))
    for_far = min(far.size, max(draws // FAR, draws - sum(len(one.codes) for one in groups)))
    spreads = [(one.expected * (1 - one.expected)) ** 0.5 for one in groups]
    given = allot([len(one.codes) for one in groups], spreads, draws - for_far)
    sampler = _Sampler(verifier, threshold, progress)
    measured = int(found.exact.sum())
    strata = [Stratum(MEASURED, measured, measured, measured, 1.0, True)]
    for one, number in zip(groups, given, strict=True):
        drawn = one.codes[distinct(number, len(one.codes), seed)]
        strata.append(
            Stratum(
                one.name, len(one.codes), number, sampler.reaching(drawn), one.expected, one.listed
            )
        )
    drawn = far.drawn(for_far, seed)
    strata.append(
        Stratum(
            "far apart by their sketches",
            far.size,
            len(drawn),
            sampler.reaching(drawn),
            0.0,
            False,
            False,
        )
    )
    return audit_strata(threshold, strata)


def _near(
    collection: Collection, listed: Codes, threshold: float, cap: int, progress: Progress
) -> _Near:
    """By a layout that lets one in ten thousand pairs at the threshold escape, and slots of which
    the same is true.
    """
    width = collection.slots.shape[1]
    layout = plan_for_recall(min(threshold, 0.999), 1 - ESCAPING, width)
    least = next(
        equal for equal in range(width + 1) if chance_at_most(equal, width, threshold) > ESCAPING
    )
    join = Join(
        collection.slots,
        layout.bands,
        layout.rows,
        np.arange(len(collection.slots)),
        cap,
        collection.budget,
    )
    counter, shared = SlotCounter(collection.slots, collection.budget), Sharing(collection)
    for left, right in join.blocks():
        shared.add(*counter.at_least(left, right, least))
        progress("auditing: comparing slots", join.done, join.total)
    shared.sort()
    parts = [(encode_pair(left, right), equal) for left, right, equal in shared.blocks()]
    codes = np.concatenate([np.zeros(0, dtype=np.uint64), *(part for part, _ in parts)])
    equal = np.concatenate([np.zeros(0, dtype=np.uint16), *(part for _, part in parts)])
    apart = ~np.isin(codes, listed)
    return _Near(codes[apart], equal[apart])


def _bins(near: _Near, collection: Collection, threshold: float) -> Iterator[_Group]:
    """The strata of pairs that are not listed, nearest first, named by the similarity that their
    slots estimate.
    """
    width = collection.slots.shape[1]
    chances = np.array([chance_at_least(equal, width, threshold) for equal in range(width + 1)])
    stratum = np.searchsorted(-np.array(EDGES), -chances, side="left")[near.equal]
    for number in range(len(EDGES) + 1):
        equal = near.equal[stratum == number]
        if len(equal):
            name = f"not listed, estimated {int(equal.min()) / width:.2f} to {int(equal.max()) / width:.2f}"
            yield _Group(name, near.codes[stratum == number], float(chances[equal].mean()), False)


class _Far:
    """All pairs of texts but those of `others` (sorted codes)."""

    def __init__(self, texts: int, others: Codes) -> None:
        self._texts, self._others = texts, others
        self.size = texts * (texts - 1) // 2 - len(others)

    def drawn(self, number: int, seed: int) -> Codes:
        """So many of them, with equal chance, none twice."""
        if self.size + len(self._others) <= max(ALL, 4 * number):
            left, right = np.triu_indices(self._texts, 1)
            every = np.setdiff1d(
                encode_pair(left.astype(np.int32), right.astype(np.int32)),
                self._others,
                assume_unique=True,
            )
            return every[distinct(number, len(every), seed + 1)]
        made: Codes = np.zeros(0, dtype=np.uint64)
        step = 0
        while len(made) < number:
            a, b = (
                random_places(4 * number, seed + 2 + step, self._texts),
                random_places(4 * number, seed + 3 + step, self._texts),
            )
            codes = encode_pair(np.minimum(a, b)[a != b], np.maximum(a, b)[a != b])
            joined = np.concatenate([made, codes[~np.isin(codes, self._others)]])
            made, step = joined[np.sort(np.unique(joined, return_index=True)[1])], step + 2
        return made[:number]


class _Sampler:
    """Verifies pairs by their codes."""

    def __init__(self, verifier: Verifier, threshold: float, progress: Progress) -> None:
        self._verifier, self._threshold, self._progress = verifier, threshold, progress
        self._done = 0

    def reaching(self, codes: Codes) -> int:
        """How many of these pairs reach the threshold on their texts."""
        codes = np.sort(codes)
        left, right = decode_pair(codes)
        similarity = self._verifier.similarities(left, right)
        self._done += len(codes)
        self._progress("auditing: verifying pairs", self._done, 0)
        return int(np.count_nonzero((similarity >= self._threshold) & (similarity > 0)))


def distinct(number: int, among: int, seed: int) -> NDArray[np.int64]:
    """So many different places drawn with equal chance from `among`; the same for the same seed."""
    if number * 4 >= among:
        order: NDArray[np.int64] = np.argsort(random_places(among, seed, 1 << 62), kind="stable")[
            :number
        ]
        return order
    drawn = random_places(4 * number + 64, seed, among)
    first: Sequence[int] = np.sort(np.unique(drawn, return_index=True)[1])[:number].tolist()
    return drawn[first]
