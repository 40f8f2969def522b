"""Documents that other programs change: their keys follow the text, their families stay with it."""

import re
from pathlib import Path

import pytest
from pipelines import BREAD, FERRY, bulk, change_before, good

from indexer.cli.main import run
from indexer.fingerprinting.fingerprint import fingerprint, shorten
from indexer.grouping.group import group
from indexer.grouping.match import match as find_pairs
from indexer.jobs.doctor import doctor
from indexer.jobs.index import index as run_index
from indexer.jobs.install import install, uninstall
from indexer.jobs.reindex import reindex
from indexer.jobs.repair import repair
from indexer.jobs.status import status
from indexer.recipe import DEFAULT, DEFAULT_V1
from indexer.searching.fold_hits import fold_hits
from indexer.searching.search import SearchOptions, search
from indexer.searching.similar import similar
from indexer.stores.engine import families as engine_families
from indexer.stores.engine.index import OpenIndex

pytestmark = pytest.mark.engines


@pytest.fixture
def library(opensearch_index, tmp_path, monkeypatch):
    """A store of two copies and another document that a client sent, grouped, and its index."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    store, index, server = opensearch_index
    install(store, DEFAULT)
    texts = {"a": FERRY, "b": FERRY.upper(), "c": BREAD}
    lines = []
    for id, text in texts.items():
        lines += [{"index": {"_id": id}}, {"text": text, "author": "wire"}]
    bulk(server, index, [{"text": FERRY, "author": "web"}], *lines)
    group(store)
    yield store, f"{server}/{index}"


def changed_text(url, text, id="b"):
    """Change the text of one copy by a partial update that bypasses the pipeline."""
    lines = [{"update": {"_id": id}}, {"doc": {"text": text}}]
    assert not good("POST", f"{url}/_bulk?refresh=true", lines)["errors"]


def families(store):
    """Return the family of each document, and whether it is provisional."""
    return {row.id: (row.family, row.provisional) for row in store.scan()}


@pytest.fixture
def own(stores, engine, server, tmp_path, monkeypatch):
    """A store of two copies and another document that nearfold indexed, installed and grouped, the
    URL of its index, and the folder of its files.
    """
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "files"
    folder.mkdir()
    for name, text in {"a": FERRY, "b": FERRY.upper(), "c": BREAD}.items():
        (folder / f"{name}.txt").write_text(text)
    store, index = stores(engine, server)
    run_index(folder, store)
    install(store, DEFAULT)
    group(store)
    yield store, f"{server}/{index}", folder


def by_name(store):
    """Return the rows by the names of their files, without ending."""
    return {Path(row.path).stem: row for row in store.scan()}


def folded_together(store):
    """Return the names of documents that `search --fold family` shows as one, by hit."""
    names = {row.id: name for name, row in by_name(store).items()}
    hits = search(store, "", SearchOptions(fold="family")).hits
    return {frozenset(names[id] for id in (hit.id, *(m.id for m in hit.folded))) for hit in hits}


@pytest.mark.parametrize("changed", ["a", "b"])
def test_a_client_changes_a_text_in_an_index_that_nearfold_made(own, changed):
    store, url, _ = own
    assert folded_together(store) == {frozenset("ab"), frozenset("c")}
    changed_text(url, BREAD, by_name(store)[changed].id)
    assert folded_together(store) == {frozenset("a"), frozenset("b"), frozenset("c")}
    assert {check.verdict for check in doctor(store.url) if check.name == "changes"} == {"bad"}
    assert group(store).changed >= 1
    kept = "b" if changed == "a" else "a"
    assert folded_together(store) == {frozenset(kept), frozenset({changed, "c"})}
    assert repair(store) == ()


@pytest.mark.parametrize("changed", ["a", "b"])
def test_a_document_with_new_keys_has_left_its_group(own, changed):
    store, url, _ = own
    id = by_name(store)[changed].id
    changed_text(url, BREAD, id)
    assert "keys" in {found.what for found in repair(store)}
    rows = by_name(store)
    assert rows[changed].bands == fingerprint(BREAD).bands
    assert rows["a"].family != rows["b"].family
    assert {found.what for found in repair(store)} <= {"provisional"}


def test_group_that_is_killed_after_new_keys_leaves_no_document_in_its_old_group(own, monkeypatch):
    store, url, _ = own
    changed_text(url, BREAD, by_name(store)["b"].id)

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(type(store.families), "assign", killed)
    with pytest.raises(KeyboardInterrupt):
        group(store)
    store.refresh()
    rows = by_name(store)
    assert rows["b"].bands == fingerprint(BREAD).bands
    assert rows["b"].family == f"x:{shorten(rows['b'].exact)}" != rows["a"].family
    monkeypatch.undo()
    group(store)
    assert folded_together(store) == {frozenset("a"), frozenset("bc")}


@pytest.mark.parametrize("repaired_by", [repair, group])
@pytest.mark.parametrize("change", ["deleted", "sent again"])
def test_a_group_whose_principal_a_client_takes_away_is_found_and_repaired(
    own, change, repaired_by
):
    store, url, _ = own
    assert {check.verdict for check in doctor(store.url) if check.name == "groups"} == {"good"}
    rows = by_name(store)
    (principal,) = (name for name in "ab" if rows[name].principal)
    (member,) = set("ab") - {principal}
    document = f"{url}/_doc/{rows[principal].id}?refresh=true"
    if change == "deleted":
        good("DELETE", document)
    else:
        good("PUT", document, {"text": BREAD, "path": rows[principal].path})
    assert all(len(names) == 1 for names in folded_together(store))
    (check,) = (check for check in doctor(store.url) if check.name == "groups")
    assert check.verdict == "bad" and "1 group whose principal" in check.detail
    assert f"`nearfold group --store {store.url}`" in check.detail
    assert status(store).without_principal == 1
    repaired_by(store)
    store.refresh()
    assert status(store).without_principal == 0
    assert {check.verdict for check in doctor(store.url) if check.name == "groups"} == {"good"}
    row = by_name(store)[member]
    assert row.family == row.id and row.principal is not False


def test_a_file_that_replaces_a_principal_which_a_client_deleted_gets_none_of_its_members(own):
    """Its id is that of its path, and so the name of the group that the principal left."""
    store, url, folder = own
    rows = by_name(store)
    (principal,) = (name for name in "ab" if rows[name].principal)
    good("DELETE", f"{url}/_doc/{rows[principal].id}?refresh=true")
    (folder / f"{principal}.txt").write_text("A lighthouse keeper climbs stairs every night.")
    run_index(folder, store)
    assert folded_together(store) == {frozenset("a"), frozenset("b"), frozenset("c")}
    assert status(store).without_principal == 0


@pytest.mark.parametrize("changed", ["a", "b"])
def test_reindex_takes_a_document_whose_text_a_client_changed_out_of_its_group(own, changed):
    store, url, _ = own
    changed_text(url, BREAD, by_name(store)[changed].id)
    reindex(store, DEFAULT_V1)
    rows = by_name(store)
    assert rows[changed].bands == fingerprint(BREAD, DEFAULT_V1).bands
    assert rows["a"].family != rows["b"].family
    assert rows[changed].principal is not False and rows[changed].similarity is None
    assert rows["c"].family == rows["c"].id
    assert all(len(names) == 1 for names in folded_together(store))
    group(store)
    kept = "b" if changed == "a" else "a"
    assert folded_together(store) == {frozenset(kept), frozenset({changed, "c"})}


def send_principal_without_pipeline(own):
    """Send the principal of a and b again with another text and no keys; return store and name."""
    store, url, _ = own
    uninstall(store)
    rows = by_name(store)
    (principal,) = (name for name in "ab" if rows[name].principal)
    document = {"text": BREAD, "path": rows[principal].path}
    good("PUT", f"{url}/_doc/{rows[principal].id}?refresh=true", document)
    return store, principal


def test_a_principal_that_is_sent_again_without_a_pipeline_folds_no_member(own):
    store, _ = send_principal_without_pipeline(own)
    assert folded_together(store) == {frozenset("a"), frozenset("b"), frozenset("c")}
    assert {check.verdict for check in doctor(store.url) if check.name == "groups"} == {"bad"}


def test_reindex_puts_no_member_under_a_principal_that_was_sent_again_without_a_pipeline(own):
    store, principal = send_principal_without_pipeline(own)
    reindex(store, DEFAULT_V1)
    rows = by_name(store)
    assert rows[principal].bands == fingerprint(BREAD, DEFAULT_V1).bands
    assert rows["a"].family != rows["b"].family
    assert folded_together(store) == {frozenset("a"), frozenset("b"), frozenset("c")}


def test_index_run_again_finds_texts_that_a_client_changed(own):
    store, url, folder = own
    changed_text(url, BREAD, by_name(store)["b"].id)
    run_index(folder, store)
    row = by_name(store)["b"]
    assert (row.text, row.bands) == (BREAD, fingerprint(BREAD).bands)
    assert row.family != by_name(store)["a"].family


@pytest.mark.parametrize("path", ["_update", "_update_by_query", "_doc"])
def test_a_change_of_another_field_leaves_a_document_in_its_family(library, path):
    store, url = library
    before = families(store)
    assert len({family for family, _ in before.values()}) == 2
    for id in before:
        if path == "_update":
            good("POST", f"{url}/_update/{id}?refresh=true", {"doc": {"author": "paper"}})
        elif path == "_doc":
            source = good("GET", f"{url}/_doc/{id}")["_source"]
            good("PUT", f"{url}/_doc/{id}?refresh=true", {**source, "author": "paper"})
    if path == "_update_by_query":
        good("POST", f"{url}/_update_by_query?refresh=true&pipeline=nearfold-{DEFAULT.name}")
    assert families(store) == before
    assert all(good("GET", f"{url}/_doc/{id}")["_source"]["near_bands"] for id in before)


def test_a_change_of_the_text_leaves_the_family(library):
    store, url = library
    good("POST", f"{url}/_update/b?refresh=true", {"doc": {"text": BREAD}})
    family, is_provisional = families(store)["b"]
    assert family.startswith("x:") and is_provisional
    group(store)
    assert families(store)["b"] == families(store)["c"]


def test_a_text_that_was_changed_without_its_keys_is_compared_as_it_is(library):
    store, url = library
    changed_text(url, BREAD)
    assert "b" not in {match.id for match in similar(store, FERRY).matches}
    assert "b" not in {match.id for match in similar(store, id="a").matches}
    pairs = {frozenset((pair.a, pair.b)) for pair in find_pairs(store)}
    assert {"b", "c"} in pairs and {"a", "b"} not in pairs
    hits = search(store, "+the", SearchOptions(fold="live")).hits
    assert not any({"a", "b"} <= {hit.id, *(copy.id for copy in hit.folded)} for hit in hits)


@pytest.mark.parametrize("changed", ["a", "b"])
def test_a_text_that_was_changed_without_its_keys_is_no_member_of_its_family(library, changed):
    store, url = library
    by_family = SearchOptions(fold="family")
    (ferry, bread) = search(store, "+the", by_family).hits
    assert (len(ferry.folded), bread.id, bread.folded) == (2, "c", ())
    changed_text(url, BREAD, changed)
    page = search(store, "+the", by_family)
    folded = {hit.id: [copy.id for copy in hit.folded] for hit in page.hits}
    assert folded[changed] == folded["c"] == [] and sorted(map(len, folded.values())) == [0, 0, 1]
    assert any("not folded: 1 hit" in note for note in page.notes)
    ids = [row.id for row in store.scan()]
    (alone,) = (hit for hit in fold_hits(store, ids, fold="family") if hit.id == changed)
    assert not alone.folded
    group(store)
    page = search(store, "+the", by_family)
    assert sorted(len(hit.folded) for hit in page.hits) == [1, 1]
    assert not any("changed" in note for note in page.notes)


def test_group_signs_again_what_was_changed_without_its_keys(library):
    store, url = library
    changed_text(url, BREAD)
    group(store, write=False)
    assert next(row for row in store.scan() if row.id == "b").bands == fingerprint(FERRY).bands
    group(store)
    stored = {row.id: row for row in store.scan()}
    assert stored["b"].bands == fingerprint(BREAD).bands
    assert stored["b"].family == stored["c"].family != stored["a"].family
    assert {row.provisional for row in stored.values()} == {False}
    assert good("GET", f"{url}/_doc/b")["_source"]["author"] == "wire"
    assert repair(store) == ()


def test_doctor_finds_what_was_changed_lately_without_its_keys(library):
    store, url = library
    changes = [check for check in doctor(store.url) if check.name == "changes"]
    assert [check.verdict for check in changes] == ["good"]
    changed_text(url, BREAD)
    (change,) = (check for check in doctor(store.url) if check.name == "changes")
    assert change.verdict == "bad" and "1 of" in change.detail and "first b" in change.detail
    (command,) = re.findall("`nearfold (.*)`", change.detail)
    assert run(command.split()) == 0
    assert {check.verdict for check in doctor(store.url) if check.name == "changes"} == {"good"}


# Clients that write between what `group` reads and what it writes.


@pytest.fixture
def sent(installed):
    """A store of three documents that a client sent, two of them near duplicates of which `a` is
    the longer, ungrouped, and the URL of its index.
    """
    store, server, index = installed
    texts = {"a": f"{FERRY} Crowds waved.", "b": FERRY, "c": BREAD}
    lines = []
    for id, text in texts.items():
        lines += [{"index": {"_id": id}}, {"text": text, "path": id}]
    bulk(server, index, [], *lines)
    return store, f"{server}/{index}"


def change(url, how, id):
    if how == "updated":
        changed_text(url, BREAD, id)
    elif how == "deleted":
        good("DELETE", f"{url}/_doc/{id}?refresh=true")
    elif how == "retitled":
        good("POST", f"{url}/_update/{id}?refresh=true", {"doc": {"title": "of a client"}})
    else:
        good("PUT", f"{url}/_doc/{id}?refresh=true", {"text": BREAD, "path": id})


@pytest.mark.parametrize(
    ("when", "how", "changed"),
    [
        ("after reading", "replaced", "a"),
        ("after reading", "updated", "b"),
        ("before writing", "replaced", "a"),
        ("before writing", "deleted", "a"),
    ],
)
def test_group_hides_nothing_that_a_client_changes_while_it_runs(
    sent, monkeypatch, when, how, changed
):
    store, url = sent
    owner, name = (type(store.families), "assign")
    if when == "before writing":
        owner, name = engine_families, "objections_to"
    with monkeypatch.context() as patches:
        change_before(patches, owner, name, lambda: change(url, how, changed))
        result = group(store)
    store.refresh()
    assert all(len(names) == 1 for names in folded_together(store))
    if how != "updated":  # that leaves the keys of the text before, which doctor finds
        assert result.outdated >= (changed == "a" or how == "replaced")
        assert status(store).without_principal == 0
        rows = {row.id: row for row in store.scan()}
        assert all(row.family in (row.id, f"x:{shorten(row.exact)}") for row in rows.values())
    assert group(store).outdated == 0
    kept = "b" if changed == "a" else "a"
    alike = {"c"} if how == "deleted" else {"c", changed}
    assert folded_together(store) == {frozenset(kept), frozenset(alike)}
    assert repair(store) == ()


def test_a_change_of_another_field_while_group_writes_keeps_no_document_out(sent, monkeypatch):
    store, url = sent
    with monkeypatch.context() as patches:
        change_before(
            patches, engine_families, "objections_to", lambda: change(url, "retitled", "b")
        )
        result = group(store)
    store.refresh()
    assert (result.changed, result.outdated) == (3, 0)
    assert folded_together(store) == {frozenset("ab"), frozenset("c")}
    assert {row.title for row in store.scan() if row.id == "b"} == {"of a client"}


def test_a_document_joins_no_principal_that_a_client_replaces_meanwhile(sent, monkeypatch):
    store, url = sent
    group(store)
    good("PUT", f"{url}/_doc/d?refresh=true", {"text": f"{FERRY} CROWDS waved.", "path": "d"})
    with monkeypatch.context() as patches:
        families = type(store.families)
        change_before(patches, families, "assign", lambda: change(url, "replaced", "a"))
        assert group(store).outdated == 1
    store.refresh()
    (row,) = store.get(["d"]).values()
    assert (row.family, row.principal, row.provisional) == ("d", True, True)
    group(store)
    assert folded_together(store) == {frozenset("bd"), frozenset("ac")}


@pytest.mark.parametrize(("command", "kind"), [(group, "replaced"), (repair, "updated")])
def test_a_command_that_is_killed_between_two_writes_hides_nothing(
    sent, monkeypatch, command, kind
):
    """The members of a principal that a client replaced leave it before it is one again."""
    store, url = sent
    group(store)
    change(url, kind, "a")
    for writes in (1, 2):
        with monkeypatch.context() as patches:
            patches.setattr(engine_families, "_MEMBERS", 1)
            kill_after(patches, writes)
            with pytest.raises(KeyboardInterrupt):
                command(store)
        store.refresh()
        assert frozenset("ab") not in folded_together(store)
    command(store)
    group(store)
    assert folded_together(store) == {frozenset("b"), frozenset("ac")}


def kill_after(monkeypatch, writes):
    """End whatever runs after so many bulk requests of families."""
    send, sent_before = OpenIndex.send_conditional, []

    def counted(self, *arguments):
        replies = send(self, *arguments)
        sent_before.append(replies)
        if len(sent_before) == writes:
            raise KeyboardInterrupt
        return replies

    monkeypatch.setattr(OpenIndex, "send_conditional", counted)
