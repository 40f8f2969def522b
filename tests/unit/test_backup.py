"""A store is copied while it is written, and the copy put back in one step, journal and all."""

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from sample_rows import row

from indexer.errors import MappingMismatch, SourceNotFound, StoreBusy, StoreDamaged, StoreError, Unsupported, UsageError
from indexer.jobs import Failure, Journal, journal_path, remembered
from indexer.model import Query
from indexer.recipe import DEFAULT
from indexer.safekeeping import backup, restore
from indexer.stores import open_store
from indexer.stores.sqlite import SqliteStore

FAILURE = Failure("f", "/papers/f.pdf", "digest", "extractor", "encrypted")


@pytest.fixture
def store(tmp_path: Path):
    opened = open_store(f"sqlite:///{tmp_path}/store.db")
    opened.prepare(DEFAULT)
    opened.write([row("1"), row("2")])
    with Journal(journal_path(opened.url)) as journal:
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
    with Journal(journal_path(store.url)) as journal:
        journal.forget(["f"])
    other = open_store(store.url)
    assert set(other.get(["1", "2", "3"])) == {"2", "3"}
    assert restore(store, f"{tmp_path}/copy.db", replace=True).documents == 2
    assert list(store.scan()) == before == list(other.scan())
    assert [one.id for one in remembered(journal_path(store.url)) or ()] == ["f"]
    assert {hit.id for hit in other.search(Query("")).hits} == {"1", "2"}
    assert store.write([row("4")]) == [None]
    other.close()


def test_a_copy_taken_while_rows_are_written_is_one_moment(store: SqliteStore, tmp_path: Path) -> None:
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
            done = backup(store, f"{tmp_path}/copy.db")
            assert done.documents % 20 == 2
    finally:
        ended.set()
        writing.join()


def test_a_job_at_work_keeps_its_journal_and_its_store(store: SqliteStore, tmp_path: Path) -> None:
    with Journal(journal_path(store.url)):
        assert backup(store, f"{tmp_path}/copy.db").journal is False
        with pytest.raises(StoreBusy):
            restore(store, f"{tmp_path}/copy.db", replace=True)


def test_a_store_that_is_there_is_not_replaced_unasked(store: SqliteStore, tmp_path: Path) -> None:
    backup(store, f"{tmp_path}/copy.db")
    with pytest.raises(UsageError, match="--replace"):
        restore(store, f"{tmp_path}/copy.db")
    fresh = open_store(f"sqlite:///{tmp_path}/fresh.db")
    assert restore(fresh, f"{tmp_path}/copy.db").documents == 2
    fresh.close()


def test_a_damaged_store_is_set_aside(store: SqliteStore, tmp_path: Path) -> None:
    backup(store, f"{tmp_path}/copy.db")
    store.close()
    (tmp_path / "store.db").write_bytes(b"torn" * 4096)
    again = open_store(store.url)
    assert restore(again, f"{tmp_path}/copy.db", replace=True).documents == 2
    assert (tmp_path / "store.db.damaged").read_bytes() == b"torn" * 4096
    again.close()


def test_what_is_no_sound_copy_changes_nothing(store: SqliteStore, tmp_path: Path) -> None:
    before = list(store.scan())
    backup(store, f"{tmp_path}/copy.db")
    whole = (tmp_path / "copy.db").read_bytes()
    (tmp_path / "copy.db").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(StoreDamaged):
        restore(store, f"{tmp_path}/copy.db", replace=True)
    with closing(sqlite3.connect(tmp_path / "other.db")) as db:
        db.execute("CREATE TABLE theirs (x)")
    with pytest.raises(MappingMismatch, match="no copy of a store"):
        restore(store, f"{tmp_path}/other.db", replace=True)
    with pytest.raises(SourceNotFound):
        restore(store, f"{tmp_path}/nothing.db", replace=True)
    assert list(store.scan()) == before


def test_what_cannot_be_copied_says_what_to_do(store: SqliteStore, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the store itself"):
        backup(store, f"{tmp_path}/store.db")
    memory = open_store("sqlite://:memory:")
    memory.prepare(DEFAULT)
    with pytest.raises(Unsupported, match="snapshot"):
        backup(memory, f"{tmp_path}/copy.db")
    with pytest.raises(StoreError, match="nearfold index"):
        backup(open_store(f"sqlite:///{tmp_path}/none.db"), f"{tmp_path}/copy.db")
