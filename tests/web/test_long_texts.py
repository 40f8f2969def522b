"""Long texts: the first screen does not wait for all of them, and results are kept by content."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sample_library import edited, rows, sentence
from starlette.testclient import TestClient

from indexer.model import Progress
from indexer.recipe import DEFAULT
from indexer.review.api.endpoints import parse_parameters
from indexer.review.app import PAGES
from indexer.review.caches import ReaderCache
from indexer.review.serve import REVIEW_API, review_application
from indexer.review.site import Site
from indexer.stores import open_store


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A site of two texts that count as long, and of a short one."""
    monkeypatch.setattr("indexer.review.comparison_cache.LONG_CHARS", 1000)
    monkeypatch.setattr("indexer.review.comparison_cache.WINDOW_CHARS", 300)
    monkeypatch.setattr("indexer.review.site.LONG_CHARS", 1000)
    store = open_store(f"sqlite:///{tmp_path}/long.db")
    store.prepare(DEFAULT)
    text = sentence(3, 300)
    store.write(rows({"a": text, "b": edited(text, 6), "c": sentence(5, 20)}))
    store.refresh()
    yield Site(store)
    store.close()


def ask(site: Site, name: str, **texts: str) -> Any:
    endpoint = REVIEW_API.reads[name]
    values = parse_parameters(endpoint.parameters, {key: [text] for key, text in texts.items()})
    return endpoint.run(site, values)


def test_a_long_comparison_begins_with_its_first_characters(site: Site) -> None:
    with site._readers._computing:  # the whole cannot be compared yet
        beginning = ask(site, "compare", a="a", b="b", wait="0")
        assert beginning.chars == 300
        assert beginning.cells
        assert ask(site, "compare", a="a", b="c", wait="0").chars == 300
    whole = ask(site, "compare", a="a", b="b", wait="30")
    assert whole.chars is None
    assert whole.words[0] > beginning.words[0]
    with site._readers._computing:  # it is kept
        again = ask(site, "compare", a="a", b="b", wait="0")
    assert again.differences == whole.differences
    assert again.chars is None


def test_a_long_pdf_is_written_in_the_background(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_end = threading.Event()

    def write(_comparison: Any, progress: Progress) -> bytes:
        progress("writing", 5, 20)
        may_end.wait(30)
        return b"%PDF-"

    monkeypatch.setattr("indexer.review.app.redline_pdf", write)
    monkeypatch.setattr("indexer.review.app._SECONDS_OF_FILE", 0.1)
    client = TestClient(review_application(site.store, frozenset({"testserver"})))
    page = client.get("/redline.pdf?a=c&b=c")
    assert page.headers["refresh"] == "1"
    assert "5 of 20 characters" in page.text
    assert 'href="/compare?a=c&amp;b=c"' in page.text
    may_end.set()
    monkeypatch.setattr("indexer.review.app._SECONDS_OF_FILE", 30)
    file = client.get("/redline.pdf?a=c&b=c")
    assert (file.content, file.headers["content-type"]) == (b"%PDF-", "application/pdf")


def test_short_texts_are_compared_at_once(site: Site) -> None:
    with site._readers._computing:
        assert ask(site, "compare", a="c", b="c", wait="0").chars is None
        assert ask(site, "similar", id="c", wait="0").ready


def test_near_duplicates_of_a_long_text_come_later(site: Site) -> None:
    with site._readers._computing:
        waiting = ask(site, "similar", id="a", wait="0")
    assert (waiting.ready, waiting.matches) == (False, ())
    found = ask(site, "similar", id="a", wait="30")
    assert found.ready
    assert [match.id for match in found.matches] == ["b"]
    site.store.write(rows({"d": sentence(3, 300)}))
    site.store.refresh()
    found = ask(site, "similar", id="a", wait="30")
    assert [match.id for match in found.matches] == ["d", "b"]


def test_results_are_kept_up_to_a_weight() -> None:
    cache = ReaderCache(weight=10, limit=3)
    computed: list[str] = []

    def value(name: str, weight: int) -> str | None:
        def read(_: object) -> str:
            computed.append(name)
            return name

        return cache.get(name, read, weight, 30)

    assert [value(name, 4) for name in "abab"] == list("abab")
    assert computed == ["a", "b"]
    value("c", 4)  # a goes, the one used longest ago
    assert [value(name, 4) for name in "bca"] == list("bca")
    assert computed == ["a", "b", "c", "a"]
    assert value("large", 99) == "large"
    assert [value(name, 1) for name in ("large", "d")] == ["large", "d"]
    assert computed[4:] == ["large", "d"]


def test_a_fold_by_type_goes_on_beside_its_page(site: Site) -> None:
    with site._folded._computing:
        waiting = ask(site, "search", q="", fold="types", wait="0")
        assert (waiting.ready, waiting.hits) == (False, ())
        page = PAGES[0].values(site, REVIEW_API.reads, {"fold": ["types"], "wait": ["0"]})
        assert not page["search"].ready
    whole = ask(site, "search", q="", fold="types", wait="30")
    assert whole.ready
    assert sum(1 + len(hit.folded) for hit in whole.hits) == whole.total == 3
    with site._folded._computing:  # it is kept
        assert ask(site, "search", q="", fold="types", wait="0") == whole
        page = PAGES[0].values(site, REVIEW_API.reads, {"fold": ["types"], "wait": ["0"]})
        assert page["search"] == whole


def test_a_result_that_nobody_asks_for_is_not_computed_to_its_end() -> None:
    seconds = [0.0]
    results, go_on, ended = [], threading.Event(), threading.Event()

    def read(progress: Progress) -> int:
        assert go_on.wait(10)
        try:
            progress("step", 1, 2)
            results.append(7)
        finally:
            ended.set()
        return 7

    cache = ReaderCache(5, 5, lease=10, clock=lambda: seconds[0])
    assert cache.get("a", read, 1, 0) is None
    seconds[0] = 11
    go_on.set()
    assert ended.wait(10)
    assert results == []
    assert cache.get("a", read, 1, 10) == 7
    assert (results, cache.progress("a").total) == ([7], 2)
