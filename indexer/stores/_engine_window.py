"""How many requests an engine is sent at once: half as many when it is overloaded, more again while it answers well."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition


class Window:
    """Places for requests under way, from 1 to `most`; it begins with all of them.

    The number is halved when a request does not get through, once for all requests that were under way then, and grows by
    one for each round of requests that do (additive increase, multiplicative decrease).
    """

    def __init__(self, most: int) -> None:
        self.narrowings = 0
        self._most = most
        self._size = float(most)
        self._taken = 0
        self._changed = Condition()

    @property
    def size(self) -> int:
        """The places there are now."""
        return int(self._size)

    @contextmanager
    def place(self) -> Iterator[None]:
        """Hold one place; wait until there is one."""
        with self._changed:
            self._changed.wait_for(lambda: self._taken < self.size)
            self._taken += 1
        try:
            yield
        finally:
            with self._changed:
                self._taken -= 1
                self._changed.notify()

    def widen(self) -> None:
        """A request got through."""
        with self._changed:
            self._size = min(float(self._most), self._size + 1 / self._size)
            self._changed.notify()

    def narrow(self, narrowings: int) -> None:
        """A request did not get through that was sent when there had been that many `narrowings`."""
        with self._changed:
            if narrowings == self.narrowings:
                self._size = max(1.0, self._size / 2)
                self.narrowings += 1
