"""Three nodes and five shards: requests travel between nodes, and a node may be killed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from rest import Rest
from servers.cluster import Cluster
from servers.with_plugin import engine

pytestmark = [pytest.mark.engines, pytest.mark.slow]

WORDS = [f"word{number}" for number in range(300)]
DOCUMENTS = 200
PIPELINE = {"request_processors": [{"near_fold": {}}], "response_processors": [{"near_fold": {}}]}


@pytest.fixture(scope="module", params=["opensearch", "elasticsearch"])
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    running = Cluster(request.param, engine(request.param))
    try:
        running.start()
        _fill(Rest(running.url))
        yield running
    finally:
        running.close()


def _texts() -> list[str]:
    chance = random.Random(8)
    texts: list[str] = []
    for number in range(DOCUMENTS):
        words = chance.choices(WORDS, k=60) if number % 4 == 0 else texts[number // 4 * 4].split()
        if number % 4:
            words[chance.randrange(60)] = "other"
        texts.append(" ".join(words))
    return texts


def _fill(rest: Rest) -> None:
    rest.request("GET", "_cluster/health?wait_for_nodes=3&wait_for_events=languid&timeout=120s")
    rest.create("spread", shards=5)
    rest.request("PUT", "spread/_settings", {"number_of_replicas": 1})
    lines: list[object] = []
    for number, text in enumerate(_texts()):
        lines += [{"index": {"_index": "spread", "_id": str(number)}}, {"text": text}]
    rest.bulk(*lines)
    rest.request("GET", "_cluster/health/spread?wait_for_status=green&timeout=120s")


def _similar(rest: Rest, number: int, **options: Any) -> dict[str, float]:
    like = {"_index": "spread", "_id": str(number)}
    query = {"near_duplicate": {"field": "text.near", "like": like, **options}}
    hits = rest.search("spread", query=query, size=50, _source=False)
    return {hit["_id"]: hit["_score"] for hit in hits}


def _folded(rest: Rest, path: str, scope: str | None = None) -> dict[str, int]:
    body = {
        "query": {"match": {"text": "other"}},
        "rescore": {"window_size": 200, "near_fold": {"field": "text.near"}},
        "size": 200,
        "_source": False,
    }
    hits = rest.request("POST", f"{path}&preference=tests", body)["hits"]["hits"]
    folds = {hit["_id"]: hit["fields"]["near_fold"][0] for hit in hits}
    assert len(hits) == len(folds)
    assert {fold.get("scope") for fold in folds.values()} == {scope}
    return {id: fold["folded"] for id, fold in folds.items() if "folded" in fold}


def test_every_node_finds_the_same(cluster: Cluster) -> None:
    for number in (0, 5, 102):
        found = [_similar(Rest(node.url), number) for node in cluster.nodes]
        first = number // 4 * 4
        assert set(found[0]) == {str(first + place) for place in range(4)} - {str(number)}
        assert found[0] == found[1] == found[2]
        slots = [_similar(Rest(node.url), number, measure="slots") for node in cluster.nodes]
        assert slots[0] == slots[1] == slots[2]


def test_shards_fold_their_own_hits_without_a_pipeline(cluster: Cluster) -> None:
    if cluster.kind == "elasticsearch":
        pytest.skip("the plugin folds the hits of all shards")
    shown = _folded(Rest(cluster.url), "spread/_search?size=200", "shard")
    assert sum(shown.values()) + len(shown) == 150
    assert len(shown) >= 50


def test_all_hits_are_folded_on_every_node(cluster: Cluster) -> None:
    path = "spread/_search?size=200"
    if cluster.kind == "opensearch":
        Rest(cluster.url).request("PUT", "_search/pipeline/near_fold", PIPELINE)
        path += "&search_pipeline=near_fold"
    for node in cluster.nodes:
        assert sorted(_folded(Rest(node.url), path).values()) == [2] * 50


def test_a_killed_node(cluster: Cluster) -> None:
    cluster.nodes[2].kill()
    rest = Rest(cluster.url)
    rest.request("GET", "_cluster/health?wait_for_nodes=2&timeout=120s")
    rest.request("GET", "_cluster/health/spread?wait_for_status=yellow&timeout=120s")
    assert set(_similar(rest, 8)) == {"9", "10", "11"}
    rest.put("spread", "new", text=_texts()[8])
    assert set(_similar(rest, 8)) == {"9", "10", "11", "new"}
    cluster.nodes[2].start()
    rest.request("GET", "_cluster/health/spread?wait_for_status=green&timeout=120s")
    assert set(_similar(Rest(cluster.nodes[2].url), 8)) == {"9", "10", "11", "new"}
