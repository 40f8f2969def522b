"""The page of a thread of mails: its tree, and the ways to it."""

import dataclasses
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from sample_library import rows, sentence
from starlette.testclient import TestClient

from indexer.documents.base import ReadOptions, message_hash
from indexer.grouping.group import group
from indexer.jobs.index import IndexOptions, index
from indexer.recipe import DEFAULT
from indexer.review.serve import review_application
from indexer.stores import open_store
from web.plain_requests import request
from web.test_labelling import Forms
from web.watching import PageRecord, open_window, run_site

REFERENCES = {"1": "", "2": "<1@x>", "3": "<1@x> <2@x>"}


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Any]:
    """A store of a thread of three mails, and a document that is none."""
    store = open_store(f"sqlite:///{tmp_path}/mails.db")
    store.prepare(DEFAULT)
    documents = [
        dataclasses.replace(
            row,
            title=f"Ferry {row.id}",
            metadata={
                "message_id": f"<{row.id}@x>",
                "references": REFERENCES[row.id],
                "thread": message_hash("<1@x>"),
                "from": "Ann <ann@x.org>",
            },
        )
        for row in rows({id: sentence(n) for n, id in enumerate(REFERENCES)})
    ]
    store.write([*documents, *rows({"none": sentence(9)})])
    store.refresh()
    yield store
    store.close()


def test_the_tree_and_the_ways_to_it(library: Any, browser: Browser) -> None:
    with run_site(library.url) as address:
        record = PageRecord(address)
        with open_window(browser, address, record) as windows:
            page = record.watch(windows.new_page())
            page.goto("/?q=&fold=threads")
            fold = page.locator("details.fold")
            expect(fold.locator("summary")).to_contain_text("2 other mails of the thread")
            fold.locator("summary").click()
            fold.get_by_role("link", name="The thread as a tree").click()
            items = page.locator("ol.versions > li")
            expect(items).to_have_count(3)
            for place, depth in enumerate("012"):
                expect(items.nth(place)).to_have_class(f"d{depth}")
                expect(items.nth(place)).to_contain_text(f"Ferry {place + 1}")
            expect(items.nth(2)).to_contain_text("Ann <ann@x.org>")
            items.nth(2).get_by_role("link").click()
            page.get_by_role("link", name="Thread").click()
            expect(page.locator("[aria-current]")).to_contain_text("this mail")
            expect(page.locator("li[aria-current]")).to_contain_text("Ferry 3")
            page.goto("/document?id=none")
            expect(page.get_by_role("link", name="Thread")).to_have_count(0)
            page.goto("/thread?id=none")
            expect(page.get_by_text("no Message-ID")).to_be_visible()
        record.check()
        answer = json.loads(request(address, "/api/thread?id=3").body)
        assert [(mail["id"], mail["parent"], mail["depth"]) for mail in answer["mails"]] == [
            ("1", None, 0),
            ("2", "1", 1),
            ("3", "2", 2),
        ]


@pytest.mark.long
def test_inclusive_and_nearly_equal_mails_are_marked(tmp_path: Path) -> None:
    first = "The ferry to Calais is late, and the port closes at nine, so please wait at the gate."
    quoted = f"On Mon, Jan 6, 2020 at 10:00 AM Ann <ann@x.org> wrote:\n> {first}"
    bodies = {
        "1": first,
        "2": f"I wait at the gate until ten, and then I go home.\n\n{quoted}",
        "3": first.replace("nine", "noon"),
    }
    for number, body in bodies.items():
        fields = f"Message-ID: <{number}@x>\nFrom: Ann <ann@x.org>\nSubject: The ferry\n"
        date = f"Date: Mon, 6 Jan 2020 1{number}:00:00 +0000\n"
        reply = "" if number == "1" else "In-Reply-To: <1@x>\n"
        (tmp_path / f"{number}.eml").write_text(f"{fields}{date}{reply}\n{body}\n")
    (tmp_path / "4.eml").write_text((tmp_path / "2.eml").read_text())
    with closing(open_store(f"sqlite:///{tmp_path}/mails.db")) as store:
        index([str(tmp_path)], store, IndexOptions(include=["*.eml"]))
        ids = {Path(row.path).stem: row.id for row in store.scan()}
        client = TestClient(review_application(store, frozenset({"testserver"})))
        mails = client.get(f"/api/thread?id={ids['1']}").json()["mails"]
        page = client.get(f"/thread?id={ids['1']}").text
    marks = {mail["id"]: (mail["held_by"], mail["near"]) for mail in mails}
    assert page.count("near duplicate of") == 1
    assert [marks[ids[name]][0] for name in "123"] == [ids["4"], ids["4"], None]
    assert marks[ids["3"]][1] == ids["1"]
    assert f'contained in <a href="#{ids["4"]}">a later mail' in page
    assert page.count("contained in") == 1
    for copy in (ids["2"], ids["4"]):
        assert f'the same mail as <a href="#{copy}">' in page


@pytest.mark.long
def test_a_mail_lists_its_attachments_and_an_attachment_its_mail(tmp_path: Path) -> None:
    parts = (
        "Content-Type: text/plain\n\nThe lease is attached, as you asked me on Monday.",
        "Content-Type: text/plain\nContent-Disposition: attachment; filename=lease.txt\n\n"
        "The lease of the quay is signed.",
        "Content-Type: application/octet-stream\nContent-Disposition: attachment; "
        "filename=plan.bin\nContent-Transfer-Encoding: base64\n\nAAECAwQFBgcICQ==",
    )
    head = (
        "From: Ann <ann@x.org>\nTo: Bob <bob@x.org>\nSubject: The lease\n"
        "Date: Mon, 6 Jan 2020 10:00:00 +0200\nContent-Type: multipart/mixed; boundary=b\n\n"
    )
    mail = head + "".join(f"--b\n{part}\n" for part in parts) + "--b--\n"
    store = open_store(f"sqlite:///{tmp_path}/mails.db")
    for name in ("Ann", "Bob"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "a.eml").write_text(mail)
        options = IndexOptions(reading=ReadOptions(attachments=True), custodian=name)
        index([str(folder)], store, options)
    group(store)
    ids = {row.path.removeprefix(f"{tmp_path}/"): row.id for row in store.scan()}
    with run_site(store.url) as address:
        page = request(address, f"/document?id={ids['Ann/a.eml']}").body.decode()
        for text in ("ann@x.org", "bob@x.org", "2020-01-06 08:00", ids["Ann/a.eml!/lease.txt"]):
            assert text in page
        assert '<bdi>plan.bin</bdi> <span class="status">not read</span>' in page
        assert page.count("lease.txt") == page.count("lease.txt</bdi></a>") > 0
        answer = json.loads(
            request(address, f"/api/document?id={ids['Ann/a.eml!/lease.txt']}").body
        )
        assert answer["mail"]["id"] == ids["Ann/a.eml"]
        assert {count["value"] for count in answer["custodians"]} == {"Ann", "Bob"}
        assert answer["copies"] == {"Bob": [ids["Bob/a.eml!/lease.txt"]]}
        assert "copies also held by" in page
        lease = ids["Ann/a.eml!/lease.txt"]
        forms = Forms(address)
        forms.send("/label", id=lease, add="hot", dry_run="no")
        assert (
            "all attachments like this" in request(address, f"/document?id={lease}").body.decode()
        )
        wanted = {"id": ids["Bob/a.eml"], "add": "hot", "attachments": "yes"}
        plan = forms.page(forms.send("/label", **wanted, dry_run="yes").headers["location"])
        assert "2 documents would change" in plan and "Differs from the principal" not in plan
        forms.send("/label", id=lease, add="hot", attachments="yes", dry_run="no")
        labelled = {id for id, row in store.get(list(ids.values())).items() if row.labels}
        assert labelled == {lease, ids["Ann/a.eml"]}
    store.close()
