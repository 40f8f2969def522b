"""A cache of the entries that were used last, bounded by their weights."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LruCache(Generic[K, V]):
    """The entries that were used last, as many as weigh `max_weight` together.

    `weight`: of all entries; one weighs 1, or what `weigh` returns for its value. Not safe to share
    by threads.

    >>> cache = LruCache[str, str](5, weigh=len)
    >>> cache.put("a", "one"); cache.put("b", "two"); "a" in cache, cache.get("b")
    (False, 'two')
    """

    def __init__(self, max_weight: int, weigh: Callable[[V], int] | None = None) -> None:
        self._max_weight = max_weight
        self._weigh = weigh
        self._entries: OrderedDict[K, V] = OrderedDict()
        self.weight = 0

    def __contains__(self, key: K) -> bool:
        """Return whether there is an entry of this key; that is no use of it."""
        return key in self._entries

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self._entries)

    def peek(self, key: K) -> V | None:
        """Return the value of a key, None without one; that is no use of it."""
        return self._entries.get(key)

    def get(self, key: K) -> V | None:
        """Return the value of a key, None without one."""
        if key not in self._entries:
            return None
        self._entries.move_to_end(key)
        return self._entries[key]

    def put(self, key: K, value: V, min_entries: int = 0) -> None:
        """Keep a value; discard those used longest ago beyond the weight, but for `min_entries`."""
        if key in self._entries:
            self.weight -= self._weight_of(self._entries.pop(key))
        self._entries[key] = value
        self.weight += self._weight_of(value)
        while self.weight > self._max_weight and len(self._entries) > min_entries:
            _, oldest = self._entries.popitem(last=False)
            self.weight -= self._weight_of(oldest)

    def clear(self) -> None:
        """Discard all entries."""
        self._entries.clear()
        self.weight = 0

    def _weight_of(self, value: V) -> int:
        return 1 if self._weigh is None else self._weigh(value)
