"""What the command line says of mistakes: what is wrong, then what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import pytest
from e2e.command import ROOT

from indexer.cli import main as cli


class Complaint(Protocol):
    def __call__(self, *words: str, code: int = 2) -> str: ...


@pytest.fixture
def complaint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd) -> Complaint:
    """Return a function that runs a command on a store of two documents and returns its stderr."""
    monkeypatch.setenv("NEARFOLD_STORE", f"sqlite:///{tmp_path}/store.db")
    monkeypatch.chdir(tmp_path)
    examples = [str(path) for path in sorted((ROOT / "examples").glob("*.txt"))[:2]]
    assert cli.run(["index", *examples, "--extractor", "plain"]) == 0
    capfd.readouterr()

    def run(*words: str, code: int = 2) -> str:
        assert cli.run(list(words)) == code
        error: str = capfd.readouterr().err
        return error

    return run


def test_a_file_that_is_no_input_is_described(complaint: Complaint) -> None:
    assert "/dev/null is not a regular file; give a .csv" in complaint("evaluate", "/dev/null")
    assert "give a file that `nearfold backup` wrote" in complaint(
        "restore", str(ROOT / "README.md"), "--replace", code=3
    )


def test_a_backup_that_cannot_be_written_is_refused(complaint: Complaint) -> None:
    assert complaint("backup", "absent/copy.db") == (
        "nearfold: cannot write absent/copy.db: No such file or directory; "
        "give FILE another place\n"
    )


def test_a_failed_job_is_logged_only_on_request(complaint: Complaint) -> None:
    assert complaint("label", "--undo", "3") == (
        "nearfold: there is no labelling 3; `nearfold label --history` lists them\n"
    )
    assert "job_ended" in complaint("--log", "text", "label", "--undo", "3")
