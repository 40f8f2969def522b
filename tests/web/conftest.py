"""A site over a store in a file, and a real browser whose pages are recorded."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright
from sample_library import edited, rows, sentence

from indexer.comparing.criteria import Criteria
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.jobs.index import index
from indexer.stores import open_store
from web.hostile import hostile_rows
from web.watching import ROOT, PageRecord, open_window, run_site

sys.path.insert(0, str(ROOT / "tools"))
import chromium

sys.path.pop(0)


HEBREW = "הסכם זה נערך ונחתם ביום {} לחודש מרץ בין הצדדים המפורטים להלן ולפי התנאים שלהלן בלבד"
CHINESE = "本协议由双方于二〇二四年{}月签订，自签订之日起生效。乙方应当在六月底之前提交书面报告。"


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the store."""
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="session")
def store_url(folder: Path) -> str:
    """The URL of a store of the example files, synthetic families and hostile documents."""
    store = open_store(f"sqlite:///{folder}/pages.db")
    index([str(ROOT / "examples")], store)
    synthetic = {f"m{place}": edited(sentence(3, 60), place) for place in range(6)}
    labels = {"m1": ("privileged",), "m2": ("privileged", "hot")}
    numbered = [f"word{place}" for place in range(20_000)]
    long = {
        "long1": " ".join(numbered),
        "long2": " ".join(word for word in numbered if not word.endswith("777")),
    }
    scripts = {
        "hebrew1": HEBREW.format("הראשון"),
        "hebrew2": HEBREW.format("השני"),
        "chinese1": CHINESE.format("三"),
        "chinese2": CHINESE.format("四"),
    }
    documents = rows({**synthetic, **long, **scripts}, cut=frozenset({"m5"}), labels=labels)
    replies = store.write([*(replace(row, raw=row.id) for row in documents), *hostile_rows()])
    assert not any(replies)
    # versions of one agreement that differ in dates and amounts are in one group
    group(store, GroupOptions(0.9, criteria=Criteria(policy="loose", replaced=2)))
    store.close()
    return f"sqlite:///{folder}/pages.db"


@pytest.fixture(scope="session")
def site(store_url: str) -> Iterator[str]:
    """The address of `nearfold serve` without the final slash."""
    with run_site(store_url, "--originals", str(ROOT / "examples")) as address:
        yield address


@pytest.fixture(scope="session")
def browser(chromium_path: str, browser_settings: dict[str, str]) -> Iterator[Browser]:
    """A headless Chromium of the system, with the fonts of the tests."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium_path, args=chromium.arguments(), env=browser_settings
        )
        yield browser
        browser.close()


@pytest.fixture
def record(site: str) -> Iterator[PageRecord]:
    """The record of the pages of a test, which fails if one did something forbidden."""
    pages = PageRecord(site)
    yield pages
    pages.check()


@pytest.fixture
def context(browser: Browser, site: str, record: PageRecord) -> Iterator[BrowserContext]:
    """Windows of 1280 pixels for the site."""
    with open_window(browser, site, record) as windows:
        yield windows


@pytest.fixture
def page(context: BrowserContext, record: PageRecord) -> Page:
    """One window."""
    return record.watch(context.new_page())
