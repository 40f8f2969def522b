"""The memory limit of a server: beyond it, what is kept between requests is discarded."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import threading
from collections.abc import Callable

import psutil

from indexer.web.safety import App, Receive, Scope, Send

DEFAULT_MEGABYTES = 1024
_SHARE = 4  # one part in so many of the limit, by which memory grows before the next discarding


class LimitMemory:
    """The layer around the routes that discards what is kept after a request that leaves the
    process with more than `most` bytes of resident memory.

    Where that does not suffice, it discards again when memory has grown by a quarter of `most`.
    """

    def __init__(self, app: App, most: int, discard: Callable[[], None]) -> None:
        self._app = app
        self._most, self._growth = most, most // _SHARE
        self._limit = most
        self._discard = discard
        self._lock = threading.Lock()
        self._process = psutil.Process()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on, and look at the memory after it."""
        try:
            await self._app(scope, receive, send)
        finally:
            if scope["type"] == "http" and self._resident() > self._limit:
                await asyncio.to_thread(self._release)

    def _release(self) -> None:
        if not self._lock.acquire(blocking=False):
            return
        try:
            self._discard()
            _return_memory()
            self._limit = max(self._most, self._resident() + self._growth)
        finally:
            self._lock.release()

    def _resident(self) -> int:
        return int(self._process.memory_info().rss)


def _return_memory() -> None:
    """Return free memory to the operating system, where the C library can."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
