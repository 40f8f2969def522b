"""What a study says in words: which method spreads best, and the answers to what the signature
study left open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from indexer.lab.studies.methods import NAMED, NEIGHBOUR_BITS, QUESTION_BITS, WITH_NEIGHBOURS
from indexer.lab.studies.study_results import Spread, StudyResult

AS_GOOD = 0.99  # of the unique signatures that all statistics give


@dataclass(frozen=True, slots=True)
class Leaving:
    """Documents of a method without neighbours within 1 bit, within 3, and those that leave that
    group.
    """

    method: str
    bits: int
    within_1: int
    within_3: int

    @property
    def leave(self) -> int:
        """Documents that have a neighbour within 3 bits and none within 1."""
        return self.within_1 - self.within_3


def leaving(made: StudyResult) -> list[Leaving]:
    """For every method with neighbours, by length."""
    none = {(one.method, one.bits, one.distance): one.documents[0] for one in made.near}
    wanted = [
        (name, bits) for bits in NEIGHBOUR_BITS if bits in made.bits for name in WITH_NEIGHBOURS
    ]
    return [Leaving(name, bits, none[name, bits, 1], none[name, bits, 3]) for name, bits in wanted]


def fewest(made: StudyResult) -> dict[int, tuple[Spread, ...]]:
    """The methods with the fewest collisions of each length: several when they are equal."""
    of = {bits: [one for one in made.spreads if one.bits == bits] for bits in made.bits}
    return {
        bits: tuple(one for one in spreads if one.unique == max(other.unique for other in spreads))
        for bits, spreads in of.items()
    }


def most(made: StudyResult) -> dict[int, Spread]:
    """The method with the most collisions of each length."""
    return {
        bits: min((one for one in made.spreads if one.bits == bits), key=lambda one: one.unique)
        for bits in made.bits
    }


def enough(made: StudyResult) -> int:
    """The fewest documents, of those tried, whose statistics give 99 % of the unique signatures
    that all give.
    """
    whole = made.answers.samples[-1]
    good = [
        one.documents
        for one in made.answers.samples
        if all(one.unique[bits] >= AS_GOOD * whole.unique[bits] for bits in QUESTION_BITS)
    ]
    return good[0]


def listed(names: Sequence[str]) -> str:
    """Names one after the other.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def _documents(number: int) -> str:
    return f"{number:,} document{'s' * (number != 1)}"


def sentences(made: StudyResult) -> Iterator[str]:
    """The findings, one a sentence."""
    for bits, best in fewest(made).items():
        names, worst = listed([NAMED[one.method].label for one in best]), most(made)[bits]
        if worst in best:
            yield f"{bits} bits: as many collisions by every method ({worst.collisions:.4f} documents a signature)."
            continue
        yield (
            f"{bits} bits: fewest collisions by {names} ({best[0].collisions:.4f} documents a signature), most by "
            f"{NAMED[worst.method].label} ({worst.collisions:.4f})."
        )
    answers = made.answers
    yield (
        f"Statistics of {_documents(enough(made))} give weighted TopSig 99 % of the unique signatures that those of all "
        f"{made.account.studied:,} give."
    )
    settled = next(
        (one.documents for one in answers.samples if one.close >= AS_GOOD), made.account.studied
    )
    yield (
        f"They say the same of a document (64 bits, at most 3 different, of 99 % of documents) from {_documents(settled)} on; "
        f"of the last documents to arrive {answers.arrivals[-1].close:.1%} are signed so by the statistics of their moment."
    )
    online = ", ".join(f"{answers.online[bits]:,} of {bits} bits" for bits in QUESTION_BITS)
    batch = ", ".join(f"{answers.samples[-1].unique[bits]:,}" for bits in QUESTION_BITS)
    yield f"Signed while they arrive, documents have unique signatures: {online}; signed after all were counted: {batch}."
