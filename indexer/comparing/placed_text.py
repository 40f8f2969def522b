"""A text with the places of its words: cut into spans that a page can show, and into runs that say
what each stretch is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.compare import Span
from indexer.text.visible import visible_lines
from indexer.text.words import words

Mark: TypeAlias = Literal["passage", "moved", "only", "letters", "plain"]
Letters: TypeAlias = tuple[int, int] | None
"""Where in a word it differs from the one across: [start, end) of letters; None for the whole word."""
PARAGRAPH = re.compile(r"\n[ \t]*\n")
_WRAPPED = re.compile(r"(?<=[^\n]{40})\n(?=[^\s])")


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of one text, safe to show. `passage` is the number of the shared passage it belongs
    to, from 1.

    `mark`: `passage` and `moved` are shared; `only` are words that the other side does not have
    here; `letters` the part of a word in which it differs from the one across; `plain` the rest of
    what is not shared by a passage. `opens`: the passage begins here. `difference`: the number of
    the difference that begins here.
    """

    text: str
    mark: Mark = "plain"
    passage: int | None = None
    opens: bool = False
    difference: int | None = None


class PlacedText:
    """One text with the places of its words. `shown` has a blank where a long line was wrapped, at
    the same offsets.
    """

    def __init__(self, text: str) -> None:
        found = words(text)
        self.shown = _WRAPPED.sub(" ", text.replace("\r\n", " \n"))
        self.starts: NDArray[np.int64] = found.starts
        self.ends: NDArray[np.int64] = found.ends

    def words(self, span: Span) -> range:
        """The places of the words of a span."""
        return range(
            int(np.searchsorted(self.starts, span.start)),
            int(np.searchsorted(self.starts, span.end)),
        )

    def word(self, place: int) -> str:
        """One word as it is spelled."""
        return self.shown[int(self.starts[place]) : int(self.ends[place])]

    def clean(self, start: int, end: int) -> str:
        """A stretch of the text, safe to show."""
        return visible_lines(self.shown[start:end])

    def paragraphs(self, found: range) -> set[int]:
        """Places of the words, but the first, that begin a paragraph after an empty line."""
        if not found:
            return set()
        start, end = int(self.starts[found.start]), int(self.ends[found.stop - 1])
        ends = [match.end() for match in PARAGRAPH.finditer(self.shown, start, end)]
        return set(np.searchsorted(self.starts, ends).tolist()) - {found.start}

    def cuts(self, found: range, most: int, paragraphs: set[int]) -> Iterator[int]:
        """Places of the words that begin a new part: at a paragraph where there is one in time,
        else at a line's end.
        """
        place, least = found.start, max(1, most // 6)
        while place < found.stop - least:
            near = range(place + least, min(place + most + most // 2, found.stop))
            cut = next((one for one in near if one in paragraphs), None)
            if cut is None and found.stop - place <= most + most // 2:
                return
            place = self._line_end(place, most) if cut is None else cut
            yield place

    def _line_end(self, place: int, most: int) -> int:
        """The word, about `most` after a place, before which a line ends, or the one that is so
        far.
        """
        near = range(place + most, place + most // 2, -1)
        ends = (
            cut
            for cut in near
            if "\n" in self.shown[int(self.ends[cut - 1]) : int(self.starts[cut])]
        )
        return next(ends, place + most)

    def parted(self, span: Span, cuts: Sequence[int]) -> list[Span]:
        """A span cut before these words."""
        edges = [span.start, *(int(self.starts[cut]) for cut in cuts), span.end]
        return [Span(start, end, span.passage, span.moved) for start, end in pairwise(edges)]

    def packed(self, spans: Sequence[Span], most: int) -> Iterator[tuple[Span, ...]]:
        """Spans in groups of about `most` words, long ones cut."""
        group: list[Span] = []
        size = 0
        for span in spans:
            for piece in self.parted(span, list(self.cuts(self.words(span), most, set()))):
                if group and size + len(self.words(piece)) > most + most // 2:
                    yield tuple(group)
                    group, size = [], 0
                group.append(piece)
                size += len(self.words(piece))
        if group:
            yield tuple(group)

    def marked(self, span: Span, differing: Mapping[int, Letters]) -> Iterator[Run]:
        """A span that is not shared: what differs, and the rest as it is."""
        end = span.start
        for start, stop, mark in self._differing(span, differing):
            if start > end:
                yield Run(self.clean(end, start))
            yield Run(self.clean(start, stop), mark)
            end = stop
        if span.end > end:
            yield Run(self.clean(end, span.end))

    def _differing(
        self, span: Span, differing: Mapping[int, Letters]
    ) -> Iterator[tuple[int, int, Mark]]:
        """Offsets of what differs in a span; whole words that follow each other are one stretch."""
        waiting: tuple[int, int] | None = None
        for place in self.words(span):
            if place not in differing:
                continue
            start, stop, letters = int(self.starts[place]), int(self.ends[place]), differing[place]
            if waiting and (letters or place - 1 not in differing):
                yield (*waiting, "only")
                waiting = None
            if letters is None:
                waiting = (waiting[0] if waiting else start, stop)
            elif letters[0] < letters[1]:
                yield start + letters[0], start + letters[1], "letters"
        if waiting:
            yield (*waiting, "only")


def trim_blanks(runs: Sequence[Run]) -> list[Run]:
    """Runs of one cell without the white space at its beginning and end."""
    made = list(runs)
    for order, trim in ((range(len(made)), str.lstrip), (range(len(made) - 1, -1, -1), str.rstrip)):
        for place in order:
            made[place] = replace(made[place], text=trim(made[place].text))
            if made[place].text:
                break
    return made
