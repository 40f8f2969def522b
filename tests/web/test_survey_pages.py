"""Overview and Threshold: figures by the options of the families, and never older than them."""

import json
import re
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, expect
from sample_library import edited, library, rows, sentence

from indexer.defaults import MEASURE
from indexer.errors import StoreBusy, UsageError
from indexer.exports.report import report
from indexer.grouping import preview
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.grouping.label import LabelOptions
from indexer.grouping.store_figures import store_figures
from indexer.grouping.survey import Survey, survey
from indexer.jobs.journal import Journal, journal_path
from indexer.recipe import DEFAULT
from indexer.stores import open_store
from indexer.web.access import Login
from indexer.web.chart_geometry import curve
from indexer.web.label_queue import LabelRequest
from indexer.web.questions import parameter_values
from indexer.web.serve import review_application
from indexer.web.site import Site
from indexer.web.store_questions import START_GROUP, STORE_QUESTIONS
from web.plain_requests import request
from web.watching import PageRecord, open_window, run_site

REGROUP = "/regroup?threshold=0.7"

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


def ended(site: Site) -> None:
    """Wait for the end of a group that pages started."""
    while not re.search("done|failed", site.regrouping.state):
        pass


def ask(site: Site, name: str, **texts: str) -> Any:
    if name == "group":
        values = parameter_values(START_GROUP.parameters, {key: [texts[key]] for key in texts})
        return START_GROUP.do(site, values, Login("anna"))
    question = STORE_QUESTIONS[name]
    values = parameter_values(question.parameters, {key: [text] for key, text in texts.items()})
    answer = question.answer(site, values)
    while not getattr(answer, "ready", True):
        answer = question.answer(site, values)
    return answer


def test_threshold_says_who_would_leave_before_pairs_are_compared(
    store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    group(store, GroupOptions(threshold=0.7))
    goes_on = threading.Event()

    def read_later(*given: Any) -> Survey:
        assert goes_on.wait(60)
        return survey(*given)

    monkeypatch.setattr("indexer.web.site.survey", read_later)
    site = Site(store)
    question = STORE_QUESTIONS["survey"]
    values = parameter_values(question.parameters, {"wait": ["0"]})
    while not (answer := question.answer(site, values)).less_similar:
        pass
    assert not answer.ready
    similarities = [row.similarity for row in store.scan() if row.similarity is not None]
    below = {item.threshold: item.documents for item in answer.less_similar}
    assert list(below) == [0.71, 0.74, 0.77, 0.8, 0.83, 0.86, 0.89, 0.92, 0.95, 0.98]
    assert below == {least: sum(value < least for value in similarities) for least in below}
    goes_on.set()
    assert not ask(site, "survey").less_similar


def test_overview_says_that_the_store_is_being_read(
    store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from starlette.testclient import TestClient

    goes_on = threading.Event()

    def read_later(*given: Any) -> Any:
        assert goes_on.wait(60)
        return store_figures(*given)

    monkeypatch.setattr("indexer.web.site.store_figures", read_later)
    client = TestClient(review_application(store, frozenset({"testserver"})))
    shown = client.get("/threshold").text
    assert "a minute or more, and 700 MB of memory, for each 100,000" in shown
    shown = client.get("/overview").text
    assert 'data-reading="/api/figures"' in shown
    assert "Reading the store" in shown
    assert "Content types" in shown
    goes_on.set()
    while "Folded under another document" not in (shown := client.get("/overview").text):
        pass
    assert "data-reading" not in shown


def test_the_pairs_of_a_large_store_are_compared_when_a_reviewer_asks(
    store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from starlette.testclient import TestClient

    monkeypatch.setattr("indexer.web.site.MOST_SURVEYED_UNASKED", len(TEXTS) - 1)
    group(store, GroupOptions(0.7))
    client = TestClient(review_application(store, frozenset({"testserver"})))
    for place in ("/threshold?threshold=0.9", REGROUP):
        shown = client.get(place).text
        assert "Not read yet: this store is large" in shown
        assert "data-reading" not in shown
    answer = client.get("/api/survey?wait=0").json()
    assert (answer["ready"], answer["asks_first"], answer["stage"]) == (False, True, "waiting")
    form = {"token": client.get("/api/token").json()["token"], "next": REGROUP}
    begun = client.post(
        "/overview/refresh",
        data=form,
        headers={"origin": "http://testserver"},
        follow_redirects=False,
    )
    assert (begun.status_code, begun.headers["location"]) == (303, REGROUP)
    while not (answer := client.get("/api/survey?wait=20").json())["ready"]:
        assert not answer["asks_first"]
    while "Families that split" not in client.get("/regroup?threshold=0.9").text:
        pass


def test_families_of_one_name_are_told_apart(store: Any, browser: Browser) -> None:
    """On Threshold, as it is loaded and as the slider changes it, and where it is applied."""
    folders = [
        replace(row, path=f"/papers/{row.id}/copyright") for row in rows(TEXTS) if row.id < "1"
    ]
    store.delete(list(TEXTS))
    store.write(folders)
    store.refresh()
    group(store, GroupOptions(0.6, "lcs"))
    names = {f"{row.id}/copyright" for row in folders}
    with run_site(store.url) as address:
        record = PageRecord(address)
        read(address, "/threshold")
        for threshold in (1, 0.9):
            url = f"{address}/api/preview?threshold={threshold}&wait=20"
            while not json.load(urllib.request.urlopen(url))["ready"]:
                pass
        with open_window(browser, address, record) as windows:
            page = record.watch(windows.new_page())
            page.goto("/threshold?threshold=1")
            moves = page.locator("[data-moves] a")
            expect(moves.first).to_be_visible()
            assert set(moves.all_text_contents()) <= names
            assert len(set(moves.all_text_contents())) > 2
            page.locator("#threshold").fill("0.9")
            expect(page).to_have_url(re.compile("threshold=0.9$"))
            assert set(moves.all_text_contents()) <= names
            page.goto("/regroup?threshold=1")
            parts = page.locator(".moves td a")
            expect(parts.first).to_be_visible()
            assert set(parts.all_text_contents()) <= names
        record.check()


def test_pages_wait_only_a_moment_for_the_labels_of_a_store(
    store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.labels.relabel({"000": ["hot"]})
    goes_on, read = threading.Event(), type(store).search

    def read_later(*given: Any) -> Any:
        assert goes_on.wait(60)
        return read(*given)

    monkeypatch.setattr("indexer.web.offered_labels._WAIT_SECONDS", 0.01)
    monkeypatch.setattr(type(store), "search", read_later)
    site = Site(store)
    assert site.offered_labels.known() == ()
    goes_on.set()
    while not site.offered_labels.known():
        pass
    assert site.offered_labels.known() == site.offered_labels.of_keys() == ("hot",)


def test_families_that_take_long_are_made_beside_the_page(
    store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site(store)
    dated = site.survey(20)
    assert dated
    go_on, changes = threading.Event(), Survey.changes

    def wait_and_change(survey: Survey, threshold: float) -> Any:
        assert go_on.wait(20)
        return changes(survey, threshold)

    monkeypatch.setattr(Survey, "changes", wait_and_change)
    for name in ("preview", "regroup"):
        question = STORE_QUESTIONS[name]
        values = parameter_values(question.parameters, {"threshold": ["0.93"], "wait": ["0"]})
        assert not question.answer(site, values).ready
    go_on.set()
    assert ask(site, "preview", threshold="0.93").families == dated.survey.at(0.93).families
    assert ask(site, "regroup", threshold="0.93").stage == "done"
    with pytest.raises(UsageError, match=r"families are made here at 0\.5 or more"):
        ask(site, "preview", threshold="0.3")


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


@pytest.mark.parametrize("within", [None, "labels"])
def test_labels_do_not_discard_what_was_read(store: Any, within: Any) -> None:
    """Families that stay within labels are read again."""
    group(store, GroupOptions(0.6, "lcs", within=within))
    site = Site(store)
    survey, figures = site.survey(20), site.figures(20)
    site.labels.outcome(site.labels.put(LabelRequest("anna", ("000",), LabelOptions(["hot"]))), 20)
    assert ask(site, "figures").labels == {"hot": 1}
    assert site.figures(20) is figures
    assert (site.survey(20) is survey) == (within is None)
    site.labels.outcome(site.labels.put(LabelRequest("anna", undo=1)), 20)
    assert ask(site, "figures").labels == {}
    assert (site.survey(20) is survey) == (within is None)
    group(store, GroupOptions(0.95, "lcs"))
    assert site.survey(20) is not survey
    assert site.figures(20) is not figures


def page(address: str) -> str:
    with urllib.request.urlopen(address) as answer:
        return re.sub(r"<[^>]+>", "", answer.read().decode())


def figure(text: str, name: str) -> int:
    """Return the number that a page shows under a name."""
    [number] = re.findall(rf"{name}\s*([\d,]+)", text)
    return int(number.replace(",", ""))


def read(address: str, path: str) -> str:
    """Return the text of a page once the survey is ready."""
    return re.sub(r"<[^>]+>", "", read_html(address, path))


def read_html(address: str, path: str) -> str:
    for name in ("figures", "survey"):
        while not json.load(urllib.request.urlopen(f"{address}/api/{name}?wait=20"))["ready"]:
            pass
    with urllib.request.urlopen(f"{address}{path}") as answer:
        return str(answer.read().decode())


def test_the_pages_agree_with_the_last_group(store: Any) -> None:
    with run_site(store.url) as address:
        assert f"goes by the default measure {MEASURE}" in read(address, "/threshold")
        for threshold in (0.7, 0.95):
            group(store, GroupOptions(threshold, "lcs"))
            text = read(address, "/overview")
            families = figure(text, "Families, including single documents")
            repeats = figure(text, "Folded under another document")
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
        assert "Folded under another" not in text
        family = page(f"{address}/family?{urlencode({'id': '000'})}")
        assert "By measure lcs" in family or "No other document" in family


def test_each_bar_of_similarities_leads_to_its_documents(store: Any) -> None:
    group(store, GroupOptions(0.6, "lcs"))
    with run_site(store.url) as address:
        html = read_html(address, "/overview")
        [chart] = re.findall(r'id="alike".*?</section>', html, re.DOTALL)
        bars = re.findall(r'<a href="([^"]+)">\d+–\d+ %</a></th><td class="n">([\d,]+)', chart)
        assert sum(int(number) for _, number in bars) == figure(
            re.sub(r"<[^>]+>", "", html), "Folded under another document"
        )
        for place, number in bars:
            query = unescape(place).removeprefix("/?")
            with urllib.request.urlopen(f"{address}/api/search?{query}") as answer:
                assert json.load(answer)["total"] == int(number)


def test_families_that_split_or_merge_are_named_and_come_by_a_group(store: Any) -> None:
    group(store, GroupOptions(0.6, "lcs"))
    site = Site(store)
    stored = {row.id: row.family for row in store.scan()}
    answer = ask(site, "regroup", threshold="0.95")
    assert (answer.threshold, answer.before, answer.changes.merged) == (0.95, 0.6, 0)
    started = ask(site, "group", threshold="0.95", seen=answer.seen)
    assert (started.started, started.threshold) == (True, 0.95)
    ended(site)
    families = {row.id: row.family for row in store.scan()}
    parts: dict[str, Counter[str]] = {}
    for id, family in stored.items():
        parts.setdefault(family, Counter())[families[id]] += 1
    split = {name: sizes for name, sizes in parts.items() if len(sizes) > 1}
    assert answer.changes.split == len(split) > 0
    for change in answer.changes.splits:
        sizes = split[change.family.id]
        assert (change.family.documents, change.number) == (sizes.total(), len(sizes))
        assert {part.id: part.documents for part in change.parts}.items() <= sizes.items()
    assert "done" in ask(site, "status").regrouping
    back = ask(site, "regroup", threshold="0.6")
    assert (back.changes.split, back.changes.merged) == (0, len(split))
    assert {change.family.id for change in back.changes.merges} == set(split)
    assert not ask(site, "group", threshold="0.6", seen=answer.seen).started
    with pytest.raises(UsageError, match=r"at 0\.5 or more"):
        ask(site, "group", threshold="0.2")
    with Journal(journal_path(store.address)), pytest.raises(StoreBusy):
        site.regrouping.start(GroupOptions(0.6, "lcs"))
    assert "failed" in site.regrouping.state


def test_a_threshold_is_applied_on_its_page(store: Any, browser: Browser, tmp_path: Path) -> None:
    group(store, GroupOptions(0.6, "lcs"))
    with run_site(store.url) as address:
        read(address, "/threshold")
        record = PageRecord(address)
        with open_window(browser, address, record) as windows:
            page = record.watch(windows.new_page())
            page.goto("/threshold?threshold=0.95")
            page.get_by_role("button", name="Apply").click()
            expect(page.get_by_role("heading", name="Families that split: ")).to_be_visible()
            page.get_by_role("button", name="Group at 95% now").click()
            done = "--threshold 0.95: done"
            expect(page.locator("[data-regrouping]")).to_contain_text(done, timeout=30_000)
            page.goto("/threshold")
            expect(page.locator("#threshold")).to_have_value("0.95", timeout=30_000)
            page.goto("/regroup?threshold=0.95")
            expect(page.get_by_text("The stored families are those")).to_be_visible()
        record.check()
    logins = tmp_path / "logins"
    logins.write_text("ben reader -\n")
    with run_site(store.url, "--auth", str(logins), "--auth-header", "X-Remote-User") as address:
        headers = {"X_Remote_User": "ben"}
        deadline = time.monotonic() + 60
        while b'aria-busy="true"' in (shown := request(address, REGROUP, **headers).body):
            assert time.monotonic() < deadline, shown
            time.sleep(0.1)
        assert b"may read, and not group" in shown
        assert b"/regroup/apply" not in shown
        assert request(address, "/regroup/apply", "POST", b"threshold=0.6", **headers).status == 403
        assert request(address, "/api/group", "POST", b"threshold=0.6", **headers).status == 403


def test_a_threshold_below_those_of_a_survey_is_refused(store: Any) -> None:
    group(store, GroupOptions(0.6, "lcs"))
    site = Site(store)
    ask(site, "survey")
    for question in ("preview", "regroup", "group"):
        with pytest.raises(UsageError, match=r"at 0\.5 or more; for less, run nearfold group"):
            ask(site, question, threshold="0.4")
    assert ask(site, "preview", threshold="0.5").threshold == 0.5
    group(store, GroupOptions(0.4, "lcs"))
    assert ask(Site(store), "preview", threshold="0.4").threshold == 0.4


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
