"""The examples of CONTRIBUTING for sources: an archive, rows, a URL, a format of text."""

import json
from contextlib import closing
from pathlib import Path

import pytest
from cards import CARDS
from notes import NOTES
from texts_archive import ARCHIVE
from verses import VERSES

from indexer import IndexOptions, index, open_store
from indexer.documents import containers, plain_text, sources
from indexer.documents.base import Limits
from indexer.errors import SourceNotFound


@pytest.fixture(autouse=True)
def declared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        containers, "CONTAINERS", (*containers.CONTAINERS, ARCHIVE, CARDS.container())
    )
    monkeypatch.setattr(sources, "URL_SOURCES", (NOTES, *sources.URL_SOURCES))


def indexed(path: Path | str):
    with closing(open_store("sqlite://:memory:")) as store:
        account = index([str(path)], store, IndexOptions(extractor="plain"), workers=1)
        return account, {row.path: row.text for row in store.scan()}


def test_a_declared_archive_is_indexed(tmp_path: Path) -> None:
    archive = tmp_path / "all.texts"
    archive.write_text("=== a.txt\nthe quay\n=== a.txt\nthe ferry\n")
    account, texts = indexed(archive)
    assert (account.seen, account.failed) == (2, ())
    assert texts == {f"{archive}!/a.txt": "the quay", f"{archive}!/a.txt#2": "the ferry\n"}


def test_a_damaged_archive_fails_by_itself(tmp_path: Path) -> None:
    archive = tmp_path / "all.texts"
    archive.write_text("no mark at all")
    account, texts = indexed(archive)
    assert [failure.path for failure in account.failed] == [str(archive)]
    assert texts == {}


def test_a_declared_format_of_rows_is_indexed(tmp_path: Path) -> None:
    cards = tmp_path / "all.cards"
    cards.write_text("text: the quay\nwharf: 3\n\nno field\n\ntext: the ferry\n")
    account, texts = indexed(cards)
    assert [failure.path for failure in account.failed] == [f"{cards}!/2"]
    assert texts == {f"{cards}!/1": "the quay", f"{cards}!/3": "the ferry"}


def test_a_declared_url_is_indexed(tmp_path: Path) -> None:
    notes = tmp_path / "notes.json"
    notes.write_text(json.dumps({"b": "the ferry", "a": "the quay"}))
    account, texts = indexed(f"notes://{notes}")
    assert (account.seen, account.failed) == (2, ())
    assert texts == {f"notes://{notes}/a": "the quay", f"notes://{notes}/b": "the ferry"}
    notes.write_text("no JSON")
    account, _ = indexed(f"notes://{notes}")
    assert [failure.path for failure in account.failed] == [f"notes://{notes}"]
    with pytest.raises(SourceNotFound):
        indexed("notes:///nowhere")


def test_a_declared_format_of_text_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_text, "TEXT_FORMATS", (*plain_text.TEXT_FORMATS, VERSES))
    (tmp_path / "a.verse").write_text("#verse The quay\nthe ferry")
    (tmp_path / "b.verse").write_text("#other")
    (tmp_path / "ls.1").write_text(".TH LS 1\nthe harbour")
    _, texts = indexed(tmp_path)
    assert [texts[path] for path in sorted(texts)] == ["the ferry", "#other", "the harbour"]
    document = plain_text.plain_document(b"#verse The quay\nthe ferry", "a.verse", Limits())
    assert document is not None
    assert (document.title, document.content_type) == ("The quay", "text/x-verse")
    assert document.extractor == "verse/1"
