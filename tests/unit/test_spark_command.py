"""The command line of the Spark job, as far as it goes without Spark."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest

from indexer.cli import main
from indexer.cli.exit_codes import EXIT_USAGE
from indexer.errors import UsageError
from indexer.spark import __main__, deduplicate
from indexer.spark.__main__ import command
from indexer.spark.input_documents import Input, check_local_files
from indexer.system.release import requirement

DOCS = Path(__file__).parent.parent.parent / "docs"


@pytest.mark.parametrize(
    ("program", "page"), [(command, "spark.md"), (deduplicate.command, "dedup.md")]
)
def test_options_are_documented(program: click.Command, page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    options = [option for option in program.params if isinstance(option, click.Option)]
    names = {name for option in options for name in option.opts} - {"--help"}
    assert {name for name in names if f"`{name}" not in text and f" {name} " not in text} == set()


def test_files_that_are_not_parquet_are_refused_before_spark_starts(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    monkeypatch.setattr(__main__, "in_session", lambda _: pytest.fail("Spark was started"))
    (tmp_path / "in" / "sub").mkdir(parents=True)
    (tmp_path / "in" / "_SUCCESS").write_text("no row")
    (tmp_path / "in" / "sub" / "a.txt").write_text("The harbour ferry leaves at eight.")
    for place in (tmp_path / "in", tmp_path / "in" / "*"):
        assert main.run([str(place), "--out", str(tmp_path / "out")], command) == EXIT_USAGE
        assert "holds files that are not parquet; say what they are" in capsys.readouterr().err


def test_parquet_other_places_and_other_formats_are_left_to_spark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    (tmp_path / "b.parquet").touch()
    text = tmp_path / "text.txt"
    for place in (str(tmp_path), "hdfs:///texts", str(tmp_path / "absent")):
        check_local_files(Input(place, "parquet"))
    text.write_text("The harbour ferry leaves at eight.")
    check_local_files(Input(str(text), "text"))
    with pytest.raises(UsageError):
        check_local_files(Input(str(tmp_path), "parquet"))
    monkeypatch.setenv("HADOOP_CONF_DIR", "/etc/hadoop")
    check_local_files(Input(str(tmp_path), "parquet"))


@pytest.mark.long
def test_without_pyspark_it_says_what_to_install() -> None:
    code = (
        "import runpy, sys; sys.modules['pyspark'] = None; "
        "runpy.run_module('indexer.spark', run_name='__main__')"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (2, "")
    hint = f"pip install {requirement('spark')}"
    assert run.stderr == f"nearfold: pyspark is not installed; run: {hint}\n"
