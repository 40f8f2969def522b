"""Pools of connections whose answers have a deadline.

The timeout of urllib3 begins anew with every byte, so an answer that trickles in never ends by it.
"""

from __future__ import annotations

import io
import socket
import time
from typing import TYPE_CHECKING, Any

from urllib3 import HTTPConnectionPool, HTTPResponse, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection

if TYPE_CHECKING:
    from typing_extensions import Buffer

ANSWER_TIMEOUTS = 2.0  # one timeout for an answer to begin, and one for the rest of it


def deadline_pool(scheme: str, host: str, port: int, **settings: Any) -> HTTPConnectionPool:
    """Return a pool whose answers are whole, head and body, within `ANSWER_TIMEOUTS` timeouts.

    The timeout is that of the request. A later answer ends with urllib3's `ReadTimeoutError`, like
    one that never begins. `scheme` is http or https, `settings` are those of urllib3's pools.
    """
    pool_class = _TlsPool if scheme == "https" else _Pool
    return pool_class(host, port, **settings)


class _Connection(HTTPConnection):
    """A connection that reads each answer through a socket with a deadline."""

    def __str__(self) -> str:
        """Return the host and port, as messages of urllib3 name a connection."""
        return f"{self.host}:{self.port}"

    def getresponse(self) -> HTTPResponse:  # type: ignore[override]  # as urllib3 has it
        sock: Any = self.sock
        view: Any = _AnswerSocket(sock)
        self.sock = view
        try:
            return super().getresponse()
        finally:
            if self.sock is view:  # None when the answer closed the connection
                self.sock = sock


class _TlsConnection(_Connection, HTTPSConnection):
    """The same, encrypted."""


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _TlsPool(HTTPSConnectionPool):
    ConnectionCls = _TlsConnection


class _AnswerSocket:
    """A connected socket during one answer: what its file reads must arrive before the deadline."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self.settimeout = sock.settimeout
        self.close = sock.close

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_AnswerBytes(self._sock))


class _AnswerBytes(io.RawIOBase):
    """The bytes of one answer; reading them raises `TimeoutError` after the deadline."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._file = sock.makefile("rb", buffering=0)
        self._timeout = sock.gettimeout()
        self._deadline = time.monotonic() + ANSWER_TIMEOUTS * (self._timeout or 0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int | None:
        if self._timeout is not None:
            seconds = self._deadline - time.monotonic()
            if seconds <= 0:
                raise TimeoutError("the answer was not complete in time")
            self._sock.settimeout(min(self._timeout, seconds))
        return self._file.readinto(buffer)

    def close(self) -> None:
        self._file.close()
        super().close()
