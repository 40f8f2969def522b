"""Bounded concurrency of requests: halved when an engine is overloaded, else increased again."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition


class Window:
    """Places for requests under way, from 1 to `most`, at first `most`.

    Their number is halved when a request fails, once for all requests that were under way then, and
    grows by one for each round of requests that succeed (additive increase, multiplicative
    decrease).
    """

    def __init__(self, most: int) -> None:
        self.decreases = 0
        self.increases = 0
        self._most = most
        self._size = float(most)
        self._taken = 0
        self._waiting: deque[object] = deque()
        self._changed = Condition()

    @property
    def size(self) -> int:
        """Return the current number of places."""
        return int(self._size)

    @contextmanager
    def place(self) -> Iterator[None]:
        """Hold one place; wait until there is one."""
        self._take()
        try:
            yield
        finally:
            self._leave()

    def yield_place(self) -> None:
        """Give the held place to a waiting request, and take one again in turn."""
        self._leave()
        self._take()

    def _take(self) -> None:
        turn = object()
        with self._changed:
            self._waiting.append(turn)
            try:
                self._changed.wait_for(lambda: self._waiting[0] is turn and self._taken < self.size)
                self._taken += 1
            finally:
                self._waiting.remove(turn)
                self._changed.notify_all()

    def _leave(self) -> None:
        with self._changed:
            self._taken -= 1
            self._changed.notify_all()

    def increase(self) -> None:
        """Allow more requests after one that succeeded."""
        with self._changed:
            self.increases += 1
            self._size = min(float(self._most), self._size + 1 / self._size)
            self._changed.notify_all()

    def decrease(self, decreases: int) -> None:
        """Halve the places after a failed request, unless that was done since it was sent.

        `decreases` is the count of decreases when the request was sent.
        """
        with self._changed:
            if decreases == self.decreases:
                self._size = max(1.0, self._size / 2)
                self.decreases += 1
