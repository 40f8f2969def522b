"""Passages that occur in many texts: disclaimers, signatures, licences, forms.

A run is `RUN_WORDS` consecutive words. A run is frequent if at least `least` texts have it. Of each
text, the longest stretches of consecutive runs that so many texts have are candidates, for `least`
texts, twice as many, and so on: a licence under a copyright line stands in more texts than both
together. Of candidates that are mostly the same words, the one with most texts times words stays.
A text has a passage if it has most of the runs of it, in whatever place.

Frequent runs as a sign of content that was not written for a document: Broder et al., "Syntactic
clustering of the web" (WWW 1997), which leaves out the most frequent shingles.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.joins.external_sort import Sorter
from indexer.joins.memory_budget import MemoryBudget
from indexer.sketch.hashing import distinct_sorted
from indexer.sketch.passage_keys import run_hashes
from indexer.sketch.string_hashes import string_hashes
from indexer.text.word_numbers import Words

RUN_WORDS = 8
LEAST_SHARE = 0.8  # of the runs: of a passage in a text that has it; of a candidate in others
_REMEMBERED = 1 << 16  # hashes of words
Hashes: TypeAlias = NDArray[np.uint64]
Part: TypeAlias = tuple[int, Hashes]
"""The place of the first run of a stretch in its text, and its runs."""


@lru_cache(_REMEMBERED)
def _word_hash(word: str) -> int:
    return int(string_hashes([word])[0])


def word_runs(words: Words, width: int = RUN_WORDS) -> Hashes:
    """Return the hashes of all runs of `width` words of a text, in order.

    (max(0, n - width + 1),) uint64 for n words.

    >>> from indexer.text.normal_words import normal_words
    >>> runs = word_runs(normal_words("One two three four five six seven eight nine"))
    >>> len(runs), len(word_runs(normal_words("one two")))
    (2, 0)
    """
    hashes = np.fromiter(map(_word_hash, words.vocabulary), dtype=np.uint64)
    return run_hashes(hashes[words.numbers], width)


class FrequentRuns:
    """The runs that at least `least` of some texts have, and how many of them have each."""

    def __init__(self, runs: Hashes, least: int) -> None:
        """Count sorted hashes, each once for every text that has it."""
        ends = runs[least - 1 :]
        self._runs = distinct_sorted(runs[: len(ends)][runs[: len(ends)] == ends])
        right = np.searchsorted(runs, self._runs, side="right")
        self._texts = right - np.searchsorted(runs, self._runs, side="left")

    def texts(self, runs: Hashes) -> NDArray[np.int64]:
        """Return how many texts have each run; 0 for one that is not frequent."""
        if not len(self._runs):
            return np.zeros(len(runs), dtype=np.int64)
        places = np.minimum(np.searchsorted(self._runs, runs), len(self._runs) - 1)
        return np.where(self._runs[places] == runs, self._texts[places], 0)


class RunCounter:
    """Counts the texts that have each run, within a memory budget."""

    def __init__(self, budget: MemoryBudget) -> None:
        self._sorter = Sorter(budget)

    def add(self, runs: Hashes) -> None:
        """Count the runs of one more text, each once."""
        self._sorter.add(np.unique(runs))

    def frequent(self, least: int) -> FrequentRuns:
        """Return the runs that at least `least` texts have, 2 or more. Add nothing afterwards."""
        return FrequentRuns(self._sorter.sorted(), least)


class RunSpan(NamedTuple):
    """Consecutive runs of a text: the places of the first and behind the last."""

    start: int
    stop: int


def frequent_spans(texts: NDArray[np.int64], least: int) -> Iterator[RunSpan]:
    """Yield the longest spans of consecutive runs that at least `least` texts have.

    `texts`: how many texts have each run.

    >>> list(frequent_spans(np.array([0, 5, 7, 0, 6]), 5))
    [RunSpan(start=1, stop=3), RunSpan(start=4, stop=5)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate(([0], texts >= least, [0]))))
    for start, stop in edges.reshape(-1, 2).tolist():
        yield RunSpan(start, stop)


class Origin(NamedTuple):
    """The words [start, stop) of a text, by its number."""

    text: int
    start: int
    stop: int


class Occurrence(NamedTuple):
    """A text that has a passage, and the word with which it begins there."""

    text: int
    start: int


@dataclass(slots=True)
class Passage:
    """A repeated passage: where it was read first, and the texts that have it."""

    origin: Origin
    occurrences: list[Occurrence] = field(default_factory=list)

    @property
    def words(self) -> int:
        """Return the number of words."""
        return self.origin.stop - self.origin.start


@dataclass(slots=True)
class _Candidate:
    origin: Origin
    runs: Hashes
    texts: int = 0

    @property
    def weight(self) -> int:
        return self.texts * (self.origin.stop - self.origin.start)


class PassageFinder:
    """Finds the repeated passages of texts, whose frequent runs are known.

    `least_words`: of a passage, `RUN_WORDS` or more. Memory: about 16 bytes for each word that
    stands in a frequent run.
    """

    def __init__(self, frequent: FrequentRuns, least: int, least_words: int) -> None:
        self._frequent, self._least = frequent, least
        self._least_runs = least_words - RUN_WORDS + 1
        self._candidates: dict[bytes, _Candidate] = {}
        self._parts: list[tuple[int, list[Part]]] = []

    def add(self, number: int, runs: Hashes, counts: bool = True) -> None:
        """Add the runs of a text. One that does not count is no evidence for a passage."""
        texts = self._frequent.texts(runs)
        self._parts.append(
            (
                number,
                [(start, runs[start:stop]) for start, stop in frequent_spans(texts, self._least)],
            )
        )
        if counts:
            for key, candidate in self._candidates_of(number, runs, texts).items():
                self._candidates.setdefault(key, candidate).texts += 1

    def _candidates_of(
        self, number: int, runs: Hashes, texts: NDArray[np.int64]
    ) -> dict[bytes, _Candidate]:
        """Return the candidates of a text by their runs."""
        by_bytes: dict[bytes, _Candidate] = {}
        least, most = self._least, int(texts.max(initial=0))
        while least <= most:
            for start, stop in frequent_spans(texts, least):
                if stop - start >= self._least_runs:
                    origin = Origin(number, start, stop + RUN_WORDS - 1)
                    part = runs[start:stop]
                    by_bytes.setdefault(part.tobytes(), _Candidate(origin, part))
            least *= 2
        return by_bytes

    def passages(self) -> Sequence[Passage]:
        """Return the passages that at least `least` texts have, ties by where they were read first.

        Those with most texts times words come first.
        """
        chosen = self._chosen()
        passages = [Passage(candidate.origin) for candidate in chosen]
        sizes = [len(set(candidate.runs.tolist())) for candidate in chosen]
        numbers = defaultdict(list)
        for number, candidate in enumerate(chosen):
            for run in set(candidate.runs.tolist()):
                numbers[run].append(number)
        for text, parts in self._parts:
            for number, places in _shared_runs(parts, numbers).items():
                if len(places) >= LEAST_SHARE * sizes[number]:
                    passages[number].occurrences.append(Occurrence(text, min(places)))
        kept = [passage for passage in passages if len(passage.occurrences) >= self._least]
        return sorted(kept, key=lambda each: (-each.words * len(each.occurrences), each.origin))

    def _chosen(self) -> list[_Candidate]:
        """Return the candidates that several texts have, without those that better ones cover."""
        several = [candidate for candidate in self._candidates.values() if candidate.texts > 1]
        several.sort(key=lambda candidate: (-candidate.weight, candidate.origin))
        chosen: list[_Candidate] = []
        known: set[int] = set()
        for candidate in several:
            runs = set(candidate.runs.tolist())
            if len(runs & known) < LEAST_SHARE * len(runs):
                known |= runs
                chosen.append(candidate)
        return chosen


def _shared_runs(
    parts: Sequence[Part], numbers: Mapping[int, Sequence[int]]
) -> Mapping[int, Sequence[int]]:
    """Return the places of the distinct runs that a text has of each passage, by its number."""
    places = defaultdict(list)
    seen: set[int] = set()
    for start, runs in parts:
        for place, run in enumerate(runs.tolist(), start):
            if run not in seen:
                seen.add(run)
                for number in numbers.get(run, ()):
                    places[number].append(place)
    return places
