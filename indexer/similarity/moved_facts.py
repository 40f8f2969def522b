"""Facts that both texts state at other places: moved with what surrounds them, or exchanged.

"Acme sells to Zenith" and "Zenith sells to Acme" state the same names. A fact that moved with its
passage has the same word, or the beginning of a sentence or line, before it in both texts, and the
same after it; or it is in a run of `RUN` words or more that both have. One that fills a line alone,
as an answer in a form does, has moved only where it has the same word on one side. Neighbouring
facts of its class are not looked at, so that "Smith, Anna" and "Anna Smith", "May 5" and "5 May"
agree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from indexer.similarity.fact_values import Fact
    from indexer.similarity.facts import FactSource, FactText

RUN = 12  # words of a passage that may have been moved out of the middle of a sentence
_SKIPPED = 8  # neighbouring facts
_BOUNDARY = re.compile(r"[\r\n]|[.!?;\u2026][\"'\u2019\u201d)\]]*\s")
_JOINED = re.compile(r"[ \t\u00a0,]*")

Neighbour = tuple[str, bool]  # a word, and whether a sentence or line ends between


def is_moved(fact: Fact, text: FactText, other: FactText) -> bool:
    """Return whether another text has a fact of this text with the same surroundings."""
    surroundings: tuple[Neighbour, Neighbour] | None = None
    for occurrence in _occurrences(fact, text.source, other):
        if _run_length(text.source, fact.place, other.source, occurrence.place) >= RUN:
            return True
        surroundings = surroundings or _surroundings(fact, text)
        if _are_same(surroundings, _surroundings(occurrence, other)):
            return True
    return False


def _occurrences(fact: Fact, text: FactSource, other: FactText) -> Iterator[Fact]:
    """Yield the fact, of one word or a sign before it, where another text has it."""
    for place in other.source.places(text.folded(fact.place)):
        occurrence = other.source.sign_before(place) if fact.kind == "sign" else other.fact(place)
        if occurrence and occurrence.key == fact.key:
            yield occurrence


def _surroundings(fact: Fact, text: FactText) -> tuple[Neighbour, Neighbour]:
    """Return the words before and after a fact; after a sign, that is the word it stands before."""
    before = _neighbour(text, fact.place, -1, fact.key[0])
    return before, _neighbour(text, fact.end - 1, 1, fact.key[0])


def _neighbour(text: FactText, place: int, step: int, kind: str) -> Neighbour:
    """Return the next word in a direction that is not a fact of this class, as in a list."""
    for _ in range(_SKIPPED):
        between = text.source.between(min(place, place + step))
        place += step
        if between is None:
            return "", True
        fact = text.fact(place)
        if fact is None or fact.key[0] != kind or not _JOINED.fullmatch(between):
            return text.source.folded(place), bool(_BOUNDARY.search(between))
    return text.source.folded(place), False


def _are_same(a: tuple[Neighbour, Neighbour], b: tuple[Neighbour, Neighbour]) -> bool:
    """Return whether both neighbours agree, one of them by a word.

    An end of either text does where the other word is the same, since a passage may be cut there.
    """
    if all(map(_agree, a, b)):
        return any(
            side_a[0] and side_a[0] == side_b[0] for side_a, side_b in zip(a, b, strict=True)
        )
    for side in (0, 1):
        is_end = not (a[1 - side][0] and b[1 - side][0])
        if is_end and a[side][0] and a[side][0] == b[side][0]:
            return True
    return False


def _agree(a: Neighbour, b: Neighbour) -> bool:
    return a[0] == b[0] or (a[1] and b[1])


def _run_length(a: FactSource, place_a: int, b: FactSource, place_b: int) -> int:
    """Return how many words around two places are the same, up to `RUN` on each side."""
    return sum(_equal_words(a, place_a, b, place_b, step) for step in (-1, 1)) - 1


def _equal_words(a: FactSource, place_a: int, b: FactSource, place_b: int, step: int) -> int:
    count = 0
    while count < RUN:
        word = a.folded(place_a + step * count)
        if not word or word != b.folded(place_b + step * count):
            break
        count += 1
    return count
