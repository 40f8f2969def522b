"""The headings that extraction marks, and their places in the extracted text. `structure_v1`."""

from __future__ import annotations

import html
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from indexer.text.clauses.headings import TITLE

_HEADING = re.compile(r"<h([1-6])\b[^>]{0,1000}>(.{0,1000}?)</h\1>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_LINE = re.compile(r"[^\n]*\S[^\n]*")


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
    for line in _LINE.finditer(text):
        lines[" ".join(line.group().split())].append(line.span())
    located: list[Heading] = []
    place = 0
    for level, words in headings:
        spans = lines.get(words, [])
        at = bisect_left(spans, (place, 0))
        if at < len(spans):
            start, place = spans[at]
            located.append(Heading(start, place, level))
    return located


def _plain(words: str) -> str:
    return " ".join(html.unescape(_TAG.sub("", words)).split())
