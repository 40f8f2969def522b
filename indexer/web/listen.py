"""An HTTP server on a port of this machine that runs until it is stopped."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from indexer.errors import UsageError
from indexer.web.request_body import TIMEOUT_SECONDS
from indexer.web.safety import App

_CLOSING_SECONDS = 3
# Connections accepted at once. At the limit of open files asyncio logs as many errors a second.
_BACKLOG = 64


def listen(
    app_at: Callable[[int], App], host: str, port: int, ready: Callable[[str], None]
) -> None:
    """Serve an application until Ctrl-C or SIGTERM.

    `app_at` makes the application for the port that was bound; `ready` receives the address when
    the server answers. Raises `UsageError` for an address that cannot be bound.
    """
    with contextlib.closing(_bind(host, port)) as listener:
        bound_port = int(listener.getsockname()[1])
        config = uvicorn.Config(
            app_at(bound_port),
            http=FirstRequestTimeout,
            lifespan="off",
            backlog=_BACKLOG,
            ws="none",
            proxy_headers=False,
            server_header=False,
            access_log=False,
            # Errors go to the log of nearfold, which leaves out the words of exceptions.
            log_config=None,
            timeout_graceful_shutdown=_CLOSING_SECONDS,
        )
        server = _Server(config, lambda: ready(f"http://{_url_host(host)}:{bound_port}/"))
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listener])


class FirstRequestTimeout(H11Protocol):
    """A connection that is closed if its first request does not come.

    Otherwise a client that holds many open would shut others out.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer."""
        super().connection_made(transport)
        self._timer = self.loop.call_later(TIMEOUT_SECONDS, self._close_if_idle)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._timer.cancel()
        super().connection_lost(exc)

    def _close_if_idle(self) -> None:
        if self.cycle is None:
            self.transport.close()


class _Server(uvicorn.Server):
    """A server that reports when it answers."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to answer, then report it."""
        await super().startup(sockets)
        self._ready()


def _bind(host: str, port: int) -> socket.socket:
    """Return a listening socket."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UsageError(
            f"{host} is not an address of this machine ({error}); "
            "leave out --host to listen on this machine alone"
        ) from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise UsageError(
            f"port {port} of {host} cannot be opened ({error.strerror}); choose another with --port"
        ) from error
    return listener


def _url_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host
