"""The checks on every request and the security headers of every response.

Documents may be hostile, other sites may be hostile, and any of them may be open in the reviewer's
browser. So only known names are allowed in `Host` (against DNS rebinding), writes come only from
pages of this site and with the token of this process, other sites link to pages and load nothing,
and no page runs or loads anything from elsewhere.
"""

from __future__ import annotations

import hmac
import ipaddress
import operator
import secrets
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
    "connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_POLICY_NAME = b"content-security-policy"
HEADERS = (
    (_POLICY_NAME, POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    # Under no-referrer, forms of this site would send `Origin: null`.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
)
_NAMES = {name for name, _ in HEADERS}
_READ_METHODS = ("GET", "HEAD")
_WRONG_HOST = "this address is not served here; open the address that nearfold serve printed"
_OTHER_SITE = "this request comes from another site"


class TokenRefusal(UsageError):
    """A write without the token of this process."""


def allowed_hosts(host: str, port: int, more: Collection[str] = ()) -> frozenset[str]:
    """Return the values of `Host` that are answered on every connection.

    They are the bound address, with the port, and the names in `more`, with and without it. Each
    connection adds the address that it came to; see `Safety`.

    >>> sorted(allowed_hosts("192.0.2.1", 8765, ["review.example"]))
    ['192.0.2.1:8765', 'review.example', 'review.example:8765']
    """
    names = {name.lower() for name in (_in_url(host), *more)} - {"0.0.0.0", "[::]"}
    with_port = {f"{name}:{port}" for name in names}
    without_port = names if port in (80, 443) else {name.lower() for name in more}
    return frozenset(with_port | without_port)


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches an address."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)


def is_local(peer: Sequence[Any] | None) -> bool:
    """Return whether the other end of a connection, as (address, port), is on this machine."""
    return peer is not None and is_loopback(str(peer[0]))


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _names_of(server: Sequence[Any] | None) -> frozenset[str]:
    """Return the values of `Host` for the address of this machine that a connection came to.

    The loopback names are good only where the connection came to a loopback address: a request
    from the network that claims them is forged.
    """
    if server is None or server[1] is None:
        return frozenset()
    names = LOOPBACK if is_local(server) else (_in_url(str(server[0])),)
    ports = (f":{server[1]}", "") if server[1] in (80, 443) else (f":{server[1]}",)
    return frozenset(f"{name}{port}" for name in names for port in ports)


class Safety:
    """The outermost layer: it refuses unsafe requests and adds the security headers.

    `hosts` are the values of `Host` that are answered, in addition to the address that a
    connection came to.
    `policies` are the content security policies that a response may have instead of that of pages.
    """

    def __init__(
        self, app: App, hosts: frozenset[str], policies: Collection[str] = frozenset()
    ) -> None:
        self._app, self._hosts = app, hosts
        self._policies = frozenset(policy.encode() for policy in policies)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request; of other connections only `lifespan` is passed on."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def send_safely(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                headers = _safe_headers(message.get("headers", []), self._policies)
                message = {**message, "headers": headers}
            await send(message)

        if refusal := self._refusal(scope):
            await refuse(send_safely, *refusal)
        else:
            await self._app(scope, receive, send_safely)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Return the status and the reason for refusing a request, None to accept it."""
        headers = decode_headers(scope)
        host = headers.get("host", [])
        hosts = self._hosts | _names_of(scope.get("server"))
        if len(host) != 1 or host[0].lower() not in hosts:
            return 421, _WRONG_HOST
        sites = headers.get("sec-fetch-site", [])
        is_of_other = any(site not in ("same-origin", "none") for site in sites)
        if scope["method"] in _READ_METHODS:
            opens_page = [*headers.get("sec-fetch-mode", []), *headers.get("sec-fetch-dest", [])]
            is_embedded = is_of_other and opens_page != ["navigate", "document"]
            return (403, _OTHER_SITE) if is_embedded else None
        own = {f"{scheme}://{host[0].lower()}" for scheme in (scope.get("scheme", "http"), "https")}
        if any(origin.lower() not in own for origin in headers.get("origin", [])):
            return 403, _OTHER_SITE
        return (403, _OTHER_SITE) if is_of_other else None


def masked_token(token: str) -> str:
    """Return a token in other letters each time.

    Pages are compressed, and hold words of the request next to the token: by their length alone a
    token that is always the same could be guessed (the BREACH attack).
    """
    plain = token.encode()
    mask = secrets.token_bytes(len(plain))
    return (mask + bytes(map(operator.xor, mask, plain))).hex()


def is_same_token(candidate: str, token: str) -> bool:
    """Return whether a token, masked or not, is that of this process, compared in constant time."""
    plain = token.encode()
    try:
        unmasked = bytes.fromhex(candidate)
    except ValueError:
        unmasked = b""
    if len(unmasked) == 2 * len(plain):
        masked = zip(unmasked[: len(plain)], unmasked[len(plain) :], strict=True)
        return hmac.compare_digest(bytes(a ^ b for a, b in masked), plain)
    return hmac.compare_digest(candidate.encode("utf-8", "replace"), plain)


def _safe_headers(
    headers: Sequence[tuple[bytes, bytes]], policies: Collection[bytes] = ()
) -> list[tuple[bytes, bytes]]:
    """Return headers with the security headers instead of theirs, and `no-store` by default.

    One of `policies` stays; where it lets this site frame the response, so does `X-Frame-Options`.
    """
    security = dict(HEADERS)
    for name, value in headers:
        if name.lower() == _POLICY_NAME and value in policies:
            security[_POLICY_NAME] = value
            if b"frame-ancestors 'self'" in value:
                security[b"x-frame-options"] = b"SAMEORIGIN"
    own = [pair for pair in headers if pair[0].lower() not in _NAMES]
    if not any(name.lower() == b"cache-control" for name, _ in own):
        own.append((b"cache-control", b"no-store"))
    return [*own, *security.items()]


def decode_headers(scope: Scope) -> Mapping[str, list[str]]:
    """Return the values of the headers of a request by name, in small letters."""
    headers: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return headers


async def refuse(send: Send, status: int, reason: str, *more: tuple[str, str]) -> None:
    """Respond with a status and a reason in plain text; `more` are headers."""
    body = f"{reason}\n".encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        *((name.encode(), value.encode()) for name, value in more),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
