"""The stretch of a text around the words of a query, for a list of hits."""

from __future__ import annotations

import re

from indexer.text.query_syntax import Term, parse_query
from indexer.text.visible import visible_line

WIDTH = 260  # characters of a snippet, about
LOOKED_AT = 50_000  # characters of a text in which the words are looked for
_LETTER = r"[0-9A-Za-z\u00c0-\u0dff]"  # of scripts with blanks between words
_EDGE = 30  # characters within which a snippet is cut at a blank


def snippet(text: str, query: str) -> tuple[tuple[str, bool], ...]:
    """Return about `WIDTH` characters around the first words of the query, in pieces.

    True marks a piece that the query names. Looks at the first 50,000 characters; where nothing is
    found there, the text's beginning. Safe to show, on one line.

    >>> snippet("The ferry has sunk.", "FERRY")
    (('The ', False), ('ferry', True), (' has sunk.', False))
    >>> snippet("An article on art.", "art")
    (('An article on ', False), ('art', True), ('.', False))
    """
    pattern = _query_pattern(query)
    start, end = _bounds(text, pattern)
    shown = text[start:end]
    pieces = [("… ", False)] if start else []
    place = 0
    for match in pattern.finditer(shown) if pattern else ():
        pieces.append((visible_line(shown[place : match.start()]), False))
        pieces.append((visible_line(match.group()), True))
        place = match.end()
    ending = " …" if end < len(text) else ""
    pieces.append((visible_line(shown[place:]) + ending, False))
    return tuple(piece for piece in pieces if piece[0])


def _bounds(text: str, pattern: re.Pattern[str] | None) -> tuple[int, int]:
    """Return where the snippet starts and ends, at blanks where there are some nearby."""
    head = text[:LOOKED_AT]
    first = pattern.search(head) if pattern else None
    start = max(0, first.start() - WIDTH // 3) if first else 0
    if start:
        blank = head.find(" ", start, start + _EDGE)
        start = blank + 1 if blank >= 0 else start
    end = min(len(text), start + WIDTH)
    if end < len(text):
        blank = text.rfind(" ", end - _EDGE, end)
        end = blank if blank > start else end
    return start, end


def _query_pattern(query: str) -> re.Pattern[str] | None:
    """Return a pattern of the terms that may match, in any case, longest first; None without any.

    A term matches whole words where a script divides them, and beginnings of words with `*`.
    """
    terms = sorted(parse_query(query).terms, key=lambda term: len(term.text), reverse=True)
    choices = "|".join(map(_term_pattern, terms))
    if not choices:
        return None
    return re.compile(rf"(?<!{_LETTER})(?:{choices})", re.IGNORECASE)


def _term_pattern(term: Term) -> str:
    words = r"[\W_]+".join(map(re.escape, term.text.split()))
    return rf"{words}\w*" if term.is_prefix else rf"{words}(?!{_LETTER})"
