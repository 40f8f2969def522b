"""`study`: measure how signatures of every method and length spread the documents of a folder or a
store.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.defaults import STUDY_BITS, STUDY_TIMED
from indexer.fingerprinting.hashing import mix64_array
from indexer.fingerprinting.keys import designs, tables
from indexer.lab.studies.methods import (
    NEIGHBOUR_BITS,
    QUESTION_BITS,
    WITH_NEIGHBOURS,
    lengths,
    pairs_of,
)
from indexer.lab.studies.results import (
    Answers,
    Arrival,
    CollisionSimilarity,
    Near,
    Sample,
    Spread,
    StudyResult,
)
from indexer.lab.studies.signatures import (
    ALL,
    ONLINE,
    Rows,
    Texts,
    count_features,
    grams_of,
    load_signatures,
    question_name,
    sign_texts,
    signature_name,
    texts_of,
    time_signing,
)
from indexer.model import Progress, no_progress
from indexer.stores.base import Store

# Count the documents within a Hamming distance of each, exactly, without comparing all pairs.

MAX_TABLES = 20
Words = NDArray[np.uint64]
Counts = NDArray[np.int64]
_ONES = np.array([value.bit_count() for value in range(1 << 16)], dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class Distinct:
    """Distinct signatures, (n, words) uint64.

    `documents`: how many have each, (n,); `place` of each document's signature, (documents,).
    """

    words: Words
    documents: Counts
    place: Counts


def distinct(signatures: NDArray[np.uint8]) -> Distinct:
    """Return the distinct rows of (documents, octets) signatures.

    Bits are filled up to whole words with zeros.
    """
    missing = -signatures.shape[1] % 8
    filled = np.ascontiguousarray(np.pad(signatures, ((0, 0), (missing, 0))))
    rows = filled.view(f"V{filled.shape[1]}").ravel()
    _, first, position, documents = np.unique(
        rows, return_index=True, return_inverse=True, return_counts=True
    )
    return Distinct(
        filled[first].view(">u8").astype(np.uint64),
        documents.astype(np.int64),
        position.reshape(-1),
    )


def neighbours(signatures: Distinct, bits: int, distance: int) -> Counts:
    """Return the number of other documents within `distance` bits (1 or more) of each document,
    (documents,) int64.

    Signatures are cut into blocks, some of which are equal in any two so near (Manku, Jain & Das
    Sarma, WWW 2007); only those with equal blocks are compared. Memory is in proportion to the
    number of signatures.
    """
    documents = signatures.documents
    near: Counts = (documents - 1).astype(np.int64)
    for left, right in near_pairs(signatures.words, bits, distance):
        np.add.at(near, left, documents[right])
        np.add.at(near, right, documents[left])
    numbers: Counts = near[signatures.place]
    return numbers


def near_pairs(words: Words, bits: int, distance: int) -> Iterator[tuple[Counts, Counts]]:
    """Yield the pairs of rows within `distance` bits (1 or more), each once, as arrays of rows."""
    masks = [
        _words(mask, words.shape[1]) for mask in tables(designs(bits, distance, MAX_TABLES)[-1])
    ]
    for number, mask in enumerate(masks):
        order, ends = _groups(words, mask)
        for left, right in _pairs(order, ends):
            differing = words[left] ^ words[right]
            is_near = ~(differing & mask).any(axis=1) & (count_ones(differing) <= distance)
            for earlier in masks[:number]:  # a pair counts once, under its first mask
                is_near &= (differing & earlier).any(axis=1)
            yield left[is_near], right[is_near]


def common_pairs(a: Words, b: Words, bits: int, distance: int) -> tuple[int, int]:
    """Return how many pairs of rows are within `distance` in both arrays, and in either."""
    of_a = of_b = of_both = 0
    for left, right in near_pairs(a, bits, distance):
        of_a += len(left)
        of_both += int((count_ones(b[left] ^ b[right]) <= distance).sum())
    for left, _ in near_pairs(b, bits, distance):
        of_b += len(left)
    return of_both, of_a + of_b - of_both


def count_ones(words: Words) -> Counts:
    """Return the number of bits that are set in each row."""
    counts: NDArray[np.uint8] = _ONES[np.ascontiguousarray(words).view(np.uint16)]
    sums: Counts = counts.sum(axis=1, dtype=np.int64)
    return sums


def _words(mask: int, words: int) -> Words:
    return np.frombuffer(mask.to_bytes(8 * words, "big"), dtype=">u8").astype(np.uint64)


def _groups(words: Words, mask: Words) -> tuple[Counts, Counts]:
    """Return the rows ordered so that those with equal bits under the mask are together, and the
    end of the group of each.
    """
    keys = np.zeros(len(words), dtype=np.uint64)
    for column in (words & mask).T:
        keys = mix64_array(keys ^ column)
    order = np.argsort(keys, kind="stable")
    in_order = keys[order]
    return order, np.searchsorted(in_order, in_order, side="right")


def _pairs(order: Counts, ends: Counts) -> Iterator[tuple[Counts, Counts]]:
    """Yield all pairs inside the groups, each once: with the next, the next but one, and so on."""
    active = np.arange(len(order))
    for step in count(1):
        active = active[active + step < ends[active]]
        if not len(active):
            return
        yield order[active], order[active + step]


# How the signatures of a collection spread, their neighbours, and the effect of statistics.

DISTANCES = (1, 3)
SHOWN = 10  # neighbours that are counted apart; more are one group
CLOSE = 3  # bits of 64, within which look-ups find


def by_chance(documents: int, bits: int) -> float:
    """Return the mean number of documents that repeat the signature of another if bits are random.

    >>> round(by_chance(10_000, 16)), round(by_chance(10_000, 32), 4)
    (726, 0.0116)
    """
    if bits > 40:
        # The exact form would lose all its digits: take the number of pairs, times the chance that
        # one agrees.
        return documents * (documents - 1) / 2 * 2.0**-bits
    signatures = 2.0**bits
    return documents + signatures * math.expm1(documents * math.log1p(-1 / signatures))


@dataclass(frozen=True, slots=True)
class DocumentCounts:
    """The number of documents that have each signed text, in order, and of those without one.

    The latter have the trivial signature, 0.
    """

    signed: Sequence[int]
    unsigned: int

    @property
    def total(self) -> int:
        """All documents."""
        return sum(self.signed) + self.unsigned

    def signatures(self, files: Sequence[Path], name: str) -> Rows:
        """Return the signature of every document: (documents, octets)."""
        rows = np.repeat(load_signatures(files, name), self.signed, axis=0)
        trivial = np.zeros((self.unsigned, rows.shape[1]), dtype=np.uint8)
        return np.concatenate([rows, trivial])


def spreads(
    files: Sequence[Path], bits: Sequence[int], counts: DocumentCounts, progress: Progress
) -> tuple[Spread, ...]:
    """Return the spread of every method at every length."""
    pairs = pairs_of(bits)
    result = []
    for done, (method, length) in enumerate(pairs):
        progress("counting signatures", done, len(pairs))
        signatures = counts.signatures(files, signature_name(method.name, length))
        documents = distinct(signatures).documents
        result.append(
            Spread(
                method=method.name,
                bits=length,
                unique=len(documents),
                collisions=float(documents.mean()),
                deviation=float(documents.std()),
                most=int(documents.max()),
            )
        )
    return tuple(result)


def near(
    files: Sequence[Path], bits: Sequence[int], counts: DocumentCounts, progress: Progress
) -> tuple[Near, ...]:
    """Count neighbours at 1 and 3 bits for signatures of 32, 128 and 1024 bits.

    The study's MinHash is left out, as there.
    """
    lengths = [length for length in NEIGHBOUR_BITS if length in bits]
    pairs = [(name, length) for length in lengths for name in WITH_NEIGHBOURS]
    result = []
    for done, (name, length) in enumerate(pairs):
        progress("finding neighbours", done, len(pairs))
        signatures = distinct(counts.signatures(files, signature_name(name, length)))
        for distance in DISTANCES:
            numbers = np.minimum(neighbours(signatures, length, distance), SHOWN + 1)
            documents = np.bincount(numbers, minlength=SHOWN + 2).tolist()
            result.append(Near(name, length, distance, tuple(documents)))
    return tuple(result)


def answers(files: Sequence[Path], samples: Sequence[int], total: int) -> Answers:
    """Measure weighted TopSig by the statistics of fewer documents, and of those at arrival."""
    longest = QUESTION_BITS[-1]
    by_all = load_signatures(files, question_name(ALL, longest))
    sources: list[tuple[int, int | str]] = [*((size, size) for size in samples), (total, ALL)]
    measured = []
    for size, source in sources:
        by_source = load_signatures(files, question_name(source, longest))
        differing, close = _means(_differing_bits(by_source, by_all))
        both, either = common_pairs(_spread_words(by_source), _spread_words(by_all), longest, CLOSE)
        same = both / either if either else 1.0
        measured.append(Sample(size, _unique(files, source), differing, close, either, same))
    online = _differing_bits(load_signatures(files, question_name(ONLINE, longest)), by_all)
    arrivals = []
    for start, end in pairwise([0, *samples, total]):
        differing, close = _means(online[start:end])
        arrivals.append(Arrival(start + 1, end, differing, close))
    return Answers(tuple(measured), _unique(files, ONLINE), tuple(arrivals))


def _means(differing: NDArray[np.int64]) -> tuple[float, float]:
    """Return the mean number of bits, and the fraction of documents that look-ups still find."""
    return float(differing.mean()), float((differing <= CLOSE).mean())


def _unique(files: Sequence[Path], source: int | str) -> dict[int, int]:
    return {
        bits: len(distinct(load_signatures(files, question_name(source, bits))).documents)
        for bits in QUESTION_BITS
    }


def _differing_bits(a: NDArray[np.uint8], b: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the Hamming distance of each row to the same of another array; rows have 64 bits."""
    return count_ones(_spread_words(a ^ b))


def _spread_words(signatures: Rows) -> NDArray[np.uint64]:
    """Return signatures of 64 bits as one word each, (documents, 1)."""
    return np.ascontiguousarray(signatures).view(">u8").astype(np.uint64)


# The similarity of documents that share a signature: false collisions are of unlike texts.

PAIRS = 100
HALF = 0.5
Hashes: TypeAlias = NDArray[np.uint64]


def collision_similarity(
    texts: Iterable[str], files: Sequence[Path], bits: Sequence[int], progress: Progress
) -> tuple[CollisionSimilarity, ...]:
    """Return the similarity for every method at 16, 32 and 64 bits if they are studied."""
    pairs_by_method: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for method, length in pairs_of([length for length in bits if length in QUESTION_BITS]):
        signatures = load_signatures(files, signature_name(method.name, length))
        pairs_by_method[method.name, length] = sharing(distinct(signatures))
    needed = {position for pairs in pairs_by_method.values() for pair in pairs for position in pair}
    hashes: dict[int, Hashes] = {}
    for index, text in enumerate(texts):
        if index in needed:
            hashes[index] = grams_of(text).hashes
            progress("comparing documents", len(hashes), len(needed))
    return tuple(
        _similarity(method, length, pairs, hashes)
        for (method, length), pairs in pairs_by_method.items()
    )


def sharing(signatures: Distinct) -> list[tuple[int, int]]:
    """Return the first two documents of shared signatures, of at most 100 evenly among them."""
    order = np.argsort(signatures.place, kind="stable")
    starts = np.cumsum(signatures.documents) - signatures.documents
    shared = starts[signatures.documents > 1]
    if not len(shared):
        return []
    chosen = np.linspace(0, len(shared) - 1, min(PAIRS, len(shared))).astype(np.int64)
    return [(int(order[start]), int(order[start + 1])) for start in shared[chosen]]


def _similarity(
    method: str, bits: int, pairs: Sequence[tuple[int, int]], hashes: dict[int, Hashes]
) -> CollisionSimilarity:
    if not pairs:
        return CollisionSimilarity(method, bits, 0, None, None)
    values = np.array([_jaccard(hashes[a], hashes[b]) for a, b in pairs])
    return CollisionSimilarity(
        method, bits, len(pairs), float(values.mean()), float((values < HALF).mean())
    )


def _jaccard(a: Hashes, b: Hashes) -> float:
    common = len(np.intersect1d(a, b, assume_unique=True))
    return common / (len(a) + len(b) - common)


WORK = "work"


def study(
    source: str | Path | Store,
    out: str | Path,
    *,
    bits: Sequence[int] = STUDY_BITS,
    sample: int = STUDY_TIMED,
    keep_duplicates: bool = True,
    progress: Progress = no_progress,
) -> StudyResult:
    """Sign every text of a folder or a store by every method of the study, and measure the
    signatures.

    With `keep_duplicates` Table 2 and Figures 1 to 3 count copies, empty and numeric texts as the
    published ones do; else each distinct text once. All other numbers are of distinct texts. Texts
    and signatures lie in `out`/work until the study is done: after an interruption the same call
    goes on from them. Nothing in `out` is a document, should it lie in the folder. Times are of the
    first `sample` texts, a random choice.
    The same texts give the same numbers, times excepted. Raises `UsageError` for other
    lengths than multiples of 8 from 16 to 1024, for a source without text and for an `out` that is
    the source; `SourceNotFound`.
    """
    chosen = lengths(bits)
    work = Path(out) / WORK
    work.mkdir(parents=True, exist_ok=True)
    position = Path(source) if isinstance(source, str) else source
    texts = texts_of(position, work, progress, numeric=keep_duplicates)
    account = texts.account()
    statistics = count_features(texts, account.studied, progress)
    seconds = time_signing(texts, chosen, statistics.whole, sample, progress)
    files = sign_texts(texts, chosen, statistics, work, progress)
    documents = document_counts(texts, keep_duplicates)
    result = StudyResult(
        source=texts.source(),
        account=account,
        features=len(statistics.whole),
        bits=chosen,
        spreads=spreads(files, chosen, documents, progress),
        seconds=tuple(seconds),
        alike=collision_similarity(texts, files, chosen, progress),
        near=near(files, chosen, documents, progress),
        answers=answers(files, list(statistics.samples), account.studied),
        keep_duplicates=keep_duplicates,
        counted=documents.total,
    )
    shutil.rmtree(work)
    return result


def document_counts(texts: Texts, keep_duplicates: bool) -> DocumentCounts:
    """Return how many documents have each text, and how many have none that is signed."""
    account = texts.account()
    if not keep_duplicates:
        return DocumentCounts([1] * account.studied, 0)
    documents = texts.documents()
    return DocumentCounts(documents, account.documents - account.failed - sum(documents))
