"""A faulty server in place of Tika: every fault has its outcome, and the client library acts only
as a client.
"""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from indexer.documents import tika_server as server_module
from indexer.documents.base import Limits, Task, TryAlone
from indexer.documents.tika import READER
from indexer.documents.tika_server import tika_server
from indexer.documents.workers import Pool
from indexer.errors import (
    ExtractionCrash,
    ExtractionError,
    ExtractionTimeout,
    ExtractorUnavailable,
    MissingExtra,
    UsageError,
)
from indexer.model import Document

ROOT = Path(__file__).parents[2]
LIMITS = Limits(seconds=1, chars=1000)
GREETING = b"This is Tika Server (Apache Tika 3.3.2). Please PUT"


class TikaHandler(BaseHTTPRequestHandler):
    """A handler that answers GET as Tika does, and PUT by the behaviour of its server."""

    protocol_version = "HTTP/1.1"
    server: "FaultyServer"

    def do_GET(self) -> None:
        self.server.fetched.append(self.path)
        if self.server.greeting is None:
            self.close_connection = True
        elif self.path == "/tika":
            self.reply(200, self.server.greeting)
        else:
            self.reply(404, b"")

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append((self.path, dict(self.headers)))
        self.server.behaviour(self, body)

    def reply(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *values: object) -> None:
        """Log nothing."""


class FaultyServer(ThreadingHTTPServer):
    daemon_threads = True
    greeting: bytes | None = GREETING
    behaviour: Callable[[TikaHandler, bytes], None]

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), TikaHandler)
        self.fetched: list[str] = []
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.url = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore a client that goes away."""


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as running:
        running.behaviour = echo
        thread = threading.Thread(target=running.serve_forever, args=(0.02,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def echo(handler: TikaHandler, body: bytes) -> None:
    handler.reply(200, answer(body.decode()))


def answer(*texts: str, **metadata: Any) -> bytes:
    """Return Tika's answer: the document and embedded ones; `metadata` are those of the last."""
    parts: list[dict[str, Any]] = [
        {"X-TIKA:content": text, "Content-Type": "text/html"} for text in texts
    ]
    parts[-1].update({key.replace("__", ":"): value for key, value in metadata.items()})
    return json.dumps(parts).encode()


def extract(server: FaultyServer, body: bytes = b"hello", limits: Limits = LIMITS) -> Document:
    return tika_server(server.url)(limits).extract(body, "a.txt")


def cut_off(handler: TikaHandler, _: bytes) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port that refuses connections, and that no other process can take meanwhile."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        yield int(listener.getsockname()[1])


def test_complete_answer_is_read(server: FaultyServer) -> None:
    document = extract(server)
    assert (document.text, document.extractor, document.truncated) == (
        "hello",
        f"tika-server/3.3.2-{READER}",
        False,
    )


def test_text_limit_is_always_sent_and_the_file_name_never(server: FaultyServer) -> None:
    extract(server)
    [(path, headers)] = server.requests
    assert (path, headers["writeLimit"], headers["maxEmbeddedResources"]) == (
        "/rmeta/body",
        "1001",
        "1000",
    )
    assert "Content-Disposition" not in headers


def test_empty_document_is_not_sent(server: FaultyServer) -> None:
    assert extract(server, b"").text == ""
    assert server.requests == []


def test_faults_of_embedded_documents_make_the_whole_truncated(server: FaultyServer) -> None:
    trace = "org.apache.tika.exception.TikaException: bad\n\tat somewhere"
    fault = {"X-TIKA:EXCEPTION:embedded_exception": trace}
    server.behaviour = lambda handler, _: handler.reply(200, answer("outer", "inner", **fault))
    document = extract(server)
    assert (document.text, document.truncated) == ("outer\ninner", True)
    assert document.warnings == (
        "embedded_exception: org.apache.tika.exception.TikaException: bad",
    )


def test_lone_surrogates_in_the_answer_are_replaced(server: FaultyServer) -> None:
    server.behaviour = lambda handler, _: handler.reply(
        200, b'[{"X-TIKA:content": "a\\ud800b", "dc:title": "t\\udfff"}]'
    )
    document = extract(server)
    assert (document.text, document.title) == ("a\ufffdb", "t")


BROKEN: dict[str, Callable[[TikaHandler, bytes], None]] = {
    "dropped": cut_off,
    "busy": lambda handler, _: handler.reply(503, b""),
    "proxy page": lambda handler, _: handler.reply(200, b"<html>Bad gateway</html>"),
    "cut JSON": lambda handler, _: handler.reply(200, b'[{"X-TIKA:content": "hel'),
    "other JSON": lambda handler, _: handler.reply(200, b'{"a": 1}'),
    "not zipped": lambda handler, _: handler.reply(200, b"not zipped", Content_Encoding="gzip"),
}


@pytest.mark.parametrize("fault", sorted(BROKEN))
def test_answer_that_breaks_off_is_retried_alone(server: FaultyServer, fault: str) -> None:
    server.behaviour = BROKEN[fault]
    with pytest.raises(TryAlone):
        extract(server)


def test_innocent_documents_are_read_and_the_culprit_is_found(server: FaultyServer) -> None:
    """Documents sent beside the culprit fail with it, as when Tika's process dies."""
    culprit_came = threading.Event()

    def reply_or_die(handler: TikaHandler, body: bytes) -> None:
        if body == b"culprit":
            culprit_came.set()
            cut_off(handler, body)
        elif body == b"bystander" and not bystander_died.is_set():
            bystander_died.set()
            culprit_came.wait(5)
            cut_off(handler, body)
        else:
            echo(handler, body)

    bystander_died = threading.Event()
    server.behaviour = reply_or_die
    bodies = [b"bystander", b"culprit", b"first", b"second"]
    with Pool(tika_server(server.url), 2, Limits(seconds=10)) as pool:
        results = dict(pool.extract_all(Task(n, body, "a") for n, body in enumerate(bodies)))
    assert isinstance(results.pop(1), ExtractionCrash)
    assert sorted(result.text for result in results.values() if isinstance(result, Document)) == [
        "bystander",
        "first",
        "second",
    ]


@pytest.mark.parametrize("status", [400, 415, 422, 500])
def test_refusal_is_an_error_of_the_document(server: FaultyServer, status: int) -> None:
    server.behaviour = lambda handler, _: handler.reply(status, b"")
    with pytest.raises(ExtractionError, match=str(status)) as caught:
        extract(server)
    assert not isinstance(caught.value, ExtractorUnavailable)


@pytest.mark.parametrize("status", [301, 307, 401, 403, 404, 405])
def test_wrong_address_stops_the_run(server: FaultyServer, status: int, closed_port: int) -> None:
    elsewhere = f"http://127.0.0.1:{closed_port}/"
    server.behaviour = lambda handler, _: handler.reply(status, b"", Location=elsewhere)
    with pytest.raises(ExtractorUnavailable, match="NEARFOLD_TIKA"):
        extract(server)


def silent(handler: TikaHandler, _: bytes) -> None:
    time.sleep(4)


def dripping(handler: TikaHandler, _: bytes) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    for _ in range(40):
        handler.wfile.write(b"x" * 70_000)
        time.sleep(0.1)


@pytest.mark.parametrize("slow", [silent, dripping])
def test_slow_server_runs_out_of_time(
    server: FaultyServer, slow: Callable[[TikaHandler, bytes], None]
) -> None:
    server.behaviour = slow
    started = time.monotonic()
    with pytest.raises(ExtractionTimeout):
        extract(server)
    assert time.monotonic() - started < 3


def test_server_of_a_few_bytes_a_second_costs_its_document_only(server: FaultyServer) -> None:
    def crawl(handler: TikaHandler, body: bytes) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000000")
        handler.end_headers()
        for _ in range(50):
            handler.wfile.write(b"x")
            time.sleep(0.2)

    server.behaviour = lambda handler, body: (crawl if body == b"slow" else echo)(handler, body)
    extractor = server_module.TikaServer(server.url, "3.3.2", extra_seconds=1.0)
    with Pool(extractor, 1, LIMITS) as pool:
        results = dict(pool.extract_all([Task(1, b"slow", "a"), Task(2, b"hello", "a")]))
    assert isinstance(results[1], ExtractionTimeout)
    assert isinstance(results[2], Document)


def test_answer_of_any_size_is_not_read_to_its_end(server: FaultyServer) -> None:
    sent = 0

    def flood(handler: TikaHandler, _: bytes) -> None:
        nonlocal sent
        handler.send_response(200)
        handler.send_header("Content-Length", str(1 << 30))
        handler.end_headers()
        for _ in range(1024):
            handler.wfile.write(bytes(1 << 20))
            sent += 1

    server.behaviour = flood
    with pytest.raises(ExtractionError, match="larger than 32 MB"):
        extract(server, limits=Limits(seconds=30, chars=1000))
    assert sent < 64


def test_server_that_does_not_come_back_stops_the_run(
    server: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "_RETURN_SECONDS", 1.0)

    def die(handler: TikaHandler, body: bytes) -> None:
        server.greeting = None
        cut_off(handler, body)

    server.behaviour = die
    with pytest.raises(ExtractorUnavailable, match="did not respond again"):
        extract(server)


def test_server_that_comes_back_is_waited_for(server: FaultyServer) -> None:
    def die(handler: TikaHandler, body: bytes) -> None:
        server.greeting = None
        threading.Timer(1.0, lambda: setattr(server, "greeting", GREETING)).start()
        cut_off(handler, body)

    server.behaviour = die
    started = time.monotonic()
    with pytest.raises(TryAlone):
        extract(server)
    assert time.monotonic() - started >= 0.9


def test_another_program_at_the_address_is_refused(server: FaultyServer) -> None:
    server.greeting = b"<html>Welcome to nginx</html>"
    with pytest.raises(ExtractorUnavailable, match="NEARFOLD_TIKA"):
        tika_server(server.url)


def test_password_before_its_address_is_not_repeated(
    server: FaultyServer, closed_port: int
) -> None:
    server.greeting = b"<html>Welcome to nginx</html>"
    for url in (
        server.url.replace("//", "//ada:hunter2@"),
        f"http://ada:hunter2@127.0.0.1:{closed_port}",
        "ftp://ada:hunter2@host",
    ):
        with pytest.raises((ExtractorUnavailable, UsageError), match="NEARFOLD_TIKA") as caught:
            tika_server(url)
        assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["", "127.0.0.1:9998", "ftp://127.0.0.1", "http://", "file:///etc/hostname"]
)
def test_malformed_address_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="NEARFOLD_TIKA"):
        tika_server(url)


def test_proxy_is_not_used_on_the_way_to_this_machine(
    server: FaultyServer, monkeypatch: pytest.MonkeyPatch, closed_port: int
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{closed_port}")
    assert extract(server).text == "hello"


def test_client_without_its_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tika", None)
    monkeypatch.setattr(server_module, "_client", server_module._client.__wrapped__)
    with pytest.raises(MissingExtra, match=r"nearfold\[tika\]"):
        tika_server("http://127.0.0.1:9998")


def test_client_starts_no_server_fetches_no_jar_and_writes_no_log(
    server: FaultyServer, tmp_path: Path, closed_port: int
) -> None:
    (tmp_path / "java").write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n", encoding="utf-8")
    (tmp_path / "java").chmod(0o755)
    settings = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "NEARFOLD_TIKA": f"http://localhost:{closed_port}",
        "TIKA_SERVER_JAR": f"{server.url}/tika-server.jar",
        "TMPDIR": str(tmp_path),
    }
    code = "from indexer.documents.extractors import extractor_named; extractor_named('server')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=settings,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "ExtractorUnavailable" in done.stderr
    assert [place.name for place in tmp_path.iterdir()] == ["java"]
    assert server.fetched == []
