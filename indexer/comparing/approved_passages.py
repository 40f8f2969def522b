"""Approved passages: what a reviewer leaves out of comparisons, wherever in a text it stands.

A passage is left out of a text that has `LEAST_SHARE` of its runs of `RUN_WORDS` words, or of the
passage itself if that is shorter: the words of these runs are removed. So a word that was changed
within a passage stays, and is compared. Regular expressions remove what they match.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.external_memory import MemoryBudget, Sorter
from indexer.comparing.words import Words, folded_words, normal_words
from indexer.defaults import RUN_WORDS
from indexer.errors import UsageError
from indexer.fingerprinting.hashing import distinct_sorted, string_hashes
from indexer.fingerprinting.keys import run_hashes
from indexer.wording import count_of

# Accounts of the approved passages that were left out of texts.


@dataclass(frozen=True, slots=True)
class Omission:
    """Approved passages that were left out of texts, by number, and their words in all."""

    passages: frozenset[int] = frozenset()
    words: int = 0

    def __or__(self, other: Omission) -> Omission:
        """Return what was left out of the texts of both together."""
        return Omission(self.passages | other.passages, self.words + other.words)

    def __str__(self) -> str:
        return describe_left_out(len(self.passages), self.words)


NO_OMISSION = Omission()


def describe_left_out(passages: int, words: int) -> str:
    """Return what was left out, in words.

    >>> describe_left_out(2, 84)
    '2 approved passages (84 words) left out'
    """
    return f"{count_of(passages, 'approved passage')} ({count_of(words, 'word')}) left out"


@dataclass(frozen=True, slots=True)
class OmissionSummary:
    """Totals of what a list of approved passages, given by its `id`, took out of many texts: how
    many of the passages, out of how many documents, and words in all.
    """

    id: str
    passages: int
    documents: int
    words: int

    def __str__(self) -> str:
        left_out = describe_left_out(self.passages, self.words)
        return f"{left_out} of {count_of(self.documents, 'document')}, by list {self.id}"


@dataclass(frozen=True, slots=True)
class OmissionLog:
    """Record of what a list of approved passages, given by its `id`, took out of each document, by
    the document's id; about 500 bytes for each that had any.
    """

    id: str
    documents: dict[str, Omission] = field(default_factory=dict)

    def of_pair(self, a: str, b: str) -> Omission:
        """Return what was left out of two documents."""
        return self.documents.get(a, NO_OMISSION) | self.documents.get(b, NO_OMISSION)

    def summary(self) -> OmissionSummary:
        """Return what was left out of all documents."""
        passages = {number for part in self.documents.values() for number in part.passages}
        words = sum(part.words for part in self.documents.values())
        return OmissionSummary(self.id, len(passages), len(self.documents), words)


def left_out_json(summary: OmissionSummary | None) -> dict[str, object]:
    """Return a summary as the field `left_out`; no field for None."""
    return {} if summary is None else {"left_out": asdict(summary)}


# Passages that occur in many texts: disclaimers, signatures, licences, forms.

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

    >>> from indexer.comparing.words import normal_words
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


# Stretches of a text that are replaced by blanks.

_NOT_LINE_FEED = re.compile(r"[^\n]")
Span: TypeAlias = tuple[int, int]
"""The characters [start, stop) of a text."""


def without_spans(text: str, spans: Iterable[Span]) -> str:
    """Return a text with one blank in place of each span; those that overlap are one.

    >>> without_spans("to be or not", [(3, 8), (6, 8)])
    'to   not'
    """
    return _replaced(text, spans, lambda _: " ")


def blank_spans(text: str, spans: Iterable[Span]) -> str:
    """Return a text as long, with a blank for each character of spans that is no line feed.

    >>> blank_spans("to be\\nor not", [(3, 8), (6, 8)])
    'to   \\n   not'
    """
    return _replaced(text, spans, lambda part: _NOT_LINE_FEED.sub(" ", part))


def _replaced(text: str, spans: Iterable[Span], fill: Callable[[str], str]) -> str:
    """Return a text with what `fill` makes of each span in its place."""
    parts = []
    place = 0
    for start, stop in _merged(spans):
        parts += [text[place:start], fill(text[start:stop])]
        place = stop
    return "".join([*parts, text[place:]])


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Return spans in order, those that overlap as one.

    >>> _merged([(6, 8), (3, 7), (8, 9)])
    [(3, 8), (8, 9)]
    """
    merged: list[Span] = []
    for start, stop in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(stop, merged[-1][1])
        else:
            merged.append((start, stop))
    return merged


_PASSAGE, _PATTERN = "text", "pattern"


@dataclass(frozen=True)
class ApprovedPassages:
    """Passages and regular expressions that a reviewer approved to be left out of comparisons.

    They are numbered from 0, expressions after passages. Words are compared as measures compare
    them, so that case, punctuation and wrapping do not count; `^` and `$` in an expression are the
    ends of a line. Raises `UsageError` for a passage without words, and for an expression that is
    none, or that matches no characters.
    """

    passages: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for passage, words in zip(self.passages, self._words, strict=True):
            if not words:
                raise UsageError(f"the approved passage {passage!r} has no words; remove it")
        self._expressions  # noqa: B018 - it compiles

    def __bool__(self) -> bool:
        return bool(self.passages or self.patterns)

    def words_of(self, number: int) -> tuple[str, ...]:
        """Return the words of a passage by its number."""
        return self._words[number]

    def lines(self) -> str:
        """Return the list as `approved_passages` reads it.

        >>> print(ApprovedPassages(("All rights reserved.",)).lines(), end="")
        {"text": "All rights reserved.", "approved": true}
        """
        entries = [(_PASSAGE, text) for text in self.passages]
        entries += [(_PATTERN, pattern) for pattern in self.patterns]
        return "".join(f"{json.dumps({kind: text, 'approved': True})}\n" for kind, text in entries)

    @cached_property
    def _words(self) -> Sequence[tuple[str, ...]]:
        return [tuple(folded_words(passage)) for passage in self.passages]

    @cached_property
    def id(self) -> str:
        """The first 12 hexadecimal digits of the SHA-256 of the words of the passages and of the
        expressions, whatever their order.
        """
        words = sorted({" ".join(words) for words in self._words})
        canonical = json.dumps([words, sorted(set(self.patterns))])
        return hashlib.sha256(canonical.encode("ascii")).hexdigest()[:12]

    def remove_from(self, text: str) -> tuple[str, Omission]:
        """Return a text without the approved passages, each replaced by a blank, and what they are.

        The text itself if there are none in it. What expressions match is removed first, so that a
        page stamp within a passage does not hide it.
        """
        shorter = text
        numbers: set[int] = set()
        for find in (self.pattern_spans, self.passage_spans):
            if spans := find(shorter):
                numbers |= {number for number, _ in spans}
                shorter = without_spans(shorter, [span for _, span in spans])
        return _shortened(text, shorter, numbers)

    def blank_out(self, text: str) -> tuple[str, Omission]:
        """Return a text with blanks in place of the approved passages, and what they are.

        Line feeds stay, so that all places in the text stay the same. What is left has no approved
        passage: those that come about where others were blanked are blanked, too.
        """
        shorter, numbers = self.blanked(text)
        return _shortened(text, shorter, numbers)

    def blanked(self, text: str) -> tuple[str, set[int]]:
        """Return the text that `blank_out` returns, and the numbers of the passages."""
        numbers: set[int] = set()
        before = None
        while text != before:
            before = text
            for find in (self.pattern_spans, self.passage_spans):
                spans = find(text)
                numbers |= {number for number, _ in spans}
                text = blank_spans(text, [span for _, span in spans])
        return text, numbers

    def pattern_spans(self, text: str) -> list[tuple[int, Span]]:
        """Return what expressions match in a text, with their numbers; nothing that is empty."""
        return [
            (number, match.span())
            for number, pattern in enumerate(self._expressions, len(self.passages))
            for match in pattern.finditer(text)
            if match[0]
        ]

    def passage_spans(self, text: str) -> list[tuple[int, Span]]:
        """Return the stretches of a text that are of passages, with the numbers of these."""
        words = normal_words(text)
        return [
            (number, span)
            for number, mask in self._masks(words).items()
            for span in _char_spans(text, words, mask)
        ]

    def _masks(self, words: Words) -> dict[int, NDArray[np.bool_]]:
        """Return which words of a text are of each passage that it has."""
        masks = {}
        for width, known in self._runs.items():
            runs = word_runs(words, width)
            is_known = _are_among(runs, known.hashes)
            if not is_known.any():
                continue
            counts = Counter(
                number for run in set(runs[is_known].tolist()) for number in known.numbers[run]
            )
            for number, count in counts.items():
                own = known.passages[number]
                if count >= LEAST_SHARE * len(own):
                    masks[number] = _covered(_are_among(runs, own), width, len(words))
        return masks

    @cached_property
    def _expressions(self) -> Sequence[re.Pattern[str]]:
        return [_compiled(pattern) for pattern in self.patterns]

    @cached_property
    def _runs(self) -> Mapping[int, _KnownRuns]:
        """The runs of the passages by their width in words."""
        by_width: dict[int, dict[int, NDArray[np.uint64]]] = defaultdict(dict)
        for number, passage in enumerate(self.passages):
            words = normal_words(passage)
            width = min(RUN_WORDS, len(words))
            by_width[width][number] = np.unique(word_runs(words, width))
        return {width: _known_runs(passages) for width, passages in by_width.items()}


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        expression = re.compile(pattern, re.MULTILINE)
    except re.error as error:
        raise UsageError(
            f"{pattern!r} is not a valid regular expression: {error}; correct it"
        ) from error
    if expression.search(""):
        raise UsageError(
            f"the regular expression {pattern!r} matches where there is no text; "
            "write one that needs a character at least"
        )
    return expression


NO_PASSAGES = ApprovedPassages()


@dataclass(frozen=True, slots=True)
class _KnownRuns:
    """The distinct runs of passages by number, all of them sorted, and the passages of each."""

    passages: Mapping[int, NDArray[np.uint64]]
    hashes: NDArray[np.uint64]
    numbers: Mapping[int, Sequence[int]]


def _known_runs(passages: Mapping[int, NDArray[np.uint64]]) -> _KnownRuns:
    numbers: dict[int, list[int]] = defaultdict(list)
    for number, runs in passages.items():
        for run in runs.tolist():
            numbers[run].append(number)
    return _KnownRuns(passages, np.unique(np.concatenate(list(passages.values()))), numbers)


def _are_among(runs: NDArray[np.uint64], hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return which runs are among sorted hashes, of which there is one at least."""
    places = np.searchsorted(hashes, runs)
    places[places == len(hashes)] = 0
    result: NDArray[np.bool_] = hashes[places] == runs
    return result


def _covered(is_run: NDArray[np.bool_], width: int, count: int) -> NDArray[np.bool_]:
    """Return which of `count` words are in a run of `width` words that is flagged by its place."""
    changes = np.zeros(count + 1, dtype=np.int64)
    places = np.flatnonzero(is_run)
    changes[places] += 1
    changes[places + width] -= 1
    return np.cumsum(changes[:-1]) > 0


def _char_spans(text: str, words: Words, mask: NDArray[np.bool_]) -> list[Span]:
    """Return the characters of stretches of flagged words, with the punctuation that is joined to
    them.
    """
    edges = np.flatnonzero(np.diff(np.concatenate(([0], mask, [0]))))
    spans = []
    for first, behind in edges.reshape(-1, 2).tolist():
        start = int(words.starts[first])
        stop = int(words.ends[behind - 1])
        least = int(words.ends[first - 1]) if first else 0
        most = int(words.starts[behind]) if behind < len(words) else len(text)
        while start > least and not text[start - 1].isspace():
            start -= 1
        while stop < most and not text[stop].isspace():
            stop += 1
        spans.append((start, stop))
    return spans


def _shortened(text: str, shorter: str, numbers: set[int]) -> tuple[str, Omission]:
    """Return the text without the numbered passages, and what they are; itself without any."""
    if not numbers:
        return text, NO_OMISSION
    count = len(normal_words(text)) - len(normal_words(shorter))
    return shorter, Omission(frozenset(numbers), count)


def approved_passages(lines: Iterable[str]) -> ApprovedPassages:
    """Return what is approved in lines of JSON, as `passages --out` writes them.

    A line counts if its `approved` is true; it has a `text`, or a `pattern`, which is a regular
    expression. Empty lines do not count. Raises `UsageError` for a line that is neither, and if
    nothing is approved.

    >>> approved_passages(['{"text": "All rights reserved.", "approved": true}']).passages
    ('All rights reserved.',)
    """
    approved = approved_so_far(lines)
    if not approved:
        raise UsageError('no passage is approved; give the lines to leave out "approved": true')
    return approved


def approved_so_far(lines: Iterable[str]) -> ApprovedPassages:
    """Return `approved_passages`, which may be none."""
    approved: dict[str, list[str]] = {_PASSAGE: [], _PATTERN: []}
    for number, line in enumerate(lines, 1):
        entry = _entry(line, number) if line.strip() else {}
        kind = _PATTERN if _PATTERN in entry else _PASSAGE
        if entry.get("approved") is True:
            approved[kind].append(entry[kind])
    passages, patterns = (tuple(dict.fromkeys(items)) for items in approved.values())
    return ApprovedPassages(passages, patterns)


def _entry(line: str, number: int) -> Mapping[str, Any]:
    try:
        entry = json.loads(line)
    except ValueError as error:
        raise UsageError(
            f"line {number} of the approved passages is not JSON: {error}; correct it"
        ) from error
    if isinstance(entry, dict):
        values = [entry[kind] for kind in (_PASSAGE, _PATTERN) if kind in entry]
        if len(values) == 1 and isinstance(values[0], str):
            return entry
    raise UsageError(f"line {number} of the approved passages needs a text, or a pattern")
