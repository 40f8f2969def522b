"""The segments of a mail: what its sender wrote, quoted and forwarded messages, and what stands
below them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Literal, TypeAlias

from indexer.documents.mail.message import MailMessage
from indexer.documents.mail.quote_headings import (
    CLOSINGS,
    DEVICE,
    DISCLAIMER,
    FORWARD_SUBJECT,
    LIST_FOOTER,
    POSTSCRIPT,
    SUBJECT_MARKS,
    Heading,
    Line,
    formatted,
    heading_at,
    marked_lines,
    segment_words,
    with_initials,
)

# The end of a message below its text: a signature, a legal notice, the footer of a list.

EndingKind: TypeAlias = Literal["signature", "text", "disclaimer"]
_MAX_SIGNATURE, _MAX_CLOSING, _MAX_DEVICE, _MAX_WIDTH = 20, 8, 2, 90
_MAX_NAME, _MIN_SENTENCE = 4, 3
_ADDRESS = re.compile(r"@|://|www\.|(?:\d[\s()/.-]*){5}")
_SENTENCE_END = re.compile(r"[.?!…。！？]\W*$")
_RULE = re.compile(r"\s*[-_=*~]{10,}\s*$")
_NOTICE_NAME = re.compile(
    r"\s*\W*(?:disclaimer|confidentiality notice|legal notice|avis de confidentialité|hinweis)\b",
    re.IGNORECASE,
)


def endings(lines: Sequence[str]) -> list[tuple[int, EndingKind]]:
    """Return where signature, text below it and disclaimer begin in the lines of a message, in
    order; each ends where the next one begins, or with the lines.

    A signature begins at `-- ` with at most 20 lines below it, at a line that a telephone added, or
    at a line of closing words ("Best regards,") with a name and at most 7 more short lines below
    it. It goes on with names and addresses alone: a sentence, below the name and an empty line also
    any longer line, is text again, and so is a postscript. Below `-- ` only a postscript is. A
    disclaimer begins in the first paragraph that speaks of secrecy, whom the mail is for, and what
    others must do; or at the rule above the footer of a mailing list.

    >>> endings(["See you.", "", "Kind regards,", "Ann", "", "P.S. Bring the key."])
    [(2, 'signature'), (5, 'text')]
    """
    notice = _disclaimer(lines)
    result: list[tuple[int, EndingKind]] = []
    start = 0
    while (signature := _signature(lines[start:notice])) is not None:
        first = start + signature
        start = _text_below(lines[:notice], first)
        result += [(first, "signature"), (start, "text")]
    if start == notice and result:
        result.pop()
    if notice < len(lines):
        result.append((notice, "disclaimer"))
    return result


def _text_below(lines: Sequence[str], signature: int) -> int:
    """Return the first line of text below a signature, the number of lines if there is none."""
    is_marked = lines[signature].rstrip() == "--"
    is_named = not _is_closing(lines[signature])
    for position in range(signature + 1, len(lines)):
        line = lines[position]
        if POSTSCRIPT.match(line):
            return position
        if is_marked or not line.strip():
            continue
        is_below = is_named and not lines[position - 1].strip()
        if _is_sentence(line, _MIN_SENTENCE) or (is_below and _is_prose(lines, position)):
            return position
        is_named = True
    return len(lines)


def _is_prose(lines: Sequence[str], start: int) -> bool:
    """Return whether a line of the paragraph that starts here is longer than a name or ends a
    sentence; those with addresses do not count.
    """
    return any(
        _is_sentence(line, 1) or (len(line.split()) > _MAX_NAME and not _ADDRESS.search(line))
        for line in _paragraph(lines, start)
    )


def _is_sentence(line: str, minimum: int) -> bool:
    """Return whether a line of so many words at least ends a sentence and has no address."""
    is_ended = len(line.split()) >= minimum and _SENTENCE_END.search(line)
    return bool(is_ended) and not _ADDRESS.search(line)


def _paragraph(lines: Sequence[str], start: int) -> Sequence[str]:
    stop = start
    while stop < len(lines) and lines[stop].strip():
        stop += 1
    return lines[start:stop]


def _disclaimer(lines: Sequence[str]) -> int:
    """Return the first line of the disclaimer, the number of lines if there is none."""
    start = 0
    while start < len(lines):
        stop = start
        while stop < len(lines) and lines[stop].strip():
            stop += 1
        if stop > start:
            line = _in_paragraph(lines, start, stop)
            if line is not None:
                return line
        start = stop + 1
    return len(lines)


def _in_paragraph(lines: Sequence[str], start: int, stop: int) -> int | None:
    """Return where in a paragraph a disclaimer begins, its rule above included."""
    for position in range(start, stop):
        first = lines[position + 1][:80] if position + 1 < stop else ""
        if lines[position].rstrip() == "--" and LIST_FOOTER.search(first):
            return position
        if _RULE.match(lines[position]):
            near = "\n".join(lines[position + 1 : position + 5])
            if LIST_FOOTER.search(near) or _is_notice(near):
                return position
    text = "\n".join(lines[start:stop])
    if _is_group_footer(text):
        return start
    return _first_line_of_notice(lines, start, stop) if _is_notice(text) else None


def _first_line_of_notice(lines: Sequence[str], start: int, stop: int) -> int:
    """Return the first line of a paragraph that speaks of what disclaimers speak of."""
    for position in range(start, stop):
        if _NOTICE_NAME.search(lines[position]) or _topics(lines[position]):
            return position
    return start


def _topics(text: str) -> int:
    """Return of how many things a text speaks that disclaimers speak of, 0 to 3."""
    return sum(bool(topic.search(text)) for topic in DISCLAIMER)


def _is_notice(text: str) -> bool:
    topics = _topics(text)
    return topics == 3 or (topics >= 1 and bool(_NOTICE_NAME.match(text)))


def _is_group_footer(text: str) -> bool:
    return "you received this message because you are subscribed" in text.lower()


def _signature(lines: Sequence[str]) -> int | None:
    """Return the first line of the signature."""
    left = sum(bool(line.strip()) for line in lines)
    for index, line in enumerate(lines):
        left -= bool(line.strip())
        limit = _max_below(line)
        if limit is None or left > limit:
            continue
        widest = max(map(len, lines[index + 1 :]), default=0)
        if not _is_closing(line) or (left and widest <= _MAX_WIDTH):
            return index
    return None


def _max_below(line: str) -> int | None:
    """Return how many lines may stand below a line that begins a signature; None for others."""
    if line.rstrip() == "--":
        return _MAX_SIGNATURE
    if len(line) <= _MAX_WIDTH and DEVICE.match(line.strip()):
        return _MAX_DEVICE
    return _MAX_CLOSING if _is_closing(line) else None


def _is_closing(line: str) -> bool:
    said = line.strip().rstrip("!.,;，。 ").casefold()
    return bool(said) and said in CLOSINGS


SegmentKind: TypeAlias = Literal[
    "reply", "quoted", "forwarded", "signature", "disclaimer", "attribution"
]
_MAX_DEPTH = 100


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a body of one kind: its characters [`start`, `stop`), `text` without quote
    marks.

    `reply`: what the sender wrote. `quoted`, `forwarded`: what another message says; `depth` is the
    number of messages between, 0 for the sender's own text. `signature`: a name, address or line of
    a telephone below a text. `disclaimer`: a legal notice or the footer of a mailing list below it.
    `attribution`: the lines above a quoted message that say whose it is. `region` is the message
    that a segment is of: the parts of a quote that replies interrupt have the same one.
    """

    kind: SegmentKind
    depth: int
    region: int
    start: int
    stop: int
    text: str


@dataclass(slots=True)
class _Region:
    """A message within the body. `marks`: the quote marks before its lines; `child`: the quote
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
        position = 0
        while position < len(self.lines):
            line = self.lines[position]
            if not line.is_blank:
                self._enter(line.marks)
            region = self.stack[-1]
            heading = self._heading(position)
            if heading is None:
                region.is_begun |= not line.is_blank
                yield _Position(line, region)
                position += 1
                continue
            if heading.kind == "end":
                region = self._close()
            for part in self.lines[position : position + heading.lines]:
                yield _Position(part, region, is_heading=True)
            position += heading.lines
            if heading.kind != "end":
                self._open(heading, heading.kind, position)

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
        for position in range(len(self.stack) - 1, 0, -1):
            region = self.stack[position]
            if region.marks != marks:
                break
            if region.kind == "forwarded" and self.stack[position - 1].marks == marks:
                del self.stack[position:]
                break
        return self.stack[-1]

    def _heading(self, position: int) -> Heading | None:
        heading = heading_at(self.lines, position)
        if heading is None:
            return None
        after = self._after(position + heading.lines)
        if heading.needs_marks and (after is None or after.marks <= self.lines[position].marks):
            return None
        return heading

    def _open(self, heading: Heading, kind: Literal["quoted", "forwarded"], position: int) -> None:
        """Let a message begin below its heading: with the next line that has more marks, or here.

        Above the first text within quote marks, the heading belongs to the quote itself.
        """
        region = self.stack[-1]
        if region.is_forward:
            kind = "forwarded"
        following = self._after(position)
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
        elif len(self.stack) < _MAX_DEPTH:
            self.stack.append(inner)

    def _after(self, position: int) -> Line | None:
        return next((line for line in self.lines[position:] if not line.is_blank), None)

    def _new(self, outer: _Region, marks: int, kind: SegmentKind) -> _Region:
        self.count += 1
        return _Region(self.count - 1, outer.depth + 1, marks, kind)


def _name(region: _Region, heading: Heading) -> None:
    """Note what a heading says of a message; `Fwd: ...` is above one that forwards another."""
    region.has_heading = not heading.is_bare
    region.is_forward = bool(FORWARD_SUBJECT.match(heading.subject))


def segments(body: str, subject: str = "") -> tuple[Segment, ...]:
    """Divide the body of a mail into its segments, in order; empty for one without text.

    Quote marks, also with initials (`AL> `), and the headings of
    `indexer.documents.mail.quote_headings`, say where a message begins. Below a heading that no
    line with more marks follows, the rest is the quoted message, as Outlook writes it. A subject
    such as `Fwd: ...`, also in a heading, makes what is quoted below it forwarded. Each line with
    text is in exactly one segment.

    >>> for segment in segments("At noon.\\n\\nAnn wrote:\\n> When?\\n> -- \\n> Ann\\n"):
    ...     print(segment.kind, segment.depth, repr(segment.text))
    reply 0 'At noon.'
    attribution 0 'Ann wrote:'
    quoted 1 'When?'
    signature 1 '-- \\nAnn'
    """
    own = _Region(0, 0, 0, "reply", is_forward=bool(FORWARD_SUBJECT.match(subject)))
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
    for position, following in [*endings([line.text for line in lines]), (len(lines), kind)]:
        yield from _segment(kind, region, lines[start:position])
        start = position
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


# A mail divided into segments, and the words of the messages in it.

CONTENT = ("reply", "quoted", "forwarded")
"""The kinds of segments that are what somebody wrote to somebody."""
_NAME = re.compile(r"[^\W\d_]{3,}")
_MAIL_ADDRESS = re.compile(r"[^\s<>()@,;:\"]+@[^\s<>()@,;:\"]+")


@dataclass(frozen=True, slots=True)
class Quote:
    """One message within a mail, its own text at depth 0: the words of all its segments of content,
    of these and what ends them, and the attribution right above it.
    """

    depth: int
    words: tuple[str, ...]
    whole: tuple[str, ...]
    attribution: str


@dataclass(frozen=True)
class ReadMail:
    """A mail with its segments."""

    message: MailMessage
    segments: tuple[Segment, ...]

    @cached_property
    def quotes(self) -> tuple[Quote, ...]:
        """The messages in the mail, in the order of their first segments; those without words are
        left out.
        """
        by_region: dict[int, list[Segment]] = {}
        attributions: dict[int, str] = {}
        above = ""
        for segment in self.segments:
            if segment.kind == "attribution":
                above = segment.text
                continue
            attributions.setdefault(segment.region, above)
            above = ""
            by_region.setdefault(segment.region, []).append(segment)
        quotes = [_quote(parts, attributions[number]) for number, parts in by_region.items()]
        return tuple(quote for quote in quotes if quote.words)

    @cached_property
    def own(self) -> tuple[str, ...]:
        """The words that the sender wrote."""
        return self.own_message.words if self.own_message else ()

    @cached_property
    def own_message(self) -> Quote | None:
        """The message of the sender; None without words."""
        return next((quote for quote in self.quotes if quote.depth == 0), None)

    @cached_property
    def inner(self) -> tuple[Quote, ...]:
        """The messages that are quoted or forwarded."""
        return tuple(quote for quote in self.quotes if quote.depth)

    @cached_property
    def subject(self) -> str:
        """The subject without `Re:`, `Fwd:` and the names of lists, folded."""
        return base_subject(self.message.subject)


def read_mail(message: MailMessage) -> ReadMail:
    """Return a mail with its segments."""
    return ReadMail(message, segments(message.body, message.subject))


def base_subject(subject: str) -> str:
    """Return a subject without marks of replies and lists, in folded words.

    >>> base_subject("AW: [list] Re[2]: The  ferry"), base_subject("Re:")
    ('the ferry', '')
    """
    return " ".join(segment_words(subject_parts(subject)[-1]))


def subject_parts(subject: str) -> list[str]:
    """Return the parts of a subject that replies keep: marks such as `[list]`, and the text below
    these and `Re:`.

    >>> subject_parts("AW: [list] Re[2]: The  ferry")
    ['[list]', 'The  ferry']
    """
    parts = []
    while (mark := SUBJECT_MARKS.match(subject)) is not None:
        subject = subject[mark.end() :]
        parts += [mark[0].strip()] if "[" in mark[0].lstrip()[:1] else []
    return [*parts, subject]


def names_sender(attribution: str, sender: str) -> bool:
    """Return whether an attribution has the address of a sender, or a part of the name.

    >>> names_sender("On Monday, Lee, Ann wrote:", "Ann Lee <al@x.org>"), names_sender("", "Ann")
    (True, False)
    """
    said = attribution.casefold()
    address = _MAIL_ADDRESS.search(sender)
    if address and address[0].casefold() in said:
        return True
    names = _NAME.findall(sender.partition("<")[0].casefold())
    words = set(_NAME.findall(said))
    return bool(names) and all(name in words for name in names)


def names_another(attribution: str, sender: str) -> bool:
    """Return whether an attribution has addresses, but neither name nor address of a sender.

    >>> names_another("Bo <bo@x.org> wrote:", "Ann <ann@x.org>"), names_another("", "Ann <a@x>")
    (True, False)
    """
    has_both = _MAIL_ADDRESS.search(attribution) and _MAIL_ADDRESS.search(sender)
    return bool(has_both) and not names_sender(attribution, sender)


def is_same(message: Quote, quote: Quote) -> bool:
    """Return whether a quote has all words of a message and no others; what ends either may be
    there or not.
    """
    texts = (quote.words, quote.whole)
    return message.words in texts or message.whole in texts


def is_same_with_names(message: Quote, quote: Quote) -> bool:
    """Return whether a quote has the words of a message and, where there is one, its attribution.

    Of two attributions that follow each other, a reply may have the second one alone.
    """
    if not message.attribution or not is_same(message, quote):
        return is_same(message, quote)
    names = [formatted(segment_words(item.attribution)) for item in (message, quote)]
    return bool(quote.attribution) and (names[0] in names[1] or names[1] in names[0])


def _quote(parts: Iterable[Segment], attribution: str) -> Quote:
    all_parts = list(parts)
    content = [part.text for part in all_parts if part.kind in CONTENT]
    return Quote(
        all_parts[0].depth,
        tuple(segment_words("\n".join(content))),
        tuple(segment_words("\n".join(part.text for part in all_parts))),
        attribution,
    )
