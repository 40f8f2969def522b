"""The checks on every request and the security headers of every answer.

Documents may be hostile, other sites may be hostile, and any of them may be open in the reviewer's
browser. So only known names are allowed in `Host` (against DNS rebinding), writes come only from
pages of this site and with the token of this process, and no page runs or loads anything from
elsewhere.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Collection, Mapping, MutableMapping, Sequence
from typing import Any, TypeAlias

from indexer.errors import UsageError

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
TOKEN_HEADER, TOKEN_FIELD = "x-nearfold-token", "token"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    # Under no-referrer, forms of this site would send `Origin: null`.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
)
_NAMES = {name for name, _ in HEADERS}
_READING = ("GET", "HEAD")
_WRONG_HOST = "this address is not served here; open the address that nearfold serve printed"
_OTHER_SITE = "this request comes from another site"


class TokenRefusal(UsageError):
    """A write without the token of this process."""


def allowed_hosts(host: str, port: int, more: Collection[str] = ()) -> frozenset[str]:
    """Return the values of `Host` that are answered.

    They are the loopback names and the bound address, with the port, and the names in `more`, with
    and without it.

    >>> sorted(allowed_hosts("127.0.0.1", 8765, ["review.example"]))[-2:]
    ['review.example', 'review.example:8765']
    """
    bound = f"[{host}]" if ":" in host else host
    names = {name.lower() for name in (*LOOPBACK, bound, *more)} - {"0.0.0.0", "[::]"}
    with_port = {f"{name}:{port}" for name in names}
    without_port = names if port == 80 else {name.lower() for name in more}
    return frozenset(with_port | without_port)


class Safety:
    """The outermost layer: it refuses unsafe requests and adds the security headers."""

    def __init__(self, app: App, hosts: frozenset[str]) -> None:
        self._app, self._hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; of other connections only `lifespan` is passed on."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def send_safely(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": _safe_headers(message.get("headers", []))}
            await send(message)

        if refusal := self._refusal(scope):
            await _refuse(send_safely, refusal)
        else:
            await self._app(scope, receive, send_safely)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Return the status and the reason for refusing a request, None to answer it."""
        headers = _decode_headers(scope)
        host = headers.get("host", [])
        if len(host) != 1 or host[0].lower() not in self._hosts:
            return 421, _WRONG_HOST
        if scope["method"] in _READING:
            return None
        own_origin = f"{scope.get('scheme', 'http')}://{host[0].lower()}"
        if any(origin.lower() != own_origin for origin in headers.get("origin", [])):
            return 403, _OTHER_SITE
        if any(site not in ("same-origin", "none") for site in headers.get("sec-fetch-site", [])):
            return 403, _OTHER_SITE
        return None


def is_same_token(candidate: str, token: str) -> bool:
    """Return whether a token is that of this process, compared in constant time."""
    return hmac.compare_digest(candidate.encode("utf-8", "replace"), token.encode())


def _safe_headers(headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return headers with the security headers in place of theirs, and `no-store` by default."""
    own = [pair for pair in headers if pair[0].lower() not in _NAMES]
    if not any(name.lower() == b"cache-control" for name, _ in own):
        own.append((b"cache-control", b"no-store"))
    return [*own, *HEADERS]


def _decode_headers(scope: Scope) -> Mapping[str, list[str]]:
    headers: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return headers


async def _refuse(send: Send, refusal: tuple[int, str]) -> None:
    status, reason = refusal
    body = f"{reason}\n".encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
