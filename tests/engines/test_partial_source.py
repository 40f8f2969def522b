"""Indices that keep a part of their documents outside `_source`: nothing of them is lost, because
nothing is changed; and what other programs keep in their documents stays when keys are repaired.
"""

import re
import urllib.request

import pytest
from pipelines import bulk, call, good, store_url

from indexer.cli.exit_codes import EXIT_STORE
from indexer.cli.main import run
from indexer.documents.base import ReadOptions
from indexer.errors import MappingMismatch, PartialSource, StoreError, UsageError
from indexer.grouping.delete import delete
from indexer.grouping.group import group
from indexer.jobs.doctor import doctor
from indexer.jobs.index import IndexOptions
from indexer.jobs.index import index as indexing
from indexer.jobs.install import install
from indexer.jobs.label import LabelOptions, label
from indexer.jobs.reindex import reindex
from indexer.jobs.repair import repair
from indexer.recipe import DEFAULT, DEFAULT_V1
from indexer.searching.search import search
from indexer.stores.engine.asset_bodies import meta, near_fields

pytestmark = pytest.mark.engines
FERRY = (
    "The harbour ferry leaves at eight in the morning and returns at six in the evening. "
    "Dogs travel free."
)
OBJECTS = {"type": "object", "enabled": False}
LABELS = {
    "an object that is not parsed": ({"labels": OBJECTS}, {"team": "press"}, "of type object"),
    "a field that is not mapped": (
        {},
        {"team": "press"},
        "of document a holds values that are not strings",
    ),
    "numbers": (
        {"labels": {"type": "keyword"}},
        [1, 2],
        "of document a holds values that are not strings",
    ),
}
NO_LABELS = {
    "a date": ({"labels": {"type": "date"}}, {}, "`labels` of type date"),
    "an address": ({"labels": {"type": "ip"}}, {}, "`labels` of type ip"),
    "a truth value": ({"labels": {"type": "boolean"}}, {}, "`labels` of type boolean"),
    "a number": ({"labels": {"type": "long"}}, {}, "`labels` of type long"),
    "an alias": ({"labels": {"type": "alias", "path": "tag"}}, {}, "`labels` of type alias"),
    "no new fields": ({}, {"dynamic": "strict"}, "no field `labels`, .*dynamic` is strict"),
    "fields unmapped": ({}, {"dynamic": False}, "no field `labels`, .*dynamic` is false"),
}
BREAD = "The price of bread rises every year, and the people who bake it at night earn no more."
TEXT = {"text": {"type": "text"}, "page": {"properties": {"body": {"type": "text"}}}}
PARTIAL = {
    "text left out": ({"excludes": ["te*"]}, "leaves text, te* out of `_source`"),
    "part kept": ({"includes": ["author"]}, "leaves page.body, text, "),
    "nothing kept": ({"enabled": False}, "has its `_source` disabled"),
}

NUMBERS = b'{"a": 1.0, "b": 1, "c": 12345678901234567890123, "d": 0.12345678901234567890, "e": 1e3}'
STORED = '{"a":1.0,"b":1,"c":12345678901234567890123,"d":0.12345678901234568,"e":1000.0}'


@pytest.fixture
def store(engine, server, index, open_at, tmp_path, monkeypatch):
    """A store of an index of other programs, where nothing is yet; removed at the end."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return open_at(store_url(engine, server, index))


def fill(server, index, source):
    """Create an index that keeps this part of its documents, with two copies of a text."""
    body = {"mappings": {"_source": source, "properties": TEXT}}
    good("PUT", f"{server}/{index}", body)
    return bulk(server, index, [{"text": FERRY, "author": name} for name in ("wire", "web")])


def adopt(server, index):
    """Give an index the fields and `_meta` that an earlier release gave to every index."""
    body = {"_meta": meta(DEFAULT), "properties": near_fields()}
    good("PUT", f"{server}/{index}/_mapping", body)


def state(server, index):
    """Return everything of an index that a search or a setting can show, after a refresh."""
    good("POST", f"{server}/{index}/_refresh")
    query = {"query": {"match": {"text": "ferry"}}, "version": True}
    hits = good("POST", f"{server}/{index}/_search", query)["hits"]["hits"]
    versions = sorted((hit["_id"], hit["_version"]) for hit in hits)
    return versions, good("GET", f"{server}/{index}")


@pytest.mark.parametrize("kind", PARTIAL)
def test_an_index_that_keeps_a_part_of_its_documents_is_not_installed_into(
    store, server, index, kind
):
    source, gap = PARTIAL[kind]
    fill(server, index, source)
    before = state(server, index)
    assert len(before[0]) == 2
    for refused in (
        lambda: install(store),
        lambda: install(store, dry_run=True),
        lambda: indexing([store.url], store, IndexOptions(reading=ReadOptions())),
    ):
        with pytest.raises(PartialSource, match="whole `_source`") as error:
            refused()
        assert gap in str(error.value)
    assert state(server, index) == before


@pytest.mark.parametrize("kind", PARTIAL)
def test_no_advice_leads_to_a_command_that_refuses_the_index(store, server, index, kind):
    fill(server, index, PARTIAL[kind][0])
    with pytest.raises(MappingMismatch, match=re.escape(PARTIAL[kind][1])) as error:
        store.stored_recipe()
    (check,) = (check for check in doctor(store.url) if check.name == "store")
    for advice in (str(error.value), check.detail):
        assert "choose another index name" in advice
        assert "--text-field" not in advice and "nearfold install" not in advice


@pytest.mark.parametrize("kind", PARTIAL)
def test_what_is_signed_already_is_not_changed_where_a_change_would_lose_a_part(
    store, server, index, kind
):
    ids = fill(server, index, PARTIAL[kind][0])
    adopt(server, index)
    before = state(server, index)
    assert len(before[0]) == 2
    for refused in (
        lambda: group(store),
        lambda: label(store, ids, LabelOptions(add=("seen",))),
        lambda: delete(store, ids[:1]),
        lambda: reindex(store, DEFAULT_V1),
        lambda: repair(store),
        lambda: store.labels.relabel({ids[0]: ("seen",)}),
    ):
        with pytest.raises(PartialSource, match="whole `_source`"):
            refused()
    verdicts = {check.name: check.verdict for check in doctor(store.url)}
    assert verdicts["store"] == "bad"
    assert run(["group", "--store", store.url]) == EXIT_STORE
    assert run(["search", "ferry", "--store", store.url]) == EXIT_STORE
    assert state(server, index) == before


def test_a_field_outside_of_source_that_the_index_does_not_hold_is_no_hindrance(
    store, server, index
):
    properties = {**TEXT, "data": {"type": "binary"}, "note": {"type": "text", "index": False}}
    mapping = {"_source": {"excludes": ["data", "note"]}, "properties": properties}
    good("PUT", f"{server}/{index}", {"mappings": mapping})
    ids = bulk(server, index, [{"text": FERRY, "data": "aGk=", "n": n} for n in range(2)])
    indexing([store.url], store, IndexOptions(reading=ReadOptions()))
    group(store)
    assert store.labels.relabel(dict.fromkeys(ids, ("seen",))) == 2
    versions, _ = state(server, index)
    assert [version > 1 for _, version in versions] == [True, True]


def test_a_repair_of_keys_leaves_the_fields_of_other_programs(store, server, index):
    good("PUT", f"{server}/{index}", {"mappings": {"properties": TEXT}})
    first, second = bulk(server, index, [{"text": FERRY, "author": {"name": n}} for n in "ab"])
    indexing([store.url], store, IndexOptions(reading=ReadOptions()))
    stale = {"update": {"_id": first}}, {"doc": {"text": BREAD, "pages": [2, 1]}}
    bulk(server, index, [], *stale)
    assert [(found.what, found.repaired) for found in repair(store)][:1] == [("keys", True)]
    assert [found for found in repair(store) if found.what == "keys"] == []
    document = good("GET", f"{server}/{index}/_doc/{first}")["_source"]
    theirs = {name: value for name, value in document.items() if not name.startswith("near_")}
    assert theirs == {"text": BREAD, "author": {"name": "a"}, "pages": [2, 1]}
    rows = store.get([first, second])
    assert rows[first].exact != rows[second].exact
    assert call("GET", f"{server}/{index}/_count?q=author.name:a")[1]["count"] == 1


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_other_programs_that_are_no_texts_are_not_replaced(store, server, index, kind):
    fields, labels, message = LABELS[kind]
    properties = {"text": {"type": "text"}, **fields}
    body = {"mappings": {"dynamic": False, "properties": properties}}
    good("PUT", f"{server}/{index}", body)
    for id, document in (("a", {"text": FERRY, "labels": labels}), ("b", {"text": FERRY})):
        good("PUT", f"{server}/{index}/_doc/{id}?refresh=true", document)
    indexing([store.url], store, IndexOptions(reading=ReadOptions()))
    group(store)
    for dry_run in (True, False):
        for ids, options in ((["a"], {}), (["b"], {"family": True})):
            with pytest.raises(UsageError, match=message):
                label(store, ids, LabelOptions(add=["seen"], **options), dry_run=dry_run)
    assert good("GET", f"{server}/{index}/_doc/a")["_source"]["labels"] == labels
    assert "labels" not in good("GET", f"{server}/{index}/_doc/b")["_source"]


@pytest.mark.parametrize("kind", NO_LABELS)
def test_a_field_that_takes_no_labels_is_refused_before_the_first_write(store, server, index, kind):
    fields, rules, message = NO_LABELS[kind]
    properties = {"text": {"type": "text"}, "tag": {"type": "keyword"}, **fields}
    good("PUT", f"{server}/{index}", {"mappings": {**rules, "properties": properties}})
    good("PUT", f"{server}/{index}/_doc/a?refresh=true", {"text": FERRY})
    indexing([store.url], store, IndexOptions(reading=ReadOptions()))
    group(store)
    before = good("GET", f"{server}/{index}/_doc/a")
    for dry_run in (True, False):
        with pytest.raises(UsageError, match=message):
            label(store, ["a"], LabelOptions(add=["seen"]), dry_run=dry_run)
    assert good("GET", f"{server}/{index}/_doc/a") == before


def test_small_limits_of_the_owner_are_named_before_anything_is_written(store, server, index):
    properties = {"text": {"type": "text", "fields": {"raw": {"type": "keyword"}}}}
    room = {"index.mapping.total_fields.limit": 2}
    good("PUT", f"{server}/{index}", {"settings": room, "mappings": {"properties": properties}})
    good("PUT", f"{server}/{index}/_doc/a?refresh=true", {"text": FERRY})
    before = good("GET", f"{server}/{index}"), good("GET", f"{server}/_index_template")
    needed = 2 + len(near_fields())
    for refused in (
        lambda: install(store),
        lambda: install(store, dry_run=True),
        lambda: indexing([store.url], store, IndexOptions(reading=ReadOptions())),
    ):
        with pytest.raises(UsageError, match=f"may have 2 fields .*needs {needed} with"):
            refused()
    assert (good("GET", f"{server}/{index}"), good("GET", f"{server}/_index_template")) == before
    room = {"index.mapping.total_fields.limit": needed, "index.max_result_window": 5}
    good("PUT", f"{server}/{index}/_settings", room)
    with pytest.raises(StoreError, match=r"set index\.max_result_window lower than nearfold needs"):
        indexing([store.url], store, IndexOptions(reading=ReadOptions()))
    good("PUT", f"{server}/{index}/_settings", {"index.max_result_window": None})
    indexing([store.url], store, IndexOptions(reading=ReadOptions()))
    assert store.get(["a"])["a"].status == "complete"


def test_a_search_that_the_owner_of_a_cluster_forbids_names_the_setting(store, server, index):
    good("PUT", f"{server}/{index}/_doc/a?refresh=true", {"text": FERRY})
    indexing([store.url], store, IndexOptions(reading=ReadOptions()))
    setting = "search.allow_expensive_queries"
    good("PUT", f"{server}/_cluster/settings", {"persistent": {setting: False}})
    try:
        assert search(store, "ferry").total == 1
        assert search(store, "ferry label:privilege=none").total == 0
        with pytest.raises(StoreError, match=r"search\.allow_expensive_queries to false: .* whole"):
            search(store, "ferr*")
    finally:
        good("PUT", f"{server}/_cluster/settings", {"persistent": {setting: None}})


def test_numbers_of_other_programs_keep_their_kind_and_17_digits(store, server, index):
    properties = {"text": {"type": "text"}, "own": {"type": "object", "enabled": False}}
    good("PUT", f"{server}/{index}", {"mappings": {"properties": properties}})
    document = b'{"text": "%s", "own": %s}' % (FERRY.encode(), NUMBERS)
    lines = b'{"index": {"_id": "a"}}\n' + document + b"\n"
    assert not good("POST", f"{server}/{index}/_bulk?refresh=true", lines)["errors"]
    indexing([store.url], store, IndexOptions(reading=ReadOptions()))
    for change in (
        lambda: group(store),
        lambda: label(store, ["a"], LabelOptions(add=["seen"])),
        lambda: reindex(store, DEFAULT_V1),
    ):
        change()
        with urllib.request.urlopen(f"{server}/{index}/_source/a", timeout=60) as answer:
            assert f'"own":{STORED}' in answer.read().decode()
