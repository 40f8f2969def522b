"""Counts of a SQLite file: read once for all its connections, and never older than the file."""

import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sample_rows import row

from indexer.model import Assignment
from indexer.recipe import DEFAULT
from indexer.stores import open_store
from indexer.stores.sqlite import file


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Any]:
    """A store of three documents in a file."""
    opened = open_store(f"sqlite:///{tmp_path}/store.db")
    opened.prepare(DEFAULT)
    opened.write([row(name, text=f"text {name}") for name in "abc"])
    yield opened
    opened.close()


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The scopes that were counted, one for each reading of the rows."""
    scopes: list[str] = []
    read = file.count_rows

    def count_and_note(db: Any, scope: Any) -> Any:
        scopes.append(scope)
        return read(db, scope)

    monkeypatch.setattr(file, "count_rows", count_and_note)
    return scopes


def test_counts_are_read_once_for_all_connections(store: Any, reads: list[str]) -> None:
    """Also where a reading in the background holds the first connection, and others read."""
    inside, goes_on = threading.Barrier(4), threading.Event()

    def hold(_: int) -> None:
        with store._file.reader():
            inside.wait(60)
            assert goes_on.wait(60)

    with ThreadPoolExecutor(7) as pool:
        held = [pool.submit(hold, number) for number in range(3)]
        inside.wait(60)
        counted = [pool.submit(store.counts) for _ in range(4)]
        assert {future.result(60).documents for future in counted} == {3}
        goes_on.set()
        for future in held:
            future.result(60)
    assert store.counts().documents == 3
    assert reads == ["documents"]


def test_counts_follow_every_commit(store: Any, reads: list[str]) -> None:
    """Of the store itself, of another one, and inside a transaction."""
    other = open_store(store.url)
    assert store.counts().documents == other.counts().documents == 3
    store.write([row("d", text="text d")])
    assert store.counts().documents == other.counts().documents == 4
    other.delete(["a", "b"])
    assert store.counts().documents == other.counts().documents == 2
    with store.exclusive():
        store.delete(["d"])
        assert store.counts().documents == 1
        assert other.counts().documents == 2
    assert store.counts().documents == 1
    other.close()


def test_labels_leave_counts_as_they_are(store: Any, reads: list[str]) -> None:
    """Unless another process commits at the same time."""
    store.counts()
    store.labels.relabel({"a": ["hot"]})
    assert store.counts().documents == 3
    assert len(reads) == 1
    other = open_store(store.url)
    with store._file._counts.kept_through(store._file._prepared()):
        other.delete(["a"])
    assert store.counts().documents == 2
    other.delete(["b"])
    store.labels.relabel({"c": ["hot"]})
    assert store.counts().documents == 1
    other.close()


def test_callers_do_not_share_what_they_get(store: Any) -> None:
    store.counts().by_status.clear()
    assert store.counts().by_status == {"complete": 3}


@pytest.mark.parametrize("seed", range(20))
def test_families_are_counted_by_the_names_that_rows_have(store: Any, seed: int) -> None:
    """Also families whose principal is gone, of another family, or named by its own row."""
    chance = random.Random(seed)
    names = [str(number) for number in range(20)]
    store.write([row(name, text=f"text {name}") for name in names])
    chosen = {name: chance.choice([*names, "gone"]) for name in names}
    store.families.assign(
        Assignment(name, family, family == name, 0.9, None) for name, family in chosen.items()
    )
    with store._file.writing() as db:  # as rows of format 3 have it
        db.execute("UPDATE documents SET family = id WHERE family = '' AND id IN ('1', 'c')")
    families = {row.family for row in store.scan()}
    assert store.counts().families == len(families)
