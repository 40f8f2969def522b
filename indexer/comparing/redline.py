"""The changes from one text to another: words kept, removed and added, in reading order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from indexer.comparing.compare import Comparison, Span, rows
from indexer.similarity.edits import edits
from indexer.text.normal_words import normal_words
from indexer.text.word_numbers import Words

Change: TypeAlias = Literal["same", "removed", "added"]
_CURRENCY = (
    "$¢-¥\u058f\u060b\u09f2\u09f3\u09fb\u0af1\u0bf9\u0e3f\u17db\u20a0-\u20cf\ua838\ufdfc\ufe69"
    "\uff04\uffe0\uffe1\uffe5\uffe6"
)
_BEFORE = re.compile(rf"(?:[{_CURRENCY}][^\S\n]?|[-+−–±<>≤≥=≈#§])+\Z")
_AFTER = re.compile(rf"[^\S\n]?[%‰]|[^\S\n]?[{_CURRENCY}](?!\s?\d)|[°+#]+")
_MOST_SIGNS = 8  # characters before a number that are looked at
_VARIANTS = str.maketrans("−–—‑’", "----'")


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive words with the same change, the text between and after them, and their number.

    Unchanged words are written as in the later text, whose spelling, case and punctuation may
    differ; but a word with another sign of value (currency, per cent, minus, what parts the digits
    of a number) is changed.
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
    >>> compared = compare("for $400 now", "for €400 now")
    >>> [(stretch.change, stretch.text) for stretch in redline(compared)]
    [('same', 'for '), ('removed', '$400 '), ('added', '€400 '), ('same', 'now')]
    """
    a, b = (_WordText(text) for text in comparison.texts)
    for change, place, end in _changes(comparison, a, b):
        text = a if change == "removed" else b
        yield Stretch(change, text.between(place, end), end - place)


def redline_in_lines(comparison: Comparison) -> Iterator[Stretch]:
    """Yield `redline` for a page: blanks and line ends that both texts have are in neither change,
    and no two words are joined.
    """
    yield from _keep_apart(_keep_blanks(redline(comparison)))


def _keep_blanks(stretches: Iterable[Stretch]) -> Iterator[Stretch]:
    """Yield stretches in which blanks after exchanged words are kept where both texts have them.

    A stretch has the blanks after its last word, which may end a paragraph.

    >>> stretches = Stretch("removed", "roof\\n\\n", 1), Stretch("added", "it\\n\\n", 1)
    >>> [(stretch.change, stretch.text) for stretch in _keep_blanks(stretches)]
    [('removed', 'roof'), ('added', 'it'), ('same', '\\n\\n')]
    """
    removed: Stretch | None = None
    for stretch in stretches:
        if removed and stretch.change == "added":
            blanks = stretch.text[len(stretch.text.rstrip()) :]
            if removed.text[len(removed.text.rstrip()) :] == blanks:
                yield replace(removed, text=removed.text.rstrip())
                yield replace(stretch, text=stretch.text.rstrip())
                yield Stretch("same", blanks, 0)
                removed = None
                continue
        if removed:
            yield removed
        removed = stretch if stretch.change == "removed" else None
        if not removed:
            yield stretch
    if removed:
        yield removed


def _keep_apart(stretches: Iterable[Stretch]) -> Iterator[Stretch]:
    """Yield stretches with a deleted blank where words of the first text would be joined: text that
    is kept has the blanks of the second one.
    """
    last = " "
    for stretch in stretches:
        if stretch.change != "added" and stretch.text:
            if not last.isspace() and not stretch.text[0].isspace():
                yield Stretch("removed", " ", 0)
            last = stretch.text[-1]
        yield stretch


class _WordText:
    """A text, its words, and where each begins with the signs of value before it."""

    def __init__(self, text: str) -> None:
        self.text, self.words = text, normal_words(text)
        ends = self.words.ends.tolist()
        gaps = zip([0, *ends], self.words.starts.tolist(), strict=False)
        self._starts = [self._start(*gap) for gap in gaps]
        self._ends = ends

    def between(self, place: int, end: int) -> str:
        """Return the text of words [place, end) up to the next word; text before the first word of
        all belongs to that word.
        """
        first = self._starts[place] if place else 0
        last = self._starts[end] if end < len(self._starts) else len(self.text)
        return self.text[first:last]

    def signs(self, place: int) -> tuple[str, str]:
        """Return the signs of value before and after a word, without blanks and variants."""
        start, end = int(self.words.starts[place]), self._ends[place]
        before = self.text[self._starts[place] : start]
        after = _AFTER.match(self.text, end)
        rest = self.text[end : end + 2]
        parting = rest[:1] if rest[1:].isdigit() and self.text[end - 1].isdigit() else ""
        sides = before, after.group() if after else parting
        plain_before, plain_after = ("".join(side.translate(_VARIANTS).split()) for side in sides)
        return plain_before, plain_after

    def _start(self, end: int, start: int) -> int:
        """Return where a number begins with its signs, `end` being where the word before ends."""
        if not self.text[start].isdigit():
            return start
        before = _BEFORE.search(self.text, max(end, start - _MOST_SIGNS), start)
        return before.start() if before else start


def _changes(
    comparison: Comparison, a: _WordText, b: _WordText
) -> Iterator[tuple[Change, int, int]]:
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


def _pieces(
    comparison: Comparison, a: _WordText, b: _WordText
) -> Iterator[tuple[Change, int, int]]:
    folded_a, folded_b = a.words.folded, b.words.folded
    for row in rows(comparison):
        left, right = _words(row.left, a.words), _words(row.right, b.words)
        x, y = left.start, right.start
        if not row.same:
            for edit in edits(folded_a[left.start : left.stop], folded_b[right.start : right.stop]):
                ends = left.start + edit.a, right.start + edit.b
                yield from _same(a, b, range(x, ends[0]), range(y, ends[1]))
                x, y = left.start + edit.a_end, right.start + edit.b_end
                yield "removed", ends[0], x
                yield "added", ends[1], y
        yield from _same(a, b, range(x, left.stop), range(y, right.stop))


def _same(
    a: _WordText, b: _WordText, left: range, right: range
) -> Iterator[tuple[Change, int, int]]:
    """Yield equal words of both texts, and those whose signs of value differ as changed."""
    first = right.start
    if len(left) == len(right):
        for x, y in zip(left, right, strict=True):
            if a.signs(x) != b.signs(y):
                yield "same", first, y
                yield "removed", x, x + 1
                yield "added", y, y + 1
                first = y + 1
    yield "same", first, right.stop


def _words(spans: tuple[Span, ...], text_words: Words) -> range:
    """Return the places of the words of adjacent spans."""
    if not spans:
        return range(0)
    return range(*np.searchsorted(text_words.starts, [spans[0].start, spans[-1].end]).tolist())
