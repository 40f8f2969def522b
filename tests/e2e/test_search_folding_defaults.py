"""The threshold and the measure of `search`, by the way of folding, where none is named."""

import json
from pathlib import Path

import pytest
from e2e.command import run
from sample_library import edited, library, rows, sentence

from indexer.defaults import FOLD, MEASURE, OVERLAP
from indexer.errors import UsageError
from indexer.recipe import DEFAULT
from indexer.searching.fold_hits import fold_hits
from indexer.searching.search import SearchOptions, search
from indexer.stores import open_store

TEXTS = {"a": sentence(0, 60), "b": edited(sentence(0, 60), 2), "c": sentence(1, 60)}


def test_types_do_not_follow_the_threshold_of_folding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indexer.searching.fold_hits.policy_threshold", lambda _: 0.99)
    words = "harbour fence gate boiler valve quay bridge river signal coal engine ferry"
    store = library(rows({"a": words, "b": words.replace("ferry", "lease")}))
    page = search(store, "", SearchOptions(fold="types"))
    assert page.threshold == OVERLAP
    assert [len(hit.folded) for hit in page.hits] == [1]
    assert [len(hit.folded) for hit in fold_hits(store, ["a", "b"], fold="types")] == [1]
    page = search(store, "", SearchOptions(fold="types", threshold=0.99))
    assert (page.threshold, len(page.hits)) == (0.99, 2)
    assert search(store, "", SearchOptions()).threshold == 0.99


def test_a_threshold_of_types_out_of_range_is_named() -> None:
    store = library(rows(TEXTS))
    with pytest.raises(UsageError, match="threshold of duplicate types"):
        search(store, "", SearchOptions(fold="types", threshold=0))


@pytest.fixture
def store_url(tmp_path: Path) -> str:
    """The URL of a store of three documents, two of them alike."""
    url = f"sqlite:///{tmp_path}/store.db"
    store = open_store(url)
    stored = rows(TEXTS)
    store.prepare(DEFAULT)
    store.write(stored)
    store.close()
    return url


@pytest.mark.parametrize("measure", ["jaccard", "lcs", "overlap"])
def test_families_are_shown_by_the_measure_that_made_them(store_url: str, measure: str) -> None:
    run("group", "--threshold", "0.85", "--measure", measure, store=store_url)
    text = run("search", "", "--fold", "family", store=store_url)
    assert f"similarity to the hit above by measure: {measure}, folded at 0.85 or more" in text
    answer = json.loads(run("search", "", "--fold", "family", "--json", store=store_url))
    assert (answer["measure"], answer["threshold"]) == (measure, 0.85)
    [folded] = [hit for found in answer["hits"] for hit in found["folded"]]
    store = open_store(store_url)
    [similarity] = [row.similarity for row in store.scan() if row.similarity is not None]
    (hit,) = fold_hits(store, ["a", "b"], fold="family")
    store.close()
    assert folded["similarity"] == hit.folded[0].similarity == similarity


def test_a_named_measure_is_shown_whatever_made_the_families(store_url: str) -> None:
    run("group", "--measure", "lcs", store=store_url)
    options = ("--fold", "family", "--measure", "resemblance", "--json")
    answer = json.loads(run("search", "", *options, store=store_url))
    assert answer["measure"] == "resemblance"


def test_families_of_documents_are_not_named_by_those_of_parts(tmp_path: Path) -> None:
    folder, url = tmp_path / "leases", f"sqlite:///{tmp_path}/leases.db"
    folder.mkdir()
    for name in "ab":
        (folder / f"{name}.txt").write_text(f"1. Repair. {TEXTS['a']}\n\n2. Law. {TEXTS['c']}\n")
    run("index", folder, "--parts", "clauses", store=url)
    run("group", "--threshold", "0.85", "--measure", "overlap", store=url)
    run("group", "--threshold", "0.7", "--measure", "lcs", "--of", "parts", store=url)
    for of, expected in (("documents", ("overlap", 0.85)), ("parts", ("lcs", 0.7))):
        answer = json.loads(run("search", "", "--fold", "family", "--of", of, "--json", store=url))
        assert (answer["measure"], answer["threshold"]) == expected


def test_without_a_group_families_are_those_of_arrival(store_url: str) -> None:
    answer = json.loads(run("search", "", "--fold", "family", "--json", store=store_url))
    assert (answer["measure"], answer["threshold"]) == (MEASURE, None)
    live = json.loads(run("search", "", "--json", store=store_url))
    assert (live["measure"], live["threshold"]) == (MEASURE, FOLD)
    none = json.loads(run("search", "", "--fold", "none", "--json", store=store_url))
    assert none["threshold"] is None
