"""nearfold's command line with an account of its own, for fault-injection tests.

    python program.py index FOLDER --store URL ...     one command
    python program.py --serve                          many, each in a process of its own that has nothing left to import

Nothing of the program is changed, but: each extraction and each document that was told to be
indexed is written down in the file that `DRILL_LOG` names, as it happens; and a job takes smaller
batches where `DRILL_BATCH` says how small, so that a small folder has as many steps as a large one.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import sys
from collections.abc import Callable, Iterator
from typing import Any

from indexer.cli import main as cli
from indexer.cli import progress
from indexer.indexing import stages
from indexer.model import FailedBlob, IndexedBlob, Outcome


def prepare() -> None:
    """Set batches and the log from the environment; each command does so for itself."""
    if size := int(os.environ.get("DRILL_BATCH", "0")):
        stages.WRITE_DOCUMENTS = stages.LOOKUP_BATCH = size
    if log := os.environ.get("DRILL_LOG"):
        _write_down(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
    if most := int(os.environ.get("DRILL_FILE_BYTES", "0")):
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))


def _write_down(log: int) -> None:
    extract: Callable[..., Any] = stages.document_or_task

    def extracting(pending: stages.Pending, *rest: Any) -> Any:
        os.write(log, f"extracted {pending.blob.path}\n".encode())
        return extract(pending, *rest)

    def told(outcome: Outcome) -> None:
        if isinstance(outcome, (IndexedBlob, FailedBlob)):
            word = "indexed" if isinstance(outcome, IndexedBlob) else "failed"
            os.write(log, f"{word} {outcome.path}\n".encode())

    @contextlib.contextmanager
    def show_documents(_quiet: bool) -> Iterator[Callable[[Outcome], None]]:
        yield told

    stages.document_or_task = extracting
    progress.show_documents = show_documents


def serve() -> None:
    """Read {argv, environment, out, err} a line; answer a line with the process id, and one with
    its exit status.

    In between a signal may be sent to the process by whoever asked.
    """
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            _run(request)
        print(child, flush=True)
        _, status, used = os.wait4(child, 0)
        print(json.dumps([os.waitstatus_to_exitcode(status), used.ru_maxrss]), flush=True)


def _run(request: dict[str, Any]) -> None:
    os.setsid()
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(request[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - the process ends with it
    os.environ.update(request["environment"])
    sys.argv[1:] = request["argv"]
    code = 70
    try:
        prepare()
        cli.main()
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        sys.exit(serve())
    prepare()
    cli.main()
