"""Lines of a mail and the quote marks before them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_MARKS = re.compile(r"[ \t]{0,2}(?:>[ \t]?)+")
_PROMPT = re.compile(r">>> (?!>)")
_GROUPWISE = re.compile(r"(?:>[ \t]?)*(>>> ?(?=[^\s>])(?:[^<>]|<[^<>]*>)*\d[./-]\d.*>>>[ \t]*)")
_MOST_HEADING = 200
_ENVELOPE = re.compile(r">From [^\s>]")
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]+")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a body: the characters [`start`, `stop`) with its end, the number of quote marks
    before it, and its text without these.
    """

    start: int
    stop: int
    marks: int
    text: str

    @property
    def is_blank(self) -> bool:
        """True for a line without text."""
        return not self.text.strip()


def marked_lines(body: str) -> list[Line]:
    """Return the lines of a body with their quote marks.

    A mark is `>`, blanks may stand between. `>From ` below a line without marks is a line that a
    mailbox escaped, and `>>> ` is a prompt of Python as long as no line has a mark: both are text,
    the former without that mark. So are the three marks on either side of a heading of GroupWise,
    such as `>>> Ann 5/3/2024 >>>`.

    >>> [(line.marks, line.text) for line in marked_lines("No.\\n> Yes?\\n>> > Well\\n")]
    [(0, 'No.'), (1, 'Yes?'), (3, 'Well')]
    """
    return list(_lines(body))


def _lines(body: str) -> Iterator[Line]:
    start = 0
    before = most = 0
    for line in body.splitlines(keepends=True):
        text = _INVISIBLE.sub("", line.rstrip("\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"))
        marks = 0
        match = _MARKS.match(text)
        heading = len(text) <= _MOST_HEADING and _GROUPWISE.fullmatch(text)
        is_text = (before == 0 and _ENVELOPE.match(text)) or (most == 0 and _PROMPT.match(text))
        if is_text:
            text = text.removeprefix(">") if _ENVELOPE.match(text) else text
        elif heading:
            marks = text[: heading.start(1)].count(">")
            text = heading[1]
        elif match:
            marks = match[0].count(">")
            text = text[match.end() :]
        yield Line(start, start + len(line), marks, text)
        start += len(line)
        before = marks
        most = max(most, marks)
