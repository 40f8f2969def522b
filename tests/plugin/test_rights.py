"""Documents, fields and values that are hidden from a reader are neither found nor folded, nor read
for a look-up that names them: on the security of Elasticsearch and of OpenSearch 3.4.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from pipelines import call, good
from secured_engines import PASSWORD, SecuredEngine, put_opensearch_user, secured_opensearch_server
from servers import secured, with_plugin

pytestmark = pytest.mark.engines

TEXT = "The ferry to Vega leaves from the northern quay every evening, and dogs travel for free."
NOTES = {"1": "public", "2": "secret", "3": "public"}
NEAR = {"near_duplicate": {"field": "text.near", "like": TEXT}}
ALONE, FOLDED = {"folded": 0, "hits": []}, {"similarity": 1.0, "folded_under": "1"}


@pytest.fixture(scope="module")
def elasticsearch_server(url_with_plugin) -> Iterator[SecuredEngine]:
    """Elasticsearch with the plugin. Its readers have keys: users of the test servers also have the
    roles of anonymous requests.
    """
    url = url_with_plugin("elasticsearch")
    root = {"password": PASSWORD, "roles": ["superuser"]}
    good("PUT", f"{url}/_security/user/owner", root)
    yield SecuredEngine(url, url.replace("http", "elasticsearch", 1), "owner")
    good("DELETE", f"{url}/_security/user/owner")


@pytest.fixture(scope="module")
def opensearch_server() -> Iterator[SecuredEngine]:
    engine = with_plugin.added_to(secured.ENGINE, "opensearch", secured.VERSION)
    with secured_opensearch_server(engine) as server:
        yield server


@pytest.fixture(params=["elasticsearch", pytest.param("opensearch", marks=pytest.mark.versions)])
def engine(request: pytest.FixtureRequest) -> Iterator[SecuredEngine]:
    """An engine with the same documents in the indices `open` and `closed`."""
    server = request.getfixturevalue(f"{request.param}_server")
    for index in ("open", "closed"):
        fill(server, index)
    yield server
    for index in ("open", "closed"):
        server.call("DELETE", index)


def fill(server: SecuredEngine, index: str, shards: int = 1) -> None:
    """Put documents into a new index, in place of one of that name."""
    fields = {"text": {"type": "text", "fields": {"near": {"type": "near_duplicate"}}}}
    mapping = {"properties": {**fields, "note": {"type": "keyword"}}}
    settings = {"number_of_shards": shards, "number_of_replicas": 0}
    server.call("DELETE", index)
    server.put(index, {"mappings": mapping, "settings": settings})
    for id, note in NOTES.items():
        server.put(f"{index}/_doc/{id}?refresh=true", {"text": TEXT, "note": note})


def put_reader(engine: SecuredEngine, name: str, index: str = "open", **limits: object) -> str:
    """Put a user who may read one index or alias, within limits; return its name."""
    if "elasticsearch" in engine.store:
        grants = [{"names": [index], "privileges": ["read"], **limits}]
        engine.put_key(name, {"cluster": [], "indices": grants})
    else:
        grants = [{"index_patterns": [index], "allowed_actions": ["read"], **limits}]
        rights = ["cluster_composite_ops_ro"]
        put_opensearch_user(
            engine, name, {"cluster_permissions": rights, "index_permissions": grants}
        )
    return name


def like(engine: SecuredEngine, user: str, index: str, id: str) -> tuple[int, Any]:
    """Return the response to a look-up of documents like a stored one."""
    named = {"field": "text.near", "like": {"_index": index, "_id": id}, "include": True}
    return engine.call("POST", "open/_search", {"query": {"near_duplicate": named}}, user)


def folded(
    engine: SecuredEngine, user: str, measure: str = "lcs", **query: object
) -> dict[str, dict[str, Any]]:
    """Return the columns of the hits of a folded search, by id."""
    fold = {"field": "text.near", "measure": measure}
    body = {**query, "rescore": {"window_size": 10, "near_fold": fold}}
    status, answer = engine.call(
        "POST", "open/_search", {**body, "docvalue_fields": ["text.near.exact"]}, user
    )
    assert status == 200, answer
    return {hit["_id"]: hit["fields"] for hit in answer["hits"]["hits"]}


def test_like_a_document_that_the_requester_may_not_read(engine: SecuredEngine) -> None:
    user = put_reader(engine, "reader")
    status, answer = like(engine, user, "open", "1")
    assert (status, answer["hits"]["total"]["value"]) == (200, 3)
    refusals = [like(engine, user, "closed", id) for id in ("1", "nobody")]
    assert refusals[0][0] == 403 and TEXT not in str(refusals[0])
    assert str(refusals[0]) == str(refusals[1]).replace("nobody", "1")


def test_shards_are_folded_with_the_rights_of_the_requester(engine: SecuredEngine) -> None:
    if "opensearch" in engine.store:
        pytest.skip("OpenSearch folds shards by a pipeline, which a reader may not name")
    for index in ("open", "closed"):
        fill(engine, index, shards=3)
        longer = {"text": f"{TEXT} Children pay half.", "note": "public"}
        engine.put(f"{index}/_doc/4?refresh=true", longer)
    user = put_reader(engine, "reader")
    fold = {"field": "text.near", "minimum_similarity": 0.7}
    body = {"rescore": {"near_fold": fold}, "_source": False}
    status, answer = engine.call("POST", "*/_search", body, user)
    folds = [hit["fields"]["near_fold"][0] for hit in answer["hits"]["hits"]]
    assert status == 200 and [fold.get("folded") for fold in folds] == [3, None, None, None]
    assert {member["_index"] for member in folds[0]["hits"]} == {"open"}


def test_texts_that_the_requester_may_not_read_are_reported(engine: SecuredEngine) -> None:
    """Who may read an alias alone finds its documents, and may not get them by their index."""
    if "opensearch" in engine.store:
        pytest.skip("OpenSearch folds shards by a pipeline, which a reader may not name")
    fill(engine, "open", shards=3)
    engine.put("open/_doc/4?refresh=true", {"text": f"{TEXT} Children pay half."})
    engine.put("open/_alias/named", {})
    user = put_reader(engine, "alias-reader", "named")
    body = {"rescore": {"near_fold": {"field": "text.near", "minimum_similarity": 0.7}}}
    status, answer = engine.call("POST", "named/_search", {**body, "_source": False}, user)
    assert status == 403 and "could not read [open][" in answer["error"]["reason"]
    status, answer = engine.call("POST", "named/_search", body, user)
    assert status == 200
    assert answer["hits"]["hits"][0]["fields"]["near_fold"][0]["folded"] == 3


@pytest.fixture
def limited(engine: SecuredEngine) -> SecuredEngine:
    """An engine that limits documents and fields, which Elasticsearch does with a licence alone."""
    if "elasticsearch" in engine.store:
        call("POST", f"{engine.url}/_license/start_trial?acknowledge=true")  # or it runs already
    return engine


@pytest.mark.versions
def test_what_a_reader_may_not_see_is_neither_found_nor_folded(limited: SecuredEngine) -> None:
    public = {"term": {"note": "public"}}
    limits = {"dls": json.dumps(public)} if "opensearch" in limited.store else {"query": public}
    user = put_reader(limited, "limited", **limits)
    for measure in ("lcs", "slots"):
        for query in ({}, {"query": NEAR}):
            found = folded(limited, user, measure, **query)
            one = {"folded": 1, "hits": [{"similarity": 1.0, "_id": "3"}]}
            assert {id: fields["near_fold"] for id, fields in found.items()} == {
                "1": [one],
                "3": [FOLDED],
            }
    refusals = [like(limited, user, "open", id) for id in ("2", "nobody")]
    assert str(refusals[0]).replace("[2]", "[nobody]") == str(refusals[1])
    explained = limited.call("POST", "open/_explain/2", {"query": NEAR}, user)
    assert explained[1]["matched"] is False and "explanation" not in explained[1]
    counts = {"copies": {"terms": {"field": "text.near.exact"}}}
    body = {"size": 0, "query": {"exists": {"field": "text.near"}}, "aggs": counts}
    counted = limited.call("POST", "open/_search", body, user)[1]
    assert counted["hits"]["total"]["value"] == 2
    assert [each["doc_count"] for each in counted["aggregations"]["copies"]["buckets"]] == [2]


@pytest.mark.versions
def test_a_text_whose_field_is_hidden_is_neither_found_nor_folded(limited: SecuredEngine) -> None:
    """Elasticsearch hides the columns of a text by `text.*` alone, OpenSearch by `text`, too."""
    is_opensearch = "opensearch" in limited.store

    def put_user(name: str, *hidden: str) -> str:
        if is_opensearch:
            return put_reader(limited, name, fls=[f"~{field}" for field in hidden])
        grant = {"grant": ["*"], "except": list(hidden)}
        return put_reader(limited, name, field_security=grant)

    nothing = put_user("without-columns", "text", "text.*")
    without_text = put_user("without-text", "text")
    for user in (nothing, without_text) if is_opensearch else (nothing,):
        for measure in ("lcs", "slots"):
            shown = folded(limited, user, measure)
            assert [*shown.values()] == [{"near_fold": [ALONE]}] * 3
            assert folded(limited, user, measure, query=NEAR) == {}
        assert like(limited, user, "open", "1")[1]["hits"]["hits"] == []
    if not is_opensearch:
        copies = folded(limited, without_text)
        assert copies["3"]["near_fold"] == [FOLDED] and "text.near.exact" in copies["3"]


@pytest.mark.versions
def test_a_masked_text_is_found_by_its_columns_alone(opensearch_server, limited) -> None:
    """So whoever masks a text hides `text.*`, too; Elasticsearch masks nothing."""
    if limited is not opensearch_server:
        pytest.skip("Elasticsearch masks no values")
    masked = put_reader(limited, "masked", masked_fields=["text"])
    by_slots = {"near_duplicate": {**NEAR["near_duplicate"], "measure": "slots"}}
    assert folded(limited, masked, query=NEAR) == {}
    assert folded(limited, masked, query=by_slots)["3"]["near_fold"] == [FOLDED]
    hidden = put_reader(limited, "hidden", masked_fields=["text"], fls=["~text.*"])
    for query in ({"query": NEAR}, {"query": by_slots}):
        assert folded(limited, hidden, **query) == {}
    assert [*folded(limited, hidden, "slots").values()] == [{"near_fold": [ALONE]}] * 3
