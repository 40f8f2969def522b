"""Files of every format so far are opened and used; a newer one is refused; an upgrade that is
killed is continued.
"""

import os
import shutil
import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from forked_commands import client_command

from indexer.comparing.criteria import Criteria
from indexer.errors import StoreError
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.jobs.index import index
from indexer.jobs.label import history
from indexer.model import Query
from indexer.searching.similar import SimilarOptions, similar
from indexer.stores import open_store
from indexer.stores.address import parse_address
from indexer.stores.journal import FORMAT as JOURNAL_FORMAT
from indexer.stores.journal import Journal, journal_path, stored_failures
from indexer.stores.sqlite.file_format import FORMAT

FIXTURES = Path(__file__).parent.parent / "data" / "formats"
ROOT = Path(__file__).parent.parent.parent
FORMATS = range(1, FORMAT + 1)
LEASES = {"/srv/papers/lease-2023.txt", "/srv/papers/lease-2024.txt"}


KEYS_MOVED = 5  # the format whose keys an upgrade moves in commits of its own


def copy_store(number: int, folder: Path) -> Path:
    for file in FIXTURES.glob(f"format-{number}.db*"):
        shutil.copy(file, folder / file.name)
    return folder / f"format-{number}.db"


def format_of(file: Path) -> int:
    with closing(sqlite3.connect(file)) as db:
        return db.execute("PRAGMA user_version").fetchone()[0]


@pytest.mark.parametrize("number", FORMATS)
def test_there_is_a_file_of_every_format(number: int, tmp_path: Path) -> None:
    file = copy_store(number, tmp_path)  # opening the stored one makes files that others would copy
    assert format_of(file) == number
    assert file.stat().st_size < 100_000


@pytest.mark.parametrize("number", FORMATS)
def test_a_file_of_every_format_is_upgraded_and_used(number: int, tmp_path: Path) -> None:
    file = copy_store(number, tmp_path)
    store = open_store(f"sqlite:///{file}")
    rows = list(store.scan())
    assert format_of(file) == FORMAT
    assert {row.status for row in rows} == {"complete", "too_short"}
    assert {hit.path for hit in store.search(Query("warehouse")).hits} == LEASES
    assert {hit.path.rpartition("/")[2] for hit in store.search(Query("満潮")).hits} == {"tide.txt"}
    assert {row.path for row in rows if row.family != row.id} < LEASES
    lease = next(row for row in rows if row.path.endswith("2023.txt"))
    assert [
        match.path
        for match in similar(store, options=SimilarOptions(threshold=0.8), id=lease.id).matches
    ] == sorted(LEASES - {lease.path})
    assert group(store, GroupOptions(criteria=Criteria(policy="loose"))).largest == 2
    (tmp_path / "new.txt").write_text(
        "A tug waits for the tide at the harbour, and for two barges that are late again."
    )
    assert index([str(tmp_path / "new.txt")], store, workers=1).indexed == 1
    assert store.counts().documents == 6
    store.close()


@pytest.mark.parametrize("number", FORMATS)
def test_a_journal_of_every_format_is_upgraded_and_used(number: int, tmp_path: Path) -> None:
    path = journal_path(parse_address(f"sqlite:///{copy_store(number, tmp_path)}"))
    assert path is not None
    assert [Path(record.path).name for record in stored_failures(path) or ()] == ["broken.docx"]
    with Journal(path) as journal:
        (failure,) = journal
        journal.record([failure])
    assert format_of(path) == JOURNAL_FORMAT
    assert [record.id for record in stored_failures(path) or ()] == [failure.id]
    assert [record.added for record in history(path)] == ([("lease",)] if number >= 3 else [])


def test_a_newer_file_is_refused_and_says_what_to_do(tmp_path: Path) -> None:
    file = copy_store(FORMAT, tmp_path)
    with closing(sqlite3.connect(file)) as db:
        db.execute(f"PRAGMA user_version = {FORMAT + 1}")
    before = file.read_bytes()
    store = open_store(f"sqlite:///{file}")
    with pytest.raises(StoreError, match="upgrade nearfold"):
        store.counts()
    store.close()
    assert file.read_bytes() == before


def test_a_newer_journal_is_refused_and_says_what_to_do(tmp_path: Path) -> None:
    path = journal_path(parse_address(f"sqlite:///{copy_store(FORMAT, tmp_path)}"))
    assert path is not None
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {JOURNAL_FORMAT + 1}")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="upgrade nearfold"):
        Journal(path)
    with pytest.raises(StoreError, match="newer nearfold"):
        stored_failures(path)
    assert path.read_bytes() == before


@pytest.mark.long
@pytest.mark.parametrize(
    ("point", "number"),
    [
        (point, number)
        for point in ("before_commit", "after_commit", "before_commit:2", "before_commit:3")
        for number in FORMATS[:-1]
        if number < KEYS_MOVED or ":" not in point
    ],
)
def test_an_upgrade_that_is_killed_is_continued(number: int, point: str, tmp_path: Path) -> None:
    file = copy_store(number, tmp_path)
    words = [*client_command(), "status", "--store", f"sqlite:///{file}"]
    killed = subprocess.run(
        words, cwd=ROOT, env={**os.environ, "NEARFOLD_FAILPOINTS": f"{point}=kill"}, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    assert format_of(file) == (number if point == "before_commit" else FORMAT)
    with closing(sqlite3.connect(file)) as db:
        assert db.execute(
            "SELECT count(*) FROM documents JOIN texts USING (number)"
        ).fetchone() == (5,)
        assert db.execute(
            "SELECT count(*) FROM fulltext WHERE fulltext MATCH 'warehouse'"
        ).fetchone() == (2,)
    assert subprocess.run(words, cwd=ROOT, check=False, capture_output=True).returncode == 0
    assert format_of(file) == FORMAT
    with closing(open_store(f"sqlite:///{file}")) as store:
        assert store.maintenance.inconsistencies() == ()
