"""A site on a port of this machine over a store in a file, and a real browser that says what its
pages did.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright
from sample_library import edited, rows, sentence

from indexer.grouping.group import group
from indexer.indexing.index import index
from indexer.stores import open_store
from web.hostile import hostile_rows
from web.watching import ROOT, Seen, served, window

sys.path.insert(0, str(ROOT / "tools"))
import chromium

sys.path.pop(0)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the store lies in."""
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="session")
def store_url(folder: Path) -> str:
    """A store of the example files, of planted families, and of documents that attack whoever shows
    them.
    """
    store = open_store(f"sqlite:///{folder}/pages.db")
    index([str(ROOT / "examples")], store)
    planted = {f"m{place}": edited(sentence(3), place) for place in range(6)}
    labels = {"m1": ("privileged",), "m2": ("privileged", "hot")}
    numbered = [f"word{place}" for place in range(20_000)]
    long = {
        "long1": " ".join(numbered),
        "long2": " ".join(word for word in numbered if not word.endswith("777")),
    }
    mixed = {
        "hebrew1": "הסכם זה נערך ונחתם ביום הראשון לחודש מרץ בין הצדדים המפורטים להלן ולפי התנאים שלהלן בלבד",
        "hebrew2": "הסכם זה נערך ונחתם ביום השני לחודש מרץ בין הצדדים המפורטים להלן ולפי התנאים שלהלן בלבד",
    }
    mixed |= {
        "chinese1": "本协议由双方于二〇二四年三月签订，自签订之日起生效。乙方应当在六月底之前提交书面报告。",
        "chinese2": "本协议由双方于二〇二四年四月签订，自签订之日起生效。乙方应当在六月底之前提交书面报告。",
    }
    made = rows({**planted, **long, **mixed}, cut=frozenset({"m5"}), labels=labels)
    written = store.write([*(replace(row, raw=row.id) for row in made), *hostile_rows()])
    assert not any(written)
    group(store)
    store.close()
    return f"sqlite:///{folder}/pages.db"


@pytest.fixture(scope="session")
def site(store_url: str) -> Iterator[str]:
    """The address of `nearfold serve`, without the slash at its end."""
    with served(store_url, "--originals", str(ROOT / "examples")) as address:
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
def seen(site: str) -> Iterator[Seen]:
    """What the pages of this test did; a test fails when one did what it must not."""
    watched = Seen(site)
    yield watched
    watched.check()


@pytest.fixture
def context(browser: Browser, site: str, seen: Seen) -> Iterator[BrowserContext]:
    """Windows of 1280 pixels over the site."""
    with window(browser, site, seen) as opened:
        yield opened


@pytest.fixture
def page(context: BrowserContext, seen: Seen) -> Page:
    """One window."""
    return seen.watch(context.new_page())
