"""Rare-term signatures: the terms of a text that are rarest in a corpus, and their overlap.

Conrad & Raymond, "Essential Deduplication Functions for Transactional Databases in Law Firms",
ICAIL 2007: a text is represented by its length, and by a vector of its 30 (clauses) to 60
(documents) terms of highest idf; the fraction of common terms is the similarity, .9 the paper's
threshold. Texts of fewer than 10 distinct terms are not reliable.

Terms are ordered by ascending document frequency, then by hash: one order for all texts,
whatever the corpus has seen. Texts with fewer terms than the vector has entries can be compared in
the paper's three ways:

* `unequal`: the vectors as they are; common terms over the longer vector;
* `shorter`: only the n rarest terms of each, n being the length of the shorter vector;
* `padded`: short vectors are filled up with entries that occur in no text, but that similar texts
  have in common: further copies of their own rarer terms (the rarer three quarters, in turn). So
  each real term has more weight, the commonest the lowest, and unrelated texts share no padding.
"""

from __future__ import annotations

import hashlib
import json
import math
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import compress
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.errors import NoFeatures, UnknownName, UsageError
from indexer.fingerprinting.hashing import GAMMA, mix64_array, natural_log, string_hashes
from indexer.model import MIN_TERMS, TERM_PREFIX

# Corpus statistics: document and collection frequencies of features, and the corpus size.

Hashes = NDArray[np.uint64]
Counts = NDArray[np.int64]

_MAGIC = b"nearfold-statistics-1\n"


@dataclass(frozen=True, slots=True, eq=False)
class _Segment:
    """Counts of some documents, (n,) each.

    `hashes` are ascending and distinct, `occurrences` their collection frequencies, `holders` their
    document frequencies.
    """

    hashes: Hashes
    occurrences: Counts
    holders: Counts


class CorpusStatistics:
    """Counts of features over documents.

    `features` names the feature set, as in a recipe; different sets do not merge. Adding a document
    takes time in proportion to its own size, because counts are kept in segments that are merged as
    they grow. A look-up covers every document added so far.
    """

    def __init__(self, features: str) -> None:
        self.features = features
        self.documents = 0
        self.length = 0
        self._segments: list[_Segment] = []

    @property
    def id(self) -> str:
        """A digest of every count, 12 hexadecimal digits; it does not depend on document order."""
        whole = self._whole()
        digest = hashlib.sha256(json.dumps([self.features, self.documents, self.length]).encode())
        for part in (whole.hashes, whole.occurrences, whole.holders):
            digest.update(part.astype(">u8").tobytes())
        return digest.hexdigest()[:12]

    def __len__(self) -> int:
        """The number of distinct features."""
        return len(self._whole().hashes)

    def add(self, hashes: Hashes) -> None:
        """Count one document, given the hashes of its features with repeats.

        A document without features counts as one document.
        """
        distinct, occurrences = np.unique(hashes, return_counts=True)
        holders = np.ones(len(distinct), dtype=np.int64)
        self.documents += 1
        self.length += len(hashes)
        self._append(_Segment(distinct, occurrences.astype(np.int64), holders))

    def merge(self, other: CorpusStatistics) -> None:
        """Add the counts of `other`. Raises `UsageError` when it counted other features."""
        if other.features != self.features:
            raise UsageError(
                f"statistics of {other.features} do not merge with statistics of {self.features}"
            )
        self.documents += other.documents
        self.length += other.length
        for segment in list(other._segments):
            self._append(segment)

    def occurrences(self, hashes: Hashes) -> Counts:
        """Return how often each feature occurs in the corpus: (n,) int64, 0 for unseen features.

        This is the collection frequency.
        """
        return self._sum_counts(hashes, "occurrences")

    def holders(self, hashes: Hashes) -> Counts:
        """Return how many documents have each feature: (n,) int64, 0 for unseen features.

        This is the document frequency.
        """
        return self._sum_counts(hashes, "holders")

    def pack(self) -> bytes:
        """Return all counts as bytes.

        A line naming the format, a line of JSON, and zlib-compressed big-endian arrays.
        """
        whole = self._whole()
        header = {
            "features": self.features,
            "documents": self.documents,
            "length": self.length,
            "id": self.id,
            "distinct": len(self),
        }
        arrays = b"".join(
            part.astype(">u8").tobytes()
            for part in (whole.hashes, whole.occurrences, whole.holders)
        )
        return (
            _MAGIC + json.dumps(header, sort_keys=True).encode() + b"\n" + zlib.compress(arrays, 6)
        )

    @classmethod
    def unpack(cls, packed: bytes) -> CorpusStatistics:
        """Return the statistics of packed bytes. Raises `UsageError` for other or damaged bytes."""
        try:
            magic, header_line, body = packed.split(b"\n", 2)
            header = json.loads(header_line)
            arrays = np.frombuffer(zlib.decompress(body), dtype=">u8").reshape(
                3, header["distinct"]
            )
            statistics = cls(header["features"])
            statistics.documents, statistics.length = header["documents"], header["length"]
            statistics._append(_Segment(arrays[0].astype(np.uint64), *arrays[1:].astype(np.int64)))
        except (ValueError, KeyError, TypeError, zlib.error):
            raise UsageError("these bytes are not corpus statistics, or damaged") from None
        if magic + b"\n" != _MAGIC or statistics.id != header.get("id"):
            raise UsageError("these bytes are not corpus statistics of this version, or damaged")
        return statistics

    def _append(self, segment: _Segment) -> None:
        """Add a segment; merge the last two while the earlier is not twice as long."""
        self._segments.append(segment)
        while len(self._segments) > 1:
            older, newer = self._segments[-2:]
            if len(older.hashes) > 2 * len(newer.hashes):
                break
            self._segments[-2:] = [_merge_segments([older, newer])]

    def _whole(self) -> _Segment:
        if len(self._segments) != 1:
            self._segments = [_merge_segments(self._segments)]
        return self._segments[0]

    def _sum_counts(self, hashes: Hashes, field: str) -> Counts:
        total = np.zeros(len(hashes), dtype=np.int64)
        for segment in self._segments:
            if not len(segment.hashes):
                continue
            positions = np.searchsorted(segment.hashes, hashes)
            positions = np.minimum(positions, len(segment.hashes) - 1)
            counts = getattr(segment, field)[positions]
            total += np.where(segment.hashes[positions] == hashes, counts, 0)
        return total


def count_features(documents: Iterable[Hashes], features: str) -> CorpusStatistics:
    """Return the statistics of documents, each given by the hashes of its features with repeats.

    >>> documents = [np.array([7, 7, 9], np.uint64), np.array([7], np.uint64)]
    >>> statistics = count_features(documents, "example")
    >>> statistics.documents, statistics.length
    (2, 4)
    >>> statistics.occurrences(np.array([7, 8], np.uint64)).tolist()
    [3, 0]
    """
    statistics = CorpusStatistics(features)
    for hashes in documents:
        statistics.add(hashes)
    return statistics


def _merge_segments(segments: list[_Segment]) -> _Segment:
    if not segments:
        return _Segment(np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.int64))
    hashes, positions = np.unique(
        np.concatenate([segment.hashes for segment in segments]), return_inverse=True
    )
    counts = np.zeros((2, len(hashes)), dtype=np.int64)
    np.add.at(counts[0], positions, np.concatenate([segment.occurrences for segment in segments]))
    np.add.at(counts[1], positions, np.concatenate([segment.holders for segment in segments]))
    return _Segment(hashes, counts[0], counts[1])


DOCUMENT_TERMS, CLAUSE_TERMS = 60, 30
WAYS = ("padded", "shorter", "unequal")
_COPY = "#"  # no token holds it


@dataclass(frozen=True, slots=True)
class RareTerms:
    """The rare-term vector of one text.

    `length` is the number of tokens with repeats; `distinct` the number of distinct terms; `terms`
    the rarest of them, rarest first; `entries` the same padded to `size`, in one order for all
    texts.
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
    """Return the rare terms of a text from its tokens, in order.

    `statistics` are of the same tokens (`string_hashes`) over a corpus. A text without tokens has
    an empty vector, which is not reliable. Raises `UsageError` for a size below 10.
    """
    if size < MIN_TERMS:
        raise UsageError(f"a rare-term vector has at least {MIN_TERMS} entries, not {size}")
    ranked = by_rarity(tokens, statistics)
    terms = tuple(ranked[:size])
    return RareTerms(len(tokens), len(ranked), size, terms, _pad(terms, size))


def by_rarity(tokens: Sequence[str], statistics: CorpusStatistics) -> list[str]:
    """Return the distinct terms in ascending document frequency, ties by hash.

    An unseen term has the frequency 0.
    """
    terms = list(dict.fromkeys(tokens))
    hashes = string_hashes(terms)
    order = np.lexsort((hashes, statistics.holders(hashes)))
    return [terms[position] for position in order.tolist()]


def overlap(left: RareTerms, right: RareTerms, way: str = "padded") -> float:
    """Return the fraction of common terms in [0, 1], in one of the three ways.

    It is 0 when either text has no terms.

    Raises `UnknownName` for another way, `UsageError` for vectors of different sizes.
    """
    if left.size != right.size:
        raise UsageError(f"vectors of {left.size} and {right.size} entries do not compare")
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
    positions = (f"{term}@{10 * tokens.index(term) // len(tokens)}" for term in rarest)
    return hashlib.sha256("\n".join(positions).encode()).hexdigest()[:16]


def _pad(terms: tuple[str, ...], size: int) -> tuple[str, ...]:
    """Return the terms, then second copies of the rarer ones, third copies, ... up to `size`.

    >>> _pad(("rare", "scarce", "usual", "common"), 10)[4:]
    ('rare#2', 'scarce#2', 'usual#2', 'rare#3', 'scarce#3', 'usual#3')
    """
    if not terms:
        return ()
    rarer = terms[: -(-3 * len(terms) // 4)]
    copies = (
        f"{rarer[position % len(rarer)]}{_COPY}{position // len(rarer) + 2}"
        for position in range(size - len(terms))
    )
    return (*terms, *copies)


# Keys of rare-term vectors, by which no pair at the threshold is lost.

THRESHOLD = 0.9
TOLERANCE = 0.2


def prefix_keys(terms: RareTerms, threshold: float = THRESHOLD) -> tuple[str, ...]:
    """Return the entries by which every text of at least `threshold` overlap (`padded`) is found.

    Empty for a vector that is not reliable. Two padded vectors have equal length, so a pair at
    the threshold always shares a key.
    """
    return prefix(terms.entries, threshold) if terms.is_reliable else ()


def prefix(ordered: Sequence[str], threshold: float) -> tuple[str, ...]:
    """Return the first n - ceil(t n) + 1 of n entries in the global order; all at threshold 0.

    >>> prefix([str(number) for number in range(30)], 0.9)
    ('0', '1', '2', '3')
    """
    count = len(ordered)
    needed = max(1, math.ceil(exact_fraction(threshold) * count))
    return tuple(ordered[: count - needed + 1])


@cache
def exact_fraction(fraction: float) -> Fraction:
    """Return a fraction as it is written: .9 is nine tenths, not the nearest float.

    >>> exact_fraction(0.9)
    Fraction(9, 10)
    """
    return Fraction(str(fraction))


def lengths_agree(left: int, right: int, tolerance: float = TOLERANCE) -> bool:
    """Return whether neither text is shorter than the other by more than `tolerance` of its length.

    >>> lengths_agree(80, 100), lengths_agree(79, 100)
    (True, False)
    """
    return min(left, right) >= (1 - exact_fraction(tolerance)) * max(left, right)


def length_bucket(length: int, tolerance: float = TOLERANCE) -> int:
    """Return the b with r**b <= length < r**(b + 1), r = 1 / (1 - tolerance).

    Texts whose lengths agree are at most one bucket apart: a text is stored with its bucket, and
    looked up with that and both neighbours. Lengths below 1 count as 1.

    >>> [length_bucket(length) for length in (1, 2, 80, 100, 125)]
    [0, 3, 19, 20, 21]
    """
    ratio = 1 / (1 - exact_fraction(tolerance))
    length = max(1, length)
    bucket = int(math.log(length) / math.log(ratio))
    while ratio**bucket > length:
        bucket -= 1
    while ratio ** (bucket + 1) <= length:
        bucket += 1
    return bucket


# Rare-term vectors as rows keep them: length, hash and vector in 32-bit numbers.

_PAIRS = 4096  # pairs of vectors that are compared at once

Vectors: TypeAlias = NDArray[np.uint32]


def term_vector(terms: RareTerms, key: str) -> Vectors:
    """Return the numbers of a vector with at least one term, and of its hash of 16 digits.

    (TERM_PREFIX + size,) uint32.
    """
    entries: dict[int, None] = {}
    for half in (string_hashes(terms.entries) >> np.uint64(32)).tolist():
        entry = half
        while entry in entries:
            entry = (entry + 1) % (1 << 32)
        entries[entry] = None
    length = min(terms.length, (1 << 32) - 1)
    return np.array([length, int(key[:8], 16), int(key[8:], 16), *entries], dtype=np.uint32)


def format_hash(vector: NDArray[Any]) -> str:
    """Return the hash of a vector, 16 hexadecimal digits.

    >>> format_hash(np.array([7, 1, 255, 9], np.uint32))
    '00000001000000ff'
    """
    return f"{int(vector[1]):08x}{int(vector[2]):08x}"


def term_keys(vector: NDArray[Any], threshold: float) -> tuple[str, ...]:
    """Return the keys of a vector: its hash, then its first entries for an overlap `threshold`.

    >>> term_keys(np.array([7, 1, 255, *range(30)], np.uint32), 0.9)
    ('h00000001000000ff', 't00000000', 't00000001', 't00000002', 't00000003')
    """
    entries = prefix([f"t{entry:08x}" for entry in vector[TERM_PREFIX:].tolist()], threshold)
    return (f"h{format_hash(vector)}", *entries)


def vector_overlap(a: NDArray[Any], b: NDArray[Any]) -> float:
    """Return the fraction of common entries of two vectors of one size, in [0, 1].

    0 where one length is more than 20 % below the other, which no duplicate's is.

    >>> vector_overlap(np.array([9, 0, 0, 1, 2], np.uint32), np.array([8, 0, 0, 2, 3], np.uint32))
    0.5
    """
    if not lengths_agree(int(a[0]), int(b[0])):
        return 0.0
    return len(np.intersect1d(a[TERM_PREFIX:], b[TERM_PREFIX:])) / (len(a) - TERM_PREFIX)


def common_entries(left: NDArray[Any], right: NDArray[Any]) -> NDArray[np.uint16]:
    """Return the numbers of common entries of pairs of vectors, 0 where lengths disagree.

    (n, width) each; as `vector_overlap` has them, which is their share.
    """
    common = np.zeros(len(left), dtype=np.uint16)
    for start in range(0, len(left), _PAIRS):
        part = slice(start, start + _PAIRS)
        equal = left[part, TERM_PREFIX:, None] == right[part, None, TERM_PREFIX:]
        common[part] = np.count_nonzero(equal.any(axis=2), axis=1)
    kept = 1 - exact_fraction(TOLERANCE)
    shorter = np.minimum(left[:, 0], right[:, 0]).astype(np.int64)
    longer = np.maximum(left[:, 0], right[:, 0]).astype(np.int64)
    agree = shorter * kept.denominator >= longer * kept.numerator
    return np.where(agree, common, 0).astype(np.uint16)


def min_common(threshold: float, size: int) -> int:
    """Return the minimum number of common entries whose share of `size` reaches a threshold.

    >>> min_common(0.9, 30), min_common(0.91, 30)
    (27, 28)
    """
    return math.ceil(exact_fraction(threshold) * size)


# I-Match with lexicon randomisation: hashes over the terms of medium rarity.

LOW, HIGH = 0.2, 0.8  # idf of the lexicon, as fractions of the greatest possible
LEXICONS = 10  # random parts of the lexicon
DROPPED = 1 / 3  # of the lexicon, that each part leaves out


def imatch(
    tokens: Sequence[str],
    statistics: CorpusStatistics,
    lexicons: int = LEXICONS,
) -> tuple[str, ...]:
    """Return SHA-1 signatures of a text. `imatch_v1`.

    One over the whole lexicon, then one for each of `lexicons` random parts of it. The lexicon are
    the terms whose idf, ln(documents / holders), lies between `LOW` and `HIGH` times the greatest
    possible, ln(documents). Each random part leaves out a third of it, by hash. Two texts match
    when any two signatures at the same position are equal. A text without terms in the lexicon has
    no signatures: it would match every other such text.
    """
    terms = sorted(set(tokens))
    hashes = string_hashes(terms)
    inside = _in_lexicon(hashes, statistics)
    if not np.any(inside):
        return ()
    parts = (inside & _part(hashes, number) for number in range(1, lexicons + 1))
    return tuple(_signature(list(compress(terms, part.tolist()))) for part in (inside, *parts))


def signatures_match(left: Sequence[str], right: Sequence[str]) -> bool:
    """Return whether any signature equals the one at the same position.

    An empty signature, of a part of the lexicon without terms of the text, equals none.

    >>> signatures_match(("a", "b"), ("c", "b")), signatures_match(("a", "b"), ("b", "a"))
    (True, False)
    >>> signatures_match((), ())
    False
    """
    return any(a == b != "" for a, b in zip(left, right, strict=False))


def _in_lexicon(hashes: NDArray[np.uint64], statistics: CorpusStatistics) -> NDArray[np.bool_]:
    """Return which terms have a medium idf; terms unknown to the statistics do not count."""
    holders = statistics.holders(hashes)
    if statistics.documents < 2:
        return np.zeros(len(hashes), dtype=np.bool_)
    greatest = natural_log(np.array([float(statistics.documents)]))[0]
    fraction = natural_log(statistics.documents / np.maximum(holders, 1)) / greatest
    inside: NDArray[np.bool_] = (holders > 0) & (fraction >= LOW) & (fraction <= HIGH)
    return inside


def _part(hashes: NDArray[np.uint64], number: int) -> NDArray[np.bool_]:
    """Return the terms in the random part of that number: two thirds of all."""
    mixed = mix64_array(hashes + np.uint64(number * GAMMA % (1 << 64)))
    inside: NDArray[np.bool_] = mixed >= np.uint64(int(DROPPED * 2**64))
    return inside


def _signature(terms: list[str]) -> str:
    if not terms:
        return ""
    return hashlib.sha1("\n".join(terms).encode(), usedforsecurity=False).hexdigest()
