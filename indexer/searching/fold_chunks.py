"""Fold the chunks of a ranked list: each under the best earlier one that says the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Generic, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.criteria import NO_CRITERIA, for_folding
from indexer.comparing.measures import MEASURES, Side, check_measure
from indexer.comparing.words import Words, number_runs, shared_numbers
from indexer.defaults import FOLD, MEASURE
from indexer.errors import UsageError
from indexer.fingerprinting.hashing import number_occurrences, string_hashes
from indexer.grouping.similar_pairs import FeatureOrder, prefix_length
from indexer.grouping.words_in_common import accepts_in_common, measure_in_common
from indexer.recipe import DEFAULT

Reason: TypeAlias = Literal["similar", "passage"]
PASSAGE = 100  # words; docs/retrieval.md has the evidence
_OF_LONGER = ("lcs", "jaccard", "jaccard_words", "overlap")  # at most: in common / the longer text
_SHARED = 4  # of the rarest words of two texts that reach the threshold
_BASE = 0x9E3779B97F4A7C15  # odd, as its powers modulo 2^64 have inverses
_INVERSE = pow(_BASE, -1, 1 << 64)


@dataclass(frozen=True, slots=True)
class ChunkOptions:
    """Which chunks are folded.

    `threshold`: least similarity, above 0, at most 1, by `measure`. As in search results, measures
    of words in order fold no chunks in which words stand for the same others throughout, as where
    one template was filled in twice.
    `passage`: least length of a passage, in words, that folds two chunks which both hold it; 0: no
    chunk is folded for a passage. One no longer than the overlap of a splitter folds all
    neighbours.

    Raises `UsageError` for a value out of its range and `UnknownMeasure`.
    """

    threshold: float = FOLD
    measure: str = MEASURE
    passage: int = PASSAGE

    def __post_init__(self) -> None:
        check_measure(self.measure)
        if MEASURES[self.measure].sketch:
            raise UsageError(
                f"chunks have no sketches, which {self.measure} compares; use {MEASURE}"
            )
        if not 0 < self.threshold <= 1:
            raise UsageError(f"the threshold is above 0 and at most 1, not {self.threshold:g}")
        if self.passage < 0:
            raise UsageError(f"a passage has 1 word or more (0: none), not {self.passage}")


@dataclass(frozen=True, slots=True)
class FoldedChunk:
    """A chunk that is hidden: its place in the list, its similarity to the shown one, and why.

    `passage`: they are less similar than the threshold, and have a passage in common.
    """

    place: int
    similarity: float
    reason: Reason


@dataclass(frozen=True, slots=True)
class ShownChunk:
    """A chunk that is shown: its place in the list, and those folded under it in its order."""

    place: int
    folded: tuple[FoldedChunk, ...] = ()


def fold_chunks(
    texts: Iterable[str], options: ChunkOptions | None = None, *, limit: int = 0
) -> tuple[ShownChunk, ...]:
    """Return the texts of a ranked list that are shown, best first, with those folded under them.

    A text is folded under the first shown one to which it is similar, or with which it shares a
    passage; so no two shown ones are. Equal texts are similar even without words. `limit`: texts
    that are shown at most, 0 for any number; of the others those are left out that fold under none.
    An empty list gives an empty answer. The time grows with the number of texts, not with its square,
    by `lcs`, `jaccard`, `jaccard_words` and `overlap`.

    >>> texts = ["One two three four.", "Five six seven.", "one TWO three, four"]
    >>> for shown in fold_chunks(texts):
    ...     print(shown.place, *(hit.place for hit in shown.folded))
    0 2
    1
    """
    options = options or ChunkOptions()
    sides = [Side(text, DEFAULT) for text in texts]
    index = _ShownIndex(sides, options)
    shown: list[int] = []
    folded: list[list[FoldedChunk]] = []
    for place, side in enumerate(sides):
        for number, may_share in index.candidates(place):
            hit = _folded(place, sides[shown[number]], side, options, may_share)
            if hit is not None:
                folded[number].append(hit)
                break
        else:
            if not limit or len(shown) < limit:
                index.add(place)
                shown.append(place)
                folded.append([])
    return tuple(
        ShownChunk(place, tuple(hits)) for place, hits in zip(shown, folded, strict=True)
    )


class _ShownIndex:
    """The shown chunks by what a chunk that folds under them has in common with them.

    Two texts that reach the threshold have `_SHARED` of their rarest words, or features, in common,
    and texts with the same passage share its hash; so few pairs are compared, and none is missed.
    Measures that do not bound the words in common have every shown chunk as a candidate.
    """

    def __init__(self, sides: Sequence[Side], options: ChunkOptions) -> None:
        is_bounded = options.measure in _OF_LONGER
        self._texts = [side.text for side in sides]
        self._prefixes = _prefixes(sides, options) if is_bounded else None
        self._passages = [_passage_hashes(side.words, options.passage) for side in sides]
        self._shown: dict[object, list[int]] = {}
        self._count = 0

    def candidates(self, place: int) -> list[tuple[int, bool]]:
        """Return the numbers of the shown chunks under which a chunk may be folded, ascending.

        Each comes with whether both chunks may have a passage in common.
        """
        by_passage = self._found(self._passages[place])
        if self._prefixes is None:
            found = set(range(self._count))
        else:
            found = self._found([self._texts[place]]) | by_passage | self._similar(place)
        return [(number, number in by_passage) for number in sorted(found)]

    def _similar(self, place: int) -> set[int]:
        """Return the shown chunks that may reach the threshold."""
        assert self._prefixes is not None
        hashes, needed = self._prefixes[place]
        counts = Counter(chain.from_iterable(self._shown.get(key, ()) for key in hashes))
        return {number for number, count in counts.items() if count >= needed}

    def _found(self, keys: Iterable[object]) -> set[int]:
        lists = [self._shown[key] for key in keys if key in self._shown]
        return set().union(*lists)

    def add(self, place: int) -> None:
        """Number a chunk that is shown."""
        keys: list[object] = [self._texts[place], *self._passages[place]]
        if self._prefixes is not None:
            keys += self._prefixes[place][0]
        for key in keys:
            self._shown.setdefault(key, []).append(self._count)
        self._count += 1


def _prefixes(sides: Sequence[Side], options: ChunkOptions) -> list[tuple[list[int], int]]:
    """Return hashes for each text, and how many of them a text at the threshold has as well.

    Texts of m and n hashes at the threshold t have t * max(m, n) in common. Of these at most
    t * max(m, n) - k, the last ones in the order, lie outside the prefixes of m - t * m + k and
    n - t * n + k hashes.
    """
    order = FeatureOrder()
    uses_features = options.measure == "jaccard"
    sets = [side.features.hashes if uses_features else _occurrences(side.words) for side in sides]
    for hashes in sets:
        order.count(hashes)
    prefixes: list[tuple[list[int], int]] = []
    for hashes in sets:
        shortest = prefix_length(len(hashes), options.threshold)
        first, _ = order.first(hashes, shortest + _SHARED - 1)
        needed = min(_SHARED, len(hashes) - shortest + 1)
        prefixes.append((first.tolist(), needed))
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
    place: int, head: Side, side: Side, options: ChunkOptions, may_share: bool
) -> FoldedChunk | None:
    """Return the chunk as folded under another one, None if it is not."""
    if head.text == side.text:
        return FoldedChunk(place, 1.0, "similar")
    criteria = for_folding(NO_CRITERIA, options.measure)
    similarity, common = measure_in_common(options.measure, head, side, options.threshold)
    is_similar = similarity >= options.threshold - 1e-9
    if is_similar and accepts_in_common(criteria, head, side, common):
        return FoldedChunk(place, similarity, "similar")
    if may_share and shares_passage(head.words, side.words, options.passage):
        similarity, _ = measure_in_common(options.measure, head, side, 0.0)
        return FoldedChunk(place, similarity, "passage")
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


# The best k chunks after folding, asked of a retriever again until there are k.

Item = TypeVar("Item")
FOLDED = "near_folded"  # in the metadata of a shown chunk
MOST = 100  # chunks that are asked of a retriever at most


@dataclass(slots=True)
class TopChunks(Generic[Item]):
    """The best `k` chunks, each with those folded under it.

    While `wanted` is not 0, ask the retriever for so many chunks, best first, and `take` them: two
    for each that is to be shown at first, then twice as many as before, up to `most`. It ends when
    there are `k` to show, or the retriever gives fewer than it was asked for.

    Raises `UsageError` if `k` is below 1 or above `most`.
    """

    text: Callable[[Item], str]
    k: int
    options: ChunkOptions
    most: int = MOST
    wanted: int = field(init=False)
    items: Sequence[Item] = ()
    shown: tuple[ShownChunk, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.k <= self.most:
            raise UsageError(f"k is from 1 to {self.most} (most), not {self.k}")
        self.wanted = min(2 * self.k, self.most)

    def take(self, items: Sequence[Item]) -> None:
        """Fold the answer to a request for `wanted` chunks."""
        self.items = items
        self.shown = fold_chunks(map(self.text, items), self.options, limit=self.k)
        is_last = len(items) < self.wanted or self.wanted >= self.most
        is_done = len(self.shown) == self.k or is_last
        self.wanted = 0 if is_done else min(2 * self.wanted, self.most)
