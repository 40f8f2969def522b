"""Run the command line with real files and a real store, in this process or another."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from forked_commands import bash_function, client_command

from indexer.cli.main import run as run_command

ROOT = Path(__file__).parent.parent.parent
OF_PYTHON = ("PYTHON", "LANG", "LC_")


def run(
    *words: str | Path,
    store: str | None = None,
    stdin: str | None = None,
    code: int = 0,
    **environment: str,
) -> str:
    """Return the stdout of `nearfold WORDS`, run in this process; fail for another exit code.

    `outcome` starts a process of its own: for tests of stderr, signals, files that are missing or
    limits of the system.
    """
    settings = {"COLUMNS": "120", **environment}
    if store is not None:
        settings["NEARFOLD_STORE"] = store
    with CliRunner().isolation(stdin, settings) as (out, err, *_):
        exit_code = run_command(list(map(str, words)))
        sys.stdout.flush()
        sys.stderr.flush()
        printed, complaints = out.getvalue().decode(), err.getvalue().decode()
    assert exit_code == code, f"exit {exit_code}\n{printed}\n{complaints}"
    return printed


def outcome(
    *words: str | Path, store: str | None = None, stdin: str | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run `nearfold WORDS` in a process of its own, a new one if Python is to start otherwise."""
    settings = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "120", **environment}
    if store is not None:
        settings["NEARFOLD_STORE"] = store
    is_new = any(name.startswith(OF_PYTHON) for name in environment)
    program = [sys.executable, "-m", "indexer"] if is_new else client_command()
    command = [*program, *map(str, words)]
    return subprocess.run(
        command, capture_output=True, text=True, input=stdin, env=settings, check=False, timeout=300
    )


def run_json(
    *words: str | Path, store: str | None = None, stdin: str | None = None, code: int = 0
) -> Any:
    return json.loads(run(*words, "--json", store=store, stdin=stdin, code=code))


def page_environment(folder: Path) -> dict[str, str]:
    """Return the environment of this checkout, with the store and journal of the test."""
    store, state = f"sqlite:///{folder}/nearfold.db", str(folder / "state")
    return {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "NO_COLOR": "1",
        "COLUMNS": "120",
        "NEARFOLD_STORE": store,
        "XDG_STATE_HOME": state,
    }


def shell(line: str, folder: Path, code: int = 0, **environment: str) -> str:
    """Return what a block of commands prints in a folder; fail unless its exit code is `code`."""
    script = f"set -eo pipefail\n{bash_function()}\n{line}"
    process = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={**page_environment(folder), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert process.returncode == code, f"{line}\n{process.stdout}\n{process.stderr}"
    return process.stdout
