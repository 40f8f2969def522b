"""The segments of a mail: what its sender wrote, quoted and forwarded messages, and what stands
below them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, TypeAlias

from indexer.mail import client_words as words
from indexer.mail.endings import endings
from indexer.mail.headings import Heading, heading_at
from indexer.mail.initials import with_initials
from indexer.mail.quote_marks import Line, marked_lines

SegmentKind: TypeAlias = Literal[
    "reply", "quoted", "forwarded", "signature", "disclaimer", "attribution"
]
_MOST_DEPTH = 100


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a body of one kind: its characters [`start`, `stop`), `text` without quote
    marks.

    `reply`: what the sender wrote. `quoted`, `forwarded`: what another message says; `depth` is the
    number of messages between, 0 for the sender's own text. `signature`: a name, address or line of
    a telephone below a text. `disclaimer`: a legal notice or the footer of a mailing list below it.
    `attribution`: the lines above a quoted message that say whose it is. `region` is the message
    that a segment is of: the parts of a quote that answers interrupt have the same one.
    """

    kind: SegmentKind
    depth: int
    region: int
    start: int
    stop: int
    text: str


@dataclass(slots=True)
class _Region:
    """A message within the body. `marks`: the quote marks before its lines; `children`: the quote
    below it that has one mark more, until the next heading.
    """

    number: int
    depth: int
    marks: int
    kind: SegmentKind
    is_begun: bool = False
    has_heading: bool = False
    is_forward: bool = False
    child: _Region | None = None


@dataclass(frozen=True, slots=True)
class _Position:
    """A line, its message, and whether it is of the heading of one."""

    line: Line
    region: _Region
    is_heading: bool = False


@dataclass(slots=True)
class _Reader:
    """Reads lines from the first to the last; `stack` are the messages around the present line."""

    lines: Sequence[Line]
    stack: list[_Region]
    count: int = 1
    awaited: _Region | None = None

    def placed(self) -> Iterator[_Position]:
        place = 0
        while place < len(self.lines):
            line = self.lines[place]
            if not line.is_blank:
                self._enter(line.marks)
            region = self.stack[-1]
            heading = self._heading(place)
            if heading is None:
                region.is_begun |= not line.is_blank
                yield _Position(line, region)
                place += 1
                continue
            if heading.kind == "end":
                region = self._close()
            for part in self.lines[place : place + heading.lines]:
                yield _Position(part, region, is_heading=True)
            place += heading.lines
            if heading.kind != "end":
                self._open(heading, heading.kind, place)

    def _enter(self, marks: int) -> None:
        """Leave the messages with more marks, and enter those with as many as the line has."""
        while self.stack[-1].marks > marks:
            self.stack.pop()
        while self.stack[-1].marks < marks:
            outer = self.stack[-1]
            if outer.child is None:
                outer.child = self.awaited or self._new(outer, outer.marks + 1, "quoted")
            self.awaited = None
            self.stack.append(outer.child)

    def _close(self) -> _Region:
        """Leave the forwarded message that ends here, with those in it; return the one around it.

        Where none has begun, nothing is left.
        """
        marks = self.stack[-1].marks
        for place in range(len(self.stack) - 1, 0, -1):
            region = self.stack[place]
            if region.marks != marks:
                break
            if region.kind == "forwarded" and self.stack[place - 1].marks == marks:
                del self.stack[place:]
                break
        return self.stack[-1]

    def _heading(self, place: int) -> Heading | None:
        heading = heading_at(self.lines, place)
        if heading is None:
            return None
        after = self._after(place + heading.lines)
        if heading.needs_marks and (after is None or after.marks <= self.lines[place].marks):
            return None
        return heading

    def _open(self, heading: Heading, kind: Literal["quoted", "forwarded"], place: int) -> None:
        """Let a message begin below its heading: with the next line that has more marks, or here.

        Above the first text within quote marks, the heading is that of the quote itself.
        """
        region = self.stack[-1]
        if region.is_forward:
            kind = "forwarded"
        following = self._after(place)
        region.child = None
        is_marked = following is not None and following.marks > region.marks
        if region.depth and not is_marked and not region.is_begun and not region.has_heading:
            region.kind = "forwarded" if region.kind == "forwarded" else kind
            _name(region, heading)
            return
        inner = self._new(region, region.marks + is_marked, kind)
        _name(inner, heading)
        if is_marked:
            self.awaited = inner
        elif len(self.stack) < _MOST_DEPTH:
            self.stack.append(inner)

    def _after(self, place: int) -> Line | None:
        return next((line for line in self.lines[place:] if not line.is_blank), None)

    def _new(self, outer: _Region, marks: int, kind: SegmentKind) -> _Region:
        self.count += 1
        return _Region(self.count - 1, outer.depth + 1, marks, kind)


def _name(region: _Region, heading: Heading) -> None:
    """Note what a heading says of a message; `Fwd: ...` is above one that forwards another."""
    region.has_heading = not heading.is_bare
    region.is_forward = bool(words.FORWARD_SUBJECT.match(heading.subject))


def segments(body: str, subject: str = "") -> tuple[Segment, ...]:
    """Divide the body of a mail into its segments, in order; empty for one without text.

    Quote marks, also with initials (`AL> `), and the headings of `indexer.mail.headings`, say where
    a message begins. Below a heading that no line with more marks follows, the rest is the quoted
    message, as Outlook writes it. A subject such as `Fwd: ...`, also in a heading, makes what is
    quoted below it forwarded. Each line with text is in exactly one segment.

    >>> for segment in segments("At noon.\\n\\nAnn wrote:\\n> When?\\n> -- \\n> Ann\\n"):
    ...     print(segment.kind, segment.depth, repr(segment.text))
    reply 0 'At noon.'
    attribution 0 'Ann wrote:'
    quoted 1 'When?'
    signature 1 '-- \\nAnn'
    """
    own = _Region(0, 0, 0, "reply", is_forward=bool(words.FORWARD_SUBJECT.match(subject)))
    placed = list(_Reader(with_initials(marked_lines(body)), [own]).placed())
    parts: list[Segment] = []
    for _, group in groupby(placed, lambda item: (item.region.number, item.is_heading)):
        parts += _divided(list(group))
    return tuple(parts)


def _divided(run: list[_Position]) -> Iterator[Segment]:
    """Divide lines of one message, without gap, into its text and what ends it."""
    region = run[0].region
    lines = [item.line for item in run]
    if run[0].is_heading:
        yield from _segment("attribution", region, lines)
        return
    start = 0
    kind = region.kind
    for place, following in [*endings([line.text for line in lines]), (len(lines), kind)]:
        yield from _segment(kind, region, lines[start:place])
        start = place
        kind = region.kind if following == "text" else following


def _segment(kind: SegmentKind, region: _Region, lines: list[Line]) -> Iterator[Segment]:
    """Yield the segment of some lines, without empty ones around it; nothing if all are empty."""
    while lines and lines[0].is_blank:
        lines = lines[1:]
    while lines and lines[-1].is_blank:
        lines = lines[:-1]
    if lines:
        text = "\n".join(line.text for line in lines)
        yield Segment(kind, region.depth, region.number, lines[0].start, lines[-1].stop, text)
