"""The rules for subjects of commits, and a checkout without history."""

import subprocess
from pathlib import Path

import pytest
import subjects


@pytest.mark.parametrize("subject", ["Fix a search", "Keeper of keys", "Rename " + "x" * 65])
def test_a_good_subject_has_no_problem(subject: str) -> None:
    assert subjects.problems_of(f"1a2b3c4 {subject}") == []


@pytest.mark.parametrize("subject", ["Let a search fail", "Tell why", "Rename " + "x" * 66])
def test_a_bad_subject_is_named_by_its_commit(subject: str) -> None:
    [problem] = subjects.problems_of(f"1a2b3c4 {subject}")
    assert problem.startswith("1a2b3c4: ")


def test_only_commits_since_the_base_are_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(subjects, "ROOT", tmp_path)
    assert subjects.check() == 0 and "not checked" in capsys.readouterr().out
    _git(tmp_path, "init", "--quiet")
    _commit(tmp_path, "Let the first be")
    monkeypatch.setattr(subjects, "BASE", _git(tmp_path, "rev-parse", "HEAD").strip())
    _commit(tmp_path, "Add a second")
    assert subjects.check() == 0
    _commit(tmp_path, "Keep a third")
    assert subjects.check() == 1
    assert 'do not begin with "Keep"' in capsys.readouterr().out


def _commit(folder: Path, subject: str) -> None:
    author = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    _git(folder, *author, "commit", "--quiet", "--allow-empty", "--message", subject)


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
