"""The changes from one text to another: words kept, removed and added, in reading order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from indexer.comparing.compare import Comparison, Span, rows
from indexer.similarity.edits import edits
from indexer.text.normal_words import normal_words
from indexer.text.word_numbers import Words

Change: TypeAlias = Literal["same", "removed", "added"]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive words with the same change, the text between and after them, and their number.

    Unchanged words are written as in the later text, whose spelling, case and punctuation may
    differ.
    """

    change: Change
    text: str
    words: int


def redline(comparison: Comparison) -> Iterator[Stretch]:
    """Yield the changes from the first text of a comparison to the second; moved text is removed in
    one place and added in another.

    `same` and `added` stretches hold the second text, whole and in order.

    >>> from indexer.comparing.compare import compare
    >>> compared = compare("we may sell ten ships today", "We may sell two ships today.")
    >>> [(stretch.change, stretch.text) for stretch in redline(compared)]
    [('same', 'We may sell '), ('removed', 'ten '), ('added', 'two '), ('same', 'ships today.')]
    """
    a, b = (_WordText(text) for text in comparison.texts)
    for change, place, end in _changes(comparison, a.words, b.words):
        text = a if change == "removed" else b
        yield Stretch(change, text.between(place, end), end - place)


class _WordText:
    """A text and its words."""

    def __init__(self, text: str) -> None:
        self.text, self.words = text, normal_words(text)

    def between(self, place: int, end: int) -> str:
        """Return the text of words [place, end) up to the next word; text before the first word of
        all belongs to that word.
        """
        starts = self.words.starts
        first = int(starts[place]) if place else 0
        last = int(starts[end]) if end < len(starts) else len(self.text)
        return self.text[first:last]


def _changes(comparison: Comparison, a: Words, b: Words) -> Iterator[tuple[Change, int, int]]:
    """Yield stretches of words as [place, end), of the first text where they are removed, else of
    the second.
    """
    pending: tuple[Change, int, int] | None = None
    for change, place, end in _pieces(comparison, a, b):
        if place == end:
            continue
        if pending and pending[0] == change and pending[2] == place:
            pending = change, pending[1], end
            continue
        if pending:
            yield pending
        pending = change, place, end
    if pending:
        yield pending


def _pieces(comparison: Comparison, a: Words, b: Words) -> Iterator[tuple[Change, int, int]]:
    folded_a, folded_b = a.folded, b.folded
    for row in rows(comparison):
        left, right = _words(row.left, a), _words(row.right, b)
        place = right.start
        if not row.same:
            for edit in edits(folded_a[left.start : left.stop], folded_b[right.start : right.stop]):
                yield "same", place, right.start + edit.b
                yield "removed", left.start + edit.a, left.start + edit.a_end
                yield "added", right.start + edit.b, right.start + edit.b_end
                place = right.start + edit.b_end
        yield "same", place, right.stop


def _words(spans: tuple[Span, ...], text_words: Words) -> range:
    """Return the places of the words of adjacent spans."""
    if not spans:
        return range(0)
    return range(*np.searchsorted(text_words.starts, [spans[0].start, spans[-1].end]).tolist())
