"""What nearfold keeps in a search engine agrees with the documents again after a repair."""

from dataclasses import replace

import pytest
from test_engine_stores import index, opened, store_url  # noqa: F401 - fixtures

from indexer.grouping.group import group
from indexer.indexing.index import index as indexing
from indexer.model import Assignment
from indexer.operations.repair import repair
from indexer.stores.base import Store

LEASE = (
    "The landlord lets the warehouse at the quay to the tenant for {} years. The tenant keeps the roof in repair, insures the "
    "goods, and lets the landlord inspect the building twice a year after written notice; the rent is due in advance."
)


@pytest.fixture
def store(engine, server, index, opened, tmp_path, monkeypatch) -> Store:  # noqa: F811
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "papers").mkdir()
    for years in ("five", "six", "nine"):
        (tmp_path / "papers" / f"{years}.txt").write_text(LEASE.format(years))
    made = opened(store_url(engine, server, index))
    indexing([str(tmp_path / "papers")], made, workers=1)
    group(made)
    return made


def test_keys_families_and_clusters_are_repaired(store: Store) -> None:
    assert repair(store) == ()
    before = {row.id: row for row in store.scan()}
    first, second, third = sorted(before)
    store.write([replace(before[first], bands=("0001", "0002"), exact="no")])
    lost = [Assignment(id, "gone", False, 0.9, "gone") for id in (second, third)]
    assert store.families.assign(lost) == 2
    store.refresh()
    assert [one.what for one in repair(store, dry_run=True)] == ["keys", "families", "clusters"]
    assert {one.what for one in repair(store) if one.repaired} == {"keys", "families", "clusters"}
    store.refresh()
    group(store)
    assert repair(store) == ()
    after = {row.id: row for row in store.scan()}
    assert {id: (row.bands, row.exact, row.minhash) for id, row in after.items()} == {
        id: (row.bands, row.exact, row.minhash) for id, row in before.items()
    }
    assert len({row.family for row in after.values()}) == 1
