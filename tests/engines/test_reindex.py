"""Another recipe for an index in service, on real engines: searches all along, changes followed,
kill -9, and a second run.
"""

import dataclasses
import itertools
import os
import re
import secrets
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from pipelines import call, expected, good, signed
from servers.proxy import Gate

from indexer.cli.exit_codes import EXIT_USAGE
from indexer.cli.main import run
from indexer.errors import (
    DocumentNotFound,
    MappingMismatch,
    ReindexInProgress,
    SnapshotExpired,
    StoreAccessDenied,
    StoreError,
    StoreNotReady,
    StoreStopped,
    UsageError,
)
from indexer.fingerprinting.fingerprint import fingerprint_rows
from indexer.grouping.group import group
from indexer.jobs.doctor import doctor
from indexer.jobs.install import install, uninstall
from indexer.jobs.reindex import plan_reindex, reindex
from indexer.jobs.repair import repair
from indexer.model import Query
from indexer.recipe import DEFAULT, DEFAULT_V2, recipe_named
from indexer.searching.search import SearchOptions, search
from indexer.searching.similar import SimilarOptions, similar
from indexer.stores import open_store
from indexer.stores.engine import reindex as copies
from indexer.stores.engine.requests import Response

pytestmark = pytest.mark.engines
OTHER = dataclasses.replace(DEFAULT, name="other_v1", bands=40, rows=3)
TEMPLATE = ("index_patterns", "composed_of", "priority", "template", "_meta")
COUNT = {"append": {"field": "passed", "value": ["once"]}}
UNBLOCKED = {"settings": {"index.blocks.write": None}}
ROOT = Path(__file__).parent.parent.parent
QUERY_TEXT = (
    "Ferries leave the harbour at eight in the morning and at six in the evening; "
    "dogs travel free on all of them."
)


@pytest.fixture
def engine_index(engine, server, tmp_path, monkeypatch):
    """Yield a store, its index and the server; the index is removed afterwards."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    index = f"nearfold-test-{secrets.token_hex(6)}"
    store = open_store(f"{engine}://{server.partition('://')[2]}/{index}")
    yield store, index, server
    for recipe in (DEFAULT, OTHER):
        uninstall(store, recipe)
    store.close()
    for name in call("GET", f"{server}/{index}*")[1]:
        call("DELETE", f"{server}/{name}")


def fill(store, server, index, numbers):
    """Add documents of another program, with a field of its own, and sign them."""
    store.prepare(DEFAULT)
    rows = store.get([])
    assert rows == {}
    signed_rows = [fingerprint_rows([row], DEFAULT)[0] for row in map(a_row, numbers)]
    assert store.write(signed_rows) == [None] * len(signed_rows)
    store.refresh()


def a_row(number):
    from sample_rows import row

    return row(
        f"d{number}",
        text=f"{QUERY_TEXT} Notice {number}.",
        path=f"/n/{number}",
        labels=("a", "b"),
        metadata={"n": str(number)},
    )


def the_index(server, name):
    ((index, body),) = good("GET", f"{server}/{name}").items()
    return index, body


def test_every_row_is_signed_anew_and_everything_else_stays(engine_index):
    store, index, server = engine_index
    fill(store, server, index, range(30))
    before = {row.id: row for row in store.scan()}
    done = reindex(store, OTHER)
    assert (done.index, done.copied, done.kept) == (f"{index}-000002", 30, None)
    assert store.stored_recipe() == OTHER
    after = {row.id: row for row in store.scan()}
    assert after == {id: fingerprint_rows([row], OTHER)[0] for id, row in before.items()}
    assert {check.verdict for check in doctor(store.url) if check.name in ("store", "keys")} == {
        "good"
    }
    name, body = the_index(server, index)
    assert name == f"{index}-000002"
    assert set(body["aliases"]) == {index, f"{name}-write"}
    assert set(body["mappings"]["_meta"]["nearfold"]) == {
        "format",
        "analysis",
        "attachments",
        "recipe",
        "recipe_id",
    }
    assert len(similar(store, QUERY_TEXT, SimilarOptions(threshold=0.5, limit=50)).matches) == 30
    assert store.write(fingerprint_rows([a_row(99)], OTHER)) == [None]

    again = reindex(store, OTHER)
    assert (again.copied, again.index) == (0, name)
    back = reindex(store, DEFAULT, keep=True)
    assert (back.index, back.kept, back.copied) == (f"{index}-000003", name, 31)
    assert good("GET", f"{server}/{name}/_count")["count"] == 31
    assert call("PUT", f"{server}/{name}/_doc/x", {"text": "x"})[0] == 403


def test_a_search_does_not_go_on_in_the_index_that_has_replaced_its_own(engine_index, open_at):
    store, index, server = engine_index
    fill(store, server, index, range(150))
    hits = iter(open_at(store.url).search(Query("ferries")).hits)
    next(hits)
    assert reindex(store, OTHER).copied == 150
    with pytest.raises(SnapshotExpired):
        list(hits)
    assert search(store, "ferries", SearchOptions(fold="none")).total == 150


def test_the_first_version_is_kept_under_its_number(engine_index):
    store, index, server = engine_index
    fill(store, server, index, range(3))
    assert reindex(store, OTHER, keep=True).kept == f"{index}-000001"
    assert good("GET", f"{server}/{index}-000001/_count")["count"] == 3
    assert the_index(server, index)[0] == f"{index}-000002"


@pytest.mark.one_engine
def test_searches_go_on_all_along_and_find_what_they_found(engine_index):
    store, index, server = engine_index
    fill(store, server, index, range(600))
    reader, wrong, count, stop = open_store(store.url), [], [0], threading.Event()

    def ask():
        while not stop.is_set():
            try:
                page = search(reader, "ferries", SearchOptions(fold="none"))
                answer = similar(reader, QUERY_TEXT, SimilarOptions(threshold=0.5))
                rows = sum(1 for _ in reader.scan())
                if (page.total, len(answer.matches), rows) != (600, 20, 600):
                    wrong.append((page.total, len(answer.matches), rows))
            except Exception as error:
                wrong.append(error)
            count[0] += 1

    thread = threading.Thread(target=ask)
    thread.start()
    for recipe in (OTHER, DEFAULT) * 20:
        reindex(store, recipe)
        if count[0] > 5:
            break
    stop.set()
    thread.join()
    reader.close()
    assert wrong == []
    assert count[0] > 5


def before_request(store, number, step):
    """Call a function before one of the next requests of a store, counted from 0."""
    send, sent = store.index.link.request, itertools.count()

    def request(*arguments):
        if next(sent) == number:
            step()
        return send(*arguments)

    store.index.link.request = request


def found(result):
    """Return the matches of a look-up, without what their keys and sketches say."""
    return [(match.id, match.similarity) for match in result.matches]


@pytest.mark.parametrize("between", range(4))
@pytest.mark.parametrize(
    "other",
    [OTHER, pytest.param(recipe_named("default_v1"), marks=pytest.mark.slow)],
    ids=["keys", "slots"],
)
def test_a_look_up_finds_all_whenever_another_index_takes_the_name(
    engine_index, open_at, monkeypatch, other, between
):
    store, index, server = engine_index
    monkeypatch.setattr(copies, "_DRAIN_CHECKS", 0)
    fill(store, server, index, range(30))
    options = SimilarOptions(threshold=0.5, limit=50)
    reader = open_at(store.url)
    expected = found(similar(reader, QUERY_TEXT, options))
    assert len(expected) == 30
    before_request(reader, between, lambda: reindex(store, other))
    assert found(similar(reader, QUERY_TEXT, options)) == expected


@pytest.mark.parametrize("between", range(4))
def test_a_look_up_finds_all_if_its_recipe_comes_back_meanwhile(
    engine_index, open_at, monkeypatch, between
):
    store, index, server = engine_index
    monkeypatch.setattr(copies, "_DRAIN_CHECKS", 0)
    fill(store, server, index, range(30))
    options = SimilarOptions(threshold=0.5, limit=50)
    reader = open_at(store.url)
    assert len(similar(reader, QUERY_TEXT, options).matches) == 30
    reindex(store, OTHER)
    before_request(reader, between, lambda: reindex(store, DEFAULT))
    assert len(similar(reader, QUERY_TEXT, options).matches) == 30


def test_a_look_up_is_not_empty_because_it_cannot_be_checked(engine_index, open_at, monkeypatch):
    store, index, server = engine_index
    monkeypatch.setattr(copies, "_DRAIN_CHECKS", 0)
    fill(store, server, index, range(30))
    reader = open_at(store.url)
    assert len(similar(reader, QUERY_TEXT, SimilarOptions(threshold=0.5, limit=50)).matches) == 30
    reindex(store, OTHER)
    send = reader.index.link.request

    def fail_checks(method, *arguments):
        if method == "GET":
            return Response(503, None)
        return send(method, *arguments)

    monkeypatch.setattr(reader.index.link, "request", fail_checks)
    with pytest.raises(StoreNotReady):
        similar(reader, QUERY_TEXT, SimilarOptions(threshold=0.5))


@pytest.mark.parametrize("is_alias", [True, False])
def test_searches_of_other_clients_fail_only_while_a_name_becomes_an_alias(engine_index, is_alias):
    store, index, server = engine_index
    if is_alias:
        first = open_store(f"{store.url}-000001")
        first.prepare(DEFAULT)
        first.close()
        good("PUT", f"{server}/{index}-000001/_alias/{index}")
    fill(store, server, index, range(50))
    answers, stop = [], threading.Event()

    def ask():
        while not stop.is_set():
            status, answer = call("POST", f"{server}/{index}/_search", {"size": 0})
            shards = answer.get("_shards", {"failed": 0})
            answers.append((status, shards["failed"]))

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert reindex(store, OTHER).copied == 50
    stop.set()
    for thread in threads:
        thread.join()
    failures = [answer for answer in answers if answer != (200, 0)]
    assert answers.count((200, 0)) > 20
    assert failures == [] if is_alias else {status for status, _ in failures} <= {200, 404, 503}


def test_what_others_change_meanwhile_is_followed(engine_index):
    store, index, server = engine_index
    fill(store, server, index, range(40))
    seen = []

    def meddle(copied):
        if not seen:
            other_store = open_store(store.url)
            assert other_store.write(
                fingerprint_rows(
                    [dataclasses.replace(a_row(3), title="changed"), a_row(100)], DEFAULT
                )
            ) == [None, None]
            assert other_store.delete(["d5", "d6"]) == 2
            other_store.close()
        seen.append(copied)

    reindex(store, OTHER, on_progress=meddle)
    rows = {row.id: row for row in store.scan()}
    assert set(rows) == {f"d{number}" for number in [*range(40), 100]} - {"d5", "d6"}
    assert rows["d3"].title == "changed"
    assert {row.recipe for row in rows.values()} == {OTHER.id}


def test_a_writer_of_the_old_recipe_stops_and_goes_on_with_the_new_one(engine_index):
    store, index, server = engine_index
    fill(store, server, index, range(3))
    late = open_store(store.url)
    assert late.write(fingerprint_rows([a_row(50)], DEFAULT)) == [None]
    reindex(store, OTHER)
    with pytest.raises(StoreStopped, match="run the same command again"):
        late.write(fingerprint_rows([a_row(51)], DEFAULT))
    assert late.stored_recipe() == OTHER
    assert "the store holds" in late.write(fingerprint_rows([a_row(51)], DEFAULT))[0]
    assert late.write(fingerprint_rows([a_row(51)], OTHER)) == [None]
    late.close()


PROGRAM = """
import sys, time
from indexer.recipe import DEFAULT, recipe_named
from indexer.jobs.reindex import reindex
from indexer.stores import open_store
from indexer.stores.engine import operation_feed
from indexer.stores.engine import reindex as copies
import dataclasses
operation_feed.PAGE = copies.PAGE = 10
copies.PAGES_A_CHECKPOINT = 1
def on_progress(copied):
    print(copied, flush=True)
    time.sleep(0.05)
recipe = dataclasses.replace(DEFAULT, name="other_v1", bands=40, rows=3)
reindex(open_store(sys.argv[1]), recipe, on_progress=on_progress)
"""


def test_kill_9_leaves_the_old_in_service_and_a_second_run_goes_on(engine_index):
    store, index, server = engine_index
    fill(store, server, index, range(400))
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, store.url],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
    ) as running:
        for line in running.stdout:
            if int(line) >= 100:
                running.send_signal(signal.SIGKILL)
                break
    assert the_index(server, index)[0] == index
    assert store.stored_recipe() == DEFAULT
    assert len(similar(store, QUERY_TEXT, SimilarOptions(threshold=0.5)).matches) == 20
    third = dataclasses.replace(DEFAULT, name="third_v1", bands=10, rows=12)
    with pytest.raises(ReindexInProgress, match="--recipe other_v1"):
        reindex(store, third)
    done = reindex(store, OTHER)
    assert 0 < done.copied <= 320  # 100 documents at least were not signed again
    assert {row.recipe for row in store.scan()} == {OTHER.id}
    assert store.counts().documents == 400


def test_a_version_that_is_not_filled_is_not_taken_for_the_index_in_service(engine_index):
    store, index, server = engine_index
    fill(store, server, index, range(3))

    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reindex(store, OTHER, on_progress=stop)
    with closing(open_store(f"{store.url}-000002")) as version:
        for step in (reindex, plan_reindex):
            with pytest.raises(UsageError, match=f"run the reindex of {index} again"):
                step(version, OTHER)
    assert good("GET", f"{server}/{index}/_count")["count"] == 3
    assert reindex(store, OTHER).index == f"{index}-000002"
    assert good("GET", f"{server}/{index}/_count")["count"] == 3


def test_only_the_newest_version_stays(engine_index):
    store, index, server = engine_index
    fill(store, server, index, range(3))
    for version, recipe in ((2, OTHER), (3, DEFAULT), (4, OTHER)):
        reindex(store, recipe)
        assert list(good("GET", f"{server}/{index}*")) == [f"{index}-00000{version}"]
    kept = f"{index}-000004"
    reindex(store, DEFAULT, keep=True)
    assert set(good("GET", f"{server}/{index}*")) == {kept, f"{index}-000005"}


@pytest.mark.parametrize("other", ["-of-others", "-000001"])
def test_an_index_that_still_has_a_name_is_not_removed_as_the_old_version(engine_index, other):
    store, index, server = engine_index
    fill(store, server, index, range(3))
    reindex(store, OTHER)
    named = {"mappings": {}, "aliases": {f"{index}-in-use": {}}}
    good("PUT", f"{server}/{index}{other}", named)
    mapping = good("GET", f"{server}/{index}-000002/_mapping")[f"{index}-000002"]["mappings"]
    mapping["_meta"]["nearfold"]["reindexing"] = {"from": f"{index}{other}", "done": {}}
    good("PUT", f"{server}/{index}-000002/_mapping", {"_meta": mapping["_meta"]})
    reindex(store, OTHER)
    assert call("GET", f"{server}/{index}{other}")[0] == 200


def test_an_index_of_others_is_not_taken_for_the_old_version(engine_index):
    store, index, server = engine_index
    fill(store, server, index, range(3))
    good("PUT", f"{server}/{index}-000001/_doc/1", {"text": "of another program"})
    with pytest.raises(UsageError, match=f"keeps the old version as {index}-000001"):
        reindex(store, OTHER, keep=True)
    assert good("GET", f"{server}/{index}/_count")["count"] == 3
    assert call("GET", f"{server}/{index}-000002")[0] == 404


def test_a_template_that_does_not_sign_gets_the_next_recipe(engine_index):
    store, index, server = engine_index
    install(store)
    template = f"{server}/_index_template/nearfold-{index}"
    ((entry),) = good("GET", template)["index_templates"]
    body = {name: entry["index_template"][name] for name in TEMPLATE}
    del body["template"]["settings"]["index"]["default_pipeline"]
    good("PUT", template, body)
    from sample_rows import row

    store.prepare(DEFAULT)
    store.write([row("1")])
    kinds = [change.kind for change in plan_reindex(store, OTHER)]
    assert reindex(store, OTHER).copied == 1
    ((entry),) = good("GET", template)["index_templates"]
    assert entry["index_template"]["composed_of"] == ["nearfold-other_v1"]
    assert kinds.count("component template") >= 1


def test_an_installed_index_keeps_signing_and_foreign_fields(engine_index):
    store, index, server = engine_index
    assert install(store).complete
    lines = [
        line
        for number in range(5)
        for line in ({"index": {}}, {"text": f"{QUERY_TEXT} {number}", "author": "wire"})
    ]
    lines += [{"index": {}}, {"text": 7}, {"index": {}}, {"text": ["two", "strings"]}]
    ids = [
        item["index"]["_id"]
        for item in good("POST", f"{server}/{index}/_bulk?refresh=true", lines)["items"]
    ]
    reindex(store, OTHER)
    sources = [good("GET", f"{server}/{index}/_doc/{id}")["_source"] for id in ids]
    assert [source.get("author") for source in sources] == ["wire"] * 5 + [None] * 2
    assert [signed(source) for source in sources[:5]] == expected(
        [source["text"] for source in sources[:5]], OTHER
    )
    assert (sources[5]["near_status"], sources[5]["text"]) == ("unsigned", 7)
    assert (sources[6]["near_status"], sources[6]["text"]) == ("too_short", ["two", "strings"])
    assert sources[5]["near_error"]
    good(
        "POST",
        f"{server}/{index}/_bulk?refresh=true",
        [{"index": {"_id": "late"}}, {"text": QUERY_TEXT, "author": "web"}],
    )
    late = good("GET", f"{server}/{index}/_doc/late")["_source"]
    assert signed(late) == expected([QUERY_TEXT], OTHER)[0]
    assets = good("GET", f"{server}/_ingest/pipeline")
    assert "nearfold-other_v1" in assets
    changes = {change.kind: change.action for change in uninstall(store, OTHER).changes}
    assert changes["ingest pipeline"] == changes["index template"] == "removed"


def assets_of(server, index):
    """Return the versions of an index, its templates and the assets of both recipes; other tests
    install more at the same time.
    """
    named = ("default_v3", "other_v1", index)
    templates = [
        template
        for kind in ("index", "component")
        for template in good("GET", f"{server}/_{kind}_template")[f"{kind}_templates"]
        if template["name"].endswith(named)
    ]
    pipelines = good("GET", f"{server}/_ingest/pipeline")
    ours = {name: body for name, body in pipelines.items() if name.endswith(named)}
    return [good("GET", f"{server}/{index}*"), templates, ours]


def test_a_dry_run_names_everything_and_changes_nothing(owned_index, capsys):
    store, index, server = owned_index
    good("PUT", f"{server}/{index}/_doc/a?refresh=true", {"text": QUERY_TEXT})
    good("PUT", f"{server}/{index}/_alias/{index}-theirs")
    before = assets_of(server, index)
    changes = [change for change in plan_reindex(store, OTHER) if "attachment" not in change.name]
    assert {(change.kind, change.name): change.action for change in changes} == {
        ("component template", "nearfold-other_v1"): "created",
        ("ingest pipeline", "nearfold-other_v1"): "created",
        ("index", f"{index}-000002"): "created",
        ("alias", f"{index}-000002-write"): "created",
        ("alias", index): "updated",
        ("alias", f"{index}-theirs"): "updated",
        ("index", index): "removed",
        ("ingest pipeline", "nearfold-default_v3"): "removed",
        ("component template", "nearfold-default_v3"): "removed",
    }
    kept = [change for change in plan_reindex(store, OTHER, keep=True) if change.action == "kept"]
    assert [(change.name, change.detail) for change in kept] == [
        (index, f"as {index}-000001, write-blocked")
    ]
    assert assets_of(server, index) == before
    command = ["reindex", "--recipe", "simhash-doc", "--dry-run", "--store", store.url]
    assert run(command) == EXIT_USAGE
    capsys.readouterr()
    uninstall(store)
    assert run(command) == 0
    assert f"would be removed  index {index}" in capsys.readouterr().out


@pytest.fixture
def owned_index(engine_index):
    """Yield a store, the index of another program that it signs, and the server."""
    store, index, server = engine_index
    good("PUT", f"{server}/{index}", {"mappings": {"properties": {"text": {"type": "text"}}}})
    assert install(store).complete
    return store, index, server


def test_a_pipeline_keeps_its_recipe_until_reindex(engine_index):
    store, index, server = engine_index
    good("PUT", f"{server}/{index}", {"mappings": {"properties": {"text": {"type": "text"}}}})
    assert install(store, DEFAULT_V2).recipe == install(store).recipe == DEFAULT_V2
    good("PUT", f"{server}/{index}/_doc/a?refresh=true", {"text": QUERY_TEXT})
    assert "near_simhash" not in good("GET", f"{server}/{index}/_doc/a")["_source"]
    assert reindex(store, DEFAULT).copied == 1
    good("PUT", f"{server}/{index}/_doc/b?refresh=true", {"text": QUERY_TEXT})
    a, b = (good("GET", f"{server}/{index}/_doc/{id}")["_source"] for id in "ab")
    assert (a["near_simhash"], a["near_blocks"]) == (b["near_simhash"], b["near_blocks"])
    assert a["near_bands"] == b["near_bands"] and a["near_recipe"] == DEFAULT.id


def test_a_block_of_the_owner_is_not_lifted(owned_index):
    store, index, server = owned_index
    good("PUT", f"{server}/{index}/_doc/a?refresh=true", {"text": QUERY_TEXT})
    good("PUT", f"{server}/{index}/_settings", {"index.blocks.write": True})
    before = good("GET", f"{server}/_ingest/pipeline")
    with pytest.raises(UsageError, match=f"{index} has index.blocks.write"):
        reindex(store, OTHER)
    assert call("GET", f"{server}/{index}-000002")[0] == 404
    assert good("GET", f"{server}/_ingest/pipeline") == before
    good("PUT", f"{server}/{index}/_settings", {"index.blocks.write": None})
    assert reindex(store, OTHER).copied == 1


class WithoutAliases(Gate):
    """A gate where nobody may change aliases while `is_shut`."""

    is_shut = True

    def refusal(self, request):
        if self.is_shut and request.method == "POST" and request.path.startswith("/_aliases"):
            return 403, "no permissions for [indices:admin/aliases]"
        return None


def test_an_index_accepts_writes_again_where_the_switch_is_refused(
    owned_index, gates, open_at, monkeypatch
):
    store, index, server = owned_index
    monkeypatch.setattr(copies, "_DRAIN_CHECKS", 0)
    good("PUT", f"{server}/{index}/_doc/a?refresh=true", {"text": QUERY_TEXT})
    gate = gates(WithoutAliases, server)
    behind = open_at(store.url.replace(server.partition("://")[2], gate.url.partition("://")[2]))
    with pytest.raises(StoreAccessDenied, match="POST _aliases needs a right"):
        reindex(behind, OTHER)
    good("PUT", f"{server}/{index}/_doc/b?refresh=true", {"text": f"{QUERY_TEXT} More."})
    gate.is_shut = False
    reindex(behind, OTHER)
    assert {row.id for row in store.scan()} == {"a", "b"}
    assert store.stored_recipe().name == OTHER.name


def test_an_index_that_a_client_puts_in_the_place_of_the_old_one_accepts_writes(
    owned_index,
):
    store, index, server = owned_index
    good("PUT", f"{server}/{index}/_doc/a?refresh=true", {"text": QUERY_TEXT})

    def switch(_):
        good("PUT", f"{server}/{index}-other/_doc/b?refresh=true", {"text": QUERY_TEXT})
        alias = {"add": {"index": f"{index}-other", "alias": index}}
        removed = {"remove_index": {"index": index}}
        good("POST", f"{server}/_aliases", {"actions": [removed, alias]})

    with pytest.raises(StoreStopped, match=f"another client made {index} an alias of .*-other"):
        reindex(store, OTHER, on_progress=switch)
    good("PUT", f"{server}/{index}/_doc/c?refresh=true", {"text": QUERY_TEXT})
    assert good("GET", f"{server}/{index}/_count")["count"] == 2


def test_an_alias_with_a_filter_shows_nothing_of_the_rest(owned_index):
    """An engine's look-up by id goes past the filter."""
    store, index, server = owned_index
    for team in "ab":
        document = {"text": f"{QUERY_TEXT} {team}", "team": team}
        good("PUT", f"{server}/{index}/_doc/{team}?refresh=true", document)
    group(store)
    good("PUT", f"{server}/{index}/_alias/{index}-part", {"filter": {"match": {"team": "b"}}})
    with closing(open_store(f"{store.url}-part")) as part:
        assert part.get(["a", "b"]).keys() == {"b"}
        with pytest.raises(DocumentNotFound):
            similar(part, id="a")
        assert similar(part, id="b").matches == ()
        (hit,) = search(part, "harbour", SearchOptions(fold="family")).hits
        assert (hit.id, hit.folded, part.counts().documents) == ("b", (), 1)


def test_through_an_alias_no_document_and_no_name_of_the_owner_goes(owned_index):
    store, index, server = owned_index
    lines = [{"text": f"{QUERY_TEXT} {team}", "team": team} for team in "ab"]
    for line in lines:
        good("PUT", f"{server}/{index}/_doc/{line['team']}?refresh=true", line)
    group(store)
    families = {row.id: row.family for row in store.scan()}
    filtered = {"filter": {"match": {"team": "b"}}}
    for alias, body in (("part", filtered), ("routed", {"routing": "x"}), ("whole", {})):
        good("PUT", f"{server}/{index}/_alias/{index}-{alias}", body)
    for alias in ("part", "routed"):
        with closing(open_store(f"{store.url}-{alias}")) as other:
            for change in (group, repair, lambda of: reindex(of, OTHER)):
                with pytest.raises(UsageError, match=f"shows a part of {index} "):
                    change(other)
    with closing(open_store(f"{store.url}-whole")) as other:
        with pytest.raises(UsageError, match=f"is an alias of {index}, .* name would be gone"):
            reindex(other, OTHER)
        assert search(other, "harbour").total == 2
    assert {row.id: row.family for row in store.scan()} == families
    assert good("GET", f"{server}/{index}/_count")["count"] == 2


def test_a_final_pipeline_runs_once_on_each_document(owned_index):
    store, index, server = owned_index
    good("PUT", f"{server}/_ingest/pipeline/{index}", {"processors": [COUNT]})
    try:
        good("PUT", f"{server}/{index}/_settings", {"index.final_pipeline": index})
        good("PUT", f"{server}/{index}/_doc/a?refresh=true", {"text": QUERY_TEXT})
        reindex(store, OTHER)
        good("PUT", f"{server}/{index}/_doc/b?refresh=true", {"text": QUERY_TEXT})
        for id in "ab":
            assert good("GET", f"{server}/{index}/_doc/{id}")["_source"]["passed"] == ["once"]
        settings = the_index(server, index)[1]["settings"]["index"]
        assert settings["final_pipeline"] == index
    finally:
        call("DELETE", f"{server}/{index}-000002")
        call("DELETE", f"{server}/_ingest/pipeline/{index}")


def test_documents_keep_the_versions_that_their_owner_gave_them(owned_index):
    store, index, server = owned_index
    good("PUT", f"{server}/{index}/_settings", {"index.gc_deletes": "0s"})
    external = "version_type=external&refresh=true"
    for id in ("kept", "again"):
        path = f"{server}/{index}/_doc/{id}?version=1700&{external}"
        good("PUT", path, {"text": QUERY_TEXT})

    def create_again(copied):
        if call("GET", f"{server}/{index}/_doc/again")[1].get("_version") == 1700:
            good("DELETE", f"{server}/{index}/_doc/again?refresh=true")
            good("POST", f"{server}/{index}/_forcemerge")
            time.sleep(1.5)
            good("POST", f"{server}/{index}/_refresh")
            good("PUT", f"{server}/{index}/_create/again?refresh=true", {"text": "Newer."})

    reindex(store, OTHER, on_progress=create_again)
    assert good("GET", f"{server}/{index}/_doc/kept")["_version"] == 1700
    assert good("GET", f"{server}/{index}/_doc/again")["_source"]["text"] == "Newer."
    path = f"{server}/{index}/_doc/kept?version=%d&{external}"
    assert call("PUT", path % 1700, {"text": "Older."})[0] == 409
    good("PUT", path % 1701, {"text": "Newer."})


def test_a_clone_is_reindexed_without_the_settings_of_its_making(owned_index):
    store, index, server = owned_index
    good("PUT", f"{server}/{index}/_doc/a?refresh=true", {"text": QUERY_TEXT})
    good("PUT", f"{server}/{index}/_settings", {"index.blocks.write": True})
    clone = f"{index}-clone"
    good("PUT", f"{server}/{index}/_clone/{clone}?wait_for_active_shards=1", UNBLOCKED)
    of_clone = open_store(store.url.replace(index, clone))
    try:
        assert reindex(of_clone, OTHER).copied == 1
    finally:
        of_clone.close()
    assert good("GET", f"{server}/{clone}/_doc/a")["_source"]["near_recipe"] == OTHER.id


@pytest.mark.parametrize("kind", ["_index_template", "_template"])
def test_a_template_of_others_for_the_next_version_is_refused(owned_index, kind):
    store, index, server = owned_index
    good("PUT", f"{server}/{index}/_doc/a?refresh=true", {"text": QUERY_TEXT})
    template = {
        "aliases": {f"all-{index}": {}},
        "settings": {"index.final_pipeline": "_none"},
        "mappings": {"_source": {"excludes": ["draft"]}, "properties": {"x": {"type": "long"}}},
    }
    body = template if kind == "_template" else {"priority": 9, "template": template}
    path = f"{server}/{kind}/{index}-others"
    good("PUT", path, {**body, "index_patterns": [f"{index}-0*"]})
    before = good("GET", f"{server}/_ingest/pipeline")
    additions = f"`_source`, alias all-{index}, field x, index.final_pipeline to {index}-000002"
    try:
        with pytest.raises(UsageError, match=re.escape(additions)):
            reindex(store, OTHER)
        assert call("GET", f"{server}/{index}-000002")[0] == 404
        assert good("GET", f"{server}/_ingest/pipeline") == before
    finally:
        good("DELETE", path)
    assert reindex(store, OTHER).copied == 1


NUMBER = {"n": {"type": "long"}}
TEXTS_AS_KEYWORDS = {"match_mapping_type": "string", "mapping": {"type": "keyword"}}
# settings and rules of templates for the next version, and what `reindex` says of each
LATER = {
    "settings": (
        {"settings": {"index": {"refresh_interval": "17s", "mapping.coerce": "false"}}},
        "index.mapping.coerce, index.refresh_interval to",
    ),
    "blocks": ({"settings": {"index.blocks.write": True}}, "index.blocks.write to"),
    "codec": ({"settings": {"index.codec": "best_compression"}}, "index.codec to"),
    "dynamic": ({"mappings": {"dynamic": "strict"}}, "`dynamic` to"),
    "fields": ({"mappings": {"properties": {"x": {"type": "long"}}}}, "field x to"),
    "an object": (
        {"mappings": {"properties": {"page": {"dynamic": False, "properties": NUMBER}}}},
        "`dynamic` of page, field page.n to",
    ),
    "dynamic templates": (
        {"mappings": {"dynamic_templates": [{"all": TEXTS_AS_KEYWORDS}]}},
        "dynamic template all to",
    ),
}


@pytest.mark.parametrize("kind", ["_index_template", "_template"])
@pytest.mark.parametrize("later", LATER)
def test_a_new_version_is_like_the_old_one_or_is_not_made(owned_index, kind, later):
    store, index, server = owned_index
    good("PUT", f"{server}/{index}/_doc/a?refresh=true", {"text": QUERY_TEXT})
    template, additions = LATER[later]
    body = template if kind == "_template" else {"priority": 9, "template": template}
    path = f"{server}/{kind}/{index}-others"
    good("PUT", path, {**body, "index_patterns": [f"{index}-0*"]})
    before = assets_of(server, index)
    try:
        for change in (reindex, plan_reindex):
            with pytest.raises(UsageError, match=re.escape(f"would add {additions}")):
                change(store, OTHER)
        assert assets_of(server, index) == before
    finally:
        good("DELETE", path)


@pytest.mark.parametrize("kind", ["_index_template", "_template"])
def test_a_template_that_the_old_version_has_too_changes_nothing(engine_index, kind):
    store, index, server = engine_index
    text = {"type": "text", "norms": False}
    template = {
        "settings": {"index": {"refresh_interval": "17s", "number_of_shards": 2}},
        "mappings": {"dynamic": False, "properties": {"text": text, "n": {"type": "long"}}},
    }
    body = template if kind == "_template" else {"priority": 9, "template": template}
    path = f"{server}/{kind}/{index}-others"
    good("PUT", path, {**body, "index_patterns": [f"{index}*"]})
    try:
        good("PUT", f"{server}/{index}/_doc/a?refresh=true", {"text": QUERY_TEXT, "n": "7"})
        install(store)
        before = the_index(server, index)[1]
        assert reindex(store, OTHER).copied == 1
        after = the_index(server, index)[1]
    finally:
        good("DELETE", path)
    theirs = [
        {name: body for name, body in of["mappings"]["properties"].items() if name in template_of}
        for of in (before, after)
        for template_of in (template["mappings"]["properties"],)
    ]
    assert theirs[0] == theirs[1] == template["mappings"]["properties"]
    assert after["mappings"]["dynamic"] == before["mappings"]["dynamic"]
    kept = set(after["settings"]["index"]) ^ set(before["settings"]["index"])
    assert kept <= {"default_pipeline"}
    assert after["settings"]["index"]["refresh_interval"] == "17s"


def test_an_alias_named_as_the_next_version_is_refused_first(owned_index):
    store, index, server = owned_index
    good("PUT", f"{server}/{index}/_doc/a?refresh=true", {"text": QUERY_TEXT})
    good("PUT", f"{server}/{index}/_alias/{index}-000002")
    before = assets_of(server, index)
    for change in (reindex, plan_reindex):
        with pytest.raises(UsageError, match=f"{index}-000002, .* is an alias of {index};"):
            change(store, OTHER)
    assert assets_of(server, index) == before
    good("DELETE", f"{server}/{index}/_alias/{index}-000002")
    assert reindex(store, OTHER).copied == 1


def test_what_is_not_there_or_not_ours_is_refused(engine_index):
    store, index, server = engine_index
    with pytest.raises(StoreError, match="no index"):
        reindex(store, OTHER)
    good("PUT", f"{server}/{index}", {"mappings": {"properties": {"title": {"type": "keyword"}}}})
    with pytest.raises(MappingMismatch):
        reindex(store, OTHER)
    assert re.fullmatch("nearfold-test-[0-9a-f]+", the_index(server, index)[0])
