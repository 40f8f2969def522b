"""Pools of connections whose responses have a deadline.

The timeout of urllib3 begins anew with every byte, so a response that trickles in never ends by it.
"""

from __future__ import annotations

import base64
import io
import re
import socket
import ssl
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from urllib3 import HTTPConnectionPool, HTTPResponse, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection

from indexer.errors import (
    ExpiredCredentials,
    StoreNotReady,
    StoreUnreachable,
    UnsupportedEngine,
    UsageError,
)
from indexer.stores.address import StoreAddress
from indexer.stores.engine.requests import Response

if TYPE_CHECKING:
    from typing_extensions import Buffer


RESPONSE_TIMEOUTS = 2.0  # one timeout for a response to begin, and one for the rest of it


def deadline_pool(scheme: str, host: str, port: int, **settings: Any) -> HTTPConnectionPool:
    """Return a pool whose responses are whole, head and body, within `RESPONSE_TIMEOUTS` timeouts.

    The timeout is the request's. A later response ends with urllib3's `ReadTimeoutError`, like
    one that never begins. `scheme` is http or https, `settings` are as for urllib3's pools.
    """
    pool_class = _TlsPool if scheme == "https" else _Pool
    return pool_class(host, port, **settings)


class _Connection(HTTPConnection):
    """A connection that reads each response through a socket with a deadline."""

    def __str__(self) -> str:
        """Return the host and port, as messages of urllib3 name a connection."""
        return f"{self.host}:{self.port}"

    def getresponse(self) -> HTTPResponse:  # type: ignore[override]  # as urllib3 has it
        sock: Any = self.sock
        view: Any = _ResponseSocket(sock)
        self.sock = view
        try:
            return super().getresponse()
        finally:
            if self.sock is view:  # None when the response closed the connection
                self.sock = sock


class _TlsConnection(_Connection, HTTPSConnection):
    """The same, encrypted."""


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _TlsPool(HTTPSConnectionPool):
    ConnectionCls = _TlsConnection


class _ResponseSocket:
    """A connected socket during one response, which must arrive before the deadline."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self.settimeout = sock.settimeout
        self.close = sock.close

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_ResponseBytes(self._sock))


class _ResponseBytes(io.RawIOBase):
    """The bytes of one response; reading them raises `TimeoutError` after the deadline."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._file = sock.makefile("rb", buffering=0)
        self._timeout = sock.gettimeout()
        self._deadline = time.monotonic() + RESPONSE_TIMEOUTS * (self._timeout or 0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int | None:
        if self._timeout is not None:
            seconds = self._deadline - time.monotonic()
            if seconds <= 0:
                raise TimeoutError("the response was not complete in time")
            self._sock.settimeout(min(self._timeout, seconds))
        return self._file.readinto(buffer)

    def close(self) -> None:
        self._file.close()
        super().close()


# The versions of the engines that nearfold supports, checked at the first response of a server.

OPENSEARCH, ELASTICSEARCH = "OpenSearch", "Elasticsearch"
_PRODUCTS = {"opensearch": OPENSEARCH, "elasticsearch": ELASTICSEARCH}
_SECONDS = 5.0
_NUMBER = re.compile(r"(?P<major>\d{1,4})\.(?P<minor>\d{1,4})\b")
_NO_PARAMETERS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class SupportedVersions:
    """The minimum minor release of each major release that is supported."""

    minors: Mapping[int, int]

    def __str__(self) -> str:
        """Return for example `2.19 and 3.x`."""
        *older, newest = sorted(self.minors)
        oldest = [f"{major}.{self.minors[major]}" for major in older]
        return " and ".join([*oldest, f"{newest}.x"])

    def includes(self, major: int, minor: int) -> bool:
        """Return whether a release is supported."""
        return major in self.minors and minor >= self.minors[major]


SUPPORTED = {
    OPENSEARCH: SupportedVersions({2: 19, 3: 0}),
    ELASTICSEARCH: SupportedVersions({8: 19, 9: 0}),
}


class ClientLink(ABC):
    """A connection by the client of an engine, which asks the server for its version once, after
    its first response.

    The client chooses the node of each request, and sends it to the next one when a node does not
    response. A server that does not say its version, or to this user, is taken for a supported one.
    """

    def __init__(self, address: StoreAddress) -> None:
        self._url = address.url
        self._address = address
        self._product = _PRODUCTS[address.kind]
        self._is_checked = False
        self._is_admitted = False
        if address.tls and address.ca_certs:
            check_certificates(address.ca_certs)

    def request(
        self, method: str, path: str, body: bytes | None, params: Mapping[str, str], seconds: float
    ) -> Response:
        """Send one request, once to each node until one responds.

        The next node may repeat what the lost one has done: every request may be repeated. Raises
        `UnsupportedEngine` for another engine, or a version that is too old or too new, and
        `StoreNotReady` when no response comes from a server that has answered before, and
        `ExpiredCredentials` when it refuses credentials that it has accepted before.
        """
        try:
            response = self._send(method, path, body, params, seconds)
        except StoreUnreachable as error:
            if not self._is_checked:
                raise
            raise StoreNotReady(url=self._url, reason=error.reason) from error
        if not self._is_checked:
            self._check()
            self._is_checked = True
        if self._is_admitted and _is_expired(response):
            raise ExpiredCredentials(reason=response.reason)
        self._is_admitted |= bool(path) and 200 <= response.status < 300
        return response

    def _unreachable(self, reason: str) -> StoreUnreachable:
        """Return the error of a request that no node answered, with the remedy for its reason."""
        if remedy := _tls_remedy(self._address, reason):
            return StoreUnreachable(url=self._url, reason=reason, remedy=remedy)
        return StoreUnreachable(url=self._url, reason=reason)

    @abstractmethod
    def _send(
        self, method: str, path: str, body: bytes | None, params: Mapping[str, str], seconds: float
    ) -> Response:
        """Return the response, of any status; raise `StoreUnreachable` when no node responds."""

    @abstractmethod
    def close(self) -> None:
        """Close the connections; a later request opens new ones."""

    def _check(self) -> None:
        try:
            response = self._send("GET", "", None, _NO_PARAMETERS, _SECONDS)
        except StoreUnreachable:
            return
        server = server_in(response.body)
        if server is None:
            return
        product, version = server
        numbers = _NUMBER.match(version)
        if product == self._product and numbers is None:
            return
        is_supported = numbers and SUPPORTED[product].includes(*map(int, numbers.groups()))
        if product != self._product or not is_supported:
            raise UnsupportedEngine(
                url=self._url,
                engine=f"{product} {version}",
                requested=self._product,
                supported=str(SUPPORTED[self._product]),
            )


def _is_expired(response: Response) -> bool:
    """Return whether a request was refused for its credentials, not for a right that they lack.

    Signed requests whose session is over get 403 from the services of AWS.
    """
    is_over = response.status == 403 and "expired" in response.reason.lower()
    return response.status == 401 or is_over


def check_certificates(path: str) -> None:
    """Raise `UsageError` where NEARFOLD_CA_CERTS names no file of certificates."""
    try:
        ssl.create_default_context(cafile=path)
    except OSError as error:  # also `SSLError`
        raise UsageError(
            f"NEARFOLD_CA_CERTS={path} cannot be used ({error.strerror or error}); name a file "
            "with the certificates of the authority of the server, in PEM"
        ) from None


def _tls_remedy(address: StoreAddress, reason: str) -> str:
    """Return what to do where TLS failed for this reason; empty where something else did."""
    hosts = " or ".join(host for host, _ in address.hosts)
    if remedy := certificate_remedy(hosts, address.ca_certs, reason):
        return remedy
    if address.tls and "wrong_version_number" in reason.lower().replace(" ", "_"):
        plain = f"{address.kind}://"
        return f"{hosts} responds without TLS there: begin the URL with {plain}, or check the port"
    return ""


def certificate_remedy(hosts: str, ca_certs: str | None, reason: str) -> str:
    """Return what to do where certificates failed for this reason; empty where others did."""
    lowered = reason.lower()
    if "hostname mismatch" in lowered or "ip address mismatch" in lowered:
        return (
            f"the certificate is of another host than {hosts}: write the host into the URL "
            "that the certificate is for (NEARFOLD_CA_CERTS names authorities, and not hosts)"
        )
    if "certificate verify failed" in lowered:
        trusted = f"{ca_certs} does" if ca_certs else "the system's authorities do"
        return (
            f"{trusted} not vouch for the certificate of {hosts}: set NEARFOLD_CA_CERTS to a file "
            "with the certificate of its authority"
        )
    return ""


def authorization(address: StoreAddress) -> dict[str, str]:
    """Return the header with the credentials, empty without any.

    The clients encode a password as Latin-1, and fail on other letters.
    """
    if address.api_key:
        return {"authorization": f"ApiKey {address.api_key}"}
    if address.user and address.password and address.aws is None:
        login = base64.b64encode(f"{address.user}:{address.password}".encode())
        return {"authorization": f"Basic {login.decode()}"}
    return {}


def server_in(body: Any) -> tuple[str, str] | None:
    """Return product and version in a response to `GET /`; None when it does not say them.

    OpenSearch may call itself 7.10.2 for clients of Elasticsearch 7, and a serverless Elasticsearch
    always says 8.11.0; neither tells anything.

    >>> server_in({"version": {"distribution": "opensearch", "number": "3.8.0"}})
    ('OpenSearch', '3.8.0')
    >>> server_in({"version": {"number": "9.4.3", "build_flavor": "default"}})
    ('Elasticsearch', '9.4.3')
    >>> server_in({"version": {"distribution": "opensearch", "number": "7.10.2"}})
    """
    version = body.get("version") if isinstance(body, Mapping) else None
    number = version.get("number") if isinstance(version, Mapping) else None
    if not isinstance(version, Mapping) or not isinstance(number, str):
        return None
    if version.get("distribution") == "opensearch":
        return None if number == "7.10.2" else (OPENSEARCH, number)
    is_elasticsearch = version.get("build_flavor", "serverless") != "serverless"
    return (ELASTICSEARCH, number) if is_elasticsearch else None
