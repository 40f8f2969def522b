"""The versions of a family side by side: which of them has which passage."""

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, expect
from sample_library import rows

from indexer.jobs.versions import order_versions
from indexer.recipe import DEFAULT, DEFAULT_V1
from indexer.review.api import comparisons
from indexer.review.api.endpoints import YesNo
from indexer.review.caches import TimedCache
from indexer.review.site import Site
from indexer.stores import open_store
from web.plain_requests import request
from web.watching import PageRecord, open_window, run_site

FIRST = """Lease of the house

The tenant pays four hundred pounds each month.

No pets are kept in the house."""
SECOND = FIRST.replace("four", "five")
THIRD = f"{SECOND}\n\nThe landlord repairs <b>the roof</b> within a week."
TEXTS = {"first": FIRST, "second": SECOND, "third": THIRD, "copy": FIRST}


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Any]:
    """A store of a family of three texts and a copy, with days in their order, and another text."""
    store = open_store(f"sqlite:///{tmp_path}/matrix.db")
    store.prepare(DEFAULT)
    documents = [
        dataclasses.replace(
            row,
            family="third" if row.id in TEXTS else row.id,
            similarity=0.9 if row.id in TEXTS and row.id != "third" else None,
            modified=place * 86_400_000,
            path=f"/papers/{row.id}.txt",
        )
        for place, row in enumerate(rows({**TEXTS, "other": "A cat sat on the mat."}))
    ]
    store.write(documents)
    store.refresh()
    yield store
    store.close()


def matrix(address: str, **query: Any) -> Any:
    return json.loads(request(address, f"/api/matrix?{urlencode(query, doseq=True)}").body)


def test_the_matrix_says_who_has_which_passage(library: Any) -> None:
    with run_site(library.url) as address:
        answer = matrix(address, id="second")
        names = [version["id"] for version in answer["versions"]]
        assert names[1:] == ["second", "third"]
        assert names[0] in ("first", "copy")
        assert [row["cells"] for row in answer["rows"]] == [[0, 1, 1], [None, None, 0]]
        assert answer["rows"][0]["readings"][1] == [
            ["same", "The tenant pays "],
            ["removed", "four "],
            ["added", "five "],
            ["same", "hundred pounds each month."],
        ]
        assert (answer["passages"], answer["shared"], answer["cut"]) == (4, 2, False)
        assert len(matrix(address, id="second", rows="all")["rows"]) == 4
        pair = matrix(address, id="second", of=["second", "third"])
        assert [row["cells"] for row in pair["rows"]] == [[None, 0]]
        assert len(pair["others"]) == 1  # one of two with the same text
        assert pair["others"][0]["id"] in ("first", "copy")
        assert matrix(address, id="other")["rows"] == []
        for wrong in (
            {"id": "second", "of": ["other"]},
            {"id": "second", "of": list("abcdefghi")},
            {"id": "second", "part": 2},
            {"id": "nowhere"},
        ):
            query = urlencode(wrong, doseq=True)
            assert request(address, f"/api/matrix?{query}").status in (400, 404)


def test_versions_are_ordered_anew_for_other_digests_and_recipes(
    library: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site(library)

    def count(dates: YesNo = "yes") -> int:
        values = comparisons.VersionsParameters("first", dates)
        return len(comparisons.version_tree(site, values).versions)

    assert count() == 3
    copy = library.get(["copy"])["copy"]
    library.write([dataclasses.replace(copy, exact="0" * 64)])  # as of other embedded files
    library.refresh()
    assert count() == 4
    order = Mock(wraps=order_versions)
    monkeypatch.setattr(comparisons, "order_versions", order)
    count()
    assert not order.called
    monkeypatch.setattr(comparisons, "require_recipe", lambda _: DEFAULT_V1)
    count()
    assert order.called
    order.reset_mock()
    monkeypatch.setattr(site, "versions", TimedCache(20, weight=10))  # less than the changes
    for dates in ("yes", "yes", "no", "yes"):
        count(dates)
    assert order.call_count == 3  # the last one is kept


def test_steps_of_long_versions_are_measured_a_few_at_a_time(
    library: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparisons, "_STEP_CHARS", 1)
    site = Site(library)
    some = comparisons.VersionsParameters("first", whole="no")
    found = [comparisons.version_tree(site, some) for _ in range(2)]
    assert [(tree.ready, tree.done, tree.to_compare) for tree in found] == [
        (False, 1, 2),
        (True, 2, 2),
    ]
    of_first = [version.step for version in found[0].versions if version.step]
    assert [step.similarity is None for step in of_first] == [False, True]


def test_versions_are_chosen_on_the_page(library: Any, browser: Browser) -> None:
    with run_site(library.url) as address:
        record = PageRecord(address)
        with open_window(browser, address, record) as windows:
            page = record.watch(windows.new_page())
            page.goto("/family?id=second")
            page.get_by_role("link", name="Versions side by side").click()
            expect(page.locator(".collation tbody tr")).to_have_count(2)
            expect(page.locator(".readings ins")).to_have_text("five ")
            expect(page.get_by_text("repairs <b>the roof</b>")).to_be_visible()
            page.get_by_label("third.txt").uncheck()
            page.get_by_role("button", name="Show these").click()
            expect(page.locator(".collation tbody tr")).to_have_count(1)
            page.get_by_role("link", name="Show all").click()
            expect(page.locator(".collation tbody tr")).to_have_count(3)
            expect(page.locator(".collation thead th")).to_have_text(["1", "2", "Passage"])
        record.check()
