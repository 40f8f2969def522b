"""The review pages in a real browser: keyboard, hostile documents, accessibility, widths."""

import json
import operator
import re
import urllib.request
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Page, expect

from indexer.defaults import FOLD, MEASURE, OVERLAP
from web.hostile import PAYLOADS, hostile_rows
from web.watching import PageRecord, axe_violations, open_window


def ask(site: str, question: str, **parameters: str) -> dict:
    with urllib.request.urlopen(f"{site}/api/{question}?{urlencode(parameters)}") as answer:
        return json.load(answer)


def hit(site: str, words: str) -> dict:
    """Return the first hit with duplicates folded under it."""
    hits = ask(site, "search", q=words, policy="loose")["hits"]
    return next(found_hit for found_hit in hits if found_hit["folded"])


def addresses(site: str) -> dict[str, str]:
    """Return the address of every page with content, by name."""
    first = hit(site, "agreement")
    renewal = next(duplicate for duplicate in first["folded"] if "renewal" in duplicate["path"])
    return {
        "search": "/?q=agreement",
        "nothing found": "/?q=nothingofthekind",
        "filtered": "/?" + urlencode({"filter": "labels=hostile"}),
        "document": "/document?" + urlencode({"id": first["id"]}),
        "family": "/family?id=m2",
        "thread": "/thread?" + urlencode({"id": hostile_rows()[0].id}),
        "versions": "/versions?id=m2",
        "matrix": "/matrix?rows=all&" + urlencode({"id": first["id"]}),
        "compare": "/compare?" + urlencode({"a": first["id"], "b": renewal["id"]}),
        "work list": "/worklist?least=1&part=all",
        "dashboard": "/dashboard",
        "variants": "/variants?id=m2",
        "overview": "/overview",
        "threshold": "/threshold",
        "threshold to apply": "/regroup?threshold=0.5",
        "jobs": "/jobs",
        "api": "/api",
        "problem": "/document?id=nowhere",
    }


def test_search_folds_and_opens_a_family_in_place(page: Page) -> None:
    page.goto("/")
    page.get_by_label("Words to search").fill("agreement")
    page.keyboard.press("Enter")
    expect(page.locator("#count")).to_contain_text("6 documents in 2 groups")
    page.get_by_label("Fold").select_option("live")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("#count")).to_contain_text("6 documents in 3 groups")
    page.get_by_label("policy").select_option("loose")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("#count")).to_contain_text("6 documents in 2 groups")
    fold = page.locator("details.fold").first
    expect(fold.locator("li").first).to_be_hidden()
    fold.locator("summary").click()
    expect(fold.locator("li")).to_have_count(3)
    expect(fold.locator(".share").first).to_have_text(re.compile(r"\d+%"))
    expect(fold.locator(".facts-differ").first).to_contain_text("differ: ")
    expect(fold.locator(".marks").first).to_contain_text("another filled-in form, amount")
    expect(fold).to_contain_text(f"by measure {MEASURE}")
    fold.get_by_role("link", name="Compare").first.click()
    expect(page).to_have_title(re.compile("Compare"))


def test_each_way_of_folding_has_its_own_threshold(page: Page) -> None:
    page.goto("/?q=agreement&fold=types")
    terminology = page.get_by_label("common terminology")
    expect(terminology).to_have_value("")
    expect(terminology).to_have_attribute("placeholder", f"{OVERLAP}")
    page.get_by_label("Fold").select_option("live")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("spinbutton", name="similarity")).to_have_attribute(
        "placeholder", f"{FOLD}"
    )
    page.get_by_role("spinbutton", name="similarity").fill("0.95")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("spinbutton", name="similarity")).to_have_value("0.95")


def test_filters_narrow_and_are_removed(page: Page) -> None:
    page.goto("/?q=agreement")
    page.get_by_role("link", name="PDF 1").click()
    expect(page.locator("#count")).to_contain_text("1 document")
    page.get_by_role("link", name="Remove the filter").click()
    expect(page.locator("#count")).to_contain_text("6 documents")


def test_hits_come_in_pages(page: Page) -> None:
    page.goto("/?fold=none&limit=3")
    first = page.locator(".hit h2").all_text_contents()
    page.get_by_role("link", name="Page 2").click()
    assert len(first) == 3
    assert not set(first) & set(page.locator(".hit h2").all_text_contents())


def test_the_keyboard_reaches_everything(page: Page, site: str) -> None:
    page.goto("/?q=agreement")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("/")
    expect(page.get_by_label("Words to search")).to_be_focused()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    page.keyboard.press("j")
    expect(page.locator(".hit h2 a").nth(0)).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator(".hit h2 a").nth(1)).to_be_focused()
    page.keyboard.press("k")
    page.keyboard.press("x")
    expect(page.locator(".hit").first.locator("li").first).to_be_visible()
    page.keyboard.press("c")
    expect(page).to_have_url(re.compile("/compare"))


def test_the_keyboard_leads_from_difference_to_difference(page: Page, site: str) -> None:
    page.goto(addresses(site)["compare"])
    page.keyboard.press("n")
    expect(page.locator("[data-where]")).to_contain_text("Difference 1 of")
    expect(page.locator("#d1")).to_be_focused()
    page.keyboard.press("n")
    page.keyboard.press("p")
    expect(page.locator("[data-where]")).to_contain_text("Difference 1 of")


def test_differences_only_hides_what_is_the_same(page: Page) -> None:
    page.goto("/compare?a=long1&b=long2&wait=30")
    expect(page.locator(".block.same").first).to_be_visible()
    page.keyboard.press("d")
    expect(page.locator(".block.same").first).to_be_hidden()


def test_single_keys_can_be_switched_off(page: Page) -> None:
    page.goto("/?q=agreement")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.get_by_label("single-key shortcuts are on").uncheck()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("j")
    expect(page.locator(".hit.at")).to_have_count(0)
    page.reload()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_a_comparison_shows_passages_in_matching_colours(page: Page, site: str) -> None:
    page.goto(addresses(site)["compare"])
    left, right = page.locator(".side.a .passage"), page.locator(".side.b .passage")
    assert left.count() == right.count() > 3
    for place in range(3):
        colours = [
            side.nth(place).evaluate("passage => getComputedStyle(passage).backgroundColor")
            for side in (left, right)
        ]
        assert colours[0] == colours[1] != "rgba(0, 0, 0, 0)"
    expect(page.locator(".side.a .letters").first).to_be_visible()
    page.locator(".side.a .nr").nth(1).click()
    expect(page.locator(".side.b .nr:target")).to_have_text("2")


def test_a_comparison_begins_with_one_sentence(page: Page, site: str) -> None:
    page.goto("/compare?a=m1&b=m2")
    answer = ask(site, "compare", a="m1", b="m2")
    [lcs] = [one["value"] for one in answer["measures"] if one["name"] == "lcs"]
    expect(page.locator(".finding")).to_have_text(
        f"{lcs:.0%} of the words are the same, in the same order; "
        f"{answer['differences']} difference{'s' * (answer['differences'] != 1)}."
    )
    expect(page.locator(".measures")).to_be_hidden()
    page.get_by_text("All measures").click()
    expect(page.locator(".measures")).to_be_visible()


def test_a_comparison_leaves_boilerplate_out(page: Page, site: str) -> None:
    page.goto("/compare?a=m1&b=m2")
    row = page.locator(".measures div", has_text="resemblance, discounted")
    expect(row.locator(".meaning")).to_contain_text("weighted by rarity in")
    answer = ask(site, "discounted", a="m1", b="m2", wait="20")
    expect(row.locator(".figure")).to_have_text(f"{answer['similarity']:.1%}")
    assert answer["similarity"] <= answer["plain"]


def test_both_sides_of_a_block_stand_at_the_same_height(page: Page, site: str) -> None:
    page.goto("/compare?a=long1&b=long2&wait=30")
    # at one moment: the discounted measure arrives later and moves what is below it
    left, right = page.evaluate(
        """() => ["a", "b"].map(side => Array.from(
            document.querySelectorAll(`.side.${side}`), cell => cell.getBoundingClientRect().top
        ))"""
    )
    assert min(len(left), len(right)) >= 3
    assert all(map(operator.eq, left, right))


def test_long_texts_come_in_parts_and_differences_lead_across_them(page: Page) -> None:
    page.goto("/compare?a=long1&b=long2&wait=30")
    expect(page.get_by_text("Part 1 of 2").first).to_be_visible()
    page.keyboard.press("p")
    last = int(page.locator("[data-where]").text_content().split()[1])
    page.keyboard.press("n")
    expect(page.get_by_text("Part 2 of 2").first).to_be_visible()
    expect(page.locator("[data-opens=help]")).to_be_visible()  # then the page handles keys
    page.keyboard.press("n")
    expect(page.locator("[data-where]")).to_contain_text(f"Difference {last + 1} of")


def test_right_to_left_text_runs_from_the_right(page: Page) -> None:
    page.goto("/compare?a=hebrew1&b=hebrew2")
    for side in "ab":
        assert (
            page.locator(f".side.{side}").first.evaluate("side => getComputedStyle(side).direction")
            == "rtl"
        )


def test_chinese_texts_differ_by_letters(page: Page) -> None:
    page.goto("/compare?a=chinese1&b=chinese2")
    expect(page.locator(".blocks .side.a .only")).to_have_text("三")
    expect(page.locator(".blocks .side.b .only")).to_have_text("四")
    page.keyboard.press("n")
    expect(page.locator("[data-where]")).to_contain_text("Difference 1 of 1 difference")


def test_the_slider_regroups_while_it_moves(page: Page, site: str) -> None:
    page.goto("/threshold")
    expect(page.locator("dd[data-number=moved]")).to_have_text("0")
    for threshold in ("1", "0.6"):
        page.locator("#threshold").fill(threshold)
        expected = ask(site, "preview", threshold=threshold)
        expect(page.locator("dd[data-number=moved]")).to_have_text(f"{expected['moved']:,}")
        expect(page.locator("[data-number=families]")).to_have_text(f"{expected['families']:,}")
        expect(page.locator("[data-moves] tr")).to_have_count(len(expected["moves"]))
    assert ask(site, "preview", threshold="1")["moved"] > 0


def test_a_family_shows_pairwise_similarity_and_warnings(page: Page, site: str) -> None:
    page.goto("/family?id=m2")
    expect(page.locator("ol.members li").first).to_be_visible()
    count = page.locator("ol.members li").count() + 1
    assert page.locator(".matrix tbody tr").count() == count
    expect(page.get_by_role("columnheader")).to_have_text(["P", *map(str, range(1, count))])
    expect(page.get_by_role("rowheader").nth(1)).to_have_text(re.compile(r"1 m\d\.txt"))
    cell = page.locator(".matrix tbody tr").nth(0).locator("td").nth(1)
    estimate = ask(site, "family", id="m2")["matrix"][0][1]
    percentages = [round(100 * estimate[name]) for name in ("similarity", "low", "high")]
    expect(cell).to_have_text("{} {}–{}".format(*percentages))
    scroll = page.get_by_role("region", name="Similarity of each pair")
    scroll.focus()
    expect(scroll).to_be_focused()
    expect(page.locator(".head ul.notes")).to_contain_text("labels do not agree")
    expect(page.locator(".head ul.notes")).to_contain_text("is cut")


def test_a_family_shows_which_version_came_from_which(page: Page, site: str) -> None:
    page.goto(addresses(site)["family"].replace("m2", hit(site, "agreement")["id"]))
    tree = page.locator(".versions li")
    versions = ask(site, "versions", id=hit(site, "agreement")["id"], redline="yes")["versions"]
    expect(tree).to_have_count(len(versions))
    expect(tree.nth(1)).to_contain_text(" lcs ")
    expect(tree.first).to_contain_text("the same text")
    expect(tree.nth(1)).to_contain_text(
        f"{versions[1]['step']['added']} words added, 0 removed; later by date"
    )
    tree.nth(1).get_by_role("link", name="Compare").click()
    expect(page).to_have_url(re.compile(f"a={versions[1]['step']['origin']}&b={versions[1]['id']}"))
    page.go_back()
    page.get_by_role("link", name="Changes at each step").click()
    page.get_by_text("What changed", exact=False).last.click()
    last = page.locator(".redline").last
    expect(last.locator("del").first).to_be_visible()
    assert [insertion.strip() for insertion in last.locator("ins").all_text_contents()] == [
        text.strip() for change, text in versions[-1]["step"]["redline"] if change == "added"
    ]
    page.get_by_role("link", name="By the texts alone").click()
    expect(page.locator(".versions")).to_contain_text("order unknown")


def test_headers_of_tables_do_not_break(browser: Browser, site: str, record: PageRecord) -> None:
    with open_window(browser, site, record, 1920) as context:
        page = record.watch(context.new_page())
        page.goto("/threshold?threshold=0.6")
        heights = page.locator("table.moves th").evaluate_all(
            "headers => headers.map(header => header.getBoundingClientRect().height)"
        )
        assert len(heights) == 3
        assert max(heights) < 40


def test_an_invalid_label_is_reported_on_the_page(page: Page) -> None:
    page.goto("/family?id=m2")
    page.get_by_label("Add the label").fill("hot;later")
    page.get_by_role("button", name="Show what would change").click()
    expect(page.get_by_role("heading", name="Invalid request")).to_be_visible()
    expect(page.locator("main")).to_contain_text("semicolon")


def test_a_family_is_labelled_after_a_dry_run_and_the_undo_restores_it(page: Page) -> None:
    page.goto("/family?id=hebrew1")
    label = "<b>לא רלוונטי</b>"
    page.get_by_label("Add the label").fill(label)
    page.get_by_role("button", name="Show what would change").click()
    expect(page.get_by_text("Nothing is saved yet")).to_be_visible()
    page.get_by_role("button", name="Change 2 documents").click()
    expect(page.locator(".counted .label")).to_have_text([label])
    expect(page.locator(".latest")).to_contain_text("and 1 more")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".counted .label")).to_have_count(0)


def test_a_survey_can_be_read_again(page: Page) -> None:
    page.goto("/overview")
    page.get_by_role("button", name="Read the store again").click()
    expect(page.get_by_role("heading", name="Sizes of groups")).to_be_visible()


def test_pages_work_without_script(browser: Browser, site: str, record: PageRecord) -> None:
    ask(site, "survey", wait="20")
    with open_window(browser, site, record, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto("/?q=agreement")
        page.locator("details.fold summary").first.click()
        expect(page.locator("details.fold li").first).to_be_visible()
        page.goto("/threshold")
        page.get_by_role("button", name="Show").click()
        expect(page).to_have_url(re.compile(f"threshold={FOLD}"))


def test_hostile_documents_run_nothing_and_request_nothing(page: Page, site: str) -> None:
    for name in ("figures", "survey"):  # pages that wait for them would load again meanwhile
        ask(site, name, wait="20")
    hits = ask(site, "search", filter="labels=hostile", fold="none", limit="100")["hits"]
    assert len(hits) == len(PAYLOADS)
    ids = [hostile_hit["id"] for hostile_hit in hits]
    places = [
        "/?fold=none&limit=100&filter=labels%3Dhostile",
        "/?filter=labels%3Dhostile",
        "/overview",
        "/threshold",
    ]
    places += [
        "/?" + urlencode({"q": payload, "filter": f"content_type={payload}"})
        for payload in PAYLOADS[:6]
    ]
    places += ["/document?" + urlencode({"id": id}) for id in ids]
    places += [
        "/compare?" + urlencode({"a": a, "b": b})
        for a, b in zip(ids[::2], [*ids[1::2], ids[0]], strict=False)
    ]
    places += [
        "/family?" + urlencode({"id": ids[0]}),
        "/document?" + urlencode({"id": PAYLOADS[0]}),
    ]
    for place in places:
        page.goto(place)
        assert page.evaluate("typeof pwned") == "undefined"
        assert (
            page.locator(
                "main script, main iframe, main img, main base, main link, main meta, main object"
            ).count()
            == 0
        )
        assert "49" not in page.title()


ALL, EVEN, ODD = slice(None), slice(0, None, 2), slice(1, None, 2)


@pytest.mark.parametrize(
    ("width", "theme", "part"),
    [
        (360, "dark", EVEN),
        (1920, "light", ODD),
        pytest.param(360, "dark", ODD, marks=pytest.mark.slow),
        pytest.param(1920, "light", EVEN, marks=pytest.mark.slow),
        pytest.param(360, "light", ALL, marks=pytest.mark.slow),
        pytest.param(1920, "dark", ALL, marks=pytest.mark.slow),
        pytest.param(1024, "light", ALL, marks=pytest.mark.slow),
        pytest.param(1024, "dark", ALL, marks=pytest.mark.slow),
    ],
)
def test_pages_are_accessible_and_fit(
    browser: Browser, site: str, record: PageRecord, width: int, theme: str, part: slice
) -> None:
    """In the gate every second page is narrow and dark, and the others are wide and light.

    The slow tests are those of each page at three widths in both themes.
    """
    with open_window(browser, site, record, width, color_scheme=theme) as context:
        for name, place in list(addresses(site).items())[part]:
            page = record.watch(context.new_page())
            page.goto(place)
            loading = page.locator("[data-waits], [data-reading]")
            expect(loading).to_have_count(0, timeout=60_000)  # else it loads itself again
            for fold in page.locator("details.fold").all()[:1]:
                fold.locator("summary").click()
            assert (name, axe_violations(page)) == (name, {})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name
            page.close()


def test_pages_print_without_what_only_a_screen_needs(page: Page, site: str) -> None:
    page.goto(addresses(site)["compare"])
    page.emulate_media(media="print")
    expect(page.locator(".top nav")).to_be_hidden()
    expect(page.locator(".tools")).to_be_hidden()
    expect(page.locator(".side.a").first).to_be_visible()
    page.goto("/?q=agreement")
    expect(page.locator("details.fold li").first).to_be_visible()
