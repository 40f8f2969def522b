"""Duplicate types of two clauses: identical, near identical, fuzzy, or none.

By table 2 of Conrad & Raymond, "Essential Deduplication Functions for Transactional Databases in
Law Firms" (2007); docs/decisions/009-duplicate-types.md decides the open questions. The relation
is symmetric and not transitive.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from indexer.defaults import OVERLAP
from indexer.similarity.capitals import with_names_of
from indexer.similarity.joined_names import are_same, with_joined_names
from indexer.similarity.obligations import has_other_obligation
from indexer.sketch.rare_term_keys import exact_fraction, lengths_agree
from indexer.text.clauses.lexicon import Lexicon
from indexer.text.clauses.reading import NAME, Reading

DuplicateType: TypeAlias = Literal["identical", "near_identical", "fuzzy"]
TYPES: tuple[DuplicateType, ...] = ("identical", "near_identical", "fuzzy")
MIN_LENGTH = 10  # words of a clause below which it can be identical only


@dataclass(frozen=True, slots=True)
class Verdict:
    """The duplicate type of two clauses, and the terminology they share, in [0, 1]."""

    type: DuplicateType
    terminology: float


def verdict(
    left: Reading, right: Reading, lexicon: Lexicon, overlap: float = OVERLAP
) -> Verdict | None:
    """Return the strictest type that fits two clauses, or None when they are no duplicates.

    * identical: the same substantive words in the same order, no other word in the heading that
      may name a party, no other number of the same part ("Lot 4:" and "Lot 5:"), and no other sign
      that says something, such as that of a currency: with one, clauses of any length are
      near_identical;
    * near_identical: the same words but for synonyms and inflection, and for slots, each of the
      same kind as its counterpart;
    * fuzzy: lengths within 20 %, and `terminology` of at least `overlap`.

    The figures of formulas are the same in all three. Clauses of fewer than ten words, and those
    without a term outside slots, can be identical only; one without substantive words is not a
    duplicate of any clause. Clauses that exchange parties have no type, and clauses with another
    obligation are not `fuzzy`.
    """
    if not left.exact or not right.exact or left.figures != right.figures:
        return None
    if left.exact == right.exact:
        return Verdict("identical" if _are_identical(left, right) else "near_identical", 1.0)
    if min(left.length, right.length) < MIN_LENGTH:
        return None
    share = terminology(left, right)
    if share < least_overlap(left, right, overlap):
        return None
    same = _with_same_units(left, right, lexicon)
    if same and terminology(*same) >= overlap:
        is_swapped = _have_swapped_names(*same, lexicon)
        return None if is_swapped else Verdict("near_identical", terminology(*same))
    if share < overlap or not lengths_agree(left.length, right.length):
        return None
    if has_other_obligation(left, right, lexicon):
        return None
    return Verdict("fuzzy", share)


def terminology(left: Reading, right: Reading) -> float:
    """Return the share of distinct terms in common, of the mean of both (Dice); 0 without terms.

    Order and number do not matter. Terms are canonical forms of words that are neither function
    words nor in slots. A word in the name of one text counts where it is a word of the other.
    """
    terms_left = left.words | (left.names & right.words)
    terms_right = right.words | (right.names & left.words)
    whole = len(terms_left) + len(terms_right)
    return 2 * len(terms_left & terms_right) / whole if whole else 0.0


def are_same_but_for_slots(left: Reading, right: Reading) -> bool:
    """Return whether two clauses have the same canonical words and kinds of slots, in order."""
    return len(left.units) == len(right.units) and all(map(are_same, left.units, right.units))


def _are_identical(left: Reading, right: Reading) -> bool:
    """Return whether clauses of the same words are the same in all that is said."""
    is_other_part = left.counted != right.counted and bool(left.counted and right.counted)
    return left.doubtful == right.doubtful and left.signs == right.signs and not is_other_part


def _with_same_units(
    left: Reading, right: Reading, lexicon: Lexicon
) -> tuple[Reading, Reading] | None:
    """Return both readings, with names that each tells the other, where slots alone differ."""
    if are_same_but_for_slots(left, right):
        return left, right
    if len(left.units) != len(right.units) and not lengths_agree(left.length, right.length):
        return None
    joined = with_joined_names(left, right, lexicon)
    if joined and are_same_but_for_slots(*joined):
        return joined
    if left.is_shouted != right.is_shouted:
        named = _with_same_names(left, right)
        return named if are_same_but_for_slots(*named) else None
    return None


def _with_same_names(left: Reading, right: Reading) -> tuple[Reading, Reading]:
    """Return both readings, that of the text in capitals with the names of the other."""
    if left.is_shouted:
        return with_names_of(left, right), right
    return left, with_names_of(right, left)


def _have_swapped_names(left: Reading, right: Reading, lexicon: Lexicon) -> bool:
    """Return whether a name stands for another party.

    That is its opposite, a name that both clauses have, or one that elsewhere stays itself.
    """
    pairs = {
        (a.form, b.form)
        for a, b in zip(left.units, right.units, strict=True)
        if a.kind == b.kind == NAME
    }
    names_left = {a for a, _ in pairs}
    names_right = {b for _, b in pairs}
    for a, b in pairs:
        if a == b:
            continue
        if _have_opposite_words(a, b, lexicon) or (a in names_right and b in names_left):
            return True
        if (a, a) in pairs or (b, b) in pairs:
            return True
    return False


def _have_opposite_words(left: str, right: str, lexicon: Lexicon) -> bool:
    """Return whether two names are opposites, or have opposites in the same place.

    "Tenant's Property" is not "Landlord's Property".
    """
    words_left, words_right = left.split("_"), right.split("_")
    return lexicon.are_opposites(left, right) or (
        len(words_left) == len(words_right)
        and any(map(lexicon.are_opposites, words_left, words_right))
    )


class _Casing(Protocol):
    @property
    def is_shouted(self) -> bool: ...


def least_overlap(left: _Casing, right: _Casing, overlap: float) -> float:
    """Return the terminology that near-identical clauses share at least.

    Between texts in capitals it is half of `overlap`: their names count as terms.
    """
    return overlap / 2 if left.is_shouted and right.is_shouted else overlap


def least_shared(words: int, overlap: float) -> int:
    """Return the terms that a text of so many shares at least with any text of that `terminology`.

    ceil(words t / (2 - t)) for the overlap t.

    >>> least_shared(10, 0.8), least_shared(10, 1.0)
    (7, 10)
    """
    share = exact_fraction(overlap)
    return math.ceil(words * share / (2 - share))
