"""What every request must satisfy, and what every answer carries, whatever the page.

Documents are hostile, other sites are hostile, and any of them may be open in the reviewer's
browser. So: only names of ours in `Host` (a rebound name reaches nothing), writes only from pages
of ours and with the token of this process, and no page runs or loads anything that does not come
from here.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any, TypeAlias

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
TOKEN_HEADER, TOKEN_FIELD = "x-nearfold-token", "token"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (
        b"referrer-policy",
        b"same-origin",
    ),  # under no-referrer, forms of ours would send `Origin: null`
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
)
_NAMES = {name for name, _ in HEADERS}
_READING = ("GET", "HEAD")


def allowed_hosts(host: str, port: int, more: Collection[str] = ()) -> frozenset[str]:
    """The values of `Host` that are answered: loopback, what the server is bound to, and names that
    were allowed.

    >>> sorted(allowed_hosts("127.0.0.1", 8765, ["review.example"]))[-2:]
    ['review.example', 'review.example:8765']
    """
    bound = f"[{host}]" if ":" in host else host
    names = {name.lower() for name in (*LOOPBACK, bound, *more)} - {"0.0.0.0", "[::]"}
    return frozenset(
        {f"{name}:{port}" for name in names}
        | (names if port == 80 else {name.lower() for name in more})
    )


class Safety:
    """The outermost layer: refuses what must not be answered, and adds the headers."""

    def __init__(self, app: App, hosts: frozenset[str]) -> None:
        self._app, self._hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; anything but HTTP is passed over."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def sent(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                kept = [
                    pair for pair in message.get("headers", []) if pair[0].lower() not in _NAMES
                ]
                stored = (
                    []
                    if any(name.lower() == b"cache-control" for name, _ in kept)
                    else [(b"cache-control", b"no-store")]
                )
                message = {**message, "headers": [*kept, *stored, *HEADERS]}
            await send(message)

        if refused := self._refusal(scope):
            await _refuse(sent, refused)
        else:
            await self._app(scope, receive, sent)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        host = headers.get("host", [])
        if len(host) != 1 or host[0].lower() not in self._hosts:
            return (
                421,
                "this address is not served here; open the address that nearfold serve printed",
            )
        if scope["method"] in _READING:
            return None
        ours = f"{scope.get('scheme', 'http')}://{host[0].lower()}"
        if any(origin.lower() != ours for origin in headers.get("origin", [])):
            return 403, "this request comes from another site"
        if any(site not in ("same-origin", "none") for site in headers.get("sec-fetch-site", [])):
            return 403, "this request comes from another site"
        return None


def same_token(given: str, token: str) -> bool:
    """Whether a token is that of this process, compared in constant time."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), token.encode())


async def _refuse(send: Send, refused: tuple[int, str]) -> None:
    status, reason = refused
    body = f"{reason}\n".encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
