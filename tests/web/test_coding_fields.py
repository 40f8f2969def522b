"""Coding by several fields on the pages: keys, reasons, and the next item after the last field."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, Page, expect
from sample_library import edited, rows, sentence
from starlette.testclient import TestClient

from indexer.cli.main import commands
from indexer.coding import Coding, CodingField
from indexer.errors import QueryError
from indexer.grouping.group import group
from indexer.jobs.label import LabelOptions, label
from indexer.jobs.review_file import define_coding, review_file, with_labels
from indexer.recipe import DEFAULT
from indexer.review.serve import review_application
from indexer.stores import open_store
from web.plain_requests import request
from web.watching import PageRecord, axe_violations, open_window, run_site

FIELDS = (
    *("--field", "relevance=responsive,not responsive"),
    *("--field", "privilege=privileged,not privileged"),
    *("--field", "issues=price,delivery:many"),
    *("--rule", "privilege=privileged needs note"),
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Any]:
    """A store with a group of four."""
    store = open_store(f"sqlite:///{tmp_path}/coding.db")
    store.prepare(DEFAULT)
    texts = {f"m{number}": edited(sentence(3, 80), number) for number in range(4)}
    store.write(rows(texts))
    store.refresh()
    group(store)
    yield store
    store.close()


@pytest.fixture
def review(browser: Browser, store: Any) -> Iterator[Page]:
    """A window on its pages, which do nothing forbidden."""
    with run_site(store.url, *FIELDS, "--reviewer", "anna") as address:
        record = PageRecord(address)
        with open_window(browser, address, record) as windows:
            yield record.watch(windows.new_page())
        record.check()


def labels(store: Any, id: str) -> set[str]:
    return set(store.get([id])[id].labels)


def press(page: Page, key: str) -> None:
    with page.expect_navigation():
        page.keyboard.press(key)
    expect(page.locator("[data-opens=help]")).to_be_visible()


def test_each_field_has_its_keys(review: Page, store: Any) -> None:
    review.goto("/?q=&fold=none&sort=path")
    review.keyboard.press("j")
    press(review, "1")  # stays on the first line until privilege is coded
    expect(review).to_have_url("/?q=&fold=none&sort=path#i1")
    press(review, "4")
    expect(review).to_have_url("/?q=&fold=none&sort=path#i2")
    assert labels(store, "m0") == {"relevance=responsive", "privilege=not privileged"}
    review.goto("/document?id=m0")
    press(review, "5")
    press(review, "6")
    press(review, "5")  # takes it away again
    expect(review.locator("[data-choices] [aria-pressed=true]")).to_have_count(3)
    assert axe_violations(review) == {}
    review.keyboard.press("3")
    expect(review.get_by_label("Reason")).to_be_focused()
    review.keyboard.type("advice of counsel")
    press(review, "Enter")
    coded = {"relevance=responsive", "privilege=privileged", "issues=delivery"}
    assert labels(store, "m0") == coded
    review.goto("/family?id=m0")
    assert axe_violations(review) == {}
    review.goto("/document?id=m0")
    press(review, "o")
    expect(review.get_by_label("Reason")).to_have_value("advice of counsel")
    assert axe_violations(review) == {}
    press(review, "Enter")
    assert [labels(store, f"m{number}") for number in range(4)] == [coded] * 4
    assert [note.text for note in review_file(store).notes("m3")] == ["advice of counsel"]
    press(review, "u")
    assert labels(store, "m3") == set()


@pytest.mark.long
def test_fields_and_the_name_of_the_matter_are_known_without_their_options(store: Any) -> None:
    with run_site(store.url, *FIELDS, "--matter", "Weber v. Lund"):
        pass
    with run_site(store.url, "--label", "hot") as address:
        coding = json.loads(request(address, "/api/coding").body)
        names = [field["name"] for field in coding["fields"]]
        assert names == ["", "relevance", "privilege", "issues"]
        assert coding["keys"]["privilege=privileged"] == "4"
        page = request(address, "/document?id=m1").body.decode()
        assert page.count('name="choose"') == 7
        dashboard = request(address, "/dashboard").body.decode()
        assert "<h1>Weber v. Lund</h1>" in dashboard


def form(address: str, path: str, **fields: str) -> str:
    """Send a form as a page does, and return the address that it leads to."""
    token = json.loads(request(address, "/api/token").body)["token"]
    body = urlencode({**fields, "token": token, "next": "/jobs"}).encode()
    headers = {"content_type": "application/x-www-form-urlencoded", "origin": address}
    return str(request(address, path, "POST", body, **headers).headers["location"])


def test_decisions_on_other_fields_are_no_conflict(store: Any) -> None:
    define_coding(store, map(CodingField.parse, ("relevance=yes,no", "privilege=none,some")))
    with run_site(store.url, "--reviewer", "ben") as address:
        page = request(address, "/document?id=m0").body.decode()
        seen = re.findall('name="seen" value="([^"]+)"', page)
        label(store, ["m0"], LabelOptions(add=["relevance=yes"]), reviewer="anna")
        some = {"id": "m0", "dry_run": "no"}
        assert form(address, "/label", choose="privilege=none", seen=seen[1], **some) == "/jobs"
        assert labels(store, "m0") == {"relevance=yes", "privilege=none"}
        other = form(address, "/label", choose="relevance=no", seen=seen[0], **some)
        assert other.startswith("/labelled")
        assert labels(store, "m0") == {"relevance=yes", "privilege=none"}


def test_queries_name_coding_fields_and_errors_their_values(store: Any) -> None:
    define_coding(store, [CodingField.parse("relevance=responsive,not responsive")])
    label(store, ["m0"], LabelOptions(add=["relevance=responsive"]))
    with run_site(store.url) as address:

        def found(query: str) -> Any:
            answer = json.loads(request(address, f"/api/search?{urlencode({'q': query})}").body)
            return answer.get("total", answer.get("error"))

        assert found("relevance:responsive") == found("relevance:*") == 1
        assert found("NOT relevance:responsive") == 3
        assert found('relevance:"not responsive"') == 0
        assert "its values are: responsive, not responsive" in found("relevance:x")
    for query, ids in (("relevance:responsive", {"m0"}), ("-relevance:*", {"m1", "m2", "m3"})):
        command = ["search", "--store", store.url, "--fold", "none", "--json", "--", query]
        hits = json.loads(CliRunner().invoke(commands, command).stdout)["hits"]
        assert {hit["id"] for hit in hits} == ids


def test_a_wildcard_after_a_name_of_words_is_refused_with_what_to_write() -> None:
    coding = Coding((CodingField("issue tag", ("yes", "no")), CodingField("p", ("yes", "no"))))
    assert with_labels("issue tag:yes p:y*", coding) == 'label:"issue tag=yes" label:p=y*'
    with pytest.raises(QueryError, match="write issue tag:yes"):
        with_labels("ferry issue tag:y*", coding)


def test_a_joined_copy_is_reported_and_can_be_undone(store: Any) -> None:
    store.write(rows({"p0": sentence(9, 80), "p1": edited(sentence(9, 80), 1)}))
    store.refresh()
    group(store)
    before = {row.id: row.family for row in store.scan()}
    with run_site(store.url, "--reviewer", "anna") as address:
        form(address, "/family/join", id=before["p0"], other="m0")
        families = {row.id: row.family for row in store.scan()}
        assert families["p0"] == families["p1"] == families["m0"]
        page = request(address, "/jobs").body.decode()
        assert "and 1 more put into" in page
        form(address, "/family/separate", id=before["p0"])
        assert {row.id: row.family for row in store.scan()} == before
        assert "put into" not in request(address, "/jobs").body.decode()


def test_a_label_is_found_by_its_value_in_any_field_and_unknown_ones_are_noted(store: Any) -> None:
    fields = ("privilege=privileged,not privileged", "state=privileged,open", "formula=a=b,c")
    define_coding(store, map(CodingField.parse, fields))
    coded = ["privilege=privileged"], ["state=privileged"], ["privilege=not privileged"], ["open"]
    store.labels.relabel({f"m{number}": names for number, names in enumerate(coded)})
    client = TestClient(review_application(store, frozenset({"testserver"})))

    def found(query: str) -> tuple[set[str], list[str]]:
        answer = client.get("/api/search", params={"q": query, "fold": "none"}).json()
        return {hit["id"] for hit in answer["hits"]}, answer["notes"]

    for query, ids in (
        ("label:privileged", {"m0", "m1"}),
        ("label:priv*", {"m0", "m1", "m2"}),
        ("label:open", {"m3"}),
        ("privilege:privileged", {"m0"}),
        ("NOT label:privileged", {"m2", "m3"}),
        ('NOT label:"not privileged"', {"m0", "m1", "m3"}),
    ):
        assert found(query) == (ids, []), query
    store.labels.relabel({"m3": ["formula=a=b"]})
    for query in ('formula:"a=b"', 'label:"formula=a=b"', "label:formula=a*"):
        assert found(query) == ({"m3"}, []), query
    assert [found(query)[0] for query in ('label:"a=b"', "label:a=*")] == [set(), set()]
    ids, notes = found("NOT label:Privileged")
    assert len(ids) == 4
    assert notes == ["no document has the label 'Privileged'; case matters in labels"]
