"""The changes from one text to another: words kept, removed and added, in reading order."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from indexer.comparing.compare import Comparison, Span, rows
from indexer.comparing.words import Words, normal_words

# Differences between two short word sequences, and between two words.

MOST_EDITS = 100  # insertions and deletions that are looked for


@dataclass(frozen=True, slots=True)
class Edit:
    """A stretch [a, a_end) of one sequence in place of [b, b_end) of the other.

    Either may be empty.
    """

    a: int
    a_end: int
    b: int
    b_end: int


def edits(a: Sequence[str], b: Sequence[str], most: int = MOST_EDITS) -> list[Edit]:
    """Return the shortest edits from a to b, in order; between two edits both are equal.

    With more than `most` single insertions and deletions everything between the common beginning
    and the common end is one edit. Time: O((N + M) * most).

    >>> edits("did you steal money".split(), "did they steal money then".split())
    [Edit(a=1, a_end=2, b=1, b_end=2), Edit(a=4, a_end=4, b=4, b_end=5)]
    """
    first, last = _ends(a, b)
    inner_a, inner_b = a[first : len(a) - last], b[first : len(b) - last]
    if not inner_a and not inner_b:
        return []
    path = _path(inner_a, inner_b, most) if inner_a and inner_b else None
    if path is None:
        return [Edit(first, len(a) - last, first, len(b) - last)]
    return list(_stretches(path, len(inner_a), len(inner_b), first))


def shared_ends(a: str, b: str) -> tuple[int, int]:
    """Count the characters that two words share at their beginning and at their end.

    No mark is separated from its letter.

    >>> shared_ends("colour", "color"), shared_ends("e\u0301", "e")
    ((4, 1), (0, 0))
    """
    first, last = _ends(a, b)
    while first and any(
        unicodedata.combining(char) for char in a[first : first + 1] + b[first : first + 1]
    ):
        first -= 1
    while last and unicodedata.combining(a[len(a) - last]):
        last -= 1
    return first, last


def _ends(a: Sequence[str], b: Sequence[str]) -> tuple[int, int]:
    """Count the equal items at the beginning and, of the rest, at the end."""
    most = min(len(a), len(b))
    first = next((place for place in range(most) if a[place] != b[place]), most)
    most -= first
    last = next((place for place in range(most) if a[-1 - place] != b[-1 - place]), most)
    return first, last


def _path(a: Sequence[str], b: Sequence[str], most: int) -> list[tuple[int, int]] | None:
    """Return the places that are equal in both on the shortest path, ascending.

    None when it has more than `most` steps.
    """
    furthest: dict[int, int] = {1: 0}
    trail: list[dict[int, int]] = []
    for steps in range(min(most, len(a) + len(b)) + 1):
        trail.append(dict(furthest))
        for diagonal in range(-steps, steps + 1, 2):
            x = _start(furthest, diagonal, steps)
            y = x - diagonal
            while 0 <= y < len(b) and x < len(a) and a[x] == b[y]:
                x, y = x + 1, y + 1
            furthest[diagonal] = x
            if x >= len(a) and y >= len(b):
                return list(_walk_back(trail, len(a), len(b)))[::-1]
    return None


def _start(furthest: dict[int, int], diagonal: int, steps: int) -> int:
    """Return the beginning of a diagonal after one more step.

    The step leads down from the diagonal above, or right from the one below.
    """
    if _is_down(furthest, diagonal, steps):
        return furthest[diagonal + 1]
    return furthest[diagonal - 1] + 1


def _is_down(furthest: dict[int, int], diagonal: int, steps: int) -> bool:
    """Return whether the step to a diagonal leads down."""
    if diagonal in (-steps, steps):
        return diagonal == -steps
    return furthest[diagonal - 1] < furthest[diagonal + 1]


def _walk_back(trail: Sequence[dict[int, int]], x: int, y: int) -> Iterator[tuple[int, int]]:
    """Yield the equal places from the end to the beginning."""
    for steps in range(len(trail) - 1, -1, -1):
        diagonal = x - y
        begin = _start(trail[steps], diagonal, steps)
        while x > begin and y > begin - diagonal:
            x, y = x - 1, y - 1
            yield x, y
        if steps:
            x, y = (x, y - 1) if _is_down(trail[steps], diagonal, steps) else (x - 1, y)


def _stretches(
    path: Sequence[tuple[int, int]], size_a: int, size_b: int, offset: int
) -> Iterator[Edit]:
    """Yield the stretches between the equal places."""
    a = b = 0
    for x, y in [*path, (size_a, size_b)]:
        if x > a or y > b:
            yield Edit(a + offset, x + offset, b + offset, y + offset)
        a, b = x + 1, y + 1


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
