"""Rare-term signatures: the terms of a text that are rarest in a corpus, and how many two texts
have in common.

Conrad & Raymond, "Essential Deduplication Functions for Transactional Databases in Law Firms",
ICAIL 2007: a text is told by its length, and by a vector of its 30 (clauses) to 60 (documents)
terms of highest idf; the share of common terms is the similarity, .9 the paper's threshold. Texts
of fewer than 10 distinct terms are not reliable.

Terms are ordered by the documents that hold them, fewest first, then by their hash: one order for
all texts, whatever the corpus has seen. Texts with fewer terms than the vector has places can be
compared in the paper's three ways:

* `unequal`: the vectors as they are; common terms over the longer vector;
* `shorter`: only the n rarest terms of each, n being the length of the shorter vector;
* `padded`: short vectors are filled up with entries that are in no table, but that alike texts have alike: further copies of
  their own rarer terms (the rarer three quarters, in turn). So each real term weighs more, the commonest the least, and
  unrelated texts share nothing through the padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from indexer.errors import UnknownName, UsageError
from indexer.sketch.corpus_statistics import CorpusStatistics
from indexer.sketch.string_hashes import string_hashes

DOCUMENT_TERMS, CLAUSE_TERMS = 60, 30
MIN_TERMS = 10
WAYS = ("padded", "shorter", "unequal")
_COPY = "#"  # no token holds it


@dataclass(frozen=True, slots=True)
class RareTerms:
    """The rare-term signature of one text.

    `length` is the number of tokens with repeats; `distinct` that of distinct terms; `terms` the
    rarest of them, rarest first; `entries` the same filled up to `size`, in an order that is one
    for all texts. Not `reliable`: fewer than 10 distinct terms.
    """

    length: int
    distinct: int
    size: int
    terms: tuple[str, ...]
    entries: tuple[str, ...]

    @property
    def reliable(self) -> bool:
        """Whether the text has terms enough for its signature to mean anything."""
        return self.distinct >= MIN_TERMS


def rare_terms(
    tokens: Sequence[str], statistics: CorpusStatistics, size: int = CLAUSE_TERMS
) -> RareTerms:
    """The signature of a text, given its tokens in order, with statistics of the same tokens
    (`string_hashes`) over a corpus.

    A text without tokens has an empty signature, which is not reliable. Raises `UsageError` for a
    size below 10.
    """
    if size < MIN_TERMS:
        raise UsageError(f"a rare-term vector has at least {MIN_TERMS} places, not {size}")
    ranked = by_rarity(tokens, statistics)
    terms = tuple(ranked[:size])
    return RareTerms(len(tokens), len(ranked), size, terms, _padded(terms, size))


def by_rarity(tokens: Sequence[str], statistics: CorpusStatistics) -> list[str]:
    """The distinct terms, those held by the fewest documents of the corpus first (an unseen term by
    none), ties by hash.
    """
    terms = list(dict.fromkeys(tokens))
    hashes = string_hashes(terms)
    order = np.lexsort((hashes, statistics.holders(hashes)))
    return [terms[place] for place in order.tolist()]


def overlap(left: RareTerms, right: RareTerms, way: str = "padded") -> float:
    """The share of common terms in [0, 1], in one of the three ways; 0 when either text has none.

    Raises `UnknownName` for another way, `UsageError` for vectors of different sizes.
    """
    if left.size != right.size:
        raise UsageError(f"vectors of {left.size} and {right.size} places do not compare")
    if way == "padded":
        one, other = left.entries, right.entries
    elif way == "shorter":
        shared = min(len(left.terms), len(right.terms))
        one, other = left.terms[:shared], right.terms[:shared]
    elif way == "unequal":
        one, other = left.terms, right.terms
    else:
        raise UnknownName("way", way, WAYS)
    longer = max(len(one), len(other))
    return len(set(one) & set(other)) / longer if one and other else 0.0


def _padded(terms: tuple[str, ...], size: int) -> tuple[str, ...]:
    """First the terms, then second copies of the rarer ones, then third copies, and so on up to
    `size` entries.

    >>> _padded(("rare", "scarce", "usual", "common"), 10)
    ('rare', 'scarce', 'usual', 'common', 'rare#2', 'scarce#2', 'usual#2', 'rare#3', 'scarce#3', 'usual#3')
    """
    if not terms:
        return ()
    rarer = terms[: -(-3 * len(terms) // 4)]
    copies = (
        f"{rarer[place % len(rarer)]}{_COPY}{place // len(rarer) + 2}"
        for place in range(size - len(terms))
    )
    return (*terms, *copies)
