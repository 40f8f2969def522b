"""The findings of a study in sentences: the methods that spread best, and the answers to the
questions that the signature study left open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from indexer.lab.studies.methods import NAMED, NEIGHBOUR_BITS, QUESTION_BITS, WITH_NEIGHBOURS
from indexer.lab.studies.study_results import Sample, Spread, StudyResult
from indexer.text.wording import count_of

AS_GOOD = 0.99  # of the unique signatures that all statistics give


@dataclass(frozen=True, slots=True)
class NeighbourlessCounts:
    """The number of documents of a method without neighbours within 1 bit, and within 3."""

    method: str
    bits: int
    within_1: int
    within_3: int

    @property
    def leave(self) -> int:
        """Documents that have a neighbour within 3 bits and none within 1."""
        return self.within_1 - self.within_3


def neighbourless_counts(result: StudyResult) -> list[NeighbourlessCounts]:
    """Return the documents without neighbours of every method that has them, by length."""
    alone = {(near.method, near.bits, near.distance): near.documents[0] for near in result.near}
    return [
        NeighbourlessCounts(name, bits, alone[name, bits, 1], alone[name, bits, 3])
        for bits in NEIGHBOUR_BITS
        if bits in result.bits
        for name in WITH_NEIGHBOURS
    ]


def _of_length(result: StudyResult, bits: int) -> list[Spread]:
    return [spread for spread in result.spreads if spread.bits == bits]


def fewest_collisions(result: StudyResult, bits: int) -> tuple[Spread, ...]:
    """Return the methods with the fewest collisions at a length: several when they are equal."""
    spreads = _of_length(result, bits)
    most_unique = max(spread.unique for spread in spreads)
    return tuple(spread for spread in spreads if spread.unique == most_unique)


def most_collisions(result: StudyResult, bits: int) -> Spread:
    """Return the method with the most collisions at a length."""
    return min(_of_length(result, bits), key=lambda spread: spread.unique)


def enough_documents(result: StudyResult) -> int:
    """Return the fewest documents, of those tried, whose statistics give 99 % of the unique
    signatures that all give.
    """
    samples = result.answers.samples
    return next(sample.documents for sample in samples if _is_as_good(sample, samples[-1]))


def _is_as_good(sample: Sample, whole: Sample) -> bool:
    return all(sample.unique[bits] >= AS_GOOD * whole.unique[bits] for bits in QUESTION_BITS)


def join_names(names: Sequence[str]) -> str:
    """Return names one after the other.

    >>> join_names(["a"]), join_names(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def sentences(result: StudyResult) -> Iterator[str]:
    """Yield the findings, one a sentence."""
    for bits in result.bits:
        yield _collisions(result, bits)
    answers = result.answers
    studied = result.account.studied
    enough = count_of(enough_documents(result), "document")
    yield (
        f"Statistics of {enough} give weighted TopSig 99 % of the "
        f"unique signatures that those of all {studied:,} give."
    )
    settled = (sample.documents for sample in answers.samples if sample.close >= AS_GOOD)
    yield (
        "They say the same of a document (64 bits, at most 3 different, of 99 % of documents) "
        f"from {count_of(next(settled, studied), 'document')} on; of the last documents to arrive "
        f"{answers.arrivals[-1].close:.1%} are signed so by the statistics of that time."
    )
    agreeing = (item.documents for item in answers.samples if item.same_pairs >= AS_GOOD)
    yield (
        "They decide 99 % of the pairs that are near duplicates by either (64 bits, at most 3 "
        f"different) as those of all from {count_of(next(agreeing, studied), 'document')} on."
    )
    online = ", ".join(f"{answers.online[bits]:,} of {bits} bits" for bits in QUESTION_BITS)
    batch = ", ".join(f"{answers.samples[-1].unique[bits]:,}" for bits in QUESTION_BITS)
    yield (
        f"Signed while they arrive, documents have unique signatures: {online}; "
        f"signed after all were counted: {batch}."
    )


def _collisions(result: StudyResult, bits: int) -> str:
    best = fewest_collisions(result, bits)
    worst = most_collisions(result, bits)
    if worst in best:
        return (
            f"{bits} bits: as many collisions by every method "
            f"({worst.collisions:.4f} documents a signature)."
        )
    names = join_names([NAMED[spread.method].label for spread in best])
    return (
        f"{bits} bits: fewest collisions by {names} "
        f"({best[0].collisions:.4f} documents a signature), "
        f"most by {NAMED[worst.method].label} ({worst.collisions:.4f})."
    )
