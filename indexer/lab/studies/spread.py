"""What the signatures of a collection show: how they spread, who is near whom, what other
statistics would have made.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from indexer.lab.studies.methods import NEIGHBOUR_BITS, QUESTION_BITS, WITH_NEIGHBOURS, pairs_of
from indexer.lab.studies.neighbours import count_ones, distinct, neighbours
from indexer.lab.studies.signature_files import (
    ALL,
    ONLINE,
    load_signatures,
    question_name,
    signature_name,
)
from indexer.lab.studies.study_results import Answers, Arrival, Near, Sample, Spread
from indexer.system.progress_callback import Progress

DISTANCES = (1, 3)
SHOWN = 10  # neighbours told apart; more are one group
CLOSE = 3  # bits of 64, within which look-ups find


def by_chance(documents: int, bits: int) -> float:
    """How many documents would repeat the signature of another if every bit were drawn by chance:
    the mean.

    >>> round(by_chance(10_000, 16)), round(by_chance(10_000, 32), 4)
    (726, 0.0116)
    """
    if (
        bits > 40
        # where the exact form would lose all its digits: the number of pairs, times the chance that one
        # agrees
    ):
        return documents * (documents - 1) / 2 * 2.0**-bits
    room = 2.0**bits
    return documents + room * math.expm1(documents * math.log1p(-1 / room))


def spreads(files: Sequence[Path], bits: Sequence[int], progress: Progress) -> tuple[Spread, ...]:
    """The spread of every method at every length."""
    made = []
    for done, (method, one) in enumerate(pairs := pairs_of(bits)):
        progress("counting signatures", done, len(pairs))
        documents = distinct(load_signatures(files, signature_name(method.name, one))).documents
        made.append(
            Spread(
                method.name,
                one,
                len(documents),
                float(documents.mean()),
                float(documents.std()),
                int(documents.max()),
            )
        )
    return tuple(made)


def near(files: Sequence[Path], bits: Sequence[int], progress: Progress) -> tuple[Near, ...]:
    """Neighbours at 1 and 3 bits for signatures of 32, 128 and 1024 bits; without the study's
    MinHash, as there.
    """
    wanted = [(name, one) for one in NEIGHBOUR_BITS if one in bits for name in WITH_NEIGHBOURS]
    made = []
    for done, (name, one) in enumerate(wanted):
        progress("finding neighbours", done, len(wanted))
        signatures = distinct(load_signatures(files, signature_name(name, one)))
        for distance in DISTANCES:
            found = np.minimum(neighbours(signatures, one, distance), SHOWN + 1)
            made.append(
                Near(name, one, distance, tuple(np.bincount(found, minlength=SHOWN + 2).tolist()))
            )
    return tuple(made)


def answers(files: Sequence[Path], samples: Sequence[int], total: int) -> Answers:
    """What statistics of fewer documents, and of those so far, make of weighted TopSig."""
    longest = QUESTION_BITS[-1]
    by_all = load_signatures(files, question_name(ALL, longest))
    made = []
    sources: list[tuple[int, int | str]] = [*((size, size) for size in samples), (total, ALL)]
    for size, source in sources:
        differing = _differing(load_signatures(files, question_name(source, longest)), by_all)
        made.append(
            Sample(
                size,
                _unique(files, source),
                float(differing.mean()),
                float((differing <= CLOSE).mean()),
            )
        )
    arriving = _differing(load_signatures(files, question_name(ONLINE, longest)), by_all)
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
    return Answers(tuple(made), _unique(files, ONLINE), tuple(arrivals))


def _unique(files: Sequence[Path], source: int | str) -> dict[int, int]:
    return {
        bits: len(distinct(load_signatures(files, question_name(source, bits))).documents)
        for bits in QUESTION_BITS
    }


def _differing(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> NDArray[np.int64]:
    """The Hamming distance of each row to the same of another array; rows are of 64 bits."""
    return count_ones(np.ascontiguousarray(one ^ other).view(np.uint64))
