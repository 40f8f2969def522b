"""A gate in front of a server: an HTTP proxy on loopback that passes the requests that its rule
allows, as a secured cluster does.

The servers made from jars have no security plugin, so wrong passwords and missing rights are tested
against this.
"""

from __future__ import annotations

import base64
import http.client
import json
import ssl
from contextlib import closing
from dataclasses import dataclass
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import trustme

_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "server", "date", "host"}
_READS = ("_search", "_msearch", "_count", "_mget", "_pit")


@dataclass(frozen=True, slots=True)
class GateRequest:
    """One received request; `path` includes the query string."""

    method: str
    path: str
    headers: Message
    body: bytes

    @property
    def authorization(self) -> str:
        """The `Authorization` header, empty without one."""
        return self.headers.get("Authorization", "")


class Gate:
    """A proxy that forwards to `upstream` the requests that `refusal` lets pass.

    `url` is http, or https with a certificate that the authority in the file `tls` vouches for,
    which this writes. Ends with `close`.
    """

    def __init__(self, upstream: str, tls: Path | None = None) -> None:
        target = urlsplit(upstream)
        self.upstream = (target.hostname or "127.0.0.1", target.port or 80)
        self._server = ThreadingHTTPServer(
            ("127.0.0.1", 0), type("Handler", (_Handler,), {"proxy": self})
        )
        self._server.daemon_threads = True
        self._server.block_on_close = False
        if tls:
            self._server.socket = _tls_context(tls).wrap_socket(
                self._server.socket, server_side=True
            )
        self.port = self._server.server_address[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        self._thread = Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )
        self._thread.start()

    def refusal(self, request: GateRequest) -> tuple[int, str] | None:
        """Return status and reason of a refusal; None when the request may pass."""
        raise NotImplementedError

    def close(self) -> None:
        """Stop listening; may be called once."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class AuthProxy(Gate):
    """A gate that requires credentials.

    `user` with `password`, or `api_key`, may do everything; `reader` with `password` may only read
    (403 for the rest); anybody else gets 401.
    """

    user = "writer"
    reader = "reader"
    password = "correct horse"
    api_key = "bmVhcmZvbGQ6c2VjcmV0"

    def refusal(self, request: GateRequest) -> tuple[int, str] | None:
        """Return the refusal of a request without the credentials."""
        if request.authorization in (basic(self.user, self.password), f"ApiKey {self.api_key}"):
            return None
        if request.authorization != basic(self.reader, self.password):
            return 401, "missing or wrong credentials"
        verb = urlsplit(request.path).path.rsplit("/", 1)[-1]
        if request.method in ("GET", "HEAD") or verb in _READS:
            return None
        return 403, f"{self.reader} may not {request.method} {request.path}"


def _tls_context(authority_file: Path) -> ssl.SSLContext:
    """Return the server's side of TLS for 127.0.0.1 and localhost."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(authority_file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1", "localhost").configure_cert(context)
    return context


def basic(user: str, password: str) -> str:
    """Return the header of a user with a password."""
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode("ascii")


class _Handler(BaseHTTPRequestHandler):
    proxy: Gate
    protocol_version = "HTTP/1.1"

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        refusal = self.proxy.refusal(GateRequest(self.command, self.path, self.headers, body))
        if refusal:
            self._refuse(*refusal)
        else:
            self._forward(body)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _serve  # noqa: N815 (names that http.server looks for)

    def _refuse(self, status: int, reason: str) -> None:
        cause = {"type": "security_exception", "reason": reason}
        answer = json.dumps({"error": {"root_cause": [cause], **cause}, "status": status}).encode()
        self._answer(
            status,
            {"Content-Type": "application/json", "WWW-Authenticate": 'Basic realm="nearfold"'},
            answer,
        )

    def _forward(self, body: bytes) -> None:
        headers_sent = {
            name: value
            for name, value in self.headers.items()
            if name.lower() not in {*_HOP, "authorization"}
        }
        with closing(http.client.HTTPConnection(*self.proxy.upstream, timeout=120)) as connection:
            connection.request(self.command, self.path, body or None, headers_sent)
            answer = connection.getresponse()
            headers = {
                name: value for name, value in answer.getheaders() if name.lower() not in _HOP
            }
            self._answer(
                answer.status, headers, answer.read(), length=answer.getheader("Content-Length")
            )

    def _answer(
        self, status: int, headers: dict[str, str], body: bytes, length: str | None = None
    ) -> None:
        is_head = self.command == "HEAD"
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", (length or "0") if is_head else str(len(body)))
        self.end_headers()
        if not is_head:
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: the tests look at answers."""
