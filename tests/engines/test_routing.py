"""Documents with a routing of their own are found, grouped, labelled and reindexed by it."""

import secrets

import pytest
from pipelines import bulk, call, good, store_url

from indexer import IndexOptions, index
from indexer.grouping.group import group
from indexer.operations.reindex import reindex
from indexer.recipe import DEFAULT_V1
from indexer.searching.similar import similar
from indexer.sources.base import Reading
from indexer.stores import in_place

pytestmark = pytest.mark.engines
FERRY = "The harbour ferry leaves at eight in the morning and returns at six in the evening."
IDS = [f"d{number}" for number in range(12)]


@pytest.fixture(params=[False, True], ids=["optional", "required"])
def routed_index(request, engine, server, tmp_path, monkeypatch):
    """The URL of an index of three shards, each of whose copies of a text has another routing, and
    the URL of its store.
    """
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    name = f"nearfold-test-{secrets.token_hex(6)}"
    mapping = {"properties": {"text": {"type": "text"}}, "_routing": {"required": request.param}}
    settings = {"number_of_shards": 3, "number_of_replicas": 0}
    good("PUT", f"{server}/{name}", {"mappings": mapping, "settings": settings})
    lines = []
    for id in IDS:
        lines += [{"index": {"_id": id, "routing": f"key {id}"}}, {"text": FERRY, "n": id}]
    bulk(server, name, [], *lines)
    yield f"{server}/{name}", store_url(engine, server, name)
    for version in good("GET", f"{server}/{name}*"):
        good("DELETE", f"{server}/{version}")


def test_a_routing_is_kept_by_all_that_changes_a_document(routed_index, open_at):
    url, address = routed_index
    store = open_at(address)
    text = IndexOptions(reading=Reading(text_field="text"))
    assert index([address], in_place(store, "text"), text).indexed == len(IDS)
    store.refresh()
    assert set(store.get(IDS)) == set(IDS)
    assert {match.id for match in similar(store, id=IDS[0]).matches} == set(IDS[1:])
    assert group(store).changed == len(IDS)
    assert store.labels.relabel({id: ["seen"] for id in IDS}) == len(IDS)
    reindex(store, DEFAULT_V1)
    for id in IDS:
        document = good("GET", f"{url}/_doc/{id}?routing=key+{id}")
        assert document["_routing"] == f"key {id}"
        fields = document["_source"]
        assert (fields["n"], fields["labels"]) == (id, ["seen"])
        assert fields["near_family"] == IDS[0] and fields["near_recipe"] == DEFAULT_V1.id
    assert call("GET", f"{url}/_count")[1]["count"] == len(IDS)
