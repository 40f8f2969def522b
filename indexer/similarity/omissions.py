"""Accounts of the approved passages that were left out of texts."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from indexer.text.wording import count_of


@dataclass(frozen=True, slots=True)
class Omission:
    """Approved passages that were left out of texts, by number, and their words in all."""

    passages: frozenset[int] = frozenset()
    words: int = 0

    def __or__(self, other: Omission) -> Omission:
        """Return what was left out of the texts of both together."""
        return Omission(self.passages | other.passages, self.words + other.words)

    def __str__(self) -> str:
        return describe_left_out(len(self.passages), self.words)


NO_OMISSION = Omission()


def describe_left_out(passages: int, words: int) -> str:
    """Return what was left out, in words.

    >>> describe_left_out(2, 84)
    '2 approved passages (84 words) left out'
    """
    return f"{count_of(passages, 'approved passage')} ({count_of(words, 'word')}) left out"


@dataclass(frozen=True, slots=True)
class OmissionSummary:
    """Totals of what a list of approved passages, given by its `id`, took out of many texts: how
    many of the passages, out of how many documents, and words in all.
    """

    id: str
    passages: int
    documents: int
    words: int

    def __str__(self) -> str:
        left_out = describe_left_out(self.passages, self.words)
        return f"{left_out} of {count_of(self.documents, 'document')}, by list {self.id}"


@dataclass(frozen=True, slots=True)
class OmissionLog:
    """Record of what a list of approved passages, given by its `id`, took out of each document, by
    the document's id; about 500 bytes for each that had any.
    """

    id: str
    documents: dict[str, Omission] = field(default_factory=dict)

    def of_pair(self, a: str, b: str) -> Omission:
        """Return what was left out of two documents."""
        return self.documents.get(a, NO_OMISSION) | self.documents.get(b, NO_OMISSION)

    def summary(self) -> OmissionSummary:
        """Return what was left out of all documents."""
        passages = {number for part in self.documents.values() for number in part.passages}
        words = sum(part.words for part in self.documents.values())
        return OmissionSummary(self.id, len(passages), len(self.documents), words)


def left_out_json(summary: OmissionSummary | None) -> dict[str, object]:
    """Return a summary as the field `left_out`; no field for None."""
    return {} if summary is None else {"left_out": asdict(summary)}
