"""Each date of a document is named: of the mail, in the document, or of its file."""

from __future__ import annotations

import dataclasses
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

FILE = 1_700_000_000_000  # 2023-11-14 22:13:20 UTC
CREATED = {"created": "2024-03-05T09:00:00+02:00"}
DATES = {
    "mail": ("message/rfc822", CREATED, "sent 2024-03-05"),
    "pdf": ("application/pdf", {**CREATED, "modified": "2024-04-01"}, "modified 2024-04-01"),
    "docx": ("application/msword", CREATED, "created 2024-03-05"),
    "text": ("text/plain", {"created": "once"}, "file of 2023-11-14"),
}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with closing(open_store(f"sqlite:///{tmp_path}/dates.db")) as store:
        store.prepare(DEFAULT)
        store.write(
            dataclasses.replace(row, content_type=kind, metadata=metadata, modified=FILE)
            for row in rows({name: f"the text of {name}" for name in DATES})
            for kind, metadata, _ in [DATES[row.id]]
        )
        store.refresh()
        yield TestClient(review_application(store, frozenset({"testserver"})))


@pytest.mark.long
def test_the_date_of_a_document_is_named_on_every_page(client: TestClient) -> None:
    def text(address: str) -> str:
        return re.sub(r"\s+", " ", re.sub("<[^>]*>", "", client.get(address).text))

    for name, (_, _, date) in DATES.items():
        for address in (f"/document?id={name}", f"/family?id={name}", f"/?q={name}"):
            assert date in text(address)
        assert "file modified2023-11-14 22:13:20 UTC" in text(f"/document?id={name}")
    assert "sent2024-03-05 09:00:00 +02:00" in text("/document?id=mail")
    assert "created2024-03-05 09:00:00 +02:00" in text("/document?id=docx")
    assert "sent (differs)2024-03-05" in text("/compare?a=mail&b=text")


def test_the_api_has_the_date_and_which_one_it_is(client: TestClient) -> None:
    dates = {}
    for name in DATES:
        facts = client.get(f"/api/document?id={name}").json()["document"]
        dates[name] = facts["date"], facts["date_kind"], facts["modified"]
    assert dates == {
        "mail": (1_709_622_000_000, "sent", FILE),
        "pdf": (1_711_929_600_000, "modified", FILE),
        "docx": (1_709_622_000_000, "created", FILE),
        "text": (FILE, "file", FILE),
    }
