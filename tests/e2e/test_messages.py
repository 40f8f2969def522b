"""What the command line says of mistakes: what is wrong, then what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import click
import pytest
from e2e.command import ROOT, run

from indexer.cli import main


class Complaint(Protocol):
    def __call__(self, *words: str, code: int = 2) -> str: ...


@pytest.fixture
def complaint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd) -> Complaint:
    """Return a function that runs a command on a store of two documents and returns its stderr."""
    monkeypatch.setenv("NEARFOLD_STORE", f"sqlite:///{tmp_path}/store.db")
    monkeypatch.chdir(tmp_path)
    examples = [str(path) for path in sorted((ROOT / "examples").glob("*.txt"))[:2]]
    assert main.run(["index", *examples, "--extractor", "plain"]) == 0
    capfd.readouterr()

    def complain(*words: str, code: int = 2) -> str:
        assert main.run(list(words)) == code
        error: str = capfd.readouterr().err
        return error

    return complain


def test_a_file_that_is_no_input_is_described(complaint: Complaint) -> None:
    assert "/dev/null is not a regular file; give a .csv" in complaint("evaluate", "/dev/null")
    assert "give a file that `nearfold backup` wrote" in complaint(
        "restore", str(ROOT / "README.md"), "--replace", code=3
    )


def test_a_backup_that_cannot_be_written_is_refused(complaint: Complaint) -> None:
    assert complaint("backup", "absent/copy.db") == (
        "nearfold: cannot write absent/copy.db: No such file or directory; choose another path "
        "for FILE\n"
    )


def test_a_failed_job_is_logged_only_on_request(complaint: Complaint) -> None:
    assert complaint("label", "--undo", "3") == (
        "nearfold: there is no labelling 3; `nearfold label --history` lists them\n"
    )
    assert "job_ended" in complaint("--log", "text", "label", "--undo", "3")


def test_a_page_after_the_last_one_names_the_last_one(complaint: Complaint, capfd) -> None:
    assert main.run(["search", "", "--limit", "1", "--page", "9"]) == 0
    assert "the last page is --page 2" in capfd.readouterr().out


def test_an_engine_without_an_answer_is_named_by_host_and_port(complaint: Complaint) -> None:
    for engine in ("opensearch", "elasticsearch"):
        error = complaint("status", "--store", f"{engine}://localhost:1/x", code=3)
        assert "localhost:1: " in error and "Connection(" not in error
        assert "check that the server runs" in error


def test_the_nearest_command_is_suggested(complaint: Complaint) -> None:
    assert "No such command 'serach'. Did you mean search?" in complaint("serach")
    assert "mean" not in complaint("frobnicate")


def test_a_label_that_nobody_carries_is_an_error(complaint: Complaint) -> None:
    assert "no document carries the label 'hot'" in complaint("families", "--label", "hot")


def test_one_list_of_status_at_a_time(complaint: Complaint) -> None:
    assert "only one of" in complaint("status", "--jobs", "--failures")


def test_labelling_without_labels_names_the_options(complaint: Complaint) -> None:
    assert "to add (--label) or to remove (--remove)" in complaint("label", "x")


def test_an_unknown_recipe_is_answered_briefly(complaint: Complaint) -> None:
    error = complaint("hash", "store.db", "--recipe", "nonsense")
    assert "choose one of: default, " in error and "docs/schemes.md" in error
    assert len(error) < 160


def test_reindexing_by_the_same_recipe_says_so(complaint: Complaint, capfd) -> None:
    assert main.run(["reindex"]) == 0
    assert "has recipe default_v3 already, and its full text is of today" in capfd.readouterr().out
    assert main.run(["reindex", "--recipe", "default_v1"]) == 0
    assert "2 documents fingerprinted by default_v1" in capfd.readouterr().out


@pytest.mark.parametrize("fold", ["family", "none"])
def test_a_threshold_that_would_be_ignored_is_refused(complaint: Complaint, fold: str) -> None:
    error = complaint("search", "x", "--fold", fold, "--threshold", "0.8")
    assert "belongs to folding by similarity (--fold live) or by type (--fold types)" in error


def test_a_path_without_documents_is_an_error(complaint: Complaint) -> None:
    error = complaint("families", "--path", "/nope")
    assert "no document is at '/nope' or below it" in error


def test_summaries_of_commands_fit_a_terminal_of_80_columns() -> None:
    assert "..." not in run("--help", COLUMNS="80").partition("Commands:")[2]


@pytest.mark.parametrize("name", main.COMMANDS)
def test_every_option_has_a_help_text(name: str) -> None:
    command = main.commands.get_command(click.Context(main.commands), name)
    assert command
    options = [option for option in command.params if isinstance(option, click.Option)]
    assert [option.name for option in options if not option.help] == []
    prints_json = any("--json" in option.opts for option in options)
    assert prints_json == (name not in ("judge", "serve", "roles"))  # as docs/commands.md says


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("match --complete --recall 0.9", "--recall changes nothing with --complete"),
        ("match --complete --cap 5", "--cap changes nothing with --complete"),
        ("match --contained --measure lcs", "--measure changes nothing with --contained"),
        ("match --contained --recall 0.9", "--recall changes nothing with --contained"),
        ("match --seed 3", "--seed changes nothing without --audit"),
        ("match --format csv --json", "--format changes nothing with --json"),
        ("search x --top 5", "--top changes nothing without --fold types"),
        ("search x --fold none --show path", "without folding every hit is shown"),
        ("search x --fold none --measure lcs", "leave --measure out, or fold another way"),
        ("search x --fold types --measure lcs", "leave --measure out, or fold another way"),
        ("plan --false-negative-weight 0.5 --recall 0.9", "--recall changes nothing with"),
        ("group --principal metadata.nope", "no document has metadata.nope, by which --principal"),
    ],
)
def test_options_that_would_be_ignored_are_refused(
    complaint: Complaint, words: str, message: str
) -> None:
    error = complaint(*words.split())
    assert message in error and error.count("\n") == 1


def test_the_same_options_pass_where_they_count(complaint: Complaint) -> None:
    for words in (
        "match --complete", "match --format jsonl --json", "match --contained --cap 5",
        "match --audit 20 --seed 3", "search x --fold types --top 5", "plan --threshold 1",
        "match --threshold 1",
    ):  # fmt: skip
        assert not complaint(*words.split(), code=0).startswith("nearfold: ")


def test_a_store_without_bits_names_the_command_that_adds_them(
    complaint: Complaint, capfd: pytest.CaptureFixture[str]
) -> None:
    texts = [str(path) for path in sorted((ROOT / "examples").glob("*.txt"))[:2]]
    older = ("--store", "sqlite:///older.db")
    index = ["index", *texts, "--extractor", "plain", "--recipe", "default_v2", *older]
    assert main.run(index) == 0
    for words in (["compare", *texts], ["similar", texts[0]]):
        error = complaint(*words, "--measure", "hamming", *older, code=3)
        assert "default_v2 makes no SimHash, which hamming compares" in error
        assert "reindex --recipe default_v3" in error
    assert main.run(["reindex", "--recipe", "default_v3", *older]) == 0
    capfd.readouterr()
    for words in (["compare", *texts], ["similar", texts[0]]):
        assert main.run([*words, "--measure", "hamming", *older]) == 0
    assert "None" not in capfd.readouterr().out
