"""Deleting documents: what is deleted, what stays, and the families that remain."""

from dataclasses import replace

import pytest
from family_oracle import violations
from sample_library import edited, library, rows, sentence

from indexer.errors import UsageError
from indexer.fingerprinting.fingerprint import PROVISIONAL, ungrouped
from indexer.grouping.delete import FamilyRepair, delete, rename_clusters, repair_strays
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.jobs.index import index
from indexer.model import Query
from indexer.recipe import DEFAULT, recipe_named
from indexer.stores import open_store

LONGEST = GroupOptions(principal="longest")
LONG = sentence(1, 90)
TEXTS = {
    "a": f"{LONG} with the longest ending of all",
    "b": f"{LONG} with an ending",
    "c": LONG,
    "d": edited(LONG, 1),
    "e": sentence(2),
}


def remove(store, ids, **options):
    """Delete from a store whose families are led by the longest."""
    return delete(store, ids, principal="longest", **options)


def grouped():
    store = library(rows(TEXTS))
    group(store, LONGEST)
    assert {row.id: row.family for row in store.scan()} == {
        "a": "a",
        "b": "a",
        "c": "a",
        "d": "a",
        "e": "e",
    }
    return store


def test_a_principal_is_replaced_by_the_next_one():
    store = grouped()
    result = remove(store, ["a", "nobody"])
    assert (result.deleted, result.absent, result.repaired) == (
        ("a",),
        ("nobody",),
        (FamilyRepair("a", {"b": 3}),),
    )
    rows_left = store.get(["b", "c", "d", "e"])
    assert {id: row.family for id, row in rows_left.items()} == {
        "b": "b",
        "c": "b",
        "d": "b",
        "e": "e",
    }
    assert [rows_left[id].principal for id in "bcd"] == [True, False, False]
    assert [rows_left[id].provisional for id in "bcde"] == [True, True, True, False]
    assert [hit.id for hit in store.search(Query("longest")).hits] == []


def test_a_document_that_is_deleted_too_does_not_become_principal():
    store = grouped()
    assert remove(store, ["b", "a", "b"]).repaired == (FamilyRepair("a", {"c": 2}),)
    assert {row.id: row.family for row in store.scan()} == {"c": "c", "d": "c", "e": "e"}


def test_a_member_goes_and_nothing_else_changes():
    store = grouped()
    before = store.get(["a", "b", "c", "e"])
    assert remove(store, ["d"]).repaired == ()
    assert store.get(["a", "b", "c", "d", "e"]) == before


def test_a_whole_family_goes():
    store = grouped()
    assert remove(store, list("abcd")).repaired == ()
    assert [row.id for row in store.scan()] == ["e"]


def test_members_are_reassigned_before_the_principal_is_deleted():
    store = grouped()
    store.delete = lambda ids: pytest.fail("power cut")
    with pytest.raises(pytest.fail.Exception):
        remove(store, ["a"])
    del store.delete
    assert {row.id: row.family for row in store.scan()} == {
        "a": "a",
        "b": "b",
        "c": "b",
        "d": "b",
        "e": "e",
    }
    assert remove(store, ["a"]).repaired == ()
    assert {row.id for row in store.scan()} == set("bcde")


def test_documents_of_any_recipe_may_go():
    recipe = recipe_named("simhash-doc")
    store = library(rows(TEXTS, recipe), recipe)
    assert remove(store, ["a"]).deleted == ("a",)


def test_settings_out_of_range_delete_nothing():
    store = grouped()
    for id in ("a", "nobody"):
        with pytest.raises(UsageError):
            remove(store, [id], threshold=0)
    assert "a" in store.get(["a"])


def test_a_principal_whose_file_cannot_be_read_any_more_is_replaced(tmp_path):
    folder, store = tmp_path / "docs", open_store(f"sqlite:///{tmp_path}/x.db")
    folder.mkdir()
    for name in "abc":
        (folder / f"{name}.txt").write_text(TEXTS[name], encoding="utf-8")
    index([str(folder)], store)
    group(store, LONGEST)
    (folder / "a.txt").write_bytes(b"%PDF-1.4 broken beyond reading" * 20)
    assert len(index([str(folder)], store).failed) == 1
    rows = {row.path[-5]: row for row in store.scan()}
    assert rows.keys() == {"b", "c"} and rows["b"].family == rows["c"].family == rows["b"].id
    store.close()


def test_new_principals_are_written_before_those_who_join_them():
    store = library(rows({"a": TEXTS["a"], "b": LONG, "c": TEXTS["b"]}))
    group(store, LONGEST)
    assign, parts = store.families.assign, []

    def cut(assignments):
        parts.append(list(assignments)[:1])
        assign(parts[-1])
        pytest.fail("power cut")

    store.families.assign = cut
    with pytest.raises(pytest.fail.Exception):
        remove(store, ["a"])
    store.families.assign = assign
    assert [assignment.id for part in parts for assignment in part] == ["c"] and violations(
        store.scan()
    ) == []


def test_members_of_a_changed_principal_leave_before_a_copy_makes_it_one_again(monkeypatch):
    """Its members have another text; copies wait under a name for all documents of their text."""
    principal, copy, member = rows({"y": sentence(2), "z": sentence(2), "zz": LONG})
    waiting = f"{PROVISIONAL}copies"
    store = library(
        [
            replace(principal, family=waiting, principal=None),
            replace(copy, family=waiting, principal=None),
            replace(member, family="y", principal=False),
        ]
    )
    states = []
    assign = store.families.assign

    def seen(assignments):
        assign(assignments)
        states.append({row.id: row.family for row in store.scan()})

    monkeypatch.setattr(store.families, "assign", seen)
    repair_strays(store, DEFAULT, ["y", waiting])
    assert states == [
        {"y": waiting, "z": waiting, "zz": "zz"},
        {"y": "y", "z": "y", "zz": "zz"},
    ]


def test_a_document_that_left_its_cluster_with_another_text_gets_no_group(monkeypatch):
    """The plugin's layout keeps the cluster of an earlier text, and reads none."""
    store = library([replace(row, cluster="a") for row in rows({"a": LONG, "b": sentence(2)})])
    get = store.get

    def read(ids):
        return {id: ungrouped(row) if id == "b" else row for id, row in get(ids).items()}

    monkeypatch.setattr(store, "get", read)
    for leaving, cluster in ((["a"], "a"), ([], None)):
        rename_clusters(store, ["a"], leaving)
        assert {row.id: (row.family, row.cluster) for row in store.scan()} == {
            "a": ("a", cluster),
            "b": ("b", "a"),
        }
