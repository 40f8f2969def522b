"""Stretches of a text that are replaced by blanks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TypeAlias

_NOT_LINE_FEED = re.compile(r"[^\n]")
Span: TypeAlias = tuple[int, int]
"""The characters [start, stop) of a text."""


def without_spans(text: str, spans: Iterable[Span]) -> str:
    """Return a text with one blank in place of each span; those that overlap are one.

    >>> without_spans("to be or not", [(3, 8), (6, 8)])
    'to   not'
    """
    return _replaced(text, spans, lambda _: " ")


def blank_spans(text: str, spans: Iterable[Span]) -> str:
    """Return a text as long, with a blank for each character of spans that is no line feed.

    >>> blank_spans("to be\\nor not", [(3, 8), (6, 8)])
    'to   \\n   not'
    """
    return _replaced(text, spans, lambda part: _NOT_LINE_FEED.sub(" ", part))


def _replaced(text: str, spans: Iterable[Span], fill: Callable[[str], str]) -> str:
    """Return a text with what `fill` makes of each span in its place."""
    parts = []
    place = 0
    for start, stop in _merged(spans):
        parts += [text[place:start], fill(text[start:stop])]
        place = stop
    return "".join([*parts, text[place:]])


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Return spans in order, those that overlap as one.

    >>> _merged([(6, 8), (3, 7), (8, 9)])
    [(3, 8), (8, 9)]
    """
    merged: list[Span] = []
    for start, stop in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(stop, merged[-1][1])
        else:
            merged.append((start, stop))
    return merged
