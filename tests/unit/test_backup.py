"""Backup of a store while it is written, and restore of the copy in one step with its journal."""

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from sample_rows import row

from indexer.errors import (
    SourceNotFound,
    StoreBusy,
    StoreDamaged,
    StoreError,
    UnsupportedOperation,
    UsageError,
)
from indexer.jobs.backup import backup, restore
from indexer.jobs.review_file import ReviewFile, review_path
from indexer.model import Query
from indexer.recipe import DEFAULT
from indexer.stores import open_store
from indexer.stores.journal import Failure, Journal, job_history, journal_path, stored_failures
from indexer.stores.sqlite.store import SqliteStore

FAILURE = Failure("f", "/papers/f.pdf", "digest", "extractor", "encrypted")


@pytest.fixture
def store(tmp_path: Path):
    opened = open_store(f"sqlite:///{tmp_path}/store.db")
    opened.prepare(DEFAULT)
    opened.write([row("1"), row("2")])
    with Journal(journal_path(opened.address)) as journal:
        journal.record([FAILURE])
    yield opened
    opened.close()


def test_a_copy_is_a_store_and_brings_everything_back(store: SqliteStore, tmp_path: Path) -> None:
    before = list(store.scan())
    done = backup(store, f"{tmp_path}/copy.db")
    assert (done.documents, done.journal) == (2, True)
    assert {file.name for file in tmp_path.glob("copy*")} == {"copy.db", "copy.db.jobs"}
    store.delete(["1"])
    store.write([row("3")])
    with Journal(journal_path(store.address)) as journal:
        journal.forget(["f"])
    second_store = open_store(store.url)
    assert set(second_store.get(["1", "2", "3"])) == {"2", "3"}
    assert restore(store, f"{tmp_path}/copy.db", replace=True).documents == 2
    assert list(store.scan()) == before == list(second_store.scan())
    assert [failure.id for failure in stored_failures(journal_path(store.address)) or ()] == ["f"]
    assert {hit.id for hit in second_store.search(Query("")).hits} == {"1", "2"}
    assert store.write([row("4")]) == [None]
    second_store.close()


def test_notes_and_assignments_come_back_with_a_copy(store: SqliteStore, tmp_path: Path) -> None:
    review = ReviewFile(review_path(journal_path(store.address)))
    review.assign(["1"], "anna")
    review.add_notes(["1"], "anna", "see page 4")
    assert backup(store, f"{tmp_path}/copy.db").review
    review.assign(["1"], "ben")
    review.add_notes(["1"], "ben", "later")
    assert restore(store, f"{tmp_path}/copy.db", replace=True).review
    assert review.assignments() == {"1": "anna"}
    assert [note.text for note in review.notes("1")] == ["see page 4"]
    fresh = open_store(f"sqlite:///{tmp_path}/fresh.db")
    restore(fresh, f"{tmp_path}/copy.db")
    assert ReviewFile(tmp_path / "fresh.db.jobs.review").assignments() == {"1": "anna"}
    fresh.close()
    with pytest.raises(UsageError, match="belongs to the store"):
        backup(store, f"{tmp_path}/store.db.jobs.review")


def test_a_copy_that_no_store_url_can_name_is_not_made(store: SqliteStore, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="rename a file that has # in its name"):
        backup(store, f"{tmp_path}/copy#1.db")
    assert not (tmp_path / "copy#1.db").exists()


def test_a_copy_whose_notes_are_torn_changes_nothing(store: SqliteStore, tmp_path: Path) -> None:
    ReviewFile(tmp_path / "store.db.jobs.review").assign(["1"], "anna")
    backup(store, f"{tmp_path}/copy.db")
    (tmp_path / "copy.db.jobs.review").write_bytes(b"torn" * 4096)
    store.delete(["1"])
    with pytest.raises(StoreDamaged, match="move it away"):
        restore(store, f"{tmp_path}/copy.db", replace=True)
    assert set(store.get(["1", "2"])) == {"2"}


def test_a_copy_without_notes_leaves_none_of_an_earlier_copy(
    store: SqliteStore, tmp_path: Path
) -> None:
    (tmp_path / "copy.db.jobs.review").write_bytes(b"of an earlier copy")
    assert not backup(store, f"{tmp_path}/copy.db").review
    assert not (tmp_path / "copy.db.jobs.review").exists()


def test_a_copy_taken_while_rows_are_written_is_consistent(
    store: SqliteStore, tmp_path: Path
) -> None:
    ended = threading.Event()

    def write() -> None:
        number = 0
        while not ended.is_set():
            number += 1
            store.write([row(f"{number}-{place}") for place in range(20)])

    writing = threading.Thread(target=write)
    writing.start()
    try:
        for _ in range(5):
            done = backup(store, f"{tmp_path}/copy.db", replace=True)
            assert done.documents % 20 == 2
    finally:
        ended.set()
        writing.join()


def test_a_job_at_work_keeps_its_journal_and_its_store(store: SqliteStore, tmp_path: Path) -> None:
    with Journal(journal_path(store.address)):
        assert backup(store, f"{tmp_path}/copy.db").journal is False
        with pytest.raises(StoreBusy):
            restore(store, f"{tmp_path}/copy.db", replace=True)


def test_an_existing_store_is_not_replaced_without_permission(
    store: SqliteStore, tmp_path: Path
) -> None:
    backup(store, f"{tmp_path}/copy.db")
    with pytest.raises(UsageError, match="--replace"):
        restore(store, f"{tmp_path}/copy.db")
    fresh = open_store(f"sqlite:///{tmp_path}/fresh.db")
    assert restore(fresh, f"{tmp_path}/copy.db").documents == 2
    fresh.close()


def test_a_backup_replaces_a_store_only_with_permission_and_none_in_use(
    store: SqliteStore, tmp_path: Path
) -> None:
    place = f"{tmp_path}/other.db"
    with closing(open_store(f"sqlite:///{place}")) as other:
        other.prepare(DEFAULT)
        other.write([row("theirs")])
        for replace, message in ((False, "--replace"), (True, "is in use")):
            with pytest.raises(UsageError, match=message):
                backup(store, place, replace=replace)
        assert set(other.sources(["theirs", "1"])) == {"theirs"}
    assert backup(store, place, replace=True).documents == 2


def test_a_damaged_store_is_moved_out_of_the_way(store: SqliteStore, tmp_path: Path) -> None:
    backup(store, f"{tmp_path}/copy.db")
    store.close()
    (tmp_path / "store.db").write_bytes(b"torn" * 4096)
    again = open_store(store.url)
    assert restore(again, f"{tmp_path}/copy.db", replace=True).documents == 2
    assert (tmp_path / "store.db.damaged").read_bytes() == b"torn" * 4096
    again.close()
    (tmp_path / "store.db").write_bytes(b"again" * 4096)
    again = open_store(store.url)
    restore(again, f"{tmp_path}/copy.db", replace=True)
    again.close()
    assert (tmp_path / "store.db.damaged").read_bytes() == b"torn" * 4096
    assert (tmp_path / "store.db.damaged.2").read_bytes() == b"again" * 4096


def test_what_is_no_sound_copy_changes_nothing(store: SqliteStore, tmp_path: Path) -> None:
    before = list(store.scan())
    backup(store, f"{tmp_path}/copy.db")
    content = (tmp_path / "copy.db").read_bytes()
    (tmp_path / "copy.db").write_bytes(content[: len(content) // 2])
    with pytest.raises(StoreDamaged):
        restore(store, f"{tmp_path}/copy.db", replace=True)
    with closing(sqlite3.connect(tmp_path / "other.db")) as db:
        db.execute("CREATE TABLE theirs (x)")
    (tmp_path / "notes.txt").write_text("a list of ferries" * 100)
    for name, problem in (("other.db", "not a copy of a store"), ("notes.txt", "not a database")):
        with pytest.raises(StoreDamaged, match=rf"{problem}\); give a file that `nearfold backup`"):
            restore(store, f"{tmp_path}/{name}", replace=True)
    with pytest.raises(UsageError, match="not a regular file"):
        restore(store, str(tmp_path), replace=True)
    with pytest.raises(SourceNotFound):
        restore(store, f"{tmp_path}/nothing.db", replace=True)
    assert list(store.scan()) == before


def test_a_copy_that_is_not_sound_leaves_the_journal_as_it_was(
    store: SqliteStore, tmp_path: Path
) -> None:
    backup(store, f"{tmp_path}/copy.db")
    with closing(sqlite3.connect(tmp_path / "copy.db.jobs")) as db, db:
        db.execute("DELETE FROM failure")
    content = (tmp_path / "copy.db").read_bytes()
    (tmp_path / "copy.db").write_bytes(content[:8192] + bytes(60) + content[8252:])
    with pytest.raises(StoreDamaged):
        restore(store, f"{tmp_path}/copy.db", replace=True)
    assert [failure.id for failure in stored_failures(journal_path(store.address)) or ()] == ["f"]


def test_a_torn_journal_of_a_copy_leaves_the_store_as_it_was(
    store: SqliteStore, tmp_path: Path
) -> None:
    backup(store, f"{tmp_path}/copy.db")
    store.write([row("3")])
    with (tmp_path / "copy.db.jobs").open("ab") as jobs:
        jobs.write(b"torn")
    with pytest.raises(StoreDamaged, match="move it away"):
        restore(store, f"{tmp_path}/copy.db", replace=True)
    assert set(store.sources(["1", "3"])) == {"1", "3"}


def test_a_place_that_cannot_be_written_is_named(store: SqliteStore, tmp_path: Path) -> None:
    for place in (tmp_path / "absent" / "copy.db", tmp_path / "store.db" / "copy.db"):
        with pytest.raises(
            UsageError, match=f"cannot write {place}: .*; choose another path for FILE"
        ):
            backup(store, str(place))


def test_what_others_keep_is_never_replaced(store: SqliteStore, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs.db"
    with closing(sqlite3.connect(theirs)) as db, db:
        db.execute("CREATE TABLE theirs (x)")
    (tmp_path / "report.txt").write_text("a year of work", encoding="utf-8")
    (tmp_path / "folder.db").mkdir()
    before = theirs.read_bytes()
    for name in (
        "theirs.db",
        "report.txt",
        "folder.db",
        "store.db",
        "store.db.jobs",
        "store.db-wal",
    ):
        with pytest.raises(UsageError, match="name another file"):
            backup(store, f"{tmp_path}/{name}")
    backup(store, f"{tmp_path}/copy.db")
    for name, message in (("theirs.db", "another program"), ("folder.db", "not a regular file")):
        place = open_store(f"sqlite:///{tmp_path}/{name}")
        with pytest.raises(StoreError, match=message):
            restore(place, f"{tmp_path}/copy.db", replace=True)
        place.close()
    (tmp_path / "hard.db").hardlink_to(tmp_path / "store.db")
    with pytest.raises(UsageError, match="belongs to the store itself"):
        restore(store, f"{tmp_path}/hard.db", replace=True)
    assert theirs.read_bytes() == before
    assert len(list(store.scan())) == 2


def test_copies_are_readable_by_the_readers_of_the_store_only(
    store: SqliteStore, tmp_path: Path
) -> None:
    for name in ("store.db", "store.db.jobs"):
        (tmp_path / name).chmod(0o600)
    backup(store, f"{tmp_path}/copy.db")
    fresh = open_store(f"sqlite:///{tmp_path}/fresh.db")
    restore(fresh, f"{tmp_path}/copy.db")
    fresh.close()
    for name in ("copy.db", "copy.db.jobs", "fresh.db", "fresh.db.jobs"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600, name


def test_a_restored_journal_records_the_restore(store: SqliteStore, tmp_path: Path) -> None:
    backup(store, f"{tmp_path}/copy.db")
    restore(store, f"{tmp_path}/copy.db", replace=True)
    assert [
        (job.command, job.outcome, job.counts) for job in job_history(journal_path(store.address))
    ] == [("restore", "done", {"documents": 2})]


def test_what_cannot_be_copied_says_what_to_do(store: SqliteStore, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the store itself"):
        backup(store, f"{tmp_path}/store.db")
    memory = open_store("sqlite://:memory:")
    memory.prepare(DEFAULT)
    with pytest.raises(UnsupportedOperation, match="snapshot"):
        backup(memory, f"{tmp_path}/copy.db")
    with pytest.raises(StoreError, match="nearfold index"):
        backup(open_store(f"sqlite:///{tmp_path}/none.db"), f"{tmp_path}/copy.db")
