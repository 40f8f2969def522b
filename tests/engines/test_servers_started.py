"""The real servers come up as the tests need them."""

from __future__ import annotations

import json
import urllib.request

import pytest
from servers import opensearch


def call(method: str, url: str, body: object = None) -> object:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read())


def test_opensearch_runs_painless_and_the_pipelines(opensearch_url):
    nodes = call("GET", f"{opensearch_url}/_nodes/plugins,ingest,search_pipelines")[
        "nodes"
    ].values()
    for node in nodes:
        processors = {processor["type"] for processor in node["ingest"]["processors"]}
        assert "script" in processors
        is_published = "ingest-attachment" in opensearch.Release(opensearch.VERSION).modules
        assert "attachment" in processors or not is_published
        response = {
            processor["type"] for processor in node["search_pipelines"]["response_processors"]
        }
        assert {"collapse", "truncate_hits"} <= response
    script = {"script": {"lang": "painless", "source": "Long.bitCount(7L).toString()"}}
    assert call("POST", f"{opensearch_url}/_scripts/painless/_execute", script) == {"result": "3"}


def test_elasticsearch_has_painless_analysis_and_security(elasticsearch_url):
    assert call("GET", f"{elasticsearch_url}/_cluster/health")["status"] in {"green", "yellow"}
    for node in call("GET", f"{elasticsearch_url}/_nodes/plugins")["nodes"].values():
        modules = {module["name"] for module in node["modules"]}
        assert modules >= {
            "aggregations",
            "analysis-common",
            "ingest-common",
            "lang-painless",
            "reindex",
            "x-pack-security",
        }
    assert call("GET", f"{elasticsearch_url}/_security/_authenticate")["roles"] == ["superuser"]


def test_tika_extracts(tika_url):
    body = b"<html><head><title>Fold</title></head><body><p>near duplicates</p></body></html>"
    request = urllib.request.Request(
        f"{tika_url}/rmeta/text", body, {"Content-Type": "text/html"}, method="PUT"
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        (document,) = json.loads(answer.read())
    assert document["X-TIKA:content"].split() == ["Fold", "near", "duplicates"]


@pytest.mark.slow
def test_acknowledged_document_survives_a_kill(opensearch_node):
    node = opensearch_node()
    call("PUT", f"{node.url}/kept/_doc/1", {"text": "acknowledged"})
    node.restart()
    assert call("GET", f"{node.url}/kept/_doc/1")["_source"] == {"text": "acknowledged"}
