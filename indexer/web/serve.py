"""The site on a port of this machine, until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
from collections.abc import Callable, Collection

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from indexer.errors import UsageError
from indexer.stores.abilities import FullStore
from indexer.stores.requirements import require_recipe
from indexer.web.app import application
from indexer.web.request_body import PATIENCE_SECONDS
from indexer.web.safety import App, allowed_hosts

_CLOSING_SECONDS = 3
# connections accepted at once; so often, too, asyncio complains each second when no more can be
_WAITING = 64


def serve(
    store: FullStore,
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    originals: str | None = None,
    allow_hosts: Collection[str] = (),
    ready: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve the review pages of a store until Ctrl-C or SIGTERM; `ready` hears the address when it
    can be opened.

    `port` 0 takes any that is free. Raises `StoreError` when nothing was indexed yet, and
    `UsageError` for an address that cannot be had or a folder of originals that is not there.
    """
    require_recipe(store)

    def app(actual: int) -> App:
        try:
            return application(store, allowed_hosts(host, actual, allow_hosts), originals)
        except FileNotFoundError as error:
            raise UsageError(
                f"{originals} is not there; give the folder whose files may be fetched"
            ) from error

    listen(app, host, port, ready)


def listen(
    app_at: Callable[[int], App], host: str, port: int, ready: Callable[[str], None]
) -> None:
    """Serve an application, made for the port that was had, until Ctrl-C or SIGTERM; `ready` hears
    the address.

    Raises `UsageError` for an address that cannot be had.
    """
    with contextlib.closing(_bound(host, port)) as listening:
        actual = int(listening.getsockname()[1])
        app = app_at(actual)
        config = uvicorn.Config(
            app,
            http=FirstRequestTimeout,
            lifespan="off",
            backlog=_WAITING,
            ws="none",
            proxy_headers=False,
            server_header=False,
            access_log=False,
            # what goes wrong in it is told as everything is: without the words of an exception
            log_config=None,
            timeout_graceful_shutdown=_CLOSING_SECONDS,
        )
        server = _Server(config, lambda: ready(f"http://{_spelled(host)}:{actual}/"))
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listening])


class FirstRequestTimeout(H11Protocol):
    """A connection that is closed when its first request does not come: whoever holds many open
    would shut others out.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request, but not for ever."""
        super().connection_made(transport)
        self._waiting = self.loop.call_later(PATIENCE_SECONDS, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._waiting.cancel()
        super().connection_lost(exc)

    def _give_up(self) -> None:
        if self.cycle is None:
            self.transport.close()


class _Server(uvicorn.Server):
    """A server that says when it answers, and ends cleanly from then on."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer, then tell."""
        await super().startup(sockets)
        self._ready()


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _bound(host: str, port: int) -> socket.socket:
    """A listening socket."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UsageError(
            f"{host} is no address of this machine ({error}); leave --host out for this machine alone"
        ) from error
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise UsageError(
            f"port {port} of {host} cannot be had ({error.strerror}); choose another with --port"
        ) from error
    return listening


def _spelled(host: str) -> str:
    return f"[{host}]" if ":" in host else host
