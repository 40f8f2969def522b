"""Search results name the facts in which folded hits differ from the hit they are under."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from e2e.command import run
from invoices import INVOICE
from sample_library import library, rows, sentence

from indexer.cli.search import LISTED
from indexer.comparing.reasons import TextDifferences
from indexer.grouping.group import group
from indexer.model import Difference, Row
from indexer.recipe import DEFAULT
from indexer.searching import stored_texts
from indexer.searching.search import FACTS, SearchOptions, search
from indexer.searching.stored_texts import StoredTexts
from indexer.stores import open_store

FIRST = {"number": "2024-00001", "date": "5 May 2024", "party": "Muster AG", "total": "1,250.00"}
TEXTS = {
    f"{place:02}": INVOICE.format(**{**FIRST, "number": f"2024-{place + 1:05}"})
    for place in range(FACTS + 4)
}


@pytest.fixture
def store_url(tmp_path: Path) -> str:
    """The URL of a store of invoices that differ in their number."""
    url = f"sqlite:///{tmp_path}/store.db"
    store = open_store(url)
    store.prepare(DEFAULT)
    assert not any(store.write(rows(TEXTS)))
    store.close()
    return url


def number(place: int) -> Difference:
    return Difference("number", "2024-00001", f"2024-{place + 1:05}")


@pytest.mark.parametrize("fold", ["live", "family"])
def test_folded_hits_have_the_facts_that_differ(fold: Literal["live", "family"]) -> None:
    store = library(rows(dict(list(TEXTS.items())[:3])))
    group(store)
    (hit,) = search(store, "invoice", SearchOptions(fold=fold, sort="path")).hits
    assert [folded.differences for folded in hit.folded] == [(number(1),), (number(2),)]


def test_facts_of_the_first_folded_hits_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []

    def count(*texts: object, **_: object) -> TextDifferences:
        compared.append(texts)
        return TextDifferences((), ())

    monkeypatch.setattr(stored_texts, "explain", count)
    store = library(rows(TEXTS))
    (hit,) = search(store, "", SearchOptions(facts=2)).hits
    assert len(compared) == 2
    assert [folded.differences for folded in hit.folded[:3]] == [(), (), None]
    search(store, "", SearchOptions(fold="none"))
    assert len(compared) == 2


@pytest.mark.parametrize("fold", ["live", "none"])
def test_earlier_hits_are_read_with_the_ranking(
    fold: Literal["live", "none"], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    monkeypatch.setattr(StoredTexts, "rows", count_rows(StoredTexts.rows, read))
    store = library(rows({f"{place}": sentence(place) for place in range(7)}))
    options = SearchOptions(fold=fold, sort="path", limit=3)
    first = search(store, "", options)
    second = search(store, "", replace(options, after=first.next))
    store.delete(["1"])
    read.clear()
    third = search(store, "", replace(options, after=second.next))
    assert [hit.id for hit in third.hits] == ["6"]
    assert set(read) == {"1", "6"}, "the hits of the page, and one that is gone"


def count_rows(original: Callable[..., list[Row]], read: list[str]) -> Callable[..., list[Row]]:
    def rows_of(texts: StoredTexts, ids: Sequence[str]) -> list[Row]:
        read.extend(ids)
        return original(texts, ids)

    return rows_of


def test_the_command_prints_the_first_folded_hits_with_their_facts(store_url: str) -> None:
    lines = run("search", "invoice", "--sort", "path", store=store_url).splitlines()
    assert sum(line.startswith("  +  ") for line in lines) == LISTED
    assert "          1 number differs: 2024-00001 / 2024-00002" in lines
    assert f"  + ... and {len(TEXTS) - 1 - LISTED} more; --json lists all" in lines
    answer = json.loads(run("search", "invoice", "--sort", "path", "--json", store=store_url))
    [hit] = answer["hits"]
    assert len(hit["folded"]) == len(TEXTS) - 1
    assert hit["folded"][0]["differences"] == [
        {"kind": "number", "a": "2024-00001", "b": "2024-00002"}
    ]
    assert "differences" not in hit["folded"][FACTS]
