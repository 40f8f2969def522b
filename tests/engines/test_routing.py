"""Documents with a routing of their own are found, grouped, labelled and reindexed by it."""

import secrets

import pytest
from pipelines import bulk, call, good, store_url

from indexer import IndexOptions, index
from indexer.documents.base import ReadOptions
from indexer.errors import UsageError
from indexer.grouping.delete import delete
from indexer.grouping.group import group
from indexer.jobs.label import LabelOptions, label
from indexer.jobs.reindex import reindex
from indexer.recipe import DEFAULT, DEFAULT_V1
from indexer.searching.similar import similar
from indexer.stores import in_place
from indexer.stores.engine.foreign_documents import REPEATED

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
    text = IndexOptions(reading=ReadOptions(text_field="text"))
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
    assert delete(store, [IDS[1]]).deleted == (IDS[1],)
    assert call("GET", f"{url}/_doc/{IDS[1]}?routing=key+{IDS[1]}")[0] == 404


def stored(url):
    """Return routing, version and text of each document of an index, sorted."""
    hits = good("POST", f"{url}/_search", {"size": 100, "version": True})["hits"]["hits"]
    return sorted((hit["_routing"], hit["_version"], hit["_source"]["text"]) for hit in hits)


def test_documents_of_one_id_are_left_alone_and_lost_by_nothing(routed_index, open_at):
    url, address = routed_index
    server, _, name = url.rpartition("/")
    first = shard(url, f"key {IDS[0]}")
    twin = next(key for key in map(str, range(50)) if shard(url, key) != first)
    lines = [{"index": {"_id": IDS[0], "routing": twin}}, {"text": f"{FERRY} Again.", "n": "e"}]
    bulk(server, name, [], *lines)
    store = open_at(address)
    before = stored(url)
    options = IndexOptions(reading=ReadOptions(text_field="text"))
    result = index([address], in_place(store, "text"), options)
    assert result.indexed == len(IDS) - 1
    assert len(result.failed) == 2
    assert all(f"{REPEATED}; it is not changed" in blob.error for blob in result.failed)
    store.refresh()
    grouped = group(store)
    assert (grouped.documents, grouped.left_alone) == (len(IDS) + 1, 2)
    for change in (
        lambda: label(store, [IDS[0]], LabelOptions(add=["seen"])),
        lambda: delete(store, [IDS[0]]),
    ):
        with pytest.raises(UsageError, match=f"document {IDS[0]}: {REPEATED}"):
            change()
    good("POST", f"{url}/_refresh")
    unchanged = [document for document in stored(url) if document in before]
    assert [text for _, _, text in unchanged] == [f"{FERRY} Again.", FERRY]
    texts = [text for _, _, text in stored(url)]
    gone = f"{url}/_doc/{IDS[0]}?routing={twin}&refresh=true"

    def delete_one(copied):
        if call("GET", gone)[0] == 200:
            good("DELETE", gone)

    assert reindex(store, DEFAULT_V1).copied == len(texts)
    assert [text for _, _, text in stored(url)] == texts
    reindex(store, DEFAULT, on_progress=delete_one)
    assert [text for _, _, text in stored(url)] == [FERRY] * len(IDS)


def shard(url, routing):
    """Return the shard of documents with this routing."""
    answer = good("GET", f"{url}/_search_shards?routing={routing.replace(' ', '+')}")
    return answer["shards"][0][0]["shard"]
