"""The page of an evaluation in a real browser: hostile documents do nothing, links stay in their
pair, it reads well.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from indexer.lab.evaluation.evaluate import EvaluateOptions, evaluate
from indexer.web.evaluation_page import MOST_SHOWN, evaluation_page
from web.hostile import PAYLOADS

COMMON = "the tenant pays the rent on the first day of each month and keeps the rooms in good order"


@pytest.fixture(scope="module")
def page_of(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """More misses than are shown, a false positive, sheets of two assessors, texts that attack
    whoever shows them.
    """
    folder = tmp_path_factory.mktemp("evaluated")
    lines, other = ["a,b,judgement"], ["a,b,judgement"]
    for place in range(MOST_SHOWN + 3):
        payload = PAYLOADS[place % len(PAYLOADS)]
        (folder / f"a{place}.txt").write_text(
            f"{COMMON} {payload}\n\nnothing number {place} here is shared with the other text"
        )
        (folder / f"b{place}.txt").write_text(
            f"{payload} {place}\n\n{COMMON} quite unlike what stands in the first one"
        )
        lines.append(f"a{place}.txt,b{place}.txt,fuzzy")
        other.append(f"a{place}.txt,b{place}.txt,fuzzy")
    (folder / "copy.txt").write_bytes((folder / "a0.txt").read_bytes())
    (folder / "anna.csv").write_text("\n".join([*lines, "a0.txt,copy.txt,different"]) + "\n")
    (folder / "b<i>.csv").write_text("\n".join([*other, "a0.txt,copy.txt,different"]) + "\n")
    made = evaluate(
        [str(folder / "anna.csv"), str(folder / "b<i>.csv")],
        options=EvaluateOptions(thresholds=[0.95]),
    )
    (folder / "report.html").write_text(evaluation_page(made), encoding="utf-8")
    return folder / "report.html"


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_it_asks_for_nothing_and_reads_well(
    browser: Browser, page_of: Path, width: int, scheme: str
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    noticed: list[str] = []
    page.on("console", lambda message: noticed.append(message.text))
    page.on("dialog", lambda dialog: noticed.append(dialog.message))
    page.on(
        "request",
        lambda request: noticed.append(request.url) if request.url != page_of.as_uri() else None,
    )
    page.goto(page_of.as_uri())
    assert page.locator("details.mistake").count() == MOST_SHOWN
    assert page.get_by_text("4 more are not shown").count() == 1
    first = page.locator("details.mistake").nth(1)
    first.locator("summary").click()
    link = first.locator(".side.a a.nr").first
    target = link.get_attribute("href")
    assert first.locator(target).count() == page.locator(target).count() == 1
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids)) > 100
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    assert noticed == []
    context.close()


def test_it_is_the_same_for_the_same_documents(page_of: Path) -> None:
    folder = page_of.parent
    made = evaluate(
        [str(folder / "anna.csv"), str(folder / "b<i>.csv")],
        options=EvaluateOptions(thresholds=[0.95]),
    )
    assert evaluation_page(made) == page_of.read_text(encoding="utf-8")
    assert "<i>" not in page_of.read_text(encoding="utf-8")
