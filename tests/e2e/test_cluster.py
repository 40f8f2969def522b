"""Clients without nearfold on a cluster with it: the same keys and families as by Python."""

import json
import re
import secrets
import shutil
import urllib.request

import pytest
from command import outcome, run, run_json, shell
from page_blocks import blocks

from indexer.grouping.group import group
from indexer.jobs.index import IndexOptions, index
from indexer.jobs.install import install, uninstall
from indexer.searching.search import search
from indexer.searching.similar import similar
from indexer.stores import open_store

TAIL = (
    "Dogs travel free, bicycles cost two crowns, "
    "and children under six need no ticket if a grown-up is with them."
)
FIRST = (
    f"The harbour ferry leaves at eight in the morning and returns at six in the evening. {TAIL}"
)
TEXTS = {
    "first": FIRST,
    "copy": FIRST.upper().replace("MORNING ", "MORN-\nING\t"),
    "edition": FIRST.replace("returns at six", "returns again at six"),
    "other": "A ferry is a boat that carries people and goods across a river, a lake or the sea, "
    "港口 included.",
}
SIGNATURE = ("status", "exact", "bands", "blocks", "simhash", "minhash", "words", "chars", "recipe")


def ask(method, url, body=None, kind="application/json"):
    """Send one request and return its JSON; a body that is not a text is sent as JSON."""
    text = body if body is None or isinstance(body, str) else json.dumps(body)
    data = text.encode() if text is not None else None
    request = urllib.request.Request(url, data, {"Content-Type": kind}, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read())


@pytest.fixture
def place(opensearch_url):
    """Server, index and store address; all is removed afterwards."""
    name = f"nearfold-test-{secrets.token_hex(6)}"
    store = open_store(f"opensearch://{opensearch_url.partition('://')[2]}/{name}")
    yield opensearch_url, name, store
    uninstall(store)
    store.close()
    ask("DELETE", f"{opensearch_url}/{name},{name}-wire?ignore_unavailable=true")


@pytest.fixture
def python_path(tmp_path):
    """The same texts as files, indexed by Python into the embedded store."""
    (tmp_path / "files").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / "files" / f"{name}.txt").write_text(text, encoding="utf-8")
    store = open_store("sqlite://:memory:")
    account = index([str(tmp_path / "files")], store, IndexOptions(extractor="plain"), workers=1)
    assert account.indexed == len(TEXTS)
    yield store
    store.close()


def send_bulk(server, name, ids):
    """Send the documents by bulk and return their ids."""
    actions = [{"index": {"_id": id}} if ids else {"index": {}} for id in TEXTS]
    lines = [
        json.dumps(line)
        for action, text in zip(actions, TEXTS.values(), strict=True)
        for line in (action, {"text": text})
    ]
    answer = ask(
        "POST",
        f"{server}/{name}/_bulk?refresh=true",
        "\n".join(lines) + "\n",
        "application/x-ndjson",
    )
    assert not answer["errors"]
    return dict(zip(TEXTS, (item["index"]["_id"] for item in answer["items"]), strict=True))


def families(store):
    """Return the members of each family with their similarity, by the names of their texts."""
    members = {}
    for row in store.scan():
        members.setdefault(row.family, set()).add(
            (row.exact, row.words, row.principal, row.similarity)
        )
    return {frozenset(family) for family in members.values()}


def search_ids(server, name, body, params=""):
    query = {"query": {"match": {"text": "ferry"}}, "_source": ["near_family"], **body}
    return [
        hit["_source"]["near_family"]
        for hit in ask("POST", f"{server}/{name}/_search{params}", query)["hits"]["hits"]
    ]


@pytest.mark.parametrize("ids", [True, False], ids=["ids of the client", "ids of the engine"])
def test_a_bulk_of_any_client_gives_the_keys_matches_and_families_of_python(
    place, python_path, ids
):
    server, name, store = place
    install(store)
    ids_by_name = send_bulk(server, name, ids)
    rows = store.get(list(ids_by_name.values()))
    by_text = {row.exact + str(row.words): row for row in python_path.scan()}
    assert len(rows) == len(TEXTS)
    for row in rows.values():
        theirs = by_text[row.exact + str(row.words)]
        assert [getattr(row, field) for field in SIGNATURE] == [
            getattr(theirs, field) for field in SIGNATURE
        ]

    query = FIRST.replace("grown-up", "parent")
    by_client, by_python = similar(store, query), similar(python_path, query)
    assert len(by_client.matches) == 3
    assert [match.similarity for match in by_client.matches] == [
        match.similarity for match in by_python.matches
    ]
    assert {match.id for match in similar(store, id=ids_by_name["first"]).matches} == {
        ids_by_name["copy"],
        ids_by_name["edition"],
    }

    page, theirs = search(store, "ferry"), search(python_path, "ferry")
    assert (
        sorted(len(hit.folded) for hit in page.hits)
        == sorted(len(hit.folded) for hit in theirs.hits)
        == [0, 2]
    )

    for filled_store in (store, python_path):
        group(filled_store)
    store.refresh()
    assert families(store) == families(python_path)


def test_searches_of_any_client_fold(place):
    server, name, store = place
    install(store)
    ids_by_name = send_bulk(server, name, ids=False)
    pipeline, collapse = "?search_pipeline=nearfold-fold-v1", {"collapse": {"field": "near_family"}}
    assert len(search_ids(server, name, {})) == 4
    families = search_ids(server, name, collapse)
    assert len(families) == len(set(families)) == 3  # exact copies are one family on arrival
    assert search_ids(server, name, {}, pipeline) == families

    group(store)
    store.refresh()
    families = search_ids(server, name, collapse)
    rows = store.get(list(ids_by_name.values()))
    assert len({rows[ids_by_name[text]].family for text in ("first", "copy", "edition")}) == 1
    assert sorted(families) == sorted(
        [rows[ids_by_name["first"]].family, rows[ids_by_name["other"]].family]
    )
    assert not any(row.provisional for row in rows.values())
    assert search_ids(server, name, {}, pipeline) == families
    assert len(search_ids(server, name, {"size": 1}, pipeline)) == 1


def test_the_commands_say_what_they_do(place):
    store = place[2].url
    shared = ["ingest pipeline"] * 2 + ["stored script"] * 4
    kinds = ["component template", *shared, "search pipeline", "index template"]
    planned = run_json("install", "--dry-run", store=store)
    assets = [asset for asset in planned["installed"] if asset["kind"] != "plugin"]
    assert [(asset["kind"], asset["action"]) for asset in assets] == [
        (kind, "created") for kind in kinds
    ]
    assert planned["dry_run"] is True
    assert (
        run("install", store=store).splitlines()[0]
        == "created  component template nearfold-default_v3"
    )
    assert run("uninstall", "--dry-run", store=store).startswith("would be removed  index template")
    assert run("uninstall", store=store).startswith("removed  index template")
    assert run("uninstall", store=store) == "nothing is installed there\n"


def test_the_embedded_store_takes_no_installation():
    assert run("install", store="sqlite://:memory:", code=3) == ""


def test_the_commands_tell_where_rows_went_and_show_ids_where_there_is_no_path(place, tmp_path):
    server, name, store = place
    for id in ("first", "copy", "other"):
        ask("PUT", f"{server}/{name}/_doc/{id}?refresh=true", {"body": TEXTS[id]})
    ask("PUT", f"{server}/{name}/_doc/none?refresh=true", {"n": 1})
    elsewhere = f"sqlite:///{tmp_path}/rows.db"
    apart = outcome("index", store.url, "--text-field", "body", store=elsewhere)
    assert (
        f"read into {elsewhere}; to fingerprint the documents of {store.url} where they are: "
        f"--store {store.url}" in apart.stderr
    )
    run("install", store=store.url)
    inside = outcome("index", store.url, "--text-field", "body", store=store.url)
    assert (inside.returncode, "4 indexed" in inside.stdout, "--store" in inside.stderr) == (
        0,
        True,
        False,
    )
    assert "nearfold-default_v3-body" in run("install", "--text-field", "body", store=store.url)
    run("install", "--text-field", "text", store=store.url, code=3)
    lines = run("search", "ferry", store=store.url).splitlines()
    assert {
        line.split()[-1] for line in lines if line.startswith(("first", "copy", "  + 100%"))
    } == {"first", "copy"}
    run("search", "ferry", "--after", "", store=store.url, code=2)


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_every_command_of_the_page_runs(place, tmp_path):
    """Run them in order in one folder, with the server and the index of the test."""
    server, name, _ = place
    address = server.partition("://")[2]
    printed = [
        shell(block.replace("localhost:9200", address).replace("/papers", f"/{name}"), tmp_path)
        for block in blocks("docs/cluster.md")
    ]
    (
        planned,
        sent,
        file,
        looked_up,
        _,
        collapsed,
        piped,
        rescored,
        by_bits,
        backfilled,
        by_body,
        unsigned,
        _,
        removed,
    ) = printed
    assert "would be created  ingest pipeline nearfold-default_v3" in planned
    assert '"errors":false' in sent
    notes = json.loads(file[file.rindex('{"_index"') :])["_source"]
    assert (notes["title"], notes["content_type"], notes["near_status"]) == (
        "Notes",
        "text/html",
        "complete",
    )
    assert "evening-edition" in looked_up
    collapsed, piped = json.loads(collapsed), json.loads(piped)
    assert collapsed["hits"]["total"]["value"] == 4
    assert collapsed["aggregations"]["families"]["value"] == 2
    assert len(collapsed["hits"]["hits"]) == len(piped["hits"]["hits"]) == 2
    best, *_, last = hits = json.loads(rescored)["hits"]["hits"]
    assert (len(hits), best["_id"], best["_score"]) == (3, "evening-edition", 1.0)
    assert 0.7 < last["_score"] < 1
    nearest = json.loads(by_bits)["hits"]["hits"][0]
    assert (nearest["_id"], nearest["_score"]) == ("evening-edition", 1.0)
    assert json.loads(backfilled)["updated"] == 5
    assert '"updated":1' in by_body
    assert "ingest pipeline nearfold-default_v3-body" in by_body
    assert re.search(r"keys +equal to recomputed keys in 1 row", by_body)
    assert json.loads(unsigned)["hits"]["total"]["value"] == 0
    assert "removed  ingest pipeline" in removed
