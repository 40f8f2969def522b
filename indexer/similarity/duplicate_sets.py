"""Duplicate sets of a result set: each clause under the best one before it that it duplicates, with
the type of the pair.

Signatures (length, keys of the rarest terms, a vector of the 60 rarest) spare comparisons and lose
no pair:

* lengths within 20 %, or equally many units, as every type has it;
* keys: two clauses that share enough terms share one among the rarest of both (prefix filtering, Chaudhuri et al., ICDE 2006);
* vectors: what two vectors of rarest terms do not have in common, the clauses do not have in common.

Rarity only orders the terms. It is counted over the result set, or taken from statistics over a
whole corpus.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from indexer.errors import UsageError
from indexer.similarity.duplicate_types import (
    OVERLAP,
    TYPES,
    DuplicateType,
    Verdict,
    least_shared,
    verdict,
)
from indexer.sketch.corpus_statistics import CorpusStatistics, count_features
from indexer.sketch.rare_term_keys import lengths_agree
from indexer.sketch.rare_terms import DOCUMENT_TERMS, by_rarity
from indexer.sketch.string_hashes import string_hashes
from indexer.text.clauses.clause_terms import read_clause
from indexer.text.clauses.lexicon import Lexicon, default_lexicon, lexicon
from indexer.text.clauses.reading import Reading

FEATURES = "clause_terms"
_REMEMBERED = 2048

Clause: TypeAlias = tuple[str, str] | tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A clause that duplicates another one: how, and the terminology they share, in [0, 1]."""

    id: str
    type: DuplicateType
    terminology: float


@dataclass(frozen=True, slots=True)
class DuplicateSet:
    """The best-ranked clause of a set, and those after it that duplicate it (not always each
    other), in rank order.
    """

    principal: str
    members: tuple[Duplicate, ...]


@dataclass(frozen=True, slots=True)
class DuplicatePair:
    """Two clauses of a result set, the better-ranked one first."""

    a: str
    b: str
    type: DuplicateType
    terminology: float


@dataclass(frozen=True, slots=True)
class Signature:
    """What is compared before the clauses are: `keys` and `vector` are ranks of terms, rarest 0.

    `terms` counts those outside slots, `known` these and the terms inside names. Not `whole`: the
    vector has the rarest alone.
    """

    length: int
    units: int
    terms: int
    known: int
    keys: tuple[int, ...]
    vector: frozenset[int]
    whole: bool


def duplicate_sets(
    clauses: Iterable[Clause],
    *,
    overlap: float = OVERLAP,
    synonyms: str = "",
    statistics: CorpusStatistics | None = None,
) -> tuple[DuplicateSet, ...]:
    """The duplicate sets of clauses given in rank order as (id, text) or (id, text, heading).

    A clause joins the principal before it that it duplicates by the strictest type, then by the
    most terminology, ties to the first; else it is a principal itself. Principals without members
    are left out. `overlap` is the terminology that fuzzy duplicates share at least; `synonyms` are
    lines added to the shipped list; `statistics` those of `term_statistics`.

    Raises `UsageError` for an overlap outside (0, 1], for an id given twice, and for lines that are
    no entries.
    """
    result = _ResultSet(clauses, overlap, synonyms, statistics)
    members: dict[int, list[Duplicate]] = {}
    for place in range(len(result.ids)):
        found = [(*_strength(made), -head, made) for head, made in result.duplicates(place)]
        if found:
            *_, head, made = max(found, key=lambda one: one[:3])
            members[-head].append(Duplicate(result.ids[place], made.type, made.terminology))
        else:
            members[place] = []
            result.remember(place)
    return tuple(
        DuplicateSet(result.ids[head], tuple(under)) for head, under in members.items() if under
    )


def duplicate_pairs(
    clauses: Iterable[Clause],
    *,
    overlap: float = OVERLAP,
    synonyms: str = "",
    statistics: CorpusStatistics | None = None,
) -> tuple[DuplicatePair, ...]:
    """All duplicate pairs, ascending by the later clause, then the earlier; arguments and errors as
    in `duplicate_sets`.
    """
    result = _ResultSet(clauses, overlap, synonyms, statistics)
    found: list[DuplicatePair] = []
    for place, id in enumerate(result.ids):
        found += [
            DuplicatePair(result.ids[other], id, made.type, made.terminology)
            for other, made in result.duplicates(place)
        ]
        result.remember(place)
    return tuple(found)


def term_statistics(texts: Iterable[str], synonyms: str = "") -> CorpusStatistics:
    """How many texts of a corpus have each term, for the order of rarity."""
    words = lexicon_with(synonyms)
    return count_features(
        (string_hashes(sorted(_known(read(text, "", words)))) for text in texts), FEATURES
    )


def signatures(
    readings: Sequence[Reading], overlap: float, statistics: CorpusStatistics | None = None
) -> list[Signature]:
    """Signatures of clauses for one overlap; they compare with each other alone."""
    known = [_known(reading) for reading in readings]
    holders = Counter(term for terms in known for term in terms)
    order = (
        sorted(holders, key=lambda term: (holders[term], term))
        if statistics is None
        else by_rarity(sorted(holders), statistics)
    )
    ranks = {term: rank for rank, term in enumerate(order)}
    return [
        _signature(reading, sorted(ranks[term] for term in terms), overlap)
        for reading, terms in zip(readings, known, strict=True)
    ]


def may_match(left: Signature, right: Signature, overlap: float) -> bool:
    """Whether two clauses that share a key may be near identical or fuzzy duplicates: False is
    certain.
    """
    if left.units != right.units and not lengths_agree(left.length, right.length):
        return False
    shared = (
        len(left.vector & right.vector) if left.whole and right.whole else _most_shared(left, right)
    )
    return 2 * shared >= overlap * (left.terms + right.terms) - 1e-9


def _most_shared(left: Signature, right: Signature) -> int:
    """The terms two clauses can have in common: those of both vectors as far as both reach, and
    what may follow.
    """
    cut = min(max(one.vector) for one in (left, right) if not one.whole)
    seen = [{rank for rank in one.vector if rank <= cut} for one in (left, right)]
    return len(seen[0] & seen[1]) + min(left.known - len(seen[0]), right.known - len(seen[1]))


class _ResultSet:
    """Clauses in rank order, and an index over those to compare with."""

    def __init__(
        self,
        clauses: Iterable[Clause],
        overlap: float,
        synonyms: str,
        statistics: CorpusStatistics | None,
    ) -> None:
        if not 0 < overlap <= 1:
            raise UsageError(f"an overlap lies above 0 and up to 1, such as 0.9, not {overlap:g}")
        listed = list(clauses)
        self.ids = [clause[0] for clause in listed]
        if len(set(self.ids)) < len(self.ids):
            raise UsageError(
                "each clause of a result set has an id of its own; an id was given twice"
            )
        self._overlap, self._words = overlap, lexicon_with(synonyms)
        self._readings = [
            read(clause[1], clause[2] if len(clause) > 2 else "", self._words) for clause in listed
        ]
        self._signatures = signatures(self._readings, overlap, statistics)
        self._exact: dict[tuple[str, ...], list[int]] = {}
        self._keys: dict[int, list[int]] = {}

    def remember(self, place: int) -> None:
        """Compare later clauses with this one."""
        self._exact.setdefault(self._readings[place].exact, []).append(place)
        for key in self._signatures[place].keys:
            self._keys.setdefault(key, []).append(place)

    def duplicates(self, place: int) -> Iterator[tuple[int, Verdict]]:
        """The remembered clauses that this one duplicates, ascending."""
        own, reading = self._signatures[place], self._readings[place]
        exact = self._exact.get(reading.exact, ())
        sharing = {other for key in own.keys for other in self._keys.get(key, ())}
        possible = {
            other for other in sharing if may_match(self._signatures[other], own, self._overlap)
        }
        for other in sorted(possible.union(exact)):
            made = verdict(self._readings[other], reading, self._words, self._overlap)
            if made is not None:
                yield other, made


def _strength(made: Verdict) -> tuple[int, float]:
    return -TYPES.index(made.type), made.terminology


def _signature(reading: Reading, ranks: list[int], overlap: float) -> Signature:
    prefix = len(ranks) - least_shared(len(reading.words), overlap) + 1
    return Signature(
        length=reading.length,
        units=len(reading.units),
        terms=len(reading.words),
        known=len(ranks),
        keys=tuple(ranks[:prefix]),
        vector=frozenset(ranks[:DOCUMENT_TERMS]),
        whole=len(ranks) <= DOCUMENT_TERMS,
    )


def _known(reading: Reading) -> frozenset[str]:
    return reading.words | reading.names


@lru_cache(maxsize=_REMEMBERED)
def read(text: str, heading: str, words: Lexicon) -> Reading:
    """A clause read; the last 2,048 are remembered."""
    return read_clause(text, words, heading)


@lru_cache(maxsize=8)
def lexicon_with(synonyms: str) -> Lexicon:
    """The shipped list with these lines added; raises `UsageError` for lines that are no
    entries.
    """
    return lexicon(synonyms) if synonyms else default_lexicon()
