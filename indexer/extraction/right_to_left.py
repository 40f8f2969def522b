"""Lines of Arabic and Hebrew in PDF files of LibreOffice, in the order in which they are read.

LibreOffice draws the words of each script, and numbers, in pieces of their own. PDFBox, which reads
PDF for Tika, puts each piece in the order of reading, but leaves the pieces of a line in the order
in which they stand on the page, from left to right, and a blank between two pieces stays at the far
end of one of them: `קובץ PDF חדש` becomes ` חדשPDFקובץ `. So a letter of a script written from
right to left stands directly behind a Latin letter or digit, which other texts hardly have.

The strokes that fill justified Arabic lines (kashida) are read as a Latin letter or as U+FFFD,
which depends on the font.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

_LEFT, _RIGHT, _NEUTRAL = "L", "R", ""
_STRONG = {"L": _LEFT, "EN": _LEFT, "R": _RIGHT, "AL": _RIGHT, "AN": _RIGHT}
_MIRRORED = str.maketrans("()[]{}<>«»", ")(][}{><»«")

_STROKES = re.compile(r"(?<=[\u0620-\u064a])([A-Za-z\ufffd])\1*(?=[\u0620-\u064a])")
_FEWEST_STROKES = 5

Runs = Sequence[tuple[str, str]]


def reorder_lines(text: str) -> str:
    """Return the text of a PDF of LibreOffice with the pieces of its lines in the order of reading,
    and without the strokes that fill lines.

    Lines are unchanged unless most letters are of scripts written from right to left, and a quarter
    of the runs of such letters that follow Latin letters or digits do so without anything between
    them. Linear in time.

    >>> reorder_lines(" חדשPDFקובץ ")
    'קובץ PDF חדש'
    >>> reorder_lines("קובץ PDF חדש")
    'קובץ PDF חדש'
    """
    if text.isascii():
        return text
    text = _without_strokes(text)
    kinds = [unicodedata.bidirectional(char) for char in text]
    if kinds.count("R") + kinds.count("AL") <= kinds.count("L"):
        return text
    lines = [list(_runs(line)) for line in text.split("\n")]
    joined = sum(_joins(runs) for runs in lines)
    if joined <= sum(_follows(runs) for runs in lines) / 4:
        return text
    return "\n".join(map(_in_reading_order, lines))


def _without_strokes(text: str) -> str:
    """Return the text without the one character that stands most often inside Arabic words, if it
    does so five times and as often as all others.
    """
    counts = Counter(match[1] for match in _STROKES.finditer(text))
    (stroke, count), *_ = [*counts.most_common(1), ("", 0)]
    if count < max(_FEWEST_STROKES, counts.total() / 2):
        return text
    return _STROKES.sub(lambda match: "" if match[1] == stroke else match[0], text)


def _joins(runs: Runs) -> int:
    """Return how often letters from right to left stand directly behind Latin ones or digits."""
    return sum(a[0] == _LEFT and b[0] == _RIGHT for a, b in pairwise(runs))


def _follows(runs: Runs) -> int:
    """Return how often they follow those, whatever neutral characters are between."""
    return _joins([run for run in runs if run[0] != _NEUTRAL])


def _in_reading_order(runs: Runs) -> str:
    """Return the pieces of a line from the last to the first, if it has letters of both kinds."""
    if len({direction for direction, _ in runs} - {_NEUTRAL}) < 2:
        return "".join(run for _, run in runs)
    pieces = [
        run[::-1].translate(_MIRRORED) if direction == _NEUTRAL else run
        for direction, run in reversed(runs)
    ]
    return "".join(pieces).strip(" ")


def _runs(line: str) -> Iterator[tuple[str, str]]:
    """Yield direction and characters of each run; neutral characters inside a run belong to it, and
    blanks at either end of the line to the run beside them.
    """
    place = 0
    for direction, group in groupby(_directions(line)):
        end = place + sum(1 for _ in group)
        yield direction, line[place:end]
        place = end


def _directions(line: str) -> list[str]:
    """Return the direction of each character; a mark has that of its letter."""
    strong = _NEUTRAL
    directions: list[str] = []
    for char in line:
        kind = unicodedata.bidirectional(char)
        strong = _STRONG.get(kind, strong)
        directions.append(strong if kind in _STRONG or kind == "NSM" else _NEUTRAL)
    places = [place for place, direction in enumerate(directions) if direction]
    for last, place in pairwise(places):
        if directions[last] == directions[place]:
            directions[last:place] = [directions[last]] * (place - last)
    if places and line[: places[0]].isspace():
        directions[: places[0]] = [directions[places[0]]] * places[0]
    if places and line[places[-1] + 1 :].isspace():
        directions[places[-1] :] = [directions[places[-1]]] * (len(line) - places[-1])
    return directions
