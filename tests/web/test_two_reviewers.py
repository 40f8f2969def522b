"""Two reviewers in two browsers, and a job that makes families, at the same time."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from sample_library import edited, rows, sentence

from indexer.errors import StoreBusy
from indexer.grouping.group import group
from indexer.jobs.label import label_history, labels_state
from indexer.recipe import DEFAULT
from indexer.review.access import add_account
from indexer.stores import open_store
from web.watching import PageRecord, open_window, run_site

NAMES = ("anna", "ben")
PASSWORD = "correct horse battery"
LABEL_ALL = """
async ([label, states]) => {
  const token = (await (await fetch("/api/token")).json()).token;
  const headers = { "content-type": "application/json", "x-nearfold-token": token };
  const outcomes = {};
  const left = Object.keys(states);
  const work = async () => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) {
      const body = JSON.stringify({ id, add: label, dry_run: false, seen: states[id] });
      const answer = await fetch("/api/label", { method: "POST", headers, body });
      const { error, conflict, waits } = await answer.json();
      outcomes[id] = error ?? (conflict ? "conflict" : waits ? "waits" : "written");
    }
  };
  window.labelling = Promise.all([work(), work(), work()]).then(() => outcomes);
}
"""


def run_group(store: Any) -> None:
    """Make families as soon as no label is being written."""
    while True:
        with contextlib.suppress(StoreBusy):
            group(store)
            return


def unseen(page: Page) -> int:
    """Return how many labellings a page says were not written."""
    page.goto("/jobs")
    more = page.locator("[data-unseen]")
    listed = page.locator(".unseen-outcomes a").count()
    return listed + (int(more.inner_text()) if more.count() else 0)


@pytest.mark.parametrize("each", [20, pytest.param(500, marks=pytest.mark.slow)])
def test_no_label_of_two_reviewers_is_lost_while_families_are_made(
    browser: Browser, tmp_path: Path, each: int
) -> None:
    store = open_store(f"sqlite:///{tmp_path}/two.db")
    store.prepare(DEFAULT)
    ids = [f"d{place:04}" for place in range(each * 3 // 2)]
    texts = {id: edited(sentence(place // 4, 60), place % 4) for place, id in enumerate(ids)}
    store.write(rows(texts))
    store.refresh()
    for name in NAMES:
        add_account(tmp_path / "logins", name, "reviewer", PASSWORD)
    own = {"anna": ids[:each], "ben": ids[-each:][::-1]}
    shared = set(own["anna"]) & set(own["ben"])
    with contextlib.ExitStack() as stack:
        site = stack.enter_context(run_site(store.url, "--auth", str(tmp_path / "logins")))
        record = PageRecord(site)
        pages = {}
        for name in NAMES:
            login = {"username": name, "password": PASSWORD}
            windows = open_window(browser, site, record, http_credentials=login)
            pages[name] = record.watch(stack.enter_context(windows).new_page())
            pages[name].goto("/jobs")
        for name in NAMES:
            states = {id: labels_state([(id, ())]) for id in own[name]}
            pages[name].evaluate(LABEL_ALL, [f"of {name}", states])
        run_group(store)
        outcomes = {}
        for name, page in pages.items():
            outcomes[name] = page.evaluate("() => window.labelling")
            assert set(outcomes[name].values()) <= {"written", "conflict", "waits"}
        while "for the job that works on the store" in pages["ben"].inner_text("body"):
            pages["ben"].reload()
        at_once = sum(list(told.values()).count("conflict") for told in outcomes.values())
        late = {name: unseen(page) for name, page in pages.items()}
        assert at_once + sum(late.values()) == len(shared)
        labels = {row.id: row.labels for row in store.scan()}
        for name in NAMES:
            for id in own[name]:
                lost = outcomes[name][id] == "conflict"
                assert len(labels[id]) == 1
                assert id in shared or labels[id] == (f"of {name}",)
                assert not lost or labels[id] != (f"of {name}",)
        history = label_history(store)
        assert len(history) == len(ids)
        assert {job.reviewer for job in history} == set(NAMES)
        reader = max(late, key=lambda name: late[name])
        if late[reader]:
            pages[reader].locator(".unseen-outcomes a").first.click()
            title = pages[reader].get_by_role("heading", level=1)
            expect(title).to_have_text(
                "Somebody has changed these labels since you opened the page"
            )
            assert unseen(pages[reader]) == late[reader] - 1
        record.check()
    store.close()
