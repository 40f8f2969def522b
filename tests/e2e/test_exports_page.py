"""The commands of docs/exports.md, and options that are refused."""

import re
import shlex
from pathlib import Path

import pytest
from command import ROOT, run, run_json

from indexer.cli import main as cli

PAGE = (ROOT / "docs" / "exports.md").read_text(encoding="utf-8")


def commands(page: str) -> list[list[str]]:
    [block] = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    return [shlex.split(line, comments=True)[1:] for line in block.splitlines()]


@pytest.fixture
def store(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path}/store.db"
    run("index", ROOT / "examples", store=url)
    run("group", store=url)
    page = run_json("search", "agreement", "--fold", "none", store=url)
    run("label", page["hits"][0]["id"], "--label", "responsive", store=url)
    return url


def test_commands_of_the_page(store: str, tmp_path: Path) -> None:
    for words in commands(PAGE):
        printed = run(*words[:-1], tmp_path / words[-1], store=store)
        assert "written to" in printed
        assert (tmp_path / words[-1]).stat().st_size > 100
    batched = run_json(
        "export",
        "--what",
        "batches",
        "--reviewers",
        "Ann, Bo",
        "--out",
        tmp_path / "b.csv",
        store=store,
    )
    assert [load["reviewer"] for load in batched["loads"]] == ["Ann", "Bo"]
    assert sum(load["documents"] for load in batched["loads"]) == batched["records"] == 12
    out = tmp_path / "audited.html"
    audited = [
        "export",
        "--format",
        "html",
        "--audit",
        "30",
        "--threshold",
        "0.9",
        "--out",
        str(out),
        "--store",
        store,
    ]
    assert (cli.run(audited), "at 0.9 or above" in out.read_text(encoding="utf-8")) == (0, True)


@pytest.mark.parametrize(
    "words",
    [
        ("--reviewers", "Ann"),
        ("--threshold", "0.9"),
        ("--date", "2024-05-01"),
        ("--review", "responsive"),
        ("--format", "html", "--what", "pairs"),
        ("--format", "html", "--batch-size", "3"),
        ("--format", "html", "--threshold", "0.9"),
    ],
)
def test_options_without_effect_are_refused(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    called = [
        "export",
        *words,
        "--out",
        str(tmp_path / "out"),
        "--store",
        f"sqlite:///{tmp_path}/none.db",
    ]
    assert (cli.run(called), "leave" in capsys.readouterr().err) == (2, True)
