"""Versions of stored documents: dates, copies, and unknown order."""

import dataclasses

import pytest
from sample_library import edited, library, rows, sentence

from indexer.errors import DocumentNotFound
from indexer.grouping.group import group
from indexer.jobs.versions import versions
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


def store_of(
    dates: dict[str, int | None], metadata: dict[str, dict[str, str]] | None = None
) -> Store:
    records = [
        dataclasses.replace(
            row, modified=dates.get(row.id), metadata=(metadata or {}).get(row.id, {})
        )
        for row in rows(TEXTS)
    ]
    store = library(records)
    group(store)
    return store


def steps(store: Store, **settings: bool) -> list[tuple[str, str | None, bool | None]]:
    result = versions(store, "a", **settings).versions
    return [
        (version.id, version.step and version.step.origin, version.step and version.step.dated)
        for version in result
    ]


def test_dates_give_the_direction() -> None:
    assert steps(store_of({"c": 10, "a": 20, "b": 30, "copy": 40})) == [
        ("c", None, None),
        ("a", "c", True),
        ("b", "a", True),
    ]
    assert steps(store_of({"c": 30, "a": 20, "b": 10, "copy": 40})) == [
        ("b", None, None),
        ("a", "b", True),
        ("c", "a", True),
    ]


def test_a_copy_may_be_older_than_its_representative() -> None:
    [first, *_] = versions(store_of({"c": 30, "a": 20, "b": 25, "copy": 5}), "b").versions
    assert (first.id, first.date, first.copies) == ("c", 5, (("copy", "/library/copy.txt"),))


def test_documents_know_their_dates_better_than_their_files() -> None:
    metadata = {
        "a": {"modified": "1999-01-01T00:00:00Z"},
        "b": {"created": "2000-01-01T00:00:00"},
        "c": {"modified": "soon"},
    }
    result = versions(store_of({"c": 2_000_000_000_000, "a": 1, "b": 1}, metadata), "a").versions
    assert [(version.id, version.source) for version in result] == [
        ("a", "document"),
        ("b", "document"),
        ("c", "file"),
    ]


def test_without_dates_the_direction_is_not_known() -> None:
    for store, settings in (
        (store_of({}), {}),
        (store_of({"c": 30, "a": 20, "b": 10}), {"dates": False}),
    ):
        result = versions(store, "a", **settings)
        assert {version.step.dated for version in result.versions if version.step} == {False}
        assert [
            (version.id, version.step and version.step.origin) for version in result.versions
        ] == [
            ("c", None),
            ("a", "c"),
            ("b", "a"),
        ]
        assert any("not known for 2 of 2 steps" in note for note in result.notes)


def test_steps_count_words() -> None:
    result = {
        version.id: version
        for version in versions(store_of({"c": 10, "a": 20, "b": 30}), "a").versions
    }
    assert (result["a"].step.added, result["a"].step.removed) == (3, 2)
    assert (result["b"].step.added, result["b"].step.removed) == (3, 0)
    assert result["b"].step.similarity == pytest.approx(1 - 3 / result["b"].words)  # lcs
    assert (result["a"].depth, result["b"].depth) == (1, 2)


def test_a_single_version_and_an_unknown_id() -> None:
    store = store_of({})
    assert [(version.id, version.step) for version in versions(store, "other").versions] == [
        ("other", None)
    ]
    assert versions(store, "other").notes == ()
    with pytest.raises(DocumentNotFound):
        versions(store, "nobody")
