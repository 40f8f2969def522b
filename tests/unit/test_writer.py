"""Rows of a store that takes one writer are written while the caller goes on, unless they depend on
each other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from sample_rows import row

from indexer.errors import StoreStopped
from indexer.jobs import arrival, stages
from indexer.jobs.index import index
from indexer.jobs.stages import Writer, WriteResult
from indexer.model import Row
from indexer.stores import open_store
from indexer.stores.sqlite.store import SqliteStore


class SlowStore:
    """A store that writes when it may."""

    writers = 1

    def __init__(self) -> None:
        self.may_write = threading.Event()
        self.written: list[str] = []

    def write(self, rows: Sequence[Row]) -> list[str | None]:
        assert self.may_write.wait(10)
        self.written += [row.id for row in rows]
        return [None] * len(rows)


def test_the_caller_goes_on_while_rows_are_written_in_their_order() -> None:
    store = SlowStore()
    with Writer(store) as stages:
        assert list(stages.write([row("a")])) == list(stages.write([row("b")])) == []
        assert stages.has_any(["a", "x"]) and not stages.has_any(["x"])
        store.may_write.set()
        decided = [result.rows[0].id for result in stages.finish()]
    assert decided == store.written == ["a", "b"]


def test_settling_waits_for_what_was_handed_over_and_keeps_its_results() -> None:
    store = SlowStore()
    with Writer(store) as stages:
        list(stages.write([row("a")]))
        threading.Timer(0.05, store.may_write.set).start()
        stages.settle()
        assert store.written == ["a"]
        assert [result.refusals for result in stages.finish()] == [[None]]


def test_settling_ends_with_an_error_where_nothing_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stages, "STALLED_SECONDS", 0.05)
    store = SlowStore()
    with Writer(store) as rows_writer:
        list(rows_writer.write([row("a")]))
        with pytest.raises(StoreStopped, match="no response was complete"):
            rows_writer.settle()
        store.may_write.set()


def test_nothing_is_written_after_an_error() -> None:
    store = SlowStore()
    store.may_write.set()
    with Writer(store) as stages:
        list(stages.write([row("a")]))
        stages.settle()
        store.written = None  # type: ignore[assignment]
        list(stages.write([row("b")]))
        stages.settle()
        store.written = []
        with pytest.raises(TypeError):
            list(stages.write([row("c")]))
        stages.settle()
    assert store.written == []


def test_a_changed_document_waits_for_the_rows_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its family is repaired in the store, which must hold those that joined it by then."""
    folder = tmp_path / "texts"
    folder.mkdir()
    text = "a text of enough words that its copies are found as near duplicates of each other "
    changed = folder / "z.txt"
    changed.write_text(text * 3)
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    index(folder, store)
    changed.write_text("something else that has nothing in common with all of the others here")
    for name in "abc":
        (folder / f"{name}.txt").write_text(text * 3)
    monkeypatch.setattr(stages, "WRITE_DOCUMENTS", 1)
    monkeypatch.setattr(stages, "STALLED_SECONDS", 10.0)
    monkeypatch.setattr(SqliteStore, "write", delayed(SqliteStore.write))
    index(folder, store)
    rows = {row.title: row for row in store.scan()}
    store.close()
    assert rows["z.txt"].family == rows["z.txt"].id
    families = {rows[f"{name}.txt"].family for name in "abc"}
    assert len(families) == 1 and families < {rows[f"{name}.txt"].id for name in "abc"}


def test_each_row_of_a_large_batch_finds_its_principal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look-up returns as many principals as rows may need, however many come together."""
    monkeypatch.setattr(arrival, "WORTH", 0)
    monkeypatch.setattr(arrival, "LOOKED_UP", 1)
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    for folder, last in (("first", "end"), ("second", "close")):
        (tmp_path / folder).mkdir()
        for number in range(12):
            words = " ".join(f"word{number}x{position}" for position in range(60))
            (tmp_path / folder / f"{number}.txt").write_text(f"{words} {last}")
        index(tmp_path / folder, store)
    joined = [row for row in store.scan() if row.family != row.id]
    store.close()
    assert len(joined) == len({row.family for row in joined}) == 12


def test_principals_on_their_way_to_the_store_are_joined_after_others_were_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    text = "a text of enough words that its copies are found as near duplicates of each other "
    for name, content in [("a", text), ("b", "one two three"), ("c", "four five six"), ("d", text)]:
        (folder / f"{name}.txt").write_text(f"{content} {content}")
    may_write = threading.Event()
    write, finish = SqliteStore.write, Writer.finish

    def wait_and_write(store: SqliteStore, rows: Sequence[Row]) -> list[str | None]:
        assert may_write.wait(60)
        return write(store, rows)

    def let_write(stages: Writer) -> Iterator[WriteResult]:
        may_write.set()
        return finish(stages)

    monkeypatch.setattr(stages, "WRITE_DOCUMENTS", 1)
    monkeypatch.setattr(arrival, "REMEMBERED", 2)
    monkeypatch.setattr(SqliteStore, "write", wait_and_write)
    monkeypatch.setattr(Writer, "finish", let_write)
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    index(folder, store)
    rows = {row.title: row for row in store.scan()}
    store.close()
    assert rows["d.txt"].family == rows["a.txt"].id


def delayed(write: Callable[..., list[str | None]]) -> Callable[..., list[str | None]]:
    def late(store: SqliteStore, rows: Sequence[Row]) -> list[str | None]:
        threading.Event().wait(0.05)
        return write(store, rows)

    return late
