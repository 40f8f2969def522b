"""The plugin in real engines: its columns are right after every kind of write, and its query and
rescorer find and fold.

    python -m pytest tests/plugin/test_engines.py
    python -m pytest -m versions tests/plugin/test_engines.py

builds the zips by Maven and starts OpenSearch and Elasticsearch with them: the current versions, or
all the others.
"""

from __future__ import annotations

import base64
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from rest import RequestError, Rest
from servers import with_plugin
from servers.engine import AbsentError
from servers.process import Server

import indexer
import plugin

pytestmark = pytest.mark.engines

FERRY = (
    "The ferry to Vega leaves from the northern quay every evening, and dogs travel free of charge "
    "on all of its decks; tickets are sold on board until the bell rings twice."
)
SOUTHERN = FERRY.replace("northern", "southern")
LONGER = f"{FERRY} Children pay half."
APPLES = (
    "A report on the harvest of apples in the valley, on what the farmers made of them last year, "
    "and on the price that the cider fetched in the towns along the river."
)
INDEX = "papers"


VERSIONS = [
    pytest.param(
        (engine, version), id=f"{engine}-{version}", marks=[pytest.mark.versions] * bool(place)
    )
    for engine, versions in plugin.VERSIONS.items()
    for place, version in enumerate(versions)
]


@pytest.fixture(scope="module", params=VERSIONS)
def engine(request: pytest.FixtureRequest, url_with_plugin: Callable[[str], str]) -> Iterator[Rest]:
    name, version = request.param
    if version == plugin.VERSIONS[name][0]:
        yield Rest(url_with_plugin(name))
        return
    with _node(name, version) as node:
        yield Rest(node.url)


@contextmanager
def _node(name: str, version: str) -> Iterator[Server]:
    try:
        with_plugin.engine(name, version).install()
    except AbsentError as absent:
        pytest.skip(f"{name} {version} cannot be assembled: {str(absent)[-300:]}")
    with with_plugin.server(name, version) as node:
        yield node


@pytest.fixture
def index(engine: Rest) -> str:
    engine.create(INDEX)
    return INDEX


def _expected(text: str, recipe: str = "default_v3") -> dict[str, object]:
    made = indexer.fingerprint(text, indexer.recipe_named(recipe))
    digest = base64.urlsafe_b64encode(bytes.fromhex(made.exact)).decode()
    return {
        "": None if made.minhash is None else made.minhash.tobytes(),
        "status": made.status,
        "exact": digest[:16],
        "words": made.words,
        "chars": made.chars,
    }


def _columns(engine: Rest, id: str) -> dict[str, object]:
    columns = engine.columns(INDEX, id)
    sketch = columns[""]
    if sketch is not None:
        columns[""] = base64.b64decode(sketch + "=" * (-len(sketch) % 4))
    return columns


def _shares_keys(engine: Rest, id: str, text: str) -> bool:
    """Return whether a document is found by every key of a text, and by no other key."""
    keys = indexer.fingerprint(text).bands
    must = [{"term": {"text.near": key}} for key in keys]
    found = engine.search(INDEX, query={"bool": {"filter": must}}, _source=False, size=100)
    return id in {hit["_id"] for hit in found}


def _skip_without_reindex(engine: Rest) -> None:
    """Skip where the server was assembled without the module, as some of its versions are."""
    nodes = engine.request("GET", "_nodes/plugins?filter_path=nodes.*.modules.name")["nodes"]
    modules = {module["name"] for node in nodes.values() for module in node["modules"]}
    if not modules & {"reindex"} or not modules & {"lang-painless"}:
        pytest.skip("this server has no module for _update_by_query, _reindex and scripts")


def test_columns_are_those_of_the_definition(engine: Rest, index: str) -> None:
    for id, text in enumerate(
        (FERRY, APPLES, "Straße, ΣΊΣΥΦΟΣ: 近似重複", "12 13", "", "one word")
    ):
        engine.put(index, str(id), text=text)
        assert _columns(engine, str(id)) == _expected(text), text
    assert _shares_keys(engine, "0", FERRY)


def test_nothing_is_in_the_source(engine: Rest, index: str) -> None:
    engine.put(index, "1", text=FERRY)
    assert engine.request("GET", f"{index}/_doc/1")["_source"] == {"text": FERRY}


def test_update_of_the_text(engine: Rest, index: str) -> None:
    engine.put(index, "1", text=FERRY)
    engine.request("POST", f"{index}/_update/1?refresh=true", {"doc": {"text": APPLES}})
    assert _columns(engine, "1") == _expected(APPLES)
    assert _shares_keys(engine, "1", APPLES) and not _shares_keys(engine, "1", FERRY)


def test_bulk_update_of_the_text_and_of_another_field(engine: Rest, index: str) -> None:
    engine.put(index, "1", text=FERRY)
    engine.bulk({"update": {"_index": index, "_id": "1"}}, {"doc": {"note": "seen"}})
    assert _columns(engine, "1") == _expected(FERRY)
    engine.bulk({"update": {"_index": index, "_id": "1"}}, {"doc": {"text": APPLES}})
    assert _columns(engine, "1") == _expected(APPLES)


def test_update_by_query_and_reindex(engine: Rest, index: str) -> None:
    _skip_without_reindex(engine)
    engine.put(index, "1", text=FERRY)
    script = {"source": "ctx._source.text = params.text", "params": {"text": APPLES}}
    engine.request("POST", f"{index}/_update_by_query?refresh=true", {"script": script})
    assert _columns(engine, "1") == _expected(APPLES)
    engine.create("papers-copy")
    body = {"source": {"index": index}, "dest": {"index": "papers-copy"}}
    engine.request("POST", "_reindex?refresh=true", body)
    assert engine.columns("papers-copy", "1")["status"] == "complete"
    assert engine.columns("papers-copy", "1") == engine.columns(index, "1")


def test_list_of_texts_is_one_text(engine: Rest, index: str) -> None:
    first, second = FERRY.split("; ")
    engine.put(index, "1", text=[f"{first};", second, None])
    assert _columns(engine, "1") == _expected(f"{first};\n{second}")


def test_no_text(engine: Rest, index: str) -> None:
    engine.put(index, "1", note="without")
    engine.put(index, "2", text=None)
    engine.put(index, "3", text="")
    found = engine.search(index, query={"exists": {"field": "text.near"}})
    assert [hit["_id"] for hit in found] == ["3"]
    assert engine.columns(index, "3")["status"] == "empty"
    assert engine.columns(index, "1")["status"] is None


def test_text_beyond_the_limit(engine: Rest) -> None:
    engine.create(INDEX, {"max_length": 60})
    engine.put(INDEX, "1", text=FERRY)
    assert _columns(engine, "1") == {**_expected(FERRY[:60]), "status": "truncated"}


def test_no_text_is_refused(engine: Rest, index: str) -> None:
    texts = ("\u0345" * 5000, "\0" * 100, "a" * 40_000, "- " * 30_000, "\U0010ffff" * 50)
    for id, text in enumerate(texts):
        engine.put(index, str(id), text=text)
    assert engine.request("GET", f"{index}/_count")["count"] == len(texts)


def test_field_added_to_a_live_index(engine: Rest) -> None:
    engine.request("DELETE", f"{INDEX}?ignore_unavailable=true")
    engine.request("PUT", INDEX, {"mappings": {"properties": {"text": {"type": "text"}}}})
    engine.put(INDEX, "1", text=FERRY)
    fields = {"near": {"type": "near_duplicate"}}
    engine.request(
        "PUT", f"{INDEX}/_mapping", {"properties": {"text": {"type": "text", "fields": fields}}}
    )
    _skip_without_reindex(engine)
    engine.request("POST", f"{INDEX}/_update_by_query?refresh=true")
    assert _columns(engine, "1") == _expected(FERRY)


def test_aggregations_and_field_caps(engine: Rest, index: str) -> None:
    for id, text in enumerate((FERRY, APPLES, "12 13")):
        engine.put(index, str(id), text=text)
    aggregations = {
        "status": {"terms": {"field": "text.near.status"}},
        "words": {"sum": {"field": "text.near.words"}},
        "texts": {"cardinality": {"field": "text.near.exact"}},
    }
    body = {"size": 0, "aggs": aggregations}
    found = engine.request("POST", f"{index}/_search", body)["aggregations"]
    counts = {bucket["key"]: bucket["doc_count"] for bucket in found["status"]["buckets"]}
    assert counts == {"complete": 2, "numbers_only": 1}
    assert found["texts"]["value"] == 3
    assert found["words"]["value"] == sum(
        _expected(text)["words"] for text in (FERRY, APPLES, "12 13")
    )
    fields = engine.request("GET", f"{index}/_field_caps?fields=text*")["fields"]
    assert {name: next(iter(fields[name])) for name in fields} == {
        "text": "text",
        "text.near": "near_duplicate",
        "text.near.status": "keyword",
        "text.near.exact": "keyword",
        "text.near.words": "integer",
        "text.near.chars": "integer",
        "text.near.simhash": "binary",
    }


def test_searches_without_field_names_pass_over_the_columns(engine: Rest, index: str) -> None:
    engine.put(index, "1", text=FERRY)
    words = _expected(FERRY)["words"]
    for query in ("complete", str(words), _expected(FERRY)["exact"]):
        assert not engine.search(index, query={"query_string": {"query": str(query)}}), query
        body = {"multi_match": {"query": str(query), "fields": ["text*"], "lenient": True}}
        assert not engine.search(index, query=body), query
    hits = engine.search(index, query={"match": {"text": "ferry"}}, fields=["*"])
    assert hits[0]["fields"] == {"text": [FERRY]}


def test_queries_on_columns(engine: Rest, index: str) -> None:
    engine.put(index, "1", text=FERRY)
    engine.put(index, "2", text="12 13")
    queries = (
        {"term": {"text.near.status": "complete"}},
        {"term": {"text.near.exact": _expected(FERRY)["exact"]}},
        {"range": {"text.near.words": {"gte": 10}}},
        {"term": {"text.near": indexer.fingerprint(FERRY).bands[0]}},
    )
    for query in queries:
        assert [hit["_id"] for hit in engine.search(index, query=query)] == ["1"], query


@pytest.mark.parametrize(("kind", "shards"), [("_split", 4), ("_shrink", 1)])
def test_split_and_shrink(engine: Rest, kind: str, shards: int) -> None:
    engine.create(INDEX, shards=2)
    for id, text in enumerate((FERRY, SOUTHERN, APPLES)):
        engine.put(INDEX, str(id), text=text)
    engine.request("PUT", f"{INDEX}/_settings", {"index.blocks.write": True})
    resized = f"{INDEX}-resized"
    engine.request("DELETE", f"{resized}?ignore_unavailable=true")
    settings = {"index.number_of_shards": shards, "index.blocks.write": None}
    engine.request("POST", f"{INDEX}/{kind}/{resized}", {"settings": settings})
    engine.request("GET", f"_cluster/health/{resized}?wait_for_status=yellow")
    query = {"near_duplicate": {"field": "text.near", "like": FERRY}}
    assert {hit["_id"] for hit in engine.search(resized, query=query)} == {"0", "1"}
    assert engine.columns(resized, "2") == engine.columns(INDEX, "2")


def test_nested_objects_and_copies(engine: Rest) -> None:
    near = {"type": "text", "fields": {"near": {"type": "near_duplicate"}}}
    properties = {
        "parts": {"type": "nested", "properties": {"text": near}},
        "title": {"type": "text", "copy_to": "whole"},
        "body": {"type": "text", "copy_to": "whole"},
        "whole": near,
    }
    engine.request("DELETE", f"{INDEX}?ignore_unavailable=true")
    engine.request("PUT", INDEX, {"mappings": {"properties": properties}})
    engine.put(INDEX, "1", parts=[{"text": FERRY}, {"text": APPLES}], title=FERRY, body=APPLES)
    near_duplicate = {"like": FERRY, "measure": "slots"}
    inner = {"near_duplicate": {"field": "parts.text.near", **near_duplicate}}
    assert engine.search(INDEX, query={"nested": {"path": "parts", "query": inner}})
    (hit,) = engine.search(INDEX, docvalue_fields=["whole.near.words"])
    words = _expected(FERRY)["words"] + _expected(APPLES)["words"]
    assert hit["fields"]["whole.near.words"] == [words]


def test_derived_source(engine: Rest) -> None:
    (node,) = engine.request("GET", "_nodes?filter_path=nodes.*.version")["nodes"].values()
    if not node["version"].startswith("3.8"):
        pytest.skip("OpenSearch has a derived source from 3.2 on")
    properties = {
        "text": {"type": "text", "store": True, "fields": {"near": {"type": "near_duplicate"}}}
    }
    engine.request("DELETE", f"{INDEX}?ignore_unavailable=true")
    settings = {"index.derived_source.enabled": True, "number_of_replicas": 0}
    engine.request("PUT", INDEX, {"settings": settings, "mappings": {"properties": properties}})
    engine.put(INDEX, "1", text=FERRY)
    assert engine.request("GET", f"{INDEX}/_doc/1")["_source"] == {"text": FERRY}
    assert _columns(engine, "1") == _expected(FERRY)
    assert _similar(engine, like=SOUTHERN) == {"1": pytest.approx(31 / 32)}
    engine.request("POST", f"{INDEX}/_update/1?refresh=true", {"doc": {"text": APPLES}})
    assert _columns(engine, "1") == _expected(APPLES)


@pytest.mark.versions
def test_synthetic_source(engine: Rest) -> None:
    """Elasticsearch makes the source from columns where its licence, here a trial, allows it."""
    (node,) = engine.request("GET", "_nodes?filter_path=nodes.*.version")["nodes"].values()
    if node["version"].startswith(("2.", "3.")):
        pytest.skip("OpenSearch has a derived source")
    engine.request("POST", "_license/start_trial?acknowledge=true")
    engine.create(INDEX, **{"mapping.source.mode": "synthetic"})
    engine.put(INDEX, "1", text=FERRY, note=["seen", "new"])
    source = engine.request("GET", f"{INDEX}/_doc/1")["_source"]
    assert source == {"text": FERRY, "note": ["new", "seen"]}
    assert _columns(engine, "1") == _expected(FERRY)
    assert _similar(engine, like=SOUTHERN) == {"1": pytest.approx(31 / 32)}
    engine.request("POST", f"{INDEX}/_update/1?refresh=true", {"doc": {"text": APPLES}})
    assert _columns(engine, "1") == _expected(APPLES)


def test_snapshot(engine: Rest, index: str) -> None:
    engine.put(index, "1", text=FERRY)
    (node,) = engine.request("GET", "_nodes/settings")["nodes"].values()
    folder = node["settings"]["path"]["repo"]
    repository = {"type": "fs", "settings": {"location": f"{folder}/snapshots"}}
    engine.request("PUT", "_snapshot/here", repository)
    engine.request("PUT", "_snapshot/here/one?wait_for_completion=true", {"indices": index})
    engine.request("DELETE", index)
    engine.request("POST", "_snapshot/here/one/_restore?wait_for_completion=true")
    assert _columns(engine, "1") == _expected(FERRY)


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_restart(version: tuple[str, str]) -> None:
    with _node(*version) as node:
        engine = Rest(node.url)
        engine.create(INDEX)
        engine.put(INDEX, "1", text=FERRY)
        node.restart()
        engine.request("GET", f"_cluster/health/{INDEX}?wait_for_status=yellow")
        assert _columns(engine, "1") == _expected(FERRY)
        assert _similar(engine, like=FERRY) == {"1": 1.0}


def _similar(engine: Rest, **options: object) -> dict[str, float]:
    query = {"near_duplicate": {"field": "text.near", **options}}
    hits = engine.search(INDEX, query=query, size=100, _source=False)
    return {hit["_id"]: hit["_score"] for hit in hits}


def test_similar_by_words_in_order(engine: Rest, index: str) -> None:
    for id, text in (("ferry", FERRY), ("south", SOUTHERN), ("longer", LONGER), ("apples", APPLES)):
        engine.put(index, id, text=text)
    assert _similar(engine, like=FERRY, minimum_similarity=0.8) == {
        "ferry": 1.0,
        "south": pytest.approx(31 / 32),
        "longer": pytest.approx(32 / 35),
    }
    assert set(_similar(engine, like=FERRY, minimum_similarity=0.95)) == {"ferry", "south"}
    like = {"_index": index, "_id": "ferry"}
    assert set(_similar(engine, like=like)) == {"south", "longer"}
    assert set(_similar(engine, like=like, include=True)) == {"ferry", "south", "longer"}


def test_similar_by_slots_and_filters(engine: Rest, index: str) -> None:
    for id, text in (("ferry", FERRY), ("south", SOUTHERN), ("apples", APPLES)):
        engine.put(index, id, text=text, note=id)
    found = _similar(engine, like=FERRY, measure="slots", minimum_similarity=0.7)
    left, right = (indexer.fingerprint(text).minhash for text in (FERRY, SOUTHERN))
    share = sum(left == right) / 128
    assert found["south"] == pytest.approx((share - 1 / 256) / (1 - 1 / 256))
    near = {"near_duplicate": {"field": "text.near", "like": FERRY}}
    body = {"bool": {"must": near, "filter": {"term": {"note": "south"}}}}
    assert [hit["_id"] for hit in engine.search(index, query=body)] == ["south"]


def test_similar_by_hamming(engine: Rest) -> None:
    engine.create(INDEX, {"recipe": "default_v1"})
    for id, text in (("ferry", FERRY), ("south", SOUTHERN), ("apples", APPLES), ("short", "ab")):
        engine.put(INDEX, id, text=text)
    recipe = indexer.recipe_named("default_v1")
    bits = [indexer.fingerprint(text, recipe).simhash for text in (FERRY, SOUTHERN)]
    distance = (bits[0] ^ bits[1]).bit_count()
    found = _similar(engine, like=FERRY, measure="hamming", minimum_similarity=1 - distance / 64)
    assert found["ferry"] == 1.0
    assert "apples" not in found and "short" not in found


def test_texts_without_keys_match_copies(engine: Rest, index: str) -> None:
    engine.put(index, "1", text="one word")
    engine.put(index, "2", text="One word!")
    engine.put(index, "3", text="")
    assert set(_similar(engine, like="one word")) == {"1", "2"}
    assert not _similar(engine, like=" ... ")


def test_explain(engine: Rest, index: str) -> None:
    engine.put(index, "1", text=SOUTHERN)
    query = {"near_duplicate": {"field": "text.near", "like": FERRY}}
    explained = engine.request("POST", f"{index}/_explain/1", {"query": query})["explanation"]
    assert explained["description"] == "31 of 32 words in order"


def _fold(engine: Rest, **options: object) -> list[dict[str, object]]:
    fold = {"field": "text.near", "minimum_similarity": 0.9, **options}
    hits = engine.search(
        INDEX,
        query={"match": {"text": "ferry apples"}},
        rescore={"window_size": 100, "near_fold": fold},
        size=20,
        _source=False,
    )
    return [{"id": hit["_id"], **hit["fields"]["near_fold"][0]} for hit in hits]


def test_folded_search(engine: Rest, index: str) -> None:
    for id, text in (("ferry", FERRY), ("south", SOUTHERN), ("longer", LONGER), ("apples", APPLES)):
        engine.put(index, id, text=text)
    hits = _fold(engine)
    assert {hit["id"] for hit in hits} == {"ferry", "south", "longer", "apples"}
    shown = [hit for hit in hits if "folded" in hit]
    assert hits[: len(shown)] == shown
    assert {hit["id"]: hit["folded"] for hit in shown} == {"apples": 0, shown[-1]["id"]: 2}
    members = {member["_id"]: member["similarity"] for hit in shown for member in hit["hits"]}
    folded = {hit["id"]: hit["similarity"] for hit in hits if "folded_under" in hit}
    assert members == folded and len(folded) == 2


def test_members_are_counted_beyond_those_listed(engine: Rest, index: str) -> None:
    for id in range(5):
        engine.put(index, str(id), text=FERRY)
    (shown,) = [hit for hit in _fold(engine, max_members=2) if "folded" in hit]
    assert shown["folded"] == 4 and len(shown["hits"]) == 2


def test_folding_equals_a_greedy_fold_of_the_definition(engine: Rest, index: str) -> None:
    chance = random.Random(7)
    words = FERRY.split()
    texts = {}
    for id in range(60):
        edited = [word if chance.random() > 0.04 else "ferry" for word in words]
        texts[str(id)] = " ".join(edited[: chance.randint(24, 32)])
        engine.put(index, str(id), text=texts[str(id)])
    hits = engine.search(index, query={"match": {"text": "ferry"}}, size=100)
    heads: list[str] = []
    groups: dict[str, list[str]] = {}
    for hit in hits:
        similarity = {head: _lcs(texts[head], texts[hit["_id"]]) for head in heads}
        best = max(heads, key=lambda head: (similarity[head], -heads.index(head)), default=None)
        if best is not None and similarity[best] >= 0.9 - 1e-9:
            groups[best].append(hit["_id"])
        else:
            heads.append(hit["_id"])
            groups[hit["_id"]] = []
    request = {
        "query": {"match": {"text": "ferry"}},
        "rescore": {"window_size": 100, "near_fold": {"field": "text.near", "max_members": 100}},
    }
    folded = engine.search(index, **request, size=100)
    made = {
        hit["_id"]: [member["_id"] for member in hit["fields"]["near_fold"][0]["hits"]]
        for hit in folded
        if "folded" in hit["fields"]["near_fold"][0]
    }
    assert list(made) == heads
    assert made == groups
    for start in range(0, 60, 4):
        page = engine.search(index, **request, size=4, **{"from": start})
        assert page == folded[start : start + 4]


def _lcs(left: str, right: str) -> float:
    a, b = left.lower().replace(",", "").split(), right.lower().replace(",", "").split()
    a, b = ([word.strip(".;") for word in words] for words in (a, b))
    above = [0] * (len(b) + 1)
    for word in a:
        row = [0]
        for place, other in enumerate(b):
            row.append(above[place] + 1 if word == other else max(row[place], above[place + 1]))
        above = row
    return above[-1] / max(len(a), len(b))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"measure": "overlap"}, "measure [overlap] is not in this plugin"),
        ({"policy": "standard"}, "policy [standard] is not in this plugin"),
        ({"marks": ["amount"]}, "marks [amount] are not in this plugin"),
        ({"minimum_similarity": 1.5}, "[minimum_similarity] is above 0 and at most 1"),
        ({"field": "text"}, "needs a field of type [near_duplicate]"),
        ({"colour": 1}, "does not support [colour]"),
    ],
)
def test_what_is_not_there_is_refused_by_name(
    engine: Rest, index: str, options: dict[str, object], reason: str
) -> None:
    engine.put(index, "1", text=FERRY)
    fold = {"field": "text.near", **options}
    bodies = (
        {"query": {"match_all": {}}, "rescore": {"near_fold": fold}},
        {"query": {"near_duplicate": {"like": FERRY, **fold}}},
    )
    for body in bodies:
        with pytest.raises(RequestError, match=r"400: ") as refused:
            engine.request("POST", f"{index}/_search", body)
        assert reason in str(refused.value)


def test_bits_are_not_compared_where_the_recipe_makes_none(engine: Rest) -> None:
    engine.create(INDEX, {"recipe": "default_v2"})
    engine.put(INDEX, "1", text=FERRY)
    query = {"like": FERRY, "field": "text.near", "measure": "hamming"}
    with pytest.raises(RequestError, match="needs a SimHash"):
        engine.search(INDEX, query={"near_duplicate": query})


def test_page_beyond_the_window_is_refused(engine: Rest, index: str) -> None:
    for id in range(5):
        engine.put(index, str(id), text=f"{FERRY} {id}")
    fold = {"window_size": 3, "near_fold": {"field": "text.near"}}
    with pytest.raises(RequestError, match="larger \\[window_size\\]"):
        engine.request(
            "POST", f"{index}/_search", {"query": {"match_all": {}}, "rescore": fold, "size": 5}
        )


def test_words_in_order_need_the_source(engine: Rest) -> None:
    engine.request("DELETE", f"{INDEX}?ignore_unavailable=true")
    near = {"type": "text", "fields": {"near": {"type": "near_duplicate"}}}
    mappings = {"_source": {"enabled": False}, "properties": {"text": near}}
    engine.request("PUT", INDEX, {"mappings": mappings})
    engine.put(INDEX, "1", text=FERRY)
    assert set(_similar(engine, like=FERRY, measure="slots")) == {"1"}
    with pytest.raises(RequestError, match="\\[_source\\] is disabled"):
        _similar(engine, like=FERRY)
    with pytest.raises(RequestError, match="\\[_source\\] is disabled"):
        _fold(engine)


@pytest.mark.parametrize(
    ("near", "reason"),
    [
        ({"recipe": "default_v9"}, "recipe [default_v9] is unknown"),
        ({"recipe": "default_v3+key:absent"}, "nearfold.key.absent"),
        ({"recipe_id": "000000000000"}, "has the id"),
        ({"max_length": 0}, "max_length"),
    ],
)
def test_mappings_that_are_refused(engine: Rest, near: dict[str, object], reason: str) -> None:
    with pytest.raises(RequestError, match="400: ") as refused:
        engine.create(INDEX, near)
    assert reason in str(refused.value)


@pytest.mark.parametrize("recipe", ["scans", "simhash-doc", "default_v1"])
def test_other_recipes(engine: Rest, recipe: str) -> None:
    engine.create(INDEX, {"recipe": recipe})
    engine.put(INDEX, "1", text=FERRY)
    properties = engine.request("GET", f"{INDEX}/_mapping")[INDEX]["mappings"]["properties"]
    named = indexer.recipe_named(recipe)
    near = properties["text"]["fields"]["near"]
    assert (near["recipe"], near["recipe_id"]) == (named.name, named.id)
    made = indexer.fingerprint(FERRY, named)
    for field, keys in (("text.near", made.bands), ("text.near.simhash", made.blocks)):
        for key in keys[:3]:
            term = {"term": {"text.near": key}} if field == "text.near" else None
            if term:
                assert len(engine.search(INDEX, query=term)) == 1
    if made.simhash is not None:
        (hit,) = engine.search(INDEX, docvalue_fields=["text.near.simhash"])
        stored = hit["fields"]["text.near.simhash"][0]
        octets = base64.b64decode(stored + "=" * (-len(stored) % 4))
        assert int.from_bytes(octets, "big") == made.simhash
