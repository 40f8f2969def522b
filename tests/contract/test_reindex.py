"""Reindexing a store: rows signed anew, everything else unchanged, other users notified."""

import dataclasses

import pytest
from sample_rows import row

from indexer.errors import StoreError
from indexer.fingerprinting.fingerprint import fingerprint_rows
from indexer.jobs.reindex import reindex
from indexer.model import Assignment, Query
from indexer.recipe import DEFAULT, DEFAULT_V1
from indexer.searching.similar import SimilarOptions, similar

OTHER = dataclasses.replace(DEFAULT, name="other_v1", bands=9, rows=13)
TEXT = (
    "Ferries leave the harbour at eight in the morning and at six in the evening; dogs travel "
    "free on all of them."
)


@pytest.fixture
def filled(store):
    rows = [
        row(f"d{number}", text=f"{TEXT} {number}", path=f"/n/{number}", metadata={"n": str(number)})
        for number in range(12)
    ]
    rows += [
        row("empty", text="", path="/n/e"),
        dataclasses.replace(row("cut", text=TEXT, path="/n/c"), status="truncated"),
    ]
    assert set(store.write(fingerprint_rows(rows, DEFAULT))) == {None}
    store.families.assign([Assignment("d1", "d0", False, 0.9, "d0")])
    store.refresh()
    return store


@pytest.mark.parametrize("other", [OTHER, DEFAULT_V1], ids=lambda recipe: recipe.name)
def test_rows_are_signed_anew_and_everything_else_stays(filled, other):
    before = {row.id: row for row in filled.scan()}
    done = reindex(filled, other)
    assert done.copied == 14
    assert filled.stored_recipe() == other
    after = {row.id: row for row in filled.scan()}
    assert after == {id: fingerprint_rows([row], other)[0] for id, row in before.items()}
    assert (after["d1"].family, after["d1"].cluster, after["d1"].provisional) == ("d0", "d0", True)
    assert (after["cut"].status, after["empty"].status) == ("truncated", "empty")
    assert filled.search(Query("ferries")).total == 13
    assert len(similar(filled, TEXT, SimilarOptions(threshold=0.5)).matches) == 13
    old = before["d0"]
    assert not filled.candidates([(old.bands, ())], 100)[0].found
    assert "recipe" in filled.write([old])[0]
    assert filled.write(fingerprint_rows([old], other)) == [None]
    assert reindex(filled, other).copied == 0


def test_another_open_store_notices_the_new_recipe(filled, opening, kind):
    if kind == "memory":
        pytest.skip("a store in memory has one user")
    reader = opening()
    assert reader.stored_recipe() == DEFAULT
    assert len(similar(reader, TEXT, SimilarOptions(threshold=0.5)).matches) == 13
    reindex(filled, OTHER)
    assert len(similar(reader, TEXT, SimilarOptions(threshold=0.5)).matches) == 13
    assert reader.stored_recipe() == OTHER


def test_there_and_back(filled):
    before = list(filled.scan())
    reindex(filled, OTHER)
    reindex(filled, DEFAULT)
    assert list(filled.scan()) == [dataclasses.replace(row, provisional=True) for row in before]


@pytest.mark.gap("memory", reason="a new store in memory is empty")
def test_a_store_that_does_not_exist(unprepared):
    with pytest.raises(StoreError, match="nearfold index"):
        reindex(unprepared, OTHER)
