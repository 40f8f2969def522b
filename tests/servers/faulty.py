"""A search engine's write path on loopback with scripted faults, behind real HTTP, for real
clients.

It keeps documents in memory and supports no more than writing needs; or it is a proxy of a real
engine, to which it forwards everything but bulk requests, and of those what is to be applied. Each
bulk request is handled by the next behaviour of `script`, then by `last_word`, which is `well`
unless a test sets it.
"""

from __future__ import annotations

import http.client
import json
import socket
import struct
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any
from urllib.parse import urlsplit

JSON = "application/json"
NDJSON = "application/x-ndjson"


@dataclass
class Operation:
    """One operation of a bulk request."""

    action: str
    id: str
    body: Any
    lines: bytes


@dataclass
class Exchange:
    """One bulk request, and ways to answer it."""

    engine: FaultyEngine
    handler: BaseHTTPRequestHandler
    operations: list[Operation]

    def applied(self, ids: Iterable[str] | None = None) -> list[dict[str, Any]]:
        """Apply the operations (on these ids), and return their items."""
        applied = self.operations
        if ids is not None:
            selected = set(ids)
            applied = [operation for operation in applied if operation.id in selected]
        self.engine.apply(applied)
        if not self.engine.upstream or not applied:
            return [item(operation, 201) for operation in applied]
        lines = b"".join(operation.lines for operation in applied)
        _, body = self.engine.forward("POST", self.handler.path, lines, NDJSON)
        return list(json.loads(body)["items"])

    def answer(self, status: int, body: object, kind: str = JSON, **headers: str) -> None:
        """Send a complete and valid answer; `body` is sent as JSON unless it is bytes."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.head(status, kind, Content_Length=str(len(content)), **headers)
        self.raw(content)

    def head(self, status: int, kind: str = JSON, **headers: str) -> None:
        """Send a status and headers, and nothing after them."""
        self.handler.send_response(status)
        self.handler.send_header("Content-Type", kind)
        self.handler.send_header("X-Elastic-Product", "Elasticsearch")
        for name, value in headers.items():
            self.handler.send_header(name.replace("_", "-"), value)
        self.handler.end_headers()

    def raw(self, content: bytes) -> None:
        """Send bytes unchanged."""
        self.handler.wfile.write(content)
        self.handler.wfile.flush()

    def cut(self) -> None:
        """Close the connection in the regular way."""
        self.handler.close_connection = True

    def reset(self) -> None:
        """Break the connection by a reset."""
        self.handler.connection.setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )
        self.handler.connection.close()
        self.handler.close_connection = True


Behaviour = Callable[[Exchange], None]


def item(
    operation: Operation, status: int, kind: str | None = None, reason: str = "no"
) -> dict[str, Any]:
    """Return the item of a bulk answer for one operation."""
    error = {} if kind is None else {"error": {"type": kind, "reason": reason}}
    return {operation.action: {"_id": operation.id, "status": status, **error}}


def well(exchange: Exchange) -> None:
    """Apply the operations and report success."""
    exchange.answer(200, {"errors": False, "items": exchange.applied()})


@dataclass
class FaultyEngine:
    """The faulty server; `requests` holds the ids of every readable bulk request, `applied` counts
    how often each id was written.

    `upstream` is the address of a real engine. A bulk request of more than `max_bytes` is refused
    unread. `largest` is the most bulk requests that were under way at once. Ends with `close`.
    """

    script: list[Behaviour] = field(default_factory=list)
    last_word: Behaviour = well
    max_bytes: int = 100_000_000
    upstream: str | None = None

    def __post_init__(self) -> None:
        self.requests: list[list[str]] = []
        self.documents: dict[str, Any] = {}
        self.applied: Counter[str] = Counter()
        self.under_way = self.largest = 0
        self.indices: dict[str, Any] = {}
        self._lock = Lock()
        self._server = ThreadingHTTPServer(
            ("127.0.0.1", 0), type("Handler", (_Handler,), {"engine": self})
        )
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )
        self._thread.start()

    def apply(self, operations: Iterable[Operation]) -> None:
        """Write and delete in memory."""
        with self._lock:
            for operation in operations:
                self.applied[operation.id] += 1
                if operation.action == "delete":
                    self.documents.pop(operation.id, None)
                else:
                    self.documents[operation.id] = operation.body

    def bulk(self, exchange: Exchange) -> None:
        """Handle one bulk request as the script says."""
        with self._lock:
            self.requests.append([operation.id for operation in exchange.operations])
            behaviour = self.script.pop(0) if self.script else self.last_word
            self.under_way += 1
            self.largest = max(self.largest, self.under_way)
        try:
            behaviour(exchange)
        finally:
            with self._lock:
                self.under_way -= 1

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        """Answer other requests than bulk ones, where there is no real engine: an index can be
        created and shown; there are no templates.
        """
        index, _, verb = path.strip("/").partition("/")
        if (method, index, verb) == ("GET", "_index_template", ""):
            return 200, {"index_templates": []}
        if method == "PUT" and not verb:
            self.indices[index] = body
        if index not in self.indices:
            error = {"type": "index_not_found_exception", "reason": "no such index"}
            return 404, {"error": error, "status": 404}
        if verb or method != "GET":
            return 200, {"acknowledged": True}
        return 200, {index: self.indices[index]}

    def forward(self, method: str, path: str, body: bytes, kind: str = JSON) -> tuple[int, bytes]:
        """Return the answer of the real engine."""
        host = urlsplit(self.upstream or "").netloc
        with closing(http.client.HTTPConnection(host, timeout=60)) as connection:
            connection.request(method, path, body or None, {"Content-Type": kind})
            answer = connection.getresponse()
            return answer.status, answer.read()

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    engine: FaultyEngine
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def _serve(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        exchange = Exchange(self.engine, self, [])
        path = urlsplit(self.path).path
        if path.endswith("/_bulk") and length > self.engine.max_bytes:
            self.engine.requests.append([])
            exchange.answer(413, b"<html>too large</html>", "text/html", Connection="close")
            exchange.cut()
            return
        body = self.rfile.read(length)
        if path.endswith("/_bulk"):
            exchange.operations = _operations(body)
            self.engine.bulk(exchange)
        elif self.engine.upstream:
            kind = self.headers.get("Content-Type", JSON)
            status, answer = self.engine.forward(self.command, self.path, body, kind)
            exchange.answer(status, answer)
        else:
            exchange.answer(*self.engine.answer(self.command, path, json.loads(body or b"null")))

    do_GET = do_PUT = do_POST = do_DELETE = _serve  # noqa: N815 (names that http.server looks for)

    def handle_one_request(self) -> None:
        """Ignore a client that has given up, and a connection that was reset on purpose."""
        try:
            super().handle_one_request()
        except (OSError, ValueError):
            self.close_connection = True

    def finish(self) -> None:
        """Ignore the same errors."""
        try:
            super().finish()
        except (OSError, ValueError):
            return

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


def _operations(body: bytes) -> list[Operation]:
    """Return the operations of a bulk body. Raises ValueError when a line is not JSON in UTF-8."""
    lines = body.splitlines(keepends=True)
    operations = []
    while lines:
        first = lines.pop(0)
        ((action, head),) = json.loads(first.decode("utf-8")).items()
        second = b"" if action == "delete" else lines.pop(0)
        document = json.loads(second.decode("utf-8") or "null")
        operations.append(Operation(action, head["_id"], document, first + second))
    return operations
