"""Words that a text has in common with others: in the same order, and in any.

The compiled kernel, where installed, computes it without a vocabulary of many texts, which
`indexer.similarity.word_sequences` makes otherwise; the words in order are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from indexer.similarity.criteria import Criteria
from indexer.similarity.measures import TextOperand, measure_pair
from indexer.similarity.new_words import Rarity
from indexer.similarity.replacements import replacements
from indexer.similarity.word_sequences import (
    Vocabulary,
    WordSequence,
    lcs_of_sequences,
    may_reach_pair,
)

try:
    from indexer import _kernel
except ImportError:
    _kernel = None  # type: ignore[assignment]


class InCommon(NamedTuple):
    """The numbers of words that two texts have in common.

    `in_order`: the length of the longest common subsequence; 0 if it is not asked for. `shared`:
    the words that both have, each counted as often as both have it, or more. `words`: those of
    either text. `excess`: how much oftener a word comes in the first text than in the other, at
    most; each counted as often as in `shared`.
    """

    in_order: int
    shared: int
    words: tuple[int, int]
    excess: int

    @property
    def lcs(self) -> float:
        """The words in order / words of the longer text; 0 when neither has any."""
        return self.in_order / max(self.words) if any(self.words) else 0.0

    @property
    def most_out_of_order(self) -> int:
        """Return how often a word of the first text is outside the common subsequence at most.

        Of each word the subsequence leaves out its excess, and all words together what is shared
        and not in order. A word is replaced, as `replacements` counts, no more often.
        """
        return self.excess + self.shared - self.in_order


def words_in_common(text: str, others: Sequence[str], least: float) -> list[InCommon | None]:
    """Return what a text has in common with each of others, in words as `normal_words` has them.

    `in_order` is 0 where it is less than the share `least` of the words of the longer text, so
    that nothing is aligned for a share above 1. None where texts are too long to be compared so.

    >>> words_in_common("to be or not to be", ["not to be or to be"], 0.8)[0].lcs
    0.8333333333333334
    """
    if _kernel is not None and hasattr(_kernel, "words_in_common"):
        counted = _kernel.words_in_common(text, list(others), least)
        return [counts and InCommon(*counts) for counts in counted]
    vocabulary = Vocabulary()
    own = vocabulary.sequence_of(text)
    return [_in_common(own, vocabulary.sequence_of(other), least) for other in others]


def _in_common(a: WordSequence | None, b: WordSequence | None, least: float) -> InCommon | None:
    if a is None or b is None:
        return None
    words = len(a.codes), len(b.codes)
    shared = int(np.minimum(a.counts, b.counts).sum(dtype=np.int64))
    excess = int((a.counts.astype(np.int64) - b.counts).max())
    if not may_reach_pair(a, b, least):
        return InCommon(0, shared, words, max(excess, 0))
    value = lcs_of_sequences(a, b, least)
    if value is None:
        return None
    return InCommon(round(value * max(words)), shared, words, max(excess, 0))


def measure_in_common(
    measure: str, a: TextOperand, b: TextOperand, least: float
) -> tuple[float, InCommon | None]:
    """Return the similarity of two texts as `measure_pair` has it, and the words that both have in
    common, if those in order are the measure.
    """
    if measure == "lcs":
        (common,) = words_in_common(a.text, [b.text], least)
        if common:
            return common.lcs, common
    return measure_pair(measure, a, b, least=least).similarity, None


def accepts_in_common(
    criteria: Criteria, a: TextOperand, b: TextOperand, common: InCommon | None, rarity: Rarity
) -> bool:
    """Return `criteria.accepts`, sooner where the words that both texts have in common say it.

    `common`: these words, those in order computed; None if they are not known.
    """
    if criteria.needs_texts or common is None:
        return criteria.accepts(a, b, rarity)
    most = criteria.replaced
    words_out_of_order = min(common.words) - common.in_order
    if most is None or words_out_of_order <= most:
        return True
    if not criteria.accepts_languages(a.words, b.words):
        return False
    if common.most_out_of_order <= most:
        return True
    return not any(replacements(a.words, b.words, most))


def lcs_to_each(text: str, others: Sequence[str], least: float) -> list[float | None]:
    """Return `lcs` of a text to each of others; 0 for one below `least`.

    None where texts are too long to be compared so.
    """
    return [common and common.lcs for common in words_in_common(text, others, least)]


def may_share_words(text: str, others: Sequence[str], least: float) -> list[bool]:
    """Return for each of other texts if it may have `least` of the words of the longer one in
    common with a text, in any order.
    """
    counted = words_in_common(text, others, 2.0)
    return [
        common is None or common.shared >= least * max(common.words) - 1e-9 for common in counted
    ]
