"""Requests to a store while families are made on arrival: principals, members of a family, and
labels written alone.
"""

import dataclasses

import pytest
from sample_library import edited, rows, sentence
from sample_rows import band, row

from indexer.errors import UsageError
from indexer.grouping.delete import delete
from indexer.grouping.group import group
from indexer.jobs import arrival
from indexer.jobs.arrival import Arrivals
from indexer.model import Assignment
from indexer.recipe import DEFAULT


def slots(number):
    return bytes([number]) * 512


def test_principals_that_share_a_band(store):
    store.write(
        [
            row("1", bands=(band(0, 1), band(1, 1)), minhash=slots(1)),
            row("2", bands=(band(0, 2),), minhash=slots(2), principal=True),
            row("3", bands=(band(0, 3),), minhash=slots(3)),
            row("4", bands=(band(0, 1),), minhash=slots(4), status="truncated"),
            row(
                "5",
                bands=(band(0, 1),),
                minhash=slots(5),
                family="2",
                principal=False,
                similarity=0.9,
            ),
            row("6", bands=(band(0, 1),), family="x:unknown", minhash=slots(6)),
            row("7", bands=(band(0, 1),)),
        ]
    )
    store.refresh()
    principals = {
        head.id: head.minhash
        for head in store.families.principals([[band(0, 1), band(1, 1)], [band(0, 2)], []], 1000)
    }
    assert principals == {"1": slots(1), "2": slots(2)}
    assert {head.id: head.minhash for head in store.families.principals(None, 1000)} == {
        n: slots(int(n)) for n in "123"
    }
    assert (
        store.families.principals([], 1000) == store.families.principals([[band(9, 9)]], 1000) == []
    )


def test_the_row_that_shares_most_is_among_the_principals(store):
    crowd = [row(f"{place:03}", bands=(band(0, 1),), minhash=slots(1)) for place in range(60)]
    near = row("near", bands=(band(0, 1), band(1, 7)), minhash=slots(7))
    store.write([*crowd, near])
    store.refresh()
    ids = [principal.id for principal in store.families.principals([[band(0, 1), band(1, 7)]], 20)]
    assert "near" in ids and len(ids) <= 20


def test_members_of_families_and_clusters(store):
    store.write(
        [
            row("a"),
            row("b", family="a", cluster="a"),
            row("c", family="a"),
            row("d", cluster="a"),
            row("e"),
        ]
    )
    store.refresh()
    assert sorted(store.families.members("family", ["a", "e", "nobody"])) == [
        ("a", "a"),
        ("b", "a"),
        ("c", "a"),
        ("e", "e"),
    ]
    assert sorted(store.families.members("cluster", ["a"])) == [("b", "a"), ("d", "a")]
    assert list(store.families.members("family", [])) == []


def test_many_members(store):
    store.write([row(f"{place:04}", family="0000") for place in range(1_150)])
    store.refresh()
    assert sorted(store.families.members("family", ["0000"])) == [
        (f"{place:04}", "0000") for place in range(1_150)
    ]


def test_labels_alone_are_written(store):
    before = row(
        "1",
        bands=(band(0, 1),),
        minhash=b"\x01" * 8,
        labels=("old",),
        metadata={"a": "b"},
        family="2",
    )
    store.write([before, row("2")])
    assert store.labels.relabel({"1": ("privileged", "Käse\ud800"), "absent": ("x",)}) == 1
    store.refresh()
    assert store.get(["1"])["1"] == dataclasses.replace(before, labels=("privileged", "Käse\ufffd"))
    assert store.get(["2"])["2"].labels == ()
    assert store.labels.relabel({"1": ()}) == 1 and store.get(["1"])["1"].labels == ()
    assert store.labels.relabel({}) == 0
    with pytest.raises(UsageError, match="label"):
        store.labels.relabel({"1": ("x" * 40_000,)})


def stored(store):
    return {
        row.id: (row.family, row.principal, row.similarity, row.provisional) for row in store.scan()
    }


def test_families_on_arrival(store):
    texts = {
        "a": sentence(1),
        "b": edited(sentence(1), 2),
        "c": sentence(2),
        "d": "12 34",
        "e": "12 34",
    }
    arrivals = Arrivals(store, DEFAULT)
    assert arrivals.write(arrivals.assign(rows({"a": texts["a"], "c": texts["c"]}))) == [None, None]
    store.refresh()
    later = Arrivals(store, DEFAULT)
    arriving = rows(
        {"t": f"{sentence(1)} x", "b": texts["b"], "d": texts["d"], "e": texts["e"]},
        cut=frozenset("t"),
    )
    assert later.write(later.assign(arriving)) == [None] * 4
    store.refresh()
    stored_fields = stored(store)
    assert {id: fields[0] for id, fields in stored_fields.items()} == {
        "a": "a",
        "b": "a",
        "c": "c",
        "t": "a",
        "d": "d",
        "e": "e",
    }
    assert {id for id, fields in stored_fields.items() if fields[1]} == {"a", "c"}
    assert (
        0.8 <= stored_fields["b"][2] < 1
        and stored_fields["a"][2] is None
        and all(fields[3] for fields in stored_fields.values())
    )


def test_families_of_more_principals_than_are_remembered(store, monkeypatch):
    """A job that began with an empty store finds its principals again, the late ones too."""
    monkeypatch.setattr(arrival, "REMEMBERED", 12)
    texts = {
        f"{place:02}": " ".join(f"{word}{place}" for word in sentence(1).split())
        for place in range(40)
    }
    arrivals = Arrivals(store, DEFAULT)
    for kind, batch_texts in (("a", texts), ("b", texts)):
        for start in range(0, 40, 5):
            batch = {f"{kind}{id}": batch_texts[id] for id in list(batch_texts)[start : start + 5]}
            assert arrivals.write(arrivals.assign(rows(batch))) == [None] * 5
            store.refresh()
    assert {id: fields[0] for id, fields in stored(store).items()} == {
        f"{kind}{id}": f"a{id}" for kind in "ab" for id in texts
    }


def test_a_principal_whose_text_changes_leaves_its_family(store):
    texts = {
        "a": f"{sentence(1)} and more",
        "b": sentence(1),
        "c": edited(sentence(1), 1),
        "d": sentence(2),
    }
    arrivals = Arrivals(store, DEFAULT)
    arrivals.write(arrivals.assign(rows(texts)))
    store.refresh()
    assert {id: fields[0] for id, fields in stored(store).items()} == {
        "a": "a",
        "b": "a",
        "c": "a",
        "d": "d",
    }
    group(store)
    changing = Arrivals(store, DEFAULT)
    same = dataclasses.replace(rows({"b": texts["b"]})[0], source="touched")
    assert changing.write(changing.assign([*rows({"a": sentence(3)}), same], {"a", "b"})) == [
        None,
        None,
    ]
    store.refresh()
    rows_now = store.get(list("abcd"))
    assert {id: row.family for id, row in rows_now.items()} == {
        "a": "a",
        "b": "b",
        "c": "b",
        "d": "d",
    }
    assert {id: row.cluster for id, row in rows_now.items()} == {
        "a": None,
        "b": "b",
        "c": "b",
        "d": None,
    }
    assert (
        rows_now["b"].source == "touched"
        and rows_now["a"].provisional
        and not rows_now["d"].provisional
    )


@pytest.mark.parametrize("seed", [1, 2], ids=["the text of before", "another text"])
def test_a_document_that_is_read_again_keeps_its_labels(store, seed):
    arrivals = Arrivals(store, DEFAULT)
    arrivals.write(arrivals.assign(rows({"a": sentence(1)}, labels={"a": ["source", "old"]})))
    store.refresh()
    store.labels.relabel({"a": ("privileged", "source")})
    again = Arrivals(store, DEFAULT)
    new = dataclasses.replace(rows({"a": sentence(seed)})[0], source="touched", labels=("new",))
    assert again.write(again.assign([new], {"a"})) == [None]
    store.refresh()
    row = store.get(["a"])["a"]
    assert (row.text, row.labels) == (sentence(seed), ("privileged", "source", "new"))


def test_what_another_indexer_does_meanwhile(store):
    """One changes the principal while the other hands over a document that joins it."""
    if not store.shared:
        pytest.skip("this store has one writer at a time")
    first = Arrivals(store, DEFAULT)
    first.write(first.assign(rows({"a": sentence(1)})))
    store.refresh()
    first_job, second_job = Arrivals(store, DEFAULT), Arrivals(store, DEFAULT)
    joining = first_job.assign(rows({"b": sentence(1)}))
    changed = second_job.assign(
        [dataclasses.replace(rows({"a": sentence(2)})[0], source="changed")], {"a"}
    )
    assert joining[0].family == "a"
    second_job.write(changed)
    first_job.write(joining)
    assert (store.get(["b"])["b"].family, store.get(["b"])["b"].principal) == ("b", True)
    again, late = Arrivals(store, DEFAULT), Arrivals(store, DEFAULT)
    changed = again.assign(rows({"a": sentence(3)}), {"a"})
    late.write(late.assign(rows({"c": sentence(2)})))
    assert store.get(["c"])["c"].family == "a"
    again.write(changed)
    store.refresh()
    assert stored(store)["c"][0] == "c"


def test_clusters_are_renamed_when_their_first_member_is_deleted(store):
    store.write([row(id, family=id) for id in "abcde"])
    store.families.assign(
        [Assignment(id, id, True, None, "a") for id in "abc"]
        + [Assignment(id, id, True, None, "d") for id in "de"]
    )
    store.refresh()
    delete(store, ["a", "e"])
    store.refresh()
    assert {stored_row.id: stored_row.cluster for stored_row in store.scan()} == {
        "b": "b",
        "c": "b",
        "d": None,
    }
