"""The files of documents beside their texts: who gets which bytes, and what a browser makes of
them.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from indexer.documents.base import ReadOptions
from indexer.jobs.index import IndexOptions, index
from indexer.review.originals import files
from indexer.review.originals.files import OriginalUnavailable
from indexer.stores import open_store
from web.originals_folder import pdf, write_originals
from web.plain_requests import request
from web.watching import PageRecord, axe_violations, open_window, run_site

FRAME = "iframe.original"


class Originals:
    """A site with originals, and the ids of its documents by the names of their files."""

    def __init__(self, site: str, folder: Path) -> None:
        self.site, self.folder = site, folder
        hits = json.loads(request(site, "/api/search?fold=none&limit=100").body)["hits"]
        self.ids = {hit["path"].rpartition("/")[2]: hit["id"] for hit in hits}

    def get(self, path: str, name: str, more: str = "") -> Any:
        return request(self.site, f"{path}?id={quote(self.ids[name])}{more}")

    def view(self, name: str, more: str = "") -> Any:
        return json.loads(self.get("/api/document", name, f"&original=yes{more}").body)["view"]

    def page(self, name: str, more: str = "") -> str:
        return f"/document?original=yes&id={quote(self.ids[name])}{more}"


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Originals]:
    folder = tmp_path_factory.mktemp("originals")
    (folder / "files").mkdir()
    write_originals(folder / "files")
    store = open_store(f"sqlite:///{folder}/store.db")
    reading = ReadOptions(containers="all", attachments=False)
    index([str(folder / "files")], store, IndexOptions(reading=reading))
    store.close()
    with run_site(f"sqlite:///{folder}/store.db", "--originals", str(folder / "files")) as site:
        yield Originals(site, folder / "files")


@pytest.fixture
def record(originals: Originals) -> Iterator[PageRecord]:
    pages = PageRecord(originals.site)
    yield pages
    pages.check()


@pytest.fixture
def page(browser: Browser, originals: Originals, record: PageRecord) -> Iterator[Page]:
    with open_window(browser, originals.site, record) as windows:
        yield record.watch(windows.new_page())


@pytest.mark.long
def test_files_are_saved_as_they_were_indexed(originals: Originals) -> None:
    answer = originals.get("/original", "lease.pdf")
    assert answer.body == (originals.folder / "lease.pdf").read_bytes()
    assert answer.headers["content-disposition"].startswith('attachment; filename="lease_pdf"')
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]
    inside = originals.get("/original", "inside.docx").body
    with zipfile.ZipFile(originals.folder / "box.zip") as box:
        assert inside == box.read("inside.docx")


def test_a_file_that_changed_or_went_is_not_given(originals: Originals) -> None:
    file = originals.folder / "lease.jpg"
    former = file.read_bytes()
    try:
        file.write_bytes(former + b" ")
        for path in ("/original", "/original/page", "/original/picture"):
            answer = originals.get(path, "lease.jpg")
            assert answer.status == 404
            assert b"has changed since it was indexed" in answer.body
        assert "has changed" in originals.view("lease.jpg")["reason"]
        file.unlink()
        assert originals.view("lease.jpg")["reason"] == "its file is gone"
        file.symlink_to("/etc/hostname")
        assert "not in the folder" in originals.view("lease.jpg")["reason"]
    finally:
        file.unlink(missing_ok=True)
        file.write_bytes(former)
    assert originals.view("lease.jpg") == {"kind": "picture", "reason": "", "attachments": []}


@pytest.mark.long
def test_kinds_are_told_by_bytes(originals: Originals) -> None:
    kinds = {name: originals.view(name)["kind"] for name in originals.ids}
    mailbox = next(name for name in kinds if name.startswith("1@a"))
    assert kinds == {
        "lease.pdf": "pdf", "lease.docx": "word", "inside.docx": "word", "lease.png": "picture",
        "lease.jpg": "picture", "lease.tif": "tiff", "page.html": "html", "letter.eml": "mail",
        mailbox: "mail", "note.txt": "none",
    }  # fmt: skip
    assert "plain text" in originals.view("note.txt")["reason"]


@pytest.mark.long
def test_frames_and_bytes_have_policies_of_their_own(originals: Originals) -> None:
    policies = {
        name: originals.get("/original/page", name).headers["content-security-policy"]
        for name in ("lease.pdf", "lease.docx", "letter.eml", "page.html", "lease.png", "note.txt")
    }
    for name in ("lease.docx", "letter.eml", "page.html", "note.txt"):
        assert policies[name].startswith("default-src 'none'; img-src data:; style-src 'sha256-")
        assert "sandbox;" in policies[name]
    assert "script-src" not in policies["lease.png"]
    for policy in policies.values():
        assert "unsafe" not in policy
        assert "frame-ancestors 'self'" in policy
    picture = originals.get("/original/picture", "lease.png")
    assert picture.headers["content-type"] == "image/png"
    assert picture.headers["x-frame-options"] == "DENY"
    assert "sandbox" in picture.headers["content-security-policy"]
    assert originals.get("/original/picture", "lease.pdf").status == 404


@pytest.mark.long
def test_a_tiff_comes_as_png(originals: Originals) -> None:
    second = originals.get("/original/picture", "lease.tif", "&page=2")
    assert Image.open(io.BytesIO(second.body)).format == "PNG"
    assert second.body != originals.get("/original/picture", "lease.tif").body
    assert originals.get("/original/picture", "lease.tif", "&page=3").status == 404
    assert originals.get("/original/page", "lease.tif").body.count(b"<img") == 2


@pytest.mark.long
def test_attachments_are_parts_of_a_mail(originals: Originals) -> None:
    parts = originals.view("letter.eml")["attachments"]
    assert [part["name"] for part in parts] == ["image/png", "note.txt", "lease.pdf", "x.bin"]
    assert parts[1]["document"] == originals.ids["note.txt"]
    assert parts[2]["document"] is None
    assert originals.get("/original", "letter.eml", "&attachment=4").body == b"\0\1"
    assert originals.get("/original", "letter.eml", "&attachment=3").body == pdf("Lease")
    assert originals.view("letter.eml", "&attachment=3")["kind"] == "pdf"
    assert originals.get("/original", "letter.eml", "&attachment=5").status == 404
    assert originals.get("/original", "lease.pdf", "&attachment=1").status == 404


@pytest.mark.long
def test_what_cannot_be_made_of_a_file_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OriginalUnavailable, match="damaged, or too large"):
        files.render("word", b"PK\3\4 nothing")
    monkeypatch.setattr(files, "_SECONDS", 0.001)
    with pytest.raises(OriginalUnavailable, match="takes more than"):
        files.render("word", b"")
    monkeypatch.setattr(files, "find_spec", lambda name: None)
    with pytest.raises(OriginalUnavailable, match=r"nearfold\[originals\]"):
        files.check_displayable("word")
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("word/document.xml", bytes(201 << 20))
    assert files.kind_of_original(bomb.getvalue(), "a.docx", "") == "none"


@pytest.mark.long
def test_nothing_is_given_without_a_folder_of_originals(originals: Originals) -> None:
    with run_site(f"sqlite:///{originals.folder.parent}/store.db") as site:
        elsewhere = Originals(site, originals.folder)
        for path in ("/original", "/original/page", "/original/picture"):
            answer = elsewhere.get(path, "lease.png")
            assert answer.status == 404
            assert b"--originals ROOT" in answer.body


def test_pages_of_a_pdf_are_drawn(page: Page, originals: Originals) -> None:
    page.goto(originals.page("lease.pdf"))
    frame = page.frame_locator(FRAME)
    expect(frame.get_by_role("img", name="Page 1 of 3")).to_be_visible()
    canvas = frame.locator("canvas").first
    expect(canvas).to_be_visible()
    ink = canvas.evaluate(
        """canvas => { const { width, height } = canvas;
        const data = canvas.getContext("2d").getImageData(0, 0, width, height).data;
        let dark = 0; for (let at = 0; at < data.length; at += 4) dark += data[at] < 99;
        return dark / (width * height); }"""
    )
    assert 0.1 < ink < 0.4  # the rectangle
    page.goto(originals.page("letter.eml", "&attachment=3"))
    expect(page.frame_locator(FRAME).locator("canvas").first).to_be_visible()


def test_words_of_a_search_are_boxes_in_a_pdf_and_one_steps_through_them(
    page: Page, originals: Originals
) -> None:
    page.goto(originals.page("lease.pdf", "&q=LEASE+pag*+agreement"))
    frame = page.frame_locator(FRAME)
    bar = frame.get_by_role("navigation", name="Hits")
    expect(bar).to_contain_text("9 hits")
    expect(frame.locator("mark")).to_have_count(12)  # a word over two lines has two boxes
    first = frame.locator("mark").first
    whole, box = frame.locator(".page").first.bounding_box(), first.bounding_box()
    assert whole and box  # the word begins 72 points from the left of 595, its line at 720 of 842
    assert (box["x"] - whole["x"]) / whole["width"] == pytest.approx(72 / 595, abs=0.005)
    assert (box["y"] - whole["y"]) / whole["height"] == pytest.approx(1 - 732 / 842, abs=0.01)
    assert box["width"] / whole["width"] == pytest.approx(38 / 595, abs=0.01)
    bar.get_by_role("button", name="Next hit").click()
    expect(bar).to_contain_text("Hit 1 of 9")
    page.keyboard.press("H")
    expect(bar).to_contain_text("Hit 9 of 9")
    expect(frame.locator("mark.at")).to_have_text(["agree- ment"] * 2)
    expect(frame.locator("mark.at").first).to_be_in_viewport()


def test_a_damaged_pdf_says_so(page: Page, originals: Originals) -> None:
    page.goto("about:blank")
    address = f"{originals.site}/original/page?id={quote(originals.ids['lease.pdf'])}"
    page.route("**/original?*", lambda route: route.fulfill(body=b"%PDF-1.4 nothing"))
    page.goto(address)
    expect(page.get_by_role("status")).to_contain_text("It cannot be shown")


def test_a_word_document_and_a_mail_are_shown_safely(page: Page, originals: Originals) -> None:
    page.goto(originals.page("lease.docx"))
    word = page.frame_locator(FRAME)
    expect(word.get_by_role("heading", name="Lease")).to_be_visible()
    expect(word.get_by_role("cell", name="<script>alert(1)</script>")).to_be_visible()
    assert word.locator("img").evaluate("picture => picture.naturalWidth") == 400
    for name in ("letter.eml", "page.html"):
        page.goto(originals.page(name))
        frame = page.frame_locator(FRAME)
        expect(frame.get_by_text("Dear Ben, see this.")).to_be_visible()
        strange = "script, style:not(head style), iframe, form, link, meta[http-equiv], base, svg"
        assert frame.locator(strange).count() == 0
        assert frame.locator("[onclick], [onload], [href], [id]").count() == 0
    page.goto(f"{originals.page('letter.eml')}&q=stamp+Ben")
    frame = page.frame_locator(FRAME)
    expect(frame.locator("mark").first).to_have_text("Ben")
    frame.get_by_role("link", name="Next hit").click()
    expect(frame.locator("mark:target")).to_have_attribute("id", "hit-1")
    steps = frame.locator(".steps:visible")
    expect(steps).to_contain_text("Hit 1 of 3")
    steps.get_by_role("link", name="Previous hit").click()
    expect(frame.locator("mark:target")).to_have_attribute("id", "hit-3")
    expect(frame.locator("mark:target")).to_be_in_viewport()
    expect(frame.locator(".steps:visible")).to_contain_text("Hit 3 of 3")
    expect(frame.get_by_text("The <i>lease</i> of März")).to_be_visible()
    assert frame.get_by_alt_text("stamp").evaluate("picture => picture.naturalWidth") == 400
    expect(page.get_by_role("list", name="Attachments").get_by_role("listitem")).to_have_count(4)
    own = page.get_by_role("list", name="Attachments").get_by_role("link", name="lease.pdf").first
    assert "q=stamp" in (own.get_attribute("href") or "")
    page.get_by_role("link", name="Its document").click()
    expect(page).to_have_title("note.txt · nearfold")


def test_a_key_shows_the_original_and_hides_it(page: Page, originals: Originals) -> None:
    page.goto(f"/document?id={originals.ids['lease.png']}")
    page.keyboard.press("v")
    picture = page.frame_locator(FRAME).get_by_alt_text("lease.png")
    expect(picture).to_be_visible()
    assert picture.evaluate("picture => picture.naturalWidth") == 400
    page.keyboard.press("v")
    expect(page.locator(FRAME)).to_have_count(0)


def test_originals_stand_beside_each_other(page: Page, originals: Originals) -> None:
    a, b = originals.ids["lease.pdf"], originals.ids["letter.eml"]
    page.goto(f"/compare?a={a}&b={b}")
    page.get_by_role("link", name="Show the originals").click()
    expect(page.locator(FRAME)).to_have_count(2)
    expect(page.frame_locator(FRAME).first.locator("canvas").first).to_be_visible()
    expect(page.frame_locator(FRAME).last.get_by_text("Dear Ben")).to_be_visible()
    page.get_by_role("link", name="Swap A and B").click()
    expect(page.frame_locator(FRAME).first.get_by_text("Dear Ben")).to_be_visible()


@pytest.mark.parametrize(
    ("width", "theme"), [(360, "dark"), pytest.param(1280, "light", marks=pytest.mark.slow)]
)
def test_pages_with_originals_are_accessible_and_fit(
    browser: Browser, originals: Originals, record: PageRecord, width: int, theme: Any
) -> None:
    with open_window(browser, originals.site, record, width, color_scheme=theme) as context:
        page = record.watch(context.new_page())
        compare = f"/compare?original=yes&a={originals.ids['lease.pdf']}"
        for place in (
            originals.page("letter.eml", "&q=Ben"),
            originals.page("note.txt"),
            originals.page("lease.pdf", "&q=lease"),
            f"{compare}&b={originals.ids['lease.docx']}",
            *(f"/original/page?id={originals.ids[name]}" for name in ("lease.pdf", "lease.tif")),
        ):
            page.goto(place)
            assert (place, axe_violations(page)) == (place, {})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, place
