"""Divide a text into clauses and sections: by numbers and headings, else by paragraphs.

The versions are `clauses_v1`, `clauses_v2` with the headings of `heading_v2`, and `clauses_v3`
with the headings of `heading_v3`.

A clause runs from its heading to the next one. Its number and heading are metadata, for the same
clause stands under another number in each contract: its `body` alone is compared. Text
before the first heading, and text under a heading without a number, is divided into paragraphs.
Items "(a)", "(i)" without a title of their own stay in the clause they belong to.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from indexer.comparing.clauses.headings import (
    TITLE,
    Marker,
    heading,
    heading_v2,
    heading_v3,
    is_in_capitals,
    is_titled,
    marker,
    marker_v3,
)

# Headings that extraction marks, with their offsets in the extracted text. `structure_v1`.

_HEADING = re.compile(r"<h([1-6])\b[^>]{0,1000}>(.{0,1000}?)</h\1>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_STRUCTURE_LINE = re.compile(r"[^\n]*\S[^\n]*")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading that extraction reports: character offsets [start, end), level from 1."""

    start: int
    end: int
    level: int = TITLE


def marked_headings(xhtml: str) -> tuple[tuple[int, str], ...]:
    """Return level and words of every heading of a page, in order; empty ones are left out.

    >>> marked_headings("<h1>Fees <b>&amp;</b> costs</h1><p>None.</p><h2 />")
    ((1, 'Fees & costs'),)
    """
    headings = ((int(level), _plain(words)) for level, words in _HEADING.findall(xhtml))
    return tuple((level, words) for level, words in headings if words)


def locate_headings(text: str, headings: Sequence[tuple[int, str]]) -> list[Heading]:
    """Return the lines of the text that are these headings, in this order; others are left out.

    >>> locate_headings("Fees\\nNone.", [(1, "Fees"), (2, "Costs")])
    [Heading(start=0, end=4, level=1)]
    """
    if not headings:
        return []
    lines: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for line in _STRUCTURE_LINE.finditer(text):
        lines[" ".join(line.group().split())].append(line.span())
    located: list[Heading] = []
    position = 0
    for level, words in headings:
        spans = lines.get(words, [])
        at = bisect_left(spans, (position, 0))
        if at < len(spans):
            start, position = spans[at]
            located.append(Heading(start, position, level))
    return located


def _plain(words: str) -> str:
    return " ".join(html.unescape(_TAG.sub("", words)).split())


# Tables of contents: runs of lines that name later parts of the text and their pages.

_TITLE = re.compile(
    r"\s*(?:table of contents|contents|index|inhalt|inhaltsverzeichnis|inhaltsübersicht"
    r"|table des matières|sommaire|índice|indice|inhoud|inhoudsopgave|innehåll|目次|目录|目錄)"
    r"\s*:?\s*",
    re.IGNORECASE,
)
_DOTS = re.compile(r"\s*\S.*?(?:\.{3,}|(?:\. ){3,}|\u2026+)[ \t.]*(?P<page>\d{1,4}|[ivxl]{1,7})\s*")
_GAP = re.compile(r"\s*\S.*?(?:\t| {3,})[ \t]*(?P<page>\d{1,4}|[ivxl]{1,7})\s*")
_MIN_ENTRIES, _LONGEST = 3, 160


def contents(text: str, lines: Sequence[tuple[int, int]]) -> list[range]:
    """Return runs of line numbers that are a table of contents, ordered and disjoint.

    A run includes the title of the table where it has one.

    A table is three lines or more that end in a page number after dots, or after a gap where they
    begin with a heading's number too, pages never falling; or, under a title such as "Contents",
    the headings that follow until one comes again.
    """
    tables: list[range] = []
    titles = {
        at
        for at, line in enumerate(lines)
        if line[1] - line[0] <= _LONGEST and _TITLE.fullmatch(text, *line)
    }
    later = _last_lines(text, lines) if titles else {}
    position = 0
    while position < len(lines):
        run = (
            _titled(text, lines, position, later)
            if position in titles
            else _paged(text, lines, position)
        )
        if run:
            tables.append(run)
        position = run.stop if run else position + 1
    return tables


def _last_lines(text: str, lines: Sequence[tuple[int, int]]) -> dict[str, int]:
    """Return the last line in which each label stands."""
    markers = ((at, marker(text[slice(*line)])) for at, line in enumerate(lines))
    return {entry.label: at for at, entry in markers if entry}


def _titled(
    text: str, lines: Sequence[tuple[int, int]], first: int, later: dict[str, int]
) -> range | None:
    """Return the table under a title.

    Without pages, the parts that its entries name must come after them: else the entries are the
    document itself.
    """
    for at in _written(text, lines, first + 1, 1):
        paged = _paged(text, lines, at)
        if paged:
            return range(first, paged.stop)
    labels: set[str] = set()
    last = first
    for at in _written(text, lines, first + 1, len(lines)):
        line = text[slice(*lines[at])].rstrip()
        entry = marker(line)
        if entry is None or entry.label in labels or heading(line, entry)[1] < len(line):
            break
        labels.add(entry.label)
        last = at
    if len(labels) > 1 and any(later[label] > last for label in labels):
        return range(first, last + 1)
    return None


def _paged(text: str, lines: Sequence[tuple[int, int]], first: int) -> range | None:
    """Return the run of lines with pages from `first` on.

    One line without a page between two of them is the beginning of the second.
    """
    if not text[slice(*lines[first])].strip():
        return None
    entries: list[int] = []
    page = between = 0
    for at in _written(text, lines, first, len(lines)):
        number = _page(text[slice(*lines[at])])
        if number is None:
            if not entries or lines[at][1] - lines[at][0] > _LONGEST:
                break
            between += 1
            if between > 1:
                break
            continue
        if number < page:
            break
        between = 0
        entries.append(at)
        page = number
    return range(first, entries[-1] + 1) if len(entries) >= _MIN_ENTRIES else None


def _page(line: str) -> int | None:
    """Return the page at the end of an entry, 0 for a roman one; None for any other line."""
    if len(line) > _LONGEST:
        return None
    match = _DOTS.fullmatch(line)
    if match is None and marker(line):
        match = _GAP.fullmatch(line)
    if match is None:
        return None
    return int(match["page"]) if match["page"].isdigit() else 0


def _written(text: str, lines: Sequence[tuple[int, int]], first: int, limit: int) -> Iterator[int]:
    """Yield the next `limit` lines from `first` on that are not blank."""
    for at in range(first, len(lines)):
        if limit and text[slice(*lines[at])].strip():
            limit -= 1
            yield at


MAX_CLAUSES = 10_000
NEWEST = "clauses_v3"
_RULES = {
    "clauses_v1": (marker, heading),
    "clauses_v2": (marker, heading_v2),
    NEWEST: (marker_v3, heading_v3),
}
_BREAK = "\n\r\v\f\x85\u2028\u2029"
_LINE = re.compile(f"(?:[ \t\xa0]*[{_BREAK}])+|[^{_BREAK}]+(?:\r\n|[{_BREAK}]|$)")
_STATED = re.compile(
    r"[.;:!?\u2026。；：！？][\"'\u201d\u2019)\]\u00bb]*\s*$"
    r"|[;,]\s*(?:and|or|und|oder|et|y|e)\s*$",
    re.IGNORECASE,
)
_IN_A_ROW = frozenset({"bare", "letter", "roman"})
_LONG_LINE, _SHORT_LINE, _TITLE_LINES, _TAIL = 120, 60, 2, 40


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause of a text: characters [start, end), without white space at either end.

    `body` is the end of the number and the heading, start <= body <= end; equal to `end` for a
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
    """A position where a clause begins.

    `whole`: it is not divided into paragraphs. `dropped`: it is a table of contents.
    """

    start: int
    body: int
    label: str = ""
    heading: str = ""
    level: int = 0
    whole: bool = True
    dropped: bool = False


def clauses(
    text: str, structure: Sequence[Heading] | None = None, version: str = NEWEST
) -> list[Clause]:
    """Return the clauses of a text in order, disjoint.

    Together they hold all of it but white space and tables of contents. `structure` are headings
    that extraction reports (of html, of docx): each begins a clause, in addition to the clauses
    found here. Of more than 10,000 clauses the last one runs to the end of the text. A text of
    white space has none. `version` is the one that an index was divided by.

    >>> text = "1. Fees. The Client shall pay as Section 2 says.\\n2. Term. One year."
    >>> [(clause.label, clause.heading, text[clause.body : clause.end]) for clause in clauses(text)]
    [('1', 'Fees', 'The Client shall pay as Section 2 says.'), ('2', 'Term', 'One year.')]
    """
    page = _Page(text, structure or (), version)
    cuts = [_Cut(0, 0, whole=False), *page.cuts()]
    ends = [*(cut.start for cut in cuts[1:]), len(text)]
    divided: list[Clause] = []
    for cut, end in zip(cuts, ends, strict=True):
        if not cut.dropped:
            divided += page.divide(cut, end)
    if len(divided) <= MAX_CLAUSES:
        return divided
    return [*divided[: MAX_CLAUSES - 1], replace(divided[MAX_CLAUSES - 1], end=divided[-1].end)]


class _Page:
    """A text in lines, and the cuts that are found in going through them once."""

    def __init__(self, text: str, structure: Sequence[Heading], version: str) -> None:
        self.text = text
        self.marker, self.heading = _RULES[version]
        self.lines = [match.span() for match in _LINE.finditer(text)]
        self.starts = [start for start, _ in self.lines]
        # headings that extraction reports, by their line
        self.reported = {
            self._line_at(part.start): part
            for part in structure
            if text[part.start : part.end].strip()
        }
        # the last position in a row of each kind of number
        self.rows: dict[str, int] = {}
        # the line after a heading, or after a table of contents: another heading may follow at once
        self.after = 0
        long = sum(end - start for start, end in self.lines if end - start > _LONG_LINE)
        self.unwrapped = 2 * long > len(text)
        self.blanks = any(not text[start:end].strip() for start, end in self.lines)

    def cuts(self) -> Iterator[_Cut]:
        """Yield the positions where clauses begin, in order.

        Text that follows a table of contents without a heading begins a clause, too.
        """
        tables = {run.start: run.stop for run in contents(self.text, self.lines)}
        at, resumed = 0, False
        while at < len(self.lines):
            start = self.starts[at]
            if at in tables:
                yield _Cut(start, start, dropped=True)
                at = self.after = tables[at]
                resumed = True
                continue
            cut = self._cut(at)
            if cut is None and resumed:
                cut = _Cut(start, start, whole=False)
            resumed = False
            if cut:
                yield cut
            at = self._end_of_heading(cut) if cut else at + 1

    def _end_of_heading(self, cut: _Cut) -> int:
        """Return the line after the heading of a cut.

        Where the heading fills its lines, another heading may follow at once.
        """
        last = self._line_at(max(cut.body - 1, cut.start))
        if cut.body >= self._end(last):
            self.after = last + 1
        return last + 1

    def divide(self, cut: _Cut, end: int) -> Iterator[Clause]:
        """Yield a clause, or its paragraphs.

        The first paragraph holds the heading, the others repeat it as metadata.
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
        start, end = _strip(self.text, start, end)
        if start < end:
            body = _strip(self.text, min(max(body, start), end), end)[0]
            yield Clause(start, end, body, cut.label, cut.heading, cut.level)

    def _paragraphs(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Yield pieces of [first, last).

        They lie between blank lines; they are lines where most lines are long; else they reach up
        to a line that ends a sentence.
        """
        start = first
        for at in range(self._line_at(first), len(self.lines)):
            end = min(self.lines[at][1], last)
            line = self.text[self.starts[at] : end]
            states = not self.blanks and _ends_sentence(line)
            if self.unwrapped or not line.strip() or states or end == last:
                if self.text[start:end].strip():
                    yield start, end
                start = end
            if end == last:
                return

    def _cut(self, at: int) -> _Cut | None:
        """Return the clause that begins in a line, if one does."""
        start = self.starts[at]
        line = self._line(at)
        if at in self.reported:
            return self._reported_clause(start, line, self.reported[at])
        if not line.strip() or not self._may_begin(at):
            return None
        announced = self.marker(line)
        if announced and self._is_next(announced):
            return self._numbered_clause(at, line, announced)
        last = self._capitals(at)
        if last is None:
            return None
        end = self._end(last)
        return _Cut(start, end, "", " ".join(self.text[start:end].split()), TITLE, whole=False)

    def _reported_clause(self, start: int, line: str, reported: Heading) -> _Cut:
        announced = self.marker(line)
        label = announced.label if announced else ""
        first = start + announced.rest if announced else reported.start
        title = " ".join(self.text[first : reported.end].split())
        return _Cut(start, reported.end, label, title, reported.level, whole=bool(label))

    def _numbered_clause(self, at: int, line: str, announced: Marker) -> _Cut:
        """Return a clause with a number.

        A number alone on its line has its title in the next one, where that reads like one.
        """
        start = self.starts[at]
        title, body = self.heading(line, announced)
        below = self._next(at) if announced.rest >= len(line.rstrip()) else None
        if below is not None:
            if self._is_title(below):
                title = self._line(below).strip()
                return _Cut(start, self._end(below), announced.label, title, announced.level)
        elif title and body >= len(line) and not is_titled(title) and self._goes_on(at + 1):
            title, body = "", announced.rest
        return _Cut(start, start + body, announced.label, title, announced.level)

    def _is_title(self, at: int) -> bool:
        """Return whether a line is the title of the number above it."""
        line = self._line(at)
        if at in self.reported or self.marker(line) is not None:
            return False
        return is_in_capitals(line) or is_titled(line.strip())

    def _goes_on(self, at: int) -> bool:
        """Return whether a line begins like the second line of a sentence."""
        return at < len(self.lines) and self._line(at).lstrip()[:1].islower()

    def _is_next(self, announced: Marker) -> bool:
        """Return whether a number may stand here.

        One that might be chance has to be the first, or the one after the last of its kind.
        """
        last = self.rows.get(announced.kind, 0)
        position = next(
            (position for position in announced.ordinals if position in (last + 1, 1)), None
        )
        if position is not None:
            self.rows[announced.kind] = position
        return position is not None or announced.kind not in _IN_A_ROW

    def _may_begin(self, at: int) -> bool:
        """Return whether a line is no second line of a sentence."""
        if at in (0, self.after) or not self._has_text(at - 1):
            return True
        before = self._line(at - 1)
        return (
            self.unwrapped
            or _ends_sentence(before)
            or is_in_capitals(before)
            or (len(before) <= _SHORT_LINE and is_titled(before.strip()))
        )

    def _capitals(self, at: int) -> int | None:
        """Return the last line of a title in capitals that begins here.

        A paragraph in capitals is none, nor is a part of one.
        """
        if at not in (0, self.after) and is_in_capitals(self._line(at - 1)):
            return None
        end = at
        limit = min(len(self.lines), at + _TITLE_LINES + 1)
        while end < limit and is_in_capitals(self._line(end)):
            end += 1
        if not 0 < end - at <= _TITLE_LINES:
            return None
        below = self._line(end) if end < len(self.lines) else ""
        goes_on = below.strip() and below == below.upper() != below.lower()
        return None if goes_on else end - 1

    def _line(self, at: int) -> str:
        """Return a line without its line break."""
        return self.text[self.starts[at] : self._end(at)]

    def _next(self, at: int) -> int | None:
        """Return the next of three lines that is not blank."""
        lines = range(at + 1, min(at + 4, len(self.lines)))
        return next((line for line in lines if self._has_text(line)), None)

    def _has_text(self, at: int) -> bool:
        return bool(self.text[slice(*self.lines[at])].strip())

    def _end(self, at: int) -> int:
        """Return the offset of a line's line break."""
        start, end = self.lines[at]
        return start + len(self.text[start:end].rstrip(_BREAK))

    def _line_at(self, position: int) -> int:
        return max(bisect_right(self.starts, position) - 1, 0)


def _ends_sentence(line: str) -> bool:
    return bool(_STATED.search(line.rstrip()[-_TAIL:]))


def _strip(text: str, start: int, end: int) -> tuple[int, int]:
    """Return [start, end) without white space at either end.

    (end, start), or an empty span, where there is nothing else.
    """
    piece = text[start:end]
    return end - len(piece.lstrip()), start + len(piece.rstrip())
