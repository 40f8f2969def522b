"""nearfold's command line with an account of its own, for fault-injection tests.

    python program.py index FOLDER --store URL ...     one command
    python program.py --serve                          many, each forked after all imports

The program is unchanged, except that each extraction, each document reported as indexed and each
delay of a failpoint is written to the file that `JOB_LOG` names, as it happens; that
`JOB_MUTATION` takes a check out (mutations.py); and that `JOB_BATCH` sets the size of batches, so
that a small folder has as many steps as a large one.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mutations
import pytest

from indexer.cli import main, progress
from indexer.jobs import stages
from indexer.model import FailedBlob, IndexedBlob, Outcome
from indexer.system import failpoints

PIPE_BYTES = 1 << 16  # what a pipe takes while nobody reads it


def prepare() -> None:
    """Set batches, log and largest file from the environment, once in each process."""
    size = int(os.environ.get("JOB_BATCH", "0"))
    if size:
        stages.WRITE_DOCUMENTS = stages.LOOKUP_BATCH = size
    if number := os.environ.get(mutations.VARIABLE):
        mutations.take_out(int(number), pytest.MonkeyPatch().setattr)
    log = os.environ.get("JOB_LOG")
    if log:
        _log_events(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
    limit = int(os.environ.get("JOB_FILE_BYTES", "0"))
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))


def _log_events(log: int) -> None:
    extract: Callable[..., Any] = stages.document_or_task

    def log_extraction(pending: stages.Pending, *rest: Any) -> Any:
        os.write(log, f"extracted {pending.blob.path}\n".encode())
        return extract(pending, *rest)

    def log_outcome(outcome: Outcome) -> None:
        if isinstance(outcome, (IndexedBlob, FailedBlob)):
            word = "indexed" if isinstance(outcome, IndexedBlob) else "failed"
            os.write(log, f"{word} {outcome.path}\n".encode())

    def log_pause(seconds: float) -> None:
        os.write(log, f"paused {seconds}\n".encode())
        time.sleep(seconds)

    @contextlib.contextmanager
    def show_documents(_quiet: bool, _count: object) -> Iterator[Callable[[Outcome], None]]:
        yield log_outcome

    stages.document_or_task = log_extraction
    progress.show_documents = show_documents
    failpoints.sleep = log_pause


def serve() -> None:
    """Read {argv, environment, out, err} a line, or {steps, ...} for many commands in one process;
    answer a line with the process id, and one with its exit status.

    Between the two lines the caller may send signals to the process. Modules that a command
    imported are imported here after it ended, so that the next one finds them.
    """
    for line in sys.stdin:
        request = json.loads(line)
        modules, from_child = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(modules)
            _run(request, from_child)
        os.close(from_child)
        print(child, flush=True)
        _, status, used = os.wait4(child, 0)
        print(json.dumps([os.waitstatus_to_exitcode(status), used.ru_maxrss]), flush=True)
        _import_modules(modules)
        os.close(modules)


def _import_modules(source: int) -> None:
    """Import the modules named in a pipe; of a killed process there are none."""
    os.set_blocking(source, False)
    with contextlib.suppress(BlockingIOError):
        for name in os.read(source, PIPE_BYTES).decode().split():
            with contextlib.suppress(ImportError):
                importlib.import_module(name)


def _run(request: dict[str, Any], modules: int) -> None:
    before = set(sys.modules)
    os.setsid()
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(request[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - the process ends with it
    os.environ.update(request["environment"])
    code = 70
    try:
        prepare()
        if "steps" in request:
            _run_steps(request["steps"])
            code = 0
        else:
            sys.argv[1:] = request["argv"]
            main.main()
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os.write(modules, " ".join(sys.modules.keys() - before).encode()[:PIPE_BYTES])
        os._exit(code)


def _run_steps(steps: list[dict[str, Any]]) -> None:
    """Run commands one after the other, and write [exit code, stdout, stderr] a line for each."""
    for step in steps:
        for path, content in step["files"].items():
            file = Path(path)
            if content is None:
                file.unlink(missing_ok=True)
            else:
                file.write_text(content["text"], encoding="utf-8")
                os.utime(file, (content["time"], content["time"]))
        os.environ[failpoints.VARIABLE] = step["failpoints"]
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main.run(step["argv"])
        os.write(1, f"{json.dumps([code, out.getvalue(), err.getvalue()])}\n".encode())


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        sys.exit(serve())
    prepare()
    main.main()
