"""Traces, events and metrics of requests: route, status and seconds, never what was searched."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection, MutableMapping
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response

from indexer.errors import MissingExtra
from indexer.stores.abilities import FullStore
from indexer.system.logs import event
from indexer.system.traces import span
from indexer.web.safety import App, Receive, Scope, Send

if TYPE_CHECKING:
    from indexer.operations.metrics import Figures

OTHER = "other"
_TEXT = "text/plain; version=0.0.4; charset=utf-8"
_METHODS = ("GET", "HEAD", "POST")


class SiteFigures:
    """The metrics of a site, where `prometheus-client` is installed."""

    def __init__(self, store: FullStore) -> None:
        self._figures: Figures | None = None
        with contextlib.suppress(ModuleNotFoundError):
            from indexer.operations.metrics import Figures

            self._figures = Figures(store)

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        if self._figures is not None:
            self._figures.observe(method, route, status, seconds)

    def answer(self, _: Request) -> Response:
        """Return the metrics of the store and of the requests so far.

        Raises `MissingExtra`, and `StoreError` of the store.
        """
        if self._figures is None:
            raise MissingExtra(package="prometheus-client", extra="metrics")
        return Response(self._figures.text(), media_type=_TEXT)


class MeasureRequests:
    """The layer around the routes that measures each request.

    `routes` are the paths that exist; other paths are recorded as `other`, static files as
    `/static`.
    """

    def __init__(self, app: App, routes: Collection[str], figures: SiteFigures) -> None:
        self._app = app
        self._routes = frozenset(routes)
        self._figures = figures

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
            self._figures.observe(method, route, status, seconds)
            event("request", method=method, route=route, status=status, seconds=seconds)

    def _route(self, path: str) -> str:
        if path in self._routes:
            return path
        return "/static" if path.startswith("/static/") else OTHER
