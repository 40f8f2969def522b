"""Indices that others filled: read as a source, and signed in place without a change to anything
that is theirs.
"""

import hashlib
import json
import secrets
import subprocess
import sys
import threading
from contextlib import closing
from urllib.parse import urlsplit

import pytest
from pipelines import call, store_url
from servers.proxy import Gate, GateRequest

from indexer import IndexOptions, group, index, install, open_store, search, similar
from indexer.documents.base import ReadOptions
from indexer.errors import StoreError, TextFieldMismatch, UsageError
from indexer.fingerprinting.fingerprint import own_family
from indexer.jobs.index import DEFAULT_READ_OPTIONS, open_sources, target
from indexer.recipe import DEFAULT, recipe_named
from indexer.searching.similar import SimilarOptions
from indexer.stores import in_place
from indexer.stores.engine.bulk import Sender

BODY = ReadOptions(text_field="page.body", title_field="headline")
OF_BODY = IndexOptions(reading=BODY)
FERRY = (
    "The harbour ferry leaves at eight in the morning and returns at six in the evening. "
    "Dogs travel free."
)
BREAD = (
    "A quite different text about the price of bread and the people who pay it every single day."
)
THEIRS = {
    "1": {
        "page": {"body": FERRY},
        "headline": "Ferry",
        "path": "/a",
        "content_type": "note",
        "modified": "yesterday",
        "n": 1,
    },
    "2": {
        "page": {"body": FERRY.upper()},
        "headline": "Again",
        "path": "/b",
        "content_type": "note",
        "n": 2,
    },
    "3": {"page": {"body": BREAD}, "labels": "bakery", "n": 3},
    "4": {"page": {}, "n": 4},
}


def fill(url, documents, mapping=None):
    if mapping is not None:
        assert call("PUT", url, {"mappings": mapping})[0] == 200
    lines = [line for id, fields in documents.items() for line in ({"index": {"_id": id}}, fields)]
    body = "".join(json.dumps(line) + "\n" for line in lines).encode()
    status, answer = call("POST", f"{url}/_bulk?refresh=true", body)
    assert (status, answer["errors"]) == (200, False)


def stored_source(url, id):
    return call("GET", f"{url}/_doc/{id}")[1]["_source"]


def theirs(fields):
    return {name: value for name, value in fields.items() if not name.startswith("near_")}


@pytest.fixture
def their_url(server):
    url = f"{server}/nearfold-test-theirs-{secrets.token_hex(6)}"
    yield url
    call("DELETE", url)


@pytest.fixture
def their_store(engine, server, their_url):
    store = open_store(store_url(engine, server, their_url.rpartition("/")[2]))
    yield store
    store.close()


def counted(account):
    return account.seen, account.indexed, account.unchanged, len(account.failed)


def test_an_index_is_read_into_another_store(their_url, their_store):
    fill(their_url, {**THEIRS, **{f"x{n}": {"page": {"body": f"{BREAD} {n}"}} for n in range(250)}})
    store = open_store("sqlite://:memory:")
    assert counted(index([their_store.url], store, OF_BODY)) == (254, 253, 0, 1)
    assert counted(index([their_store.url], store, OF_BODY)) == (254, 0, 253, 1)
    row = next(row for row in store.scan() if row.path == f"{their_store.url}!/1")
    assert (row.text, row.title, row.metadata["n"], row.id != "1") == (FERRY, "Ferry", "1", True)
    call("DELETE", f"{their_url}/_doc/3?refresh=true")
    assert index([their_store.url], store, IndexOptions(reading=BODY, prune=True)).removed == 1
    assert "near_source" not in stored_source(their_url, "1")
    store.close()


def test_signing_in_place_adds_near_fields_and_nothing_else(their_url, their_store):
    fill(their_url, THEIRS)
    before = call("GET", their_url)[1]
    assert counted(index([their_store.url], their_store, OF_BODY)) == (4, 4, 0, 0)
    empty = stored_source(their_url, "4")
    assert [empty[name] for name in ("near_status", "near_family", "near_id", "near_bands")] == [
        "empty",
        f"x:{hashlib.sha256(b'4').hexdigest()}",
        "4",
        [],
    ]
    for id, fields in THEIRS.items():
        assert theirs(stored_source(their_url, id)) == fields
    (old,), (new,) = before.values(), call("GET", their_url)[1].values()
    assert theirs(new["mappings"]["properties"]) == old["mappings"]["properties"]
    assert old["settings"]["index"] == new["settings"]["index"]
    assert counted(index([their_store.url], their_store, OF_BODY)) == (4, 0, 4, 0)


def test_what_is_no_text_has_failed_and_is_marked_when_it_was_one(their_url, their_store):
    fill(
        their_url,
        {"1": {"body": FERRY}, "2": {"body": {"no": "text"}}},
        {"properties": {"body": {"enabled": False}}},
    )
    reading = ReadOptions(text_field="body")
    account = index([their_store.url], their_store, IndexOptions(reading=reading))
    assert counted(account) == (2, 1, 0, 1)
    assert account.failed[0].path.endswith("!/2")
    assert account.failed[0].error == "the field 'body' holds no text but an object"
    marked = stored_source(their_url, "2")
    assert [marked[name] for name in ("body", "near_status", "near_family", "near_bands")] == [
        {"no": "text"},
        "unsigned",
        f"x:{hashlib.sha256(b'2').hexdigest()}",
        None,
    ]
    assert their_store.counts().by_status == {"complete": 1, "unsigned": 1}
    fill(their_url, {"1": {**stored_source(their_url, "1"), "body": {"no": "text"}}})
    assert counted(index([their_store.url], their_store, IndexOptions(reading=reading))) == (
        2,
        0,
        0,
        2,
    )
    fields = stored_source(their_url, "1")
    assert [fields[name] for name in ("near_status", "near_family", "near_bands")] == [
        "unsigned",
        f"x:{hashlib.sha256(b'1').hexdigest()}",
        None,
    ]


def test_texts_of_a_list_of_objects_are_one_text(their_url, their_store):
    nested = {"page": {"type": "nested", "properties": {"body": {"type": "text"}}}}
    fill(
        their_url,
        {
            "1": {"page": {"body": f"{FERRY}\n{BREAD}"}},
            "2": {"page": [{"body": FERRY}, {"body": BREAD}]},
        },
        {"properties": nested},
    )
    assert counted(index([their_store.url], their_store, OF_BODY)) == (2, 2, 0, 0)
    assert (
        stored_source(their_url, "1")["near_minhash"]
        == stored_source(their_url, "2")["near_minhash"]
    )
    assert their_store.get(["2"])["2"].text == f"{FERRY}\n{BREAD}"
    assert [match.similarity for match in similar(their_store, id="1").matches] == [1]
    assert [len(hit.folded) for hit in search(their_store, "ferry bread").hits] == [1]
    assert search(their_store, "lighthouse").hits == ()


def test_what_was_signed_in_place_is_found_compared_and_searched(their_url, their_store):
    fill(their_url, THEIRS)
    index([their_store.url], their_store, OF_BODY)
    assert [match.id for match in similar(their_store, FERRY).matches] == ["1", "2"]
    assert their_store.get(["3"])["3"].text == BREAD
    page = search(their_store, "ferry")
    assert [(hit.id, [folded_hit.id for folded_hit in hit.folded]) for hit in page.hits] in (
        [("1", ["2"])],
        [("2", ["1"])],
    )
    assert their_store.counts().documents == 4
    done = subprocess.run(
        [sys.executable, "-m", "indexer", "match", "--ids", "--store", their_store.url],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "1.000\t1\t2" in done.stdout


def test_what_they_change_is_signed_again(their_url, their_store):
    fill(their_url, THEIRS)
    index([their_store.url], their_store, OF_BODY)
    first = stored_source(their_url, "1")["near_exact"]
    call("POST", f"{their_url}/_update/1?refresh=true", {"doc": {"page": {"body": BREAD}}})
    fill(their_url, {"2": THEIRS["2"]})
    assert counted(index([their_store.url], their_store, OF_BODY)) == (4, 2, 2, 0)
    assert stored_source(their_url, "1")["near_exact"] != first
    call("POST", f"{their_url}/_update/1?refresh=true", {"doc": {"page": {"body": None}}})
    assert counted(index([their_store.url], their_store, OF_BODY)) == (4, 1, 3, 0)
    fields = stored_source(their_url, "1")
    assert (fields["near_status"], fields["near_bands"], fields["n"], fields["near_family"]) == (
        "empty",
        [],
        1,
        own_family("1"),
    )


def test_a_change_while_signing_is_neither_lost_nor_signed_wrongly(
    their_url, their_store, monkeypatch
):
    fill(their_url, THEIRS)
    send, done = Sender.send, threading.Event()
    changed = {"page": {"body": "other words than before"}}

    def changed_first(self, operations):
        if self.conflicts and not done.is_set():
            done.set()
            call("POST", f"{their_url}/_update/1", {"doc": changed})
            call("POST", f"{their_url}/_update/2", {"doc": {"n": 22}})
            call("DELETE", f"{their_url}/_doc/3")
        return send(self, operations)

    monkeypatch.setattr(Sender, "send", changed_first)
    account = index([their_store.url], their_store, OF_BODY)
    assert counted(account) == (4, 2, 0, 2)
    assert {
        failure.path.rpartition("/")[2]: failure.error for failure in account.failed
    }.keys() == {"1", "3"}
    assert stored_source(their_url, "1") == {**THEIRS["1"], **changed}
    assert stored_source(their_url, "2")["n"] == 22
    assert stored_source(their_url, "2")["near_status"] == "complete"
    assert counted(index([their_store.url], their_store, OF_BODY)) == (3, 1, 2, 0)
    assert stored_source(their_url, "1")["near_status"] == "complete"


def test_documents_with_a_routing_and_a_strict_mapping(their_url, their_store):
    call(
        "PUT",
        their_url,
        {"mappings": {"dynamic": "strict", "properties": {"body": {"type": "text"}}}},
    )
    assert call("POST", f"{their_url}/_doc/r?routing=here&refresh=true", {"body": FERRY})[0] == 201
    for expected in ((1, 1, 0, 0), (1, 0, 1, 0)):
        assert (
            counted(
                index(
                    [their_store.url],
                    their_store,
                    IndexOptions(reading=ReadOptions(text_field="body")),
                )
            )
            == expected
        )


def test_what_does_not_fit_is_refused_before_anything_changes(their_url, their_store, tmp_path):
    fill(their_url, THEIRS)
    before = call("GET", their_url)[1]
    for options in ({"labels": ["x"]}, {"prune": True}):
        with pytest.raises(UsageError):
            index([their_store.url], their_store, IndexOptions(reading=BODY, **options))
    with pytest.raises(UsageError):
        index([their_store.url, str(tmp_path)], their_store, OF_BODY)
    assert call("GET", their_url)[1] == before
    with pytest.raises(
        UsageError, match=r"no field text \(it has: content_type, headline, .*--text-field"
    ):
        index([their_store.url], their_store, IndexOptions(reading=DEFAULT_READ_OPTIONS))
    assert call("GET", their_url)[1] == before
    index([their_store.url], their_store, OF_BODY)
    with pytest.raises(
        TextFieldMismatch,
        match=r"fingerprinted by its field page\.body, not text: documents with its .*: 3",
    ):
        index([their_store.url], their_store, IndexOptions(reading=DEFAULT_READ_OPTIONS))
    with pytest.raises(StoreError, match=r"texts in the field page\.body"):
        index([str(tmp_path)], their_store)


def test_a_second_run_goes_on_where_the_first_was_killed(their_url, their_store):
    fill(
        their_url,
        {
            f"{n:04}": {"body": f"{BREAD} Number {n} of them is about {n * n} loaves."}
            for n in range(600)
        },
    )
    reading = ReadOptions(text_field="body")
    signed = target([their_store.url], their_store, reading)
    signed.prepare(DEFAULT)
    [source] = open_sources([their_store.url], reading, signed)
    assert isinstance(signed, type(in_place(their_store, "body")))
    assert sum(1 for _ in source.blobs()) == 600

    class Killed(Exception):
        pass

    seen = []

    def stop(outcome):
        seen.append(outcome)
        if len(seen) == 300:
            raise Killed

    with pytest.raises(Killed):
        index([their_store.url], their_store, IndexOptions(reading=reading), progress=stop)
    account = index([their_store.url], their_store, IndexOptions(reading=reading))
    assert account.seen == 600
    assert account.unchanged >= 300
    assert account.indexed + account.unchanged == 600


class ManagedService(Gate):
    """A service that keeps everything but indices and documents to itself, and no version."""

    ITS_OWN = ("_ingest", "_scripts", "_component_template", "_index_template", "_search/pipeline")

    def refusal(self, request: GateRequest) -> tuple[int, str] | None:
        """Return the refusal of a request about anything else."""
        path = urlsplit(request.path).path.strip("/")
        is_open = path.partition("?")[0] and not path.startswith(self.ITS_OWN)
        return None if is_open and "/_clone/" not in path else (410, "not available here")


def test_a_service_that_refuses_pipelines_scripts_and_templates(
    engine, server, their_url, gates, monkeypatch, tmp_path
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    fill(their_url, THEIRS)
    gate = gates(ManagedService, server)
    with closing(open_store(store_url(engine, gate.url, their_url.rpartition("/")[2]))) as store:
        with pytest.raises(StoreError):
            install(store, text_field="page.body")
        assert counted(index([store.url], store, OF_BODY)) == (4, 4, 0, 0)
        store.refresh()
        assert group(store).families == 1
        assert [match.id for match in similar(store, FERRY).matches] == ["1", "2"]
        assert len(search(store, "ferry").hits) == 1


def test_another_recipe_is_refused(their_url, their_store):
    fill(their_url, THEIRS)
    index([their_store.url], their_store, OF_BODY)
    with pytest.raises(Exception, match="recipe"):
        index(
            [their_store.url],
            their_store,
            IndexOptions(recipe=recipe_named("simhash-doc"), reading=BODY),
        )


def test_statistics_that_grow_change_in_place_when_they_are_given(
    their_url, their_store, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    online = recipe_named("signature-study:online-topsig:256")
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "bread.txt").write_text(BREAD)

    def number(id):
        return stored_source(their_url, id)["near_recipe"].split(".")[1]

    fill(their_url, THEIRS)
    index([their_store.url], their_store, IndexOptions(online, reading=BODY))
    fill(their_url, {"5": {"page": {"body": FERRY}}})
    options = IndexOptions(online, reading=BODY, statistics=str(tmp_path / "texts"))
    assert counted(index([their_store.url], their_store, options)) == (5, 1, 4, 0)
    assert [number(id) for id in ("1", "3", "5")] == ["1", "1", "2"]
    found = similar(their_store, FERRY, SimilarOptions(1 - 8 / 256, "hamming")).matches
    assert {hit.id for hit in found} == {"1", "5"}
