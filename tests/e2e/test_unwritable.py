"""A command that cannot write its file, or would replace one, fails first: exit code 2, and no
files are left.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from e2e.command import ROOT, outcome, run

from indexer import export, open_store
from indexer.cli import main
from indexer.errors import UsageError
from indexer.system.files import check_output_path, write_whole

EXAMPLES = ROOT / "examples"
COMMANDS = {
    "match": ["match", "--out"],
    "match, Parquet": ["match", "--format", "parquet", "--out"],
    "export": ["export", "--out"],
    "export, Parquet": ["export", "--format", "parquet", "--what", "pairs", "--out"],
    "export, report": ["export", "--format", "html", "--out"],
    "threads": ["threads", EXAMPLES, "--format", "csv", "--out"],
    "evaluate": ["evaluate", EXAMPLES / "gold.csv", "--report"],
    "compare": [
        "compare",
        EXAMPLES / "ferry-press-release.txt",
        EXAMPLES / "supply-agreement.txt",
        "--html",
    ],
    "plan": ["plan", "--picture"],
    "hash": [
        "hash",
        EXAMPLES / "supply-agreement.txt",
        "--recipe",
        "clauses",
        "--statistics",
        EXAMPLES,
        "--save-statistics",
    ],
    "install": ["install", "--dashboards"],
}


@pytest.fixture
def store(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path}/index.db"
    run("index", EXAMPLES / "supply-agreement.txt", "--extractor", "plain", store=url)
    return url


@pytest.mark.parametrize("command", COMMANDS)
def test_an_unwritable_path_is_refused_first(
    command: str, tmp_path: Path, monkeypatch, capfd
) -> None:
    """The check precedes the opening of the store, whose absence has another exit code."""
    monkeypatch.setenv("NEARFOLD_STORE", "opensearch://127.0.0.1:9/papers")
    (tmp_path / "file").write_text("a file is no folder")
    for place in (tmp_path / "absent" / "out", tmp_path / "file" / "out", tmp_path):
        assert main.run([*map(str, COMMANDS[command]), str(place)]) == 2
        output = capfd.readouterr()
        assert str(place) in output.err and not output.out and "Traceback" not in output.err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


TABLES = {"evaluate, tables": ["evaluate", EXAMPLES / "gold.csv", "--tables"]}


@pytest.mark.parametrize("command", sorted({*COMMANDS, *TABLES} - {"install"}))
def test_a_file_that_exists_is_replaced_only_when_asked(
    command: str, tmp_path: Path, monkeypatch, capfd
) -> None:
    """The check precedes the opening of the store, whose absence has another exit code."""
    monkeypatch.setenv("NEARFOLD_STORE", "opensearch://127.0.0.1:9/papers")
    out = tmp_path / "out"
    taken = out
    if command in TABLES:
        out.mkdir()
        taken = out / "sizes.csv"
    taken.write_text("mine")
    assert main.run([*map(str, (COMMANDS | TABLES)[command]), str(out)]) == 2
    error = capfd.readouterr().err
    assert f"{taken} exists" in error and "--replace" in error
    assert taken.read_text() == "mine"


@pytest.mark.parametrize("command", ["match", "export"])
def test_a_manifest_that_exists_is_replaced_only_when_asked(
    command: str, store: str, tmp_path: Path
) -> None:
    out, manifest = tmp_path / "out", tmp_path / "out.manifest.json"
    manifest.write_text("mine")
    refused = outcome(command, "--out", out, store=store)
    assert refused.returncode == 2 and f"{manifest} exists" in refused.stderr
    assert manifest.read_text() == "mine" and not out.exists()
    for _ in range(2):
        run(command, "--out", out, "--replace", store=store)
    assert out.exists() and manifest.read_text() != "mine"


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("before")
    with pytest.raises(UsageError, match="No space left"), write_whole(out) as part:
        part.write_text("half")
        raise OSError(28, "No space left on device")
    assert out.read_text() == "before" and [path.name for path in tmp_path.iterdir()] == ["out"]
    with write_whole(out) as part:
        part.write_text("after")
    assert out.read_text() == "after" and [path.name for path in tmp_path.iterdir()] == ["out"]


def test_devices_and_links_are_written_to_and_not_replaced(store: str, tmp_path: Path) -> None:
    assert run("match", "--out", os.devnull, store=store) == ""
    assert not Path(os.devnull).is_file()
    for target in (tmp_path / "table.csv", Path("/proc/self/fd/1")):
        link = tmp_path / "link"
        link.unlink(missing_ok=True)
        (tmp_path / "table.csv").touch()
        link.symlink_to(target)
        printed = outcome("export", "--out", link, store=store).stdout
        assert link.is_symlink()
        assert "supply-agreement.txt" in (
            printed if target.parent.name == "fd" else target.read_text(encoding="utf-8")
        )


def test_names_as_long_as_a_file_system_takes(tmp_path: Path) -> None:
    out = tmp_path / ("n" * 255)
    check_output_path(out, replace=False)
    with write_whole(out) as part:
        part.write_text("whole")
    assert out.read_text() == "whole"


def test_export_from_python_is_refused_first(tmp_path: Path) -> None:
    store = open_store("sqlite://:memory:")
    with pytest.raises(UsageError, match="choose another path for --out"):
        export(store, tmp_path / "absent" / "x.csv")
    store.close()


def test_two_processes_that_write_one_file_do_not_take_each_others_parts(tmp_path: Path) -> None:
    out = tmp_path / "pairs.csv"
    writer = (
        "import sys; from pathlib import Path; from indexer.system.files import write_whole\n"
        "with write_whole(Path(sys.argv[1])) as part: part.write_text('theirs')"
    )
    with write_whole(out) as part:
        part.write_text("ours")
        subprocess.run([sys.executable, "-c", writer, out], cwd=ROOT, check=True)
        assert out.read_text() == "theirs"
    assert out.read_text() == "ours"
    assert [file.name for file in tmp_path.iterdir()] == ["pairs.csv"]
