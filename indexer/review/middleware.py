"""Traces, events and metrics of requests: route, status and seconds, never what was searched."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import threading
import time
from collections.abc import Callable, Collection, MutableMapping
from typing import TYPE_CHECKING, Any

import psutil
from starlette.requests import Request
from starlette.responses import Response

from indexer.errors import MissingExtra
from indexer.review.safety import App, Receive, Scope, Send
from indexer.stores.abilities import FullStore
from indexer.system.logs import event, span

if TYPE_CHECKING:
    from indexer.jobs.metrics import Statistics


OTHER = "other"
_TEXT = "text/plain; version=0.0.4; charset=utf-8"
_METHODS = ("GET", "HEAD", "POST")


class SiteStatistics:
    """The metrics of a site, where `prometheus-client` is installed."""

    def __init__(self, store: FullStore) -> None:
        self._statistics: Statistics | None = None
        with contextlib.suppress(ModuleNotFoundError):
            from indexer.jobs.metrics import Statistics

            self._statistics = Statistics(store)

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        if self._statistics is not None:
            self._statistics.observe(method, route, status, seconds)

    def respond(self, _: Request) -> Response:
        """Return the metrics of the store and of the requests so far.

        Raises `MissingExtra`, and `StoreError` of the store.
        """
        if self._statistics is None:
            raise MissingExtra(package="prometheus-client", extra="metrics")
        return Response(self._statistics.text(), media_type=_TEXT)


class MeasureRequests:
    """The layer around the routes that measures each request.

    `routes` are the paths that exist; other paths are recorded as `other`, static files as
    `/static`.
    """

    def __init__(self, app: App, routes: Collection[str], statistics: SiteStatistics) -> None:
        self._app = app
        self._routes = frozenset(routes)
        self._statistics = statistics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on and measure it; other connections are passed on only."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 500
        started = time.monotonic()
        method = scope["method"] if scope["method"] in _METHODS else OTHER
        route = self._route(scope["path"])

        async def send_and_note_status(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            with span("request", method=method, route=route):
                await self._app(scope, receive, send_and_note_status)
        finally:
            seconds = round(time.monotonic() - started, 6)
            self._statistics.observe(method, route, status, seconds)
            event("request", method=method, route=route, status=status, seconds=seconds)

    def _route(self, path: str) -> str:
        if path in self._routes:
            return path
        return "/static" if path.startswith("/static/") else OTHER


# The memory limit of a server, beyond which the caches are emptied.

DEFAULT_MEGABYTES = 1024
_GROWTH = 4  # one part in so many of the limit, by which memory grows before the next discarding


class LimitMemory:
    """The layer around the routes that discards what is kept after a request that leaves the
    process with more than `limit` bytes of resident memory.

    Where that does not suffice, it discards again when memory has grown by a quarter of `limit`.
    """

    def __init__(self, app: App, limit: int, discard: Callable[[], None]) -> None:
        self._app = app
        self._limit = self._min_limit = limit
        self._growth = limit // _GROWTH
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
            self._limit = max(self._min_limit, self._resident() + self._growth)
        finally:
            self._lock.release()

    def _resident(self) -> int:
        return int(self._process.memory_info().rss)


def _return_memory() -> None:
    """Return free memory to the operating system, where the C library can."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
