"""What nearfold keeps in a search engine agrees with the documents again after a repair."""

from dataclasses import replace

import pytest
from pipelines import good, store_url

from indexer.grouping.group import group
from indexer.jobs.index import index as indexing
from indexer.jobs.install import install
from indexer.jobs.repair import repair
from indexer.model import Assignment
from indexer.stores.base import Store

LEASE = (
    "The landlord lets the warehouse at the quay to the tenant for {} years. The tenant keeps the "
    "roof in repair, insures the goods, and lets the landlord inspect the building twice a year "
    "after written notice; the rent is due in advance."
)


@pytest.fixture
def store(engine, server, index, open_at, tmp_path, monkeypatch) -> Store:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "papers").mkdir()
    for years in ("five", "six", "nine"):
        (tmp_path / "papers" / f"{years}.txt").write_text(LEASE.format(years))
    store = open_at(store_url(engine, server, index))
    indexing([str(tmp_path / "papers")], store, workers=1)
    group(store)
    return store


def test_keys_families_and_clusters_are_repaired(store: Store) -> None:
    assert repair(store) == ()
    before = {row.id: row for row in store.scan()}
    first, second, third = sorted(before)
    store.write([replace(before[first], bands=("0001", "0002"), exact="no")])
    wrong_assignments = [Assignment(id, "gone", False, 0.9, "gone") for id in (second, third)]
    assert store.families.assign(wrong_assignments).written == 2
    store.refresh()
    assert [finding.what for finding in repair(store, dry_run=True)] == [
        "keys",
        "families",
        "clusters",
    ]
    assert {finding.what for finding in repair(store) if finding.repaired} == {
        "keys",
        "families",
        "clusters",
    }
    store.refresh()
    group(store)
    assert repair(store) == ()
    after = {row.id: row for row in store.scan()}
    assert {id: (row.bands, row.exact, row.minhash) for id, row in after.items()} == {
        id: (row.bands, row.exact, row.minhash) for id, row in before.items()
    }
    assert len({row.family for row in after.values()}) == 1


def test_documents_of_other_programs_with_a_parent_are_left(
    engine, server, stores, tmp_path, monkeypatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    store, index = stores(engine, server)
    theirs = {"text": LEASE, "near_parent": "gone"}
    good("PUT", f"{server}/{index}/_doc/a?refresh=true", {"text": LEASE})
    install(store)
    good("POST", f"{server}/{index}/_update_by_query?pipeline=nearfold-default_v3&refresh=true")
    store.parts.record("clauses_v1")
    lines = []
    for id in ("1", "gone#x", "gone#2"):
        lines += [{"index": {"_id": id}}, theirs]
    lines += [{"index": {"_id": "gone#1"}}, {**theirs, "near_start": 0, "near_stop": 9}]
    lines += [{"index": {"_id": "child"}}, {**theirs, "near_parent": "a"}]
    answer = good("POST", f"{server}/{index}/_bulk?refresh=true&pipeline=_none", lines)
    assert not answer["errors"]
    foreign = "4 documents of other programs with a `near_parent`, which are left as they are"
    assert {finding.found: finding.repaired for finding in repair(store)}[foreign] is False
    store.refresh()
    assert {row.id for row in store.parts.view("parts").scan()} == {
        "1",
        "gone#x",
        "gone#2",
        "child",
    }
    assert store.labels.relabel({"a": ("seen",)}) == 1
    assert store.delete(["a"]) == 1
    assert "labels" not in good("GET", f"{server}/{index}/_doc/child")["_source"]
