"""An index with the plugin's layout gives the answers of the pipeline's, to every command."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rest import RequestError, Rest
from sample_library import edited, rows, sentence

from indexer.errors import StoreError, UsageError
from indexer.fingerprinting.fingerprint import fingerprint_rows
from indexer.grouping.group import group
from indexer.grouping.match import match
from indexer.jobs.arrival import SeenWrites, follow_once
from indexer.jobs.check import check
from indexer.jobs.doctor import doctor
from indexer.jobs.install import install, uninstall
from indexer.jobs.reindex import plan_reindex, reindex
from indexer.jobs.repair import repair
from indexer.recipe import DEFAULT, Recipe, recipe_named
from indexer.searching.search import SearchOptions, search
from indexer.searching.similar import SimilarOptions, similar
from indexer.stores import open_store

pytestmark = pytest.mark.engines
LAYOUTS = ("plugin", "pipeline")


@pytest.fixture(params=["opensearch", "elasticsearch"])
def engine(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def rest(engine: str, url_with_plugin: Callable[[str], str]) -> Rest:
    return Rest(url_with_plugin(engine))


@pytest.fixture
def stores(
    engine: str, rest: Rest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, Any]]:
    """A store of each layout, installed, by the name of the layout."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    name = f"nearfold-layout-{secrets.token_hex(4)}"
    with ExitStack() as opened:
        by_layout = {}
        for layout in LAYOUTS:
            address = f"{rest.url.replace('http', engine)}/{name}-{layout}"
            store = opened.enter_context(closing(open_store(address)))
            install(store, layout=layout)
            by_layout[layout] = store
        yield by_layout
        for layout in LAYOUTS:
            for index in rest.request("GET", f"{name}-{layout}*"):
                rest.request("DELETE", index)
            with suppress(RequestError):  # a test may have removed it
                rest.request("DELETE", f"_index_template/nearfold-{name}-{layout}")
            uninstall(by_layout[layout], DEFAULT)


def library() -> dict[str, str]:
    """Texts by id: groups of three near duplicates, copies, and texts without keys."""
    texts = {"e": "", "s1": "hello", "s2": "hello", "n1": "1 2 3 4 5 6", "n2": "1 2 3 4 5 6"}
    for number in range(8):
        text = sentence(number, words=60)
        texts |= {f"{number}-{copy}": edited(text, copy, mark=f"e{copy}") for copy in range(3)}
        texts[f"{number}-copy"] = text
    return texts


def fill(store: Any, texts: dict[str, str], recipe: Recipe = DEFAULT) -> None:
    store.prepare(recipe)
    assert store.write(rows(texts, recipe)) == [None] * len(texts)
    store.refresh()


def send(rest: Rest, store: Any, texts: dict[str, str]) -> None:
    """Send documents as a client that knows nothing of nearfold."""
    lines = []
    for id, text in texts.items():
        lines += [{"index": {"_index": store.address.index, "_id": id}}, {"text": text, "path": id}]
    rest.bulk(*lines)


def answers(store: Any) -> dict[str, Any]:
    """Return what the commands answer, without what names an index or the time."""
    counts = replace(store.counts(), size_bytes=0)
    found: dict[str, Any] = {"rows": list(store.scan()), "counts": counts}
    for fold in ("live", "family", "none"):
        page = search(store, "", SearchOptions(sort="path", limit=40, fold=fold))
        found[fold] = [(hit.id, [one.id for one in hit.folded]) for hit in page.hits]
        found[f"{fold} families"] = page.families
    for measure in ("lcs", "resemblance", "hamming"):
        options = SimilarOptions(measure=measure, threshold=0.6)
        result = similar(store, sentence(3, words=60), options)
        found[measure] = [(one.id, one.similarity) for one in result.matches]
    found["pairs"] = [(pair.a, pair.b, pair.similarity) for pair in match(store)]
    found["check"] = check(store, edited(sentence(5, words=60), 7, mark="x"))
    return found


def groups(store: Any) -> set[tuple[str, str]]:
    return {(row.id, row.family) for row in store.scan()}


def test_documents_of_nearfold(stores: dict[str, Any]) -> None:
    for store in stores.values():
        fill(store, library())
    assert answers(stores["plugin"]) == answers(stores["pipeline"])
    for store in stores.values():
        group(store)
    assert answers(stores["plugin"]) == answers(stores["pipeline"])
    before = groups(stores["pipeline"])
    for layout, other in zip(LAYOUTS, reversed(LAYOUTS), strict=True):
        store = stores[layout]
        assert plan_reindex(store, DEFAULT, layout=other)
        reindex(store, DEFAULT, layout=other)
        assert store.maintenance.layout() == other
        assert groups(store) == before
        assert not [check for check in doctor(store.url) if check.verdict == "bad"]
    assert answers(stores["plugin"]) == answers(stores["pipeline"])


def test_a_recipe_of_bits_alone(stores: dict[str, Any], rest: Rest) -> None:
    recipe = recipe_named("simhash-doc")
    texts = {f"{number}": sentence(number, words=60) for number in range(4)}
    texts["copy"] = texts["1"]
    found = {}
    for layout, store in stores.items():
        rest.request("DELETE", f"_index_template/nearfold-{store.address.index}")
        if layout == "plugin":
            install(store, recipe, layout=layout)
        fill(store, texts, recipe)
        page = search(store, "", SearchOptions(sort="path"))
        result = similar(store, texts["1"])
        found[layout] = (
            list(store.scan()),
            [(hit.id, [one.id for one in hit.folded]) for hit in page.hits],
            [(one.id, one.similarity, one.keys_shared) for one in result.matches],
        )
    assert found["plugin"] == found["pipeline"]
    assert stores["plugin"].maintenance.layout() == "plugin"


def test_documents_of_clients(stores: dict[str, Any], rest: Rest) -> None:
    for store in stores.values():
        send(rest, store, library())
    plugin, pipeline = stores["plugin"], stores["pipeline"]
    assert folded(plugin) == folded(pipeline)
    for store in stores.values():
        group(store)
    assert groups(plugin) == groups(pipeline)
    for store in stores.values():
        path = f"{store.address.index}/_update/3-1?refresh=true"
        rest.request("POST", path, {"doc": {"text": sentence(99, words=60)}})
    assert folded(plugin) == folded(pipeline)
    assert ("3-1", []) in folded(plugin)
    for store in stores.values():
        group(store)
    assert groups(plugin) == groups(pipeline)
    source = rest.request("GET", f"{plugin.address.index}/_doc/3-1")["_source"]
    assert not source.keys() & {"near_bands", "near_minhash", "near_simhash", "near_words"}


def folded(store: Any) -> list[tuple[str, list[str]]]:
    page = search(store, "", SearchOptions(sort="path", limit=40, fold="family"))
    return [(hit.id, sorted(one.id for one in hit.folded)) for hit in page.hits]


def test_a_live_index_gets_the_field(stores: dict[str, Any], rest: Rest, engine: str) -> None:
    name = f"nearfold-layout-{secrets.token_hex(4)}"
    rest.request("PUT", name, {"mappings": {"properties": {"page": {"properties": {}}}}})
    rest.request("PUT", f"{name}/_doc/a?refresh=true", {"page": {"body": sentence(1, words=60)}})
    with closing(open_store(f"{rest.url.replace('http', engine)}/{name}")) as store:
        options = {"layout": "plugin", "text_field": "page.body"}
        result = install(store, **options)
        assert "_update_by_query" in result.changes[-1].detail
        assert any("_update_by_query" in check.detail for check in doctor(store.url))
        assert store.counts().not_fingerprinted == 1
        rest.request("POST", f"{name}/_update_by_query?refresh=true")
        assert [row.status for row in store.scan()] == ["complete"]
        found = similar(store, edited(sentence(1, words=60), 1))
        assert [one.id for one in found.matches] == ["a"]
        assert install(store, **options).changes[-1].action == "unchanged"
    rest.request("DELETE", name)


def test_what_is_refused(stores: dict[str, Any], rest: Rest) -> None:
    fill(stores["plugin"], {"a": "a text of a few words"})
    with pytest.raises(UsageError, match="nearfold reindex --layout pipeline"):
        install(stores["plugin"], layout="pipeline")
    send(rest, stores["pipeline"], {"a": "a text of a few words"})
    with pytest.raises(UsageError, match="nearfold reindex --layout plugin"):
        install(stores["pipeline"], layout="plugin")
    with pytest.raises(StoreError, match=r"recipe \[unknown_v1\] is unknown"):
        reindex(stores["plugin"], replace(recipe_named("default_v2"), name="unknown_v1"))


@pytest.mark.parametrize("changed", ["a", "b"])
def test_a_text_that_a_client_replaces_while_group_runs_joins_no_group(
    stores: dict[str, Any], rest: Rest, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    near = sentence(1, words=60)
    texts = {"a": f"{near} and more", "b": near, "c": sentence(2, words=60)}
    for store in stores.values():
        send(rest, store, texts)
        assign = type(store.families).assign

        def replaced(*arguments: Any, store: Any = store, assign: Any = assign) -> Any:
            send(rest, store, {changed: texts["c"]})
            return assign(*arguments)

        with monkeypatch.context() as patches:
            patches.setattr(type(store.families), "assign", replaced)
            assert group(store).outdated == (2 if changed == "a" else 1)
        folded = {frozenset(names) for names in by_hit(store)}
        assert frozenset({"a", "b"}) not in folded
        group(store)
        alike = frozenset({changed, "c"})
        assert {frozenset(names) for names in by_hit(store)} == {alike, frozenset(texts) - alike}


def follow(store: Any) -> None:
    """Let a follower poll until it finds nothing."""
    seen = SeenWrites()
    while (done := follow_once(store, seen=seen)).placed or done.compared:
        pass
    store.refresh()


@pytest.mark.parametrize("repaired_by", [group, repair, follow])
def test_a_changed_text_is_reported_until_it_leaves_the_stored_group(
    stores: dict[str, Any], rest: Rest, repaired_by: Callable[[Any], Any]
) -> None:
    near = sentence(1, words=60)
    texts = {"a": near, "b": edited(near, 1), "c": sentence(2, words=60), "files": near}
    for store in stores.values():
        store.prepare(DEFAULT)
        of_files = [replace(row, embedded="png:1" * (row.id == "files")) for row in rows(texts)]
        store.write(fingerprint_rows(of_files, DEFAULT))
        group(store)
        for id in ("b", "files"):
            path = f"{store.address.index}/_update/{id}?refresh=true"
            rest.request("POST", path, {"doc": {"text": texts["c"]}})
        assert verdict(store, "changes") == verdict(store, "keys") == "bad"
        assert getattr(repaired_by(store), "outdated", 0) == 0
        assert verdict(store, "changes") == verdict(store, "keys") == "good"
        stored = rest.request("GET", f"{store.address.index}/_doc/b")["_source"].get("near_family")
        assert stored != "a"
        assert group(store).outdated == 0
        assert {frozenset(names) for names in by_hit(store)} == {
            frozenset("a"), frozenset("bc"), frozenset(["files"])
        }  # fmt: skip


def verdict(store: Any, name: str) -> str:
    """Return the verdict of a check of `doctor`."""
    return next(check.verdict for check in doctor(store.url) if check.name == name)


def by_hit(store: Any) -> list[tuple[str, ...]]:
    """Return the documents that `search --fold family` shows as one."""
    hits = search(store, "", SearchOptions(fold="family")).hits
    return [(hit.id, *(one.id for one in hit.folded)) for hit in hits]
