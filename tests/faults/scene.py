"""A folder with a history and stores to damage: the start of most tests on the embedded store, and
their final checks.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from jobs import (
    MEGABYTES,
    PROGRAM,
    ROOT,
    SECONDS,
    JobResult,
    JobRunner,
    copy_store,
    index_command,
    papers,
    revise,
    write,
)
from oracle import (
    check_account,
    check_acknowledged,
    check_no_repeats,
    check_soundness,
    grouped_rows,
    is_searchable,
    read_state,
)

BATCH = {"JOB_BATCH": "7"}


class Scene:
    """A revised folder, a store of its earlier content, and the result of an undisturbed run."""

    def __init__(self, home: Path) -> None:
        self.home, self.jobs, self.copies = home, JobRunner(home), 0
        self.folder, self.base = papers(home / "papers"), home / "base.db"
        assert self.index(self.base).code == 1
        revise(self.folder)
        undisturbed = copy_store(self.base, home / "whole.db")
        assert self.index(undisturbed).code == 1
        self.after = read_state(f"sqlite:///{undisturbed}")
        self.expected = grouped_rows(f"sqlite:///{undisturbed}")

    def command(self, store: Path, *more: str) -> list[str]:
        """Return the words of the command that indexes the folder."""
        return index_command(self.folder, f"sqlite:///{store}", more)

    def index(self, store: Path, *more: str, **environment: str) -> JobResult:
        """Index the folder, in a forked process."""
        return self.jobs.run(*self.command(store, *more), **BATCH, **environment)

    def index_in_new_process(self, store: Path, **environment: str) -> JobResult:
        """Index the folder in a new process, for settings that are read when a process begins."""
        settings = {**os.environ, "PYTHONPATH": str(ROOT), **BATCH, **environment}
        command = [sys.executable, str(PROGRAM), *self.command(store)]
        done = subprocess.run(
            command, env=settings, capture_output=True, text=True, check=False, timeout=SECONDS
        )
        return JobResult(done.returncode, done.stdout, done.stderr, 0)

    def new_store(self, folder: Path | None = None) -> Path:
        """Return a copy of the store as it was before the folder was revised."""
        self.copies += 1
        return copy_store(self.base, (folder or self.home) / f"store{self.copies}.db")

    def check_recovery(self, store: Path, *more: str) -> None:
        """Check after a fault that the store is sound, and that another run ends as if there had
        been none.
        """
        url, log = f"sqlite:///{store}", self.home / f"{store.stem}.log"
        before = read_state(url)
        check_soundness(before)
        check_acknowledged(before, log)
        log.unlink(missing_ok=True)
        job = self.index(store, *more, JOB_LOG=str(log))
        assert job.megabytes < MEGABYTES, "I7"
        after = read_state(url)
        check_account(job, after, self.folder)
        check_soundness(after)
        if "--retry" not in more:
            check_no_repeats(before, after, log)
        assert grouped_rows(url) == self.expected, "I9"
        word = f"freshword{self.copies}"
        write(self.home / f"{word}.txt", f"{word} came after the fault and is found", 1)
        assert self.jobs.run("index", self.home / f"{word}.txt", "--store", url).code == 0
        assert is_searchable(url, word), "I6"
        log.unlink()
