"""What nearfold keeps in a search engine agrees with the documents again after a repair."""

from dataclasses import replace

import pytest
from pipelines import store_url

from indexer.grouping.group import group
from indexer.indexing.index import index as indexing
from indexer.model import Assignment
from indexer.operations.repair import repair
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
    assert store.families.assign(wrong_assignments) == 2
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
