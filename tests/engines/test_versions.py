"""The oldest and newest supported version of each engine: installed, filled by another client,
searched, grouped and reindexed.
"""

import secrets

import pytest
from pipelines import bulk, call, good, store_url
from servers import elasticsearch, opensearch
from servers.choosing import required
from servers.engine import AbsentError
from servers.process import Server

from indexer.cli import main
from indexer.grouping.group import group
from indexer.jobs.doctor import doctor
from indexer.jobs.install import install, uninstall
from indexer.jobs.reindex import reindex
from indexer.recipe import DEFAULT, DEFAULT_V1
from indexer.searching.search import SearchOptions, search
from indexer.searching.similar import similar
from indexer.stores import open_store
from indexer.stores.engine.asset_bodies import score_scripts

pytestmark = [pytest.mark.engines, pytest.mark.versions]
VERSIONS = [
    ("opensearch", opensearch.OLDEST),
    ("opensearch", opensearch.VERSION),
    ("elasticsearch", elasticsearch.OLDEST),
    ("elasticsearch", elasticsearch.COMPLETE),
    ("elasticsearch", elasticsearch.NEWEST),
]
FERRY = "The harbour ferry leaves at eight in the morning and returns at six in the evening."
OTHERS = [
    f"Parcel {number} of the ferry was weighed and sealed by clerk {number}."
    for number in range(250)
]


@pytest.fixture(scope="module", params=VERSIONS, ids="-".join)
def running(request):
    """The name of an engine and the URL of a server of one version."""
    name, version = request.param
    module = {"opensearch": opensearch, "elasticsearch": elasticsearch}[name]
    try:
        server = Server(module.engine(version))
    except AbsentError as error:
        (pytest.fail if required() else pytest.skip)(f"no {name} {version}: {error}")
    try:
        server.start()
        yield name, server.url
    finally:
        server.close()


@pytest.fixture
def shared_index(running, tmp_path, monkeypatch):
    """A store of three shards and its server; the index is removed at the end."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    engine, server = running
    index = f"nearfold-test-{secrets.token_hex(6)}"
    store = open_store(f"{store_url(engine, server, index)}?shards=3&replicas=0")
    yield store, server, index
    uninstall(store)
    store.close()
    for name in call("GET", f"{server}/{index}*")[1]:
        good("DELETE", f"{server}/{name}")


def actions(installation):
    return [(change.kind, change.name, change.action) for change in installation.changes]


def test_an_engine_without_painless_gets_the_rest_and_says_what_is_missing(shared_index, capsys):
    store, _, _ = shared_index
    planned = install(store, dry_run=True)
    done = install(store)
    assert actions(planned) == actions(done)  # a dry run does not ask about malformed lines
    changes = [(change.kind, change.action) for change in done.changes]
    if done.complete:
        assert ("ingest pipeline", "created") in changes
        return
    assert changes == [
        ("component template", "created"),
        ("ingest pipeline", "impossible"),
        ("ingest pipeline", "impossible"),
        *[("stored script", "impossible")] * len(score_scripts()),
        ("index template", "created"),
    ]
    missing = [change for change in done.changes if change.action == "impossible"]
    assert all("script" in change.detail for change in missing)
    assert main.run(["install", "--store", store.url]) == 1
    assert "impossible  ingest pipeline nearfold-default_v3: " in capsys.readouterr().out
    uninstall(store)
    assert uninstall(store).changes == ()


def test_an_index_that_others_fill_is_searched_grouped_and_reindexed(shared_index):
    store, server, index = shared_index
    changes = install(store, DEFAULT).changes
    signs = ("ingest pipeline", "created") in {(one.kind, one.action) for one in changes}
    if not signs:
        store.prepare(DEFAULT)
    texts = [FERRY, FERRY.upper(), f"{FERRY} Dogs travel free.", *OTHERS]
    bulk(server, index, [{"text": text} for text in texts])
    assert sum(1 for _ in store.scan()) == len(texts)
    assert search(store, "ferry", SearchOptions(fold="none")).total == len(texts)
    if not signs:
        return
    assert [match.similarity for match in similar(store, FERRY).matches[:2]] == [1, 1]
    assert group(store).singletons == len(texts) - 2
    assert search(store, '"harbour ferry"', SearchOptions(fold="family")).total == 3
    assert reindex(store, DEFAULT_V1).copied == len(texts)
    assert {check.verdict for check in doctor(store.url) if check.name in ("store", "keys")} == {
        "good"
    }
