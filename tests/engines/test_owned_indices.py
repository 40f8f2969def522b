"""Indices, pipelines and settings of other programs, before and after an installation: what is
theirs stays, also when they make an index again, and what cannot be kept is refused at once.
"""

import json
import urllib.request

import pytest
from pipelines import OTHER, bulk, call, good
from test_install import installed_resources

from indexer.cli.main import run
from indexer.documents.base import ReadOptions
from indexer.errors import StoreError, StoreStopped, UsageError
from indexer.grouping.group import group
from indexer.jobs.doctor import doctor
from indexer.jobs.index import IndexOptions
from indexer.jobs.index import index as indexing
from indexer.jobs.install import install, uninstall
from indexer.jobs.label import LabelOptions, label
from indexer.jobs.reindex import reindex
from indexer.recipe import DEFAULT
from indexer.searching.search import search
from indexer.stores.engine.asset_bodies import near_fields

pytestmark = pytest.mark.engines
FERRY = (
    "The harbour ferry leaves at eight in the morning and returns at six in the evening. "
    "Dogs travel free."
)
THEIRS = [
    {"text": FERRY, "metadata": "one word", "title": {"de": "Die Fähre"}},
    {"text": FERRY.upper(), "metadata": "another", "title": {"de": "Noch eine"}},
]


@pytest.fixture
def place(engine, server, stores):
    """A store of an index of other programs, where nothing is yet, and the URL of the index."""
    store, name = stores(engine, server)
    return store, f"{server}/{name}"


def fill(url, documents=THEIRS):
    server, _, name = url.rpartition("/")
    return bulk(server, name, documents)


def details(changes):
    return {change.kind: change.detail for change in changes}


def install_changes(store, **options):
    return {change.kind: change for change in install(store, **options).changes}


def refused(command, server, url, message):
    """Assert that a command is refused, and that it changes nothing in a cluster."""
    before = good("GET", url), installed_resources(server)
    with pytest.raises(UsageError, match=message):
        command()
    assert (good("GET", url), installed_resources(server)) == before


def test_an_index_that_its_owner_makes_again_is_as_it_was(place, server):
    store, url = place
    name = url.rpartition("/")[2]
    fill(url)
    planned = details(install(store, dry_run=True).changes)
    assert "no near_* values of others in a sample of 2 documents" in planned["index"]
    changes = install_changes(store)
    assert changes["index template"].action == "left out"
    assert planned["index"] == changes["index"].detail
    assert planned["index template"] == changes["index template"].detail
    assert f"another program made {name}" in changes["index template"].detail
    assert call("GET", f"{server}/_index_template/nearfold-{name}")[0] == 404
    assert {change.action for change in install(store).changes} == {"unchanged", "left out"}
    good("DELETE", url)
    fill(url)
    (created,) = good("GET", url).values()
    assert created["mappings"]["properties"]["title"]["properties"].keys() == {"de"}
    (check,) = (check for check in doctor(store.url) if check.name == "store")
    assert check.verdict == "bad"
    assert f"made again, `nearfold install --store {store.url}`" in check.detail
    install(store)
    assert all(check.verdict != "bad" for check in doctor(store.url))


def test_a_template_that_the_owner_adds_later_counts(place, server):
    store, url = place
    name = url.rpartition("/")[2]
    install(store)
    author = {"type": "keyword", "ignore_above": 100}
    theirs = {"settings": {"number_of_shards": 2}, "mappings": {"properties": {"author": author}}}
    body = {"index_patterns": [f"{name[:-2]}*"], "priority": 1, "template": theirs}
    path = f"{server}/_index_template/{name}"
    good("PUT", path, body)
    try:
        fill(url)
        (created,) = good("GET", url).values()
        assert created["mappings"]["properties"]["author"] == author
        assert created["settings"]["index"]["number_of_shards"] == "2"
        (check,) = (check for check in doctor(store.url) if check.name == "store")
        assert f"made again, `nearfold install --store {store.url}`" in check.detail
        path_of_own = f"{server}/_index_template/nearfold-{name}"
        (own,) = good("GET", path_of_own)["index_templates"]
        assert install_changes(store)["index template"].action == "removed"
        again = {"index_patterns": [name], "_meta": own["index_template"]["_meta"]}
        good("PUT", path_of_own, again)
        (check,) = (check for check in doctor(store.url) if check.name == "installation")
        assert f"index template {name} takes {name} too" in check.detail
        install(store)
        assert all(check.name != "installation" for check in doctor(store.url))
    finally:
        call("DELETE", path)


def test_fields_that_are_gone_are_reported(place):
    store, url = place
    fill(url)
    install(store)
    (mapping,) = (entry["mappings"] for entry in good("GET", f"{url}/_mapping").values())
    del mapping["properties"]["near_family"]
    good("DELETE", url)
    good("PUT", url, {"mappings": mapping})
    (check,) = (check for check in doctor(store.url) if check.name == "installation")
    assert check.detail.endswith(f"near_family; `nearfold install --store {store.url}`")
    install(store)
    assert all(check.name != "installation" for check in doctor(store.url))


def test_the_room_for_fields_is_said_where_it_is_little(place):
    store, url = place
    needed = 1 + len(near_fields())
    settings = {"index.mapping.total_fields.limit": needed + 2}
    mapping = {"dynamic": False, "properties": {"text": {"type": "text"}}}
    good("PUT", url, {"settings": settings, "mappings": mapping})
    room = "room for 2 more fields by its index.mapping.total_fields.limit"
    assert room in details(install(store, dry_run=True).changes)["index"]
    assert room in details(install(store).changes)["index"]
    more = {name: {"type": "keyword"} for name in ("a", "b")}
    good("PUT", f"{url}/_mapping", {"properties": more})
    third = {"properties": {"c": {"type": "keyword"}}}
    assert call("PUT", f"{url}/_mapping", third)[0] == 400


@pytest.mark.parametrize("block", ["read_only", "read_only_allow_delete", "write"])
def test_an_index_that_accepts_no_change_is_refused_first(place, server, block):
    store, url = place
    fill(url)
    good("PUT", f"{url}/_settings", {f"index.blocks.{block}": True})
    try:
        for command in (
            lambda: install(store, dry_run=True),
            lambda: install(store),
            lambda: indexing([store.url], store, IndexOptions(reading=ReadOptions())),
        ):
            refused(command, server, url, rf"has index\.blocks\.{block}, .*nothing was changed")
    finally:
        good("PUT", f"{url}/_settings", {f"index.blocks.{block}": None})
    install(store)


SCRIPT = {"script": {"lang": "painless", "source": "return doc['near_words'].value;"}}
ASSETS = {
    "_component_template/nearfold-default_v3": {"template": {"settings": {"number_of_shards": 1}}},
    "_ingest/pipeline/nearfold-default_v3": {"description": "theirs", "processors": []},
    "_ingest/pipeline/nearfold-attachment-default_v3": {"processors": []},
    "_scripts/nearfold-minhash8-v1": SCRIPT,
    "_search/pipeline/nearfold-fold-v1": {"response_processors": []},
    "_index_template/nearfold-NAME": {"index_patterns": ["nearfold-NAME-*"], "_meta": {"a": 1}},
}


@pytest.mark.parametrize("asset", ASSETS)
def test_an_asset_of_another_program_is_neither_replaced_nor_removed(engine, place, server, asset):
    if engine == "elasticsearch" and "_search" in asset:
        pytest.skip("Elasticsearch has no search pipelines")
    store, url = place
    name = url.rpartition("/")[2]
    path, body = (text.replace("NAME", name) for text in (asset, json.dumps(ASSETS[asset])))
    good("PUT", f"{server}/{path}", json.loads(body))
    try:
        before = installed_resources(server)
        for dry_run in (True, False):
            with pytest.raises(
                StoreError, match=f"{path.rpartition('/')[2]} at .* is not nearfold"
            ):
                install(store, dry_run=dry_run)
        assert installed_resources(server) == before
        uninstall(store)
        assert installed_resources(server) == before
    finally:
        good("DELETE", f"{server}/{path}")


def test_an_asset_of_another_program_stays_beside_an_installation(place, server):
    store, url = place
    fill(url)
    install(store)
    pipeline = {"description": "theirs", "processors": []}
    path = f"{server}/_ingest/pipeline/nearfold-attachment-default_v3"
    other = f"{server}/_ingest/pipeline/nearfold-other_v1"
    good("PUT", path, pipeline)
    good("PUT", other, pipeline)
    try:
        before = good("GET", url), installed_resources(server)
        with pytest.raises(StoreError, match=r"nearfold-other_v1 at .* is not nearfold"):
            reindex(store, OTHER)
        assert (good("GET", url), installed_resources(server)) == before
        changes = {change.name: change for change in uninstall(store).changes}
        assert changes["nearfold-attachment-default_v3"].detail == "it is another program's"
        kept = good("GET", path)["nearfold-attachment-default_v3"]
        assert {**kept, **pipeline} == kept
    finally:
        good("DELETE", path)
        good("DELETE", other)


ADDED = [
    ("_ingest/pipeline/nearfold-default_v3", "processors", {"lowercase": {"field": "author"}}),
    ("_search/pipeline/nearfold-fold-v1", "request_processors", {"filter_query": {}}),
]
EVERY = {"filter_query": {"query": {"match_all": {}}}}


@pytest.mark.parametrize(("path", "processors", "added"), ADDED)
def test_a_processor_that_others_added_to_a_pipeline_of_nearfolds_stays(
    engine, place, server, path, processors, added
):
    if engine == "elasticsearch" and "_search" in path:
        pytest.skip("Elasticsearch has no search pipelines")
    store, url = place
    fill(url)
    install(store)
    name, (kind,) = path.rpartition("/")[2], added
    body = good("GET", f"{server}/{path}")[name]
    body = {key: value for key, value in body.items() if not key.endswith("_date_millis")}
    processor = EVERY if kind in EVERY else added
    good("PUT", f"{server}/{path}", {**body, processors: [*body[processors], processor]})
    message = rf"{name} at .* did not put there \({kind}\).*take them out of {name}"
    before = good("GET", url), installed_resources(server)
    for refused_install in (lambda: install(store), lambda: install(store, dry_run=True)):
        with pytest.raises(StoreError, match=message):
            refused_install()
    if "_ingest" in path:
        with pytest.raises(StoreError, match=message):
            reindex(store, OTHER)
    assert (good("GET", url), installed_resources(server)) == before
    kept = next(change for change in uninstall(store).changes if change.name == name)
    assert (kept.action, kept.detail) == (
        "kept",
        f"another program added processors to it ({kind})",
    )
    good("PUT", f"{server}/{path}", body)
    install(store)


CHANGED = [
    ("_ingest/pipeline/nearfold-default_v3", "on_failure"),
    ("_ingest/pipeline/nearfold-default_v3", "script"),
    ("_search/pipeline/nearfold-fold-v1", "sample_factor"),
]


@pytest.mark.parametrize(("path", "part"), CHANGED)
def test_a_pipeline_of_nearfolds_that_others_changed_stays(engine, place, server, path, part):
    if engine == "elasticsearch" and "_search" in path:
        pytest.skip("Elasticsearch has no search pipelines")
    store, url = place
    fill(url)
    install(store)
    name = path.rpartition("/")[2]
    body = good("GET", f"{server}/{path}")[name]
    body = {key: value for key, value in body.items() if not key.endswith("_date_millis")}
    theirs = json.loads(json.dumps(body))
    if part == "script":
        theirs["processors"][0]["script"]["source"] += " ctx.author = 'ann';"
    elif part == "on_failure":
        theirs["on_failure"] = theirs["on_failure"][:1]
    else:
        theirs["request_processors"] = [{"oversample": {"sample_factor": 9}}]
    good("PUT", f"{server}/{path}", theirs)
    before = good("GET", url), installed_resources(server)
    commands = [lambda: install(store), lambda: install(store, dry_run=True)]
    if "_ingest" in path:
        commands.append(lambda: reindex(store, OTHER))
    for command in commands:
        with pytest.raises(StoreError, match=rf"{name} at .* was changed by somebody since"):
            command()
    assert (good("GET", url), installed_resources(server)) == before
    kept = next(change for change in uninstall(store).changes if change.name == name)
    assert (kept.action, kept.detail) == ("kept", "another program changed it")
    good("DELETE", f"{server}/{path}")
    install(store)


@pytest.mark.parametrize(
    ("block", "verdict"),
    [("read_only", "note"), ("read_only_allow_delete", "bad"), ("write", "note")],
)
def test_doctor_reports_an_index_that_accepts_no_change(place, block, verdict):
    store, url = place
    fill(url)
    install(store)
    name = url.rpartition("/")[2]
    good("PUT", f"{url}/_settings", {f"index.blocks.{block}": True})
    try:
        checks = {check.name: check for check in doctor(store.url)}
    finally:
        good("PUT", f"{url}/_settings", {f"index.blocks.{block}": None})
    assert checks["writes"].verdict == verdict
    assert f"{name} refuses changes (index.blocks.{block})" in checks["writes"].detail
    assert "writes" not in {check.name for check in doctor(store.url)}


CLOSED = {
    "dynamic": False,
    "properties": {"text": {"type": "text"}, "labels": {"type": "keyword"}},
}


def raw_source(url, id):
    """Return the bytes of a document as the engine stores them."""
    with urllib.request.urlopen(f"{url}/_source/{id}", timeout=60) as answer:
        return answer.read()


def test_values_of_another_program_under_nearfolds_names_are_not_replaced(
    place, server, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    store, url = place
    good("PUT", url, {"mappings": CLOSED})
    theirs = {"text": FERRY, "near_family": "Miller", "near_words": ["harbour", "quay"]}
    good("PUT", f"{url}/_doc/a?refresh=true", theirs)
    signing = IndexOptions(reading=ReadOptions())
    message = "document a of .* has near_family, near_words of another program"
    for command in (
        lambda: install(store, dry_run=True),
        lambda: install(store),
        lambda: indexing([store.url], store, signing),
    ):
        refused(command, server, url, message)
    good("DELETE", f"{url}/_doc/a?refresh=true")
    install(store)
    later = {"text": FERRY, "near_family": "Miller"}
    lines = [{"index": {"_id": "a"}}, later, {"index": {"_id": "b"}}, {"text": FERRY}]
    good("POST", f"{url}/_bulk?refresh=true&pipeline=_none", lines)
    account = indexing([store.url], store, signing)
    assert [failure.path.rpartition("/")[2] for failure in account.failed] == ["a"]
    assert "its field near_family is of another program" in account.failed[0].error
    planned, result = group(store, write=False), group(store)
    assert (planned.changed, planned.left_alone) == (2, 0)
    assert (result.changed, result.left_alone) == (1, 1)
    assert store.get(["b"])["b"].status == "complete"
    with pytest.raises(UsageError, match="document a: its field near_family"):
        label(store, ["a"], LabelOptions(add=["seen"]))
    with pytest.raises(StoreError, match=r"document a of .* index in service is as it was"):
        reindex(store, OTHER)
    assert good("GET", f"{url}/_doc/a")["_source"] == later


def test_a_number_that_an_engine_would_turn_into_a_text_is_not_rewritten(
    place, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    store, url = place
    good("PUT", url, {"mappings": CLOSED})
    documents = {
        b"a": b'{"text": "%s", "own": {"n": [1, 1e400]}}' % FERRY.encode(),
        b"b": b'{"text": "%s", "own": {"n": 1e300}}' % FERRY.encode(),
        b"c": b'{"text": 7, "n": -1e999}',
    }
    lines = [b'{"index": {"_id": "%s"}}\n%s\n' % entry for entry in documents.items()]
    good("POST", f"{url}/_bulk?refresh=true", b"".join(lines))
    account = indexing([store.url], store, IndexOptions(reading=ReadOptions()))
    errors = {failure.path.rpartition("/")[2]: failure.error for failure in account.failed}
    assert errors.keys() == {"a", "c"}
    assert "its field own.n holds a number too large for a double" in errors["a"]
    again = indexing([store.url], store, IndexOptions(reading=ReadOptions()))
    assert (again.unchanged, len(again.failed)) == (1, 2)
    capsys.readouterr()
    assert run(["group", "--store", store.url]) == 0
    assert "2 left alone: a change would harm values of another program" in " ".join(
        capsys.readouterr().out.split()
    )
    assert run(["group", "--json", "--store", store.url]) == 0
    assert json.loads(capsys.readouterr().out)["left_alone"] == 2
    with pytest.raises(UsageError, match=r"document a: its field own\.n"):
        label(store, ["a"], LabelOptions(add=["seen"]))
    with pytest.raises(StoreError, match=r"document a of .*: its field own\.n"):
        reindex(store, OTHER)
    assert raw_source(url, "a") == documents[b"a"]
    assert raw_source(url, "c") == documents[b"c"]
    assert store.get(["b"])["b"].status == "complete"


def test_signing_in_place_does_not_announce_a_new_index(place, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    store, url = place
    fill(url)
    assert run(["index", store.url, "--store", store.url]) == 0
    assert f"documents fingerprinted in place in {store.url}; " in capsys.readouterr().err


def test_group_says_that_nothing_was_signed(place, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    store, url = place
    fill(url)
    install(store)
    assert group(store, write=False).never_signed == 2
    assert run(["group", "--store", store.url]) == 0
    signing = f"nearfold index {store.url} --text-field FIELD --store {store.url}"
    output = " ".join(capsys.readouterr().out.split())
    assert f"2 never fingerprinted, each on its own; `{signing}` fingerprints them" in output
    indexing([store.url], store, IndexOptions(reading=ReadOptions()))
    result = group(store)
    assert (result.never_signed, result.families) == (0, 1)


@pytest.mark.parametrize("kind", ["_index_template", "_template"])
def test_a_template_of_others_for_an_index_of_nearfolds_own_is_refused(place, server, kind):
    store, url = place
    name = url.rpartition("/")[2]
    theirs = {
        "settings": {"index.default_pipeline": "_none"},
        "mappings": {"properties": {"author": {"type": "keyword"}}},
        "aliases": {f"{name}-all": {}},
    }
    body = theirs if kind == "_template" else {"priority": 1, "template": theirs}
    good("PUT", f"{server}/{kind}/{name}", {"index_patterns": [f"{name}*"], **body})
    added = f"alias {name}-all, field author, index.default_pipeline"
    try:
        with pytest.raises(UsageError, match=f"would add {added} to {name}"):
            store.prepare(DEFAULT)
        assert call("GET", url)[0] == 404
    finally:
        good("DELETE", f"{server}/{kind}/{name}")
    store.prepare(DEFAULT)


def pipeline_of(server, url):
    """Return the default pipeline of an index."""
    (index,) = good("GET", f"{url}/_settings").values()
    return index["settings"]["index"].get("default_pipeline")


def test_a_default_pipeline_that_calls_nearfolds_stays(place, server, stores, engine):
    store, url = place
    name = url.rpartition("/")[2]
    fill(url)
    lower = {"lowercase": {"field": "author", "ignore_missing": True}}
    outer, inner = f"{name}-outer", f"{name}-inner"
    calls = {outer: inner, inner: "nearfold-default_v3"}
    for caller, called in calls.items():
        body = {"processors": [lower, {"pipeline": {"name": called}}]}
        good("PUT", f"{server}/_ingest/pipeline/{caller}", body)
    good("PUT", f"{url}/_settings", {"index.default_pipeline": outer})
    try:
        for dry_run in (True, False):
            detail = install_changes(store, dry_run=dry_run)["index"].detail
            assert f"stays {outer}, which calls nearfold-default_v3" in detail
        assert pipeline_of(server, url) == outer
        (id,) = bulk(server, name, [{"text": FERRY, "author": "WIRE"}])
        source = good("GET", f"{url}/_doc/{id}")["_source"]
        assert (source["author"], source["near_status"]) == ("wire", "complete")
        refused(lambda: reindex(store, OTHER), server, url, f"{outer} of {name} calls nearfold-")
        kept = {change.name: change.detail for change in uninstall(store).changes}
        assert kept["nearfold-default_v3"] == f"used by {inner}"
        assert pipeline_of(server, url) == outer
    finally:
        good("PUT", f"{url}/_settings", {"index.default_pipeline": None})
        for caller in calls:
            good("DELETE", f"{server}/_ingest/pipeline/{caller}")


def test_an_owner_who_wants_no_pipeline_has_none(place, server):
    store, url = place
    fill(url)
    good("PUT", f"{url}/_settings", {"index.default_pipeline": "_none"})
    planned = install_changes(store, dry_run=True)["index"].detail
    changes = install_changes(store)
    assert planned == changes["index"].detail
    assert "index.default_pipeline stays _none: only requests that name nearfold-" in planned
    assert pipeline_of(server, url) == "_none"
    good("POST", f"{url}/_update_by_query?pipeline=nearfold-default_v3&refresh=true")
    assert store.counts().by_status == {"complete": 2}
    uninstall(store)
    assert pipeline_of(server, url) == "_none"


def test_an_index_whose_settings_nobody_may_read_stops_no_removal(place, server, stores, engine):
    store, url = place
    fill(url)
    install(store)
    others = [stores(engine, server)[1] for _ in range(2)]
    for other in others:
        good("PUT", f"{server}/{other}", {"settings": {"index.blocks.metadata": True}})
    try:
        for dry_run in (True, False):
            changes = {change.name: change for change in uninstall(store, dry_run=dry_run).changes}
            assert changes["nearfold-default_v3"].action == "kept"
            for other in others:
                assert f"{other} (nobody may read" in changes["nearfold-default_v3"].detail
        assert pipeline_of(server, url) is None
    finally:
        for other in others:
            good("PUT", f"{server}/{other}/_settings", {"index.blocks.metadata": None})
    assert {change.action for change in uninstall(store).changes} == {"removed"}


USES = ["hidden", "final", "own final", "component", "legacy"]
FOLDS = ["folds", "folds component", "folds legacy"]  # engines with search pipelines alone


def use_of(use, url, other):
    """Return the paths and bodies by which an owner uses an asset of nearfold's."""
    signing = "nearfold-default_v3"
    final = {"settings": {"index.final_pipeline": signing}}
    default = {"settings": {"index": {"default_pipeline": signing}}}
    folds = {"settings": {"index.search.default_pipeline": "nearfold-fold-v1"}}
    patterns = {"index_patterns": [f"{other}*"]}
    return {
        "hidden": (f".{other}", {"settings": {**default["settings"], "index.hidden": True}}),
        "final": (other, final),
        "own final": (f"{url}/_settings", final["settings"]),
        "component": (f"_component_template/{other}", {"template": default}),
        "legacy": (f"_template/{other}", {**patterns, **final}),
        "folds": (f"_index_template/{other}", {**patterns, "template": folds}),
        "folds component": (f"_component_template/{other}", {"template": folds}),
        "folds legacy": (f"_template/{other}", {**patterns, **folds}),
    }[use]


@pytest.mark.parametrize("use", [*USES, *FOLDS])
def test_an_asset_that_an_owner_uses_anywhere_is_kept(place, server, engine, use):
    if engine == "elasticsearch" and use in FOLDS:
        return  # it has no search pipelines
    store, url = place
    name = url.rpartition("/")[2]
    fill(url)
    install(store)
    path, body = use_of(use, name, f"theirs-{name}")
    good("PUT", f"{server}/{path}", body)
    asset = "nearfold-fold-v1" if use in FOLDS else "nearfold-default_v3"
    user = name if use == "own final" else path.rpartition("/")[2]
    try:
        for dry_run in (True, False):
            changes = {change.name: change for change in uninstall(store, dry_run=dry_run).changes}
            assert changes[asset].action == "kept"
            assert f"used by {user}" in changes[asset].detail
    finally:
        if use == "own final":
            good("PUT", f"{server}/{path}", {"index.final_pipeline": None})
        else:
            good("DELETE", f"{server}/{path}")
    assert {change.action for change in uninstall(store).changes} == {"removed"}


@pytest.mark.parametrize("limit", [{"routing": "1"}, {"filter": {"term": {"text": "ferry"}}}])
def test_an_alias_for_writes_with_routing_or_a_filter_is_refused(place, server, limit):
    store, url = place
    name = url.rpartition("/")[2]
    alias = f"{url}/_alias/{name}-write"
    fill(url)
    good("PUT", alias, limit)
    message = f"{name}-write has .*, and nearfold writes to every document of {name} .*remove or"
    for command in (
        lambda: install(store),
        lambda: indexing([store.url], store, IndexOptions(reading=ReadOptions())),
    ):
        refused(command, server, url, message)
    good("DELETE", alias)
    (id, *_) = fill(url)
    install(store)
    good("DELETE", alias)
    good("PUT", alias, limit)
    with pytest.raises(StoreStopped, match=message):
        store.labels.relabel({id: ("seen",)})


@pytest.mark.parametrize("pipeline", ["_none", "own"])
def test_uninstall_removes_its_alias_where_the_owner_keeps_a_pipeline(place, server, pipeline):
    store, url = place
    name = url.rpartition("/")[2]
    fill(url)
    install(store)
    caller = {"processors": [{"pipeline": {"name": "nearfold-default_v3"}}]}
    path = f"{server}/_ingest/pipeline/{name}"
    good("PUT", path, caller)
    kept = name if pipeline == "own" else pipeline
    good("PUT", f"{url}/_settings", {"index.default_pipeline": kept})
    try:
        for dry_run in (True, False):
            changes = {change.name: change for change in uninstall(store, dry_run=dry_run).changes}
            assert changes[f"{name}-write"].action == "removed"
        assert not good("GET", f"{url}/_alias")[name]["aliases"]
        assert pipeline_of(server, url) == kept
    finally:
        good("PUT", f"{url}/_settings", {"index.default_pipeline": None})
        good("DELETE", path)


def test_texts_that_a_final_pipeline_changes_are_found_and_signed_by_group(place, server):
    """It runs after the one that signs, as the owner wants, so that the keys are of other words."""
    store, url = place
    name = url.rpartition("/")[2]
    fill(url, [{"text": "A pilot boat brings pilots to large ships."}])
    install(store)
    replacing = {"gsub": {"field": "text", "pattern": "Dogs", "replacement": "Cats and parrots"}}
    good("PUT", f"{server}/_ingest/pipeline/{name}", {"processors": [replacing]})
    good("PUT", f"{url}/_settings", {"index.final_pipeline": name})
    try:
        fill(url, [{"text": FERRY}])
        keys = {check.name: check for check in doctor(store.url)}["keys"]
        assert keys.verdict == "bad"
        assert "Cats and parrots" in found(store, "ferry")
        group(store)
        keys = {check.name: check for check in doctor(store.url)}["keys"]
        assert keys.verdict == "good"
        assert "Cats and parrots" in found(store, "ferry")
    finally:
        good("PUT", f"{url}/_settings", {"index.final_pipeline": None})
        good("DELETE", f"{server}/_ingest/pipeline/{name}")


def found(store, words):
    """Return the text of the only hit."""
    [hit] = search(store, words).hits
    return store.get([hit.id])[hit.id].text
