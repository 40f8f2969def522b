"""The commands of docs/folding.md on both engines print what the page says."""

import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from forked_commands import bash_function
from page_blocks import blocks
from sample_library import edited, rows, sentence

from indexer.grouping.group import group
from indexer.jobs.install import install, uninstall
from indexer.stores import open_store

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "folding.md").read_text(encoding="utf-8")
BLOCK = re.compile(
    r"^## (?P<heading>.*?)$|^```sh(?: title=\"(?P<engine>\w+)\")?\n(?P<body>.*?)```",
    re.DOTALL | re.MULTILINE,
)
TEXT = f"ferry {sentence(1, 60)}"
TEXTS = {
    "a": TEXT,
    "b": edited(TEXT, 1),
    "c": edited(TEXT, 2),
    "d": f"ferry ferry {sentence(2, 60)}",
    "e": "a coal engine without it",
}
LABELS = {"a": ("wire",), "b": ("web",), "c": ("web",), "d": ("web",), "e": ("wire",)}
VECTORS = {
    "a": [1, 0, 0],
    "b": [0.9, 0.1, 0],
    "c": [0.9, 0, 0.1],
    "d": [0.5, 0.5, 0],
    "e": [0, 0, 1],
}
pytestmark = [
    pytest.mark.engines,
    pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed"),
]


def ask(method, url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


@pytest.fixture(params=["opensearch", "elasticsearch"], scope="module")
def place(request):
    """Engine, its address, and an index with a family of three and two single documents."""
    engine, name = request.param, f"nearfold-test-{secrets.token_hex(6)}"
    server = request.getfixturevalue(f"{engine}_url")
    store = open_store(f"{engine}://{server.partition('://')[2]}/{name}")
    install(store)
    vector = {"type": "dense_vector", "dims": 3} if engine == "elasticsearch" else {"type": "float"}
    assert (
        ask("PUT", f"{server}/{name}", {"mappings": {"properties": {"vector": vector}}})[0] == 200
    )
    store.prepare(store.stored_recipe())
    store.write(rows(TEXTS, labels=LABELS))
    store.refresh()
    group(store)
    give_vectors(f"{server}/{name}")
    yield engine, server, name
    ask("DELETE", f"{server}/{name}")
    uninstall(store)
    store.close()


def give_vectors(index):
    """Add vectors by bulk: `_update` passes the pipeline, which makes families provisional."""
    lines = "".join(
        f'{{"update": {{"_id": "{id}"}}}}\n{{"doc": {{"vector": {values}}}}}\n'
        for id, values in VECTORS.items()
    )
    kind = {"Content-Type": "application/x-ndjson"}
    with urllib.request.urlopen(
        urllib.request.Request(f"{index}/_bulk?refresh=true", lines.encode(), kind)
    ) as answer:
        assert not json.loads(answer.read())["errors"]


def run_blocks(place, heading):
    """Run each block under a heading in a shell, and return what they print."""
    engine, server, name = place
    script = f"set -eo pipefail\n{bash_function()}\n"
    environment = {
        **os.environ,
        "PYTHON": sys.executable,
        "PYTHONPATH": str(ROOT),
        "NO_COLOR": "1",
        "COLUMNS": "200",
    }
    current, outputs = "", []
    for match in BLOCK.finditer(PAGE):
        current = match["heading"] or current
        if match["body"] is None or current != heading or match["engine"] not in (None, engine):
            continue
        body = (
            match["body"]
            .replace("opensearch://", f"{engine}://")
            .replace("localhost:9200", server.partition("://")[2])
        )
        line = script + body.replace("/papers", f"/{name}")
        process = subprocess.run(
            ["bash", "-c", line],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert process.returncode == 0, f"{match['body']}\n{process.stdout}\n{process.stderr}"
        outputs.append(process.stdout)
    return outputs


def hits(text):
    return [hit["_id"] for hit in json.loads(text)["hits"]["hits"]]


def search(place, body, params=""):
    _, server, name = place
    return ask("POST", f"{server}/{name}/_search{params}", body)


def test_every_block_of_the_page_is_run_by_a_test():
    sections = PAGE.split("\n## ")[1:]
    headings = [section.partition("\n")[0] for section in sections if "```sh" in section]
    own = Path(__file__).read_text(encoding="utf-8")
    assert headings
    assert [heading for heading in headings if f'"{heading}"' not in own] == []


def test_filters_decide_before_folding(place):
    (output,) = run_blocks(place, "Filters, sorting, highlighting")
    answer = json.loads(output)
    assert answer["hits"]["total"]["value"] == 3
    assert hits(output) == ["d", "c"], "newest first"
    folded = answer["hits"]["hits"][1]["inner_hits"]["folded"]["hits"]
    assert (folded["total"]["value"], {hit["_id"] for hit in folded["hits"]}) == (2, {"b", "c"})
    assert all("<em>ferry</em>" in hit["highlight"]["text"][0] for hit in answer["hits"]["hits"])
    query = {
        "query": {"match": {"text": "ferry"}},
        "collapse": {"field": "near_family"},
        "sort": ["path"],
    }
    _, answer = search(place, {**query, "post_filter": {"term": {"labels": "web"}}})
    assert [hit["_id"] for hit in answer["hits"]["hits"]] == ["b", "d"]


def test_the_newest_of_a_family_is_shown(place):
    (output,) = run_blocks(place, "The hit that is displayed")
    lines = [line for line in output.splitlines() if line.startswith("/library/")]
    assert [line.split()[1] for line in lines] == ["d", "c"]
    assert "100%" not in output


def test_totals_are_of_documents_and_of_families(place):
    (output,) = run_blocks(place, "Totals and facets")
    answer, end = json.JSONDecoder().raw_decode(output)
    assert answer["hits"]["total"]["value"] == 4
    assert (
        answer["aggregations"]["families"]["value"],
        answer["aggregations"]["without_family"]["doc_count"],
    ) == (2, 0)
    buckets = {
        bucket["key"]: (bucket["doc_count"], bucket["families"]["value"])
        for bucket in answer["aggregations"]["labels"]["buckets"]
    }
    assert buckets == {"web": (3, 2), "wire": (1, 1)}
    lines = output[end:].split("\n")
    assert "4 documents in 2 groups, page 1" in lines[0]
    assert [line.split() for line in lines if line.endswith(("web", "wire"))] == [
        ["3", "~2", "web"],
        ["1", "~1", "wire"],
    ]


def test_a_copy_that_arrives_later_folds_by_its_digest(place):
    _, server, name = place
    source = ask("GET", f"{server}/{name}/_doc/d")[1]["_source"]
    late = f"{server}/{name}/_doc/late?refresh=true"
    ask("PUT", late, {"text": source["text"], "path": "/late"})
    try:
        _, stored = ask("GET", f"{server}/{name}/_doc/late")
        assert stored["_source"]["near_family"] == f"x:{source['near_exact']}"
        (output,) = run_blocks(place, "Documents that arrive later")
        assert len(hits(output)) == 4 and not {"d", "late"} <= set(hits(output))
    finally:
        ask("DELETE", late)


def test_documents_without_a_family_are_counted_and_left_apart(place):
    engine, server, name = place
    counted, folded = run_pair_of_blocks(place)
    assert (counted["count"], len(folded["hits"]["hits"])) == (0, 2)
    for id in ("old 1", "old 2"):
        bare = {"text": f"ferry {id}", "near_recipe": "before"}
        ask(
            "POST",
            f"{server}/{name}/_doc/{id.replace(' ', '%20')}?refresh=true&pipeline=_none",
            bare,
        )
    try:
        counted, folded = run_pair_of_blocks(place)
        assert (counted["count"], len(folded["hits"]["hits"])) == (2, 2)
        query = {"query": {"match": {"text": "ferry"}}}
        _, lumped = search(place, {**query, "collapse": {"field": "near_family"}})
        assert len(lumped["hits"]["hits"]) == 3, "the engine takes the two for one group"
        (output,) = run_blocks(place, "Totals and facets")
        answer, end = json.JSONDecoder().raw_decode(output)
        assert (
            answer["hits"]["total"]["value"],
            answer["aggregations"]["without_family"]["doc_count"],
        ) == (6, 2)
        assert "6 documents in 4 groups" in output[end:]
        if engine == "opensearch":
            by_column = {**query, "docvalue_fields": ["near_family"]}
            _, piped = search(place, by_column, "?search_pipeline=nearfold-fold-v1")
            assert len(piped["hits"]["hits"]) == 6, "unfolded: two have no family"
    finally:
        for id in ("old%201", "old%202"):
            ask("DELETE", f"{server}/{name}/_doc/{id}?refresh=true")


def run_pair_of_blocks(place):
    (output,) = run_blocks(place, "Documents without a group")
    first, end = json.JSONDecoder().raw_decode(output)
    return first, json.loads(output[end:])


def test_pages(place):
    by_place, by_family, by_token = run_blocks(place, "Paging")
    _, all_hits = search(
        place,
        {
            "query": {"match": {"text": "ferry"}},
            "collapse": {"field": "near_family"},
            "sort": ["_score", {"path": "asc"}],
        },
    )
    assert hits(by_place) == [hit["_id"] for hit in all_hits["hits"]["hits"]][1:2]
    assert len(hits(by_family)) == 1
    assert "page 2" in by_token
    assert "/library/" in by_token
    collapsed = {"query": {"match_all": {}}, "collapse": {"field": "near_family"}}
    assert search(place, {**collapsed, "sort": ["path"], "search_after": ["/library/a.txt"]})[
        0
    ] in (400, 500)
    rescore = {"window_size": 10, "query": {"rescore_query": {"match_all": {}}}}
    status, _ = search(place, {**collapsed, "rescore": rescore})
    assert (status == 200) is (place[0] == "elasticsearch")


def test_the_pipeline_folds_one_page(place):
    outputs = run_blocks(place, "Search pipeline")
    if place[0] == "elasticsearch":
        assert outputs == []
        return
    answer = json.loads(outputs[0])
    assert hits(outputs[0]) == ["a", "d"]
    assert answer["hits"]["hits"][0]["_score"] == 1.0
    assert answer["hits"]["total"]["value"] == 4
    assert {
        bucket["key"]: bucket["doc_count"] for bucket in answer["aggregations"]["labels"]["buckets"]
    } == {"web": 3, "wire": 1}
    body = {"query": {"match": {"text": "ferry"}}, "sort": ["path"], "size": 1}
    first, second = (
        search(place, {**body, "from": start}, "?search_pipeline=nearfold-fold-v1")[1]
        for start in (0, 3)
    )
    assert [hit["_id"] for page in (first, second) for hit in page["hits"]["hits"]] == ["a", "d"]


def test_clients_that_cannot_be_changed_see_principals_or_folded_pages(place):
    outputs = run_blocks(place, "Folding for clients that cannot be changed")
    answers = [list(json_objects(output)) for output in outputs]
    principals = answers[0][1]
    assert principals["hits"]["total"]["value"] == 2
    assert "d" in hit_ids(principals)
    if place[0] == "opensearch":
        _, folded, plain, _ = answers[1]
        assert len(hit_ids(folded)) == 2
        assert sorted(hit_ids(plain)) == ["a", "b", "c", "d"]


def json_objects(text):
    """Yield the JSON objects that follow each other in a text."""
    decoder, start = json.JSONDecoder(), 0
    while start < len(text.rstrip()):
        value, start = decoder.raw_decode(text, start)
        yield value


def hit_ids(answer):
    return [hit["_id"] for hit in answer["hits"]["hits"]]


def test_hits_of_any_query_fold_in_the_client(place, capsys):
    engine, server, name = place
    (block,) = blocks("docs/folding.md", "python")
    address = f"{engine}://{server.partition('://')[2]}/{name}"
    block = block.replace("opensearch://localhost:9200/papers", address)
    for placeholder, id in {
        "id of the best hit": "b",
        "id of the second": "d",
        "id of the third": "a",
    }.items():
        block = block.replace(placeholder, id)
    exec(block, {})
    assert capsys.readouterr().out == "b ['a']\nd []\n"


def test_vectors_and_added_scores_fold_too(place):
    outputs = run_blocks(place, "k-NN and hybrid queries")
    if place[0] == "elasticsearch":
        assert hits(outputs[0])[0] in ("a", "b", "c")
        assert sorted(hits(outputs[0]))[1:] == ["d", "e"]
        return
    terms = {"terms": {"labels": ["web", "wire"], "boost": 0.2}}
    added = {"query": {"bool": {"should": [{"match": {"text": "ferry"}}, terms]}}}
    for params, body in (
        ("", {**added, "collapse": {"field": "near_family"}}),
        ("?search_pipeline=nearfold-fold-v1", added),
    ):
        _, answer = search(place, body, params)
        assert len(answer["hits"]["hits"]) == 3
