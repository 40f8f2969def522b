"""The command line of the Spark job, as far as it goes without Spark."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click

from indexer.spark.__main__ import command
from indexer.system.release import requirement

PAGE = (Path(__file__).parent.parent.parent / "docs" / "spark.md").read_text(encoding="utf-8")


def test_options_are_documented() -> None:
    options = [option for option in command.params if isinstance(option, click.Option)]
    names = {name for option in options for name in option.opts} - {"--help"}
    assert {name for name in names if f"`{name}" not in PAGE and f" {name} " not in PAGE} == set()


def test_without_pyspark_it_says_what_to_install() -> None:
    code = (
        "import runpy, sys; sys.modules['pyspark'] = None; "
        "runpy.run_module('indexer.spark', run_name='__main__')"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (2, "")
    hint = f"pip install {requirement('spark')}"
    assert run.stderr == f"nearfold: pyspark is not installed; run: {hint}\n"
