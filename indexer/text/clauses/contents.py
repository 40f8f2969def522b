"""Tables of contents: runs of lines that name later parts of the text and their pages.

Version `contents_v1`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from indexer.text.clauses.headings import heading, marker

_TITLE = re.compile(
    r"\s*(?:table of contents|contents|index|inhalt|inhaltsverzeichnis|inhaltsübersicht"
    r"|table des matières|sommaire|índice|indice|inhoud|inhoudsopgave|innehåll|目次|目录|目錄)"
    r"\s*:?\s*",
    re.IGNORECASE,
)
_DOTS = re.compile(r"\s*\S.*?(?:\.{3,}|(?:\. ){3,}|\u2026+)[ \t.]*(?P<page>\d{1,4}|[ivxl]{1,7})\s*")
_GAP = re.compile(r"\s*\S.*?(?:\t| {3,})[ \t]*(?P<page>\d{1,4}|[ivxl]{1,7})\s*")
_LEAST, _LONGEST = 3, 160


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
    place = 0
    while place < len(lines):
        run = _titled(text, lines, place, later) if place in titles else _paged(text, lines, place)
        if run:
            tables.append(run)
        place = run.stop if run else place + 1
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
    return range(first, entries[-1] + 1) if len(entries) >= _LEAST else None


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


def _written(text: str, lines: Sequence[tuple[int, int]], first: int, most: int) -> Iterator[int]:
    """Yield the next `most` lines from `first` on that are not blank."""
    for at in range(first, len(lines)):
        if most and text[slice(*lines[at])].strip():
            most -= 1
            yield at
