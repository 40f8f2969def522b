"""The example of CONTRIBUTING for a new type of archive."""

from contextlib import closing
from pathlib import Path

import pytest
from example_archive import ARCHIVE

from indexer import IndexOptions, index, open_store
from indexer.documents import containers


def indexed(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(containers, "CONTAINERS", (*containers.CONTAINERS, ARCHIVE))
    with closing(open_store("sqlite://:memory:")) as store:
        account = index([str(path)], store, IndexOptions(extractor="plain"), workers=1)
        return account, {row.path: row.text for row in store.scan()}


def test_a_declared_archive_is_indexed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "all.texts"
    archive.write_text("=== a.txt\nthe quay\n=== a.txt\nthe ferry\n")
    account, texts = indexed(archive, monkeypatch)
    assert (account.seen, account.failed) == (2, ())
    assert texts == {f"{archive}!/a.txt": "the quay", f"{archive}!/a.txt#2": "the ferry\n"}


def test_a_damaged_archive_fails_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "all.texts"
    archive.write_text("no mark at all")
    account, texts = indexed(archive, monkeypatch)
    assert [failure.path for failure in account.failed] == [str(archive)]
    assert texts == {}
