"""The hits of several shards are folded as those of one: by a search pipeline of OpenSearch, by the
plugin alone in Elasticsearch.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from rest import RequestError, Rest

pytestmark = pytest.mark.engines

WORDS = [
    *("ferry", "quay", "evening", "dogs", "travel", "free", "deck"),
    *("tickets", "board", "bell", "rings", "twice", "north", "south"),
]
PIPELINE = {"request_processors": [{"near_fold": {}}], "response_processors": [{"near_fold": {}}]}
WINDOW = 100


@pytest.fixture(scope="module", params=["opensearch", "elasticsearch"])
def engine(request: pytest.FixtureRequest, url_with_plugin: Callable[[str], str]) -> Rest:
    rest = Rest(url_with_plugin(request.param))
    if _has_pipelines(rest):
        rest.request("PUT", "_search/pipeline/near_fold", PIPELINE)
    _fill(rest, "one", 1)
    _fill(rest, "five", 5)
    return rest


def _has_pipelines(rest: Rest) -> bool:
    return rest.request("GET", "")["version"].get("distribution") == "opensearch"


def _fill(rest: Rest, index: str, shards: int) -> None:
    """Index 80 documents: edited copies of 20 texts, each with a rank of its own."""
    rest.create(index, shards=shards)
    chance = random.Random(3)
    texts = [" ".join(chance.choice(WORDS) for _ in range(40)) for _ in range(20)]
    lines: list[object] = []
    for rank in range(80):
        words = chance.choice(texts).split()
        for _ in range(chance.choice((0, 1, 3, 6))):
            words[chance.randrange(len(words))] = "other"
        lines.append({"index": {"_index": index, "_id": str(rank)}})
        lines.append({"text": " ".join(words), "rank": 1000 - rank})
    rest.bulk(*lines)


def _search(rest: Rest, index: str, **options: Any) -> list[dict[str, Any]]:
    fold = {"field": "text.near", "max_members": 100, **options.pop("fold", {})}
    parameters = options.pop("parameters", "")
    body = {
        "query": {
            "function_score": {
                "query": {"match_all": {}},
                "field_value_factor": {"field": "rank"},
                "boost_mode": "replace",
            }
        },
        "rescore": {"window_size": WINDOW, "near_fold": fold},
        "size": WINDOW,
        "_source": False,
        **options,
    }
    return _response(rest, index, body, parameters)["hits"]["hits"]


def _response(rest: Rest, index: str, body: dict[str, Any], parameters: str = "") -> dict[str, Any]:
    if _has_pipelines(rest):
        parameters = "?search_pipeline=near_fold"
    return rest.request("POST", f"{index}/_search{parameters}", body)


def _groups(hits: list[dict[str, Any]]) -> dict[str, list[tuple[str, float]]]:
    found = {}
    for hit in hits:
        fold = hit["fields"]["near_fold"][0]
        if "folded" in fold:
            members = [(member["_id"], member["similarity"]) for member in fold["hits"]]
            assert fold["folded"] == len(members)
            found[hit["_id"]] = members
    return found


@pytest.mark.parametrize("measure", ["lcs", "slots"])
@pytest.mark.parametrize("source", [False, True])
def test_five_shards_fold_as_one(engine: Rest, measure: str, source: bool) -> None:
    fold = {"measure": measure, "minimum_similarity": 0.8}
    one, five = (
        _groups(_search(engine, index, fold=fold, _source=source)) for index in ("one", "five")
    )
    assert one == five
    assert sum(map(len, one.values())) > 20
    assert list(one) == list(five)


def test_the_pipeline_folds_as_a_shard_does(engine: Rest) -> None:
    fold = {"field": "text.near", "max_members": 100}
    query = {
        "function_score": {
            "query": {"match_all": {}},
            "field_value_factor": {"field": "rank"},
            "boost_mode": "replace",
        }
    }
    rescore = {"window_size": WINDOW, "near_fold": fold}
    hits = engine.search("one", query=query, rescore=rescore, size=WINDOW)
    assert _groups(hits) == _groups(_search(engine, "one"))


def test_pages_hold_each_hit_once(engine: Rest) -> None:
    whole = [hit["_id"] for hit in _search(engine, "five")]
    pages = [
        hit["_id"]
        for start in range(0, 80, 20)
        for hit in _search(engine, "five", **{"from": start, "size": 20})
    ]
    assert pages == whole and len(set(pages)) == 80


def test_totals_and_aggregations_stay(engine: Rest) -> None:
    aggregations = {"ranks": {"max": {"field": "rank"}}, "best": {"top_hits": {"size": 2}}}
    body = {"rescore": {"near_fold": {"field": "text.near"}}, "size": 5, "aggs": aggregations}
    found = _response(engine, "five", body)
    assert found["hits"]["total"]["value"] == 80
    assert len(found["hits"]["hits"]) == 5
    assert "profile" not in found
    assert found["aggregations"]["ranks"]["value"] == 1000
    assert len(found["aggregations"]["best"]["hits"]["hits"]) == 2


def test_sources_and_highlights_stay(engine: Rest) -> None:
    body = {
        "query": {"match": {"text": "ferry"}},
        "rescore": {"near_fold": {"field": "text.near"}},
        "highlight": {"fields": {"text": {}}},
        "size": 3,
    }
    hits = _response(engine, "five", body)["hits"]["hits"]
    assert len(hits) == 3
    for hit in hits:
        assert "ferry" in hit["_source"]["text"]
        assert "<em>ferry</em>" in hit["highlight"]["text"][0]


def test_other_searches_pass(engine: Rest) -> None:
    found = _response(engine, "five", {"size": 3})
    assert len(found["hits"]["hits"]) == 3


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"sort": ["rank"]}, "[sort]"),
        ({"size": WINDOW + 1}, "larger [window_size]"),
    ],
)
def test_what_does_not_fit_is_refused(engine: Rest, options: dict[str, Any], reason: str) -> None:
    with pytest.raises(RequestError) as refused:
        _search(engine, "five", **options)
    assert reason in str(refused.value)


def test_hits_of_an_index_without_the_field_stay(engine: Rest) -> None:
    engine.put("plain", "other", text="ferry", rank=5)
    hits = _search(engine, "plain,five")
    known = [hit for hit in hits if hit["_id"] != "other"]
    assert (len(hits), len(known)) == (81, 80)
    assert _groups(known) == _groups(_search(engine, "five"))
    assert all("fields" not in hit for hit in hits if hit["_id"] == "other")


def test_hits_of_another_cluster_are_folded_with_one_shard(engine: Rest) -> None:
    """Elasticsearch 8.19 leaves other clusters out where it resolves names and may ignore some."""
    if _has_pipelines(engine):
        pytest.skip("OpenSearch folds by a pipeline, whatever the number of shards")
    (node,) = engine.request("GET", "_nodes/_local/transport")["nodes"].values()
    seeds = [node["transport"]["publish_address"]]
    _set_remote(engine, {"seeds": seeds, "skip_unavailable": False})
    try:
        fold = {"measure": "slots"}
        names = "one,itself:five"
        remote = _search(engine, names, fold=fold, parameters="?ignore_unavailable=true")
        here = _search(engine, "one,five", fold=fold)
    finally:
        _set_remote(engine, {"seeds": None, "skip_unavailable": None})
    counts = [{id: len(each) for id, each in _groups(hits).items()} for hits in (remote, here)]
    assert counts[0] == counts[1] and sum(counts[0].values()) >= 50


def _set_remote(rest: Rest, settings: dict[str, object]) -> None:
    """Set the address of the cluster `itself`."""
    body = {"persistent": {"cluster": {"remote": {"itself": settings}}}}
    rest.request("PUT", "_cluster/settings", body)


def test_hits_without_ids_are_folded_by_shard(engine: Rest) -> None:
    hits = _search(engine, "five", stored_fields="_none_")
    assert len(hits) == 80


def test_what_is_not_folded_over_shards_is_refused_or_marked(engine: Rest) -> None:
    """OpenSearch refuses `collapse`; Elasticsearch folds each shard where it adds a profile."""
    if _has_pipelines(engine):
        with pytest.raises(RequestError, match="without \\[sort\\] and \\[collapse\\]"):
            _search(engine, "five", collapse={"field": "note"})
    else:
        hits = _search(engine, "five", profile=True)
        assert {hit["fields"]["near_fold"][0]["scope"] for hit in hits} == {"shard"}


def test_texts_are_read_from_where_routing_put_them(engine: Rest) -> None:
    engine.create("routed", shards=3)
    lines: list[object] = []
    for rank, hour in enumerate(("nine", "ten", "eleven"), 1):
        text = f"the ferry leaves the quay at {hour} in the evening"
        lines.append({"index": {"_index": "routed", "_id": hour, "routing": f"to {hour}"}})
        lines.append({"text": text, "rank": rank})
    engine.bulk(*lines)
    fold = {"minimum_similarity": 0.8}
    members = _groups(_search(engine, "routed", fold=fold))
    assert [len(folded) for folded in members.values()] == [2]


def test_fields_of_several_recipes_are_not_compared(engine: Rest) -> None:
    engine.create("scans", {"recipe": "scans"})
    text = "a text that is long enough to be signed by both recipes of the two indices here"
    engine.put("scans", "s", text=text, rank=1)
    engine.create("words")
    engine.put("words", "w", text=text, rank=2)
    assert len(_groups(_search(engine, "scans,words"))) == 2
