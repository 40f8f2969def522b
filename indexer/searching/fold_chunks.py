"""Fold the chunks of a ranked list: each under the best earlier one that says the same."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Generic, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.criteria import NO_CRITERIA, for_folding
from indexer.comparing.measures import ComparedText, check_measure, measure_named
from indexer.comparing.words import Words, number_runs, shared_numbers
from indexer.defaults import FOLD, MEASURE
from indexer.errors import UsageError
from indexer.fingerprinting.hashing import number_occurrences, string_hashes
from indexer.grouping.words_in_common import accepts_in_common, measure_in_common
from indexer.recipe import DEFAULT

Reason: TypeAlias = Literal["similar", "passage"]
PASSAGE = 100  # words; docs/retrieval.md has the evidence
_OF_LONGER = ("lcs", "jaccard", "jaccard_words", "overlap")  # in common / the longer text, or less
_SHARED = 4  # of the rarest words of two texts that reach the threshold
_BASE = 0x9E3779B97F4A7C15  # odd, as its powers modulo 2^64 have inverses
_INVERSE = pow(_BASE, -1, 1 << 64)


@dataclass(frozen=True, slots=True)
class ChunkOptions:
    """Which chunks are folded.

    `threshold`: minimum similarity, above 0, at most 1, by `measure`. As in search results,
    measures of words in order fold no chunks in which words stand for the same others throughout,
    as where one template was filled in twice.
    `passage`: minimum length of a passage, in words, that folds two chunks which both hold it; 0:
    no chunk is folded for a passage. One no longer than the overlap of a splitter folds all
    neighbours.

    Raises `UsageError` for a value out of its range and `UnknownMeasure`.
    """

    threshold: float = FOLD
    measure: str = MEASURE
    passage: int = PASSAGE

    def __post_init__(self) -> None:
        check_measure(self.measure)
        if measure_named(self.measure).sketch:
            raise UsageError(
                f"chunks have no sketches, which {self.measure} compares; use {MEASURE}"
            )
        if not 0 < self.threshold <= 1:
            raise UsageError(f"the threshold is above 0 and at most 1, not {self.threshold:g}")
        if self.passage < 0:
            raise UsageError(f"a passage has 1 word or more (0: none), not {self.passage}")


@dataclass(frozen=True, slots=True)
class FoldedChunk:
    """A chunk that is hidden: its position in the list, its similarity to the chunk shown, and why.

    `passage`: they are less similar than the threshold, and have a passage in common.
    """

    place: int
    similarity: float
    reason: Reason


@dataclass(frozen=True, slots=True)
class ShownChunk:
    """A chunk that is shown: its position in the list, and the chunks folded under it in order."""

    place: int
    folded: tuple[FoldedChunk, ...] = ()


def fold_chunks(
    texts: Iterable[str], options: ChunkOptions | None = None, *, limit: int = 0
) -> tuple[ShownChunk, ...]:
    """Return the texts of a ranked list that are shown, best first, with those folded under them.

    A text is folded under the first shown one to which it is similar, or with which it shares a
    passage; so no two shown ones are. Equal texts are similar even without words. `limit`: texts
    that are shown at most, 0 for any number; of the others those are left out that fold under none.
    An empty list gives an empty result. By `lcs`, `jaccard`, `jaccard_words` and `overlap` the time
    grows with the number of texts, not with its square.

    >>> texts = ["One two three four.", "Five six seven.", "one TWO three, four"]
    >>> for shown in fold_chunks(texts):
    ...     print(shown.place, *(hit.place for hit in shown.folded))
    0 2
    1
    """
    options = options or ChunkOptions()
    chunks = [ComparedText(text, DEFAULT) for text in texts]
    index = _ChunkIndex(chunks, options)
    kept: list[int] = []
    folded: list[list[FoldedChunk]] = []
    for position, chunk in enumerate(chunks):
        for number, may_have_passage in index.candidates(position):
            hit = _folded(position, chunks[kept[number]], chunk, options, may_have_passage)
            if hit is not None:
                folded[number].append(hit)
                break
        else:
            if not limit or len(kept) < limit:
                index.add(position)
                kept.append(position)
                folded.append([])
    return tuple(
        ShownChunk(position, tuple(hits)) for position, hits in zip(kept, folded, strict=True)
    )


class _ChunkIndex:
    """The kept chunks, by what a chunk that folds under them has in common with them.

    Two texts that reach the threshold have `_SHARED` of their rarest words, or features, in common,
    and texts with the same passage share its hash; so few pairs are compared, and none is missed.
    Measures that do not bound the words in common have every kept chunk as a candidate.
    """

    def __init__(self, chunks: Sequence[ComparedText], options: ChunkOptions) -> None:
        is_bounded = options.measure in _OF_LONGER
        self._texts = [chunk.text for chunk in chunks]
        self._prefixes = _prefixes(chunks, options) if is_bounded else None
        self._passages = [_passage_hashes(chunk.words, options.passage) for chunk in chunks]
        self._numbers: dict[object, list[int]] = {}
        self._count = 0

    def candidates(self, position: int) -> list[tuple[int, bool]]:
        """Return the numbers of the kept chunks under which a chunk may be folded, ascending.

        Each comes with whether both chunks may have a passage in common.
        """
        by_passage = self._found(self._passages[position])
        if self._prefixes is None:
            found = set(range(self._count))
        else:
            found = self._found([self._texts[position]]) | by_passage | self._similar(position)
        return [(number, number in by_passage) for number in sorted(found)]

    def _similar(self, position: int) -> set[int]:
        """Return the kept chunks that may reach the threshold."""
        assert self._prefixes is not None
        hashes, needed = self._prefixes[position]
        counts = Counter(chain.from_iterable(self._numbers.get(key, ()) for key in hashes))
        return {number for number, count in counts.items() if count >= needed}

    def _found(self, keys: Iterable[object]) -> set[int]:
        lists = [self._numbers[key] for key in keys if key in self._numbers]
        return set().union(*lists)

    def add(self, position: int) -> None:
        """Number a chunk that is kept."""
        keys: list[object] = [self._texts[position], *self._passages[position]]
        if self._prefixes is not None:
            keys += self._prefixes[position][0]
        for key in keys:
            self._numbers.setdefault(key, []).append(self._count)
        self._count += 1


def _prefixes(texts: Sequence[ComparedText], options: ChunkOptions) -> list[tuple[list[int], int]]:
    """Return hashes for each text, and how many of them a text at the threshold has as well.

    Texts of m and n hashes at the threshold t have t * max(m, n) in common. Of these up to
    t * max(m, n) - k, the last ones in the order, lie outside the prefixes of m - t * m + k and
    n - t * n + k hashes.
    """
    uses_features = options.measure == "jaccard"
    sets = [text.features.hashes if uses_features else _occurrences(text.words) for text in texts]
    _, inverse, counts = np.unique(
        np.concatenate([*sets, np.zeros(0, np.uint64)]), return_inverse=True, return_counts=True
    )
    frequencies = np.split(counts[inverse.reshape(-1)], np.cumsum([len(hashes) for hashes in sets]))
    prefixes: list[tuple[list[int], int]] = []
    for hashes, frequency in zip(sets, frequencies, strict=False):
        in_common = math.ceil(options.threshold * len(hashes) - 1e-6)
        needed = min(_SHARED, in_common)
        rarest_first = np.lexsort((hashes, frequency))
        first = rarest_first[: len(hashes) - in_common + needed]
        prefixes.append((hashes[first].tolist(), needed))
    return prefixes


def _occurrences(words: Words) -> NDArray[np.uint64]:
    return number_occurrences(string_hashes(words.vocabulary)[words.numbers])


def _passage_hashes(words: Words, width: int) -> list[tuple[str, int]]:
    """Return a hash of each run of `width` words, none if it is 0."""
    count = len(words) - width + 1
    if not width or count < 1:
        return []
    powers, inverses = (
        np.cumprod(np.full(len(words), base, np.uint64)) for base in (_BASE, _INVERSE)
    )
    values = string_hashes(words.vocabulary)[words.numbers] * powers
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(values)])
    runs = (sums[width:] - sums[:-width]) * inverses[:count]
    return [("passage", run) for run in dict.fromkeys(runs.tolist())]


def _folded(
    position: int,
    above: ComparedText,
    chunk: ComparedText,
    options: ChunkOptions,
    may_have_passage: bool,
) -> FoldedChunk | None:
    """Return the chunk as folded under another one, None if it is not."""
    if above.text == chunk.text:
        return FoldedChunk(position, 1.0, "similar")
    criteria = for_folding(NO_CRITERIA, options.measure)
    threshold = options.threshold
    [(similarity, common)] = measure_in_common(options.measure, above, [chunk], threshold)
    is_similar = similarity >= options.threshold - 1e-9
    if is_similar and accepts_in_common(criteria, above, chunk, common):
        return FoldedChunk(position, similarity, "similar")
    if may_have_passage and shares_passage(above.words, chunk.words, options.passage):
        [(similarity, _)] = measure_in_common(options.measure, above, [chunk], 0.0)
        return FoldedChunk(position, similarity, "passage")
    return None


def shares_passage(a: Words, b: Words, words: int) -> bool:
    """Return whether both texts hold the same `words` words, 1 or more, one after the other.

    >>> from indexer.comparing.words import normal_words
    >>> a, b = normal_words("as the crow flies"), normal_words("The crow flies home.")
    >>> shares_passage(a, b, 3), shares_passage(a, b, 4)
    (True, False)
    """
    runs_a, runs_b = number_runs(*shared_numbers(a, b), words)
    return bool(np.isin(runs_a, runs_b).any())


# The best k chunks after folding, requested from a retriever until there are k.

Item = TypeVar("Item")
FOLDED = "near_folded"  # in the metadata of a shown chunk
MAX_CHUNKS = 100  # chunks that are requested from a retriever at most


@dataclass(slots=True)
class TopChunks(Generic[Item]):
    """The best `k` chunks, each with those folded under it.

    While `wanted` is not 0, ask the retriever for so many chunks, best first, and `take` them: two
    for each that is to be shown at first, then twice as many as before, up to `max_chunks`. It ends
    when there are `k` to show, or the retriever gives fewer than requested.

    Raises `UsageError` if `k` is below 1 or above `max_chunks`.
    """

    text: Callable[[Item], str]
    k: int
    options: ChunkOptions
    max_chunks: int = MAX_CHUNKS
    wanted: int = field(init=False)
    items: Sequence[Item] = ()
    chunks: tuple[ShownChunk, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.k <= self.max_chunks:
            raise UsageError(f"k is from 1 to {self.max_chunks}, not {self.k}")
        self.wanted = min(2 * self.k, self.max_chunks)

    def take(self, items: Sequence[Item]) -> None:
        """Fold the response to a request for `wanted` chunks."""
        self.items = items
        self.chunks = fold_chunks(map(self.text, items), self.options, limit=self.k)
        is_last = len(items) < self.wanted or self.wanted >= self.max_chunks
        is_done = len(self.chunks) == self.k or is_last
        self.wanted = 0 if is_done else min(2 * self.wanted, self.max_chunks)
