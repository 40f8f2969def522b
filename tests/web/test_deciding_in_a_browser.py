"""Deciding where one reads, in a real browser: by keyboard and by mouse."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Download, Page, Route, expect
from sample_library import edited, rows, sentence

from indexer.grouping.group import group
from indexer.jobs.label import LabelOptions, label
from indexer.recipe import DEFAULT
from indexer.stores import open_store
from web.watching import PageRecord, axe_violations, open_window, run_site

SIZE = 40
KEYS = ("--label", "responsive", "--label", "not responsive", "--label", "privileged")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Any]:
    """A store with a family of forty and one of three."""
    store = open_store(f"sqlite:///{tmp_path}/review.db")
    store.prepare(DEFAULT)
    texts = {
        f"m{place:02}": f"{edited(sentence(3, 80), place % 4)} x{place}" for place in range(SIZE)
    }
    texts |= {f"n{place}": edited(sentence(7, 80), place) for place in range(3)}
    documents = [replace(row, raw=row.id, path=f"/papers/{row.id}.txt") for row in rows(texts)]
    store.write(documents)
    store.refresh()
    group(store)
    yield store
    store.close()


@pytest.fixture
def review_site(store: Any) -> Iterator[str]:
    """The address of its pages."""
    with run_site(store.url, *KEYS, "--reviewer", "anna") as address:
        yield address


@pytest.fixture
def review(browser: Browser, review_site: str) -> Iterator[Page]:
    """A window on them, whose page does nothing forbidden."""
    record = PageRecord(review_site)
    with open_window(browser, review_site, record) as windows:
        yield record.watch(windows.new_page())
    record.check()


class Keyboard:
    """Presses keys, and counts them."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.pressed = 0

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.pressed += 1

    def open(self, key: str) -> None:
        """Press a key that opens another page, and wait until that page handles keys."""
        with self.page.expect_navigation():
            self.press(key)
        expect(self.page.locator("[data-opens=help]")).to_be_visible()


def labels(store: Any) -> dict[str, tuple[str, ...]]:
    return {row.id: row.labels for row in store.scan() if row.labels}


def saved_labels(download: Download) -> dict[str, str]:
    """Return the labels in a saved table by id."""
    with Path(download.path()).open(encoding="utf-8-sig", newline="") as file:
        return {line["id"]: line["labels"] for line in csv.DictReader(file)}


ALL_RESPONSIVE = {f"m{place:02}": "responsive" for place in range(SIZE)}


def test_a_family_of_forty_is_decided_by_keyboard(review: Page, store: Any) -> None:
    """From the search to the saved table: thirteen keys, and those of the word."""
    review.goto("/")
    keys = Keyboard(review)
    keys.press("/", "x", "3")
    keys.open("Enter")
    keys.press("j")
    keys.open("f")
    expect(review.locator(".eyebrow")).to_contain_text(f"Near-duplicate group of {SIZE} documents")
    keys.open("1")
    assert len(labels(store)) == 1
    keys.open("o")
    expect(review.get_by_role("heading", level=1)).to_have_text(
        f"{SIZE - 1} documents would change"
    )
    expect(review.get_by_role("button", name=f"Change {SIZE - 1} documents")).to_be_focused()
    keys.open("Enter")
    assert labels(store) == {id: (label,) for id, label in ALL_RESPONSIVE.items()}
    expect(review).to_have_url(re.compile("/family"))
    expect(review.locator(".latest")).to_contain_text(f"and {SIZE - 2} more")
    keys.press("j")
    keys.open("2")
    assert sorted(labels(store).values())[0] == ("not responsive",)
    keys.open("u")
    expect(review).to_have_url(re.compile("/family.*#i1$"))
    with review.expect_download() as download:
        keys.press("e")
    assert saved_labels(download.value) == ALL_RESPONSIVE
    assert keys.pressed == 13
    assert axe_violations(review) == {}


@pytest.mark.slow
def test_a_family_of_forty_is_decided_by_mouse(review: Page, store: Any) -> None:
    review.goto("/")
    review.get_by_label("Words to search").fill("x3")
    review.get_by_role("button", name="Search").click()
    review.get_by_role("link", name="Group", exact=True).click()
    review.get_by_role("button", name="1 responsive").first.click()
    review.get_by_role("button", name="Label the rest of the group like this").click()
    review.get_by_role("button", name=f"Change {SIZE - 1} documents").click()
    review.locator("#i1 [data-open]").click()
    review.get_by_role("button", name="2 not responsive").click()
    expect(review.locator(".walk")).to_contain_text(f"2 of {SIZE - 1}")
    review.get_by_role("button", name="Undo").click()
    review.locator(".walk").get_by_role("link", name="List").click()
    with review.expect_download() as download:
        review.get_by_role("link", name="Save the group and its labels").click()
    assert saved_labels(download.value) == ALL_RESPONSIVE


def test_one_undo_takes_a_whole_family_back(review: Page, store: Any) -> None:
    review.goto("/family?id=m00")
    keys = Keyboard(review)
    for key in ("1", "o", "Enter", "u"):
        keys.open(key)
    [(head, label)] = labels(store).items()
    assert label == ("responsive",)
    line = review.locator(".latest [data-undone]")
    expect(line).to_have_text(re.compile(rf"^Undone: responsive on .* and {SIZE - 2} more$"))
    expect(review.locator("[data-item].at")).to_have_count(0)
    keys.open("2")  # of the document that the heading names
    assert labels(store) == {head: ("not responsive",)}
    expect(line).to_have_count(0)


def test_keys_lead_from_family_to_family(review: Page) -> None:
    review.goto("/?q=x3|x7|x1|x2")
    keys = Keyboard(review)
    keys.press("j")
    keys.open("f")
    expect(review.locator(".walk")).to_contain_text("1 of 2")
    first = review.url
    keys.open("1")  # the page loads again, and is still the first of the hits
    keys.open("]")
    expect(review.locator(".walk")).to_contain_text("2 of 2")
    keys.press("j")
    keys.open("Enter")
    keys.open("b")
    keys.open("[")
    assert review.url == first
    keys.open("b")
    expect(review).to_have_url(re.compile(r"/\?q=.*#i1$"))


def test_after_a_decision_the_next_document_opens(review: Page, store: Any) -> None:
    review.goto("/family?id=n0")
    keys = Keyboard(review)
    keys.press("j")
    keys.open("Enter")
    first = review.url
    expect(review.locator(".walk")).to_contain_text("1 of 2")
    keys.open("2")
    expect(review.locator(".walk")).to_contain_text("2 of 2")
    assert review.url != first
    assert list(labels(store).values()) == [("not responsive",)]
    keys.open("[")
    assert review.url == first
    pressed = review.locator('.choice[aria-pressed="true"]')
    expect(pressed).to_have_text(re.compile("not responsive"))
    keys.open("]")
    keys.open("3")  # the last one leads back to the list
    expect(review).to_have_url(re.compile(r"/family\?id=n0#i2"))
    expect(review.locator("#i2.at")).to_be_visible()
    assert len(labels(store)) == 2
    review.go_back()
    review.go_forward()  # nothing is sent again, and no page has expired
    expect(review).to_have_url(re.compile(r"/family\?id=n0"))


def test_pairs_are_decided_one_after_the_other(review: Page, store: Any) -> None:
    review.goto("/family?id=n0")
    keys = Keyboard(review)
    keys.press("j")
    keys.open("c")
    expect(review.locator(".walk")).to_contain_text("1 of 2")
    keys.press("n")
    expect(review.locator("[data-where]")).to_contain_text("Difference 1 of")
    keys.open("1")
    expect(review.locator(".walk")).to_contain_text("2 of 2")
    keys.open("u")
    assert labels(store) == {}
    keys.open("f")
    expect(review).to_have_url(re.compile("/family"))


def test_hits_are_labelled_in_their_list(review: Page, store: Any) -> None:
    review.goto("/?fold=none&q=x1|x2|x3&sort=path")
    keys = Keyboard(review)
    keys.press("j")
    keys.open("1")
    expect(review.locator(".hit.at")).to_have_id("i2")
    keys.open("3")
    expect(review.locator(".hit.at")).to_have_id("i3")
    assert sorted(labels(store).values()) == [("privileged",), ("responsive",)]


def test_several_are_checked_and_labelled_at_once(review: Page, store: Any) -> None:
    review.goto("/family?id=m00")
    boxes = review.locator("[data-pick]")
    boxes.nth(0).click()
    boxes.nth(4).click(modifiers=["Shift"])
    keys = Keyboard(review)
    keys.press("j", "s")
    expect(review.locator("[data-picked]")).to_have_text("6 checked")
    keys.open("2")
    expect(review.get_by_role("heading", level=1)).to_have_text("6 documents would change")
    keys.open("Enter")
    assert list(labels(store).values()) == [("not responsive",)] * 6
    keys.open("u")
    assert labels(store) == {}


def test_decisions_by_mouse_and_another_label(review: Page, store: Any) -> None:
    review.goto("/family?id=n0")
    review.get_by_role("button", name="privileged").first.click()
    expect(review.locator(".facts .label").first).to_have_text("privileged")
    review.get_by_role("button", name="Label the rest of the group like this").click()
    with review.expect_navigation():  # which waits for the scripts that read keys
        review.get_by_role("button", name="Change 2 documents").click()
    expect(review.locator(".latest")).to_contain_text("privileged")
    assert set(labels(store).values()) == {("privileged",)}
    review.keyboard.press("l")
    expect(review.get_by_label("Another label")).to_be_focused()
    review.keyboard.type("hot")
    review.keyboard.press("Enter")
    expect(review.locator(".head .label").last).to_have_text("hot")
    review.get_by_role("button", name="Undo").click()
    expect(review.locator(".head .label")).to_have_text(["privileged"])


def test_a_conflict_is_decided_by_the_reviewer(review: Page, store: Any) -> None:
    review.goto("/document?id=n0")
    label(store, ["n0"], LabelOptions(add=["privileged"]), reviewer="ben")
    review.get_by_role("button", name="2 not responsive").click()
    expect(review.get_by_role("heading", level=1)).to_have_text(
        "Somebody has changed these labels since you opened the page"
    )
    assert axe_violations(review) == {}
    review.get_by_role("link", name="Keep the current labels").click()
    expect(review.locator(".head .label")).to_have_text(["privileged"])
    assert labels(store) == {"n0": ("privileged",)}


@pytest.mark.parametrize(
    ("width", "theme"),
    [(360, "light"), pytest.param(768, "dark", marks=pytest.mark.slow)],
)
def test_pages_of_decisions_are_accessible_and_fit(
    browser: Browser, review_site: str, store: Any, width: int, theme: str
) -> None:
    record = PageRecord(review_site)
    with open_window(browser, review_site, record, width, color_scheme=theme) as windows:
        page = record.watch(windows.new_page())
        page.goto("/document?id=n0")
        page.get_by_role("button", name="1 responsive").click()
        page.goto("/document?id=n0")
        page.get_by_role("button", name="Label the rest").click()
        places = [page.url]
        page.get_by_role("button", name="Change 2 documents").click()
        places += ["/jobs", "/family?id=n0", "/document?id=n0", "/compare?a=n0&b=n1"]
        for place in places:
            page.goto(place)
            assert (place, axe_violations(page)) == (place, {})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, place
        label_height = page.locator(".label", has_text="responsive").first.bounding_box()
        assert label_height
        assert label_height["height"] < 30  # on one line: a label is not broken within a word
    record.check()


def test_what_takes_longer_fills_its_places_on_the_page(review: Page) -> None:
    unfinished: list[str] = []

    def send(route: Route) -> None:
        answer = route.fetch()
        body = answer.text()
        if not unfinished:
            waits = (
                '<p data-waits="/api/family/differences?id=n0&wait=20" data-until="ready">Wait</p>'
            )
            body = re.sub('(?s)(<div data-fill="others"[^>]*>).*?</div>', rf"\1{waits}</div>", body)
            body = re.sub(
                '(?s)(<span class="why[^>]*data-fill[^>]*>).*?</span>', r"\1</span>", body
            )
            unfinished.append(body)
        route.fulfill(response=answer, body=body)

    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    review.route("**/family?id=n0", send)
    review.route("**/api/family/differences?*", hold)
    review.goto("/family?id=n0")
    whys = review.locator("[data-items] .why")
    assert set(whys.all_text_contents()) == {""}
    review.locator("[data-pick]").first.check()
    review.get_by_label("Another label").fill("hot")
    held[0].continue_()
    expect(whys.first).not_to_be_empty()
    expect(review.locator("[data-waits]")).to_have_count(0)
    expect(review.locator("[data-pick]").first).to_be_checked()
    expect(review.get_by_label("Another label")).to_have_value("hot")
