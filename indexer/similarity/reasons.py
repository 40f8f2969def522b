"""The differences between near duplicates, beside their similarity, and their sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from indexer.defaults import REVIEW
from indexer.model import Difference, NewWords, Row, Sameness
from indexer.similarity.alignment import align
from indexer.similarity.copy_key import copy_key
from indexer.similarity.criteria import is_rearranged
from indexer.similarity.differences import differences, spell_differences
from indexer.similarity.lcs import lcs
from indexer.similarity.new_words import spell_new_words
from indexer.similarity.sameness import sameness, spell_sameness
from indexer.similarity.sides import Side


class PairDifferences(Protocol):
    """The differences between two documents, of which `Reasons` and `indexer.model.Match` are."""

    @property
    def same(self) -> Sameness | None:
        """The common traits of copies, None for others."""

    @property
    def rearranged(self) -> bool:
        """True if nearly all passages are shared, in another order."""

    @property
    def differences(self) -> tuple[Difference, ...]:
        """The facts that differ."""

    @property
    def new_words(self) -> NewWords:
        """The words that only one has."""


@dataclass(frozen=True, slots=True)
class Reasons:
    """The differences between two documents, as `PairDifferences` says."""

    same: Sameness | None
    rearranged: bool
    differences: tuple[Difference, ...]
    new_words: NewWords


def spell_reasons(reasons: PairDifferences) -> list[str]:
    """Return sentences: what copies have in common, whether the order is another, the facts that
    differ, and the new words of texts that are no copies.
    """
    sentences = [spell_sameness(reasons.same)] if reasons.same else []
    if reasons.rearranged:
        sentences.append("rearranged: nearly all passages are shared, in another order")
    sentences += spell_differences(reasons.differences)
    return sentences if reasons.same else [*sentences, spell_new_words(reasons.new_words)]


def reasons_of(rows: tuple[Row, Row], sides: tuple[Side, Side], new_words: NewWords) -> Reasons:
    """Return what differs between two documents, whose new words are known.

    They are called rearranged below `REVIEW` of their words in order.
    """
    a, b = sides
    is_copy = copy_key(rows[0]) == copy_key(rows[1])
    in_order = lcs(a.words, b.words)
    overlap = 0.0 if in_order >= REVIEW else align(a.words, b.words).overlap
    return Reasons(
        sameness(*rows) if is_copy else None,
        is_rearranged(overlap, in_order, REVIEW),
        differences(a.facts, b.facts),
        new_words,
    )
