"""The view of a comparison: blocks of two aligned cells, each made of marked runs of text.

Independent of HTML. Blocks are cheap to make for texts of any length; runs are made only for the
blocks that are shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Literal, TypeAlias

from indexer.comparing.compare import Comparison, Row, Span, rows
from indexer.comparing.placed_text import PARAGRAPH, Letters, PlacedText, Run, trim_blanks
from indexer.similarity.edits import Edit, edits, shared_ends
from indexer.text.visible import visible

Kind: TypeAlias = Literal["same", "changed", "left", "right"]
WORDS, COMPARED, FEW = 120, 400, 40


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch that is the same on both sides, or one that differs; either side may be empty then.

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
    """Two compared texts in blocks of about `most` words, in reading order.

    >>> from indexer.comparing.compare import compare
    >>> view = SideBySide(compare("a b c d e f. One.", "a b c d e f. Two. Three."))
    >>> [part.kind for block in view.blocks for part in block.parts], view.differences
    (['same', 'changed'], 1)
    """

    def __init__(self, comparison: Comparison, most: int = WORDS) -> None:
        self.comparison = comparison
        self._texts = tuple(map(PlacedText, comparison.texts))
        self._begins = (
            [passage.a[0] for passage in comparison.shared],
            [passage.b[0] for passage in comparison.shared],
        )
        self.blocks = list(self._make_blocks(most))

    @property
    def differences(self) -> int:
        """Return the number of stretches that differ."""
        return max((number for block in self.blocks for number in block.differences), default=0)

    def cells(self, shown: Sequence[Block]) -> Iterator[Cells]:
        """Yield the cells of blocks with their runs; words are compared inside differences of at
        most 400 words.
        """
        for block in shown:
            marked = [self._word_differences(part) for part in block.parts]
            left = self._cell(block, 0, [differing[0] for differing in marked])
            right = self._cell(block, 1, [differing[1] for differing in marked])
            yield Cells(left, right, block.same)

    def _make_blocks(self, most: int) -> Iterator[Block]:
        parts: list[Part] = []
        size = 0
        for part in self._parts(most):
            if parts and (size >= most or self._new_paragraph(parts[-1], part)):
                yield Block(tuple(parts))
                parts, size = [], 0
            parts.append(part)
            size += max(self._size(part, 0), self._size(part, 1))
        if parts:
            yield Block(tuple(parts))

    def _parts(self, most: int) -> Iterator[Part]:
        number = 0
        for row in rows(self.comparison):
            kind = _kind(row)
            if kind == "same":
                yield from (Part(kind, left, right) for left, right in self._same_parts(row, most))
                continue
            number += 1
            for nth, (left, right) in enumerate(self._other_parts(row, most)):
                yield Part(kind, left, right, None if nth else number)

    def _same_parts(
        self, row: Row, most: int
    ) -> Iterator[tuple[tuple[Span, ...], tuple[Span, ...]]]:
        """Yield one passage, cut at the same words on both sides, where a paragraph of either
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
                place - shift for place in self._texts[1].paragraphs(right_words)
            }
            cuts = list(self._texts[0].cuts(left_words, most, paragraphs))
        sides = (
            self._texts[0].split_span(left, cuts),
            self._texts[1].split_span(right, [cut + shift for cut in cuts]),
        )
        yield from (((a,), (b,)) for a, b in zip(*sides, strict=True))

    def _other_parts(
        self, row: Row, most: int
    ) -> Iterator[tuple[tuple[Span, ...], tuple[Span, ...]]]:
        """Yield what differs, each side cut independently; only the beginning of the first part is
        aligned.
        """
        sides = (
            text.pack_spans(spans, most)
            for text, spans in zip(self._texts, (row.left, row.right), strict=True)
        )
        yield from zip_longest(*sides, fillvalue=())

    def _size(self, part: Part, side: int) -> int:
        return sum(len(self._texts[side].words(span)) for span in (part.left, part.right)[side])

    def _new_paragraph(self, before: Part, part: Part) -> bool:
        """Return whether a side that both parts have begins a paragraph between them."""
        pairs = ((before.left, part.left), (before.right, part.right))
        return any(
            a and b and PARAGRAPH.search(text.shown, max(0, a[-1].end - 2), b[0].start)
            for text, (a, b) in zip(self._texts, pairs, strict=True)
        )

    def _word_differences(
        self, part: Part
    ) -> tuple[Mapping[int, Letters] | None, Mapping[int, Letters] | None]:
        """Return for each side the differing words by place; None for a part that is not compared
        word by word.
        """
        left_text, right_text = self._texts
        left_places = _unshared_places(left_text, part.left)
        right_places = _unshared_places(right_text, part.right)
        if not left_places or not right_places:
            return None, None
        if max(len(left_places), len(right_places)) > COMPARED:
            return None, None
        a = [left_text.word(place) for place in left_places]
        b = [right_text.word(place) for place in right_places]
        if len(a) + len(b) > FEW and 5 * len({*a} & {*b}) < min(len({*a}), len({*b})):
            return None, None
        left: dict[int, Letters] = {}
        right: dict[int, Letters] = {}
        for edit in edits(a, b):
            left_letters, right_letters = _letters(edit, a, b)
            left |= zip(left_places[edit.a : edit.a_end], left_letters, strict=True)
            right |= zip(right_places[edit.b : edit.b_end], right_letters, strict=True)
        return left, right

    def _cell(
        self, block: Block, side: int, marked: Sequence[Mapping[int, Letters] | None]
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
        self, span: Span, side: int, differing: Mapping[int, Letters] | None
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


def _unshared_places(text: PlacedText, spans: Sequence[Span]) -> list[int]:
    """Return the places of the words of spans that are in no shared passage."""
    return [place for span in spans if span.passage is None for place in text.words(span)]


def _letters(edit: Edit, a: Sequence[str], b: Sequence[str]) -> tuple[list[Letters], list[Letters]]:
    """Return for each word of an edit the letters [start, end) that differ from the opposite word;
    None for the whole word.
    """
    left_words, right_words = a[edit.a : edit.a_end], b[edit.b : edit.b_end]
    if len(left_words) != len(right_words):
        return [None] * len(left_words), [None] * len(right_words)
    left: list[Letters] = []
    right: list[Letters] = []
    for a_word, b_word in zip(left_words, right_words, strict=True):
        first, last = shared_ends(a_word, b_word)
        near = 2 * (first + last) >= min(len(a_word), len(b_word))
        left.append((first, len(a_word) - last) if near else None)
        right.append((first, len(b_word) - last) if near else None)
    return left, right
