"""Run the command line as a person would: another process, real files, real store."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent


def run(
    *words: str | Path,
    store: str | None = None,
    stdin: str | None = None,
    code: int = 0,
    **environment: str,
) -> str:
    """Stdout of `nearfold WORDS`; fails unless the exit code is `code`. Stderr is in the failure's
    message.
    """
    done = outcome(*words, store=store, stdin=stdin, **environment)
    assert done.returncode == code, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def outcome(
    *words: str | Path, store: str | None = None, stdin: str | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    settings = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "120", **environment}
    if store is not None:
        settings["NEARFOLD_STORE"] = store
    command = [sys.executable, "-m", "indexer", *map(str, words)]
    return subprocess.run(
        command, capture_output=True, text=True, input=stdin, env=settings, check=False, timeout=300
    )


def run_json(
    *words: str | Path, store: str | None = None, stdin: str | None = None, code: int = 0
) -> Any:
    return json.loads(run(*words, "--json", store=store, stdin=stdin, code=code))
