"""An end to answers that trickle in: the clients' own timeouts begin anew with every byte."""

from __future__ import annotations

import http.client
import io
import socket
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import urllib3
    from typing_extensions import Buffer

WHOLE = (
    2.0  # an answer is whole after so many timeouts: one to begin in, and as long again to come in
)


def bounded_pool(pool: urllib3.HTTPConnectionPool) -> None:
    """Let each answer that comes through a pool's connections be whole, head and body, within
    `WHOLE` timeouts.

    What is not ends like any answer that does not come, with urllib3's `ReadTimeoutError`.
    """
    kind: Any = pool.ConnectionCls
    pool.ConnectionCls = type(f"Bounded{kind.__name__}", (kind,), {"response_class": _Answer})


class _Answer(http.client.HTTPResponse):
    """Made when the request was sent, and before anything of the answer is read."""

    def __init__(self, sock: socket.socket, *rest: Any, **settings: Any) -> None:
        super().__init__(sock, *rest, **settings)
        self.fp.close()
        self.fp = io.BufferedReader(_Until(sock))


class _Until(io.RawIOBase):
    """A socket's bytes until the time is over. Raises `TimeoutError` then."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock, self._raw = sock, sock.makefile("rb", buffering=0)
        self._seconds = sock.gettimeout()
        self._end = time.monotonic() + WHOLE * (self._seconds or 0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int | None:
        if self._seconds is not None:
            left = self._end - time.monotonic()
            if left <= 0:
                raise TimeoutError("the answer was not whole in time")
            self._sock.settimeout(min(self._seconds, left))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()
