"""Draws that are the same on every platform and under every Python."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class RandomSource:
    """Draws from a seed of any parts. Of the generator only `random()` is used: the one sequence
    that Python promises to keep.

    >>> RandomSource(1, "edits").below(100) == RandomSource(1, "edits").below(100)
    True
    """

    def __init__(self, *seed: object) -> None:
        self._draw = Random("\x1f".join(map(str, seed))).random

    def share(self) -> float:
        """A number in [0, 1)."""
        return self._draw()

    def below(self, count: int) -> int:
        """A whole number in [0, count); `count` is at least 1."""
        return int(self._draw() * count)

    def between(self, least: int, most: int) -> int:
        """A whole number in [least, most]."""
        return least + self.below(most - least + 1)

    def one(self, items: Sequence[T]) -> T:
        """One of the items, of which there is at least one."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """The items in a random order."""
        made = list(items)
        for place in range(len(made) - 1, 0, -1):
            other = self.below(place + 1)
            made[place], made[other] = made[other], made[place]
        return made
