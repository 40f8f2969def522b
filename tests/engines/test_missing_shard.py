"""A shard that no node has: a search waits for it, and ends with an error."""

import pytest
from pipelines import call, good, store_url
from sample_rows import TEXT, row

from indexer.errors import StoreStopped
from indexer.recipe import DEFAULT
from indexer.searching.search import SearchOptions, search
from indexer.searching.similar import similar
from indexer.stores.engine import requests
from indexer.stores.engine.requests import RetryPolicy

pytestmark = pytest.mark.engines
DOCUMENTS = 20


@pytest.fixture
def without_a_shard(engine, server, index, open_at, monkeypatch):
    """A store of two shards, one of which is on no node: the only node may hold one of them."""
    quick = RetryPolicy(first=0.01, longest=0.05, attempts=3)
    monkeypatch.setattr(requests, "RetryPolicy", lambda: quick)
    store = open_at(f"{store_url(engine, server, index)}?shards=2&replicas=0")
    store.prepare(DEFAULT)
    store.write([row(f"{number}") for number in range(DOCUMENTS)])
    store.refresh()
    good("PUT", f"{server}/{index}/_settings", {"index.blocks.write": True})
    limit = {
        "index.routing.allocation.total_shards_per_node": 1,
        "index.number_of_replicas": 0,
        "index.blocks.write": None,
    }
    copy = f"{index}-copy"
    path = f"{index}/_clone/{copy}?wait_for_active_shards=0"
    good("POST", f"{server}/{path}", {"settings": limit})
    try:
        good("GET", f"{server}/_cluster/health/{copy}?wait_for_no_initializing_shards=true")
        shards = good("GET", f"{server}/_cat/shards/{copy}?format=json")
        assert sorted(shard["state"] for shard in shards) == ["STARTED", "UNASSIGNED"]
        yield open_at(store_url(engine, server, copy))
    finally:
        call("DELETE", f"{server}/{copy}")


@pytest.mark.parametrize(
    "options", [{}, {"fold": "none"}, {"fold": "family"}, {"keep_alive": True}]
)
def test_a_search_does_not_answer_with_the_other_shards(without_a_shard, options):
    with pytest.raises(StoreStopped, match="missing shards"):
        search(without_a_shard, "", SearchOptions(**options))


@pytest.mark.parametrize(
    "read",
    [
        lambda store: store.counts(),
        lambda store: list(store.scan()),
        lambda store: similar(store, TEXT),
    ],
    ids=["counts", "scan", "similar"],
)
def test_no_read_takes_the_other_shards_for_all(without_a_shard, read):
    with pytest.raises(StoreStopped, match="missing shards"):
        read(without_a_shard)
