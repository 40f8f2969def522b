"""Overview: figures by the options of the families, and never older than them."""

import json
import re
import threading
import urllib.request
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from sample_library import library, rows, sentence

from indexer.defaults import MEASURE
from indexer.grouping import preview
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.jobs.label import LabelOptions
from indexer.review.charts import curve
from indexer.review.compared_statistics import threshold_statistics
from indexer.review.exports.report import report
from indexer.review.label_queue import LabelRequest
from indexer.review.serve import review_application
from indexer.review.site import Site
from indexer.review.store_statistics import store_statistics
from web.surveyed_store import TEXTS, ask, html_of, open_families, text_of
from web.watching import run_site


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Any]:
    """A store of families in a file."""
    with open_families(tmp_path) as store:
        yield store


@pytest.mark.long
def test_overview_says_that_the_store_is_being_read(
    store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from starlette.testclient import TestClient

    goes_on = threading.Event()

    def held_back(read: Callable[..., Any]) -> Callable[..., Any]:
        def read_later(*given: Any) -> Any:
            assert goes_on.wait(60)
            return read(*given)

        return read_later

    monkeypatch.setattr("indexer.review.site.store_statistics", held_back(store_statistics))
    monkeypatch.setattr("indexer.review.site.threshold_statistics", held_back(threshold_statistics))
    client = TestClient(review_application(store, frozenset({"testserver"})))
    shown = client.get("/threshold").text
    assert "for each 100,000, a minute or more and 700 MB of memory" in shown
    shown = client.get("/overview").text
    assert 'data-reading="/api/figures"' in shown
    assert "Reading the store" in shown
    assert "Content types" in shown
    goes_on.set()
    while "Folded under another document" not in (shown := client.get("/overview").text):
        pass
    assert "data-reading" not in shown


def test_pages_wait_only_a_moment_for_the_labels_of_a_store(
    store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.labels.relabel({"000": ["hot"]})
    goes_on, read = threading.Event(), type(store).search

    def read_later(*given: Any) -> Any:
        assert goes_on.wait(60)
        return read(*given)

    monkeypatch.setattr("indexer.review.site._WAIT_SECONDS", 0.01)
    monkeypatch.setattr(type(store), "search", read_later)
    site = Site(store)
    assert site.offered_labels.known() == ()
    goes_on.set()
    while not site.offered_labels.known():
        pass
    assert site.offered_labels.known() == site.offered_labels.of_keys() == ("hot",)


@pytest.mark.long
def test_a_group_discards_the_survey_before_it(store: Any) -> None:
    site = Site(store)
    for threshold, measure in ((0.6, "lcs"), (0.95, "lcs"), (0.6, "jaccard")):
        group(store, GroupOptions(threshold, measure))
        survey, state, shown = ask(site, "survey"), ask(site, "status"), ask(site, "preview")
        figures = ask(site, "figures")
        assert figures.redundant == state.documents - state.families
        assert (figures.measure, figures.threshold, figures.stale) == (measure, threshold, False)
        assert (survey.measure, survey.threshold, survey.grouped) == (measure, threshold, True)
        assert (shown.measure, shown.threshold, shown.moved) == (measure, threshold, 0)
        assert not survey.stale
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", survey.at)


@pytest.mark.long
def test_changes_that_no_job_made_mark_the_survey_as_stale(store: Any) -> None:
    site = Site(store)
    for name in ("survey", "figures"):
        assert not ask(site, name).stale
    store.write(rows({"new": sentence(9)}))
    store.refresh()
    for name in ("survey", "figures"):
        assert (ask(site, name).stale, ask(site, name).documents) == (True, len(TEXTS))
    site.reset()
    for name in ("survey", "figures"):
        assert (ask(site, name).stale, ask(site, name).documents) == (False, len(TEXTS) + 1)


@pytest.mark.long
@pytest.mark.parametrize("within", [None, "labels"])
def test_labels_do_not_discard_what_was_read(store: Any, within: Any) -> None:
    """Families that stay within labels are read again."""
    group(store, GroupOptions(0.6, "lcs", within=within))
    site = Site(store)
    survey, figures = site.threshold_statistics(20), site.statistics(20)
    site.labels.outcome(site.labels.put(LabelRequest("anna", ("000",), LabelOptions(["hot"]))), 20)
    assert ask(site, "figures").labels == {"hot": 1}
    assert site.statistics(20) is figures
    assert (site.threshold_statistics(20) is survey) == (within is None)
    site.labels.outcome(site.labels.put(LabelRequest("anna", undo=1)), 20)
    assert ask(site, "figures").labels == {}
    assert (site.threshold_statistics(20) is survey) == (within is None)
    group(store, GroupOptions(0.95, "lcs"))
    assert site.threshold_statistics(20) is not survey
    assert site.statistics(20) is not figures


def page(address: str) -> str:
    with urllib.request.urlopen(address) as answer:
        return re.sub(r"<[^>]+>", "", answer.read().decode())


def figure(text: str, name: str) -> int:
    """Return the number that a page shows under a name."""
    [number] = re.findall(rf"{name}\s*([\d,]+)", text)
    return int(number.replace(",", ""))


@pytest.mark.long
def test_the_pages_agree_with_the_last_group(store: Any) -> None:
    with run_site(store.url) as address:
        assert f"uses the default measure {MEASURE}" in text_of(address, "/threshold")
        for threshold in (0.7, 0.95):
            group(store, GroupOptions(threshold, "lcs"))
            text = text_of(address, "/overview")
            families = figure(text, "Near-duplicate groups, including single documents")
            repeats = figure(text, "Folded under another document")
            assert families + repeats == len(TEXTS)
            assert f"By measure lcs, in groups of {threshold:.0%} or more" in text
            assert re.search(r"Read at \d{4}-\d\d-\d\d \d\d:\d\d UTC in", text)
            text = text_of(address, "/threshold")
            assert f"by measure lcs at {threshold:.0%}" in text
            assert figure(text, "Would change groups") == 0
        store.write(rows({"new": sentence(9)}))
        store.refresh()
        text = text_of(address, "/overview")
        assert "have changed since it was read" in text
        assert "Folded under another" not in text
        family = page(f"{address}/family?{urlencode({'id': '000'})}")
        assert re.search("By measure lcs|No other document|Near copies", family)


@pytest.mark.long
def test_each_bar_of_similarities_leads_to_its_documents(store: Any) -> None:
    group(store, GroupOptions(0.6, "lcs"))
    with run_site(store.url) as address:
        html = html_of(address, "/overview")
        [chart] = re.findall(r'id="alike".*?</section>', html, re.DOTALL)
        bars = re.findall(r'<a href="([^"]+)">\d+–\d+%</a></th><td class="n">([\d,]+)', chart)
        assert sum(int(number) for _, number in bars) == figure(
            re.sub(r"<[^>]+>", "", html), "Folded under another document"
        )
        for place, number in bars:
            query = unescape(place).removeprefix("/?")
            with urllib.request.urlopen(f"{address}/api/search?{query}") as answer:
                assert json.load(answer)["total"] == int(number)


@pytest.mark.long
def test_estimates_are_marked(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preview, "MAX_VERIFIED", 5)
    group(store, GroupOptions(0.9, "lcs"))
    site = Site(store)
    assert not ask(site, "preview").estimated
    assert ask(site, "preview", threshold="0.7").estimated
    steps = ask(site, "survey").steps
    dashed, solid = (curve(steps, estimated).split() for estimated in (True, False))
    assert len(dashed) + len(solid) == len(steps) + 1
    assert dashed[-1] == solid[0]
    html = report(store, "2026-01-01").html
    assert "numbers marked ~ are estimated" in html
    assert re.search(r">50%</td>.*?>~\d", html, re.DOTALL)
    assert "by the measure <em>lcs</em>" in html


def test_nothing_is_marked_where_all_is_measured() -> None:
    store = library(rows(TEXTS))
    assert "marked ~" not in report(store, "2026-01-01").html
