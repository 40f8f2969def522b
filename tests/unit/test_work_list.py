"""The work list orders, counts and follows labels as its definition does, family by family."""

from collections import defaultdict
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.coding import Coding, CodingField
from indexer.errors import UsageError
from indexer.model import Row
from indexer.recipe import DEFAULT
from indexer.review.work_list import Labels, Order, Part, WorkItem, WorkList
from indexer.stores import open_store
from tests.sample_rows import row

LABELS = st.sampled_from([(), ("hot",), ("cold",), ("hot", "cold"), ("noted",)])
DOCUMENTS = st.lists(
    st.tuples(st.integers(0, 5), LABELS, st.sampled_from([0.9, 0.95, 1.0])), max_size=24
)


def rows_of(documents: list[tuple[int, Labels, float]]) -> list[Row]:
    """Return rows of a few families; the first of each family is its principal, but of family 5."""
    seen: set[int] = set()
    rows = []
    for number, (family, labels, similarity) in enumerate(documents):
        is_first = family not in seen and family != 5
        seen.add(family)
        name = f"f{family}" if is_first else f"m{number}"
        values = {"similarity": None if is_first else similarity, "labels": labels}
        rows.append(row(name, family=f"f{family}", **values))
    return rows


def defined_items(rows: list[Row], judgements: tuple[str, ...]) -> list[WorkItem]:
    families = defaultdict(list)
    for document in rows:
        families[document.family].append(document)
    items = []
    for name, members in families.items():
        paths = [member.path for member in members if member.id == name] or [name]
        similar = [member.similarity for member in members if member.id != name]
        judged = [
            tuple(sorted(set(member.labels) & set(judgements) if judgements else member.labels))
            for member in members
        ]
        labelled = [labels for labels in judged if labels]
        least = min((value for value in similar if value is not None), default=None)
        conflict = len(set(labelled)) > 1
        items.append(WorkItem(name, paths[0], len(members), len(labelled), least, conflict))
    return items


KEYS = {
    "size": lambda item: (-item.documents, item.family),
    "similarity": lambda item: (
        1.0 if item.similarity is None else item.similarity,
        item.family,
    ),
    "conflict": lambda item: (not item.conflict, -item.documents, item.family),
    "unreviewed": lambda item: (item.reviewed - item.documents, item.family),
}
IS_IN = {
    "open": lambda item: item.reviewed < item.documents,
    "done": lambda item: item.reviewed == item.documents,
    "conflict": lambda item: item.conflict,
    "all": lambda item: True,
}


@pytest.mark.long
@pytest.mark.parametrize("judgements", [(), ("hot", "cold")])
@given(DOCUMENTS, st.data())
def test_lists_are_those_of_the_definition(
    judgements: tuple[str, ...], documents: list[tuple[int, Labels, float]], data: st.DataObject
) -> None:
    store = open_store("sqlite:///:memory:")
    store.prepare(DEFAULT)
    rows = rows_of(documents)
    store.write(rows)
    work = WorkList(store, Coding((CodingField("", judgements),)))
    store.close()
    for _ in range(2):
        items = defined_items(rows, judgements)
        for order in get_args(Order):
            for least, most in ((1, 0), (2, 0), (2, 3)):
                chosen = [i for i in items if least <= i.documents <= (most or i.documents)]
                places = work.positions(order, least, most)
                assert [work[at] for at in places.tolist()] == sorted(chosen, key=KEYS[order])
                reviewed, total = (
                    sum(i.reviewed for i in chosen),
                    sum(i.documents for i in chosen),
                )
                assert work.counts(places) == (reviewed, total)
        every = work.positions("size", 1)
        assert work.counts() == work.counts(every)
        for part in get_args(Part):
            names = {work[at].family for at in work.in_part(every, part).tolist()}
            assert names == {item.family for item in items if IS_IN[part](item)}
        assert {work[at].family for at in work.of_families(every, ["f1", "none"]).tolist()} == (
            {"f1"} & {document.family for document in rows}
        )
        changed = {document.id: data.draw(LABELS) for document in rows}
        work.relabel((document.family, document.labels, changed[document.id]) for document in rows)
        rows = [
            row(r.id, family=r.family, similarity=r.similarity, labels=changed[r.id]) for r in rows
        ]


def test_a_list_of_one_field() -> None:
    fields = (
        CodingField("relevance", ("yes", "no"), required=True),
        CodingField("issues", ("a", "b"), many=True),
    )
    labels = [
        (0, ("relevance=yes", "issues=a", "hot"), 1.0),
        (0, ("relevance=yes", "issues=b"), 0.9),
        (1, ("issues=a",), 1.0),
        (2, (), 1.0),
    ]
    store = open_store("sqlite:///:memory:")
    store.prepare(DEFAULT)
    store.write(rows_of(labels))
    work = WorkList(store, Coding(fields))
    store.close()
    issues = work.of_field("issues")
    every = work.positions("size", 1)
    assert (work.counts(), issues.counts()) == ((2, 4), (3, 4))
    assert work.of_field("relevance").in_part(every, "conflict").tolist() == []
    assert issues.in_part(every, "conflict").tolist() == [0]
    assert work.in_part(every, "conflict").tolist() == [0]
    assert issues.in_part(every, "open").tolist() == [2]
    assert work.with_label(every, "issues=a").tolist() == [0, 1]
    work.relabel([("f1", ("issues=a",), ("relevance=no",))])
    assert (work.counts(), issues.counts()) == ((3, 4), (2, 4))
    assert work.with_label(every, "issues=a").tolist() == [0]
    assert +work.labelled == {
        "relevance=yes": 2,
        "issues=a": 1,
        "issues=b": 1,
        "hot": 1,
        "relevance=no": 1,
    }
    with pytest.raises(UsageError, match="the fields are: relevance, issues"):
        work.of_field("none")


def test_a_document_with_two_values_of_a_field_is_a_conflict() -> None:
    fields = (CodingField("privilege", ("yes", "no")), CodingField("issues", ("a", "b"), many=True))
    labels = [
        (0, ("privilege=yes", "privilege=no"), 1.0),
        (1, ("issues=a", "issues=b"), 1.0),
    ]
    store = open_store("sqlite:///:memory:")
    store.prepare(DEFAULT)
    store.write(rows_of(labels))
    work = WorkList(store, Coding(fields))
    store.close()
    assert work.in_part(work.positions("size", 1), "conflict").tolist() == [0]
