"""Approved passages: what a reviewer leaves out of comparisons, wherever in a text it stands.

A passage is left out of a text that has `MIN_FRACTION` of its runs of `RUN_WORDS` words, or of the
passage itself if that is shorter: the words of these runs are removed. So a word that was changed
within a passage stays, and is compared. Regular expressions remove what they match.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.words import Words, folded_words, normal_words
from indexer.defaults import RUN_WORDS
from indexer.errors import UsageError
from indexer.fingerprinting.hashing import distinct_values, string_hashes
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

MIN_FRACTION = 0.8  # of the runs: of a passage in a text that has it; of a candidate in others
_REMEMBERED = 1 << 16  # hashes of words
Hashes: TypeAlias = NDArray[np.uint64]


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


# Stretches of a text that are replaced by blanks.

_NOT_LINE_FEED = re.compile(r"[^\n]")
Span: TypeAlias = tuple[int, int]
"""The characters [start, stop) of a text."""


def without_spans(text: str, spans: Iterable[Span]) -> str:
    """Return a text with one blank instead of each span; overlapping spans are merged.

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
    """Return a text in which each span is replaced by the result of `fill`."""
    parts = []
    position = 0
    for start, stop in _merged(spans):
        parts += [text[position:start], fill(text[start:stop])]
        position = stop
    return "".join([*parts, text[position:]])


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
        """Return a text with blanks instead of the approved passages, and these passages.

        Line feeds stay, so that all positions in the text stay the same. What is left has no
        approved passage: those that come about where others were blanked are blanked, too.
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
                if count >= MIN_FRACTION * len(own):
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
            by_width[width][number] = distinct_values(word_runs(words, width))
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
    return _KnownRuns(passages, distinct_values(np.concatenate(list(passages.values()))), numbers)


def _are_among(runs: NDArray[np.uint64], hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return which runs are among sorted hashes, of which there is one at least."""
    positions = np.searchsorted(hashes, runs)
    positions[positions == len(hashes)] = 0
    result: NDArray[np.bool_] = hashes[positions] == runs
    return result


def _covered(is_run: NDArray[np.bool_], width: int, count: int) -> NDArray[np.bool_]:
    """Return which of `count` words are in a run of `width` words that is flagged by its place."""
    changes = np.zeros(count + 1, dtype=np.int64)
    positions = np.flatnonzero(is_run)
    changes[positions] += 1
    changes[positions + width] -= 1
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
        minimum = int(words.ends[first - 1]) if first else 0
        limit = int(words.starts[behind]) if behind < len(words) else len(text)
        while start > minimum and not text[start - 1].isspace():
            start -= 1
        while stop < limit and not text[stop].isspace():
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
    """Return the approved passages in lines of JSON, as `passages --out` writes them.

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
