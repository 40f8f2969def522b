"""Folders and archives on S3 and over SFTP, by their real clients, from servers on loopback."""

from __future__ import annotations

import zipfile
from pathlib import Path

import fsspec
import pytest
from places import store_fixture  # noqa: F401
from remote_servers import s3_server, sftp_server

from indexer import IndexOptions, index
from indexer.errors import SourceNotFound, UsageError

ONE = "The harbour ferry leaves at eight in the morning and returns at six in the evening."
TWO = "A quite different text about the price of bread and the people who pay it every day."


@pytest.fixture
def root(tmp_path: Path) -> Path:
    case = tmp_path / "served" / "case-7"
    (case / "deep er").mkdir(parents=True)
    (case / "one.txt").write_text(ONE, encoding="utf-8")
    (case / "deep er" / "två.txt").write_text(TWO, encoding="utf-8")
    with zipfile.ZipFile(case / "a.zip", "w") as archive:
        archive.writestr("three.txt", ONE * 2)
    return tmp_path / "served"


@pytest.fixture(params=["s3", "sftp"])
def place(request, root, monkeypatch, tmp_path):
    """Return the URL of the folder; passwords are in the settings of fsspec."""
    if request.param == "s3":
        pytest.importorskip("s3fs")
        with s3_server(root) as address:
            settings = {"endpoint_url": address, "key": "somebody", "secret": "secret"}
            monkeypatch.setitem(fsspec.config.conf, "s3", settings)
            yield "s3://case-7"
        return
    pytest.importorskip("paramiko")
    monkeypatch.setenv("HOME", str(tmp_path))
    with sftp_server(root, "somebody", "secret") as port:
        monkeypatch.setitem(
            fsspec.config.conf,
            "sftp",
            {"password": "secret", "look_for_keys": False, "allow_agent": False},
        )
        yield f"sftp://somebody@127.0.0.1:{port}/case-7"


def read(url, store, **options):
    account = index([url], store, IndexOptions(extractor="plain", **options), workers=1)
    return account.seen, account.indexed, account.unchanged, len(account.failed), account.removed


def test_a_folder_an_archive_and_what_changed(place, root, store):
    assert read(place, store) == (
        3,
        2,
        0,
        1,
        0,
    )  # the archive is one document here, and no plain text
    paths = {row.path.partition("case-7")[2]: row.text for row in store.scan()}
    assert paths == {"/one.txt": ONE, "/deep er/två.txt": TWO}
    assert read(f"{place}/a.zip", store)[:2] == (1, 1)
    (root / "case-7" / "one.txt").write_text(ONE.upper(), encoding="utf-8")
    assert read(place, store) == (3, 1, 1, 1, 0)
    (root / "case-7" / "one.txt").unlink()
    assert read(place, store, prune=True)[2:] == (1, 1, 1)


def test_what_is_not_there_and_who_may_not(place, store, monkeypatch):
    with pytest.raises(SourceNotFound):
        read(f"{place}/absent.txt", store)
    if place.startswith("sftp"):
        monkeypatch.setitem(fsspec.config.conf["sftp"], "password", "wrong")
        with pytest.raises(UsageError, match="cannot be read") as error:
            read(place.replace("somebody", "nobody"), store)
        assert "wrong" not in str(error.value)
    assert store.stored_recipe() is None
