"""A text with the places of its words, cut into spans and into marked runs for display."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.compare import Span
from indexer.text.normal_words import normal_words
from indexer.text.visible import visible_lines

Mark: TypeAlias = Literal["passage", "moved", "only", "letters", "plain"]
Letters: TypeAlias = tuple[int, int] | None
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
    """One text with the places of its words. `shown` has a blank where a long line was wrapped, at
    the same offsets.
    """

    def __init__(self, text: str) -> None:
        text_words = normal_words(text)
        self.shown = _WRAPPED.sub(" ", text.replace("\r\n", " \n"))
        self.starts: NDArray[np.int64] = text_words.starts
        self.ends: NDArray[np.int64] = text_words.ends

    def words(self, span: Span) -> range:
        """Return the places of the words of a span."""
        return range(
            int(np.searchsorted(self.starts, span.start)),
            int(np.searchsorted(self.starts, span.end)),
        )

    def word(self, place: int) -> str:
        """Return one word as written."""
        return self.shown[int(self.starts[place]) : int(self.ends[place])]

    def clean(self, start: int, end: int) -> str:
        """Return a stretch of the text, safe to show."""
        return visible_lines(self.shown[start:end])

    def paragraphs(self, places: range) -> set[int]:
        """Return the places of the words, but the first, that follow an empty line."""
        if not places:
            return set()
        start, end = int(self.starts[places.start]), int(self.ends[places.stop - 1])
        ends = [match.end() for match in PARAGRAPH.finditer(self.shown, start, end)]
        return set(np.searchsorted(self.starts, ends).tolist()) - {places.start}

    def cuts(self, places: range, most: int, paragraphs: set[int]) -> Iterator[int]:
        """Yield the places of the words that begin a new part: at a paragraph that is near enough,
        else at the end of a line.
        """
        place, least = places.start, max(1, most // 6)
        while place < places.stop - least:
            near = range(place + least, min(place + most + most // 2, places.stop))
            cut = next((near_place for near_place in near if near_place in paragraphs), None)
            if cut is None and places.stop - place <= most + most // 2:
                return
            place = self._line_end(place, most) if cut is None else cut
            yield place

    def _line_end(self, place: int, most: int) -> int:
        """Return the word, about `most` after a place, before which a line ends, else the word at
        that distance.
        """
        near = range(place + most, place + most // 2, -1)
        ends = (
            cut
            for cut in near
            if "\n" in self.shown[int(self.ends[cut - 1]) : int(self.starts[cut])]
        )
        return next(ends, place + most)

    def split_span(self, span: Span, cuts: Sequence[int]) -> list[Span]:
        """Return a span cut before these words."""
        edges = [span.start, *(int(self.starts[cut]) for cut in cuts), span.end]
        return [Span(start, end, span.passage, span.moved) for start, end in pairwise(edges)]

    def pack_spans(self, spans: Sequence[Span], most: int) -> Iterator[tuple[Span, ...]]:
        """Yield spans in groups of about `most` words, long ones cut."""
        group: list[Span] = []
        size = 0
        for span in spans:
            for piece in self.split_span(span, list(self.cuts(self.words(span), most, set()))):
                if group and size + len(self.words(piece)) > most + most // 2:
                    yield tuple(group)
                    group, size = [], 0
                group.append(piece)
                size += len(self.words(piece))
        if group:
            yield tuple(group)

    def marked_runs(self, span: Span, differing: Mapping[int, Letters]) -> Iterator[Run]:
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
        self, span: Span, differing: Mapping[int, Letters]
    ) -> Iterator[tuple[int, int, Mark]]:
        """Yield offsets and mark of what differs in a span; consecutive whole words are one
        stretch.
        """
        waiting: tuple[int, int] | None = None
        for place in self.words(span):
            if place not in differing:
                continue
            start = int(self.starts[place])
            stop = int(self.ends[place])
            letters = differing[place]
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
    """Return the runs of one cell without white space at its beginning and end."""
    trimmed = list(runs)
    for order, trim in (
        (range(len(trimmed)), str.lstrip),
        (range(len(trimmed) - 1, -1, -1), str.rstrip),
    ):
        for place in order:
            trimmed[place] = replace(trimmed[place], text=trim(trimmed[place].text))
            if trimmed[place].text:
                break
    return trimmed
