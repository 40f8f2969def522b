"""Scans, families written back, and counts."""

import dataclasses
from functools import cache

import pytest
from family_oracle import families_of
from sample_library import fill, marked_rows, rows, sentence
from sample_rows import band, row

from indexer.errors import StoreError, UsageError
from indexer.grouping.delete import delete
from indexer.grouping.families import FamiliesOptions, ListedMember, families
from indexer.grouping.group import group
from indexer.grouping.match import MatchOptions, match
from indexer.model import Assignment, Facet, Query
from indexer.recipe import DEFAULT
from indexer.searching.similar import similar_many
from indexer.stores import open_store
from indexer.stores.abilities import AssignmentResult, Outline, outlines


def test_the_mail_leads_those_that_quote_it_also_when_one_is_deleted(store):
    mail = sentence(1, 80)
    texts = {
        "a": f"Yes.\n\n> {mail}",
        "b": f"See below.\n\nFrom: Ann\nSent: today\nTo: Bob\n\n{mail}",
        "c": f"{mail} Ann",
        "d": mail,
    }
    assert store.write(rows(texts)) == [None] * len(texts)
    group(store)
    assert families_of(store) == dict.fromkeys("abcd", "d")
    delete(store, ["d"])
    store.refresh()
    assert families_of(store) == dict.fromkeys("abc", "c")


def found_in(store):
    """Return the pairs, the groups and the marks that a store finds in texts with each mark."""
    fill(store, marked_rows())
    pairs = [(pair.a, pair.b, pair.similarity) for pair in match(store, MatchOptions(0.8))]
    group(store)
    store.refresh()
    groups = [(row.id, row.family, row.principal, row.similarity) for row in store.scan()]
    ids = [row.id for row in marked_rows() if row.id.endswith("a")]
    marks = [
        (match.id, [mark.kind for mark in match.marks])
        for result in similar_many(store, ids=ids)
        for match in result.matches
    ]
    return pairs, groups, marks


@cache
def found_in_memory():
    store = open_store("sqlite://:memory:")
    store.prepare(DEFAULT)
    return found_in(store)


def test_every_store_finds_the_same_pairs_groups_and_marks(store):
    """Spark finds the same: see tests/spark/test_same_result.py."""
    pairs, groups, marks = found_in(store)
    assert (pairs, groups, marks) == found_in_memory()
    kinds = {kind for _, of_match in marks for kind in of_match}
    assert {"negated", "parties_exchanged", "version", "accents", "embedded", "message"} <= kinds
    assert len(kinds) >= 18 and 15 < len({group for _, group, *_ in groups}) < len(groups)


def test_scan_gives_every_row_by_id(store):
    rows = [
        row(name, text=f"text of {name}", bands=(band(0, 1),))
        for name in ["b", "a", "B", "ä", "\U0001f600", "\uffff", "10", "9"]
    ]
    store.write(rows)
    store.refresh()
    assert list(store.scan()) == sorted(rows, key=lambda stored_row: stored_row.id.encode())


def test_scan_pages(store):
    rows = [row(f"{place:04}") for place in range(333)]
    store.write(rows)
    store.refresh()
    assert list(store.scan()) == rows


def test_outlines_are_those_of_scan(store):
    stored = {
        f"d{place:04}": row(
            f"d{place:04}",
            labels=("hot", "näher") if place % 3 else (),
            status="empty" if place % 5 == 0 else "complete",
            family=f"d{place // 4 * 4:04}",
            similarity=None if place % 4 == 0 else 0.875,
            provisional=bool(place % 2),
        )
        for place in range(2_003)
    }
    store.write(list(stored.values()))
    store.refresh()
    read = sorted(outlines(store))
    assert read == [
        tuple(getattr(document, name) for name in Outline._fields) for document in store.scan()
    ]
    assert len(read) == len(stored)


def test_scan_under_a_folder(store):
    paths = [
        "/a",
        "/a/x",
        "/a/b/c",
        "/ab",
        "/a.txt",
        "/a0",
        "/",
        "/A/x",
        "/a/*",
        "a/x",
        "/a%/x",
        "/a/\nnew\nline",
    ]
    store.write([row(f"{place:02}", path=path) for place, path in enumerate(paths)])
    store.refresh()
    assert [stored_row.path for stored_row in store.scan("/a")] == [
        "/a",
        "/a/x",
        "/a/b/c",
        "/a/*",
        "/a/\nnew\nline",
    ]
    assert [stored_row.path for stored_row in store.scan("/a/")] == [
        "/a/x",
        "/a/b/c",
        "/a/*",
        "/a/\nnew\nline",
    ]
    assert [stored_row.path for stored_row in store.scan("/a/b/c")] == ["/a/b/c"]
    assert [stored_row.path for stored_row in store.scan("/a%")] == ["/a%/x"]
    assert [stored_row.path for stored_row in store.scan("a")] == ["a/x"]
    assert [stored_row.path for stored_row in store.scan("/")] == [
        path for path in paths if path.startswith("/")
    ]
    assert list(store.scan("/nowhere")) == []


def test_scan_while_families_are_written(store):
    store.write([row(f"{place:03}") for place in range(250)])
    store.refresh()
    seen = []
    for stored_row in store.scan():
        seen.append(stored_row.id)
        if len(seen) % 50 == 0:
            store.families.assign([Assignment(name, "f", False, 0.9, None) for name in seen])
    assert seen == [f"{place:03}" for place in range(250)]


def test_assigning_changes_the_family_and_nothing_else(store):
    before = row(
        "1",
        bands=(band(0, 1),),
        minhash=b"\x01" * 8,
        simhash=2**64 - 1,
        metadata={"a.b": "c\x00", "long": "x" * 40_000},
    )
    store.write([before, row("2", principal=True, similarity=0.5, cluster="c")])
    assignments = [
        Assignment("1", "2", False, 0.8125, "k"),
        Assignment("absent", "2", False, 1.0, None),
        Assignment("2", "2", True, None, None),
    ]
    assert store.families.assign(iter(assignments)) == AssignmentResult(written=2)
    store.refresh()
    rows = store.get(["1", "2"])
    assert rows["1"] == dataclasses.replace(
        before, family="2", principal=False, similarity=0.8125, cluster="k", provisional=False
    )
    assert (
        rows["2"].principal,
        rows["2"].similarity,
        rows["2"].cluster,
        rows["2"].provisional,
    ) == (True, None, None, False)
    assert store.counts().families == 1
    assert store.counts().documents == 2


def test_the_last_assignment_of_an_id_wins(store):
    store.write([row("1")])
    assignments = [
        Assignment("1", "x", False, 0.1, None),
        Assignment("1", "y", False, 0.2, None, provisional=True),
    ]
    assert store.families.assign(assignments).written == 1
    assert (store.get(["1"])["1"].family, store.get(["1"])["1"].provisional) == ("y", True)


def test_many_assignments(store):
    store.write([row(f"{place:04}") for place in range(1_100)])
    assignments = (
        Assignment(f"{place:04}", f"{place % 7}", False, 0.9, None) for place in range(1_200)
    )
    assert store.families.assign(assignments).written == 1_100
    store.refresh()
    assert store.counts().families == 7


def test_counts(store):
    assert store.counts().documents == 0
    assert store.counts().families == 0
    store.write(
        [
            row("1", family="f"),
            row("2", family="f", status="truncated"),
            row("3", status="empty", content_type="application/pdf"),
            row("4", content_type=""),
        ]
    )
    store.refresh()
    counts = store.counts()
    assert counts.documents == 4
    assert counts.by_status == {"complete": 2, "truncated": 1, "empty": 1}
    assert counts.by_content_type == {"text/plain": 2, "application/pdf": 1, "": 1}
    assert counts.families == 3
    assert counts.size_bytes is None or counts.size_bytes > 0


@pytest.fixture
def shelf(store):
    """Families f (three documents), p (two) and q (two), a single one, and one that never was."""
    store.write(
        [
            row("f", path="/b/1", family="f", principal=True, provisional=False),
            row("g", path="/b/3", family="f", similarity=0.875, provisional=False),
            row("h", path="/b/2", family="f", similarity=0.9375, labels=("x",), provisional=False),
            row("q", path="/c/1", family="q", principal=True, provisional=False),
            row("r", path="/c/2", family="q", similarity=0.875),
            row("p", path="/a/9", family="p", principal=True, provisional=False),
            row("s", path="/z/1", family="p", labels=("x", "y"), similarity=1.0, provisional=False),
            row("t", path="/z/2", family="t"),
            row("u", path="/z/3", family="gone"),
        ]
    )
    store.refresh()
    return store


def listed(store, **options):
    return [
        (family.principal, family.size) for family in families(store, FamiliesOptions(**options))
    ]


def test_families_are_listed_by_size_and_then_by_path(shelf):
    assert listed(shelf) == [("f", 3), ("p", 2), ("q", 2)]
    assert listed(shelf, least=3) == [("f", 3)]
    assert listed(shelf, least=4) == []
    assert listed(shelf, least=1) == [("f", 3), ("p", 2), ("q", 2), ("t", 1), ("gone", 1)]


def test_families_of_a_label_or_a_path_are_listed_whole(shelf):
    assert listed(shelf, label="x") == [("f", 3), ("p", 2)]
    with pytest.raises(UsageError, match=r"no document carries the label 'absent'; .*: x, y"):
        listed(shelf, label="absent")
    assert listed(shelf, path="/z") == [("p", 2)]
    assert listed(shelf, path="/c/2") == listed(shelf, path="/c/") == [("q", 2)]
    assert listed(shelf, path="/c/") == [("q", 2)]
    assert listed(shelf, path="/") == listed(shelf)
    assert listed(shelf, path="/b", label="y") == []
    with pytest.raises(UsageError, match="no document is at '/nope' or below it"):
        listed(shelf, path="/nope")


def test_members_of_listed_families(shelf):
    first, *_, last = families(shelf)
    assert first.members == (
        ListedMember("f", "/b/1", 1.0),
        ListedMember("h", "/b/2", 0.9375),
        ListedMember("g", "/b/3", 0.875),
    )
    assert (first.provisional, last.provisional) == (0, 1)


def test_members_come_by_similarity_and_new_words(store):
    words = [f"word{place}" for place in range(40)]
    texts = {
        "p": " ".join(words),
        "q": " ".join([*words[:39], "new"]),
        "r": " ".join([*words[:39], words[0]]),
    }
    similarities = {"p": None, "q": 0.975, "r": 0.975}
    store.write(
        [
            row(id, text=text, family="p", similarity=similarities[id], path=f"/{id}")
            for id, text in texts.items()
        ]
    )
    store.refresh()
    [listed_family] = families(store)
    assert [member.id for member in listed_family.members] == ["p", "r", "q"]


def test_many_families_are_listed(store):
    store.write([row(f"{place:04}", family=f"{place - place % 2:04}") for place in range(1300)])
    store.refresh()
    assert listed(store) == [(f"{place:04}", 2) for place in range(0, 1300, 2)]


@pytest.mark.gap("memory", reason="a new store in memory is empty")
def test_families_of_nothing_are_refused(unprepared):
    with pytest.raises(StoreError):
        list(families(unprepared))
    with pytest.raises(UsageError, match="one document"):
        FamiliesOptions(least=0)


def test_numbers_of_families_are_exact_or_said_to_be_estimates(store, monkeypatch):
    monkeypatch.setattr("indexer.stores.engine.search_bodies.MAX_COUNTED", 5)
    monkeypatch.setattr("indexer.stores.engine.search_bodies.MAX_COUNTED_IN_STORE", 5)
    store.write(row(str(number), family=f"f{number // 2}") for number in range(12))
    store.refresh()
    relation = "approximate" if store.url.startswith(("opensearch", "elasticsearch")) else "eq"
    page = store.search(Query("", facets=("family", "status"), families=True))
    assert (page.families, page.families_relation) == (6, relation)
    assert page.facets["status"] == (Facet("complete", 12, 6, relation),)
    counts = store.counts()
    assert (counts.families, counts.families_relation) == (6, relation)
    store.delete(["0", "1"])
    store.refresh()
    page = store.search(Query("", families=True))
    assert (page.families, page.families_relation) == (5, "eq")
    assert store.counts().families_relation == "eq"
