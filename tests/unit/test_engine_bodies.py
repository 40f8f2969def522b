"""Request bodies of engines, checked by hand and against the tables they repeat."""

import json

import pytest
from sample_rows import band, block

from indexer import mappings
from indexer.errors import UsageError
from indexer.model import Query
from indexer.recipe import DEFAULT
from indexer.stores.engine import index_mapping, search_bodies
from indexer.stores.engine.field_substitutes import substitute_fields


def new_index(**changes):
    settings = {
        "metadata_type": "flat_object",
        "core_analysis": False,
        "shards": None,
        "replicas": None,
    }
    return index_mapping.new_index(DEFAULT, **{**settings, **changes})


def test_an_index_is_strict_and_says_what_it_holds():
    body = new_index()
    assert body["mappings"]["dynamic"] == "strict"
    assert body["mappings"]["_meta"] == {
        "nearfold": {
            "format": 1,
            "analysis": "words_v2",
            "recipe_id": DEFAULT.id,
            "recipe": DEFAULT.settings,
            "attachments": True,
        }
    }
    assert body["mappings"]["properties"]["metadata"] == {"type": "flat_object"}
    assert body["settings"]["index"] == {"number_of_shards": 1, "auto_expand_replicas": "0-1"}
    assert json.loads(json.dumps(body)) == body


def test_the_engines_differ_in_one_field():
    opensearch_body, elasticsearch_body = new_index(), new_index(metadata_type="flattened")
    del (
        opensearch_body["mappings"]["properties"]["metadata"],
        elasticsearch_body["mappings"]["properties"]["metadata"],
    )
    assert opensearch_body == elasticsearch_body


def test_shards_and_replicas_are_settings():
    assert new_index(shards=3)["settings"]["index"] == {
        "number_of_shards": 3,
        "auto_expand_replicas": "0-1",
    }
    assert new_index(replicas=2)["settings"]["index"] == {
        "number_of_shards": 1,
        "number_of_replicas": 2,
    }
    assert new_index(shards=1, replicas=0)["settings"]["index"] == {
        "number_of_shards": 1,
        "number_of_replicas": 0,
    }


def test_core_analysis_needs_no_module():
    body = new_index(core_analysis=True)
    assert body["settings"]["analysis"] == {
        "analyzer": {
            "nearfold": {"type": "custom", "tokenizer": "standard", "filter": ["lowercase"]}
        }
    }
    assert body["mappings"]["_meta"]["nearfold"]["analysis"] == "core"
    assert body["mappings"]["properties"] == new_index()["mappings"]["properties"]


def test_letters_are_set_apart_and_their_marks_are_not():
    rules = new_index()["settings"]["analysis"]["char_filter"]["nearfold_letters"]["mappings"]
    assert len(set(rules)) == len(rules)
    assert r"\u0E01 => \u0020\u0E01" in rules
    assert not any(rule.startswith(r"\u0E31") for rule in rules)
    assert {r"\u005F => \u0020", r"\u0301 => "} <= set(rules)


def test_fields_are_flat_and_keys_have_no_doc_values():
    fields = new_index()["mappings"]["properties"]
    assert not any("properties" in field for field in fields.values())
    for name in ("near_bands", "near_blocks", "near_terms", "near_rare"):
        assert fields[name] == {"type": "keyword", "doc_values": False}
    assert fields["near_minhash"] == {"type": "binary", "doc_values": True}
    assert fields["near_simhash"] == {"type": "long", "index": False}
    for name in ("near_source", "near_file"):
        assert fields[name] == {"type": "keyword", "index": False, "doc_values": False}


def test_our_own_mapping_has_no_problems():
    assert index_mapping.mapping_problems(new_index()["mappings"], "flat_object") == ()


def test_an_index_that_maps_fields_as_before_has_no_problems():
    mapping = new_index()["mappings"]
    former = {name: {"type": "keyword"} for name in ("near_id", "near_source")}
    assert not index_mapping.is_outdated(mapping)
    mapping["properties"] |= {**former, "near_simhash": {"type": "long"}}
    assert index_mapping.mapping_problems(mapping, "flat_object") == ()
    assert index_mapping.is_outdated(mapping)
    mapping["_meta"]["nearfold"]["shared"] = True
    assert not index_mapping.is_outdated(mapping)
    del mapping["_meta"]["nearfold"]["shared"]
    del mapping["properties"]["near_file"]
    assert [*index_mapping.later_fields(mapping["properties"])] == ["near_file"]


def test_fields_that_others_add_below_a_field_are_no_problem():
    mapping = new_index()["mappings"]
    for name in ("text", "path"):
        fields = mapping["properties"][name].setdefault("fields", {})
        fields["near"] = {"type": "near_duplicate", "recipe": "default_v3"}
    assert index_mapping.mapping_problems(mapping, "flat_object") == ()
    mapping["properties"]["text"]["analyzer"] = "standard"
    (problem,) = index_mapping.mapping_problems(mapping, "flat_object")
    assert problem.startswith("field text is text (analyzer: standard, ")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda mapping: mapping.pop("_meta"), "it was not made by nearfold (no `_meta.nearfold`)"),
        (lambda mapping: mapping.pop("dynamic"), "it is not strict (`dynamic`)"),
        (lambda mapping: mapping["properties"].pop("near_bands"), "field near_bands is missing"),
        (
            lambda mapping: mapping["properties"].update(extra={"type": "text"}),
            "field extra is not nearfold's",
        ),
        (
            lambda mapping: mapping["properties"].update(near_simhash={"type": "text"}),
            "field near_simhash is text instead of long (index: False)",
        ),
        (
            lambda mapping: mapping["properties"].update(near_bands={"type": "keyword"}),
            "field near_bands is keyword instead of keyword (doc_values: False)",
        ),
        (
            lambda mapping: mapping["properties"].update(near_id={"properties": {}}),
            "field near_id is object (properties: {}) instead of keyword (index: False)",
        ),
    ],
)
def test_problems_of_a_mapping_are_described(change, problem):
    mapping = new_index()["mappings"]
    change(mapping)
    assert index_mapping.mapping_problems(mapping, "flat_object") == (problem,)


def test_fields_of_clients_are_no_problem_after_install():
    mapping = new_index()["mappings"]
    mapping["dynamic"] = "true"
    mapping["properties"]["color"] = {"type": "keyword"}
    assert len(index_mapping.mapping_problems(mapping, "flat_object")) == 2
    mapping["_meta"]["nearfold"][index_mapping.CLIENTS] = True
    assert index_mapping.mapping_problems(mapping, "flat_object") == ()


def test_names_of_nearfold_that_others_use_are_described():
    theirs = {"near_words": {"type": "keyword"}, "near_id": {"type": "keyword", "index": False}}
    (problem,) = index_mapping.fields_of_others({"properties": theirs})
    assert problem == "field near_words is keyword instead of integer"


def phrase(words):
    return {"multi_match": {"query": words, "type": "phrase", "fields": ["title^2", "text"]}}


def test_any_word_may_match_and_scores():
    body = search_bodies.search(Query('near "duplicate documents"'), 10)
    assert body["query"]["bool"] == {
        "should": [phrase("near"), phrase("duplicate documents")],
        "minimum_should_match": 1,
        "filter": [],
    }
    assert body["track_total_hits"] is True
    assert body["size"] == 10
    assert body["sort"] == [
        {"_score": "desc"},
        search_bodies.BY_PATH,
        search_bodies.BY_ID,
        {"_shard_doc": "asc"},
    ]


def test_signs_become_clauses():
    query = "+near|close pair -far dup*"
    alternatives = {"should": [phrase("near"), phrase("close")], "minimum_should_match": 1}
    prefix = {"multi_match": {**phrase("dup")["multi_match"], "type": "bool_prefix"}}
    assert search_bodies.search(Query(query), 10)["query"]["bool"] == {
        "must": [{"bool": alternatives}],
        "should": [phrase("pair"), prefix],
        "minimum_should_match": 0,
        "must_not": [phrase("far")],
        "filter": [],
    }
    assert search_bodies.search(Query(query, sort="path"), 10)["query"]["bool"] == {
        "filter": [{"bool": alternatives}],
        "must_not": [phrase("far")],
    }
    assert search_bodies.search(Query("-far"), 10)["query"]["bool"] == {
        "filter": [],
        "must_not": [phrase("far")],
    }
    assert search_bodies.search(Query("re-op*"), 10)["query"]["bool"]["should"] == [
        {
            "constant_score": {
                "filter": {
                    "multi_match": {
                        **phrase("re-op")["multi_match"],
                        "type": "phrase_prefix",
                        "max_expansions": 10_000,
                    }
                }
            }
        }
    ]


def test_a_label_with_its_field_needs_no_wildcard_which_clusters_may_forbid():
    def condition(query):
        return search_bodies.search(Query(query), 10)["query"]["bool"]["filter"]

    assert condition("label:privilege=none") == [{"term": {"labels": {"value": "privilege=none"}}}]
    assert "wildcard" in json.dumps(condition("label:none"))


def test_labels_are_compared_as_wholes_where_clients_split_them_into_words():
    body = search_bodies.search(Query("label:none from:ann path:lease"), 10)
    names = {"labels": "labels.keyword", "path": "path.keyword"}
    found = json.dumps(substitute_fields(body, names)["query"])
    assert '"wildcard": {"labels.keyword"' in found and '"regexp": {"path.keyword"' in found
    assert '"labels"' not in found


def test_what_is_not_ranked_is_not_scored():
    for query in (Query("near", sort="path"), Query("near", sort="modified"), Query("")):
        body = search_bodies.search(query, 10)
        assert "must" not in body["query"]["bool"]
        assert {"_score": "desc"} not in body["sort"]
        assert body["sort"][-3:] == [
            search_bodies.BY_PATH,
            search_bodies.BY_ID,
            {"_shard_doc": "asc"},
        ]
    assert (
        search_bodies.search(Query("near", sort="modified"), 10)["sort"][0] == search_bodies.NEWEST
    )


def test_hits_are_read_from_columns_unless_they_lack_an_id():
    for body in (
        search_bodies.search(Query("near"), 10),
        search_bodies.candidates(search_bodies.keys([band(0, 1)], []), ["r"], 10),
    ):
        assert (body["_source"], body["stored_fields"]) == (False, "_none_")
        place = body["sort"].index(search_bodies.BY_ID)
        hits = [{"sort": ["a"] * len(body["sort"])} for _ in range(2)]
        assert search_bodies.has_ids(body, {"hits": hits})
        hits[1]["sort"][place] = search_bodies.LAST
        assert not search_bodies.has_ids(body, {"hits": hits})
        again = search_bodies.read_ids(body)
        assert search_bodies.has_ids(again, {"hits": hits})
        assert {**again, "stored_fields": "_none_"} == body
    assert search_bodies.has_ids(search_bodies.scan(None, 5), {"hits": []})


def test_families_and_facets_are_counted_once_and_on_request():
    assert "aggs" not in search_bodies.search(Query("near"), 10)
    body = search_bodies.search(Query("near", facets=("status", "labels"), families=True), 10)
    assert list(body["aggs"]) == ["families", "without_family", "status", "labels"]
    assert body["aggs"]["status"]["terms"]["field"] == "near_status"
    assert list(body["aggs"]["labels"]["aggs"]) == ["families", "without_family"]
    assert "aggs" not in search_bodies.later_page(body)
    with pytest.raises(UsageError, match="content_type"):
        search_bodies.search(Query("near", facets=("metadata.Author",)), 10)


def test_a_query_that_can_find_nothing_has_no_body():
    assert search_bodies.search(Query("--- !"), 10) is None
    assert search_bodies.search(Query(" \n"), 10)["query"] == {"bool": {"filter": []}}


def test_filters_name_engine_fields():
    filters = (
        ("path", "/a"),
        ("status", "empty"),
        ("metadata.dc.creator", "Ada"),
        ("labels", "x*\ud800"),
    )
    assert search_bodies.search(Query("", filters=filters), 1)["query"]["bool"]["filter"] == [
        {"term": {"path": {"value": "/a"}}},
        {"term": {"near_status": {"value": "empty"}}},
        {"term": {"metadata.dc.creator": {"value": "Ada"}}},
        {"term": {"labels": {"value": "x*\ufffd"}}},
    ]
    with pytest.raises(UsageError):
        search_bodies.search(Query("", filters=(("near_status", "empty"),)), 1)


def test_each_key_adds_one_to_the_score():
    keys = search_bodies.keys([band(0, 1), band(1, 2)], [block(0, 3)])
    body = search_bodies.candidates(keys, ["recipe"], 50)
    query = body["query"]["bool"]
    assert query["filter"] == [{"terms": {"near_recipe": ["recipe"]}}]
    assert query["minimum_should_match"] == 1
    assert [clause["constant_score"]["filter"]["term"] for clause in query["should"]] == [
        {"near_bands": band(0, 1)},
        {"near_bands": band(1, 2)},
        {"near_blocks": block(0, 3)},
    ]
    assert body["sort"] == [{"_score": "desc"}, search_bodies.BY_PATH, search_bodies.BY_ID]


def test_carriers_are_counted_up_to_a_limit():
    keys = search_bodies.keys([band(0, 1), band(1, 1)], [block(0, 1)])
    bands, blocks = [band(0, 1), band(1, 1)], [block(0, 1)]
    assert search_bodies.carriers(keys, 7) == {
        "size": 0,
        "track_total_hits": 8,
        "query": {
            "bool": {
                "should": [{"terms": {"near_bands": bands}}, {"terms": {"near_blocks": blocks}}]
            }
        },
    }


@pytest.mark.parametrize(
    ("folder", "prefix"), [("/a", "/a/"), ("/a/", "/a/"), ("/", "/"), ("a*", "a*/")]
)
def test_a_folder_is_itself_and_what_lies_in_it(folder, prefix):
    inside = search_bodies.scan(folder, 5)["query"]["bool"]["filter"][0]["bool"]["should"]
    assert inside == [
        {"term": {"path": {"value": folder}}},
        {"prefix": {"path": {"value": prefix}}},
    ]
    assert search_bodies.scan(None, 5)["query"] == {"match_all": {}}


def test_bodies_are_new_objects():
    new_index()["mappings"]["properties"].clear()
    assert new_index()["mappings"]["properties"]


def test_every_file_of_mappings_can_be_read():
    files = [path for path in mappings.folder().rglob("*") if path.is_file()]
    assert len(files) > 10
    for path in files:
        name = str(path.relative_to(mappings.folder()))
        assert mappings.read(name)
        if path.suffix == ".json":
            assert mappings.load(name)


def test_an_index_made_before_there_were_parts_serves():
    mapping = new_index()["mappings"]
    for name in index_mapping.OF_PARTS:
        del mapping["properties"][name]
    assert index_mapping.mapping_problems(mapping, "flat_object") == ()


def test_searches_among_documents_leave_parts_out_and_keep_their_scores():
    body = search_bodies.candidates([("near_bands", "00a1")], ["recipe"], 10)
    among = search_bodies.within_scope(body, "documents")
    assert among["query"]["bool"]["must"] == [body["query"]]
    assert (
        among["query"]["bool"]["must_not"]
        == search_bodies.within_scope(body, "parts")["query"]["bool"]["filter"]
    )
    assert search_bodies.within_scope(body, "both") is body
