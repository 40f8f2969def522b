"""A data stream, and an alias of several indices: searched, looked up and grouped as one."""

import pytest
from pipelines import bulk, call, good, store_url

from indexer.errors import MappingMismatch, StoreError, StoreStopped, UsageError
from indexer.fingerprinting.fingerprint import fingerprint
from indexer.grouping.delete import delete
from indexer.grouping.group import group
from indexer.jobs.doctor import doctor
from indexer.jobs.index import index
from indexer.jobs.install import install
from indexer.jobs.label import LabelOptions, label
from indexer.jobs.reindex import reindex
from indexer.jobs.repair import repair
from indexer.recipe import DEFAULT_V1
from indexer.searching.search import SearchOptions, search
from indexer.searching.similar import SimilarOptions, similar

pytestmark = pytest.mark.engines
FERRY = (
    "The harbour ferry leaves at eight in the morning and returns at six in the evening, every "
    "day of the year but the first; "
)
OLD = [f"{FERRY}dogs travel free.", "A pilot boat brings pilots to large ships."]
NEW = [f"{FERRY}dogs travel free of charge.", "A ferry carries people and goods across a river."]


@pytest.fixture(autouse=True)
def state_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


@pytest.fixture
def stream(engine, server, stores):
    """The name of a data stream with two indices behind it, the newer one with near duplicates of
    the older one's documents.
    """
    store, name = stores(engine, server)
    install(store)
    stream = f"{name}-stream"
    template = {
        "index_patterns": [stream],
        "data_stream": {},
        "priority": 600,
        "composed_of": ["nearfold-default_v3"],
        "template": {
            "settings": {"index.default_pipeline": "nearfold-default_v3"},
            "mappings": {"properties": {"text": {"type": "text"}}},
        },
    }
    good("PUT", f"{server}/_index_template/{stream}", template)
    for texts in (OLD, NEW):
        lines = [
            line
            for text in texts
            for line in ({"create": {}}, {"@timestamp": "2026-01-01T08:00:00Z", "text": text})
        ]
        assert not good("POST", f"{server}/{stream}/_bulk?refresh=true", lines)["errors"]
        good("POST", f"{server}/{stream}/_rollover")
    yield stream
    call("DELETE", f"{server}/_data_stream/{stream}")
    call("DELETE", f"{server}/_index_template/{stream}")


@pytest.fixture
def alias(engine, server, stores):
    """The name of an alias of two indices, with the documents of `stream`, and these indices."""
    names = []
    for texts in (OLD, NEW):
        store, name = stores(engine, server)
        install(store)
        bulk(server, name, [{"text": text} for text in texts])
        names.append(name)
    added = [{"add": {"index": name, "alias": f"{names[0]}-all"}} for name in names]
    good("POST", f"{server}/_aliases", {"actions": added})
    return f"{names[0]}-all", names


@pytest.fixture
def rolled_over(engine, server, stores):
    """The name of an alias that was rolled over, by its size as a policy does, with the documents
    of `stream`, and the names of both indices.
    """
    store, name = stores(engine, server)
    install(store)
    alias = f"{name}-feed"
    template = {
        "index_patterns": [f"{alias}-*"],
        "priority": 600,
        "composed_of": ["nearfold-default_v3"],
        "template": {
            "settings": {"index.default_pipeline": "nearfold-default_v3"},
            "mappings": {"properties": {"text": {"type": "text"}}},
        },
    }
    good("PUT", f"{server}/_index_template/{alias}", template)
    first, second = (f"{alias}-{number:06}" for number in (1, 2))
    good("PUT", f"{server}/{first}", {"aliases": {alias: {"is_write_index": True}}})
    for number, texts in enumerate((OLD, NEW)):
        bulk(server, alias, [{"text": text} for text in texts])
        conditions = {"conditions": {"max_docs": 2 + number}}
        answer = good("POST", f"{server}/{alias}/_rollover", conditions)
        assert answer["rolled_over"] is (number == 0)
    yield alias, (first, second)
    call("DELETE", f"{server}/{first},{second}")
    call("DELETE", f"{server}/_index_template/{alias}")


def families(server, name):
    """Return the family of each document of the indices behind a name, by its text."""
    good("POST", f"{server}/{name}/_refresh")
    hits = good("GET", f"{server}/{name}/_search?size=100")["hits"]["hits"]
    return {hit["_source"]["text"]: hit["_source"]["near_family"] for hit in hits}


def check_as_one(store, server, name):
    """Assert that near duplicates in different indices are found, folded and made one family."""
    matches = similar(store, OLD[0], SimilarOptions(threshold=0.8)).matches
    assert sorted(match.similarity == 1 for match in matches) == [False, True]
    page = search(store, "ferry", SearchOptions(threshold=0.8))
    assert (page.total, len(page.hits)) == (3, 2)
    assert group(store).documents == 4
    stored = families(server, name)
    assert stored[OLD[0]] == stored[NEW[0]]
    assert len(set(stored.values())) == 3
    assert search(store, "ferry", SearchOptions(fold="family")).families == 2
    assert not group(store).moved
    for refused in (
        lambda: index([store.url], store),
        lambda: install(store),
        lambda: reindex(store, DEFAULT_V1),
    ):
        with pytest.raises((UsageError, MappingMismatch)):
            refused()
    assert families(server, name) == stored
    copy = similar(store, OLD[0], SimilarOptions(threshold=0.8)).matches[0].id
    assert [change.id for change in label(store, [copy], LabelOptions(add=["seen"])).changes] == [
        copy
    ]
    assert store.get([copy])[copy].labels == ("seen",)


def test_a_data_stream(engine, server, stream, open_at):
    check_as_one(open_at(store_url(engine, server, stream)), server, stream)


def test_doctor_does_not_advise_what_install_refuses(engine, server, stream, open_at):
    """A data stream of another program's template cannot be installed by its name."""
    foreign = f"{stream}-foreign"
    template = {"index_patterns": [foreign], "data_stream": {}, "priority": 700}
    good("PUT", f"{server}/_index_template/{foreign}", template)
    try:
        lines = [{"create": {}}, {"@timestamp": "2026-01-01T08:00:00Z", "text": OLD[0]}]
        good("POST", f"{server}/{foreign}/_bulk?refresh=true", lines)
        url = store_url(engine, server, foreign)
        with pytest.raises(UsageError, match="is a data stream"):
            install(open_at(url))
        [check] = [check for check in doctor(url) if check.name == "store"]
        assert "change its template and its indices as docs/index-life.md" in check.detail
        assert "nearfold install" not in check.detail
    finally:
        call("DELETE", f"{server}/_data_stream/{foreign}")
        call("DELETE", f"{server}/_index_template/{foreign}")


def test_an_alias_of_several_indices(engine, server, alias, open_at):
    name, _ = alias
    check_as_one(open_at(store_url(engine, server, name)), server, name)


def test_a_facet_counts_a_value_that_one_index_has_little_of(engine, server, alias, open_at):
    name, (first, second) = alias
    rare = [{"text": "rare", "labels": ["both"]}]
    bulk(server, first, [{"text": "x", "labels": [f"a{n % 45}"]} for n in range(90)] + rare)
    bulk(server, second, rare * 5)
    store = open_at(store_url(engine, server, name))
    [most, *_] = search(store, "", SearchOptions(facets=("labels",))).facets["labels"]
    assert (most.value, most.documents) == ("both", 6)


def test_an_alias_that_is_rolled_over(engine, server, rolled_over, open_at):
    name, (_, second) = rolled_over
    check_as_one(open_at(store_url(engine, server, name)), server, name)
    assert set(families(server, second)) == set(NEW)


def test_texts_that_clients_change_in_several_indices_get_their_keys(
    engine, server, rolled_over, open_at
):
    store = open_at(store_url(engine, server, rolled_over[0]))
    group(store)
    (hit,) = good("GET", f"{server}/{rolled_over[1][0]}/_search?q=dogs")["hits"]["hits"]
    target = {"update": {"_id": hit["_id"], "_index": hit["_index"]}}
    change = [target, {"doc": {"text": NEW[1]}}]
    assert not good("POST", f"{server}/_bulk?refresh=true", change)["errors"]
    group(store)
    rows = {row.id: row for row in store.scan()}
    assert rows[hit["_id"]].bands == fingerprint(NEW[1]).bands
    assert {check.verdict for check in doctor(store.url) if check.name == "changes"} == {"good"}


def test_an_index_that_a_policy_makes_read_only_is_searched_and_not_grouped(
    engine, server, rolled_over, open_at
):
    name, (first, _) = rolled_over
    store = open_at(store_url(engine, server, name))
    before = families(server, name)
    good("PUT", f"{server}/{first}/_settings", {"index.blocks.write": True})
    assert search(store, "ferry", SearchOptions(threshold=0.8)).total == 3
    assert len(similar(store, OLD[0], SimilarOptions(threshold=0.8)).matches) == 2
    refusal = rf"{first} refuses changes \(index\.blocks\.write\), so nothing was changed"
    for command in (group, repair, lambda store: delete(store, ["1"])):
        with pytest.raises(StoreStopped, match=refusal):
            command(store)
    assert families(server, name) == before
    assert group(store, write=False).documents == len(before)
    good("PUT", f"{server}/{first}/_settings", {"index.blocks.write": None})
    group(store)
    stored = families(server, name)
    assert stored[OLD[0]] == stored[NEW[0]]
    assert stored != before
    good("DELETE", f"{server}/{first}")
    group(store)
    assert set(families(server, name)) == set(NEW)
    assert search(store, "ferry", SearchOptions(fold="family")).families == 2


def test_documents_in_common_are_refused(engine, server, alias, open_at):
    name, members = alias
    for member in members:
        good("PUT", f"{server}/{member}/_doc/same?refresh=true", {"text": OLD[0]})
    with pytest.raises(StoreError, match="document same is in "):
        open_at(store_url(engine, server, name)).get(["same"])


def test_indices_of_different_recipes_are_refused(engine, server, alias, open_at):
    name, members = alias
    reindex(open_at(store_url(engine, server, members[1])), DEFAULT_V1)
    with pytest.raises(MappingMismatch, match="differ in `recipe_id`"):
        search(open_at(store_url(engine, server, name)), "ferry")
