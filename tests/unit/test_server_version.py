"""The version of an engine is checked when it first answers; a real server on loopback says it."""

import json
import socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from indexer.cli.exit_codes import exit_code_of
from indexer.errors import StoreError, StoreNotReady, StoreUnreachable, UnsupportedEngine
from indexer.stores import open_store
from indexer.stores.engine.connections import SUPPORTED, server_in

OPENSEARCH = {"version": {"distribution": "opensearch", "number": "2.11.0"}}
ELASTICSEARCH = {"version": {"build_flavor": "default", "number": "8.18.4"}}


class _Handler(BaseHTTPRequestHandler):
    about: object = None
    media_types: list[str]
    refused_version = ""
    product = "Elasticsearch"

    def do_GET(self):
        accepted = self.headers.get("Accept") or ""
        self.media_types.append(accepted)
        status, body = 404, {"error": {"type": "index_not_found_exception", "reason": "none"}}
        if self.refused_version and self.refused_version in accepted:
            status, body = 400, {"error": {"type": "media_type_header_exception", "reason": "no"}}
        elif self.path == "/":
            status, body = (200, self.about) if self.about else (405, {"error": "no GET here"})
        content = json.dumps(body).encode()
        self.send_response(status)
        kind = accepted.partition(";")[0] if "vnd" in accepted else "application/json"
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        if self.product:
            self.send_header("X-Elastic-Product", self.product)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.fixture
def serve():
    """Return a function that starts a server which says this about itself, and returns its port
    and the media types that it was asked for.
    """
    servers = []

    def start(about, refused_version="", product="Elasticsearch"):
        settings = {"about": about, "media_types": [], "refused_version": refused_version}
        settings["product"] = product
        handler = type("Handler", (_Handler,), settings)
        servers.append(ThreadingHTTPServer(("127.0.0.1", 0), handler))
        Thread(target=servers[-1].serve_forever, args=(0.05,), daemon=True).start()
        return servers[-1].server_address[1], handler.media_types

    def stop():
        while servers:
            servers[-1].shutdown()
            servers.pop().server_close()

    start.stop = stop
    yield start
    stop()


@pytest.mark.parametrize(
    ("scheme", "about", "reason"),
    [
        ("opensearch", OPENSEARCH, "OpenSearch 2.11.0; nearfold supports OpenSearch 2.19 and 3.x"),
        ("elasticsearch", ELASTICSEARCH, "8.18.4; nearfold supports Elasticsearch 8.19 and 9.x"),
        ("opensearch", ELASTICSEARCH, "begin the URL with the name of the engine"),
        ("elasticsearch", OPENSEARCH, "begin the URL with the name of the engine"),
    ],
)
def test_a_server_out_of_range_is_named_at_the_first_request(serve, scheme, about, reason):
    port, _ = serve(about)
    store = open_store(f"{scheme}://127.0.0.1:{port}/papers")
    for _ in range(2):
        with pytest.raises(UnsupportedEngine, match=reason):
            store.stored_recipe()
    store.close()


def test_opensearch_is_not_taken_for_an_elasticsearch_without_the_index(serve):
    port, _ = serve(OPENSEARCH, product="")
    store = open_store(f"elasticsearch://127.0.0.1:{port}/papers")
    with pytest.raises(StoreError, match="is not Elasticsearch; for OpenSearch, write opensearch:"):
        store.stored_recipe()
    store.close()


@pytest.mark.parametrize("scheme", ["opensearch", "elasticsearch"])
def test_a_server_that_says_no_version_is_taken_as_supported(serve, scheme):
    port, _ = serve(None)
    store = open_store(f"{scheme}://127.0.0.1:{port}/papers")
    assert store.stored_recipe() is None
    store.close()


def test_elasticsearch_8_is_asked_in_its_own_form_from_then_on(serve):
    about = {"version": {"build_flavor": "default", "number": "8.19.21"}}
    port, media_types = serve(about, "compatible-with=9")
    store = open_store(f"elasticsearch://127.0.0.1:{port}/papers")
    assert store.stored_recipe() is None
    assert store.stored_recipe() is None
    store.close()
    forms = [name.rpartition("=")[2] for name in media_types]
    assert forms == ["9", "8", "8", "8"]


@pytest.mark.parametrize(
    ("product", "version", "expected"),
    [
        ("OpenSearch", (2, 18), False),
        ("OpenSearch", (2, 19), True),
        ("OpenSearch", (3, 0), True),
        ("OpenSearch", (4, 0), False),
        ("Elasticsearch", (8, 18), False),
        ("Elasticsearch", (8, 19), True),
        ("Elasticsearch", (9, 5), True),
    ],
)
def test_ranges(product, version, expected):
    assert SUPPORTED[product].includes(*version) is expected


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        {"version": "3"},
        {"version": {"number": 3, "distribution": "opensearch"}},
        {"version": {"number": "8.11.0", "build_flavor": "serverless"}},
        {"version": {"number": "1.0"}},
    ],
)
def test_an_answer_that_tells_no_version(body):
    assert server_in(body) is None


@pytest.mark.parametrize("scheme", ["opensearch", "elasticsearch"])
def test_each_node_gets_a_request_once_and_a_lost_one_is_skipped(serve, scheme):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound, and refuses connections
        lost = closed.getsockname()[1]
        port, media_types = serve(None)
        store = open_store(f"{scheme}://127.0.0.1:{lost},127.0.0.1:{port}/papers")
        for _ in range(5):
            assert store.stored_recipe() is None
        assert len(media_types) == 6  # one more for the version
        serve.stop()
        with pytest.raises(StoreNotReady):
            store.stored_recipe()
        store.close()


@pytest.mark.parametrize("scheme", ["opensearch", "elasticsearch"])
def test_only_a_server_that_never_answered_may_have_a_wrong_address(serve, scheme):
    port, _ = serve(None)
    store = open_store(f"{scheme}://127.0.0.1:{port}/papers")
    assert store.stored_recipe() is None
    serve.stop()
    with pytest.raises(StoreNotReady, match="stopped answering") as lost:
        store.stored_recipe()
    store.close()
    other = open_store(f"{scheme}://127.0.0.1:{port}/papers")
    with pytest.raises(StoreUnreachable, match="address and port") as unreachable:
        other.stored_recipe()
    other.close()
    assert [exit_code_of(error.value) for error in (lost, unreachable)] == [4, 3]
