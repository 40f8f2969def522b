"""The stretch of a text around the words that were searched, for a list of hits."""

from __future__ import annotations

import re

from indexer.text.phrases import phrases
from indexer.text.visible import visible

WIDTH, LOOKED_AT = 260, 50_000


def snippet(text: str, query: str, width: int = WIDTH) -> tuple[tuple[str, bool], ...]:
    """About `width` characters around the first words found, in pieces; True marks a piece that was
    searched for.

    Looks at the first 50,000 characters; where nothing is found there, the text's beginning. Safe
    to show, on one line.

    >>> snippet("The ferry has sunk.", "FERRY")
    (('The ', False), ('ferry', True), (' has sunk.', False))
    """
    looked = text[:LOOKED_AT]
    wanted = _wanted(query)
    first = wanted.search(looked) if wanted else None
    start = max(0, first.start() - width // 3) if first else 0
    if start:
        blank = looked.find(" ", start, start + 30)
        start = blank + 1 if blank >= 0 else start
    end = min(len(text), start + width)
    if end < len(text):
        blank = text.rfind(" ", end - 30, end)
        end = blank if blank > start else end
    shown = text[start:end]
    made = [("… ", False)] if start else []
    place = 0
    for found in wanted.finditer(shown) if wanted else ():
        made += [(_line(shown[place : found.start()]), False), (_line(found.group()), True)]
        place = found.end()
    made.append((_line(shown[place:]) + (" …" if end < len(text) else ""), False))
    return tuple(piece for piece in made if piece[0])


def _wanted(query: str) -> re.Pattern[str] | None:
    """Any of the phrases of a query in any case, at the beginning of a word where there is one;
    longest first.
    """
    asked = sorted(phrases(query), key=len, reverse=True)
    spelled = "|".join(r"[\W_]+".join(map(re.escape, phrase.split())) for phrase in asked)
    return (
        re.compile(rf"(?<![0-9A-Za-z\u00c0-\u0dff])(?:{spelled})", re.IGNORECASE)
        if spelled
        else None
    )


def _line(text: str) -> str:
    return visible(re.sub(r"\s+", " ", text))
