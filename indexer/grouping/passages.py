"""The passages that occur in many documents of a store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.words import normal_words
from indexer.defaults import MEMORY_MEGABYTES, MIN_FAMILIES, MIN_PASSAGE_WORDS, RUN_WORDS
from indexer.errors import UsageError
from indexer.fingerprinting.hashing import distinct_sorted, distinct_values
from indexer.grouping.group_options import memory_budget
from indexer.model import Progress, Row, no_progress
from indexer.stores.abilities import FullStore
from indexer.stores.requirements import require_recipe
from indexer.system.approved_passages import MIN_FRACTION, Hashes, word_runs
from indexer.system.external_memory import MemoryBudget, Sorter

_EDGE = 0.2  # fraction of a text that is its top, and its foot
_MAX_FRACTION = 0.8  # fraction of the documents that have a passage there
_REPORTED = 100  # documents between two reports of progress


@dataclass(frozen=True, slots=True)
class PassagesOptions:
    """Options of `passages`: which of them are listed.

    `least`: the minimum number of families in which a passage occurs, 2 or more; `words`: the
    minimum number of words of it, `RUN_WORDS` or more. Raises `UsageError` for less.
    """

    least: int = MIN_FAMILIES
    words: int = MIN_PASSAGE_WORDS

    def __post_init__(self) -> None:
        if self.least < 2:
            raise UsageError(f"a repeated passage occurs in at least 2 groups, not {self.least}")
        if self.words < RUN_WORDS:
            raise UsageError(f"a passage has {RUN_WORDS} words or more, not {self.words}")


@dataclass(frozen=True, slots=True)
class PassagePosition:
    """A document that has a passage.

    `position`: how far from its beginning the passage begins, in words, as a fraction in [0, 1).
    """

    id: str
    path: str
    family: str
    position: float


@dataclass(frozen=True, slots=True)
class RepeatedPassage:
    """A passage as it stands in the first document that was read with it, and all that have it."""

    text: str
    words: int
    places: tuple[PassagePosition, ...]

    @property
    def families(self) -> int:
        """Return the number of families of the documents."""
        return len({position.family for position in self.places})

    @property
    def folders(self) -> int:
        """Return the number of folders of the documents."""
        return len({str(PurePosixPath(position.path).parent) for position in self.places})

    @property
    def where(self) -> str:
        """Return where it begins in four of five documents: `top`, `foot` or `anywhere`.

        `top` and `foot` are the first and the last fifth of a document's words.
        """
        top = sum(position.position < _EDGE for position in self.places)
        foot = sum(position.position >= 1 - _EDGE for position in self.places)
        limit = _MAX_FRACTION * len(self.places)
        if top >= limit:
            return "top"
        return "foot" if foot >= limit else "anywhere"


def passages(
    store: FullStore,
    options: PassagesOptions = PassagesOptions(),
    memory: int = MEMORY_MEGABYTES,
    progress: Progress = no_progress,
) -> Iterator[RepeatedPassage]:
    """Yield the passages that occur in many documents, wherever in the text they stand.

    Those with most documents times words come first, ties by the first document. A passage in the
    documents of one family alone is none: near duplicates share all. Words are compared as measures
    do, so that case and punctuation do not count. A document has a passage if it has four fifths of
    its runs of eight words.

    All texts are read twice. `memory`: megabytes to count runs in, 1 or more; in addition, about 16
    bytes are taken for each word in a frequent run. Raises `StoreError` when nothing was indexed
    yet.
    """
    require_recipe(store)
    counter = RunCounter(memory_budget(memory))
    total = store.counts().documents
    for _, row, is_first in _rows(store, "counting passages", total, progress):
        if is_first:
            counter.add(word_runs(normal_words(row.text)))
    finder = PassageFinder(counter.frequent(options.least), options.least, options.words)
    documents: list[PassagePosition] = []
    lengths: list[int] = []
    for number, row, is_first in _rows(store, "finding passages", total, progress):
        words = normal_words(row.text)
        finder.add(number, word_runs(words), is_first)
        documents.append(PassagePosition(row.id, row.path, row.family, 0.0))
        lengths.append(len(words))
    for passage in finder.passages():
        repeated = _read_passage(store, passage, documents, lengths)
        if repeated is not None and repeated.families >= options.least:
            yield repeated


def _rows(
    store: FullStore, stage: str, total: int, progress: Progress
) -> Iterator[tuple[int, Row, bool]]:
    """Yield the documents by number, with whether each is the first of its family."""
    seen: set[str] = set()
    for number, row in enumerate(store.scan()):
        if not number % _REPORTED:
            progress(stage, number, total)
        yield number, row, row.family not in seen
        seen.add(row.family)


def _read_passage(
    store: FullStore, passage: Passage, documents: Sequence[PassagePosition], lengths: Sequence[int]
) -> RepeatedPassage | None:
    """Return a passage with its text; None if the document that it was read in has changed."""
    first = documents[passage.origin.text]
    row = store.get([first.id]).get(first.id)
    words = normal_words(row.text) if row else None
    if row is None or words is None or len(words) < passage.origin.stop:
        return None
    start = int(words.starts[passage.origin.start])
    stop = int(words.ends[passage.origin.stop - 1])
    positions = []
    for text, begin in passage.occurrences:
        document = documents[text]
        position = begin / lengths[text]
        positions.append(PassagePosition(document.id, document.path, document.family, position))
    positions.sort(key=lambda position: (position.path, position.id))
    return RepeatedPassage(row.text[start:stop], passage.words, tuple(positions))


# Finding the passages in the runs of words that are frequent.

Part: TypeAlias = tuple[int, Hashes]
"""The place of the first run of a stretch in its text, and its runs."""


class FrequentRuns:
    """The runs that at least `minimum` of some texts have, and how many of them have each."""

    def __init__(self, runs: Hashes, minimum: int) -> None:
        """Count sorted hashes, each once for every text that has it."""
        ends = runs[minimum - 1 :]
        self._runs = distinct_sorted(runs[: len(ends)][runs[: len(ends)] == ends])
        right = np.searchsorted(runs, self._runs, side="right")
        self._texts = right - np.searchsorted(runs, self._runs, side="left")

    def texts(self, runs: Hashes) -> NDArray[np.int64]:
        """Return how many texts have each run; 0 for one that is not frequent."""
        if not len(self._runs):
            return np.zeros(len(runs), dtype=np.int64)
        positions = np.minimum(np.searchsorted(self._runs, runs), len(self._runs) - 1)
        return np.where(self._runs[positions] == runs, self._texts[positions], 0)


class RunCounter:
    """Counts the texts that have each run, within a memory budget."""

    def __init__(self, budget: MemoryBudget) -> None:
        self._sorter = Sorter(budget)

    def add(self, runs: Hashes) -> None:
        """Count the runs of one more text, each once."""
        self._sorter.add(distinct_values(runs))

    def frequent(self, minimum: int) -> FrequentRuns:
        """Return the runs that at least `minimum` texts have, 2 or more. Add nothing afterwards."""
        return FrequentRuns(self._sorter.sorted(), minimum)


class RunSpan(NamedTuple):
    """Consecutive runs of a text: the positions of the first and behind the last."""

    start: int
    stop: int


def frequent_spans(texts: NDArray[np.int64], minimum: int) -> Iterator[RunSpan]:
    """Yield the longest spans of consecutive runs that at least `minimum` texts have.

    `texts`: how many texts have each run.

    >>> list(frequent_spans(np.array([0, 5, 7, 0, 6]), 5))
    [RunSpan(start=1, stop=3), RunSpan(start=4, stop=5)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate(([0], texts >= minimum, [0]))))
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

    A passage has `min_words` or more, which are `RUN_WORDS` or more. Memory: about 16 bytes for
    each word that stands in a frequent run.
    """

    def __init__(self, frequent: FrequentRuns, minimum: int, min_words: int) -> None:
        self._frequent, self._min_documents = frequent, minimum
        self._min_runs = min_words - RUN_WORDS + 1
        self._candidates: dict[bytes, _Candidate] = {}
        self._parts: list[tuple[int, list[Part]]] = []

    def add(self, number: int, runs: Hashes, counts: bool = True) -> None:
        """Add the runs of a text. One that does not count is no evidence for a passage."""
        texts = self._frequent.texts(runs)
        self._parts.append(
            (
                number,
                [
                    (start, runs[start:stop])
                    for start, stop in frequent_spans(texts, self._min_documents)
                ],
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
        minimum, limit = self._min_documents, int(texts.max(initial=0))
        while minimum <= limit:
            for start, stop in frequent_spans(texts, minimum):
                if stop - start >= self._min_runs:
                    origin = Origin(number, start, stop + RUN_WORDS - 1)
                    part = runs[start:stop]
                    by_bytes.setdefault(part.tobytes(), _Candidate(origin, part))
            minimum *= 2
        return by_bytes

    def passages(self) -> Sequence[Passage]:
        """Return the passages that enough texts have, ties by where they were read first.

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
            for number, positions in _shared_runs(parts, numbers).items():
                if len(positions) >= MIN_FRACTION * sizes[number]:
                    passages[number].occurrences.append(Occurrence(text, min(positions)))
        kept = [passage for passage in passages if len(passage.occurrences) >= self._min_documents]
        return sorted(kept, key=lambda each: (-each.words * len(each.occurrences), each.origin))

    def _chosen(self) -> list[_Candidate]:
        """Return the candidates that several texts have, without those that better ones cover."""
        several = [candidate for candidate in self._candidates.values() if candidate.texts > 1]
        several.sort(key=lambda candidate: (-candidate.weight, candidate.origin))
        chosen: list[_Candidate] = []
        known: set[int] = set()
        for candidate in several:
            runs = set(candidate.runs.tolist())
            if len(runs & known) < MIN_FRACTION * len(runs):
                known |= runs
                chosen.append(candidate)
        return chosen


def _shared_runs(
    parts: Sequence[Part], numbers: Mapping[int, Sequence[int]]
) -> Mapping[int, Sequence[int]]:
    """Return the positions of the distinct runs that a text has of each passage, by its number."""
    positions = defaultdict(list)
    seen: set[int] = set()
    for start, runs in parts:
        for index, run in enumerate(runs.tolist(), start):
            if run not in seen:
                seen.add(run)
                for number in numbers.get(run, ()):
                    positions[number].append(index)
    return positions
