"""A stand-in for Hansken's gatekeeper and keystore on loopback, which answers and records the calls
of the client.
"""

from __future__ import annotations

import base64
import json
import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

PROJECT = "11111111-aaaa-bbbb-2222-345678901234"
IMAGE = "99999999-aaaa-bbbb-2222-000000000000"
_STRING = {"type": "string"}
_STREAM = {
    "properties": {"size": {"type": "long"}, "mimeClass": _STRING, "hash": {"type": "map"}},
    "keys": ["raw", "text", "htmlText", "ocr", "plain"],
}
MODEL = {
    "properties": dict.fromkeys(("uid", "id", "image", "name"), _STRING),
    "origins": {
        "keys": {"system": {}, "user": {}},
        "categories": {
            "extracted": {
                "types": {
                    "data": _STREAM,
                    "file": {"properties": {"path": _STRING}},
                    "document": {"properties": {}},
                },
                "properties": {},
            },
            "annotated": {"types": {}, "properties": {"tags": {}, "privileged": {}}},
        },
    },
}


@dataclass
class Gatekeeper:
    """The project's traces, with their streams; `requests` are the received requests, in order."""

    traces: dict[str, dict[str, Any]] = field(default_factory=dict)
    streams: dict[tuple[str, str], bytes] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    queries: list[Any] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    broken: bool = False
    cut: int = 0

    def add(
        self, number: int, name: str, user: dict[str, Any] | None = None, **streams: bytes
    ) -> str:
        """Add one document with its streams; `user` are the annotations of investigators."""
        uid = f"{IMAGE}:0-{number}"
        described = {
            stream: {
                "size": len(data),
                "mimeClass": "text" if stream != "raw" else "other",
                "hash": {"sha1": f"{hash(data):x}"},
            }
            for stream, data in streams.items()
        }
        extracted = {"data": described, "file": {"path": f"/evidence/{name}"}, "document": {}}
        self.traces[uid] = {
            "uid": uid,
            "id": f"0-{number}",
            "image": IMAGE,
            "name": name,
            "system": {"extracted": extracted},
        }
        if user:
            self.traces[uid]["user"] = {"annotated": user}
        self.streams.update({(uid, stream): data for stream, data in streams.items()})
        return uid


def served(gatekeeper: Gatekeeper) -> ThreadingHTTPServer:
    """Run a server in a thread until it is shut down."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            self._answer()

        do_POST = do_DELETE = do_GET  # noqa: N815

        def _answer(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            gatekeeper.requests.append(f"{self.command} {parts.path}")
            place = parts.path.removeprefix(f"/gatekeeper/projects/{PROJECT}")
            if parts.path == "/gatekeeper/session/whoami":
                self._json({"uid": "analyst@nfi"})
            elif parts.path == f"/gatekeeper/projects/{PROJECT}":
                self._json({"id": PROJECT})
            elif parts.path == "/gatekeeper/tracemodel":
                self._json(MODEL)
            elif place == "/traces/search":
                self._search(json.loads(body))
            elif place.startswith("/traces/") and place.endswith("/data"):
                self._data(place.split("/")[2], parse_qs(parts.query)["dataType"][0])
            elif parts.path == f"/keystore/entries/{IMAGE}/analyst@nfi":
                self._send(200, base64.b64encode(b"the key"), "text/plain")
            elif self.command == "DELETE":
                self._json({})
            else:
                self._send(404, b"", "text/plain")

        def _search(self, request: dict[str, Any]) -> None:
            gatekeeper.queries.append(request.get("query"))
            after = re.search(r"'>': '([^']+)'", str(request.get("query")))
            matches = [
                {"trace": trace}
                for uid, trace in sorted(gatekeeper.traces.items())
                if not after or uid > after[1]
            ]
            data = json.dumps({"totalResults": len(matches), "traces": matches}).encode()
            if gatekeeper.broken or gatekeeper.cut > 0:
                gatekeeper.cut -= 1
                data = data[: len(data) * 2 // 3]
            self._send(200, data, "application/json")

        def _data(self, uid: str, stream: str) -> None:
            gatekeeper.keys.append(self.headers.get("Hansken-Image-Key"))
            data = gatekeeper.streams.get((uid, stream))
            self._send(403 if data is None else 200, data or b"", "application/octet-stream")

        def _json(self, value: object) -> None:
            self._send(200, json.dumps(value).encode(), "application/json")

        def _send(self, status: int, data: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
