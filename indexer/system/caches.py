"""A cache of the entries that were used last, bounded by their weights."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LruCache(Generic[K, V]):
    """The entries that were used last, as many as weigh `max_weight` together.

    There are at most `max_entries`. `weight`: of all entries; one weighs 1, or what `weigh` returns
    for its value. Not safe to share by threads.

    >>> cache = LruCache[str, str](5, weigh=len)
    >>> cache.put("a", "one"); cache.put("b", "two"); "a" in cache, cache.get("b")
    (False, 'two')
    """

    def __init__(
        self,
        max_weight: int,
        weigh: Callable[[V], int] | None = None,
        max_entries: float = math.inf,
    ) -> None:
        self._max_weight, self._max_entries = max_weight, max_entries
        self._weigh = weigh
        self._entries: OrderedDict[K, V] = OrderedDict()
        self.weight = 0

    def __contains__(self, key: K) -> bool:
        """Return whether there is an entry of this key; that is no use of it."""
        return key in self._entries

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self._entries)

    def __iter__(self) -> Iterator[K]:
        """Yield the keys, the one used longest ago first."""
        return iter(self._entries)

    def __getitem__(self, key: K) -> V:
        """Return the value of a key. Raises `KeyError` without one."""
        value = self._entries[key]
        self._entries.move_to_end(key)
        return value

    def peek(self, key: K) -> V | None:
        """Return the value of a key, None without one; that is no use of it."""
        return self._entries.get(key)

    def get(self, key: K) -> V | None:
        """Return the value of a key, None without one."""
        return self[key] if key in self._entries else None

    def use(self, keys: Iterable[K]) -> None:
        """Count the entries of these keys as used, as far as there are any."""
        for key in keys:
            if key in self._entries:
                self._entries.move_to_end(key)

    def put(self, key: K, value: V, min_entries: int = 0) -> None:
        """Keep a value; discard those used longest ago beyond the bounds, but for `min_entries`."""
        self.add(key, value)
        self.trim(min_entries)

    def add(self, key: K, value: V) -> None:
        """Keep a value and all others, until `trim` is called."""
        self.discard(key)
        self._entries[key] = value
        self.weight += self._weight_of(value)

    def trim(self, min_entries: int = 0) -> None:
        """Discard entries used longest ago beyond the bounds, but for `min_entries`."""
        while len(self._entries) > min_entries and (
            self.weight > self._max_weight or len(self._entries) > self._max_entries
        ):
            _, oldest = self._entries.popitem(last=False)
            self.weight -= self._weight_of(oldest)

    def discard(self, key: K) -> None:
        """Discard the entry of a key, if there is one."""
        if key in self._entries:
            self.weight -= self._weight_of(self._entries.pop(key))

    def clear(self) -> None:
        """Discard all entries."""
        self._entries.clear()
        self.weight = 0

    def _weight_of(self, value: V) -> int:
        return 1 if self._weigh is None else self._weigh(value)
