"""Rare-term signatures: the terms of a text that are rarest in a corpus, and their overlap.

Conrad & Raymond, "Essential Deduplication Functions for Transactional Databases in Law Firms",
ICAIL 2007: a text is represented by its length, and by a vector of its 30 (clauses) to 60
(documents) terms of highest idf; the share of common terms is the similarity, .9 the paper's
threshold. Texts of fewer than 10 distinct terms are not reliable.

Terms are ordered by document frequency, least first, then by hash: one order for all texts,
whatever the corpus has seen. Texts with fewer terms than the vector has places can be compared in
the paper's three ways:

* `unequal`: the vectors as they are; common terms over the longer vector;
* `shorter`: only the n rarest terms of each, n being the length of the shorter vector;
* `padded`: short vectors are filled up with entries that occur in no text, but that similar texts
  have in common: further copies of their own rarer terms (the rarer three quarters, in turn). So
  each real term has more weight, the commonest the least, and unrelated texts share no padding.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from indexer.errors import NoFeatures, UnknownName, UsageError
from indexer.model import MIN_TERMS
from indexer.sketch.corpus_statistics import CorpusStatistics
from indexer.sketch.string_hashes import string_hashes

DOCUMENT_TERMS, CLAUSE_TERMS = 60, 30
WAYS = ("padded", "shorter", "unequal")
_COPY = "#"  # no token holds it


@dataclass(frozen=True, slots=True)
class RareTerms:
    """The rare-term signature of one text.

    `length` is the number of tokens with repeats; `distinct` that of distinct terms; `terms` the
    rarest of them, rarest first; `entries` the same padded to `size`, in one order for all texts.
    """

    length: int
    distinct: int
    size: int
    terms: tuple[str, ...]
    entries: tuple[str, ...]

    @property
    def is_reliable(self) -> bool:
        """True if the text has at least 10 distinct terms."""
        return self.distinct >= MIN_TERMS


def rare_terms(
    tokens: Sequence[str], statistics: CorpusStatistics, size: int = CLAUSE_TERMS
) -> RareTerms:
    """Return the signature of a text from its tokens, in order.

    `statistics` are of the same tokens (`string_hashes`) over a corpus. A text without tokens has
    an empty signature, which is not reliable. Raises `UsageError` for a size below 10.
    """
    if size < MIN_TERMS:
        raise UsageError(f"a rare-term vector has at least {MIN_TERMS} places, not {size}")
    ranked = by_rarity(tokens, statistics)
    terms = tuple(ranked[:size])
    return RareTerms(len(tokens), len(ranked), size, terms, _pad(terms, size))


def by_rarity(tokens: Sequence[str], statistics: CorpusStatistics) -> list[str]:
    """Return the distinct terms, those of the least document frequency first, ties by hash.

    An unseen term has the frequency 0.
    """
    terms = list(dict.fromkeys(tokens))
    hashes = string_hashes(terms)
    order = np.lexsort((hashes, statistics.holders(hashes)))
    return [terms[place] for place in order.tolist()]


def overlap(left: RareTerms, right: RareTerms, way: str = "padded") -> float:
    """Return the share of common terms in [0, 1], in one of the three ways.

    It is 0 when either text has no terms.

    Raises `UnknownName` for another way, `UsageError` for vectors of different sizes.
    """
    if left.size != right.size:
        raise UsageError(f"vectors of {left.size} and {right.size} places do not compare")
    if way == "padded":
        a, b = left.entries, right.entries
    elif way == "shorter":
        length = min(len(left.terms), len(right.terms))
        a, b = left.terms[:length], right.terms[:length]
    elif way == "unequal":
        a, b = left.terms, right.terms
    else:
        raise UnknownName("way", way, WAYS)
    return len(set(a) & set(b)) / max(len(a), len(b)) if a and b else 0.0


def hash_key(tokens: Sequence[str], statistics: CorpusStatistics, terms: int = 3) -> str:
    """Return the published equality key, 16 hexadecimal digits.

    A hash over the rarest terms and their first positions in tenths of the text. It finds pairs
    whose rarest terms and positions are all equal, and loses the others; its cost in recall is in
    docs/schemes.md. Raises `NoFeatures` for a text without tokens.
    """
    if not tokens:
        raise NoFeatures
    rarest = by_rarity(tokens, statistics)[:terms]
    places = (f"{term}@{10 * tokens.index(term) // len(tokens)}" for term in rarest)
    return hashlib.sha256("\n".join(places).encode()).hexdigest()[:16]


def _pad(terms: tuple[str, ...], size: int) -> tuple[str, ...]:
    """Return the terms, then second copies of the rarer ones, third copies, ... up to `size`.

    >>> _pad(("rare", "scarce", "usual", "common"), 10)[4:]
    ('rare#2', 'scarce#2', 'usual#2', 'rare#3', 'scarce#3', 'usual#3')
    """
    if not terms:
        return ()
    rarer = terms[: -(-3 * len(terms) // 4)]
    copies = (
        f"{rarer[place % len(rarer)]}{_COPY}{place // len(rarer) + 2}"
        for place in range(size - len(terms))
    )
    return (*terms, *copies)
