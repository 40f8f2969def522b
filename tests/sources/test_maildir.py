"""Mails of a Maildir keep their ids when they are read, and are mails whatever they begin with."""

import os
import shutil
from pathlib import Path

import pytest

from indexer.documents.sources import walk
from indexer.jobs.index import IndexOptions, index
from indexer.jobs.threads import ThreadsOptions, threads
from indexer.model import Blob, SkippedBlob
from indexer.stores import open_store

NAME = "1707123600.M1P2.host"
TEXT = "X-Gmail-Labels: Inbox\nTo: Bo <bo@x.org>\nFrom: Ann <ann@x.org>\nSubject: Ferry\n"
TEXT += "Message-ID: <1@x>\n\nThe ferry to the island leaves from pier four on Sundays.\n"


@pytest.fixture
def box(tmp_path: Path) -> Path:
    """A Maildir with a subfolder, each with a new mail, and one that is still delivered."""
    for folder in (tmp_path / "box", tmp_path / "box" / ".Sent"):
        for name in ("cur", "new", "tmp"):
            (folder / name).mkdir(parents=True)
        (folder / "new" / NAME).write_text(TEXT)
        (folder / "tmp" / "1707123700.M3P4.host").write_text("From: half")
    return tmp_path / "box"


def blobs(path: Path) -> dict[str, Blob]:
    """Return the blobs below a path, by their keys."""
    found = [item for item in walk([path]) if isinstance(item, Blob)]
    assert len({blob.id for blob in found}) == len(found)
    return {os.fsdecode(blob.key): blob for blob in found}


def test_a_mail_keeps_its_id_when_it_is_read(box: Path) -> None:
    before = blobs(box)
    assert sorted(before) == [f".Sent/cur/{NAME}", f"cur/{NAME}"]
    skipped = [item for item in walk([box]) if isinstance(item, SkippedBlob)]
    assert {(Path(item.path).parent.name, item.reason) for item in skipped} == {("tmp", "excluded")}
    (box / "new" / NAME).rename(box / "cur" / f"{NAME}:2,S")
    seen = blobs(box)
    (box / "cur" / f"{NAME}:2,S").rename(box / "cur" / f"{NAME}:2,RS")
    answered = blobs(box)
    ids = {found[f"cur/{NAME}"].id for found in (before, seen, answered)}
    assert len(ids) == 1
    assert answered[f"cur/{NAME}"].path == str(box / "cur" / f"{NAME}:2,RS")
    [alone] = blobs(box / "cur" / f"{NAME}:2,RS").values()
    [of_folder] = blobs(box / "cur").values()
    assert alone == of_folder


def test_a_mailbox_at_another_path_has_the_ids_of_its_namespace_and_the_same_threads(
    box: Path, tmp_path: Path
) -> None:
    moved = tmp_path / "elsewhere" / "post"
    shutil.copytree(box, moved)
    (moved / "new" / NAME).rename(moved / "cur" / f"{NAME}:2,S")

    def ids(path: Path, namespace: str | None = None) -> set[str]:
        return {mail.message.id for mail in threads(path, ThreadsOptions(namespace)).mails}

    assert ids(box, "case") == ids(moved, "case")
    assert not ids(box) & ids(moved)
    assert [thread.id for thread in threads(box).threads] == [
        thread.id for thread in threads(moved).threads
    ]
    store = open_store("sqlite:///:memory:")
    for path in (box, moved):
        index(str(path), store, IndexOptions(namespace="case"), workers=1)
    assert {row.id for row in store.scan()} == ids(moved, "case")


def test_two_files_of_one_unique_name_are_two_documents(box: Path) -> None:
    (box / "cur" / f"{NAME}:2,").write_text(TEXT)
    (box / "cur" / f"{NAME}:2,S").write_text(TEXT)
    (box / "cur" / "notes.txt").write_text("no mail")
    assert sorted(key for key in blobs(box) if not key.startswith(".Sent")) == [
        f"cur/{NAME}",
        f"cur/{NAME}:2,S",
        "cur/notes.txt",
        f"new/{NAME}",
    ]


def test_other_folders_of_these_names_are_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "cur").mkdir()
    (tmp_path / "cur" / f"{NAME}:2,S").write_text(TEXT)
    assert list(blobs(tmp_path)) == [f"cur/{NAME}:2,S"]


def test_labels_and_path_of_a_mail_that_was_read(box: Path, tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    index([str(box)], store, IndexOptions(labels=("hot",)))
    (box / "new" / NAME).rename(box / "cur" / f"{NAME}:2,S")
    index([str(box)], store)
    rows = [row for row in store.scan() if ".Sent" not in row.path]
    assert [(row.path, row.labels) for row in rows] == [
        (str(box / "cur" / f"{NAME}:2,S"), ("hot",))
    ]
    assert rows[0].content_type == "message/rfc822"
    assert rows[0].metadata["message_id"] == "<1@x>"
    assert "Gmail-Labels" not in rows[0].text
    store.close()
