"""Folder walks: every file once, whatever its name and its neighbours."""

import hashlib
import os
import socket
from pathlib import Path

import pytest

from indexer.documents.sources import walk
from indexer.errors import SourceNotFound
from indexer.model import Blob, FailedBlob, SkippedBlob


def put(place: Path, text: str = "text") -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
    return place


def blobs(*paths: os.PathLike[str] | str, **options: object) -> list[Blob]:
    items = list(walk(paths, **options))
    assert all(isinstance(item, Blob) for item in items), items
    return items


def test_order_is_that_of_the_key_bytes_whatever_the_depth(folder: Path) -> None:
    names = [
        "b.txt",
        "a/z.txt",
        "a-b.txt",
        "a.txt",
        "a/b/c.txt",
        "a/b.txt",
        "é.txt",
        "Z.txt",
        "a!/x.txt",
    ]
    for name in names:
        put(folder / name)
    assert [blob.key for blob in blobs(folder)] == sorted(name.encode() for name in names)


def test_a_blob_has_the_facts_of_its_directory_entry(folder: Path) -> None:
    place = put(folder / "sub" / "a.txt", "four")
    os.utime(place, ns=(0, 1_700_000_000_123_456_789))
    [blob] = blobs(folder)
    assert (blob.key, blob.path, blob.opener) == (b"sub/a.txt", str(place), os.fsencode(place))
    assert (blob.size, blob.modified) == (4, place.stat().st_mtime_ns)


def test_id_is_a_digest_of_namespace_and_key(folder: Path) -> None:
    put(folder / "a.txt")
    space = os.fsencode(folder)
    expected = hashlib.sha256(
        len(space).to_bytes(8, "big") + space + (5).to_bytes(8, "big") + b"a.txt"
    ).hexdigest()[:32]
    assert [blob.id for blob in blobs(folder)] == [expected]


def test_length_prefix_keeps_namespace_and_key_apart(folder: Path) -> None:
    put(folder / "ab" / "c")
    put(folder / "a" / "bc")
    [first] = blobs(folder / "ab", namespace="ab")
    [second] = blobs(folder / "a", namespace="a")
    assert first.id != second.id


def test_a_file_and_the_folder_that_holds_it_agree(folder: Path) -> None:
    put(folder / "docs" / "a.txt")
    put(folder / "docs" / "sub" / "b.txt")
    [of_folder] = [blob for blob in blobs(folder / "docs") if blob.key == b"a.txt"]
    assert blobs(folder / "docs" / "a.txt") == [of_folder]
    [deep] = [blob for blob in blobs(folder / "docs") if blob.key == b"sub/b.txt"]
    [alone] = blobs(folder / "docs" / "sub" / "b.txt")
    assert (alone.key, alone.opener) == (b"b.txt", deep.opener)
    assert alone.id != deep.id


def test_spelling_of_the_path_does_not_matter(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(folder / "docs" / "a.txt")
    (folder / "link").symlink_to(folder / "docs")
    monkeypatch.chdir(folder)
    spellings = ["docs", "docs/", "./docs/../docs", folder / "docs", "link"]
    assert len({tuple(blobs(spelling)) for spelling in spellings}) == 1


def test_a_namespace_makes_moved_folders_agree(folder: Path) -> None:
    put(folder / "here" / "a.txt")
    put(folder / "there" / "a.txt")
    ids = {blobs(folder / name, namespace="library")[0].id for name in ("here", "there")}
    assert len(ids) == 1
    assert len({blobs(folder / name)[0].id for name in ("here", "there")}) == 2


def test_a_second_file_of_one_name_in_a_namespace_fails(folder: Path) -> None:
    first, second = put(folder / "here" / "a.txt"), put(folder / "there" / "a.txt")
    items = list(walk([folder / "here", folder / "there"], namespace="library"))
    assert isinstance(items[0], Blob)
    assert isinstance(items[1], FailedBlob)
    assert (items[1].path, str(first) in items[1].error) == (str(second), True)


@pytest.mark.parametrize(
    "order", [["", "sub"], ["sub", ""], ["sub/b.txt", "", "sub", "sub/b.txt"], ["", ""]]
)
def test_file_reached_twice_is_yielded_once(folder: Path, order: list[str]) -> None:
    put(folder / "a.txt")
    put(folder / "sub" / "b.txt")
    put(folder / "sub" / "c.txt")
    items = blobs(*(folder / name for name in order))
    assert sorted(Path(blob.path).name for blob in items) == ["a.txt", "b.txt", "c.txt"]


def test_neighbours_with_a_common_beginning_are_not_confused(folder: Path) -> None:
    put(folder / "doc" / "a")
    put(folder / "docs" / "a")
    assert len(blobs(folder / "doc", folder / "docs")) == 2


def test_names_that_are_not_utf8(folder: Path) -> None:
    name = b"caf\xe9\xff.txt"
    Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_text("text", encoding="utf-8")
    [blob] = blobs(folder)
    assert (blob.key, blob.opener) == (name, os.fsencode(folder) + b"/" + name)
    assert blob.path == f"{folder}/caf\ufffd\ufffd.txt"
    assert blobs(Path(os.fsdecode(blob.opener))) == [blob]


def test_longest_names_and_deep_folders(folder: Path) -> None:
    put(folder / ("n" * 255))
    os.makedirs(folder / "/".join("d" * 600))  # noqa: PTH103  Path.mkdir calls itself for every level
    put(folder / "/".join("d" * 600) / "bottom")
    assert len(blobs(folder)) == 2


def test_path_longer_than_the_system_takes_is_an_outcome(folder: Path) -> None:
    put(folder / "a.txt")
    before = os.open(".", os.O_RDONLY)
    try:
        os.chdir(folder)
        for _ in range(25):
            Path("d" * 200).mkdir()
            os.chdir("d" * 200)
    finally:
        os.fchdir(before)
        os.close(before)
    first, too_long = walk([folder])
    assert isinstance(first, Blob)
    assert isinstance(too_long, FailedBlob)
    assert "name too long" in too_long.error.lower()


def test_what_is_not_a_regular_file_is_skipped(folder: Path) -> None:
    put(folder / "real" / "a.txt")
    os.mkfifo(folder / "fifo")
    (folder / "dangling").symlink_to(folder / "nowhere")
    (folder / "loop").symlink_to(folder)
    (folder / "to-file").symlink_to(folder / "real" / "a.txt")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "socket"))
        items = list(walk([folder]))
    skipped = {item.path: item.reason for item in items if isinstance(item, SkippedBlob)}
    links = dict.fromkeys(("dangling", "loop", "to-file"), "symbolic_link")
    reasons = {**links, "fifo": "special_file", "socket": "special_file"}
    assert skipped == {str(folder / name): reason for name, reason in reasons.items()}
    assert [item.path for item in items if isinstance(item, Blob)] == [
        str(folder / "real" / "a.txt")
    ]


def test_device_and_fifo_given_as_path(folder: Path) -> None:
    os.mkfifo(folder / "fifo")
    paths = [Path("/dev/null"), folder / "fifo"]
    assert list(walk(paths)) == [SkippedBlob(str(place), "special_file") for place in paths]


def test_link_given_as_path_is_resolved(folder: Path) -> None:
    target = put(folder / "real" / "a.txt")
    (folder / "link.txt").symlink_to(target)
    assert blobs(folder / "link.txt") == blobs(target)


@pytest.mark.parametrize("name", ["nowhere", "a.txt/below", "", "nul\0name", "dangling"])
def test_a_missing_path_is_reported_before_anything_is_read(
    folder: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(folder / "a.txt")
    (folder / "dangling").symlink_to("gone")
    monkeypatch.chdir(folder)
    with pytest.raises(SourceNotFound):
        walk(["a.txt", name])


def test_folder_without_permission_fails_alone(
    folder: Path, request: pytest.FixtureRequest
) -> None:
    put(folder / "a" / "x.txt")
    put(folder / "locked" / "y.txt")
    put(folder / "z" / "x.txt")
    (folder / "locked").chmod(0)
    request.getfixturevalue("unprivileged")
    first, failed, last = walk([folder])
    assert isinstance(first, Blob)
    assert isinstance(last, Blob)
    assert isinstance(failed, FailedBlob)
    assert (failed.path, "no permission" in failed.error) == (str(folder / "locked"), True)


def test_path_below_a_folder_without_permission_fails(
    folder: Path, request: pytest.FixtureRequest
) -> None:
    put(folder / "locked" / "y.txt")
    put(folder / "z.txt")
    (folder / "locked").chmod(0)
    request.getfixturevalue("unprivileged")
    failed, last = walk([folder / "locked" / "y.txt", folder / "z.txt"])
    assert isinstance(failed, FailedBlob)
    assert "no permission" in failed.error
    assert isinstance(last, Blob)


def test_folder_that_vanishes_during_the_walk_is_an_outcome(folder: Path) -> None:
    put(folder / "a.txt")
    (folder / "b").mkdir()
    items = walk([folder])
    assert isinstance(next(items), Blob)
    (folder / "b").rmdir()
    [vanished] = items
    assert isinstance(vanished, FailedBlob)
    assert "vanished" in vanished.error


def test_own_files_in_a_folder_and_their_companions_are_no_items(folder: Path) -> None:
    names = ("near.db", "near.db-wal", "near.db-shm", "near.db-journal", "state/a", "state/b/c")
    for name in (*names, "near.db.txt", "near.db-other"):
        put(folder / name)
    (folder / "alias").symlink_to(folder / "near.db")
    items = list(walk([folder], own_files=[str(folder / "alias"), str(folder / "state")]))
    assert {blob.key for blob in items if isinstance(blob, Blob)} == {
        b"near.db.txt",
        b"near.db-other",
    }
    assert [item.path for item in items if isinstance(item, SkippedBlob)] == [str(folder / "alias")]


def test_own_files_are_excluded_however_they_are_reached(folder: Path) -> None:
    own = put(folder / "state" / "sub" / "a")
    for path in (own, own.parent, own.parent.parent):
        assert list(walk([path], own_files=[str(folder / "state")])) == [
            SkippedBlob(str(own), "excluded")
        ]


def test_empty_folder_yields_nothing(folder: Path) -> None:
    assert list(walk([folder])) == []
    assert list(walk([])) == []
