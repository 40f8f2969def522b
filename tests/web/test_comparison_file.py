"""`compare --html` in a browser: a file that loads nothing and runs nothing of a document."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import TypeAlias

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from sample_library import sentence

from indexer.comparing.compare import compare
from indexer.review.boilerplate import DiscountedSimilarity
from indexer.review.compared_documents import Original
from indexer.review.comparison_files import compare_page
from web.hostile import ELSEWHERE, PAYLOADS
from web.watching import PageRecord, axe_violations

OpenPage: TypeAlias = Callable[[str], Page]
HEBREW = "הסכם זה נערך ונחתם ביום {} לחודש מרץ בין הצדדים המפורטים להלן ולפי התנאים שלהלן בלבד"
CHINESE = "本协议由双方于二〇二四年{}月签订，自签订之日起生效。"
MOVED = "Then comes the clause that was moved away."
ONE = f"First of all the parties agree on this. The fee is 42,000 pounds. {MOVED}"
OTHER = f"{MOVED} First of all the parties agree on this. The fee is 45,500 pounds."

IN_VIEW = """() => {
  const at = document.querySelector(".block.at").getBoundingClientRect();
  return at.bottom > 0 && at.top < innerHeight;
}"""


def comparison_html(a: str, b: str, matching: str = "literal", **more: object) -> str:
    originals = Original("/files/a.txt", a, **more), Original("/files/b.txt", b)
    return compare_page(
        compare(a, b, matching=matching, names=("/files/a.txt", "/files/b.txt")), originals
    )


def hostile_comparison() -> str:
    texts = [
        " ".join(f"{sentence(place, 30)} {payload}" for place, payload in enumerate(order))
        for order in _orders()
    ]
    originals = [
        Original(
            f"/files/{mark}",
            text,
            mark,
            mark,
            1,
            2,
            mark,
            (mark,),
            {mark: mark, "all": " ".join(PAYLOADS)},
            PAYLOADS,
        )
        for text, mark in zip(
            texts, ("</style></script><script>alert(1)</script>", PAYLOADS[2]), strict=True
        )
    ]
    return compare_page(
        compare(*texts, names=(originals[0].path, originals[1].path)), (originals[0], originals[1])
    )


def _orders() -> tuple[list[str], list[str]]:
    return list(PAYLOADS), [*PAYLOADS[5:], *PAYLOADS[:5]]


def long_comparison() -> str:
    words = [f"word{place}" for place in range(20_000)]
    return comparison_html(
        " ".join(words), " ".join(word for word in words if not word.endswith("777"))
    )


@pytest.fixture
def watched_context(
    browser: Browser, tmp_path: Path
) -> Iterator[tuple[BrowserContext, PageRecord]]:
    """A window and the record of its pages; the test fails if one requests anything else than
    its own files.
    """
    record = PageRecord(f"file://{tmp_path}")
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(15_000)
    context.on("request", record.request)
    yield context, record
    context.close()
    record.check()


@pytest.fixture
def open_page(watched_context: tuple[BrowserContext, PageRecord], tmp_path: Path) -> OpenPage:
    """A function that opens HTML as a file in a page."""
    context, record = watched_context

    def open_(html: str) -> Page:
        page, file = record.watch(context.new_page()), tmp_path / f"{len(context.pages)}.html"
        file.write_text(html, encoding="utf-8")
        page.goto(file.as_uri())
        return page

    return open_


def test_the_file_names_nothing_outside_it() -> None:
    for html in (comparison_html(ONE, OTHER), hostile_comparison()):
        plain = re.sub(r"<(style|script)\b.*?</\1>", "", html, flags=re.DOTALL)
        tags = re.findall(r"<[a-z!][^<>]*>", plain)
        assert not [tag for tag in tags if re.search(r"\s(src|srcset|action|style|on\w+)\s*=", tag)]
        assert {tag for tag in tags if " href=" in tag} == {
            tag for tag in tags if ' href="#' in tag
        }
        assert not {re.match(r"<[a-z]+", tag).group() for tag in tags if tag[1] != "!"} & {
            "<img",
            "<link",
            "<iframe",
            "<base",
        }
        assert len(re.findall(r"<script\b", html)) == len(re.findall(r"<style\b", html)) == 1
        assert not re.search(
            r"url\(|@import|^import |fetch\(",
            html.split("<body>")[0] + html.rsplit("<script", 1)[1],
            re.M,
        )


def test_only_the_style_and_the_script_of_the_file_itself_act() -> None:
    [policy] = re.findall(
        r'http-equiv="Content-Security-Policy" content="([^"]*)"', comparison_html(ONE, OTHER)
    )
    assert unescape(policy).startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert len(re.findall("sha256-", policy)) == 2


def test_hostile_documents_run_nothing_and_request_nothing(open_page: OpenPage) -> None:
    page = open_page(hostile_comparison())
    assert page.evaluate("typeof pwned") == "undefined"
    assert (
        page.locator(
            "main script, main iframe, main img, main base, main link, main meta, main object"
        ).count()
        == 0
    )
    assert ELSEWHERE in page.locator("main").text_content()
    page.keyboard.press("n")
    expect(page.locator("[data-where]")).to_contain_text("Difference 1 of")


def test_what_gets_into_the_file_cannot_run(browser: Browser, tmp_path: Path) -> None:
    """The browser refuses markup that is inserted into the file: the policy works without the
    escaping.
    """
    file = tmp_path / "altered.html"
    attack = "<script>pwned=1</script><img src=x onerror=pwned=1><style>body{display:none}</style>"
    file.write_text(
        comparison_html(ONE, OTHER).replace("</main>", f"{attack}</main>"), encoding="utf-8"
    )
    page = browser.new_page()
    page.goto(file.as_uri())
    assert page.evaluate("typeof pwned") == "undefined"
    expect(page.locator("main")).to_be_visible()
    page.close()


def test_keys_and_buttons_lead_from_difference_to_difference(open_page: OpenPage) -> None:
    page = open_page(comparison_html(ONE, OTHER))
    where = page.locator("[data-where]")
    total = where.text_content()
    for press in (
        lambda: page.keyboard.press("n"),
        page.get_by_role("button", name="Next difference").click,
    ):
        press()
    expect(where).to_have_text(f"Difference 2 of {total}")
    page.keyboard.press("p")
    expect(where).to_have_text(f"Difference 1 of {total}")
    page.keyboard.press("?")
    page.get_by_label("single-key shortcuts are on").uncheck()
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("n")
    expect(where).to_have_text(f"Difference 1 of {total}")


def test_differences_of_a_long_text_come_into_view(open_page: OpenPage) -> None:
    page = open_page(long_comparison())
    for key in ("p", "n", "p", "p"):
        page.keyboard.press(key)
        page.wait_for_function(IN_VIEW)
    expect(page.locator("[data-where]")).to_contain_text("Difference 19 of 20")


def test_it_shows_passages_moves_letters_measures_metadata_and_warnings(
    open_page: OpenPage,
) -> None:
    page = open_page(
        comparison_html(
            ONE,
            OTHER,
            warnings=("the text is cut",),
            metadata={"author": "Ann"},
            content_type="text/plain",
        )
    )
    expect(page.locator(".notes")).to_have_text("A: the text is cut")
    expect(page.locator(".moved").first).to_be_visible()
    expect(page.locator(".side.a .letters").first).to_have_text("2")
    assert page.locator(".measures dt").all_text_contents() == [
        "jaccard",
        "estimate",
        "lcs",
        "grown",
        "lcs misread",
        "overlap",
        "jaccard words",
        "resemblance",
        "resemblance, discounted",
        "containment words",
        "terminology",
        "containment",
        "hamming",
    ]
    ranges = [re.compile(r"\d+% to \d+%")] * 2  # of the slots and of the bits
    expect(page.locator(".measures .range")).to_have_text(ranges)
    assert page.locator("tr.differs").all_text_contents() == [
        "content type (differs)text/plain–",
        "author (differs)Ann–",
    ]
    number = page.locator(".side.a .nr").first
    number.click()
    expect(page.locator(".side.b .nr:target")).to_have_text(number.text_content())


def test_it_says_whether_boilerplate_was_discounted() -> None:
    assert "no corpus statistics" in comparison_html(ONE, OTHER)
    html = compare_page(compare(ONE, OTHER), without=DiscountedSimilarity(0.123, 0.5, 0.25, 40))
    assert "12.3%" in html
    assert "rarity in 40 texts of the store; 25% of them are common there" in html
    assert "no corpus statistics" in compare_page(
        compare(ONE, OTHER), without=DiscountedSimilarity(0.5, 0.5, 0.0, 0)
    )


def test_the_page_names_the_requested_matching() -> None:
    twice = f"{ONE} {ONE}"
    assert "literal matching" in comparison_html(twice, ONE)
    assert "repeats left out" in comparison_html(twice, ONE, "information")


def test_scripts_of_any_direction(open_page: OpenPage) -> None:
    page = open_page(comparison_html(HEBREW.format("הראשון"), HEBREW.format("השני")))
    assert (
        page.locator(".side.a").first.evaluate("side => getComputedStyle(side).direction") == "rtl"
    )
    page = open_page(comparison_html(CHINESE.format("三"), CHINESE.format("四")))
    assert page.locator(".side.a .only").all_text_contents()[0] == "三"


@pytest.mark.parametrize(
    ("width", "theme"), [(360, "light"), pytest.param(1920, "dark", marks=pytest.mark.slow)]
)
def test_it_is_accessible_and_fits(
    watched_context: tuple[BrowserContext, PageRecord], open_page: OpenPage, width: int, theme: str
) -> None:
    for html in (
        comparison_html(ONE, OTHER, warnings=("the text is cut",)),
        comparison_html("", ""),
        hostile_comparison(),
    ):
        page = open_page(html)
        page.emulate_media(color_scheme=theme)
        page.set_viewport_size({"width": width, "height": 900})
        assert axe_violations(page) == {}
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_it_fits_a_phone_whatever_fonts_are_installed(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(comparison_html(ONE, OTHER, warnings=("the text is cut",)), encoding="utf-8")
    context = browser.new_context(viewport={"width": 360, "height": 900}, bypass_csp=True)
    page = context.new_page()
    page.goto(file.as_uri())
    page.add_style_tag(content="* { letter-spacing: 0.12em !important; }")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    context.close()


def test_it_prints_without_what_only_a_screen_needs(open_page: OpenPage) -> None:
    page = open_page(comparison_html(ONE, OTHER))
    page.emulate_media(media="print")
    expect(page.locator(".tools")).to_be_hidden()
    expect(page.get_by_text("literal matching")).to_be_visible()
    expect(page.locator(".side.a").first).to_be_visible()
