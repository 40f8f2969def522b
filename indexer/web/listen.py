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
    app_at: Callable[[int], App],
    host: str,
    port: int,
    ready: Callable[[str], None],
    tls: tuple[str, str] | None = None,
) -> None:
    """Serve an application until Ctrl-C or SIGTERM.

    `app_at` makes the application for the port that was bound; `ready` receives an address that is
    answered, when the server answers. `tls`: the files of a certificate and of its key. Raises
    `UsageError` for an address that cannot be bound, and for files that are none of the two.
    """
    certificate, key = tls or (None, None)
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
            ssl_certfile=certificate,
            ssl_keyfile=key,
        )
        _load(config)
        address = f"{'https' if tls else 'http'}://{_url_host(host)}:{bound_port}/"
        server = _Server(config, lambda: ready(address))
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


def _load(config: uvicorn.Config) -> None:
    """Read the files of TLS before anything is reported. Raises `UsageError`."""
    try:
        config.load()
    except OSError as error:
        raise UsageError(
            f"{config.ssl_certfile} and {config.ssl_keyfile} are no certificate and its key "
            f"({error.strerror or error}); give both as PEM files"
        ) from error


def _url_host(host: str) -> str:
    """Return the host of an address that is answered: of all addresses, that of this machine."""
    if host in ("0.0.0.0", "::"):
        host = _own_address(host)
    return f"[{host}]" if ":" in host else host


def _own_address(wildcard: str) -> str:
    """Return the address by which this machine reaches others; nothing is sent to find it out.

    Without a network it is the loopback address.
    """
    family, elsewhere, fallback = socket.AF_INET, "192.0.2.1", "127.0.0.1"
    if wildcard == "::":
        family, elsewhere, fallback = socket.AF_INET6, "2001:db8::1", "::1"
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((elsewhere, 9))
            return str(probe.getsockname()[0])
    except OSError:
        return fallback
