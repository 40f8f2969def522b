"""What only engines have: credentials, certificates, mappings of others, aliases, points in
time.
"""

import base64
import secrets
import socket
import time

import numpy as np
import pytest
from pipelines import METADATA, call, core_analysis, store_url
from sample_rows import band, row

from indexer.errors import (
    MappingMismatch,
    StoreAccessDenied,
    StoreError,
    StoreStopped,
    StoreUnreachable,
    UsageError,
)
from indexer.fingerprinting.normalise import UNASSIGNED, UNSPACED, codepoint_classes
from indexer.model import Assignment, Query
from indexer.recipe import DEFAULT
from indexer.searching.search import SearchOptions, search
from indexer.stores import in_place, open_documents, query_syntax
from indexer.stores.engine import index_mapping


@pytest.fixture
def store(engine, server, index, open_at):
    store = open_at(store_url(engine, server, index))
    store.prepare(DEFAULT)
    return store


def test_the_index_is_as_the_bodies_say(store, engine, server, index):
    _, indices = call("GET", f"{server}/{index}")
    expected = index_mapping.new_index(DEFAULT, METADATA[engine], core_analysis(server), None, None)
    assert indices[index]["mappings"] == expected["mappings"]
    assert set(indices[index]["aliases"]) == {f"{index}-write"}
    assert indices[index]["settings"]["index"]["number_of_shards"] == "1"


def test_each_letter_of_a_script_without_spaces_is_a_word_of_its_own(opensearch_url, open_at):
    index = f"nearfold-test-{secrets.token_hex(6)}"
    open_at(store_url("opensearch", opensearch_url, index)).prepare(DEFAULT)
    bits = codepoint_classes()
    assigned = bits & (UNSPACED | UNASSIGNED) == UNSPACED
    letters = [chr(code) for code in np.flatnonzero(assigned).tolist()]
    hits = 0
    try:
        for start in range(0, len(letters), 2_000):
            request = {"analyzer": "nearfold", "text": "".join(letters[start : start + 2_000])}
            for token in call("POST", f"{opensearch_url}/{index}/_analyze", request)[1]["tokens"]:
                assert sum(not query_syntax.is_mark(letter) for letter in token["token"]) == 1, (
                    token
                )
                hits += 1
    finally:
        call("DELETE", f"{opensearch_url}/{index}")
    assert hits > 85_000


def test_shards_and_replicas_come_from_the_url(engine, server, index, open_at):
    open_at(f"{store_url(engine, server, index)}?shards=3&replicas=0").prepare(DEFAULT)
    settings = call("GET", f"{server}/{index}")[1][index]["settings"]["index"]
    assert (settings["number_of_shards"], settings["number_of_replicas"]) == ("3", "0")


def test_several_shards_make_one_order(engine, server, index, open_at):
    store = open_at(f"{store_url(engine, server, index)}?shards=3&replicas=0")
    store.prepare(DEFAULT)
    store.write(
        [row(f"{place:03}", path=f"/p/{place % 7}", bands=(band(0, 1),)) for place in range(450)]
    )
    store.refresh()
    by_path = sorted((f"/p/{place % 7}", f"{place:03}") for place in range(450))
    assert [(hit.path, hit.id) for hit in store.search(Query("", sort="path")).hits] == by_path
    assert [
        (hit.path, hit.id) for hit in store.candidates([([band(0, 1)], [])], 200)[0].found
    ] == by_path[:200]
    assert [hit.id for hit in store.scan()] == [f"{place:03}" for place in range(450)]


def test_documents_of_other_programs_are_read_once_from_several_shards(
    engine, server, index, open_at
):
    settings = {"number_of_shards": 3, "number_of_replicas": 0}
    assert call("PUT", f"{server}/{index}", {"settings": settings})[0] == 200
    lines = [line for number in range(350) for line in ({"index": {}}, {"text": f"note {number}"})]
    assert call("POST", f"{server}/{index}/_bulk?refresh=true", lines)[0] == 200
    url = store_url(engine, server, index)
    documents = open_documents(url)
    assert len({id for id, _ in documents.documents()}) == 350
    documents.close()
    store = in_place(open_at(url), "text")
    store.prepare(DEFAULT)
    expected = {f"note {number}" for number in range(350)}
    texts = [document.text for document in store.scan()]
    assert len(texts) == 350 and set(texts) == expected
    hits = store.search(Query("note")).hits
    assert len({hit.id for hit in hits}) == 350


def test_more_candidates_than_an_engine_returns_at_once(store, monkeypatch):
    store.write([row(f"{place:03}", bands=(band(0, 1),)) for place in range(60)])
    store.refresh()
    monkeypatch.setattr("indexer.stores.engine.candidates.MAX_WINDOW", 25)
    candidates = store.candidates([([band(0, 1)], [])], 59)[0]
    assert [hit.id for hit in candidates.found] == [f"{place:03}" for place in range(59)]
    assert candidates.cut
    assert not store.candidates([([band(0, 1)], [])], 1_000)[0].cut


@pytest.mark.parametrize(
    ("environment", "status"),
    [
        ({}, 401),
        ({"NEARFOLD_USER": "writer", "NEARFOLD_PASSWORD": "battery staple"}, 401),
        ({"NEARFOLD_API_KEY": "d3Jvbmc="}, 401),
        ({"NEARFOLD_USER": "reader", "NEARFOLD_PASSWORD": "correct horse"}, 403),
    ],
)
def test_wrong_credentials_are_refused_with_the_way_forward(
    environment, status, engine, server, index, open_at, auth_proxy, monkeypatch
):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    store = open_at(store_url(engine, auth_proxy(server).url, index))
    with pytest.raises(StoreAccessDenied, match="NEARFOLD_PASSWORD") as caught:
        store.prepare(DEFAULT)
    assert caught.value.status == status
    for secret in environment.values():
        assert secret == "reader" or secret not in str(caught.value)


@pytest.mark.parametrize(
    "environment",
    [
        {"NEARFOLD_USER": "writer", "NEARFOLD_PASSWORD": "correct horse"},
        {"NEARFOLD_API_KEY": base64.b64encode(b"nearfold:secret").decode()},
    ],
)
@pytest.mark.parametrize("tls", [False, True])
def test_right_credentials(
    environment, tls, engine, server, index, open_at, auth_proxy, monkeypatch, tmp_path
):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    authority = tmp_path / "authority.pem"
    if tls:
        monkeypatch.setenv("NEARFOLD_CA_CERTS", str(authority))
    store = open_at(
        store_url(engine, auth_proxy(server, tls=authority if tls else None).url, index)
    )
    store.prepare(DEFAULT)
    assert store.write([row("1")]) == [None]
    store.refresh()
    assert [hit.id for hit in store.scan()] == ["1"]


def test_a_certificate_of_a_stranger_is_refused(
    engine, server, index, open_at, auth_proxy, monkeypatch, tmp_path
):
    monkeypatch.setenv("NEARFOLD_USER", "writer")
    monkeypatch.setenv("NEARFOLD_PASSWORD", "correct horse")
    store = open_at(
        store_url(engine, auth_proxy(server, tls=tmp_path / "authority.pem").url, index)
    )
    with pytest.raises(StoreUnreachable, match="certificate verify failed"):
        store.prepare(DEFAULT)


def test_a_certificate_for_another_host_is_refused(
    engine, server, index, open_at, auth_proxy, monkeypatch, tmp_path
):
    authority = tmp_path / "authority.pem"
    monkeypatch.setenv("NEARFOLD_CA_CERTS", str(authority))
    url = auth_proxy(server, tls=authority).url.replace("127.0.0.1", "engine.test")
    resolve = socket.getaddrinfo
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda host, *rest, **more: resolve("127.0.0.1", *rest, **more)
    )
    with pytest.raises(StoreUnreachable, match=r"Hostname mismatch.*engine\.test"):
        open_at(store_url(engine, url, index)).prepare(DEFAULT)


def test_nobody_listens(engine, open_at):
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        store = open_at(f"{engine}://127.0.0.1:{reserved.getsockname()[1]}/docs")
        started = time.monotonic()
        for ask in (
            store.stored_recipe,
            lambda: store.prepare(DEFAULT),
            lambda: store.write([row("1")]),
            store.counts,
        ):
            with pytest.raises(StoreUnreachable, match="check that the server runs"):
                ask()
        assert time.monotonic() - started < 5


def test_somebody_listens_but_never_answers(engine, open_at, monkeypatch):
    monkeypatch.setattr("indexer.stores.engine.index_facts.FIRST_SECONDS", 0.3)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        store = open_at(f"{engine}://127.0.0.1:{listener.getsockname()[1]}/docs")
        with pytest.raises(StoreUnreachable):
            store.stored_recipe()


def test_the_index_of_another_program(engine, server, index, open_at):
    call("PUT", f"{server}/{index}", {"mappings": {"properties": {"title": {"type": "keyword"}}}})
    store = open_at(store_url(engine, server, index))
    for ask in (
        store.stored_recipe,
        lambda: store.prepare(DEFAULT),
        lambda: store.write([row("1")]),
    ):
        with pytest.raises(MappingMismatch, match=r"not made by nearfold.*--text-field FIELD"):
            ask()
    assert call("GET", f"{server}/{index}/_count")[1]["count"] == 0


def test_a_field_that_somebody_added(store, engine, server, index, open_at):
    call("PUT", f"{server}/{index}/_mapping", {"properties": {"extra": {"type": "keyword"}}})
    with pytest.raises(MappingMismatch, match="field extra"):
        open_at(store.url).prepare(DEFAULT)


def test_a_newer_index_is_refused(engine, server, index, open_at):
    body = index_mapping.new_index(DEFAULT, METADATA[engine], core_analysis(server), None, None)
    body["mappings"]["_meta"]["nearfold"].update(format=index_mapping.FORMAT + 1, news=True)
    assert call("PUT", f"{server}/{index}", body)[0] == 200
    with pytest.raises(StoreError, match="upgrade nearfold"):
        open_at(store_url(engine, server, index)).prepare(DEFAULT)


def test_an_index_that_a_template_made_gets_its_alias(engine, server, index, open_at):
    body = index_mapping.new_index(DEFAULT, METADATA[engine], core_analysis(server), None, None)
    assert call("PUT", f"{server}/{index}", body)[0] == 200
    store = open_at(store_url(engine, server, index))
    store.prepare(DEFAULT)
    assert store.write([row("1")]) == [None]
    assert set(call("GET", f"{server}/{index}")[1][index]["aliases"]) == {f"{index}-write"}


def test_a_name_that_is_an_alias(store, engine, server, index, open_at):
    call("PUT", f"{server}/{index}/_alias/{index}-other")
    other_store = open_at(store_url(engine, server, f"{index}-other"))
    other_store.prepare(DEFAULT)
    assert other_store.write([row("1")]) == [None]
    assert set(store.get(["1"])) == {"1"}


def test_a_name_that_stands_for_two_indices(store, engine, server, index, open_at):
    second = open_at(store_url(engine, server, f"{index}b"))
    second.prepare(DEFAULT)
    try:
        for name in (index, f"{index}b"):
            call("PUT", f"{server}/{name}/_alias/{index}-both")
        with pytest.raises(UsageError, match="one index"):
            open_at(store_url(engine, server, f"{index}-both")).prepare(DEFAULT)
    finally:
        call("DELETE", f"{server}/{index}b")


def test_an_index_that_goes_away_stops_and_is_not_made_anew(store, server, index):
    store.write([row("1")])
    call("DELETE", f"{server}/{index}")
    for write in (
        lambda: store.write([row("2")]),
        lambda: store.delete(["1"]),
        lambda: store.families.assign([Assignment("1", "1", True, None, None)]),
    ):
        with pytest.raises(StoreStopped, match="index is gone"):
            write()
    for read in (store.counts, lambda: list(store.scan()), lambda: store.get(["1"])):
        with pytest.raises(StoreError, match="nearfold index"):
            read()
    assert call("GET", f"{server}/{index}")[0] == 404
    assert call("GET", f"{server}/{index}-write")[0] == 404


def test_a_full_disk_stops(store, server, index):
    store.write([row("1")])
    call("PUT", f"{server}/{index}/_settings", {"index.blocks.read_only_allow_delete": True})
    with pytest.raises(StoreStopped, match="free disk space"):
        store.write([row("2")])
    assert set(store.get(["1", "2"])) == {"1"}
    call("PUT", f"{server}/{index}/_settings", {"index.blocks.read_only_allow_delete": None})
    assert store.write([row("2")]) == [None]


def test_a_closed_index_stops(store, server, index):
    call("POST", f"{server}/{index}/_close")
    with pytest.raises(StoreStopped, match="open the index"):
        store.write([row("1")])


def test_fields_that_nobody_knows_are_refused_by_the_engine(store, server, index):
    assert call("PUT", f"{server}/{index}/_doc/1", {"title": "x", "unknown": 1})[0] == 400


def test_documents_of_another_program_are_read_and_paged(store, server, index):
    lines = "".join(f'{{"index":{{}}}}\n{{"text":"foreign {place}"}}\n' for place in range(230))
    call("POST", f"{server}/{index}/_bulk", lines.encode())
    store.write([row("b", path="/p"), row("a", path="/p")])
    store.refresh()
    ids = [hit.id for hit in store.scan()]
    assert ids[:2] == ["a", "b"]
    assert len(set(ids)) == 232
    for sort in ("relevance", "path", "modified"):
        hits = [hit.id for hit in store.search(Query("", sort=sort)).hits]
        assert hits[:2] == ["a", "b"]
        assert len(set(hits)) == 232


def open_contexts(server):
    nodes = call("GET", f"{server}/_nodes/stats/indices/search")[1]["nodes"].values()
    return sum(node["indices"]["search"]["open_contexts"] for node in nodes)


def test_no_point_in_time_stays_open(store, server):
    store.write([row(f"{place:03}") for place in range(250)])
    store.refresh()
    before = open_contexts(server)
    unread = store.search(Query("fox"))
    partly_read = store.search(Query("fox"))
    next(partly_read.hits)
    partly_scanned = store.scan()
    next(partly_scanned)
    assert open_contexts(server) > before
    list(store.search(Query("fox")).hits)
    del unread, partly_read, partly_scanned
    assert open_contexts(server) == before


def count_queries(server, index):
    """Return how many searches an index with one shard has answered."""
    _, stats = call("GET", f"{server}/{index}/_stats/search")
    return stats["_all"]["primaries"]["search"]["query_total"]


@pytest.mark.parametrize("fold", ["live", "family", "none"])
def test_a_search_reads_its_hits_at_once(store, server, index, fold):
    store.write([row(f"{place:03}") for place in range(60)])
    store.refresh()
    before = count_queries(server, index)
    assert search(store, "fox", SearchOptions(limit=45, fold=fold)).total == 60
    # the others are of sketches, or of members and of the number of groups
    searches = {"live": 2, "family": 3, "none": 1}[fold]
    assert count_queries(server, index) - before == searches


def test_short_documents_are_read_by_few_requests_and_long_ones_by_more(store, server, index):
    store.write([row(f"{place:05}", text="few words") for place in range(1_000)])
    store.refresh()
    before = count_queries(server, index)
    assert [stored.id for stored in store.scan()] == [f"{place:05}" for place in range(1_000)]
    assert count_queries(server, index) - before <= 4
    store.write([row(f"{place:05}", text="word " * 20_000) for place in range(120)])
    store.refresh()
    before = count_queries(server, index)
    assert len(list(store.scan())) == 1_000
    assert count_queries(server, index) - before >= 6


def test_the_other_engine_behind_a_url(opensearch_url, elasticsearch_url, open_at):
    with pytest.raises(StoreError, match="opensearch://"):
        open_at(store_url("elasticsearch", opensearch_url, "nearfold-test-x")).prepare(DEFAULT)
    with pytest.raises(StoreError, match="begin the URL with the name of the engine"):
        open_at(store_url("opensearch", elasticsearch_url, "nearfold-test-x")).prepare(DEFAULT)
