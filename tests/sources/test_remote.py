"""URLs of other file systems: a real HTTP server on loopback, file://, memory://, and unreadable
ones.
"""

from __future__ import annotations

import functools
import http.server
import threading
import zipfile

import fsspec
import pytest
from places import store_fixture  # noqa: F401

from indexer import IndexOptions, index
from indexer.documents.base import ReadOptions
from indexer.errors import MissingExtra, SourceNotFound, UsageError

ONE = "The harbour ferry leaves at eight in the morning and returns at six in the evening."
TWO = "A quite different text about the price of bread and the people who pay it every day."


@pytest.fixture
def site(tmp_path):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "one.txt").write_text(ONE, encoding="utf-8")
    (tmp_path / "two.txt").write_text(TWO, encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("three.txt", ONE * 2)
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=tmp_path)
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def read(url, store, **options):
    return index([url], store, IndexOptions(extractor="plain", **options), workers=1)


def counted(account):
    return account.seen, account.indexed, account.unchanged, len(account.failed)


def test_one_file_over_http(site, store):
    assert counted(read(f"{site}/two.txt", store)) == (1, 1, 0, 0)
    [row] = store.scan()
    assert (row.path, row.text, row.title) == (f"{site}/two.txt", TWO, "two.txt")
    assert counted(read(f"{site}/two.txt", store)) == (1, 0, 1, 0)


def test_a_folder_over_http_by_its_listing(site, store):
    assert counted(read(f"{site}/", store)) == (
        3,
        2,
        0,
        1,
    )  # the archive is one document here, and no plain text
    assert {row.path for row in store.scan()} == {f"{site}/two.txt", f"{site}/deep/one.txt"}
    assert counted(read(f"{site}/", store, reading=ReadOptions(containers="all"))) == (3, 1, 2, 0)


def test_an_archive_over_http(site, store):
    assert counted(read(f"{site}/a.zip", store)) == (1, 1, 0, 0)
    assert [row.path for row in store.scan()] == [f"{site}/a.zip!/three.txt"]


def test_a_server_that_fails_fails_the_file_alone(store, monkeypatch):
    system = fsspec.filesystem("memory")
    for name in ("a", "b"):
        system.pipe(f"/failing/{name}.txt", f"{ONE} {name}".encode())
    opened = type(system).open

    def failing(self, path, *args, **kwargs):
        if path.endswith("a.txt"):
            raise RuntimeError("the disk is on fire")
        return opened(self, path, *args, **kwargs)

    monkeypatch.setattr(type(system), "open", failing)
    account = read("memory://failing", store)
    assert counted(account) == (2, 1, 0, 1)
    assert "on fire" in account.failed[0].error


def test_prune_keeps_what_is_in_containers_that_were_not_opened(store):
    system = fsspec.filesystem("memory")
    system.pipe("/kept/a.jsonl", b'{"text": "some words that are a text of their own"}\n')
    system.pipe("/kept/b.txt", ONE.encode())
    read("memory://kept/a.jsonl", store)
    assert read("memory://kept", store, prune=True).removed == 0
    system.rm("/kept/a.jsonl")
    assert read("memory://kept", store, prune=True).removed == 2


def test_a_file_url_and_what_is_not_there(tmp_path, store):
    (tmp_path / "a.txt").write_text(ONE, encoding="utf-8")
    assert counted(read(f"file://{tmp_path}/a.txt", store)) == (1, 1, 0, 0)
    for url in (f"file://{tmp_path}/absent.txt", "memory://absent"):
        with pytest.raises(SourceNotFound):
            read(url, store)


@pytest.mark.parametrize(
    "url",
    ["sftp://user:secret@host/a", "nonsense://a/b", "http://127.0.0.1:9/a.txt", "s3://bucket/a"],
)
def test_what_cannot_be_read_is_told_at_once(url, store):
    with pytest.raises((UsageError, MissingExtra)) as error:
        read(url, store)
    assert "secret" not in str(error.value)
    assert store.stored_recipe() is None


@pytest.mark.parametrize(
    ("status", "message"),
    [(404, "does not exist"), (410, "does not exist"), (403, "403"), (401, "401"), (503, "503")],
)
def test_what_a_server_answered_is_told(status, message, store):
    class Answers(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/a.txt"
    with pytest.raises(UsageError, match=message) as error:
        read(url, store)
    assert url in str(error.value) and isinstance(error.value, SourceNotFound) == (
        message == "does not exist"
    )
    server.shutdown()
    server.server_close()


def test_a_server_that_is_not_there_is_told_apart_from_a_file(store):
    with pytest.raises(UsageError, match="Connect call failed") as error:
        read("http://127.0.0.1:9/a.txt", store)
    assert "does not exist" not in str(error.value)


def test_a_query_is_refused_where_nothing_can_be_asked(tmp_path, store):
    (tmp_path / "a.txt").write_text(ONE, encoding="utf-8")
    for place in (str(tmp_path), f"file://{tmp_path}/a.txt", "opensearch://127.0.0.1:9/papers"):
        with pytest.raises(UsageError, match="--query is for hansken"):
            read(place, store, reading=ReadOptions(query="type:document"))
    assert store.stored_recipe() is None


def test_two_places_with_one_name_under_a_namespace(tmp_path, store):
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(ONE, encoding="utf-8")
    account = index(
        [str(tmp_path / "x"), f"file://{tmp_path}/y"],
        store,
        IndexOptions(namespace="n", extractor="plain"),
    )
    assert counted(account) == (2, 1, 0, 1)
    assert "same name" in account.failed[0].error
