"""Files that earlier releases stored under two ids are merged into the older one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from indexer.documents.base import ReadOptions
from indexer.documents.blobs import INSIDE, file_ids, identifier
from indexer.grouping.families import show
from indexer.grouping.group import group
from indexer.jobs.doctor import doctor
from indexer.jobs.index import IndexOptions, index
from indexer.jobs.repair import repair
from indexer.jobs.review_file import ReviewFile, review_path
from indexer.model import Row
from indexer.stores import open_store
from indexer.stores.abilities import FullStore
from indexer.stores.journal import journal_path
from indexer.stores.requirements import stored_ids

TEXT = "The landlord lets the warehouse at the quay to the tenant for {} years, and insures it."
MAIL = """From: ann@example.org
Subject: The lease
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain

Here is the lease that we spoke of at the quay yesterday.
--b
Content-Type: text/plain
Content-Disposition: attachment; filename=lease.txt

The tenant keeps the roof in repair, and the landlord insures the goods in the warehouse.
--b--
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "nest" / "sub"
    folder.mkdir(parents=True)
    for years in ("five", "six"):
        (folder / f"{years}.txt").write_text(TEXT.format(years))
    return folder


@pytest.fixture
def store(folder: Path, tmp_path: Path) -> Iterator[FullStore]:
    """Return a store that has every file by its folder, and again by the folder above."""
    opened = open_store(f"sqlite:///{tmp_path}/store.db")
    index(str(folder), opened)
    copy_all(opened, folder)
    yield opened
    opened.close()


def copy_all(store: FullStore, folder: Path) -> None:
    """Store every row again, by the ids that it has under the folder above, as 0.2 did."""
    for row in list(store.scan()):
        id = other_id(row.path, folder)
        store.write([replace(row, id=id, family=id, principal=True)])


def other_id(path: str, folder: Path) -> str:
    outer, inside, key = path.rpartition(INSIDE)
    if inside:
        return identifier(other_id(outer, folder).encode(), os.fsencode(f"{INSIDE}{key}"))
    key = os.fsencode(Path(path).relative_to(folder))
    return next(file_ids(os.fsencode(folder), key))


def by_path(store: FullStore, name: str) -> list[Row]:
    return [row for row in store.scan() if row.path.endswith(name)]


def notes(store: FullStore) -> ReviewFile:
    return ReviewFile(review_path(journal_path(store.address)))


def test_doctor_shows_what_is_stored_twice_and_repair_merges_it(
    store: FullStore, folder: Path
) -> None:
    older = {row.path: row.id for row in store.scan() if row.id != other_id(row.path, folder)}
    younger = {path: other_id(path, folder) for path in older}
    [check] = [check for check in doctor(store.url) if check.name == "copies"]
    assert check.verdict == "note" and check.detail.startswith("2 files stored twice, first ")
    [planned] = [item for item in repair(store, dry_run=True) if item.what == "copies"]
    assert planned.found == "2 documents stored twice, by two PATHs" and not planned.repaired
    assert len(list(store.scan())) == 4
    group(store)
    [done] = [item for item in repair(store) if item.what == "copies"]
    assert done.repaired and {row.path: row.id for row in store.scan()} == older
    assert [item for item in repair(store) if item.what != "provisional"] == []
    for path, id in younger.items():
        assert stored_ids(store, [id]) == [older[path]]
        assert show(store, id).row.path == path
    assert index(str(folder.parent), store).unchanged == 2


def test_labels_and_notes_are_united(store: FullStore, folder: Path) -> None:
    first, second = sorted(by_path(store, "five.txt"), key=lambda row: row.id)
    store.labels.relabel({first.id: ["hot"], second.id: ["hot", "late"]})
    for row, text in ((first, "one"), (second, "two")):
        notes(store).add_notes([row.id], "ann", text)
    notes(store).assign([second.id], "ben")
    repair(store)
    [row] = by_path(store, "five.txt")
    assert set(row.labels) == {"hot", "late"}
    assert {note.text for note in notes(store).notes(row.id)} == {"one", "two"}
    assert notes(store).assignments() == {row.id: "ben"}
    (folder / "five.txt").write_text(TEXT.format("fifty-five"))
    assert index(str(folder), store).indexed == 1
    [other] = {first.id, second.id} - {row.id}
    assert stored_ids(store, [other]) == [row.id]


def test_conflicting_codings_are_listed_and_not_decided(store: FullStore) -> None:
    first, second = by_path(store, "five.txt")
    store.labels.relabel({first.id: ["responsive"], second.id: ["privileged"]})
    repairs = {item.what: item for item in repair(store)}
    assert not repairs["codings"].repaired
    assert {"responsive", "privileged"} <= set(repairs["codings"].found.replace(",", "").split())
    assert len(by_path(store, "five.txt")) == 2 and len(by_path(store, "six.txt")) == 1
    store.labels.relabel({second.id: ["responsive"]})
    repair(store)
    assert [row.labels for row in by_path(store, "five.txt")] == [("responsive",)]


def test_an_explicit_namespace_stays_separate(folder: Path, tmp_path: Path) -> None:
    opened = open_store(f"sqlite:///{tmp_path}/spaces.db")
    index(str(folder), opened)
    index(str(folder), opened, IndexOptions(namespace="other"))
    assert len(list(opened.scan())) == 4
    assert not any(item.what == "copies" for item in repair(opened))
    assert len(list(opened.scan())) == 4
    opened.close()


@pytest.mark.long
def test_a_mail_and_its_attachment_are_merged(folder: Path, tmp_path: Path) -> None:
    for file in folder.iterdir():
        file.unlink()
    (folder / "mail.eml").write_text(MAIL)
    opened = open_store(f"sqlite:///{tmp_path}/mails.db")
    index(str(folder), opened, IndexOptions(reading=ReadOptions(attachments=True)))
    before = {row.id for row in opened.scan()}
    assert len(before) == 2
    copy_all(opened, folder)
    assert len(list(opened.scan())) == 4
    repair(opened)
    assert {row.id for row in opened.scan()} == before
    opened.close()
