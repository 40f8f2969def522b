"""Versions of stored documents: dates, copies, what is told of an order that nobody can know."""

import dataclasses

import pytest
from sample_library import edited, library, rows, sentence

from indexer.comparing.versions import versions
from indexer.errors import DocumentNotFound
from indexer.grouping.group import group
from indexer.stores.base import Store

DRAFT = sentence(0, 80)
FIRST = edited(DRAFT, 2) + " and"
TEXTS = {
    "c": DRAFT,
    "a": FIRST,
    "b": f"{FIRST} three more words",
    "copy": DRAFT.upper(),
    "other": sentence(5),
}


def kept(dates: dict[str, int | None], metadata: dict[str, dict[str, str]] | None = None) -> Store:
    made = [
        dataclasses.replace(
            row, modified=dates.get(row.id), metadata=(metadata or {}).get(row.id, {})
        )
        for row in rows(TEXTS)
    ]
    store = library(made)
    group(store)
    return store


def steps(store: Store, **settings: bool) -> list[tuple[str, str | None, bool | None]]:
    found = versions(store, "a", **settings).versions
    return [(one.id, one.step and one.step.origin, one.step and one.step.dated) for one in found]


def test_dates_give_the_direction() -> None:
    assert steps(kept({"c": 10, "a": 20, "b": 30, "copy": 40})) == [
        ("c", None, None),
        ("a", "c", True),
        ("b", "a", True),
    ]
    assert steps(kept({"c": 30, "a": 20, "b": 10, "copy": 40})) == [
        ("b", None, None),
        ("a", "b", True),
        ("c", "a", True),
    ]


def test_a_copy_may_be_older_than_what_stands_for_it() -> None:
    [first, *_] = versions(kept({"c": 30, "a": 20, "b": 25, "copy": 5}), "b").versions
    assert (first.id, first.date, first.copies) == ("c", 5, (("copy", "/library/copy.txt"),))


def test_documents_know_their_dates_better_than_their_files() -> None:
    told = {
        "a": {"modified": "1999-01-01T00:00:00Z"},
        "b": {"created": "2000-01-01T00:00:00"},
        "c": {"modified": "soon"},
    }
    found = versions(kept({"c": 2_000_000_000_000, "a": 1, "b": 1}, told), "a").versions
    assert [(one.id, one.source) for one in found] == [
        ("a", "document"),
        ("b", "document"),
        ("c", "file"),
    ]


def test_without_dates_the_direction_is_not_known() -> None:
    for store, settings in ((kept({}), {}), (kept({"c": 30, "a": 20, "b": 10}), {"dates": False})):
        found = versions(store, "a", **settings)
        assert {one.step.dated for one in found.versions if one.step} == {False}
        assert [(one.id, one.step and one.step.origin) for one in found.versions] == [
            ("c", None),
            ("a", "c"),
            ("b", "a"),
        ]
        assert any("not known for 2 of 2 steps" in note for note in found.notes)


def test_steps_count_words() -> None:
    found = {one.id: one for one in versions(kept({"c": 10, "a": 20, "b": 30}), "a").versions}
    assert (found["a"].step.added, found["a"].step.removed) == (3, 2)
    assert (found["b"].step.added, found["b"].step.removed) == (3, 0)
    assert found["b"].step.similarity > 0.8
    assert (found["a"].depth, found["b"].depth) == (1, 2)


def test_one_alone_and_one_unknown() -> None:
    store = kept({})
    assert [(one.id, one.step) for one in versions(store, "other").versions] == [("other", None)]
    assert versions(store, "other").notes == ()
    with pytest.raises(DocumentNotFound):
        versions(store, "nobody")
