"""The report in a real browser: hostile documents, both themes, paper and a phone."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from indexer.review.exports.export import ExportOptions, export
from indexer.stores import open_store
from web.watching import axe_violations


@pytest.fixture(scope="module")
def report(store_url: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report on a store with hostile documents."""
    out = tmp_path_factory.mktemp("report") / "report.html"
    store = open_store(store_url)
    export(store, out, "html", options=ExportOptions(date="2024-05-01"))
    store.close()
    return out


@pytest.mark.parametrize(
    ("width", "scheme", "media"),
    [
        pytest.param(1280, "light", "screen", marks=pytest.mark.slow),
        (360, "dark", "screen"),
        (760, "light", "print"),
    ],
)
def test_it_requests_nothing_and_is_accessible(
    browser: Browser, report: Path, width: int, scheme: str, media: str
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    events: list[str] = []
    page.on("console", lambda message: events.append(message.text))
    page.on("dialog", lambda dialog: events.append(dialog.message))
    page.on(
        "request",
        lambda request: events.append(request.url) if request.url != report.as_uri() else None,
    )
    page.emulate_media(media=media, color_scheme=scheme)
    page.goto(report.as_uri())
    page.locator("a[href='#group-1']").click()
    assert page.locator("#group-1").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert axe_violations(page) == {}
    assert events == []
    context.close()
