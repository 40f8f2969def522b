"""Parts of documents: rows of their own that come and go with their document, and are never taken
for one.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from sample_rows import band, block, row

from indexer.grouping.delete import delete
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.jobs.index import IndexOptions, index
from indexer.model import Assignment, Query, Row
from indexer.searching.search import SearchOptions, search

LAW = (
    "This Agreement is governed by the law of Jersey, and its courts alone decide on disputes "
    "under it or about it."
)
NOTICES = (
    "A notice is given in writing, and is received when it is handed over at the address above "
    "during business hours."
)
KEYS = (band(0, 1), band(1, 2))


def part(parent: str, number: int, **changes) -> Row:
    place = {
        "parent": parent,
        "start": 10 * number,
        "stop": 10 * number + 9,
        "path": f"/library/{parent}.txt",
    }
    return row(f"{parent}#{number}", **{"bands": KEYS, **place, **changes})


def divide(id: str, count: int, **changes) -> Row:
    return row(
        id, bands=KEYS, parts=tuple(part(id, number) for number in range(1, count + 1)), **changes
    )


@pytest.fixture
def parts(store):
    store.parts.record("clauses_v1")
    return store


def ids(rows) -> list[str]:
    return [row.id for row in rows]


def test_the_division_of_documents_is_stored(store):
    assert store.parts.kind() is None
    store.parts.record("clauses_v1")
    assert store.parts.kind() == "clauses_v1"
    assert store.parts.attachments()
    store.parts.record_attachments(False)
    assert (store.parts.attachments(), store.parts.kind()) == (False, "clauses_v1")
    assert store.stored_recipe() is not None


def test_a_part_comes_back_as_it_was_written(parts):
    stored_part = part(
        "a", 1, blocks=(block(0, 7),), simhash=1 << 63, minhash=b"\0" * 512, labels=("one",)
    )
    assert parts.write([row("a", parts=(stored_part,))]) == [None]
    assert parts.get(["a#1"])["a#1"] == stored_part
    assert parts.get(["a"])["a"].parts is None


def test_each_view_sees_its_own(parts):
    parts.write([divide("a", 2), divide("b", 1)])
    parts.refresh()
    for scope, expected in (
        ("documents", ["a", "b"]),
        ("parts", ["a#1", "a#2", "b#1"]),
        ("both", ["a", "a#1", "a#2", "b", "b#1"]),
    ):
        view = parts.parts.view(scope)
        assert ids(view.scan()) == expected
        assert ids(view.scan(under="/library")) == expected
        assert sorted(ids(view.search(Query("brown fox")).hits)) == expected
        assert sorted(ids(view.search(Query("")).hits)) == expected
        assert view.search(Query("fox", families=True, facets=("status",))).families == len(
            expected
        )
        assert sorted(ids(view.candidates([(KEYS, ())], 10)[0].found)) == expected
        assert {
            candidate.keys_shared for candidate in view.candidates([(KEYS, ())], 10)[0].found
        } == {2}
        assert view.counts().documents == view.counts().families == len(expected)
        assert view.counts().parts == 3
    assert ids(parts.scan()) == ["a", "b"]


def test_principals_of_each_view(parts):
    sketch = {"minhash": b"\0\0\0\1" * 128, "principal": True}
    parts.write([row("a", bands=KEYS, parts=(part("a", 1, **sketch),), **sketch)])
    parts.refresh()
    for scope, expected in (("documents", ["a"]), ("parts", ["a#1"]), ("both", ["a", "a#1"])):
        assert sorted(ids(parts.parts.view(scope).families.principals([KEYS], 10))) == expected
        assert sorted(ids(parts.parts.view(scope).families.principals(None, 10))) == expected


def test_a_key_is_hot_among_rows_of_its_view_only(parts):
    parts.frequent_key_floor, parts.frequent_key_fraction = 2, 0.0
    parts.write([divide("a", 3)])
    parts.refresh()
    assert parts.candidates([(KEYS, ())], 10)[0].capped_keys == ()
    assert parts.parts.view("parts").candidates([(KEYS, ())], 10)[0].capped_keys == KEYS


def test_fewer_parts_remove_the_old_ones(parts):
    parts.write([divide("a", 3), divide("b", 2)])
    parts.write([divide("a", 1)])
    parts.refresh()
    assert ids(parts.parts.view("parts").scan()) == ["a#1", "b#1", "b#2"]
    assert sorted(ids(parts.parts.view("parts").search(Query("fox")).hits)) == ["a#1", "b#1", "b#2"]
    parts.write([row("b", parts=())])
    parts.refresh()
    assert ids(parts.parts.view("parts").scan()) == ["a#1"]


def test_sending_again_changes_nothing(parts):
    for _ in range(2):
        parts.write([divide("a", 2)])
    parts.refresh()
    assert ids(parts.parts.view("both").scan()) == ["a", "a#1", "a#2"]
    assert len(parts.parts.view("parts").candidates([(KEYS, ())], 10)[0].found) == 2


def test_a_row_without_parts_leaves_stored_parts(parts):
    parts.write([divide("a", 2)])
    parts.write([row("a", title="Another title")])
    parts.refresh()
    assert ids(parts.parts.view("parts").scan()) == ["a#1", "a#2"]


def test_deleting_a_document_deletes_its_parts(parts):
    parts.write([divide("a", 2), divide("b", 1)])
    assert parts.delete(["a", "absent"]) == 1
    parts.refresh()
    assert ids(parts.parts.view("both").scan()) == ["b", "b#1"]
    assert parts.get(["a#1"]) == {}
    assert sorted(parts.families.members("parent", ["a", "b"])) == [("b#1", "b")]


def test_labels_reach_the_parts(parts):
    parts.write([divide("a", 1)])
    parts.refresh()
    assert parts.labels.relabel({"a": ["reviewed"]}) == 1
    parts.refresh()
    assert parts.get(["a#1"])["a#1"].labels == ("reviewed",)
    assert ids(parts.parts.view("parts").search(Query("", (("labels", "reviewed"),))).hits) == [
        "a#1"
    ]


def test_families_of_parts(parts):
    parts.write([divide("a", 1), divide("b", 1)])
    assert parts.families.assign([Assignment("b#1", "a#1", False, 0.9, None)]).written == 1
    parts.refresh()
    assert sorted(parts.parts.view("parts").families.members("family", ["a#1"])) == [
        ("a#1", "a#1"),
        ("b#1", "a#1"),
    ]
    assert parts.parts.view("parts").counts().families == 1
    assert parts.counts().families == 2


def test_a_document_is_refused_with_its_part(parts):
    bad = replace(part("a", 1), recipe="another")
    refused, accepted = parts.write([row("a", parts=(bad,)), divide("b", 1)])
    assert "another" in refused
    assert accepted is None
    parts.refresh()
    assert ids(parts.parts.view("both").scan()) == ["b", "b#1"]


def test_documents_are_indexed_with_their_parts(unprepared, tmp_path):
    folder = tmp_path / "contracts"
    folder.mkdir()
    for name in ("one", "two"):
        (folder / f"{name}.txt").write_text(
            f"1. Title {name}. {LAW}\n\n2. Notices. {NOTICES}\n\n3. Law. {LAW}"
        )
    index([str(folder)], unprepared, IndexOptions(parts="clauses"))
    assert len(list(unprepared.parts.view("parts").scan())) == 6
    assert search(unprepared, "courts", SearchOptions(of="parts")).total == 4
    assert group(unprepared, GroupOptions(of="parts")).families == 2
    (folder / "one.txt").write_text(f"1. Notices. {NOTICES}")
    assert index([str(folder)], unprepared).indexed == 1
    rows = {row.id: row for row in unprepared.parts.view("parts").scan()}
    assert len(rows) == 4
    assert all(row.family in rows for row in rows.values())
    delete(unprepared, [row.id for row in unprepared.scan() if row.path.endswith("two.txt")])
    assert [row.title for row in unprepared.parts.view("parts").scan()] == ["1 Notices"]
    assert unprepared.parts.view("both").counts().documents == 2


def test_documents_of_before_are_divided(unprepared, tmp_path):
    (tmp_path / "one.txt").write_text(f"1. Notices. {NOTICES}\n\n2. Law. {LAW}")
    index([str(tmp_path / "one.txt")], unprepared)
    assert (
        index([str(tmp_path / "one.txt")], unprepared, IndexOptions(parts="clauses")).unchanged == 1
    )
    assert [row.title for row in unprepared.parts.view("parts").scan()] == ["1 Notices", "2 Law"]
    assert unprepared.parts.kind() == "clauses_v3"
