"""The signatures of a collection: their spread, their neighbours, and the effect of other corpus
statistics.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from indexer.lab.studies.methods import NEIGHBOUR_BITS, WITH_NEIGHBOURS, pairs_of
from indexer.lab.studies.neighbours import count_ones, distinct, neighbours
from indexer.lab.studies.sign_texts import (
    ALL,
    ONLINE,
    QUESTION_BITS,
    load_signatures,
    signature_name,
    statistics_name,
)
from indexer.system.progress_callback import Progress

DISTANCES = (1, 3)
SHOWN = 10  # neighbours told apart; more are one group
CLOSE = 3  # bits of 64, within which look-ups find


@dataclass(frozen=True, slots=True)
class Spread:
    """The signatures of a method: how many are unique, and the documents of each (itself included),
    with their deviation.
    """

    method: str
    bits: int
    unique: int
    collisions: float
    deviation: float
    most: int


@dataclass(frozen=True, slots=True)
class Near:
    """The number of documents with 0, 1, ... 10 neighbours within a distance; the last number is of
    those with more.
    """

    method: str
    bits: int
    distance: int
    documents: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Fewer:
    """Weighted TopSig by the statistics of fewer documents: unique signatures by length, bits of 64
    that differ, share close.

    `differing`: the mean number of bits in which a signature differs from that by all statistics;
    `close`: the share of documents for which these are at most 3.
    """

    documents: int
    unique: dict[int, int]
    differing: float
    close: float


@dataclass(frozen=True, slots=True)
class Arrival:
    """Signatures by the statistics at arrival, of the documents from `first` to `last`; `differing`
    and `close` as in `Fewer`.
    """

    first: int
    last: int
    differing: float
    close: float


@dataclass(frozen=True, slots=True)
class Answers:
    """`samples` ascend to all documents; `online`: unique signatures by length; `arrivals` in
    order.
    """

    samples: tuple[Fewer, ...]
    online: dict[int, int]
    arrivals: tuple[Arrival, ...]


def by_chance(documents: int, bits: int) -> float:
    """Return the mean number of documents that repeat the signature of another when every bit is
    random.

    >>> round(by_chance(10_000, 16)), round(by_chance(10_000, 32), 4)
    (726, 0.0116)
    """
    if bits > 40:
        # The exact form would lose all its digits: the number of pairs, times the chance of one.
        return documents * (documents - 1) / 2 * 2.0**-bits
    values = 2.0**bits
    return documents + values * math.expm1(documents * math.log1p(-1 / values))


def spreads(files: Sequence[Path], bits: Sequence[int], progress: Progress) -> tuple[Spread, ...]:
    """Return the spread of every method at every length."""
    results = []
    pairs = pairs_of(bits)
    for done, (method, length) in enumerate(pairs):
        progress("counting signatures", done, len(pairs))
        documents = distinct(load_signatures(files, signature_name(method.name, length))).documents
        results.append(
            Spread(
                method.name,
                length,
                len(documents),
                float(documents.mean()),
                float(documents.std()),
                int(documents.max()),
            )
        )
    return tuple(results)


def near(files: Sequence[Path], bits: Sequence[int], progress: Progress) -> tuple[Near, ...]:
    """Count neighbours at 1 and 3 bits for signatures of 32, 128 and 1024 bits; without the study's
    MinHash, as in the study.
    """
    methods = [
        (name, length) for length in NEIGHBOUR_BITS if length in bits for name in WITH_NEIGHBOURS
    ]
    results = []
    for done, (name, length) in enumerate(methods):
        progress("finding neighbours", done, len(methods))
        signatures = distinct(load_signatures(files, signature_name(name, length)))
        for distance in DISTANCES:
            counts = np.minimum(neighbours(signatures, length, distance), SHOWN + 1)
            results.append(
                Near(
                    name, length, distance, tuple(np.bincount(counts, minlength=SHOWN + 2).tolist())
                )
            )
    return tuple(results)


def answers(files: Sequence[Path], samples: Sequence[int], total: int) -> Answers:
    """Compare weighted TopSig by statistics of fewer documents, and of those that had arrived."""
    longest = QUESTION_BITS[-1]
    by_all = load_signatures(files, statistics_name(ALL, longest))
    fewer = []
    sources: list[tuple[int, int | str]] = [*((size, size) for size in samples), (total, ALL)]
    for size, source in sources:
        differing = _differing(load_signatures(files, statistics_name(source, longest)), by_all)
        fewer.append(
            Fewer(
                size,
                _unique(files, source),
                float(differing.mean()),
                float((differing <= CLOSE).mean()),
            )
        )
    arriving = _differing(load_signatures(files, statistics_name(ONLINE, longest)), by_all)
    edges = [0, *samples, total]
    arrivals = [
        Arrival(
            start + 1,
            end,
            float(arriving[start:end].mean()),
            float((arriving[start:end] <= CLOSE).mean()),
        )
        for start, end in pairwise(edges)
    ]
    return Answers(tuple(fewer), _unique(files, ONLINE), tuple(arrivals))


def _unique(files: Sequence[Path], source: int | str) -> dict[int, int]:
    return {
        bits: len(distinct(load_signatures(files, statistics_name(source, bits))).documents)
        for bits in QUESTION_BITS
    }


def _differing(left: NDArray[np.uint8], right: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the Hamming distance between the same rows of two arrays; rows are of 64 bits."""
    return count_ones(np.ascontiguousarray(left ^ right).view(np.uint64))
