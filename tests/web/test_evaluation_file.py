"""The page of an evaluation in a real browser, with hostile documents."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from indexer.lab.evaluation.evaluate import EvaluateOptions, evaluate
from indexer.lab.evaluation.report import MAX_DISPLAYED, evaluation_page
from web.hostile import PAYLOADS
from web.watching import axe_violations

COMMON = "the tenant pays the rent on the first day of each month and keeps the rooms in good order"


@pytest.fixture(scope="module")
def page_of(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with more misses than it shows, a false positive, two assessors, hostile texts."""
    folder = tmp_path_factory.mktemp("evaluated")
    first_sheet, second_sheet = ["a,b,judgement"], ["a,b,judgement"]
    for place in range(MAX_DISPLAYED + 3):
        payload = PAYLOADS[place % len(PAYLOADS)]
        (folder / f"a{place}.txt").write_text(
            f"{COMMON} {payload}\n\nnothing number {place} here is shared with the other text"
        )
        (folder / f"b{place}.txt").write_text(
            f"{payload} {place}\n\n{COMMON} quite unlike what stands in the first one"
        )
        first_sheet.append(f"a{place}.txt,b{place}.txt,fuzzy")
        second_sheet.append(f"a{place}.txt,b{place}.txt,fuzzy")
    (folder / "copy.txt").write_bytes((folder / "a0.txt").read_bytes())
    (folder / "anna.csv").write_text("\n".join([*first_sheet, "a0.txt,copy.txt,different"]) + "\n")
    (folder / "b<i>.csv").write_text("\n".join([*second_sheet, "a0.txt,copy.txt,different"]) + "\n")
    evaluation = evaluate(
        [str(folder / "anna.csv"), str(folder / "b<i>.csv")],
        options=EvaluateOptions(thresholds=[0.95]),
    )
    (folder / "report.html").write_text(evaluation_page(evaluation), encoding="utf-8")
    return folder / "report.html"


@pytest.mark.parametrize(
    ("width", "scheme"), [pytest.param(1280, "light", marks=pytest.mark.slow), (360, "dark")]
)
def test_it_requests_nothing_and_is_accessible(
    browser: Browser, page_of: Path, width: int, scheme: str
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    events: list[str] = []
    page.on("console", lambda message: events.append(message.text))
    page.on("dialog", lambda dialog: events.append(dialog.message))
    page.on(
        "request",
        lambda request: events.append(request.url) if request.url != page_of.as_uri() else None,
    )
    page.goto(page_of.as_uri())
    assert page.locator("details.mistake").count() == MAX_DISPLAYED
    assert page.get_by_text("4 more are not shown").count() == 1
    first = page.locator("details.mistake").nth(1)
    first.locator("summary").click()
    link = first.locator(".side.a a.nr").first
    target = link.get_attribute("href")
    assert first.locator(target).count() == page.locator(target).count() == 1
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((element) => element.id)")
    assert len(ids) == len(set(ids)) > 100
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert axe_violations(page) == {}
    assert events == []
    context.close()


@pytest.mark.long
def test_it_is_the_same_for_the_same_documents(page_of: Path) -> None:
    folder = page_of.parent
    evaluation = evaluate(
        [str(folder / "anna.csv"), str(folder / "b<i>.csv")],
        options=EvaluateOptions(thresholds=[0.95]),
    )
    assert evaluation_page(evaluation) == page_of.read_text(encoding="utf-8")
    assert "<i>" not in page_of.read_text(encoding="utf-8")
