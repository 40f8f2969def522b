"""Clauses and sections of a text, as places in it: by numbers and headings, by paragraphs where
there are none. `clauses_v1`.

A clause runs from its heading to the next one. Its number and heading are metadata, for the same
clause stands under another number in each contract: what is compared is its `body` alone. Text
before the first heading, and text under a heading without a number, is divided into paragraphs.
Items "(a)", "(i)" without a title of their own stay in the clause they belong to.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from indexer.text.clauses.contents import contents
from indexer.text.clauses.headings import TITLE, Marker, capitals, heading, is_titled, marker

MOST = 10_000
_BREAK = "\n\r\v\f\x85\u2028\u2029"
_LINE = re.compile(f"(?:[ \t\xa0]*[{_BREAK}])+|[^{_BREAK}]+(?:\r\n|[{_BREAK}]|$)")
_STATED = re.compile(
    r"[.;:!?\u2026。；：！？][\"'\u201d\u2019)\]\u00bb]*\s*$|[;,]\s*(?:and|or|und|oder|et|y|e)\s*$",
    re.IGNORECASE,
)
_IN_A_ROW = frozenset({"bare", "letter", "roman"})
_LONG_LINE, _SHORT_LINE, _TITLE_LINES, _TAIL = 120, 60, 2, 40


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading that extraction knows of: character offsets [start, end) in the text, level from
    1.
    """

    start: int
    end: int
    level: int = TITLE


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause of a text: characters [start, end), without white space at either end.

    `body` is where the number and the heading are over, start <= body <= end; equal to `end` for a
    heading with nothing under it. `label` is the number as written ("Section 7.9", "(m)"),
    `heading` the title ("Leverage Ratio"); either may be empty, and a paragraph under a heading
    repeats that heading. `level` is 1 for an article or schedule, more for what lies below, 0 for a
    paragraph under no heading.
    """

    start: int
    end: int
    body: int
    label: str = ""
    heading: str = ""
    level: int = 0


@dataclass(frozen=True, slots=True)
class _Cut:
    """A place where a clause begins. `whole`: it is not divided into paragraphs. `kept`: False for
    a table of contents.
    """

    start: int
    body: int
    label: str = ""
    heading: str = ""
    level: int = 0
    whole: bool = True
    kept: bool = True


def clauses(text: str, structure: Sequence[Heading] | None = None) -> list[Clause]:
    """The clauses of a text in order, disjoint; together they hold all of it but white space and
    tables of contents.

    `structure` are headings that extraction knows (of html, of docx): each begins a clause, beside
    those found here. Of more than 10,000 clauses the last one runs to the end of the text. A text
    of white space has none.

    >>> text = "1. Fees. The Client shall pay as Section 2 says.\\n2. Term. One year."
    >>> [(one.label, one.heading, text[one.body : one.end]) for one in clauses(text)]
    [('1', 'Fees', 'The Client shall pay as Section 2 says.'), ('2', 'Term', 'One year.')]
    """
    page = _Page(text, structure or ())
    cuts = [_Cut(0, 0, whole=False), *page.cuts()]
    ends = [*(cut.start for cut in cuts[1:]), len(text)]
    found = [
        one
        for cut, end in zip(cuts, ends, strict=True)
        if cut.kept
        for one in page.divided(cut, end)
    ]
    return (
        found
        if len(found) <= MOST
        else [*found[: MOST - 1], replace(found[MOST - 1], end=found[-1].end)]
    )


class _Page:
    """A text in lines, and the cuts that are found in going through them once."""

    def __init__(self, text: str, structure: Sequence[Heading]) -> None:
        self.text = text
        self.lines = [found.span() for found in _LINE.finditer(text)]
        self.starts = [start for start, _ in self.lines]
        self.given = {
            self._line_at(one.start): one for one in structure if text[one.start : one.end].strip()
        }
        self.rows: dict[str, int] = {}
        # the line after a heading, or after a table of contents: another heading may follow at once
        self.after = 0
        long = sum(end - start for start, end in self.lines if end - start > _LONG_LINE)
        self.unwrapped = 2 * long > len(text)
        self.blanks = any(not text[start:end].strip() for start, end in self.lines)

    def cuts(self) -> Iterator[_Cut]:
        """Where clauses begin, in order. What follows a table of contents without a heading begins
        there too.
        """
        tables = {run.start: run.stop for run in contents(self.text, self.lines)}
        at, resumed = 0, False
        while at < len(self.lines):
            start = self.starts[at]
            if at in tables:
                cut: _Cut | None = _Cut(start, start, kept=False)
                end = self.after = tables[at]
            else:
                cut = self._cut(at) or (_Cut(start, start, whole=False) if resumed else None)
                end = self._end_of_heading(cut) if cut else at + 1
            if cut:
                yield cut
            at, resumed = end, at in tables

    def _end_of_heading(self, cut: _Cut) -> int:
        """The line to go on with after a cut. Where its heading fills its lines, another heading
        may follow at once.
        """
        last = self._line_at(max(cut.body - 1, cut.start))
        if cut.body >= self._end(last):
            self.after = last + 1
        return last + 1

    def divided(self, cut: _Cut, end: int) -> Iterator[Clause]:
        """A clause as it is, or as its paragraphs: the first holds the heading, the others repeat
        it as metadata.
        """
        if cut.whole:
            yield from self._clause(cut, cut.start, cut.body, end)
            return
        start = cut.start
        for first, last in self._paragraphs(cut.body, end):
            yield from self._clause(cut, start if start < cut.body else first, first, last)
            start = end
        if start < cut.body:
            yield from self._clause(cut, start, cut.body, end)

    def _clause(self, cut: _Cut, start: int, body: int, end: int) -> Iterator[Clause]:
        start, end = _stripped(self.text, start, end)
        if start < end:
            body = _stripped(self.text, min(max(body, start), end), end)[0]
            yield Clause(start, end, body, cut.label, cut.heading, cut.level)

    def _paragraphs(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Pieces of [first, last): between blank lines; lines where most are long; else up to a
        line that ends a sentence.
        """
        start = first
        for at in range(self._line_at(first), len(self.lines)):
            end = min(self.lines[at][1], last)
            line = self.text[self.starts[at] : end]
            if (
                self.unwrapped
                or not line.strip()
                or (not self.blanks and _states(line))
                or end == last
            ):
                if self.text[start:end].strip():
                    yield start, end
                start = end
            if end == last:
                return

    def _cut(self, at: int) -> _Cut | None:
        """The clause that begins in a line, if one does."""
        start = self.starts[at]
        line = self._line(at)
        if given := self.given.get(at):
            found = marker(line)
            words = self.text[start + found.rest if found else given.start : given.end]
            label = found.label if found else ""
            return _Cut(
                start, given.end, label, " ".join(words.split()), given.level, whole=bool(label)
            )
        if not line.strip() or not self._may_begin(at):
            return None
        if (found := marker(line)) and self._in_row(found):
            return self._marked(at, line, found)
        last = self._capitals(at)
        if last is None:
            return None
        end = self._end(last)
        return _Cut(start, end, "", " ".join(self.text[start:end].split()), TITLE, whole=False)

    def _marked(self, at: int, line: str, found: Marker) -> _Cut:
        """A numbered clause; a number alone on its line has its title in the next one, where that
        reads like one.
        """
        start = self.starts[at]
        title, body = heading(line, found)
        if found.rest >= len(line.rstrip()) and (below := self._next(at)) is not None:
            other = self._line(below)
            if (
                marker(other) is None
                and below not in self.given
                and (capitals(other) or is_titled(other.strip()))
            ):
                return _Cut(start, self._end(below), found.label, other.strip(), found.level)
        elif title and body >= len(line) and not is_titled(title) and self._goes_on(at + 1):
            title, body = "", found.rest
        return _Cut(start, start + body, found.label, title, found.level)

    def _goes_on(self, at: int) -> bool:
        """Whether a line begins like the second line of a sentence."""
        return at < len(self.lines) and self._line(at).lstrip()[:1].islower()

    def _in_row(self, found: Marker) -> bool:
        """Whether a number may stand here: what might be chance has to be the first, or the one
        after the last of its kind.
        """
        last = self.rows.get(found.kind, 0)
        place = next((place for place in found.ordinals if place in (last + 1, 1)), None)
        if place is not None:
            self.rows[found.kind] = place
        return place is not None or found.kind not in _IN_A_ROW

    def _may_begin(self, at: int) -> bool:
        """Whether a line is no second line of a sentence."""
        if at in (0, self.after) or not self._written(at - 1):
            return True
        before = self._line(at - 1)
        return (
            self.unwrapped
            or _states(before)
            or capitals(before)
            or (len(before) <= _SHORT_LINE and is_titled(before.strip()))
        )

    def _capitals(self, at: int) -> int | None:
        """The last line of a title in capitals that begins here; a paragraph in capitals is none,
        nor is a part of one.
        """
        if at not in (0, self.after) and capitals(self._line(at - 1)):
            return None
        last = at
        while last < len(self.lines) and last - at <= _TITLE_LINES and capitals(self._line(last)):
            last += 1
        goes_on = (
            last < len(self.lines)
            and (below := self._line(last)).strip()
            and below == below.upper() != below.lower()
        )
        return last - 1 if 0 < last - at <= _TITLE_LINES and not goes_on else None

    def _line(self, at: int) -> str:
        """A line without its line break."""
        return self.text[self.starts[at] : self._end(at)]

    def _next(self, at: int) -> int | None:
        return next(
            (line for line in range(at + 1, min(at + 4, len(self.lines))) if self._written(line)),
            None,
        )

    def _written(self, at: int) -> bool:
        return bool(self.text[slice(*self.lines[at])].strip())

    def _end(self, at: int) -> int:
        """Where a line's text ends: before its line break."""
        start, end = self.lines[at]
        return start + len(self.text[start:end].rstrip(_BREAK))

    def _line_at(self, place: int) -> int:
        return max(bisect_right(self.starts, place) - 1, 0)


def _states(line: str) -> bool:
    return bool(_STATED.search(line.rstrip()[-_TAIL:]))


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    """[start, end) without white space at either end; (end, start) or an empty place where there is
    nothing else.
    """
    piece = text[start:end]
    return end - len(piece.lstrip()), start + len(piece.rstrip())
