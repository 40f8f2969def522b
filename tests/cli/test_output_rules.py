"""One rule for what commands print: lists, JSON, errors, exit codes, and nothing else."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command import ROOT, outcome, run, run_json

from indexer.cli.main import COMMANDS

EXAMPLES = ROOT / "examples"
CLEAR = "\x1b[1A\x1b[2K"  # the line of progress
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
PRESS = EXAMPLES / "ferry-press-release.txt"
LISTS = {
    "match": ["match"],
    "families": ["families"],
    "consistency": ["consistency"],
    "passages": ["passages", "--min", "2", "--words", "8"],
    "threads": ["threads", EXAMPLES],
    "duplicates": ["duplicates", "PAIRS"],
    "jobs": ["status", "--jobs"],
    "failures": ["status", "--failures"],
    "history": ["label", "--history"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a store that has groups, labels and a failure, and with equal files."""
    folder = tmp_path_factory.mktemp("output")
    store = f"sqlite:///{folder}/nearfold.db"
    documents = folder / "documents"
    documents.mkdir()
    for number in range(3):
        (documents / f"{number}.docx").write_bytes(b"PK\3\4 damaged")
    run("index", EXAMPLES, documents, store=store, code=1)
    run("group", store=store)
    for label, name in (("hot", PRESS), ("cold", EXAMPLES / "supply-agreement.txt")):
        run("label", name, "--label", label, store=store)
    pairs = folder / "pairs"
    pairs.mkdir()
    for name, size in (("a", 10), ("b", 20), ("c", 30)):
        for copy in range(2):
            (pairs / f"{name}{copy}.bin").write_bytes(name.encode() * size)
    return folder


def words(name: str, folder: Path) -> list[str | Path]:
    return [folder / "pairs" if word == "PAIRS" else word for word in LISTS[name]]


@pytest.mark.parametrize("name", LISTS)
def test_a_list_is_json_lines_and_takes_a_limit(folder: Path, name: str) -> None:
    store = f"sqlite:///{folder}/nearfold.db"
    lines = run(*words(name, folder), "--json", store=store).splitlines()
    items = [json.loads(line) for line in lines]
    assert items and all(isinstance(item, dict) for item in items)
    assert (
        run(*words(name, folder), "--json", "--limit", "1", store=store).splitlines() == lines[:1]
    )


@pytest.mark.parametrize("name", ["match", "families", "duplicates", "jobs"])
def test_a_limited_list_says_how_many_more_there_are(folder: Path, name: str) -> None:
    store = f"sqlite:///{folder}/nearfold.db"
    count = len(run(*words(name, folder), "--json", store=store).splitlines())
    done = outcome(*words(name, folder), "--limit", "1", store=store)
    printed = done.stderr if name == "match" else done.stdout
    assert f"... and {count - 1} more; --limit N lists more" in printed.splitlines()
    assert "more; --limit" not in outcome(*words(name, folder), store=store).stdout


def test_lists_come_best_first(folder: Path) -> None:
    store = f"sqlite:///{folder}/nearfold.db"

    def values(name: str, field: str, *options: str) -> list[float]:
        lines = run(*words(name, folder), *options, "--json", store=store).splitlines()
        return [json.loads(line)[field] for line in lines]

    # lcs has a rank of its own
    similarities = values("match", "similarity", "--measure", "jaccard")
    for numbers in (similarities, values("families", "size")):
        assert numbers == sorted(numbers, reverse=True)
    kept = [Path(str(path)).name for path in values("duplicates", "keep")]
    assert kept == ["c0.bin", "b0.bin", "a0.bin"]


def test_a_terminal_shows_fifty_lines_without_a_trace_of_progress(tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / f"{number}.txt").write_text("the quick brown fox jumps over the lazy dog " * 9)
    store = f"sqlite:///{tmp_path}/nearfold.db"
    run("index", tmp_path, store=store)
    before, cleared, shown = terminal_output("match", store=store).rpartition(CLEAR)
    assert cleared and "1.000\t" not in before
    lines = shown.split("\r\n")
    assert sum(line.startswith("1.000") for line in lines) == 50
    assert "... and 16 more; --limit N lists more" in lines
    assert len(run("match", store=store).splitlines()) == 66


def test_progress_has_a_total_and_fits_eighty_columns(tmp_path: Path) -> None:
    folder = tmp_path / ("a folder with a long name" * 6)
    folder.mkdir()
    for number in range(300):
        (folder / f"{number}.txt").write_text(f"the quick brown fox number {number} " * 20)
    written = terminal_output("index", folder, store=f"sqlite:///{tmp_path}/nearfold.db")
    progress, _, account = written.rpartition(CLEAR)
    frames = [CONTROL.sub("", frame).strip() for frame in progress.split("\r")]
    assert any(" of 300, about " in frame for frame in frames)
    assert max(map(len, frames)) <= 80
    assert "300 indexed" in account


def terminal_output(*arguments: str | Path, store: str) -> str:
    """Return all that a command writes to a terminal of 80 columns."""
    leader, follower = pty.openpty()
    settings = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "indexer", *map(str, arguments)]
    process = subprocess.Popen(
        command, stdout=follower, stderr=follower, env={**settings, "NEARFOLD_STORE": store}
    )
    os.close(follower)
    written = bytearray()
    while True:
        try:
            piece = os.read(leader, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        written += piece
    process.wait(timeout=60)
    os.close(leader)
    return written.decode()


@pytest.mark.parametrize("name", sorted({*COMMANDS} - {"judge", "roles", "serve"}))
def test_every_command_reports_wrong_usage_as_json(name: str) -> None:
    done = outcome(name, "--json", "--no-such-option")
    error = json.loads(done.stderr)
    assert (done.returncode, done.stdout, error["kind"]) == (2, "", "NoSuchOption")


@pytest.mark.parametrize(
    ("arguments", "kind", "code"),
    [
        (["show", "nobody"], "DocumentNotFound", 3),
        (["similar", "--id", "nobody"], "DocumentNotFound", 3),
        (["similar", "nobody.txt"], "SourceNotFound", 2),
        (["match", "--measure", "none"], "BadParameter", 2),
        (["match", "--unknown"], "NoSuchOption", 2),
        (["show"], "MissingParameter", 2),
        (["families", "--store", "sqlite:///absent.db"], "IndexMissing", 3),
    ],
)
def test_an_error_is_one_object_on_stderr(
    folder: Path, arguments: list[str], kind: str, code: int
) -> None:
    done = outcome(*arguments, "--json", store=f"sqlite:///{folder}/nearfold.db")
    assert done.returncode == code
    error = json.loads(done.stderr)
    assert (done.stdout, error["kind"], error["exit_code"]) == ("", kind, code)
    assert error["error"] and "Usage:" not in error["error"]


def test_notes_and_failures_are_objects_on_stderr(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/nearfold.db"
    done = outcome("index", PRESS, "--json", store=store)
    assert [*json.loads(done.stderr)] == ["note"] and json.loads(done.stdout)["indexed"] == 1
    damaged = tmp_path / "damaged.docx"
    damaged.write_bytes(b"PK\3\4")
    done = outcome("hash", PRESS, damaged, "--json")
    [failure] = json.loads(done.stderr)["failed"]
    assert (done.returncode, failure["path"]) == (1, str(damaged))
    assert len(done.stdout.splitlines()) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "nobody"],
        ["versions", "nobody"],
        ["compare", "nobody", PRESS],
        ["similar", "--id", "nobody"],
        ["delete", "nobody"],
        ["label", "nobody", "--label", "x"],
    ],
)
def test_what_is_neither_a_path_nor_an_id_exits_with_three(
    folder: Path, arguments: list[str | Path]
) -> None:
    run(*arguments, store=f"sqlite:///{folder}/nearfold.db", code=3)


@pytest.mark.parametrize("command", ["index", "similar", "check", "hash", "threads", "duplicates"])
def test_a_path_to_be_read_that_is_absent_exits_with_two(folder: Path, command: str) -> None:
    run(command, folder / "absent", store=f"sqlite:///{folder}/nearfold.db", code=2)


def test_check_says_by_its_exit_code_whether_a_text_is_new(folder: Path, tmp_path: Path) -> None:
    store = f"sqlite:///{folder}/nearfold.db"
    new = tmp_path / "new.txt"
    new.write_text("Bees sleep in the dark of the hive, and the keeper counts their frames.")
    changed = tmp_path / "changed.txt"
    changed.write_text(PRESS.read_text("utf-8").replace("eight", "nine").replace("2025", "2026"))
    for path, code in ((new, 0), (PRESS, 10)):
        run("check", path, "--exit-code", store=store, code=code)
        run("check", path, store=store)
    words = ["check", changed, "--review-differences", "--threshold", "0.5", "--review", "0.5"]
    assert run_json(*words, store=store)["verdict"] == "review"
    run(*words, "--exit-code", store=store, code=11)


def test_an_empty_folder_creates_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    store = f"sqlite:///{tmp_path}/nearfold.db"
    account = run_json("index", tmp_path / "empty", store=store)
    assert (account["seen"], account["indexed"]) == (0, 0)
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["doctor"],
        ["status"],
        ["plan"],
        ["compare", PRESS, EXAMPLES / "ferry-news-evening-edition.txt"],
        ["search", "ferry", "--facet", "content_type"],
    ],
)
def test_no_line_of_a_pipe_is_padded(folder: Path, arguments: list[str | Path]) -> None:
    printed = run(*arguments, store=f"sqlite:///{folder}/nearfold.db")
    assert [line for line in printed.splitlines() if line != line.rstrip()] == []


def test_commands_that_notes_recommend_name_the_store(folder: Path, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/nearfold.db"
    run("index", EXAMPLES, folder / "documents", store=store, code=1)
    labelled = run("label", PRESS, "--label", "hot", "--family", store=store)
    deleted = run("delete", PRESS, store=store)
    for command in ("label --undo 1", "group"):
        assert f"`nearfold {command} --store {store}`" in labelled + deleted
