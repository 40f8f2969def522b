"""Stores of recipes whose digests read no symbols: -5 is no copy of 5 there either."""

from __future__ import annotations

import pytest
from sample_rows import row

from indexer.fingerprinting.fingerprint import fingerprint_rows
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.grouping.match import MatchOptions, match
from indexer.recipe import DEFAULT_V1, DEFAULT_V2, DEFAULT_V3, Recipe
from indexer.searching.similar import similar

NUMBERS = "500 300 200 100 40"
TEXTS = {
    "a": "5",
    "b": "-5",
    "c": " 5 ",
    "d": "x < y",
    "e": "x > y",
    "f": "C++",
    "g": "C",
    "h": "c",
    "i": NUMBERS,
    "j": f"-{NUMBERS}",
    "k": NUMBERS.replace(" ", "  "),
    "l": "1/2 3/4 100 200 300",
    "m": "1.2 3.4 100 200 300",
    "n": "1/2  3/4 100 200 300",
}
COPIES = {("a", "c"), ("g", "h"), ("i", "k"), ("l", "n")}
NUMBERS_IN_ORDER = {("i", "j"), ("j", "k"), ("l", "m"), ("m", "n")}


def fill(store, recipe: Recipe) -> None:
    store.prepare(recipe)
    store.write(fingerprint_rows([row(id, text=text) for id, text in TEXTS.items()], recipe))
    store.refresh()


@pytest.mark.parametrize("recipe", [DEFAULT_V1, DEFAULT_V2, DEFAULT_V3], ids=lambda of: of.name)
def test_copies_have_the_same_symbols(unprepared, recipe: Recipe) -> None:
    store = unprepared
    fill(store, recipe)
    group(store, GroupOptions(0.9))
    stored = list(store.scan())
    assert {(each.family, each.id) for each in stored if each.family != each.id} == COPIES
    assert not any(each.provisional for each in stored)
    pairs = {(pair.a, pair.b) for pair in match(store, MatchOptions(1.0))}
    assert COPIES <= pairs <= COPIES | NUMBERS_IN_ORDER
    assert {hit.id for hit in similar(store, id="b").matches} == set()
    assert {hit.id for hit in similar(store, id="h").matches} == {"g"}
