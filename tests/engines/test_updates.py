"""What other programs do to the documents of an index loses nothing that nearfold stored: partial
updates, copies, snapshots; and an index of an earlier nearfold goes on as it is.
"""

import dataclasses
import hashlib
import secrets

import pytest
from pipelines import OTHER, call, good

from indexer.errors import RestoredIndex, StoreStopped, UsageError
from indexer.fingerprinting.fingerprint import fingerprints
from indexer.grouping.group import group
from indexer.jobs.doctor import doctor
from indexer.jobs.document_rows import ExtractedBlob, row_of
from indexer.jobs.install import install, uninstall
from indexer.jobs.reindex import reindex
from indexer.model import Blob, Document
from indexer.recipe import DEFAULT, recipe_named
from indexer.searching.search import SearchOptions, search
from indexer.stores.engine import rows
from indexer.stores.engine.families import EngineFamilies
from indexer.stores.engine.reindex import Successor

pytestmark = pytest.mark.engines
FERRY = (
    "The harbour ferry leaves at eight in the morning and returns at six in the evening. Dogs "
    "travel free on every day but Sunday, and children pay half of the price in summer. "
)
TEXTS = {
    "ferry": FERRY,
    "copy": f"{FERRY} ",
    "near": f"{FERRY} Come early.",
    "bread": "The price of bread rises every year, and those who bake it at night earn no more.",
    "short": "Closed.",
    "closed": "closed",
    "blank": "",
    "void": "",
}
RESTORED = dataclasses.replace(DEFAULT, name="restored_v1")
FORMER = {
    "near_id": {"type": "keyword"},
    "near_source": {"type": "keyword"},
    "near_simhash": {"type": "long"},
}


def sample_rows(recipe=DEFAULT):
    """Return a row of each text, as `index` makes them of files; the blank ones are copies."""
    rows = []
    sketches = fingerprints([*TEXTS.values()], recipe)
    for (name, text), sketch in zip(TEXTS.items(), sketches, strict=True):
        content = text.encode()
        raw = hashlib.sha256(content).hexdigest()
        source = hashlib.sha256(f"{name} {len(content)}".encode()).hexdigest()
        blob = Blob(name, name.encode(), f"/library/{name}.txt", content, len(content), 0)
        made = ExtractedBlob(blob, raw, source, Document(text, extractor="plain/4"))
        rows.append(row_of(made, sketch, recipe.id))
    return rows


@pytest.fixture
def store(engine, server, stores, tmp_path, monkeypatch):
    """A store with the sample rows in families, and its URL."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    opened, name = stores(engine, server)
    opened.prepare(DEFAULT)
    assert opened.write(sample_rows()) == [None] * len(TEXTS)
    opened.refresh()
    group(opened)
    opened.refresh()
    return opened, f"{server}/{name}"


def state(store):
    """Return what a store knows and finds of each row: fields but labels, candidates, copies."""
    store.refresh()
    rows = {row.id: row for row in store.scan()}
    lookups = [(row.bands, row.blocks) for row in rows.values()]
    answers = store.candidates(lookups, 10, DEFAULT.shared)
    candidates = [
        [(found.id, found.keys_shared, found.minhash) for found in answer.found]
        for answer in answers
    ]
    copies = {
        field: sorted(store.families.members(field, sorted({getattr(row, field) for row in some})))
        for field, some in (
            ("exact", [rows["ferry"], rows["short"]]),
            ("raw", [rows["blank"]]),
            ("family", list(rows.values())),
        )
    }
    sources = store.sources([*rows])
    rows = {id: dataclasses.replace(row, labels=()) for id, row in rows.items()}
    return rows, candidates, copies, sources


def test_the_sample_has_what_may_be_lost(store):
    opened, url = store
    rows, candidates, copies, sources = state(opened)
    assert len({rows[name].family for name in ("ferry", "copy", "near")}) == 1
    assert [id for id, _ in copies["exact"]] == ["closed", "copy", "ferry", "short"]
    assert sorted(id for id, _ in copies["raw"]) == ["blank", "void"]
    assert sum(len(found) > 1 for found in candidates) == 3
    assert all(len(source) == 64 for source in sources.values())
    stored = good("GET", f"{url}/_doc/ferry")["_source"]
    assert ("near_raw" in stored, len(stored["near_file"])) == (False, 43)
    assert {row.id: row.raw for row in rows.values()} == {row.id: row.raw for row in sample_rows()}


def test_partial_updates_of_another_client_lose_nothing(store):
    opened, url = store
    before = state(opened)
    lines = []
    for name in TEXTS:
        lines += [{"update": {"_id": name}}, {"doc": {"labels": ["seen"]}}]
    assert not good("POST", f"{url}/_bulk?refresh=true", lines)["errors"]
    assert {row.labels for row in opened.scan()} == {("seen",)}
    assert state(opened) == before
    good("POST", f"{url}/_update/near?refresh=true", {"doc": {"labels": ["twice"]}})
    assert state(opened) == before
    good("POST", f"{url}/_forcemerge?max_num_segments=1")
    assert state(opened) == before


def test_group_signs_nothing_again(store):
    opened, url = store
    sketches = ("near_minhash", "near_bands", "near_exact", "near_file", "near_source")
    path = f"{url}/_search?size=20&sort=near_id&_source={','.join(sketches)}"
    signed = [hit["_source"] for hit in good("GET", path)["hits"]["hits"]]
    before = state(opened)
    group(opened)
    assert state(opened) == before
    assert [hit["_source"] for hit in good("GET", path)["hits"]["hits"]] == signed


def described(url):
    """Return the body that creates an index like this one."""
    (made,) = good("GET", url).values()
    settings = made["settings"]["index"]
    kept = {name: settings[name] for name in ("analysis", "number_of_shards")}
    return {"settings": {"index": kept}, "mappings": made["mappings"]}


def test_a_copy_by_reindex_has_everything(store, server, engine, open_at):
    opened, url = store
    name = f"{url.rpartition('/')[2]}-moved"
    good("PUT", f"{server}/{name}", described(url))
    body = {"source": {"index": url.rpartition("/")[2]}, "dest": {"index": name}}
    assert good("POST", f"{server}/_reindex?refresh=true", body)["created"] == len(TEXTS)
    moved = open_at(f"{engine}://{server.partition('://')[2]}/{name}")
    assert state(moved) == state(opened)


@pytest.fixture
def repository(server, store):
    """The URL of a repository of snapshots in files; removed with them at the end."""
    url = f"{server}/_snapshot/nearfold-{secrets.token_hex(4)}"
    body = {"type": "fs", "settings": {"location": store[1].rpartition("/")[2]}}
    status, answer = call("PUT", url, body)
    if status != 200:
        pytest.skip(f"this server keeps no snapshots in files: {str(answer)[:200]}")
    yield url
    call("DELETE", f"{url}/1")
    call("DELETE", url)


def test_a_snapshot_has_everything(store, server, engine, repository, open_at):
    opened, url = store
    name = url.rpartition("/")[2]
    before = state(opened)
    good("PUT", f"{repository}/1?wait_for_completion=true", {"indices": name})
    renamed = {"rename_pattern": "(.+)", "rename_replacement": "$1-back"}
    body = {"indices": name, "include_aliases": False, **renamed}
    good("POST", f"{repository}/1/_restore?wait_for_completion=true", body)
    back = open_at(f"{engine}://{server.partition('://')[2]}/{name}-back")
    assert state(back) == before


def test_a_copy_that_is_restored_with_its_aliases_stops_writes(store, server, repository):
    opened, url = store
    name = url.rpartition("/")[2]
    good("PUT", f"{repository}/1?wait_for_completion=true", {"indices": name})
    renamed = {"rename_pattern": "(.+)", "rename_replacement": "$1-copy"}
    body = {"indices": name, **renamed}
    good("POST", f"{repository}/1/_restore?wait_for_completion=true", body)
    assert sorted(good("GET", f"{server}/{name}-write")) == [name, f"{name}-copy"]
    message = f"{name}-write stands for {name}-copy"
    with pytest.raises(StoreStopped, match=message):
        opened.write(sample_rows()[:1])
    with pytest.raises(UsageError, match=message):
        opened.prepare(DEFAULT)
    good("DELETE", f"{server}/{name}-copy/_alias/{name}-write")
    assert opened.write(sample_rows()[:1]) == [None]


def test_an_index_that_is_lost_goes_on_from_its_snapshot(store, server, repository):
    """As the page on operating does it: the index with its aliases, under its own name."""
    opened, url = store
    name = url.rpartition("/")[2]
    before = state(opened)
    good("PUT", f"{repository}/1?wait_for_completion=true", {"indices": f"{name}*"})
    good("DELETE", f"{server}/{name}")
    good("POST", f"{repository}/1/_restore?wait_for_completion=true", {"indices": f"{name}*"})
    assert state(opened) == before
    assert list(good("GET", f"{server}/{name}-write")) == [name]
    assert not group(opened).moved
    shown = search(opened, "ferry harbour", SearchOptions(fold="family"))
    assert (shown.total, shown.families) == (3, 1)
    body = {"query": {"match": {"text": "ferry"}}, "collapse": {"field": "near_family"}}
    assert len(good("POST", f"{url}/_search", body)["hits"]["hits"]) == 1
    assert opened.write(sample_rows()[:1]) == [None]
    assert all(check.verdict != "bad" for check in doctor(opened.url))


@pytest.mark.parametrize("method", ["DELETE", "POST"])
def test_group_reads_an_index_again_that_is_restored_meanwhile(
    method, store, server, repository, monkeypatch
):
    """A member that the snapshot has was not there when `group` read another text of its principal,
    which must not be its principal now; a closed index keeps its UUID.
    """
    opened, url = store
    name = url.rpartition("/")[2]
    install(opened)
    (principal,) = {row.family for row in opened.scan() if row.id in ("ferry", "copy", "near")}
    members = {"ferry", "copy", "near"} - {principal}
    good("POST", f"{url}/_update/{principal}?refresh=true", {"doc": {"text": TEXTS["bread"]}})
    good("PUT", f"{repository}/1?wait_for_completion=true", {"indices": f"{name}*"})
    for member in members:
        good("DELETE", f"{url}/_doc/{member}?refresh=true")
    assign, attempts = EngineFamilies.assign, []

    def restore(self, assignments):
        attempts.append(list(assignments))
        if len(attempts) == 1:
            good(method, f"{url}/_close" if method == "POST" else url)
            path = f"{repository}/1/_restore?wait_for_completion=true"
            good("POST", path, {"indices": f"{name}*"})
        return assign(self, attempts[-1])

    monkeypatch.setattr(EngineFamilies, "assign", restore)
    group(opened)
    families = {row.id: row.family for row in opened.scan()}
    assert families[principal] == families["bread"]
    assert {families[member] for member in members} <= members
    assert len(attempts) == 2


@pytest.mark.slow
def test_reindex_puts_no_mixture_in_the_place_of_an_index_that_is_restored_meanwhile(
    store, server, repository, monkeypatch
):
    opened, url = store
    name = url.rpartition("/")[2]
    before = state(opened)
    good("PUT", f"{repository}/1?wait_for_completion=true", {"indices": f"{name}*"})
    good("POST", f"{url}/_update/ferry?refresh=true", {"doc": {"text": TEXTS["bread"]}})
    delete_missing = Successor.delete_missing

    def restore(self):
        monkeypatch.setattr(Successor, "delete_missing", delete_missing)
        good("DELETE", url)
        good("POST", f"{repository}/1/_restore?wait_for_completion=true", {"indices": name})

    monkeypatch.setattr(Successor, "delete_missing", restore)
    with pytest.raises(RestoredIndex):
        reindex(opened, recipe_named("default_v2"))
    assert state(opened) == before
    reindex(opened, recipe_named("default_v2"))
    assert {row.id: row.text for row in opened.scan()} == TEXTS


@pytest.fixture
def restored(stores, engine, server):
    """A store of a recipe that no other test installs, and its URL."""
    opened, name = stores(engine, server)
    opened.prepare(RESTORED)
    assert opened.write(sample_rows(RESTORED)) == [None] * len(TEXTS)
    opened.refresh()
    yield opened, f"{server}/{name}"
    uninstall(opened, RESTORED)


def test_an_index_that_is_restored_elsewhere_signs_once_it_is_installed_there(
    restored, server, repository
):
    opened, url = restored
    name = url.rpartition("/")[2]
    install(opened)
    good("PUT", f"{repository}/1?wait_for_completion=true", {"indices": f"{name}*"})
    good("DELETE", f"{server}/{name}")
    uninstall(opened)
    good("POST", f"{repository}/1/_restore?wait_for_completion=true", {"indices": f"{name}*"})
    status, answer = call("PUT", f"{url}/_doc/new", {"text": FERRY})
    assert (status, "nearfold-restored_v1] does not exist" in str(answer)) == (400, True)
    install(opened)
    good("PUT", f"{url}/_doc/new?refresh=true", {"text": FERRY})
    assert good("GET", f"{url}/_doc/new")["_source"]["near_status"] == "complete"
    group(opened)
    assert search(opened, "ferry harbour", SearchOptions(fold="family")).families == 1


@pytest.fixture
def former(store, server, engine, open_at):
    """A store whose index and documents are as an earlier nearfold wrote them, and its URL."""
    opened, url = store
    name = f"{url.rpartition('/')[2]}-former"
    body = described(url)
    properties = body["mappings"]["properties"] | FORMER
    del properties["near_file"]
    body["mappings"]["properties"] = properties
    good("PUT", f"{server}/{name}", {**body, "aliases": {f"{name}-write": {}}})
    for row in opened.scan():
        hexadecimal = {f"near_{field}": getattr(row, field) for field in ("source", "raw", "exact")}
        document = {**rows.source(row, has_file=False), **hexadecimal}
        good("PUT", f"{server}/{name}/_doc/{row.id}", document)
    good("POST", f"{server}/{name}/_refresh")
    return open_at(f"{engine}://{server.partition('://')[2]}/{name}"), f"{server}/{name}"


def test_an_index_of_an_earlier_nearfold_is_read_written_and_grouped(store, former):
    opened, url = former
    expected = state(store[0])
    assert state(opened) == expected
    opened.prepare(DEFAULT)
    assert state(opened) == expected
    assert opened.write([row for row in sample_rows() if row.id in ("copy", "void")]) == [None] * 2
    opened.refresh()
    group(opened)
    assert state(opened) == expected
    assert "near_file" in good("GET", f"{url}/_doc/copy")["_source"]
    assert all(check.verdict != "bad" for check in doctor(opened.url))


def test_a_store_that_was_not_prepared_writes_as_the_index_is(former):
    opened, url = former
    assert opened.write([row for row in sample_rows() if row.id == "copy"]) == [None]
    stored = good("GET", f"{url}/_doc/copy")["_source"]
    assert ("near_file" in stored, len(stored["near_raw"])) == (False, 64)


def test_reindex_by_the_same_recipe_moves_an_index_to_the_fields_of_today(former, open_at):
    opened, url = former
    other = open_at(opened.url)
    before = state(opened)
    assert state(other) == before
    assert reindex(opened, DEFAULT).copied == len(TEXTS)
    assert state(opened) == state(other) == before
    stored = good("GET", f"{url}/_doc/ferry")["_source"]
    assert [name in stored for name in ("near_raw", "near_file")] == [False, True]
    assert [*stored][-1] == "text"
    assert reindex(opened, DEFAULT).copied == 0


def test_reindex_moves_an_index_to_the_fields_of_today(former, server):
    opened, url = former
    digests = {row.id: (row.raw, row.source) for row in opened.scan()}
    reindex(opened, OTHER)
    opened.refresh()
    assert {row.id: (row.raw, row.source) for row in opened.scan()} == digests
    (index,) = good("GET", url).values()
    properties = index["mappings"]["properties"]
    assert properties["near_id"] == {"type": "keyword", "index": False}
    assert properties["near_file"] == properties["near_source"]
    stored = {name: good("GET", f"{url}/_doc/{name}")["_source"] for name in ("ferry", "blank")}
    assert ["near_raw" in stored[name] for name in stored] == [False, True]
    assert len(stored["ferry"]["near_file"]) == 43
