"""Vectors of other programs: k-NN and hybrid queries fold, and nothing that nearfold writes loses a
vector, although both engines keep vectors outside of `_source`.
"""

import json
import secrets
import subprocess
from itertools import chain

import pytest
from page_blocks import blocks
from pipelines import bulk, good, store_url
from sample_library import edited, sentence
from servers import choosing, vectors
from servers.process import Server

from indexer import fold_hits
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.jobs.install import install, uninstall
from indexer.jobs.reindex import reindex
from indexer.recipe import DEFAULT, DEFAULT_V1
from indexer.stores import open_store

pytestmark = pytest.mark.engines
FERRY = f"ferry {sentence(1, 60)}"
TEXTS = {
    "a": FERRY,
    "b": edited(FERRY, 1),
    "c": edited(FERRY, 2),
    "d": f"ferry ferry {sentence(2, 60)}",
    "e": "a coal engine without it",
}
VECTORS = {
    "a": [1, 0, 0],
    "b": [0.9, 0.1, 0],
    "c": [0.9, 0, 0.1],
    "d": [0.5, 0.5, 0],
    "e": [0, 0, 1],
}
QUERY = [1, 0, 0]
MAPPINGS = {
    "opensearch": {
        "type": "knn_vector",
        "dimension": 3,
        "method": {"name": "hnsw", "engine": "lucene", "space_type": "l2"},
    },
    "elasticsearch": {"type": "dense_vector", "dims": 3, "similarity": "l2_norm"},
}


@pytest.fixture(scope="module")
def knn_opensearch_url():
    """OpenSearch 3.4 with its k-NN plugin."""
    with choosing.running(lambda: Server(vectors.ENGINE)) as server:
        yield server.url


@pytest.fixture(params=["elasticsearch", pytest.param("opensearch", marks=pytest.mark.versions)])
def library(request, tmp_path, monkeypatch):
    """An engine, the URL of its index, and a store with a family of three and two documents alone,
    each with a vector that another client sent.
    """
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    engine = request.param
    fixture = {"opensearch": "knn_opensearch_url", "elasticsearch": "elasticsearch_url"}[engine]
    server = request.getfixturevalue(fixture)
    name = f"nearfold-test-{secrets.token_hex(6)}"
    store = open_store(f"{store_url(engine, server, name)}?replicas=0")
    install(store, DEFAULT_V1)
    settings = {"settings": {"index.knn": True}} if engine == "opensearch" else {}
    properties = {"vector": MAPPINGS[engine]}
    good("PUT", f"{server}/{name}", {**settings, "mappings": {"properties": properties}})
    lines = [
        ({"index": {"_id": id}}, {"text": text, "vector": VECTORS[id]})
        for id, text in TEXTS.items()
    ]
    bulk(server, name, [], *chain.from_iterable(lines))
    group(store)
    yield engine, f"{server}/{name}", store
    good("DELETE", f"{server}/{name}*")
    uninstall(store)
    store.close()


def nearest(engine, k, restriction=None):
    """Return the body of a k-NN query of an engine."""
    limits = {"filter": restriction} if restriction else {}
    if engine == "opensearch":
        return {"query": {"knn": {"vector": {"vector": QUERY, "k": k, **limits}}}}
    knn = {"field": "vector", "query_vector": QUERY, "k": k, "num_candidates": 100}
    return {"knn": {**knn, **limits}}


def hybrid(engine, k):
    """Return the body of a query that adds the scores of k-NN and of words."""
    words, body = {"match": {"text": "ferry"}}, nearest(engine, k)
    if engine == "opensearch":
        return {"query": {"bool": {"should": [body["query"], words]}}}
    return {**body, "query": words}


def ids(url, body, params=""):
    """Return the ids of the hits of a search."""
    hits = good("POST", f"{url}/_search{params}", {"_source": ["near_family"], **body})
    return [hit["_id"] for hit in hits["hits"]["hits"]]


COLLAPSE = {"collapse": {"field": "near_family"}}


def test_neighbours_and_hybrid_hits_fold_by_collapse(library):
    engine, url, _ = library
    assert ids(url, nearest(engine, 10)) == ["a", "b", "c", "d", "e"]
    assert ids(url, {**nearest(engine, 10), **COLLAPSE}) == ["a", "d", "e"]
    assert ids(url, hybrid(engine, 10))[-1] == "e"
    assert sorted(ids(url, {**hybrid(engine, 10), **COLLAPSE})[-2:]) == ["d", "e"]
    assert len(ids(url, {**hybrid(engine, 10), **COLLAPSE})) == 3


def test_k_counts_documents_or_with_a_filter_families(library):
    engine, url, _ = library
    assert ids(url, {**nearest(engine, 3), **COLLAPSE}) == ["a"]
    principals = {"bool": {"must_not": {"term": {"near_principal": False}}}}
    assert ids(url, nearest(engine, 3, principals)) == ["a", "d", "e"]


def test_hits_by_vector_fold_in_the_client(library):
    engine, url, store = library
    folded = fold_hits(store, ids(url, nearest(engine, 10)), threshold=0.9)
    assert [(hit.id, len(hit.folded)) for hit in folded] == [("a", 2), ("d", 0), ("e", 0)]


def test_nothing_that_nearfold_writes_loses_a_vector(library):
    engine, url, store = library
    expected = ids(url, nearest(engine, 10))
    group(store, GroupOptions(threshold=0.99))
    store.labels.relabel({"a": ["seen"]})
    store.refresh()
    good("POST", f"{url}/_update_by_query?refresh=true")
    assert ids(url, nearest(engine, 10)) == expected
    assert reindex(store, DEFAULT).copied == len(TEXTS)
    assert ids(url, nearest(engine, 10)) == expected


@pytest.mark.versions
@pytest.mark.parametrize("library", ["opensearch"], indirect=True)
def test_the_search_pipeline_folds_neighbours_and_the_commands_of_the_page_run(library):
    _, url, _ = library
    fold = "?search_pipeline=nearfold-fold-v1"
    for body in (nearest("opensearch", 10), hybrid("opensearch", 10)):
        assert ids(url, body, fold) == ["a", "d", "e"]
        assert ids(url, {**body, "size": 2}, fold) == ["a", "d"]
    script = "".join(blocks("docs/folding.md", 'sh title="knn"'))
    lines = script.replace("localhost:9200/papers", url)
    done = subprocess.run(["bash", "-ec", lines], capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.replace("}{", "}\n{").splitlines()]
    found = [[hit["_id"] for hit in answer["hits"]["hits"]] for answer in answers]
    assert found == [["a", "d", "e"]] * 3
