"""Duplicate types of two clauses: identical, near identical, fuzzy, or none.

By table 2 of Conrad & Raymond, "Essential Deduplication Functions for Transactional Databases in
Law Firms" (2007); what it leaves open is decided in docs/decisions/009-duplicate-types.md. The
relation is symmetric and not transitive.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from indexer.similarity.obligations import other_obligation
from indexer.sketch.rare_term_keys import exact_fraction, lengths_agree
from indexer.text.clauses.lexicon import Lexicon
from indexer.text.clauses.reading import NAME, Reading, Unit

DuplicateType: TypeAlias = Literal["identical", "near_identical", "fuzzy"]
TYPES: tuple[DuplicateType, ...] = ("identical", "near_identical", "fuzzy")
OVERLAP = 0.8
MIN_LENGTH = 10


@dataclass(frozen=True, slots=True)
class Verdict:
    """How two clauses are duplicates, and the terminology they share, in [0, 1]."""

    type: DuplicateType
    terminology: float


def verdict(
    left: Reading, right: Reading, lexicon: Lexicon, overlap: float = OVERLAP
) -> Verdict | None:
    """The strictest type that fits two clauses, or None when they are no duplicates.

    * identical: the same substantive words in the same order;
    * near_identical: the same words but for synonyms and inflection, and for slots, each of the same kind as its counterpart;
    * fuzzy: lengths within 20 %, and `terminology` of at least `overlap`.

    The figures of formulas are the same in all three. Clauses of fewer than ten words, and those
    without a term outside slots, can be identical only; one without substantive words is no
    duplicate of anything. No type goes to clauses that exchange parties, and `fuzzy` to none with
    another obligation.
    """
    if not left.exact or not right.exact or left.figures != right.figures:
        return None
    if left.exact == right.exact:
        return Verdict("identical", 1.0)
    if min(left.length, right.length) < MIN_LENGTH:
        return None
    share = terminology(left, right)
    if share < overlap:
        return None
    if same_but_for_slots(left, right):
        return None if _swapped(left, right, lexicon) else Verdict("near_identical", share)
    if not lengths_agree(left.length, right.length) or other_obligation(left, right, lexicon):
        return None
    return Verdict("fuzzy", share)


def terminology(left: Reading, right: Reading) -> float:
    """The share of distinct terms in common, of the mean of both (Dice), in any order and number; 0
    without terms.

    Terms are canonical forms of words that are neither function words nor in slots. A word in the
    name of one text counts where it is a word of the other.
    """
    one = left.words | (left.names & right.words)
    other = right.words | (right.names & left.words)
    whole = len(one) + len(other)
    return 2 * len(one & other) / whole if whole else 0.0


def same_but_for_slots(left: Reading, right: Reading) -> bool:
    """Whether two clauses have the same canonical words in the same order, and slots of the same
    kinds between them.
    """
    return len(left.units) == len(right.units) and all(map(_same, left.units, right.units))


def _same(left: Unit, right: Unit) -> bool:
    return left.form == right.form or (left.kind == right.kind and left.kind not in {"", "formula"})


def _swapped(left: Reading, right: Reading, lexicon: Lexicon) -> bool:
    """Whether a name stands for another party: its opposite, one both clauses have, or one where
    elsewhere it stays itself.
    """
    pairs = {
        (a.form, b.form)
        for a, b in zip(left.units, right.units, strict=True)
        if a.kind == b.kind == NAME
    }
    here, there = {a for a, _ in pairs}, {b for _, b in pairs}
    return any(
        lexicon.are_opposites(a, b)
        or (a in there and b in here)
        or (a, a) in pairs
        or (b, b) in pairs
        for a, b in pairs
        if a != b
    )


def least_shared(words: int, overlap: float) -> int:
    """How many terms a text of so many shares at least with any text of that much `terminology`:
    ceil(words t / (2 - t)).

    >>> least_shared(10, 0.8), least_shared(10, 1.0)
    (7, 10)
    """
    share = exact_fraction(overlap)
    return math.ceil(words * share / (2 - share))
