"""The commands of docs/evaluation.md print what the page says."""

import json
import os
import shutil
from pathlib import Path

import pytest
from command import ROOT, shell
from page_blocks import blocks

from indexer.cli.main import run

BLOCKS = blocks("docs/evaluation.md")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example files, in place and in a folder `examples`."""
    place = tmp_path_factory.mktemp("evaluation")
    shutil.copytree(ROOT / "examples", place / "examples")
    shutil.copytree(ROOT / "examples", place, dirs_exist_ok=True)
    return place


def test_intervals_are_whole_on_a_narrow_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "50")
    Path("narrow.csv").write_text("a,b,type\nferry-press-release.txt,ferry-web-page.html,fuzzy\n")
    assert run(["evaluate", "narrow.csv"]) == 0
    printed = capsys.readouterr().out
    assert "100.0 to 100.0" in printed and "sets captured" in printed and "…" not in printed


def test_an_audit_as_json(folder: Path) -> None:
    shell("nearfold index examples", folder)
    printed = shell("nearfold match --threshold 0.8 --audit 30 --json 2>&1 > /dev/null", folder)
    audit = json.loads(printed)["audit"]
    assert (audit["recall"], audit["right"], audit["missed"]) == (1.0, 4.0, 0.0)
    assert sum(stratum["size"] for stratum in audit["strata"]) == 9 * 8 // 2


def test_wrong_arguments_are_refused_with_a_remedy(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    (folder / "bad.csv").write_text("a,b,type\nferry-press-release.txt,none.txt,fuzzy\n")
    pair = "ferry-press-release.txt,ferry-web-page.html,fuzzy\n"
    (folder / "good.csv").write_text(f"a,b,type\n{pair}")
    (folder / "one.csv").write_text(f"a,b,judgement\n{pair}")
    (folder / "two.csv").write_text(
        "a,b,judgement,assessor\nsupply-agreement.txt,other.txt,fuzzy,x\nother.txt,supply-agreement.txt,different,y\n"
    )
    (folder / "words.txt").write_text("vessel = ferry\n")
    for words, message in (
        (("evaluate", "bad.csv"), "'none.txt': "),
        (("evaluate", "nothing.csv"), "nothing.csv does not exist"),
        (("evaluate", "good.csv", "good.csv"), "one gold set"),
        (("evaluate", "good.csv", "--synonyms", "words.txt"), "give --types too"),
        (("judge", ".", "--assessor", "x"), "is a folder"),
        (("judge", "good.csv", "--assessor", "a/b"), "cannot be part of a file name"),
        (("judge", "good.csv", "--assessor", "x", "--arbitrate", "one.csv"), "two assessors"),
        (
            ("judge", "good.csv", "--assessor", "x", "--arbitrate", "two.csv"),
            "1 are not among the pairs given, such as other.txt",
        ),
    ):
        assert (run(list(words)), message in capsys.readouterr().err) == (2, True), words
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(
        os, "getuid", lambda: 2**31 - 7, raising=False
    )  # nobody's, as in a container
    assert (run(["judge", "good.csv"]), "give --assessor" in capsys.readouterr().err) == (2, True)
