"""How many requests an engine is sent at once: half as many when it is overloaded, more again while
it answers well.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition


class Window:
    """Places for requests under way, from 1 to `most`; it begins with all of them.

    The number is halved when a request does not get through, once for all requests that were under
    way then, and grows by one for each round of requests that do (additive increase, multiplicative
    decrease).
    """

    def __init__(self, most: int) -> None:
        self.narrowings = self.widenings = 0
        self._most = most
        self._size = float(most)
        self._taken = 0
        self._waiting: deque[object] = deque()
        self._changed = Condition()

    @property
    def size(self) -> int:
        """The places there are now."""
        return int(self._size)

    @contextmanager
    def place(self) -> Iterator[None]:
        """Hold one place; wait until there is one."""
        self._take()
        try:
            yield
        finally:
            self._leave()

    def give_way(self) -> None:
        """Leave the place that is held to those that wait for one, and take one again when it is
        one's turn.
        """
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

    def widen(self) -> None:
        """A request got through."""
        with self._changed:
            self.widenings += 1
            self._size = min(float(self._most), self._size + 1 / self._size)
            self._changed.notify_all()

    def narrow(self, narrowings: int) -> None:
        """A request did not get through that was sent when there had been that many
        `narrowings`.
        """
        with self._changed:
            if narrowings == self.narrowings:
                self._size = max(1.0, self._size / 2)
                self.narrowings += 1
