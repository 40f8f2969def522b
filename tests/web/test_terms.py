"""Words of a search and terms of a matter are highlighted where documents are read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sample_library import rows
from starlette.testclient import TestClient

from indexer.recipe import DEFAULT
from indexer.review.serve import review_application
from indexer.stores import open_store

NOTICE = "I read the notice <b>today</b>, subject to the advice of my lawyer."
HIT = re.compile(r"<mark(?: class=\"term (t\d)\")? data-hit tabindex=\"-1\">(.*?)</mark>")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with closing(open_store(f"sqlite:///{tmp_path}/matter.db")) as store:
        store.prepare(DEFAULT)
        store.write(rows({"one": NOTICE, "two": f"{NOTICE} Lawyers, too."}))
        store.refresh()
        yield TestClient(review_application(store, frozenset({"testserver"})))


def change(client: TestClient, action: str, text: str) -> int:
    token = client.get("/api/token").json()["token"]
    address = f"/api/terms/{action}"
    answer = client.post(address, json={"text": text}, headers={"x-nearfold-token": token})
    return answer.status_code


def hits(client: TestClient, address: str) -> list[tuple[str, str]]:
    page = client.get(address)
    assert page.status_code == 200
    return HIT.findall(page.text)


def test_the_words_of_a_search_are_marked_in_its_documents(client: TestClient) -> None:
    found = client.get("/?q=NOTICE+advice").text
    assert "/document?id=one&amp;q=NOTICE+advice" in found
    page = "/document?id=one&q=NOTICE+advice"
    assert hits(client, page) == [("", "notice"), ("", "advice")]
    assert "2 hits of the search and the terms in this text" in client.get(page).text
    assert "&lt;b&gt;today&lt;/b&gt;" in client.get(page).text
    assert hits(client, "/document?id=one") == []
    assert hits(client, "/document?id=one&q=%2B%2B") == []


@pytest.mark.long
def test_terms_of_the_matter_are_marked_on_every_page_in_their_colours(client: TestClient) -> None:
    assert change(client, "save", "lawyer*") == change(client, "save", '"the advice"') == 200
    assert change(client, "save", "lawyer*") == 200
    saved = client.get("/api/terms").json()["terms"]
    assert [(term["text"], term["color"]) for term in saved] == [
        ("lawyer*", 1),
        ('"the advice"', 2),
    ]
    terms = [("t2", "the advice"), ("t1", "lawyer")]
    assert hits(client, "/document?id=one") == terms
    assert hits(client, "/document?id=one&q=notice") == [("", "notice"), *terms]
    compared = hits(client, "/compare?a=one&b=two&q=notice")
    assert [word for _, word in compared].count("notice") == 2
    assert ("t1", "Lawyers") in compared
    assert change(client, "delete", "lawyer*") == 200
    assert hits(client, "/document?id=one") == terms[:1]


@pytest.mark.long
def test_a_term_has_words_and_is_deleted_once(client: TestClient) -> None:
    for wrong in ("", " ", "-out", "x" * 101, "a\u202eb"):
        assert change(client, "save", wrong) == 400
    assert change(client, "delete", "absent") == 400
    assert [change(client, "save", f"word{number}") for number in range(61)] == [200] * 60 + [400]


def test_a_query_of_too_many_words_marks_nothing(client: TestClient) -> None:
    many = "+".join(f"w{number}" for number in range(401))
    assert hits(client, f"/document?id=one&q={many}") == []
    assert client.get(f"/?q={many}").status_code == 400
