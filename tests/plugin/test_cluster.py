"""Three nodes and five shards: requests travel between nodes, and a node may be killed."""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from rest import Rest
from servers import java
from servers.cluster import Cluster
from servers.process import Server
from servers.with_plugin import engine

pytestmark = [pytest.mark.engines, pytest.mark.slow]

WORDS = [f"word{number}" for number in range(300)]
DOCUMENTS = 200
REQUESTS = int(os.environ.get("NEARFOLD_PLUGIN_REQUESTS", "4000"))
TOGETHER = 200  # of these in one request
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


def test_nodes_that_are_restarted_one_after_the_other(cluster: Cluster) -> None:
    found = {"13", "14", "15"}
    for number, node in enumerate(cluster.nodes):
        node.stop()
        rest = Rest(cluster.nodes[number - 1].url)
        rest.request("GET", "_cluster/health?wait_for_nodes=2&timeout=120s")
        rest.request("GET", "_cluster/health/spread?wait_for_status=yellow&timeout=120s")
        assert set(_similar(rest, 12)) == found
        rest.put("spread", f"restart{number}", text=_texts()[12])
        found.add(f"restart{number}")
        assert set(_similar(rest, 12)) == found
        node.start()
        rest.request("GET", "_cluster/health?wait_for_nodes=3&timeout=120s")
        rest.request("GET", "_cluster/health/spread?wait_for_status=green&timeout=240s")
    for node in cluster.nodes:
        assert set(_similar(Rest(node.url), 12)) == found


def test_look_ups_and_folds_leave_nothing_in_the_heap(cluster: Cluster) -> None:
    """`NEARFOLD_PLUGIN_REQUESTS` is how many are sent; -s prints what is reachable."""
    rest, node = Rest(cluster.url), cluster.nodes[0]
    _request_many(rest, 5 * TOGETHER)  # what is kept of texts, ids and requests is there then
    before = _reachable(node)
    _request_many(rest, REQUESTS)
    after = _reachable(node)
    print(f"{cluster.kind}: {REQUESTS:,} requests, {before:,} bytes before, {after:,} after")
    assert after < 1.1 * before


def _request_many(rest: Rest, count: int) -> None:
    """Send look-ups by every measure, and folded searches, in turns."""
    near = {"field": "text.near", "minimum_similarity": 0.7}
    chance, texts = random.Random(count), _texts()
    for _ in range(0, count, TOGETHER):
        lines: list[object] = []
        for number in range(TOGETHER):
            measure = ("lcs", "slots", "hamming")[number % 3]
            like = chance.choice(texts) if number % 2 else {"_index": "spread", "_id": "4"}
            fold = {
                "window_size": 50,
                "near_fold": {**near, "measure": ("lcs", "slots")[number % 2]},
            }
            body = {"query": {"near_duplicate": {**near, "like": like, "measure": measure}}}
            if number % 4 == 0:
                body = {"query": {"match": {"text": chance.choice(WORDS)}}, "rescore": fold}
            lines += [{"index": "spread"}, {**body, "_source": False}]
        sent = "".join(f"{json.dumps(line)}\n" for line in lines)
        responses = rest.request("POST", "_msearch?filter_path=responses.error", sent)
        assert "responses" not in responses, responses


def _reachable(node: Server) -> int:
    """Return the bytes of all objects of a node after a full garbage collection."""
    (facts,) = Rest(node.url).request("GET", "_nodes/_local/process")["nodes"].values()
    process = str(facts["process"]["id"])  # of Elasticsearch another one starts it
    command = [str(java.home(21) / "bin/jcmd"), process, "GC.class_histogram"]
    histogram = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return int(histogram.stdout.split()[-1])
