"""Fold the chunks of a ranked list: each under the best earlier one that says the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeAlias, TypeVar

import numpy as np

from indexer.comparing.criteria import NO_CRITERIA, for_folding
from indexer.comparing.measures import MEASURES, Side, check_measure, measure_pair
from indexer.comparing.words import Words, number_runs, shared_numbers
from indexer.defaults import FOLD, MEASURE
from indexer.errors import UsageError
from indexer.recipe import DEFAULT

Reason: TypeAlias = Literal["similar", "passage"]
PASSAGE = 100  # words; docs/retrieval.md has the evidence


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
    An empty list gives an empty answer.

    >>> texts = ["One two three four.", "Five six seven.", "one TWO three, four"]
    >>> for shown in fold_chunks(texts):
    ...     print(shown.place, *(hit.place for hit in shown.folded))
    0 2
    1
    """
    options = options or ChunkOptions()
    shown: list[tuple[int, Side]] = []
    folded: list[list[FoldedChunk]] = []
    for place, text in enumerate(texts):
        side = Side(text, DEFAULT)
        for number, (_, head) in enumerate(shown):
            reason = _reason(head, side, options)
            if reason is not None:
                similarity = _similarity(head, side, options)
                folded[number].append(FoldedChunk(place, similarity, reason))
                break
        else:
            if not limit or len(shown) < limit:
                shown.append((place, side))
                folded.append([])
    return tuple(
        ShownChunk(place, tuple(hits)) for (place, _), hits in zip(shown, folded, strict=True)
    )


def _reason(head: Side, side: Side, options: ChunkOptions) -> Reason | None:
    """Return why a chunk is folded under another one, None if it is not."""
    criteria = for_folding(NO_CRITERIA, options.measure)
    similarity = _similarity(head, side, options, options.threshold)
    is_similar = similarity >= options.threshold - 1e-9
    if is_similar and criteria.accepts_words(head.words, side.words):
        return "similar"
    if options.passage and shares_passage(head.words, side.words, options.passage):
        return "passage"
    return None


def _similarity(head: Side, side: Side, options: ChunkOptions, least: float = 0.0) -> float:
    if head.text == side.text:
        return 1.0
    return measure_pair(options.measure, head, side, least=least).similarity


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
