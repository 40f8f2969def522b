"""Preparing a store: `prepare` creates it, one recipe, and errors before that."""

import dataclasses

import pytest
from sample_rows import row

from indexer.errors import RecipeMismatch, StoreError
from indexer.model import Assignment, Query
from indexer.recipe import DEFAULT

OTHER = dataclasses.replace(DEFAULT, name="other", slots=256, bands=30)
CALLS = {
    "get": lambda store: store.get(["1"]),
    "sources": lambda store: store.sources(["1"]),
    "candidates": lambda store: store.candidates([(["00"], [])], 1)[0],
    "search": lambda store: list(store.search(Query("x")).hits),
    "scan": lambda store: list(store.scan()),
    "counts": lambda store: store.counts(),
    "refresh": lambda store: store.refresh(),
    "write": lambda store: store.write([row("1")]),
    "delete": lambda store: store.delete(["1"]),
    "assign": lambda store: store.families.assign([Assignment("1", "1", True, None, None)]),
}


def test_opening_makes_nothing(unprepared):
    assert unprepared.stored_recipe() is None


def test_calls_on_an_unprepared_store_name_the_remedy(unprepared):
    for name, call in CALLS.items():
        with pytest.raises(StoreError, match="nearfold index"):
            pytest.fail(f"{name} gave {call(unprepared)}")
    assert unprepared.stored_recipe() is None


def test_preparing_twice_keeps_everything(store):
    store.write([row("1")])
    store.prepare(DEFAULT)
    assert store.stored_recipe() == DEFAULT
    assert set(store.get(["1"])) == {"1"}


def test_two_openers_prepare_one_store(store, opening, kind):
    if kind == "memory":
        pytest.skip("memory is shared with nobody")
    second_store = opening()
    second_store.prepare(DEFAULT)
    second_store.write([row("1")])
    assert set(store.get(["1"])) == {"1"}


def test_another_recipe_is_refused_with_the_difference(store):
    store.write([row("1")])
    with pytest.raises(RecipeMismatch, match="slots: 128 -> 256") as caught:
        store.prepare(OTHER)
    assert (caught.value.stored, caught.value.requested) == ("default_v3", "other")
    assert caught.value.difference == (
        "bands: 42 -> 30",
        "name: default_v3 -> other",
        "slots: 128 -> 256",
    )
    assert store.stored_recipe() == DEFAULT
    assert store.write([row("2")]) == [None]


def test_a_recipe_comes_back_whole(unprepared, kind):
    unprepared.prepare(OTHER)
    assert unprepared.stored_recipe() == OTHER
    if kind == "memory":  # a search sets the recipe of an empty one: nobody chose it
        unprepared.prepare(DEFAULT)
        assert unprepared.stored_recipe() == DEFAULT
        return
    with pytest.raises(RecipeMismatch):
        unprepared.prepare(DEFAULT)


def test_closing_twice(store):
    store.close()
    store.close()
