"""The view of a comparison: two texts in aligned blocks of marked runs, and a small map of it."""

from __future__ import annotations

import operator
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile, zip_longest
from typing import Literal, TypeAlias

from indexer.comparing.compare import Comparison, Edit, Row, Span, edits, rows
from indexer.comparing.words import normal_words
from indexer.wording import visible, visible_lines

Mark: TypeAlias = Literal["passage", "moved", "only", "letters", "plain"]
CharacterSpans: TypeAlias = tuple[int, int] | None
"""The letters [start, end) of a word that differ from the opposite one; None for all of them."""
PARAGRAPH = re.compile(r"\n[ \t]*\n")
_WRAPPED = re.compile(r"(?<=[^\n]{40})\n(?=[^\s])")


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of one text, safe to show. `passage` is the number of the shared passage it belongs
    to, from 1.

    `mark`: `passage` and `moved` are shared; `only` are words that the other side does not have
    here; `letters` the part of a word in which it differs from the opposite word; `plain` the rest
    of what is not shared by a passage. `opens`: the passage begins here. `difference`: the number
    of the difference that begins here.
    """

    text: str
    mark: Mark = "plain"
    passage: int | None = None
    opens: bool = False
    difference: int | None = None


class PlacedText:
    """One text with the positions of its words. `unwrapped` has a blank where a long line was
    wrapped, at the same offsets.
    """

    def __init__(self, text: str) -> None:
        text_words = normal_words(text)
        self.unwrapped = _WRAPPED.sub(" ", text.replace("\r\n", " \n"))
        self.starts: list[int] = text_words.starts.tolist()
        self.ends: list[int] = text_words.ends.tolist()

    def words(self, span: Span) -> range:
        """Return the positions of the words of a span."""
        return range(bisect_left(self.starts, span.start), bisect_left(self.starts, span.end))

    def word(self, position: int) -> str:
        """Return one word as written."""
        return self.unwrapped[self.starts[position] : self.ends[position]]

    def clean(self, start: int, end: int) -> str:
        """Return a stretch of the text, safe to show."""
        return visible_lines(self.unwrapped[start:end])

    def paragraphs(self, positions: range) -> set[int]:
        """Return the positions of the words, but the first, that follow an empty line."""
        if not positions:
            return set()
        start, end = self.starts[positions.start], self.ends[positions.stop - 1]
        ends = [match.end() for match in PARAGRAPH.finditer(self.unwrapped, start, end)]
        return {bisect_left(self.starts, end) for end in ends} - {positions.start}

    def cuts(self, positions: range, limit: int, paragraphs: set[int]) -> Iterator[int]:
        """Yield the positions of the words that begin a new part: at a paragraph that is near
        enough, else at the end of a line.
        """
        position, minimum = positions.start, max(1, limit // 6)
        while position < positions.stop - minimum:
            near = range(position + minimum, min(position + limit + limit // 2, positions.stop))
            cut = next(
                (near_position for near_position in near if near_position in paragraphs), None
            )
            if cut is None and positions.stop - position <= limit + limit // 2:
                return
            position = self._line_end(position, limit) if cut is None else cut
            yield position

    def _line_end(self, position: int, limit: int) -> int:
        """Return the word, about `limit` after a position, before which a line ends, else the word
        at that distance.
        """
        near = range(position + limit, position + limit // 2, -1)
        ends = (
            cut for cut in near if "\n" in self.unwrapped[self.ends[cut - 1] : self.starts[cut]]
        )
        return next(ends, position + limit)

    def split_span(self, span: Span, cuts: Sequence[int]) -> list[Span]:
        """Return a span cut before these words."""
        edges = [span.start, *(self.starts[cut] for cut in cuts), span.end]
        return [Span(start, end, span.passage, span.moved) for start, end in pairwise(edges)]

    def pack_spans(self, spans: Sequence[Span], limit: int) -> Iterator[tuple[Span, ...]]:
        """Yield spans in groups of about `limit` words, long ones cut."""
        group: list[Span] = []
        size = 0
        for span in spans:
            for piece in self.split_span(span, list(self.cuts(self.words(span), limit, set()))):
                if group and size + len(self.words(piece)) > limit + limit // 2:
                    yield tuple(group)
                    group, size = [], 0
                group.append(piece)
                size += len(self.words(piece))
        if group:
            yield tuple(group)

    def marked_runs(self, span: Span, differing: Mapping[int, CharacterSpans]) -> Iterator[Run]:
        """Yield the runs of a span that is not shared: differing words, and the rest."""
        end = span.start
        for start, stop, mark in self._differing(span, differing):
            if start > end:
                yield Run(self.clean(end, start))
            yield Run(self.clean(start, stop), mark)
            end = stop
        if span.end > end:
            yield Run(self.clean(end, span.end))

    def _differing(
        self, span: Span, differing: Mapping[int, CharacterSpans]
    ) -> Iterator[tuple[int, int, Mark]]:
        """Yield offsets and mark of what differs in a span; consecutive whole words are one
        stretch.
        """
        waiting: tuple[int, int] | None = None
        for position in self.words(span):
            if position not in differing:
                continue
            start = self.starts[position]
            stop = self.ends[position]
            characters = differing[position]
            if waiting and (characters or position - 1 not in differing):
                yield (*waiting, "only")
                waiting = None
            if characters is None:
                waiting = (waiting[0] if waiting else start, stop)
            elif characters[0] < characters[1]:
                yield start + characters[0], start + characters[1], "letters"
        if waiting:
            yield (*waiting, "only")


def trim_blanks(runs: Sequence[Run]) -> list[Run]:
    """Return the runs of one cell without white space at its beginning and end."""
    trimmed = list(runs)
    for order, trim in (
        (range(len(trimmed)), str.lstrip),
        (range(len(trimmed) - 1, -1, -1), str.rstrip),
    ):
        for position in order:
            trimmed[position] = replace(trimmed[position], text=trim(trimmed[position].text))
            if trimmed[position].text:
                break
    return trimmed


# Blocks of two aligned cells, each made of marked runs of text.

Kind: TypeAlias = Literal["same", "changed", "left", "right"]
WORDS, COMPARED, FEW = 120, 400, 40


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch that is the same in both texts, or one that differs; either text may be empty then.

    `difference` numbers stretches that differ, from 1; None where they are the same, and in what
    continues a long difference.
    """

    kind: Kind
    left: tuple[Span, ...]
    right: tuple[Span, ...]
    difference: int | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """Parts that are read as one paragraph; the next block begins at the same height on both
    sides.
    """

    parts: tuple[Part, ...]

    @property
    def same(self) -> bool:
        """Return whether both sides have the same text."""
        return all(part.kind == "same" for part in self.parts)

    @property
    def differences(self) -> tuple[int, ...]:
        """Return the numbers of the differences that begin here."""
        return tuple(part.difference for part in self.parts if part.difference is not None)


@dataclass(frozen=True, slots=True)
class Cells:
    """The two cells of a block; an empty one has no runs."""

    left: tuple[Run, ...]
    right: tuple[Run, ...]
    same: bool


@dataclass(frozen=True, slots=True)
class Fact:
    """A property of both documents, such as their content type; an empty string where unknown."""

    name: str
    left: str
    right: str

    @property
    def same(self) -> bool:
        """Return whether both documents have the same value."""
        return self.left == self.right


class SideBySide:
    """Two compared texts in blocks of about `limit` words, in reading order.

    >>> from indexer.comparing.compare import compare
    >>> view = SideBySide(compare("a b c d e f. One.", "a b c d e f. Two. Three."))
    >>> [part.kind for block in view.blocks for part in block.parts], view.differences
    (['same', 'changed'], 1)
    """

    def __init__(self, comparison: Comparison, limit: int = WORDS) -> None:
        self.comparison = comparison
        self._texts = tuple(map(PlacedText, comparison.texts))
        self._begins = (
            [passage.a[0] for passage in comparison.shared],
            [passage.b[0] for passage in comparison.shared],
        )
        self.blocks = list(self._make_blocks(limit))

    @property
    def differences(self) -> int:
        """Return the number of stretches that differ."""
        return max((number for block in self.blocks for number in block.differences), default=0)

    def cells(self, blocks: Sequence[Block]) -> Iterator[Cells]:
        """Yield the cells of blocks with their runs; words are compared inside differences of at
        most 400 words.
        """
        for block in blocks:
            marked = [self._word_differences(part) for part in block.parts]
            left = self._cell(block, 0, [differing[0] for differing in marked])
            right = self._cell(block, 1, [differing[1] for differing in marked])
            yield Cells(left, right, block.same)

    def _make_blocks(self, limit: int) -> Iterator[Block]:
        parts: list[Part] = []
        size = 0
        for part in self._parts(limit):
            if parts and (size >= limit or self._new_paragraph(parts[-1], part)):
                yield Block(tuple(parts))
                parts, size = [], 0
            parts.append(part)
            size += max(self._size(part, 0), self._size(part, 1))
        if parts:
            yield Block(tuple(parts))

    def _parts(self, limit: int) -> Iterator[Part]:
        number = 0
        for row in rows(self.comparison):
            kind = _kind(row)
            if kind == "same":
                yield from (Part(kind, left, right) for left, right in self._same_parts(row, limit))
                continue
            number += 1
            for nth, (left, right) in enumerate(self._other_parts(row, limit)):
                yield Part(kind, left, right, None if nth else number)

    def _same_parts(
        self, row: Row, limit: int
    ) -> Iterator[tuple[tuple[Span, ...], tuple[Span, ...]]]:
        """Yield one passage, cut at the same words in both texts, where a paragraph of either
        begins.
        """
        [left], [right] = row.left, row.right
        left_words, right_words = (
            text.words(span) for text, span in zip(self._texts, (left, right), strict=True)
        )
        shift = right_words.start - left_words.start
        cuts: list[int] = []
        if len(left_words) == len(right_words):
            paragraphs = self._texts[0].paragraphs(left_words) | {
                position - shift for position in self._texts[1].paragraphs(right_words)
            }
            cuts = list(self._texts[0].cuts(left_words, limit, paragraphs))
        sides = (
            self._texts[0].split_span(left, cuts),
            self._texts[1].split_span(right, [cut + shift for cut in cuts]),
        )
        yield from (((a,), (b,)) for a, b in zip(*sides, strict=True))

    def _other_parts(
        self, row: Row, limit: int
    ) -> Iterator[tuple[tuple[Span, ...], tuple[Span, ...]]]:
        """Yield what differs, each text cut independently; only the beginning of the first part is
        aligned.
        """
        sides = (
            text.pack_spans(spans, limit)
            for text, spans in zip(self._texts, (row.left, row.right), strict=True)
        )
        yield from zip_longest(*sides, fillvalue=())

    def _size(self, part: Part, side: int) -> int:
        return sum(len(self._texts[side].words(span)) for span in (part.left, part.right)[side])

    def _new_paragraph(self, before: Part, part: Part) -> bool:
        """Return whether a side that both parts have begins a paragraph between them."""
        pairs = ((before.left, part.left), (before.right, part.right))
        return any(
            a and b and PARAGRAPH.search(text.unwrapped, max(0, a[-1].end - 2), b[0].start)
            for text, (a, b) in zip(self._texts, pairs, strict=True)
        )

    def _word_differences(
        self, part: Part
    ) -> tuple[Mapping[int, CharacterSpans] | None, Mapping[int, CharacterSpans] | None]:
        """Return for each text the differing words by position; None for a part that is not
        compared word by word.
        """
        left_text, right_text = self._texts
        left_positions = _unshared_positions(left_text, part.left)
        right_positions = _unshared_positions(right_text, part.right)
        if not left_positions or not right_positions:
            return None, None
        if max(len(left_positions), len(right_positions)) > COMPARED:
            return None, None
        a = [left_text.word(position) for position in left_positions]
        b = [right_text.word(position) for position in right_positions]
        if len(a) + len(b) > FEW and 5 * len({*a} & {*b}) < min(len({*a}), len({*b})):
            return None, None
        left: dict[int, CharacterSpans] = {}
        right: dict[int, CharacterSpans] = {}
        for edit in edits(a, b):
            left_characters, right_characters = _character_spans(edit, a, b)
            left |= zip(left_positions[edit.a : edit.a_end], left_characters, strict=True)
            right |= zip(right_positions[edit.b : edit.b_end], right_characters, strict=True)
        return left, right

    def _cell(
        self, block: Block, side: int, marked: Sequence[Mapping[int, CharacterSpans] | None]
    ) -> tuple[Run, ...]:
        text = self._texts[side]
        runs: list[Run] = []
        end: int | None = None
        for part, differing in zip(block.parts, marked, strict=True):
            fresh = part.difference
            for span in (part.left, part.right)[side]:
                if end is not None and span.start > end:
                    runs.append(Run(text.clean(end, span.start)))
                for run in self._runs(span, side, differing):
                    runs.append(run if fresh is None else replace(run, difference=fresh))
                    fresh = None
                end = span.end
            if fresh is not None:
                runs.append(Run("", "plain", difference=fresh))
        return tuple(trim_blanks(runs))

    def _runs(
        self, span: Span, side: int, differing: Mapping[int, CharacterSpans] | None
    ) -> Iterator[Run]:
        text = self._texts[side]
        if span.passage is not None:
            opens = span.start <= self._begins[side][span.passage - 1]
            yield Run(
                text.clean(span.start, span.end),
                "moved" if span.moved else "passage",
                span.passage,
                opens,
            )
        elif differing is None:
            yield Run(text.clean(span.start, span.end), "only")
        else:
            yield from text.marked_runs(span, differing)


def facts(left: Mapping[str, str], right: Mapping[str, str]) -> list[Fact]:
    """Return the properties of two documents, in the order of the first, then those that only the
    second has; safe to show.
    """
    names = dict.fromkeys((*left, *right))
    return [
        Fact(visible(name), visible(left.get(name, "")), visible(right.get(name, "")))
        for name in names
    ]


def _kind(row: Row) -> Kind:
    if row.same:
        return "same"
    if row.left and row.right:
        return "changed"
    return "left" if row.left else "right"


def _unshared_positions(text: PlacedText, spans: Sequence[Span]) -> list[int]:
    """Return the positions of the words of spans that are in no shared passage."""
    return [position for span in spans if span.passage is None for position in text.words(span)]


def _character_spans(
    edit: Edit, a: Sequence[str], b: Sequence[str]
) -> tuple[list[CharacterSpans], list[CharacterSpans]]:
    """Return for each word of an edit the letters [start, end) that differ from the opposite word;
    None for the whole word.
    """
    left_words, right_words = a[edit.a : edit.a_end], b[edit.b : edit.b_end]
    if len(left_words) != len(right_words):
        return [None] * len(left_words), [None] * len(right_words)
    left: list[CharacterSpans] = []
    right: list[CharacterSpans] = []
    for a_word, b_word in zip(left_words, right_words, strict=True):
        first, last = shared_ends(a_word, b_word)
        near = 2 * (first + last) >= min(len(a_word), len(b_word))
        left.append((first, len(a_word) - last) if near else None)
        right.append((first, len(b_word) - last) if near else None)
    return left, right


def _equal_items(a: str, b: str) -> int:
    return sum(takewhile(bool, map(operator.eq, a, b)))


def shared_ends(a: str, b: str) -> tuple[int, int]:
    """Count the characters that two words share at their beginning and at their end.

    No mark is separated from its letter.

    >>> shared_ends("colour", "color"), shared_ends("e\u0301", "e")
    ((4, 1), (0, 0))
    """
    first = _equal_items(a, b)
    last = _equal_items(a[first:][::-1], b[first:][::-1])
    while first and any(map(unicodedata.combining, a[first : first + 1] + b[first : first + 1])):
        first -= 1
    while last and unicodedata.combining(a[len(a) - last]):
        last -= 1
    return first, last


# A small map of a comparison: how much differs along the texts.

SEGMENTS = 24


@dataclass(slots=True)
class MapSegment:
    """An equal share of the length of both texts side by side.

    `differing`: the fraction of its characters that stand in differences. `first` and `last`: the
    numbers of the differences that begin in it, None without one; `block` is the position of the
    block in which the first of them begins. `moved`: it has a passage that stands in another order
    in the other text.
    """

    differing: float = 0.0
    first: int | None = None
    last: int | None = None
    block: int = 0
    moved: bool = False


def difference_map(blocks: Sequence[Block]) -> Sequence[MapSegment]:
    """Return the map of blocks in reading order, in at most `SEGMENTS` segments.

    No more than there are parts; empty without any characters.
    """
    parts = [(index, part) for index, block in enumerate(blocks) for part in block.parts]
    sizes = [_size(part) for _, part in parts]
    count = min(SEGMENTS, len(parts))
    if not sum(sizes):
        return []
    width = sum(sizes) / count
    segments = [MapSegment() for _ in range(count)]
    start = 0
    for (index, part), size in zip(parts, sizes, strict=True):
        last_character = start + max(0, size - 1)
        first = min(count - 1, int(start / width))
        last = min(count - 1, int(last_character / width))
        if part.difference is not None:
            _begin(segments[first], part.difference, index)
        moved = any(span.moved for span in (*part.left, *part.right))
        for number in range(first, last + 1):
            segments[number].moved |= moved
            if part.kind != "same":
                overlap = min(start + size, (number + 1) * width) - max(start, number * width)
                fraction = segments[number].differing + max(0.0, overlap / width)
                segments[number].differing = min(1.0, fraction)
        start += size
    return segments


def _begin(segment: MapSegment, number: int, block: int) -> None:
    if segment.first is None:
        segment.first, segment.block = number, block
    segment.last = number


def _size(part: Part) -> int:
    """Return the length of the longer side of a part, in characters."""
    left, right = (sum(_lengths(side)) for side in (part.left, part.right))
    return max(left, right)


def _lengths(spans: Sequence[Span]) -> Iterator[int]:
    return (span.end - span.start for span in spans)
