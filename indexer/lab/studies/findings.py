"""The findings of a study in sentences: which method spreads best, and the answers to what the
signature study left open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from indexer.lab.studies.methods import NAMED, NEIGHBOUR_BITS, QUESTION_BITS, WITH_NEIGHBOURS
from indexer.lab.studies.study_results import Spread, StudyResult

AS_GOOD = 0.99  # of the unique signatures that all statistics give


@dataclass(frozen=True, slots=True)
class NeighbourlessCounts:
    """The number of documents without neighbours within 1 bit and within 3 bits."""

    method: str
    bits: int
    within_1: int
    within_3: int

    @property
    def leave(self) -> int:
        """Return the documents that have a neighbour within 3 bits and none within 1."""
        return self.within_1 - self.within_3


def neighbourless_counts(result: StudyResult) -> list[NeighbourlessCounts]:
    """Return the counts of every method with neighbours, by length."""
    none = {(near.method, near.bits, near.distance): near.documents[0] for near in result.near}
    methods = [
        (name, bits) for bits in NEIGHBOUR_BITS if bits in result.bits for name in WITH_NEIGHBOURS
    ]
    return [
        NeighbourlessCounts(name, bits, none[name, bits, 1], none[name, bits, 3])
        for name, bits in methods
    ]


def fewest(result: StudyResult) -> dict[int, tuple[Spread, ...]]:
    """Return the methods with the fewest collisions of each length: several when they are equal."""
    best = {}
    for bits in result.bits:
        spreads = [spread for spread in result.spreads if spread.bits == bits]
        most_unique = max(spread.unique for spread in spreads)
        best[bits] = tuple(spread for spread in spreads if spread.unique == most_unique)
    return best


def most(result: StudyResult) -> dict[int, Spread]:
    """Return the method with the most collisions of each length."""
    return {
        bits: min(
            (spread for spread in result.spreads if spread.bits == bits),
            key=lambda spread: spread.unique,
        )
        for bits in result.bits
    }


def enough_documents(result: StudyResult) -> int:
    """Return the fewest documents, of those tried, whose statistics give 99 % of the unique
    signatures that all give.
    """
    whole = result.answers.samples[-1]
    good = [
        sample.documents
        for sample in result.answers.samples
        if all(sample.unique[bits] >= AS_GOOD * whole.unique[bits] for bits in QUESTION_BITS)
    ]
    return good[0]


def join_with_and(names: Sequence[str]) -> str:
    """Join names by commas and a final "and".

    >>> join_with_and(["a"]), join_with_and(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def _documents(number: int) -> str:
    return f"{number:,} document{'s' * (number != 1)}"


def sentences(result: StudyResult) -> Iterator[str]:
    """Yield the findings, one a sentence."""
    for bits, best in fewest(result).items():
        names, worst = (
            join_with_and([NAMED[spread.method].label for spread in best]),
            most(result)[bits],
        )
        if worst in best:
            yield (
                f"{bits} bits: as many collisions by every method "
                f"({worst.collisions:.4f} documents a signature)."
            )
            continue
        yield (
            f"{bits} bits: fewest collisions by {names} "
            f"({best[0].collisions:.4f} documents a signature), most by "
            f"{NAMED[worst.method].label} ({worst.collisions:.4f})."
        )
    answers = result.answers
    yield (
        f"Statistics of {_documents(enough_documents(result))} give weighted TopSig 99 % of the "
        "unique signatures that those of all "
        f"{result.account.studied:,} give."
    )
    settled = next(
        (sample.documents for sample in answers.samples if sample.close >= AS_GOOD),
        result.account.studied,
    )
    yield (
        "They give 99 % of documents the same signature (64 bits, at most 3 different) from "
        f"{_documents(settled)} on; of the last documents to arrive "
        f"{answers.arrivals[-1].close:.1%} are signed so by the statistics at their arrival."
    )
    online = ", ".join(f"{answers.online[bits]:,} of {bits} bits" for bits in QUESTION_BITS)
    batch = ", ".join(f"{answers.samples[-1].unique[bits]:,}" for bits in QUESTION_BITS)
    yield (
        f"Signed while they arrive, documents have unique signatures: {online}; "
        f"signed after all were counted: {batch}."
    )
