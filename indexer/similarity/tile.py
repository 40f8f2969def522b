"""A run of words that two texts have in common."""

from __future__ import annotations

from typing import NamedTuple


class Tile(NamedTuple):
    """Equal runs of `words` words: places of the first word in each text."""

    a: int
    b: int
    words: int
