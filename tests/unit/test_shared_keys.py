"""The rows of a SQLite file that share most keys, and the count of rows that hot keys go by."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_rows import row

from indexer.recipe import DEFAULT
from indexer.stores import open_store
from indexer.stores.sqlite import candidates
from indexer.stores.sqlite.connections import Connection, ReadCache, open_connection
from indexer.stores.sqlite.rows import known_count

PATHS = st.lists(st.sampled_from(["", "/a", "/a/é", "/b", "/c"]), min_size=1, max_size=12)


@contextmanager
def documents(paths: list[str]) -> Iterator[Connection]:
    """Give a database of documents with these paths, whose ids fall as their numbers rise, and
    which have as many words as their number.
    """
    db = open_connection(":memory:", (), 1)
    db.execute("CREATE TABLE documents (number INTEGER PRIMARY KEY, id, path TEXT, words, parent)")
    db.execute("CREATE INDEX documents_by_path ON documents (path)")
    db.execute("CREATE INDEX documents_by_parent ON documents (parent) WHERE parent IS NOT NULL")
    last = len(paths)
    rows = [(number, f"{last - number:02}", path, number) for number, path in enumerate(paths, 1)]
    db.executemany("INSERT INTO documents VALUES (?, ?, ?, ?, NULL)", rows)
    yield db
    db.close()


@pytest.mark.long
@given(paths=PATHS, data=st.data())
@pytest.mark.parametrize("at_once", [1, 3, 100])
def test_first_rows_by_path_and_id(paths: list[str], at_once: int, data: st.DataObject) -> None:
    with documents(paths) as db:
        every = range(1, len(paths) + 1)
        chosen = sorted(data.draw(st.sets(st.sampled_from(every), min_size=1)))
        count = data.draw(st.integers(1, len(chosen)))
        numbers = np.array(chosen)
        expected = sorted(chosen, key=lambda number: (paths[number - 1].encode(), -number))[:count]
        assert sorted(candidates.first_by_path(db, numbers, count)) == sorted(expected)
        cache = ReadCache()
        for _ in range(2):  # the second time the index is not read again
            in_index = candidates._first_in_index(db, cache, numbers, count, at_once)
            assert sorted(in_index.tolist()) == sorted(expected)


@pytest.mark.parametrize("more", [2, 3, 100])
@given(paths=PATHS, data=st.data())
def test_first_rows_of_some_lengths(paths: list[str], more: int, data: st.DataObject) -> None:
    every = range(1, len(paths) + 1)
    shared = [data.draw(st.integers(1, 3)) for _ in every]
    limit, fewest = data.draw(st.integers(0, 12)), data.draw(st.integers(1, 12))
    most = fewest + data.draw(st.integers(0, 6))

    def order(number: int) -> tuple[int, bytes, int]:
        return -shared[number - 1], paths[number - 1].encode(), -number

    within = sorted((number for number in every if fewest <= number <= most), key=order)
    with documents(paths) as db, pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "_MORE", more)
        numbers = candidates._first_of_lengths(
            db, np.array(every), np.array(shared), limit, (fewest, most)
        )
    assert sorted(numbers.tolist(), key=order) == within[: len(numbers)]
    assert len(numbers) > limit or len(numbers) == len(within)


@pytest.mark.parametrize("sparse", [0, 1_000])
@given(st.lists(st.lists(st.integers(1, 99), unique=True), min_size=1), st.integers(1, 4))
def test_rows_that_share_enough_keys(sparse: int, carriers: list[list[int]], least: int) -> None:
    counts = Counter(number for rows in carriers for number in rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "_SPARSE", sparse)
        arrays = [np.array(rows, dtype=np.int32) for rows in carriers]
        numbers, shared = candidates.count_shared(arrays, least)
    expected = sorted((number, count) for number, count in counts.items() if count >= least)
    assert list(zip(numbers.tolist(), shared.tolist(), strict=True)) == expected


def test_the_count_of_rows_follows_changes_of_every_connection(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/index.db"
    ours, theirs = open_store(url), open_store(url)
    ours.prepare(DEFAULT)

    def counted() -> int:
        with ours._file.reader() as db:
            return known_count(db, "documents")

    assert counted() == 0
    ours.write([row("a"), row("b")])
    assert counted() == counted() == 2
    theirs.write([row("c")])
    assert counted() == 3
    theirs.maintenance.backup(f"{tmp_path}/copy.db", replace=False)
    ours.delete(["a", "b"])
    assert counted() == 1
    ours.maintenance.restore(f"{tmp_path}/copy.db")
    assert counted() == 3
    ours.close()
    theirs.close()
