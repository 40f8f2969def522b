"""Overview and Threshold: figures by the options of the families, and never older than them."""

import json
import re
import urllib.request
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from sample_library import edited, library, rows, sentence

from indexer.defaults import MEASURE
from indexer.exports.report import report
from indexer.grouping import preview
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.recipe import DEFAULT
from indexer.stores import open_store
from indexer.web.chart_geometry import curve
from indexer.web.questions import parameter_values
from indexer.web.site import Site
from indexer.web.store_questions import STORE_QUESTIONS
from web.watching import run_site

TEXTS = {
    f"{family}{edits:02}": edited(sentence(family, 60), edits, "xyz"[edits % 3])
    for family in range(4)
    for edits in range(0, 24, 3)
}


@pytest.fixture
def store(tmp_path: Any) -> Iterator[Any]:
    """A store in a file."""
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    store.prepare(DEFAULT)
    assert not any(store.write(rows(TEXTS)))
    store.refresh()
    yield store
    store.close()


def ask(site: Site, name: str, **texts: str) -> Any:
    question = STORE_QUESTIONS[name]
    values = parameter_values(question.parameters, {key: [text] for key, text in texts.items()})
    answer = question.answer(site, values)
    while not getattr(answer, "ready", True):
        answer = question.answer(site, values)
    return answer


def test_a_group_discards_the_survey_before_it(store: Any) -> None:
    site = Site(store)
    for threshold, measure in ((0.6, "lcs"), (0.95, "lcs"), (0.6, "jaccard")):
        group(store, GroupOptions(threshold, measure))
        survey, state, shown = ask(site, "survey"), ask(site, "status"), ask(site, "preview")
        assert survey.redundant == state.documents - state.families
        assert (survey.measure, survey.threshold, survey.grouped) == (measure, threshold, True)
        assert (shown.measure, shown.threshold, shown.moved) == (measure, threshold, 0)
        assert not survey.stale
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", survey.at)


def test_changes_that_no_job_made_mark_the_survey_as_stale(store: Any) -> None:
    site = Site(store)
    assert not ask(site, "survey").stale
    store.write(rows({"new": sentence(9)}))
    store.refresh()
    survey = ask(site, "survey")
    assert (survey.stale, survey.documents) == (True, len(TEXTS))
    site.reset()
    assert (ask(site, "survey").stale, ask(site, "survey").documents) == (False, len(TEXTS) + 1)


def page(address: str) -> str:
    with urllib.request.urlopen(address) as answer:
        return re.sub(r"<[^>]+>", "", answer.read().decode())


def figure(text: str, name: str) -> int:
    """Return the number that a page shows under a name."""
    [number] = re.findall(rf"{name}\s*([\d,]+)", text)
    return int(number.replace(",", ""))


def read(address: str, path: str) -> str:
    """Return a page once the survey is ready."""
    while not json.load(urllib.request.urlopen(f"{address}/api/survey?wait=20"))["ready"]:
        pass
    return page(f"{address}{path}")


def test_the_pages_agree_with_the_last_group(store: Any) -> None:
    with run_site(store.url) as address:
        assert f"goes by the default measure {MEASURE}" in read(address, "/threshold")
        for threshold in (0.7, 0.95):
            group(store, GroupOptions(threshold, "lcs"))
            text = read(address, "/overview")
            families = figure(text, "Families, including single documents")
            repeats = figure(text, "Near duplicates of another document")
            assert families + repeats == len(TEXTS)
            assert f"By measure lcs, in families of {threshold:.0%} or more" in text
            assert re.search(r"Read at \d{4}-\d\d-\d\d \d\d:\d\d UTC in", text)
            text = read(address, "/threshold")
            assert f"by measure lcs at {threshold:.0%}" in text
            assert figure(text, "Would be in another family than now") == 0
        store.write(rows({"new": sentence(9)}))
        store.refresh()
        text = read(address, "/overview")
        assert "have changed since it was read" in text
        assert "Near duplicates of another" not in text
        family = page(f"{address}/family?{urlencode({'id': '000'})}")
        assert "By measure lcs" in family or "No other document" in family


def test_estimates_are_marked(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preview, "MOST_VERIFIED", 5)
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
    assert re.search(r">0.50</td>.*?>~\d", html, re.DOTALL)
    assert "by the measure <em>lcs</em>" in html


def test_nothing_is_marked_where_all_is_measured() -> None:
    store = library(rows(TEXTS))
    assert "marked ~" not in report(store, "2026-01-01").html
