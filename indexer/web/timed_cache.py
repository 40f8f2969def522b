"""A cache whose entries grow old."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from typing import Generic, TypeVar

T = TypeVar("T")


class TimedCache(Generic[T]):
    """The most recent `most` values, each for `seconds`; safe to share by threads."""

    def __init__(self, most: int, seconds: float = math.inf) -> None:
        self._most, self._seconds = most, seconds
        self._values = OrderedDict[object, tuple[float, T]]()
        self._lock = threading.Lock()

    def get(self, key: object) -> T | None:
        """Return the value under a key, None if it is absent or too old."""
        with self._lock:
            stored_at, value = self._values.get(key, (-math.inf, None))
            return value if time.monotonic() - stored_at <= self._seconds else None

    def put(self, key: object, value: T) -> T:
        """Store a value, remove the oldest ones beyond the limit, and return the value."""
        with self._lock:
            self._values[key] = time.monotonic(), value
            self._values.move_to_end(key)
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        return value

    def clear(self) -> None:
        """Remove all values."""
        with self._lock:
            self._values.clear()
