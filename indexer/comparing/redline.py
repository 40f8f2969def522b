"""From one version to the next: the words that stayed, went and came, in reading order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from indexer.comparing.compare import Comparison, Span, rows
from indexer.similarity.edits import edits
from indexer.text.word_numbers import Words
from indexer.text.words import words

Change: TypeAlias = Literal["same", "removed", "added"]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive words that share their fate, with what stands between them and after them, and
    how many they are.

    What stayed is spelled as in the later text, whose spelling, case and punctuation may have
    changed.
    """

    change: Change
    text: str
    words: int


def redline(comparison: Comparison) -> Iterator[Stretch]:
    """The way from the first text of a comparison to the second; what moved goes in one place and
    comes in another.

    `same` and `added` stretches hold the second text, whole and in order.

    >>> from indexer.comparing.compare import compare
    >>> [(one.change, one.text) for one in redline(compare("we may sell ten ships today", "We may sell two ships today."))]
    [('same', 'We may sell '), ('removed', 'ten '), ('added', 'two '), ('same', 'ships today.')]
    """
    a, b = (_Placed(text) for text in comparison.texts)
    for change, place, end in _changes(comparison, a.words, b.words):
        yield Stretch(change, (a if change == "removed" else b).between(place, end), end - place)


class _Placed:
    """A text cut before words."""

    def __init__(self, text: str) -> None:
        self.text, self.words = text, words(text)

    def between(self, place: int, end: int) -> str:
        """The text of words [place, end), up to the next word; what stands before the first word
        belongs to it.
        """
        starts = self.words.starts
        return self.text[
            int(starts[place]) if place else 0 : int(starts[end]) if end < len(starts) else None
        ]


def _changes(comparison: Comparison, a: Words, b: Words) -> Iterator[tuple[Change, int, int]]:
    """Stretches of words as [place, end), of the first text where they are removed, of the second
    one otherwise.
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


def _words(spans: tuple[Span, ...], found: Words) -> range:
    """The places of the words that spans without a gap hold."""
    if not spans:
        return range(0)
    return range(*np.searchsorted(found.starts, [spans[0].start, spans[-1].end]).tolist())
