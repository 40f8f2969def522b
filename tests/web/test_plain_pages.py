"""Pages name what they show as people do, and leave out what says nothing."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sample_library import rows, sentence

from indexer.recipe import DEFAULT
from indexer.review.serve import review_application
from indexer.stores import open_store

STAMPED = {"created": "2024-03-04T09:00:00Z", "sent": "2024-03-05T09:00:00+02:00", "by": "T1"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Any]:
    """A store of four documents of three content types, two of which have one name."""
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    store.prepare(DEFAULT)
    types = ("text/markdown", "text/x-markdown", "text/html", "text/html")
    written = rows({str(number): sentence(number, 60) for number in range(4)})
    store.write(
        replace(row, content_type=type, metadata=STAMPED)
        for row, type in zip(written, types, strict=True)
    )
    store.refresh()
    yield store
    store.close()


def open_site(store: Any) -> Any:
    from starlette.testclient import TestClient

    return TestClient(review_application(store, frozenset({"testserver"})))


@pytest.fixture
def client(store: Any) -> Any:
    return open_site(store)


def lines(html: str, heading: str) -> list[str]:
    """Return the names of the lines of a section of a page."""
    [section] = re.findall(rf"<h2[^>]*>{heading}</h2>(.*?)</section>", html, re.DOTALL)
    return re.findall(r"<bdi>([^<]*)</bdi>", section)


@pytest.mark.long
def test_content_types_of_one_name_are_told_apart(client: Any) -> None:
    told_apart = ["HTML", "Markdown (text/markdown)", "Markdown (text/x-markdown)"]
    assert lines(client.get("/").text, "Type") == told_apart
    assert lines(client.get("/overview").text, "Content types") == told_apart


@pytest.mark.long
def test_a_status_that_all_hits_have_is_not_offered(client: Any, store: Any) -> None:
    assert "<h2>Status</h2>" not in client.get("/").text
    store.write(rows({"cut": sentence(9, 60)}, cut=frozenset({"cut"})))
    assert lines(open_site(store).get("/").text, "Status") == ["complete", "truncated"]


@pytest.mark.long
def test_metadata_shows_times_as_people_write_them(client: Any) -> None:
    for path in ("/compare?a=0&b=1", "/document?id=0"):
        html = client.get(path).text
        assert "<bdi>2024-03-04 09:00:00 UTC</bdi>" in html
        assert "<bdi>2024-03-05 09:00:00 +02:00</bdi>" in html
        assert "<bdi>T1</bdi>" in html


def test_without_labels_there_are_no_choices(client: Any) -> None:
    """An empty form would indent the field for another label."""
    html = client.get("/document?id=0").text
    assert "data-label-field" in html
    assert "data-choices" not in html


@pytest.mark.long
def test_notes_name_no_options_of_the_command_line(client: Any) -> None:
    client.get("/api/search?fold=types&top=2&q=&wait=30")  # a page does not wait as long
    html = client.get("/?fold=types&top=2&q=").text
    assert "folding by type compares only the best 2 hits" in html
    assert " --" not in re.sub(r"<[^>]+>", "", html)
