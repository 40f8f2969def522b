"""The journal: failures survive, and a second job is refused."""

import subprocess
import sys
from pathlib import Path

import pytest

from indexer.errors import StoreBusy, StoreDamaged
from indexer.jobs import Failure, Journal, journal_path

FAILURE = Failure("a1", "/x/a.pdf", "digest", "iscc-tika/0.6.0", "encrypted")


def test_failures_survive_reopening(tmp_path: Path) -> None:
    with Journal(tmp_path / "jobs") as journal:
        journal.record([FAILURE])
    with Journal(tmp_path / "jobs") as journal:
        assert journal.failures(["a1", "b2"]) == {"a1": FAILURE}
        journal.forget(["a1"])
        assert len(journal) == 0


def test_more_ids_than_one_statement_takes(tmp_path: Path) -> None:
    with Journal(tmp_path / "jobs") as journal:
        journal.record(Failure(f"{n}", "", "", "", "") for n in range(2000))
        assert len(journal.failures([f"{n}" for n in range(2000)])) == 2000


def test_second_job_is_refused_and_told_why(tmp_path: Path) -> None:
    with Journal(tmp_path / "jobs"), pytest.raises(StoreBusy, match="another nearfold job"):
        Journal(tmp_path / "jobs")


def test_lock_dies_with_the_process(tmp_path: Path) -> None:
    path = str(tmp_path / "jobs")
    code = f"import os, pathlib; from indexer.jobs import Journal; held = Journal(pathlib.Path({path!r})); os._exit(9)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    Journal(tmp_path / "jobs").close()


def test_a_file_that_is_no_journal_is_named(tmp_path: Path) -> None:
    (tmp_path / "jobs").write_bytes(b"not a database, certainly not one" * 100)
    with pytest.raises(StoreDamaged, match="jobs"):
        Journal(tmp_path / "jobs")


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
    assert journal_path(url) == path


def test_journals_of_clusters_lie_in_the_state_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    one, other = journal_path("opensearch://localhost:9200/a"), journal_path("opensearch://localhost:9200/b")
    assert one is not None and other is not None
    assert one.parent == tmp_path / "nearfold" == other.parent and one != other
