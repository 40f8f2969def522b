"""Hansken by its own client, which is real, against a stand-in for the server."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from hansken_server import IMAGE, PROJECT, Gatekeeper, served
from places import store_fixture  # noqa: F401

from indexer import IndexOptions, fingerprint, index
from indexer.documents.base import ReadOptions
from indexer.errors import UsageError
from indexer.fingerprinting.keys import pack_slots
from indexer.recipe import recipe_named

ROOT = Path(__file__).parent.parent.parent
ONE = (
    b"The harbour ferry leaves at eight in the morning and returns at six in the evening, "
    b"dogs travel free."
)
HTML = (
    b"<html><body><p>The harbour ferry leaves at eight in the morning and returns at six in the "
    b"evening.</p></body></html>"
)


@pytest.fixture
def gatekeeper():
    return Gatekeeper()


@pytest.fixture
def url(gatekeeper):
    server = served(gatekeeper)
    yield f"hansken+http://127.0.0.1:{server.server_port}/gatekeeper/{PROJECT}"
    server.shutdown()
    server.server_close()


def counted(account):
    return account.seen, account.indexed, account.unchanged, len(account.failed)


def read(url, store, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        return index([url], store, IndexOptions(**options), workers=1)


def test_documents_with_their_texts_labels_and_metadata(url, gatekeeper, store):
    uid = gatekeeper.add(
        1,
        "a.docx",
        {"privileged": "confirmed", "tags": ["case"]},
        raw=b"\0\1",
        text=ONE,
        plain=ONE[:40],
    )
    two = gatekeeper.add(2, "b.docx", {"privileged": "rejected"}, htmlText=HTML)
    three = gatekeeper.add(3, "c.txt", None, raw=ONE.upper(), text=b"few")
    gatekeeper.add(4, "d.txt")
    account = read(url, store)
    assert counted(account) == (4, 3, 0, 1)
    assert "no stream" in account.failed[0].error
    rows = store.get([uid, two, three])
    assert rows[uid].text == ONE.decode()
    assert rows[uid].labels[0] == "privileged"
    assert (len(rows[uid].labels), rows[two].labels, rows[three].labels) == (2, (), ())
    assert rows[uid].metadata["hansken.tags"] == "case"
    assert rows[uid].metadata["hansken.path"] == "/evidence/a.docx"
    assert rows[two].text.strip().startswith("The harbour ferry")
    assert rows[two].content_type == "text/html"
    assert rows[three].text == ONE.upper().decode()
    assert gatekeeper.queries[0] == {"human": "type:document"}
    assert set(gatekeeper.keys) == {None}


def test_a_recipe_that_removes_markup_itself_gets_the_html_as_copietje_does(url, gatekeeper, store):
    uid = gatekeeper.add(1, "a.docx", None, htmlText=HTML)
    read(url, store, recipe=recipe_named("ws:norm-html-anyascii:sha1:128"))
    row = store.get([uid])[uid]
    assert (row.text, row.content_type) == (HTML.decode(), "text/html")
    plain = fingerprint(row.text, recipe_named("ws:norm-html-anyascii:sha1:128"))
    assert row.minhash == pack_slots(plain.minhash)


def test_what_has_not_changed_is_not_fetched_again(url, gatekeeper, store):
    uid = gatekeeper.add(1, "a.docx", None, text=ONE)
    gatekeeper.add(2, "b.docx", None, text=ONE[::-1])
    assert counted(read(url, store)) == (2, 2, 0, 0)
    fetched = len(gatekeeper.keys)
    assert counted(read(url, store)) == (2, 0, 2, 0)
    assert len(gatekeeper.keys) == fetched
    gatekeeper.add(1, "a.docx", {"privileged": "suspected"}, text=ONE)
    assert counted(read(url, store)) == (2, 1, 1, 0)
    assert store.get([uid])[uid].labels[0] == "privileged"
    del gatekeeper.traces[uid]
    account = read(url, store, prune=True)
    assert account.removed == 0 and len(account.refused) == 1  # its label would be lost
    assert read(url, store, prune=True, force=True).removed == 1


def test_the_key_of_an_image_comes_from_the_keystore(url, gatekeeper, store):
    gatekeeper.add(1, "a.docx", None, text=ONE)
    keystore = url.replace("hansken+http", "http").rpartition("/gatekeeper")[0] + "/keystore"
    assert counted(read(f"{url}?keystore={keystore}", store)) == (1, 1, 0, 0)
    assert gatekeeper.keys == ["dGhlIGtleQ=="]
    assert f"GET /keystore/entries/{IMAGE}/analyst@nfi" in gatekeeper.requests


def test_a_query_chooses_and_does_not_prune(url, gatekeeper, store):
    gatekeeper.add(1, "a.docx", None, text=ONE)
    read(url, store, reading=ReadOptions(query="type:email"))
    assert "type:email" in str(gatekeeper.queries[-1])
    with pytest.raises(UsageError):
        read(url, store, reading=ReadOptions(query="type:email"), prune=True)


def test_refused_data_and_a_list_that_breaks_off(url, gatekeeper, store):
    uid = gatekeeper.add(1, "a.docx", None, text=ONE)
    readable = gatekeeper.add(2, "b.docx", None, text=ONE)
    del gatekeeper.streams[uid, "text"]
    account = read(url, store)
    assert counted(account) == (2, 1, 0, 1)
    assert "Hansken does not give" in account.failed[0].error
    gatekeeper.cut = 2
    assert counted(read(url, store)) == (2, 0, 1, 1)
    gatekeeper.broken = True
    account = read(url, store, prune=True)
    assert account.failed
    assert account.removed == 0
    assert readable in store.get([readable])


def test_a_server_that_is_not_there(store):
    with pytest.raises(UsageError, match="HANSKEN_USERNAME"):
        read(f"hansken+http://127.0.0.1:9/gatekeeper/{PROJECT}", store)
    with pytest.raises(UsageError, match="names no project"):
        read("hansken://host", store)


def test_from_the_command_line(url, gatekeeper, tmp_path):
    gatekeeper.add(1, "a.docx", {"privileged": "confirmed"}, text=ONE)
    uid = gatekeeper.add(2, "b.docx", None, text=ONE + b" Cats too.")
    command = [sys.executable, "-m", "indexer"]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "NEARFOLD_STORE": f"sqlite:///{tmp_path}/case.db",
    }
    subprocess.run(
        [*command, "index", url, "--recipe", "ws:none:sha1:128"], check=True, env=environment
    )
    done = subprocess.run(
        [*command, "match", "--against", "privileged", "--threshold", "0.5", "--ids"],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert done.stdout.splitlines()[-1].split("\t")[1] == uid
