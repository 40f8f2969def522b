"""The journal: stored failures, and refusal of a second job."""

import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from indexer.errors import StoreBusy, StoreDamaged, StoreError
from indexer.stores.address import parse_address
from indexer.stores.journal import (
    Failure,
    Journal,
    job_history,
    journal_path,
    record_job,
    stored_failures,
)

FAILURE = Failure("a1", "/x/a.pdf", "digest", "iscc-tika/0.6.0", "encrypted")


def test_failures_survive_reopening(tmp_path: Path) -> None:
    with Journal(tmp_path / "jobs") as journal:
        journal.record([FAILURE])
    with Journal(tmp_path / "jobs") as journal:
        failures = journal.failures(["a1", "b2"])
        assert {id: replace(failure, at=None) for id, failure in failures.items()} == {
            "a1": FAILURE
        }
        journal.forget(["a1"])
        assert len(journal) == 0


def test_more_ids_than_one_statement_takes(tmp_path: Path) -> None:
    with Journal(tmp_path / "jobs") as journal:
        journal.record(Failure(f"{n}", "", "", "", "") for n in range(2000))
        assert len(journal.failures([f"{n}" for n in range(2000)])) == 2000


def test_a_second_job_is_refused_with_the_reason(tmp_path: Path) -> None:
    with Journal(tmp_path / "jobs"), pytest.raises(StoreBusy, match="another nearfold process"):
        Journal(tmp_path / "jobs")


def test_lock_dies_with_the_process(tmp_path: Path) -> None:
    path = str(tmp_path / "jobs")
    code = (
        "import os, pathlib; from indexer.stores.journal import Journal; "
        f"journal = Journal(pathlib.Path({path!r})); os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    Journal(tmp_path / "jobs").close()


def test_a_file_that_is_no_journal_is_named(tmp_path: Path) -> None:
    (tmp_path / "jobs").write_bytes(b"not a database, certainly not one" * 100)
    with pytest.raises(StoreDamaged, match="jobs"):
        Journal(tmp_path / "jobs")


def test_what_is_no_file_or_that_of_another_program_is_neither_waited_for_nor_written(
    tmp_path: Path,
) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    with closing(sqlite3.connect(tmp_path / "theirs")) as db, db:
        db.execute("CREATE TABLE failure (x)")
        db.execute("CREATE TABLE theirs (x)")
    before = (tmp_path / "theirs").read_bytes()
    for name, message in (
        ("fifo", "not a regular file"),
        ("folder", "not a regular file"),
        ("theirs", "another program"),
    ):
        for opens in (Journal, stored_failures):
            with pytest.raises(StoreError, match=message):
                opens(tmp_path / name)
    assert (tmp_path / "theirs").read_bytes() == before


def test_damage_is_named_without_what_it_hit(tmp_path: Path) -> None:
    with Journal(tmp_path / "jobs") as journal:
        journal.record([replace(FAILURE, error="a secret clause")])
    torn = (tmp_path / "jobs").read_bytes().replace(b"a secret clause", b"a secret \xff\xffause")
    (tmp_path / "jobs").write_bytes(torn)
    with pytest.raises(StoreDamaged, match="UTF-8") as caught:
        stored_failures(tmp_path / "jobs")
    assert "secret" not in str(caught.value)


def test_a_row_that_makes_no_sense_is_damage(tmp_path: Path) -> None:
    with Journal(tmp_path / "jobs") as journal, record_job(journal, "index"):
        pass
    with closing(sqlite3.connect(tmp_path / "jobs")) as db, db:
        db.execute("UPDATE job SET counts = '{torn'")
    with pytest.raises(StoreDamaged, match="move it away"):
        job_history(tmp_path / "jobs")


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///nearfold.db", Path("nearfold.db.jobs")),
        ("sqlite:////var/x.db", Path("/var/x.db.jobs")),
        ("sqlite:///~/x.db", Path.home() / "x.db.jobs"),
        ("sqlite:///:memory:", None),
        ("sqlite://:memory:", None),
        ("sqlite://", None),
    ],
)
def test_where_the_journal_of_an_embedded_store_lies(url: str, path: Path | None) -> None:
    assert journal_path(parse_address(url)) == path


def test_journals_of_clusters_lie_in_the_state_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    of_a, of_b = (
        journal_path(parse_address("opensearch://localhost:9200/a")),
        journal_path(parse_address("opensearch://localhost:9200/b")),
    )
    assert of_a is not None and of_b is not None
    assert of_a.parent == tmp_path / "nearfold" == of_b.parent and of_a != of_b


def test_a_failure_is_stored_with_its_time(tmp_path: Path) -> None:
    before = time.time()
    with Journal(tmp_path / "jobs") as journal:
        journal.record([FAILURE])
        failure = journal.failures(["a1"])["a1"]
    assert failure.at is not None and before <= failure.at <= time.time()
    assert stored_failures(tmp_path / "jobs") == (failure,)


def test_a_journal_without_times_can_be_read_and_written(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "jobs")) as old:
        old.execute(
            "CREATE TABLE failure (id TEXT PRIMARY KEY, path TEXT NOT NULL, source TEXT NOT NULL, "
            "extractor TEXT NOT NULL, error TEXT NOT NULL) WITHOUT ROWID"
        )
        old.execute(
            "INSERT INTO failure VALUES ('a1', '/x/a.pdf', 'digest', 'iscc-tika/0.6.0', "
            "'encrypted')"
        )
        old.commit()
    assert stored_failures(tmp_path / "jobs") == (FAILURE,)
    with Journal(tmp_path / "jobs") as journal:
        assert journal.failures(["a1"]) == {"a1": FAILURE}
        journal.record([replace(FAILURE, id="b2")])
    failures = stored_failures(tmp_path / "jobs")
    assert failures is not None and [failure.at is None for failure in failures] == [True, False]
