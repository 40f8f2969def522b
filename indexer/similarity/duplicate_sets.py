"""Duplicate sets of a result set: each clause under the best earlier one that it duplicates.

Signatures (length, keys of the rarest terms, a vector of the 60 rarest) spare comparisons and lose
no pair:

* lengths within 20 %, or equally many units, as every type has it;
* keys: two clauses that share enough terms share one among the rarest of both (prefix filtering,
  Chaudhuri et al., ICDE 2006);
* vectors: terms that two vectors of rarest terms do not have in common, the clauses do not have in
  common.

Rarity only orders the terms. It is counted over the result set, or taken from statistics over a
whole corpus.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from indexer.defaults import OVERLAP
from indexer.errors import UsageError
from indexer.similarity.duplicate_types import (
    TYPES,
    DuplicateType,
    Verdict,
    least_overlap,
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
_REMEMBERED = 2048  # readings of clauses that are cached

Clause: TypeAlias = tuple[str, str] | tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A clause that duplicates another one: its type, and the terminology they share, in [0, 1]."""

    id: str
    type: DuplicateType
    terminology: float


@dataclass(frozen=True, slots=True)
class DuplicateSet:
    """The best-ranked clause of a set, and those after it that duplicate it, in rank order.

    Members do not always duplicate each other.
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
    """The part of a clause that is compared first; `keys` and `vector` are ranks, the rarest 0.

    `terms` counts those outside slots, `known` these and the terms inside names. Not `whole`: the
    vector has the rarest alone. `is_shouted`: names count as terms.
    """

    length: int
    units: int
    terms: int
    known: int
    keys: tuple[int, ...]
    vector: frozenset[int]
    whole: bool
    is_shouted: bool


def duplicate_sets(
    clauses: Iterable[Clause],
    *,
    overlap: float = OVERLAP,
    synonyms: str = "",
    statistics: CorpusStatistics | None = None,
) -> tuple[DuplicateSet, ...]:
    """Return the duplicate sets of clauses in rank order, (id, text) or (id, text, heading) each.

    A clause joins the principal before it that it duplicates by the strictest type, then by the
    most terminology, ties to the first; else it is a principal itself. Principals without members
    are left out. `overlap` is the terminology that fuzzy duplicates share at least; `synonyms` are
    lines added to the shipped list; `statistics` those of `term_statistics`.

    Raises `UsageError` for an overlap outside (0, 1], for a repeated id, and for lines that are no
    entries.
    """
    result = _ResultSet(clauses, overlap, synonyms, statistics)
    members: dict[int, list[Duplicate]] = {}
    for place, id in enumerate(result.ids):
        # ascending, so the first principal wins a tie
        best = max(result.duplicates(place), key=lambda pair: _strength(pair[1]), default=None)
        if best is None:
            members[place] = []
            result.remember(place)
        else:
            principal, match = best
            members[principal].append(Duplicate(id, match.type, match.terminology))
    return tuple(
        DuplicateSet(result.ids[principal], tuple(duplicates))
        for principal, duplicates in members.items()
        if duplicates
    )


def duplicate_pairs(
    clauses: Iterable[Clause],
    *,
    overlap: float = OVERLAP,
    synonyms: str = "",
    statistics: CorpusStatistics | None = None,
) -> tuple[DuplicatePair, ...]:
    """Return all duplicate pairs, ascending by the later clause, then the earlier.

    Arguments and errors are those of `duplicate_sets`.
    """
    result = _ResultSet(clauses, overlap, synonyms, statistics)
    pairs: list[DuplicatePair] = []
    for place, id in enumerate(result.ids):
        pairs += [
            DuplicatePair(result.ids[earlier], id, match.type, match.terminology)
            for earlier, match in result.duplicates(place)
        ]
        result.remember(place)
    return tuple(pairs)


def term_statistics(texts: Iterable[str]) -> CorpusStatistics:
    """Count the texts of a corpus that have each term, for the order of rarity."""
    words = lexicon_with("")
    terms = (sorted(_known(read(text, "", words))) for text in texts)
    return count_features(map(string_hashes, terms), FEATURES)


def signatures(
    readings: Sequence[Reading], overlap: float, statistics: CorpusStatistics | None = None
) -> list[Signature]:
    """Return the signatures of clauses for one overlap; they compare with each other alone."""
    terms_of_clauses = [_known(reading) for reading in readings]
    holders = Counter(term for terms in terms_of_clauses for term in terms)
    if statistics is None:
        order = sorted(holders, key=lambda term: (holders[term], term))
    else:
        order = by_rarity(sorted(holders), statistics)
    ranks = {term: rank for rank, term in enumerate(order)}
    rarest = [sorted(map(ranks.__getitem__, terms)) for terms in terms_of_clauses]
    return [
        _signature(reading, ranked, overlap)
        for reading, ranked in zip(readings, rarest, strict=True)
    ]


def may_match(left: Signature, right: Signature, overlap: float) -> bool:
    """Return whether two clauses that share a key may be near identical or fuzzy duplicates.

    False is certain.
    """
    if left.units != right.units and not lengths_agree(left.length, right.length):
        return False
    if left.whole and right.whole:
        shared = len(left.vector & right.vector)
    else:
        shared = _most_shared(left, right)
    least = least_overlap(left, right, overlap)
    return 2 * shared >= least * (left.terms + right.terms) - 1e-9


def _most_shared(left: Signature, right: Signature) -> int:
    """Count the terms that two clauses can have in common at most.

    Those are the ones of both vectors as far as both reach, and all that may follow.
    """
    cut = min(max(signature.vector) for signature in (left, right) if not signature.whole)
    reach_left = {rank for rank in left.vector if rank <= cut}
    reach_right = {rank for rank in right.vector if rank <= cut}
    rest = min(left.known - len(reach_left), right.known - len(reach_right))
    return len(reach_left & reach_right) + rest


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
            raise UsageError(
                "the threshold of duplicate types, the terminology that fuzzy duplicates share, "
                f"lies above 0 and up to 1, such as {OVERLAP}, not {overlap:g}"
            )
        self._overlap = overlap
        self._words = lexicon_with(synonyms)
        self._readings: list[Reading] = []
        self.ids: list[str] = []
        for id, text, *heading in clauses:
            self.ids.append(id)
            self._readings.append(read(text, heading[0] if heading else "", self._words))
        if len(set(self.ids)) < len(self.ids):
            raise UsageError("two clauses have the same id; give each clause one of its own")
        self._signatures = signatures(self._readings, overlap, statistics)
        self._exact: dict[tuple[str, ...], list[int]] = {}
        self._keys: dict[int, list[int]] = {}

    def remember(self, place: int) -> None:
        """Compare later clauses with this one."""
        self._exact.setdefault(self._readings[place].exact, []).append(place)
        for key in self._signatures[place].keys:
            self._keys.setdefault(key, []).append(place)

    def duplicates(self, place: int) -> Iterator[tuple[int, Verdict]]:
        """Yield the remembered clauses that this one duplicates, ascending."""
        signature, reading = self._signatures[place], self._readings[place]
        exact = self._exact.get(reading.exact, ())
        sharing = {earlier for key in signature.keys for earlier in self._keys.get(key, ())}
        possible = {
            earlier
            for earlier in sharing
            if may_match(self._signatures[earlier], signature, self._overlap)
        }
        for earlier in sorted(possible.union(exact)):
            match = verdict(self._readings[earlier], reading, self._words, self._overlap)
            if match is not None:
                yield earlier, match


def _strength(match: Verdict) -> tuple[int, float]:
    return -TYPES.index(match.type), match.terminology


def _signature(reading: Reading, ranks: list[int], overlap: float) -> Signature:
    least = least_overlap(reading, reading, overlap)
    prefix = len(ranks) - least_shared(len(reading.words), least) + 1
    return Signature(
        length=reading.length,
        units=len(reading.units),
        terms=len(reading.words),
        known=len(ranks),
        keys=tuple(ranks[:prefix]),
        vector=frozenset(ranks[:DOCUMENT_TERMS]),
        whole=len(ranks) <= DOCUMENT_TERMS,
        is_shouted=reading.is_shouted,
    )


def _known(reading: Reading) -> frozenset[str]:
    return reading.words | reading.names


@lru_cache(maxsize=_REMEMBERED)
def read(text: str, heading: str, words: Lexicon) -> Reading:
    """Read a clause; the last 2,048 readings are cached."""
    return read_clause(text, words, heading)


@lru_cache(maxsize=8)
def lexicon_with(synonyms: str) -> Lexicon:
    """Return the shipped list with these lines added.

    Raises `UsageError` for lines that are no entries.
    """
    return lexicon(synonyms) if synonyms else default_lexicon()
