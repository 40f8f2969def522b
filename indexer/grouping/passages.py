"""The passages that occur in many documents of a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from indexer.comparing.approved_passages import Passage, PassageFinder, RunCounter, word_runs
from indexer.comparing.words import normal_words
from indexer.defaults import MEMORY_MEGABYTES, MIN_FAMILIES, MIN_PASSAGE_WORDS, RUN_WORDS
from indexer.errors import UsageError
from indexer.grouping.group_options import memory_budget
from indexer.model import Progress, Row, no_progress
from indexer.stores.abilities import FullStore
from indexer.stores.requirements import require_recipe

_EDGE = 0.2  # share of a text that is its top, and its foot
_MOST = 0.8  # share of the documents that have a passage there
_REPORTED = 100  # documents between two reports of progress


@dataclass(frozen=True, slots=True)
class PassagesOptions:
    """Options of `passages`: which of them are listed.

    `least`: the fewest families in which a passage occurs, 2 or more; `words`: the fewest words of
    it, `RUN_WORDS` or more. Raises `UsageError` for less.
    """

    least: int = MIN_FAMILIES
    words: int = MIN_PASSAGE_WORDS

    def __post_init__(self) -> None:
        if self.least < 2:
            raise UsageError(f"a repeated passage occurs in 2 families or more, not {self.least}")
        if self.words < RUN_WORDS:
            raise UsageError(f"a passage has {RUN_WORDS} words or more, not {self.words}")


@dataclass(frozen=True, slots=True)
class PassagePlace:
    """A document that has a passage.

    `position`: how far from its beginning the passage begins, in words, as a share in [0, 1).
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
    places: tuple[PassagePlace, ...]

    @property
    def families(self) -> int:
        """Return the number of families of the documents."""
        return len({place.family for place in self.places})

    @property
    def folders(self) -> int:
        """Return the number of folders of the documents."""
        return len({str(PurePosixPath(place.path).parent) for place in self.places})

    @property
    def where(self) -> str:
        """Return where it begins in four of five documents: `top`, `foot` or `anywhere`.

        `top` and `foot` are the first and the last fifth of a document's words.
        """
        top = sum(place.position < _EDGE for place in self.places)
        foot = sum(place.position >= 1 - _EDGE for place in self.places)
        most = _MOST * len(self.places)
        if top >= most:
            return "top"
        return "foot" if foot >= most else "anywhere"


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

    All texts are read twice. `memory`: megabytes to count runs in, 1 or more; beside it, about 16
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
    documents: list[PassagePlace] = []
    lengths: list[int] = []
    for number, row, is_first in _rows(store, "finding passages", total, progress):
        words = normal_words(row.text)
        finder.add(number, word_runs(words), is_first)
        documents.append(PassagePlace(row.id, row.path, row.family, 0.0))
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
    store: FullStore, passage: Passage, documents: Sequence[PassagePlace], lengths: Sequence[int]
) -> RepeatedPassage | None:
    """Return a passage with its text; None if the document that it was read in has changed."""
    first = documents[passage.origin.text]
    row = store.get([first.id]).get(first.id)
    words = normal_words(row.text) if row else None
    if row is None or words is None or len(words) < passage.origin.stop:
        return None
    start = int(words.starts[passage.origin.start])
    stop = int(words.ends[passage.origin.stop - 1])
    places = []
    for text, begin in passage.occurrences:
        document = documents[text]
        position = begin / lengths[text]
        places.append(PassagePlace(document.id, document.path, document.family, position))
    places.sort(key=lambda place: (place.path, place.id))
    return RepeatedPassage(row.text[start:stop], passage.words, tuple(places))
