"""The signatures of a collection: how they spread, their neighbours, and those by the statistics of
fewer documents.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from indexer.lab.studies.methods import NEIGHBOUR_BITS, QUESTION_BITS, WITH_NEIGHBOURS, pairs_of
from indexer.lab.studies.neighbours import common_pairs, count_ones, distinct, neighbours
from indexer.lab.studies.signature_files import (
    ALL,
    ONLINE,
    Rows,
    load_signatures,
    question_name,
    signature_name,
)
from indexer.lab.studies.study_results import Answers, Arrival, Near, Sample, Spread
from indexer.system.progress_callback import Progress

DISTANCES = (1, 3)
SHOWN = 10  # neighbours that are counted apart; more are one group
CLOSE = 3  # bits of 64, within which look-ups find


def by_chance(documents: int, bits: int) -> float:
    """Return the mean number of documents that repeat the signature of another if bits are random.

    >>> round(by_chance(10_000, 16)), round(by_chance(10_000, 32), 4)
    (726, 0.0116)
    """
    if bits > 40:
        # The exact form would lose all its digits: take the number of pairs, times the chance that
        # one agrees.
        return documents * (documents - 1) / 2 * 2.0**-bits
    signatures = 2.0**bits
    return documents + signatures * math.expm1(documents * math.log1p(-1 / signatures))


@dataclass(frozen=True, slots=True)
class DocumentCounts:
    """The number of documents that have each signed text, in order, and of those without one.

    The latter have the trivial signature, 0.
    """

    signed: Sequence[int]
    unsigned: int

    @property
    def total(self) -> int:
        """All documents."""
        return sum(self.signed) + self.unsigned

    def signatures(self, files: Sequence[Path], name: str) -> Rows:
        """Return the signature of every document: (documents, octets)."""
        rows = np.repeat(load_signatures(files, name), self.signed, axis=0)
        trivial = np.zeros((self.unsigned, rows.shape[1]), dtype=np.uint8)
        return np.concatenate([rows, trivial])


def spreads(
    files: Sequence[Path], bits: Sequence[int], counts: DocumentCounts, progress: Progress
) -> tuple[Spread, ...]:
    """Return the spread of every method at every length."""
    pairs = pairs_of(bits)
    result = []
    for done, (method, length) in enumerate(pairs):
        progress("counting signatures", done, len(pairs))
        signatures = counts.signatures(files, signature_name(method.name, length))
        documents = distinct(signatures).documents
        result.append(
            Spread(
                method=method.name,
                bits=length,
                unique=len(documents),
                collisions=float(documents.mean()),
                deviation=float(documents.std()),
                most=int(documents.max()),
            )
        )
    return tuple(result)


def near(
    files: Sequence[Path], bits: Sequence[int], counts: DocumentCounts, progress: Progress
) -> tuple[Near, ...]:
    """Count neighbours at 1 and 3 bits for signatures of 32, 128 and 1024 bits.

    The study's MinHash is left out, as there.
    """
    lengths = [length for length in NEIGHBOUR_BITS if length in bits]
    pairs = [(name, length) for length in lengths for name in WITH_NEIGHBOURS]
    result = []
    for done, (name, length) in enumerate(pairs):
        progress("finding neighbours", done, len(pairs))
        signatures = distinct(counts.signatures(files, signature_name(name, length)))
        for distance in DISTANCES:
            numbers = np.minimum(neighbours(signatures, length, distance), SHOWN + 1)
            documents = np.bincount(numbers, minlength=SHOWN + 2).tolist()
            result.append(Near(name, length, distance, tuple(documents)))
    return tuple(result)


def answers(files: Sequence[Path], samples: Sequence[int], total: int) -> Answers:
    """Measure weighted TopSig by the statistics of fewer documents, and of those at arrival."""
    longest = QUESTION_BITS[-1]
    by_all = load_signatures(files, question_name(ALL, longest))
    sources: list[tuple[int, int | str]] = [*((size, size) for size in samples), (total, ALL)]
    measured = []
    for size, source in sources:
        by_source = load_signatures(files, question_name(source, longest))
        differing, close = _means(_differing_bits(by_source, by_all))
        both, either = common_pairs(_words(by_source), _words(by_all), longest, CLOSE)
        same = both / either if either else 1.0
        measured.append(Sample(size, _unique(files, source), differing, close, either, same))
    online = _differing_bits(load_signatures(files, question_name(ONLINE, longest)), by_all)
    arrivals = []
    for start, end in pairwise([0, *samples, total]):
        differing, close = _means(online[start:end])
        arrivals.append(Arrival(start + 1, end, differing, close))
    return Answers(tuple(measured), _unique(files, ONLINE), tuple(arrivals))


def _means(differing: NDArray[np.int64]) -> tuple[float, float]:
    """Return the mean number of bits, and the share of documents that look-ups still find."""
    return float(differing.mean()), float((differing <= CLOSE).mean())


def _unique(files: Sequence[Path], source: int | str) -> dict[int, int]:
    return {
        bits: len(distinct(load_signatures(files, question_name(source, bits))).documents)
        for bits in QUESTION_BITS
    }


def _differing_bits(a: NDArray[np.uint8], b: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the Hamming distance of each row to the same of another array; rows have 64 bits."""
    return count_ones(_words(a ^ b))


def _words(signatures: Rows) -> NDArray[np.uint64]:
    """Return signatures of 64 bits as one word each, (documents, 1)."""
    return np.ascontiguousarray(signatures).view(">u8").astype(np.uint64)
