"""A cache of the sides of comparisons, for all look-ups and searches of a process.

Who reviews near duplicates asks for the same documents again, and for their near duplicates. Their
words, features and facts are computed once, as long as they are among the last texts of
`MOST_CHARS` letters together, some 40 MB. Nothing of a store is kept: a side is found by its text
and sketches.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TypeAlias

from indexer.recipe import Recipe
from indexer.similarity.sides import Side, stored_side

MOST_CHARS = 1 << 20
LEAST_CHARS = 200  # that a side counts for
_Key: TypeAlias = tuple[str, Recipe, bytes | None, int | None]


class SideCache:
    """The sides of the texts that were asked for last, of `most` letters at most together."""

    def __init__(self, most: int = MOST_CHARS) -> None:
        self._most = most
        self._lock = Lock()
        self._sides: OrderedDict[_Key, Side] = OrderedDict()
        self._chars = 0

    def side(
        self, text: str, recipe: Recipe, minhash: bytes | None = None, simhash: int | None = None
    ) -> Side:
        """Return the side of a text and its sketches, `minhash` as it is stored."""
        key = text, recipe, minhash, simhash
        with self._lock:
            if key in self._sides:
                self._sides.move_to_end(key)
                return self._sides[key]
            side = self._sides[key] = stored_side(text, recipe, minhash, simhash)
            self._chars += _chars(text)
            while self._chars > self._most:
                (oldest, *_), _ = self._sides.popitem(last=False)
                self._chars -= _chars(oldest)
        return side

    def clear(self) -> None:
        """Discard all sides."""
        with self._lock:
            self._sides.clear()
            self._chars = 0


def _chars(text: str) -> int:
    return max(len(text), LEAST_CHARS)


side_cache = SideCache()
