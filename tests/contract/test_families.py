"""Scans, families written back, and counts."""

import dataclasses

from sample_rows import band, row

from indexer.model import Assignment


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
    assert store.families.assign(iter(assignments)) == 2
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
    assert (
        store.families.assign(
            [
                Assignment("1", "x", False, 0.1, None),
                Assignment("1", "y", False, 0.2, None, provisional=True),
            ]
        )
        == 1
    )
    assert (store.get(["1"])["1"].family, store.get(["1"])["1"].provisional) == ("y", True)


def test_many_assignments(store):
    store.write([row(f"{place:04}") for place in range(1_100)])
    assert (
        store.families.assign(
            Assignment(f"{place:04}", f"{place % 7}", False, 0.9, None) for place in range(1_200)
        )
        == 1_100
    )
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
