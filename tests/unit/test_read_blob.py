"""Reading one file: its bytes at one time, or a clear error."""

import hashlib
import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from indexer.documents import blobs
from indexer.documents.blobs import read
from indexer.documents.sources import walk
from indexer.errors import ExtractionError, UnreadableFile
from indexer.model import Blob

MAX_BYTES = 1 << 20


def blob_of(place: Path) -> Blob:
    [blob] = walk([place])
    assert isinstance(blob, Blob)
    return blob


def test_bytes_size_time_and_digests(tmp_path: Path) -> None:
    place = tmp_path / "a.txt"
    place.write_bytes(b"abc")
    os.utime(place, ns=(0, 1_234_567_890))
    payload = read(blob_of(place), MAX_BYTES)
    assert (payload.data, payload.size, payload.modified) == (b"abc", 3, 1_234_567_890)
    assert payload.raw == hashlib.sha256(b"abc").hexdigest()
    assert payload.source == hashlib.sha256(f"3:1234567890:{payload.raw}".encode()).hexdigest()


def test_source_digests_distinguish_time_size_and_bytes(tmp_path: Path) -> None:
    place = tmp_path / "a.txt"
    sources = set()
    for text, stamp in ((b"abc", 1), (b"abc", 2), (b"abd", 1), (b"abcd", 1)):
        place.write_bytes(text)
        os.utime(place, ns=(stamp, stamp))
        sources.add(read(blob_of(place), MAX_BYTES).source)
    assert len(sources) == 4


def test_empty_file(tmp_path: Path) -> None:
    place = tmp_path / "a.txt"
    place.touch()
    assert read(blob_of(place), MAX_BYTES).data == b""


def test_limit_is_inclusive(tmp_path: Path) -> None:
    place = tmp_path / "a.txt"
    place.write_bytes(b"x" * 100)
    assert read(blob_of(place), 100).size == 100
    with pytest.raises(UnreadableFile, match="more than the limit"):
        read(blob_of(place), 99)


def test_sparse_terabyte_is_refused_without_reading(tmp_path: Path) -> None:
    place = tmp_path / "sparse"
    with place.open("wb") as file:
        file.truncate(1 << 40)
    before = time.monotonic()
    with pytest.raises(UnreadableFile, match=r"1,048,576 MB"):
        read(blob_of(place), 256 << 20)
    assert time.monotonic() - before < 1


def test_name_that_is_not_utf8(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff")).write_bytes(b"abc")
    assert read(blob_of(tmp_path), MAX_BYTES).data == b"abc"


@pytest.mark.parametrize("spoil", ["unlink", "fifo", "symlink", "folder"])
def test_file_that_became_something_else(tmp_path: Path, spoil: str) -> None:
    place = tmp_path / "a.txt"
    place.write_bytes(b"abc")
    blob = blob_of(place)
    place.unlink()
    if spoil == "fifo":
        os.mkfifo(place)
    elif spoil == "symlink":
        place.symlink_to("/etc/hostname")
    elif spoil == "folder":
        place.mkdir()
    with pytest.raises(UnreadableFile) as caught:
        read(blob, MAX_BYTES)
    assert "; " in str(caught.value)
    assert isinstance(caught.value, ExtractionError)


def test_file_without_permission(folder: Path, request: pytest.FixtureRequest) -> None:
    place = folder / "a.txt"
    place.write_bytes(b"abc")
    blob = blob_of(place)
    place.chmod(0)
    request.getfixturevalue("unprivileged")
    with pytest.raises(UnreadableFile, match="no permission"):
        read(blob, MAX_BYTES)


def meddle(monkeypatch: pytest.MonkeyPatch, changes: list[Callable[[], object]]) -> None:
    """Change the file after each of its first readings, as another program would."""
    real = blobs._bounded

    def bounded(handle: int, most: int) -> bytes:
        data = real(handle, most)
        if changes:
            changes.pop(0)()
        return data

    monkeypatch.setattr(blobs, "_bounded", bounded)


@pytest.mark.parametrize("text", [b"abcdef", b"a", b"", b"xyz"])
def test_file_that_changes_once_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: bytes
) -> None:
    place = tmp_path / "a.txt"
    place.write_bytes(b"abc")
    os.utime(place, ns=(1, 1))
    meddle(monkeypatch, [lambda: place.write_bytes(text)])
    assert read(blob_of(place), MAX_BYTES).data == text


def test_a_file_that_keeps_changing_is_abandoned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "a.txt"
    place.write_bytes(b"abc")
    meddle(monkeypatch, [lambda: place.write_bytes(b"abcd"), lambda: place.write_bytes(b"abcde")])
    with pytest.raises(UnreadableFile, match="changed while it was read"):
        read(blob_of(place), MAX_BYTES)


def test_growing_log_ends_one_way_or_the_other(tmp_path: Path) -> None:
    place = tmp_path / "log"
    place.write_bytes(b"x" * 1000)
    stop = threading.Event()

    def grow() -> None:
        with place.open("ab", buffering=0) as file:
            while not stop.is_set():
                file.write(b"y" * 100)

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        outcomes = [outcome(place) for _ in range(20)]
    finally:
        stop.set()
        writer.join()
    assert set(outcomes) <= {"whole", "changed"}


def outcome(place: Path) -> str:
    try:
        payload = read(blob_of(place), MAX_BYTES << 10)
    except UnreadableFile as error:
        return "changed" if "changed while" in str(error) else str(error)
    return "whole" if len(payload.data) == payload.size else "torn"


def test_system_that_lacks_the_flags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blobs, "_FLAGS", os.O_RDONLY)
    place = tmp_path / "a.txt"
    place.write_bytes(b"abc")
    assert read(replace(blob_of(place)), MAX_BYTES).data == b"abc"
