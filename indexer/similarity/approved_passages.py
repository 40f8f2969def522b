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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.errors import UsageError
from indexer.similarity.omissions import NO_OMISSION, Omission
from indexer.similarity.repeated_passages import LEAST_SHARE, RUN_WORDS, word_runs
from indexer.text.normal_words import folded_words, normal_words
from indexer.text.spans import Span, blank_spans, without_spans
from indexer.text.word_numbers import Words

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
