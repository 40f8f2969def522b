"""Results that take long of which only the last one that was asked for is wanted."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
T = TypeVar("T")


class LatestReader(Generic[K, T]):
    """Results of `read` by key, computed one at a time in the background, the last `most` kept.

    While one is computed only the last other one that was asked for waits: whoever drags a slider
    wants none of those before. Safe to share by threads.
    """

    def __init__(self, read: Callable[[K], T], most: int) -> None:
        self._read = read
        self._most = most
        self._results: OrderedDict[K, T | Exception] = OrderedDict()
        self._wanted: list[K] = []
        self._is_reading = False
        self._changed = threading.Condition()

    def get(self, key: K, timeout: float) -> T | None:
        """Return the result, None if it is not ready within `timeout` seconds.

        Raises the error that ended its computation, once.
        """
        with self._changed:
            if key not in self._results:
                self._wanted = [key]
                if not self._is_reading:
                    self._is_reading = True
                    threading.Thread(target=self._run, name="latest", daemon=True).start()
                self._changed.wait_for(lambda: key in self._results, timeout)
            result = self._results.get(key)
            if isinstance(result, Exception):
                del self._results[key]
                raise result
            return result

    def clear(self) -> None:
        """Discard the results; one that is computed now is kept."""
        with self._changed:
            self._results.clear()

    def _run(self) -> None:
        while (key := self._next()) is not None:
            try:
                result: T | Exception = self._read(key)
            except Exception as error:
                result = error
            with self._changed:
                self._results[key] = result
                while len(self._results) > self._most:
                    self._results.popitem(last=False)
                self._changed.notify_all()

    def _next(self) -> K | None:
        with self._changed:
            while self._wanted:
                key = self._wanted.pop()
                if key not in self._results:
                    return key
            self._is_reading = False
            return None
