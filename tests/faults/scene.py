"""A folder with a history and stores to damage: the start of most tests on the embedded store, and
their final checks.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from drill import (
    MEGABYTES,
    PROGRAM,
    ROOT,
    SECONDS,
    Ended,
    Jobs,
    copied,
    index_words,
    papers,
    revised,
    write,
)
from oracle import alive, conserved, economical, grouped, kept, sound, standing

BATCH = {"DRILL_BATCH": "7"}


class Scene:
    """A revised folder, a store of its earlier content, and the result of an undisturbed run."""

    def __init__(self, home: Path) -> None:
        self.home, self.jobs, self.drills = home, Jobs(home), 0
        self.folder, self.base = papers(home / "papers"), home / "base.db"
        assert self.index(self.base).code == 1
        revised(self.folder)
        whole = copied(self.base, home / "whole.db")
        assert self.index(whole).code == 1
        self.after = standing(f"sqlite:///{whole}")
        self.expected = grouped(f"sqlite:///{whole}")

    def words(self, store: Path, *more: str) -> list[str]:
        """Return the command that indexes the folder."""
        return index_words(self.folder, f"sqlite:///{store}", more)

    def index(self, store: Path, *more: str, **environment: str) -> Ended:
        """Run that command to its end."""
        return self.jobs.run(*self.words(store, *more), **BATCH, **environment)

    def fresh(self, store: Path, **environment: str) -> Ended:
        """Run it in a new process, not a forked one, for settings that are read when a process
        begins.
        """
        settings = {**os.environ, "PYTHONPATH": str(ROOT), **BATCH, **environment}
        command = [sys.executable, str(PROGRAM), *self.words(store)]
        done = subprocess.run(
            command, env=settings, capture_output=True, text=True, check=False, timeout=SECONDS
        )
        return Ended(done.returncode, done.stdout, done.stderr, 0)

    def begun(self, folder: Path | None = None) -> Path:
        """Return a copy of the store as it was before the folder was revised."""
        self.drills += 1
        return copied(self.base, (folder or self.home) / f"drill{self.drills}.db")

    def mended(self, store: Path, *more: str) -> None:
        """Check after a fault that the store is sound, and that another run ends as if nothing had
        happened.
        """
        url, log = f"sqlite:///{store}", self.home / f"{store.stem}.log"
        before = standing(url)
        sound(before)
        kept(before, log)
        log.unlink(missing_ok=True)
        job = self.index(store, *more, DRILL_LOG=str(log))
        assert job.megabytes < MEGABYTES, "I7"
        after = standing(url)
        conserved(job, after, self.folder)
        sound(after)
        if "--retry" not in more:
            economical(before, after, log)
        assert grouped(url) == self.expected, "I9"
        word = f"freshword{self.drills}"
        write(self.home / f"{word}.txt", f"{word} came after the fault and is found", 1)
        assert self.jobs.run("index", self.home / f"{word}.txt", "--store", url).code == 0
        assert alive(url, word), "I6"
        log.unlink()
