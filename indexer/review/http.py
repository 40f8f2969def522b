"""HTTP of the review site: statuses of errors, parameters and bodies, the server, static files."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import io
import json
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs

import uvicorn
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from uvicorn.protocols.http.h11_impl import H11Protocol

from indexer.errors import (
    DocumentNotFound,
    NearfoldError,
    StoreAccessDenied,
    StoreBusy,
    StoreError,
    StoreUnreachable,
    UnknownNumber,
    UsageError,
)
from indexer.review.api.endpoints import MAX_BYTES
from indexer.review.exports.writers import Table, write_csv
from indexer.review.originals.files import OriginalUnavailable
from indexer.review.rendering import STATIC
from indexer.review.safety import TOKEN_FIELD, TOKEN_HEADER, App, Scope, TokenRefusal, is_same_token
from indexer.wording import well_formed

_STATUSES: tuple[tuple[type[NearfoldError], int], ...] = (
    (TokenRefusal, 403),
    (UnknownNumber, 404),
    (OriginalUnavailable, 404),
    (UsageError, 400),
    (DocumentNotFound, 404),
    (StoreBusy, 409),
    (StoreUnreachable, 503),
    (StoreAccessDenied, 502),
    (StoreError, 409),
)
_HEADINGS = {
    400: "Invalid request",
    403: "Not allowed",
    404: "Not found",
    405: "Not allowed",
    409: "The store cannot respond",
    500: "Internal error",
    502: "The store refused the request",
    503: "The store does not respond",
}


_PAGE_MESSAGES: Mapping[type[NearfoldError], str] = {
    DocumentNotFound: (
        "This document is not in the store: it was deleted, or indexed again from another path. "
        "A search finds what is there now."
    ),
}


def status_of(error: NearfoldError) -> int:
    """Return the HTTP status of an error."""
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)


def heading(status: int) -> str:
    """Return the heading of the page that shows an error."""
    return _HEADINGS.get(status, "The request failed")


def page_message(error: Exception) -> str | None:
    """Return what a reader of pages can do about an error, None where its own words say that."""
    return _PAGE_MESSAGES.get(type(error)) if isinstance(error, NearfoldError) else None


# The values in the address and the body of a request; limits of size and time, and the token.

TIMEOUT_SECONDS = 30  # for a whole body
_JSON, _FORM = "application/json", "application/x-www-form-urlencoded"


def query_texts(request: Request) -> Mapping[str, list[str]]:
    """Return the parameters in the address of a request.

    Lone surrogates, which no stored text holds, are replaced.
    """
    texts: dict[str, list[str]] = {}
    for name, value in request.query_params.multi_items():
        texts.setdefault(name, []).append(well_formed(value))
    return texts


async def read_body(request: Request, max_bytes: int = MAX_BYTES) -> bytes:
    """Return all bytes of a body.

    Raises `HTTPException`: 413 beyond `max_bytes`, 400 when the client disconnects, 408 after 30
    seconds, 503 when the server stops.
    """
    try:
        return await asyncio.wait_for(_read(request, max_bytes), TIMEOUT_SECONDS)
    except asyncio.TimeoutError:
        message = f"the request was not complete within {TIMEOUT_SECONDS} s; send it again"
        raise HTTPException(408, message) from None
    except ClientDisconnect:
        raise HTTPException(
            400, "the client disconnected before the request was complete"
        ) from None
    except asyncio.CancelledError:
        # A client that is still sending must not keep the server from stopping.
        raise HTTPException(503, "the server is shutting down; try again later") from None


async def _read(request: Request, max_bytes: int) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > max_bytes:
            raise HTTPException(413, f"the request is longer than {max_bytes:,} bytes; send less")
    return bytes(body)


async def read_fields(
    request: Request, token: str, max_bytes: int = MAX_BYTES
) -> Mapping[str, Sequence[str]]:
    """Return the values in the body of a request without the token, which must be right.

    Raises as `read_body`, `parse_body` and `check_token` do.
    """
    body = await read_body(request, max_bytes)
    fields = parse_body(body, request.headers.get("content-type", ""))
    check_token(fields, request.headers.get(TOKEN_HEADER, ""), token)
    return {name: items for name, items in fields.items() if name != TOKEN_FIELD}


def parse_body(body: bytes, content_type: str) -> Mapping[str, Sequence[str]]:
    """Return the values of a form or of a JSON object, as strings by name. Raises `UsageError`.

    >>> parse_body(b'{"id": ["a"], "family": true}', "application/json")
    {'id': ['a'], 'family': ['yes']}
    """
    kind = content_type.partition(";")[0].strip().lower()
    try:
        if kind == _FORM:
            return parse_qs(body.decode(), keep_blank_values=True, max_num_fields=1000)
        if kind == _JSON:
            return _parse_object(json.loads(body))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the request cannot be parsed: {error}") from error
    raise UsageError(f"send a JSON object as {_JSON}")


def _parse_object(value: Any) -> Mapping[str, Sequence[str]]:
    if not isinstance(value, dict):
        raise UsageError(f"send a JSON object as {_JSON}")
    lists = {name: item if isinstance(item, list) else [item] for name, item in value.items()}
    return {name: list(map(_to_string, items)) for name, items in lists.items()}


def _to_string(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, (str, int, float)):
        raise UsageError("values are strings, numbers, true or false, or lists of them")
    return str(value)


def check_token(fields: Mapping[str, Sequence[str]], header: str, token: str) -> None:
    """Raise `TokenRefusal` unless the header or the form carries the token of this process."""
    candidates = (header, *fields.get(TOKEN_FIELD, ()))
    if not any(is_same_token(candidate, token) for candidate in candidates):
        raise TokenRefusal(
            "this page is from another run of nearfold serve; load it again, then repeat"
        )


# An HTTP server on a port of this machine that runs until it is stopped.

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
    answered, when the server responds. `tls`: the files of a certificate and of its key. Raises
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
    """A server that reports when it responds."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to respond, then report it."""
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
            f"{config.ssl_certfile} and {config.ssl_keyfile} are not a certificate and its key "
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


# Styles, scripts and pictures of the pages, under an address that names their contents.

_FOR_GOOD = "public, max-age=31536000, immutable"
_ASK_AGAIN = "no-cache"


class _CachedFiles(StaticFiles):
    """The files of one folder, each with the same `Cache-Control`."""

    def __init__(self, policy: str) -> None:
        super().__init__(directory=STATIC)
        self._policy = policy

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = self._policy
        return response


def static_address() -> str:
    """Return the path of the static files, without a final slash: it changes when one of them does.

    Scripts import each other by relative paths, and so stay in the same version.
    """
    contents = hashlib.sha256()
    for path in sorted(STATIC.iterdir()):
        contents.update(path.name.encode() + b"\0" + path.read_bytes())
    return f"/static/{contents.hexdigest()[:16]}"


def static_routes(address: str) -> list[BaseRoute]:
    """Return the routes of the static files: at `address` for good, below `/static` to be checked
    again each time.
    """
    return [
        Mount(address, _CachedFiles(_FOR_GOOD)),
        Mount("/static", _CachedFiles(_ASK_AGAIN)),
        Route("/favicon.ico", lambda _: RedirectResponse(f"{address}/icon.svg")),
    ]


# Tables that a browser saves as files.


def csv_download(table: Table, name: str) -> Response:
    """Return the table as a CSV file of that name, UTF-8; lone surrogates become question marks."""
    file = io.StringIO()
    write_csv(table, file)
    body = file.getvalue().encode("utf-8", "replace")
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(body, media_type="text/csv; charset=utf-8", headers=headers)
