"""Threshold: the families that another one would make, and a group at it."""

import json
import re
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from sample_library import edited, rows, sentence
from starlette.testclient import TestClient

from indexer.errors import StoreBusy, UsageError
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.review.api.endpoints import parse_parameters
from indexer.review.api.store import STORE_READS
from indexer.review.compared_statistics import ThresholdStatistics, threshold_statistics
from indexer.review.serve import review_application
from indexer.review.site import Site
from indexer.stores.journal import Journal, journal_path
from web.plain_requests import request
from web.surveyed_store import TEXTS, ask, open_families, ready_answer
from web.watching import PageRecord, open_window, run_site

REGROUP = "/regroup?threshold=0.7"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Any]:
    """A store of families in a file."""
    with open_families(tmp_path) as store:
        yield store


def ended(site: Site) -> None:
    """Wait for the end of a group that pages started."""
    while not re.search("done|failed", site.regrouping.state):
        pass


def test_threshold_says_who_would_leave_before_pairs_are_compared(
    store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    group(store, GroupOptions(threshold=0.7))
    goes_on = threading.Event()

    def read_later(*given: Any) -> ThresholdStatistics:
        assert goes_on.wait(60)
        return threshold_statistics(*given)

    monkeypatch.setattr("indexer.review.site.threshold_statistics", read_later)
    site = Site(store)
    endpoint = STORE_READS["survey"]
    values = parse_parameters(endpoint.parameters, {"wait": ["0"]})
    while not (answer := endpoint.run(site, values)).less_similar:
        pass
    assert not answer.ready
    similarities = [row.similarity for row in store.scan() if row.similarity is not None]
    below = {item.threshold: item.documents for item in answer.less_similar}
    assert list(below) == [0.71, 0.74, 0.77, 0.8, 0.83, 0.86, 0.89, 0.92, 0.95, 0.98]
    assert below == {least: sum(value < least for value in similarities) for least in below}
    goes_on.set()
    assert not ask(site, "survey").less_similar


def test_the_pairs_of_a_large_store_are_compared_when_a_reviewer_asks(
    store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indexer.review.site.MAX_AUTOMATIC_DOCUMENTS", len(TEXTS) - 1)
    group(store, GroupOptions(0.7))
    client = TestClient(review_application(store, frozenset({"testserver"})))
    for place in ("/threshold?threshold=0.9", REGROUP):
        shown = client.get(place).text
        assert "Not computed yet: this store is large" in shown
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
    while "Groups that split" not in client.get("/regroup?threshold=0.9").text:
        pass


def test_a_cut_list_of_moves_says_so(store: Any) -> None:
    store.delete(list(TEXTS))
    texts = {
        f"{pair}-{edits}": edited(sentence(pair, 40), edits)
        for pair in range(22)
        for edits in (0, 1)
    }
    store.write(rows(texts))
    store.refresh()
    group(store, GroupOptions(0.6, "lcs"))
    client = TestClient(review_application(store, frozenset({"testserver"})))
    client.get("/api/preview?threshold=1&wait=20")
    page = client.get("/threshold?threshold=1").text
    cut = re.search(r"<p class=.fine. data-cut>(.*?)</p>", page)
    assert cut
    shown = re.sub("<.*?>", "", cut[1])
    assert shown == "These are the twenty largest moves, of 20 of the 22 documents."
    assert "data-cut hidden" in client.get("/threshold").text


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
        for threshold in (1, 0.9):
            ready_answer(address, "preview", threshold=threshold)
        ready_answer(address, "regroup", threshold=1)
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


def test_families_that_take_long_are_made_beside_the_page(
    store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site(store)
    dated = site.threshold_statistics(20)
    assert dated
    go_on, changes = threading.Event(), ThresholdStatistics.changes

    def wait_and_change(survey: ThresholdStatistics, threshold: float) -> Any:
        assert go_on.wait(20)
        return changes(survey, threshold)

    monkeypatch.setattr(ThresholdStatistics, "changes", wait_and_change)
    for name in ("preview", "regroup"):
        endpoint = STORE_READS[name]
        values = parse_parameters(endpoint.parameters, {"threshold": ["0.93"], "wait": ["0"]})
        assert not endpoint.run(site, values).ready
    go_on.set()
    assert ask(site, "preview", threshold="0.93").families == dated.statistics.at(0.93).families
    assert ask(site, "regroup", threshold="0.93").stage == "done"
    with pytest.raises(UsageError, match=r"the minimum threshold here is 0\.5"):
        ask(site, "preview", threshold="0.3")


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
    with pytest.raises(UsageError, match=r"is 0\.5"):
        ask(site, "group", threshold="0.2")
    with Journal(journal_path(store.address)), pytest.raises(StoreBusy):
        site.regrouping.start(GroupOptions(0.6, "lcs"))
    assert "failed" in site.regrouping.state


def test_a_threshold_is_applied_on_its_page(store: Any, browser: Browser, tmp_path: Path) -> None:
    group(store, GroupOptions(0.6, "lcs"))
    with run_site(store.url) as address:
        for name in ("preview", "regroup"):
            ready_answer(address, name, threshold=0.95)
        record = PageRecord(address)
        with open_window(browser, address, record) as windows:
            page = record.watch(windows.new_page())
            page.goto("/threshold?threshold=0.95")
            page.get_by_role("button", name="Apply").click()
            expect(page.get_by_role("heading", name="Groups that split: ")).to_be_visible()
            page.get_by_role("button", name="Group at 95% now").click()
            expect(page.locator("[data-regrouping]")).to_contain_text("--threshold 0.95")
            while ready_answer(address, "survey")["threshold"] != 0.95:
                state = json.loads(request(address, "/api/status").body)["regrouping"]
                assert "failed" not in state
            done = "--threshold 0.95: done"
            expect(page.locator("[data-regrouping]")).to_contain_text(done, timeout=30_000)
            ready_answer(address, "preview")
            page.goto("/threshold")
            expect(page.locator("#threshold")).to_have_value("0.95")
            ready_answer(address, "regroup", threshold=0.95)
            page.goto("/regroup?threshold=0.95")
            expect(page.get_by_text("The stored groups have this threshold")).to_be_visible()
        record.check()
    logins = tmp_path / "logins"
    logins.write_text("ben reader -\n")
    with run_site(store.url, "--auth", str(logins), "--auth-header", "X-Remote-User") as address:
        headers = {"X_Remote_User": "ben"}
        ready_answer(address, "regroup", headers, threshold=0.7)
        shown = request(address, REGROUP, **headers).body
        assert b"read-only and cannot start a grouping" in shown
        assert b"/regroup/apply" not in shown
        assert request(address, "/regroup/apply", "POST", b"threshold=0.6", **headers).status == 403
        assert request(address, "/api/group", "POST", b"threshold=0.6", **headers).status == 403


def test_a_threshold_below_those_of_a_survey_is_refused(store: Any) -> None:
    group(store, GroupOptions(0.6, "lcs"))
    site = Site(store)
    ask(site, "survey")
    for question in ("preview", "regroup", "group"):
        with pytest.raises(UsageError, match=r"is 0\.5; for lower ones, run nearfold group"):
            ask(site, question, threshold="0.4")
    assert ask(site, "preview", threshold="0.5").threshold == 0.5
    group(store, GroupOptions(0.4, "lcs"))
    assert ask(Site(store), "preview", threshold="0.4").threshold == 0.4
