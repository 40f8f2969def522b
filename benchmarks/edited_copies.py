"""Edited copies of texts with a known `lcs` of at least .8: near duplicates for benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from key_layouts import THRESHOLD

from indexer.similarity.lcs import lcs
from indexer.text.normal_words import normal_words

SEED = 20

Random = np.random.Generator


def scattered(text: list[str], other: list[str], share: float, rng: Random) -> list[str]:
    """Replace, delete and insert single words at random places."""
    places = set(rng.choice(len(text), max(1, round(share * len(text))), replace=False).tolist())
    edited: list[str] = []
    for place, word in enumerate(text):
        kind = rng.integers(3) if place in places else 3
        drawn = other[int(rng.integers(len(other)))]
        edited += ([drawn], [], [word, drawn], [word])[kind]
    return edited


def _passage(text: list[str], share: float, rng: Random) -> tuple[int, int]:
    size = max(1, round(share * len(text)))
    start = int(rng.integers(len(text) - size + 1))
    return start, start + size


def replaced(text: list[str], other: list[str], share: float, rng: Random) -> list[str]:
    start, end = _passage(text, share, rng)
    return [*text[:start], *other[: end - start], *text[end:]]


def inserted(text: list[str], other: list[str], share: float, rng: Random) -> list[str]:
    start, end = _passage(text, share, rng)
    return [*text[:start], *other[: end - start], *text[start:]]


def deleted(text: list[str], other: list[str], share: float, rng: Random) -> list[str]:
    start, end = _passage(text, share, rng)
    return [*text[:start], *text[end:]]


def moved(text: list[str], other: list[str], share: float, rng: Random) -> list[str]:
    start, end = _passage(text, share, rng)
    rest = [*text[:start], *text[end:]]
    place = int(rng.integers(len(rest) + 1))
    return [*rest[:place], *text[start:end], *rest[place:]]


def mixed(text: list[str], other: list[str], share: float, rng: Random) -> list[str]:
    edit = (replaced, inserted, deleted, moved)[int(rng.integers(4))]
    return edit(scattered(text, other, share / 2, rng), other, share / 2, rng)


EDITS: tuple[tuple[Callable[[list[str], list[str], float, Random], list[str]], float], ...]
EDITS = (  # with the words edited for each word that `lcs` loses
    (scattered, 1.45),
    (mixed, 1.2),
    (replaced, 1.0),
    (inserted, 1.2),
    (deleted, 1.0),
    (moved, 1.0),
)


@dataclass(slots=True)
class EditedCopies:
    """Edited copies with .8 <= `lcs` < 1: the place of the original, the copy, its figures."""

    places: list[int] = field(default_factory=list)
    copies: list[str] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)


def edited_copies_of(texts: dict[int, str]) -> EditedCopies:
    """Return an edited copy of each text whose similarity is in the range."""
    rng = np.random.default_rng(SEED)
    result = EditedCopies()
    other = ["nothing", "else", "was", "said", "before", "this"]
    for number, (place, text) in enumerate(texts.items()):
        kind = number % len(EDITS)
        split = text.split()
        edit, factor = EDITS[kind]
        copy = " ".join(edit(split, other, factor * float(rng.uniform(0.01, 0.21)), rng))
        other = split
        original = normal_words(text)
        score = lcs(original, normal_words(copy), THRESHOLD)
        if THRESHOLD <= score < 1:
            result.places.append(place)
            result.copies.append(copy)
            result.kinds.append(kind)
            result.scores.append(score)
            result.lengths.append(len(original))
    return result
