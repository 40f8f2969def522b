"""The failures in `status` are those of the last run, whatever failed and was repaired."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from pathlib import Path

import pytest

from indexer import IndexOptions, index, open_store
from indexer.documents.base import Limits, ReadOptions
from indexer.jobs.status import status

ONE = "The harbour ferry leaves at eight in the morning and returns at six in the evening."
NOISE = b"\x00\x01\x02\xff\xfe no text at all"


@pytest.fixture
def store(tmp_path: Path):
    store_on_disk = open_store(f"sqlite:///{tmp_path}/index.db")
    yield store_on_disk
    store_on_disk.close()


def run(store, *paths, **options):
    """Index, assert that the journal agrees with the account, and return the failed paths."""
    account = index(
        [str(path) for path in paths], store, IndexOptions(extractor="plain", **options), workers=1
    )
    failures = sorted((failure.path, failure.error) for failure in account.failed)
    assert sorted((failure.path, failure.error) for failure in status(store).failed) == failures
    return [Path(path).name for path, _ in failures]


def test_each_kind_of_failure_and_its_end(store, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "good.txt").write_text(ONE)
    (folder / "large.txt").write_text(ONE * 100)
    (folder / "noise.bin").write_bytes(NOISE)
    (folder / "dangling.zip").write_bytes(b"no archive")
    reading, limits = ReadOptions(containers="all"), Limits(bytes=1000)
    for _ in range(2):
        assert run(store, folder, reading=reading, limits=limits) == [
            "dangling.zip",
            "large.txt",
            "noise.bin",
        ]
    (folder / "large.txt").write_text(ONE * 2)
    with zipfile.ZipFile(folder / "dangling.zip", "w") as archive:
        archive.writestr("a.txt", ONE)
    assert run(store, folder, reading=reading, limits=limits) == ["noise.bin"]
    (folder / "noise.bin").write_bytes(NOISE * 100)
    assert run(store, folder, reading=reading, limits=limits) == ["noise.bin"]
    (folder / "noise.bin").unlink()
    assert run(store, folder, reading=reading, limits=limits) == []


def test_records_without_ids(store, tmp_path):
    place = tmp_path / "a.jsonl"
    lines = [
        {"text": ONE},
        {"text": ONE},
        {"id": "a", "text": ONE},
        {"id": "a", "text": ONE},
        {"id": "b"},
    ]
    place.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert len(run(store, place, reading=ReadOptions(id_field="id"))) == 4
    place.write_text(json.dumps({"id": "a", "text": ONE}) + "\n")
    assert run(store, place, reading=ReadOptions(id_field="id")) == []


def test_failures_in_other_folders_stay(store, tmp_path):
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "noise.bin").write_bytes(NOISE)
    index([str(tmp_path / "x")], store, IndexOptions(extractor="plain"), workers=1)
    index([str(tmp_path / "y")], store, IndexOptions(extractor="plain"), workers=1)
    assert [Path(failure.path).parent.name for failure in status(store).failed] == ["x", "y"]
    shutil.rmtree(tmp_path / "x")
    (tmp_path / "x").mkdir()
    index([str(tmp_path / "x")], store, IndexOptions(extractor="plain"), workers=1)
    assert [Path(failure.path).parent.name for failure in status(store).failed] == ["y"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read(store, tmp_path):
    locked = tmp_path / "folder" / "locked"
    locked.mkdir(parents=True)
    locked.chmod(0)
    assert run(store, tmp_path / "folder") == ["locked"]
    locked.chmod(0o700)
    assert run(store, tmp_path / "folder") == []


def test_failures_inside_an_unread_container_stay(store, tmp_path):
    place = tmp_path / "folder" / "a.jsonl"
    place.parent.mkdir()
    place.write_text('{"text": 5}\n')
    assert run(store, place) == ["1"]
    index([str(place.parent)], store, IndexOptions(extractor="plain"), workers=1)
    assert [failure.path for failure in status(store).failed] == [f"{place}!/1"]
