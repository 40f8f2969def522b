"""`install` and `uninstall` on real engines: what they put, what they leave alone, and what they
refuse.
"""

import dataclasses
import json
import secrets

import pytest
from pipelines import OTHER, bulk, call, expected, good, signed
from sample_rows import row
from servers import choosing
from servers.choosing import ENGINES
from servers.process import Server

from indexer.cli.exit_codes import EXIT_STORE, EXIT_USAGE
from indexer.cli.main import run
from indexer.errors import (
    MappingMismatch,
    RecipeMismatch,
    StoreAccessDenied,
    StoreError,
    StoreStopped,
    UnsupportedOperation,
    UsageError,
)
from indexer.fingerprinting.fingerprint import shorten
from indexer.jobs.doctor import doctor
from indexer.jobs.install import install, uninstall
from indexer.jobs.reindex import reindex
from indexer.recipe import DEFAULT, DEFAULT_V1, recipe_named
from indexer.stores import open_store
from indexer.stores.engine import install as installer

pytestmark = pytest.mark.engines
TEXT = "Ferries leave the harbour at eight in the morning and at six in the evening."
ASSETS = [
    "component template",
    "ingest pipeline",
    "stored script",
    "search pipeline",
    "index template",
]


def installed_resources(server):
    """Return everything that clients keep in an engine beside indices, by its name.

    Elasticsearch puts templates and pipelines of its own, marked as managed, some only minutes
    after its start.
    """
    listings = {
        "_component_template": "component_templates",
        "_index_template": "index_templates",
        "_ingest/pipeline": None,
        "_search/pipeline": None,
    }
    found = {}
    for path, listing in listings.items():
        answer = call("GET", f"{server}/{path}")[1]
        entries = {entry["name"]: entry for entry in answer[listing]} if listing else answer
        found[path] = {name: entry for name, entry in entries.items() if not is_managed(entry)}
    scripts = "_cluster/state/metadata?filter_path=metadata.stored_scripts.*"
    rest = {path: call("GET", f"{server}/{path}")[1] for path in ("_cluster/settings", scripts)}
    return found | rest


def is_managed(entry):
    """Return whether an engine marks a pipeline, or an entry of a list of templates, as its own."""
    if not isinstance(entry, dict):  # of an error: Elasticsearch has no search pipelines
        return False
    bodies = [entry, entry.get("component_template"), entry.get("index_template")]
    return any(body and body.get("_meta", {}).get("managed") for body in bodies)


def actions(installation):
    """Return what became of each kind of asset; an engine may lack what one of them needs."""
    done = [change for change in installation.changes if change.action != "left out"]
    return {change.kind: change.action for change in done}


def test_installing_twice_changes_nothing_and_uninstalling_leaves_no_trace(opensearch_index):
    store, index, server = opensearch_index
    before = installed_resources(server)
    assert actions(install(store, dry_run=True)) == dict.fromkeys(ASSETS, "created")
    assert installed_resources(server) == before
    assert actions(install(store)) == dict.fromkeys(ASSETS, "created")
    after = installed_resources(server)
    assert after != before
    assert actions(install(store)) == dict.fromkeys(ASSETS, "unchanged")
    assert installed_resources(server) == after
    assert actions(uninstall(store, dry_run=True)) == dict.fromkeys(ASSETS, "removed")
    assert installed_resources(server) == after
    uninstall(store)
    assert installed_resources(server) == before
    assert uninstall(store).changes == ()
    assert call("GET", f"{server}/{index}")[0] == 404


def test_what_an_earlier_nearfold_put_there_is_replaced(opensearch_index):
    store, index, server = opensearch_index
    install(store)
    marked = {"description": "nearfold, without a digest"}
    good(
        "PUT",
        f"{server}/_search/pipeline/nearfold-fold-v1",
        {**marked, "response_processors": []},
    )
    for name in ("nearfold-default_v3", "nearfold-attachment-default_v3"):
        good("PUT", f"{server}/_ingest/pipeline/{name}", {**marked, "processors": []})
    template = {"index_patterns": [index], "_meta": {"nearfold": {"digest": "another"}}}
    good("PUT", f"{server}/_index_template/nearfold-{index}", template)
    planned = actions(install(store, dry_run=True))
    assert planned == actions(install(store))
    unchanged = dict.fromkeys(("component template", "stored script"), "unchanged")
    assert planned == {**dict.fromkeys(ASSETS, "updated"), **unchanged}
    assert set(actions(install(store)).values()) == {"unchanged"}


def test_a_malformed_line_fails_its_bulk_where_install_says_so(opensearch_index):
    store, index, server = opensearch_index
    details = {change.name: change.detail for change in install(store).changes}
    assert "not JSON" in details["nearfold-default_v3"]
    assert call("GET", f"{server}/{index}-000000")[0] == 404
    lines = [{"index": {"_id": "a"}}, {"text": TEXT}, {"index": {"_id": "b"}}, {"text": TEXT}]
    body = "".join(f"{json.dumps(line)}\n" for line in lines).encode() + b'{"index": {}}\n{"te\n'
    answer = good("POST", f"{server}/{index}/_bulk?refresh=true", body)
    statuses = [item["index"]["status"] for item in answer["items"]]
    assert statuses == [400, 400, 400]
    answer = good("POST", f"{server}/{index}/_bulk?refresh=true&pipeline=_none", body)
    assert [item["index"]["status"] for item in answer["items"]] == [201, 201, 400]
    unsigned = {"query": {"bool": {"must_not": {"exists": {"field": "near_recipe"}}}}}
    pipeline = "pipeline=nearfold-default_v3&refresh=true"
    good("POST", f"{server}/{index}/_update_by_query?{pipeline}", unsigned)
    rows = store.get(["a", "b"])
    assert [rows[id].status for id in "ab"] == ["complete", "complete"]


def test_what_other_indices_use_is_kept_and_named(opensearch_index, stores):
    store, _, server = opensearch_index
    neighbour, neighbour_index = stores("opensearch", server)
    for installed_store in (store, neighbour):
        install(installed_store)
    bulk(server, neighbour_index, [{"text": TEXT}])
    changes = {change.kind: change for change in uninstall(store).changes}
    assert changes["index template"].action == "removed"
    assert changes["ingest pipeline"].action == "kept"
    assert (
        changes["ingest pipeline"].detail
        == f"used by nearfold-{neighbour_index}, {neighbour_index}"
    )
    bulk(server, neighbour_index, [{"text": TEXT}])
    good("DELETE", f"{server}/_index_template/nearfold-{neighbour_index}")
    assert {change.kind: change.detail for change in uninstall(store).changes}[
        "ingest pipeline"
    ] == f"used by {neighbour_index}"
    assert actions(uninstall(neighbour))["ingest pipeline"] == "removed"
    bulk(server, neighbour_index, [{"text": TEXT}])


def test_what_other_programs_call_is_kept_and_named(opensearch_index):
    store, index, server = opensearch_index
    install(store)
    other = f"theirs-{index}"
    caller = {"processors": [{"pipeline": {"name": "nearfold-default_v3"}}]}
    template = {"index_patterns": [f"{other}*"], "composed_of": ["nearfold-default_v3"]}
    try:
        good("PUT", f"{server}/_ingest/pipeline/{other}", caller)
        good("PUT", f"{server}/_index_template/{other}", template)
        for dry_run in (True, False):
            changes = {change.name: change for change in uninstall(store, dry_run=dry_run).changes}
            assert changes["nearfold-default_v3"].action == "kept"
            assert f"{other}, {other}" in changes["nearfold-default_v3"].detail
        good("PUT", f"{server}/{other}-1/_doc/1?pipeline={other}", {"text": TEXT})
    finally:
        call("DELETE", f"{server}/{other}-1")
        call("DELETE", f"{server}/_index_template/{other}")
        call("DELETE", f"{server}/_ingest/pipeline/{other}")


def test_an_alias_for_writes_that_others_have_is_refused(opensearch_index):
    store, index, server = opensearch_index
    document, others = {"text": TEXT}, f"{index}-theirs"
    message = f"{index}-write stands for {others}"
    alias = {"actions": [{"add": {"index": others, "alias": f"{index}-write"}}]}
    try:
        good("PUT", f"{server}/{others}/_doc/1?refresh=true", document)
        good("POST", f"{server}/_aliases", alias)
        with pytest.raises(UsageError, match=message):
            store.prepare(DEFAULT)
        good("PUT", f"{server}/{index}/_doc/1?refresh=true", document)
        with pytest.raises(UsageError, match=message):
            install(store)
        assert good("GET", f"{server}/{others}/_doc/1")["_source"] == document
        assert list(good("GET", f"{server}/_alias/{index}-write")) == [others]
    finally:
        call("DELETE", f"{server}/{others}")


def test_an_alias_for_writes_that_others_take_later_stops_a_job(engine, server, stores):
    store, index = stores(engine, server)
    document, others = {"text": "of another program"}, f"{index}-theirs"
    store.prepare(DEFAULT)
    assert store.write([row("a", text=TEXT)]) == [None]
    good("PUT", f"{server}/{others}/_doc/a?refresh=true", document)
    taken = {"index": others, "alias": f"{index}-write", "is_write_index": True}
    good("POST", f"{server}/_aliases", {"actions": [{"add": taken}]})
    message = f"{index}-write stands for {others}"
    for write in (
        lambda: store.write([row("a", text=TEXT)]),
        lambda: store.delete(["a"]),
        lambda: store.labels.relabel({"a": ("seen",)}),
    ):
        with pytest.raises(StoreStopped, match=message):
            write()
    with pytest.raises(UsageError, match=message):
        store.prepare(DEFAULT)
    assert good("GET", f"{server}/{others}/_doc/a")["_source"] == document
    good("DELETE", f"{server}/{others}")
    assert store.delete(["a"]) == 1


def test_an_alias_of_the_owner_stays_when_nearfold_goes(engine, server, stores):
    store, index = stores(engine, server)
    (name,) = bulk(server, index, [{"text": TEXT}])
    good("PUT", f"{server}/{index}/_alias/{index}-write")
    install(store)
    assert store.labels.relabel({name: ("seen",)}) == 1
    reindex(store, OTHER)
    aliases = {index, f"{index}-write", f"{index}-000002-write"}
    assert set(good("GET", f"{server}/{index}/_alias")[f"{index}-000002"]["aliases"]) == aliases
    changes = {change.name: change.action for change in uninstall(store).changes}
    assert changes[f"{index}-write"] == "kept"
    assert changes[f"{index}-000002-write"] == "removed"
    aliases = {index, f"{index}-write"}
    assert set(good("GET", f"{server}/{index}/_alias")[f"{index}-000002"]["aliases"]) == aliases


def test_documents_of_any_client_are_signed(opensearch_index):
    store, index, server = opensearch_index
    install(store)
    documents = [
        {"text": TEXT, "author": "not a field of ours"},
        {"text": TEXT.upper()},
        {"text": "12"},
    ]
    ids = bulk(server, index, documents, {"index": {"_id": "mine"}}, {"text": TEXT})
    rows = store.get(ids)
    sources = [good("GET", f"{server}/{index}/_doc/{id}")["_source"] for id in ids]
    assert [signed(source) for source in sources] == expected(
        [*(document["text"] for document in documents), TEXT]
    )
    assert [rows[id].status for id in ids] == ["complete", "complete", "numbers_only", "complete"]
    assert rows["mine"].family == f"x:{shorten(rows['mine'].exact)}"
    assert rows[ids[0]].family == rows[ids[1]].family == f"x:{shorten(rows[ids[0]].exact)}"
    assert store.stored_recipe() == DEFAULT


def test_nearfold_writes_its_own_rows_past_the_pipeline(opensearch_index):
    store, index, server = opensearch_index
    install(store)
    store.prepare(DEFAULT)
    cut = dataclasses.replace(
        row("cut", recipe=DEFAULT.id), status="truncated", text=TEXT, family="another"
    )
    assert store.write([cut]) == [None]
    assert store.get(["cut"])["cut"] == cut
    bulk(server, index, [{"text": TEXT}])


@pytest.mark.parametrize("by_install", [True, False])
def test_an_index_made_once_installed_takes_fields_of_clients(opensearch_index, by_install):
    store, index, server = opensearch_index
    install(store, create=by_install)
    if not by_install:
        store.prepare(DEFAULT)
    assert store.write([row("own", recipe=DEFAULT.id)]) == [None]
    (name,) = bulk(server, index, [{"text": TEXT, "colour": "red"}])
    assert good("GET", f"{server}/{index}/_doc/{name}")["_source"]["colour"] == "red"


def test_an_index_that_refuses_fields_of_clients_is_reported(opensearch_index):
    store, index, server = opensearch_index
    store.prepare(DEFAULT)
    for _ in range(2):
        (change,) = (each for each in install(store).changes if each.kind == "index")
        assert "dynamic: strict" in change.detail
    good("PUT", f"{server}/{index}/_mapping", {"dynamic": True})
    bulk(server, index, [{"text": TEXT, "colour": "red"}])
    assert store.write([row("own", recipe=DEFAULT.id)]) == [None]


def test_an_index_of_nearfold_is_given_the_pipeline_and_let_go(opensearch_index):
    store, index, server = opensearch_index
    store.prepare(DEFAULT)
    mapping = good("GET", f"{server}/{index}/_mapping")
    assert actions(install(store))["index"] == "updated"
    assert actions(install(store))["index"] == "unchanged"
    (name,) = bulk(server, index, [{"text": TEXT}])
    assert signed(good("GET", f"{server}/{index}/_doc/{name}")["_source"]) == expected([TEXT])[0]
    assert actions(uninstall(store))["index"] == "updated"
    mapping[index]["mappings"]["_meta"]["nearfold"]["clients"] = True
    assert good("GET", f"{server}/{index}/_mapping") == mapping
    bulk(server, index, [{"text": TEXT}])


def test_an_index_of_others_keeps_its_mapping_and_is_signed_in_place(opensearch_index):
    store, index, server = opensearch_index
    own = {"text": {"type": "text", "analyzer": "english"}, "author": {"type": "keyword"}}
    good(
        "PUT",
        f"{server}/{index}",
        {"mappings": {"dynamic": "strict", "_meta": {"team": "press"}, "properties": own}},
    )
    old = bulk(
        server, index, [{"text": TEXT, "author": "a"}, {"text": f"{TEXT} Dogs travel free."}]
    )
    install(store)
    (mapping,) = (entry["mappings"] for entry in good("GET", f"{server}/{index}/_mapping").values())
    assert {
        name: field for name, field in mapping["properties"].items() if not name.startswith("near_")
    } == own
    assert (mapping["dynamic"], mapping["_meta"]["team"]) == ("strict", "press")
    backfilled = good(
        "POST", f"{server}/{index}/_update_by_query?pipeline=nearfold-default_v3&refresh=true"
    )
    assert (backfilled["updated"], backfilled["failures"]) == (2, [])
    sources = [good("GET", f"{server}/{index}/_doc/{id}")["_source"] for id in old]
    assert [signed(source) for source in sources] == expected([entry["text"] for entry in sources])
    bands = expected([TEXT])[0]["near_bands"]
    assert store.candidates([(bands, ())], 10)[0].found[0].id == old[0]


def test_an_index_of_others_loses_its_write_alias_until_nearfold_writes_again(opensearch_index):
    store, index, server = opensearch_index
    (name,) = bulk(server, index, [{"text": TEXT, "author": "a"}])
    install(store)
    good("POST", f"{server}/{index}/_update_by_query?pipeline=nearfold-default_v3&refresh=true")
    assert list(good("GET", f"{server}/{index}/_alias")[index]["aliases"]) == [f"{index}-write"]
    uninstall(store)
    assert good("GET", f"{server}/{index}/_alias") == {index: {"aliases": {}}}
    again = open_store(store.url)
    assert again.labels.relabel({name: ("kept",)}) == 1
    again.close()
    assert list(good("GET", f"{server}/{index}/_alias")[index]["aliases"]) == [f"{index}-write"]


@pytest.mark.parametrize("kind", ["200", "500", "501", "legacy"])
def test_an_index_is_created_again_by_the_template_of_its_owner(engine, server, stores, kind):
    store, index = stores(engine, server)
    settings = {"number_of_shards": 2, "analysis": {"analyzer": {"theirs": {"type": "simple"}}}}
    author = {"type": "keyword", "ignore_above": 100}
    fields = {"text": {"type": "text", "analyzer": "theirs"}, "author": author}
    template = {"settings": {"index": settings}, "mappings": {"properties": fields}}
    patterns = {"index_patterns": [f"{index[:-2]}*"]}
    body = {**patterns, "template": template, "priority": int(kind) if kind.isdigit() else 0}
    path = f"{server}/_index_template/{index}"
    if kind == "legacy":
        path, body = f"{server}/_template/{index}", {**patterns, **template}
    good("PUT", path, body)
    try:
        bulk(server, index, [{"text": TEXT, "author": "wire"}])
        planned = {change.kind: change for change in install(store, dry_run=True).changes}
        changes = {change.kind: change for change in install(store).changes}
        assert planned["index template"] == changes["index template"]
        assert changes["index template"].action == "left out"
        assert f"index template {index}" in changes["index template"].detail
        assert "composed of nearfold-default_v3" in changes["index template"].detail
        good("DELETE", f"{server}/{index}")
        bulk(server, index, [{"text": TEXT, "author": "wire"}])
        (created,) = good("GET", f"{server}/{index}").values()
        assert {name: created["mappings"]["properties"][name] for name in fields} == fields
        assert created["settings"]["index"]["number_of_shards"] == "2"
    finally:
        good("DELETE", path)


def test_the_template_of_an_owner_signs_once_it_has_the_assets(opensearch_index):
    store, index, server = opensearch_index
    install(store)
    path = f"{server}/_index_template/{index}"
    body = {"index_patterns": [f"{index[:-2]}*"], "priority": 200}
    try:
        good("PUT", path, body)
        assert actions(install(store))["index template"] == "removed"
        assert call("GET", f"{server}/_index_template/nearfold-{index}")[0] == 404
        theirs = {"settings": {"index.default_pipeline": "nearfold-default_v3"}}
        good("PUT", path, {**body, "composed_of": ["nearfold-default_v3"], "template": theirs})
        (name,) = bulk(server, index, [{"text": TEXT}])
        source = good("GET", f"{server}/{index}/_doc/{name}")["_source"]
        assert signed(source) == expected([TEXT])[0]
        assert store.labels.relabel({name: ("seen",)}) == 1
        reindex(store, OTHER)
        kept = {change.name: change.detail for change in uninstall(store).changes}
        assert kept["nearfold-other_v1"] == ""
        assert call("GET", f"{server}/_ingest/pipeline/nearfold-default_v3")[0] == 200
    finally:
        call("DELETE", path)
        uninstall(store, DEFAULT)


def test_an_index_whose_near_fields_are_others_is_refused(opensearch_index):
    store, index, server = opensearch_index
    good(
        "PUT", f"{server}/{index}", {"mappings": {"properties": {"near_family": {"type": "text"}}}}
    )
    before = installed_resources(server)
    with pytest.raises(MappingMismatch, match="near_family is text instead of keyword"):
        install(store)
    assert installed_resources(server) == before


def test_the_pipeline_of_others_is_not_replaced(opensearch_index):
    store, index, server = opensearch_index
    good("PUT", f"{server}/_ingest/pipeline/{index}", {"processors": []})
    good("PUT", f"{server}/{index}", {"settings": {"index.default_pipeline": index}})
    try:
        with pytest.raises(
            StoreError,
            match=f"pipeline {index}, which install would replace; let it call nearfold-default_v3",
        ):
            install(store)
        uninstall(store)
        assert (
            good("GET", f"{server}/{index}/_settings")[index]["settings"]["index"][
                "default_pipeline"
            ]
            == index
        )
    finally:
        good("PUT", f"{server}/{index}/_settings", {"index.default_pipeline": None})
        good("DELETE", f"{server}/_ingest/pipeline/{index}")


def test_recipes_are_not_mixed(opensearch_index):
    store, _, server = opensearch_index
    install(store, OTHER)
    before = installed_resources(server)
    with pytest.raises(RecipeMismatch, match=r"bands: 40 -> 42"):
        install(store, DEFAULT)
    assert installed_resources(server) == before
    assert uninstall(store).changes[-1].action == "removed"
    store.prepare(DEFAULT)
    with pytest.raises(RecipeMismatch, match=r"bands: 42 -> 40"):
        install(store, OTHER)


@pytest.mark.parametrize("is_indexed", [False, True])
def test_without_a_recipe_the_installed_one_is_kept(opensearch_index, is_indexed):
    store, _, server = opensearch_index
    if is_indexed:
        store.prepare(DEFAULT_V1)
    else:
        install(store, DEFAULT_V1)
    assert install(store).recipe == DEFAULT_V1
    before = installed_resources(server)
    assert set(actions(install(store)).values()) == {"unchanged"}
    assert installed_resources(server) == before
    uninstall(store)
    assert "nearfold-default_v1" not in str(installed_resources(server))


def test_what_a_newer_nearfold_installed_stays(opensearch_index):
    store, _, server = opensearch_index
    install(store)
    newer = {"version": 99, "description": "nearfold from the future", "processors": []}
    good("PUT", f"{server}/_ingest/pipeline/nearfold-default_v3", newer)
    with pytest.raises(StoreError, match="newer nearfold"):
        install(store)
    assert (
        good("GET", f"{server}/_ingest/pipeline/nearfold-default_v3")["nearfold-default_v3"]
        == newer
    )


def test_a_missing_right_is_named(engine, server, stores, auth_proxy, monkeypatch):
    proxy = auth_proxy(server)
    monkeypatch.setenv("NEARFOLD_USER", proxy.reader)
    monkeypatch.setenv("NEARFOLD_PASSWORD", proxy.password)
    store = open_store(
        f"{engine}://{proxy.url.partition('://')[2]}/nearfold-test-{secrets.token_hex(6)}"
    )
    before = installed_resources(server)
    with pytest.raises(
        StoreAccessDenied, match="PUT _component_template/nearfold-default_v3 needs a right"
    ):
        install(store)
    store.close()
    assert installed_resources(server) == before


@pytest.mark.parametrize(
    "place", ["somewhere.ndjson", "http://127.0.0.1:9"], ids=["a file", "nobody there"]
)
def test_dashboards_that_cannot_be_reached_change_nothing_in_the_cluster(
    opensearch_index, place, capsys
):
    store, _, server = opensearch_index
    before = installed_resources(server)
    if "://" in place:
        assert run(["install", "--dashboards", place, "--store", store.url]) == EXIT_STORE
        assert installed_resources(server) == before
        assert run(["install", "--dashboards", server, "--store", store.url]) == EXIT_USAGE
        assert f"{server} is a search engine, not OpenSearch Dashboards" in capsys.readouterr().err
        assert installed_resources(server) == before
    install(store)
    after = installed_resources(server)
    assert run(["uninstall", "--dashboards", place, "--store", store.url]) in (
        EXIT_USAGE,
        EXIT_STORE,
    )
    assert installed_resources(server) == after


def test_the_embedded_store_takes_no_installation():
    store = open_store("sqlite://:memory:")
    for use in (install, uninstall):
        with pytest.raises(UnsupportedOperation, match="--store opensearch://"):
            use(store)
    store.close()


def test_doctor_finds_keys_right_and_passes_over_what_was_not_signed(opensearch_index):
    store, index, server = opensearch_index
    install(store)
    bulk(server, index, [{"text": TEXT}, {"text": ["no string", 7]}, {"text": "x" * 500_001}])
    checks = {check.name: check for check in doctor(store.url)}
    assert (checks["keys"].verdict, checks["keys"].detail) == (
        "good",
        "equal to recomputed keys in 1 row",
    )


def test_recipes_that_no_pipeline_computes_are_refused(opensearch_index):
    store, _, server = opensearch_index
    before = installed_resources(server)
    with pytest.raises(UsageError, match="no ingest pipeline can compute"):
        install(store, recipe_named("simhash-doc"))
    assert installed_resources(server) == before
    store.prepare(recipe_named("simhash-doc"))
    with pytest.raises(UsageError, match=f"`nearfold reindex --recipe {DEFAULT.name}` first"):
        install(store)
    reindex(store, DEFAULT)
    assert install(store).complete


def test_the_layout_of_the_plugin_needs_it_on_every_node(stores, engine, server, monkeypatch):
    store, _ = stores(engine, server)
    versions = {"n1": "0.2.0 in 3.8.0", "n2": None}
    monkeypatch.setattr(installer, "plugin_versions", lambda _: versions)
    with pytest.raises(UsageError, match="n2 lacks it"):
        install(store, layout="plugin")
    assert "plugin" not in {change.kind for change in install(store, dry_run=True).changes}


@pytest.mark.slow
def test_a_node_without_the_plugin_refuses_its_layout(engine):
    with choosing.running(lambda: Server(ENGINES[engine])) as plain:
        store = open_store(f"{engine}://127.0.0.1:{plain.port}/papers")
        with pytest.raises(UsageError, match="n1 lacks it"):
            install(store, layout="plugin")
        assert store.maintenance.plugin_versions() == {"n1": None}
