"""Jobs in processes of their own, the folders that they index, and copies of stores: the parts of
all fault-injection tests.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from sample_library import edited, sentence

T = TypeVar("T")
ROOT = Path(__file__).parent.parent.parent
PROGRAM = Path(__file__).with_name("program.py")
SECONDS = 120.0  # the longest time of a job, whatever fault it meets
EPOCH = 1_600_000_000  # the time from which those of files count
MEGABYTES = 700  # its most resident memory
OPTIONS = ("--json", "--max-chars", "3000", "--workers", "1")


@dataclass(frozen=True)
class JobResult:
    """The result of a job: `code` is negative for the signal that ended it, `account` is its
    printed account, None without one.
    """

    code: int
    out: str
    err: str
    megabytes: float

    @property
    def account(self) -> dict[str, Any] | None:
        return json.loads(self.out) if self.out.startswith("{") else None


@dataclass(frozen=True)
class FileContent:
    """The text of a file, and its time in seconds."""

    text: str
    time: int


@dataclass(frozen=True)
class Step:
    """A command of many in one process, the files that are written before it (None: removed), and
    the failpoints that are armed for it.
    """

    argv: tuple[str, ...]
    files: Mapping[str, FileContent | None] = field(default_factory=dict)
    failpoints: str = ""


class JobRunner:
    """Jobs one after the other, each in a process forked from one that has imported everything."""

    def __init__(self, folder: Path) -> None:
        self._files = {"out": str(folder / "out"), "err": str(folder / "err")}
        self._server = subprocess.Popen(
            [sys.executable, str(PROGRAM), "--serve"],
            env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(folder / "state")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._running: int | None = None

    def start(self, *argv: str | Path, **environment: str) -> int:
        """Start a job and return its process; one that a failed test left running is killed."""
        return self._send({"argv": list(map(str, argv)), "environment": environment})

    def start_steps(self, steps: Sequence[Step]) -> int:
        """Start a job of many commands and return its process."""
        return self._send({"steps": [asdict(step) for step in steps], "environment": {}})

    def _send(self, request: dict[str, Any]) -> int:
        if self._running is not None:
            _kill(self._running)
            self.wait(self._running)
        for file in self._files.values():
            Path(file).unlink(missing_ok=True)
        request |= self._files
        assert self._server.stdin and self._server.stdout
        print(json.dumps(request), file=self._server.stdin, flush=True)
        self._running = int(self._server.stdout.readline())
        return self._running

    def wait(self, job: int, seconds: float = SECONDS) -> JobResult:
        """Wait for a job, which is killed after so many seconds; one that hangs fails the test."""
        assert self._server.stdout
        alarm = threading.Timer(seconds, _kill, [job])
        alarm.start()
        started = time.monotonic()
        code, kilobytes = json.loads(self._server.stdout.readline())
        alarm.cancel()
        self._running = None
        assert time.monotonic() - started < SECONDS, "I7: the job hung"
        out, err = (
            Path(file).read_text(encoding="utf-8") if Path(file).exists() else ""
            for file in self._files.values()
        )
        return JobResult(code, out, err, kilobytes / 1024)

    def wait_steps(self, job: int, seconds: float = SECONDS) -> tuple[int, list[JobResult]]:
        """Wait for a job of many commands: its exit code, and the results of those that ended."""
        job_result = self.wait(job, seconds)
        lines = [json.loads(line) for line in job_result.out.splitlines()]
        return job_result.code, [
            JobResult(code, out, err, job_result.megabytes) for code, out, err in lines
        ]

    def run(self, *argv: str | Path, **environment: str) -> JobResult:
        """Start a job and wait for it."""
        return self.wait(self.start(*argv, **environment))

    def close(self) -> None:
        """End the process that forks the jobs."""
        assert self._server.stdin and self._server.stdout
        self._server.stdin.close()
        self._server.wait(SECONDS)
        self._server.stdout.close()


def _kill(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def write(file: Path, content: str | bytes, seconds: int) -> None:
    """Write a file with this time, so that every run begins with the same folder."""
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    os.utime(file, (EPOCH + seconds, EPOCH + seconds))


def papers(folder: Path, count: int = 60) -> Path:
    """Write texts, a quarter of them near duplicates; cut, empty and short ones; a page; two that
    cannot be read; a FIFO.
    """
    folder.mkdir()
    for number in range(count):
        text = (
            sentence(number, 80)
            if number % 4
            else edited(sentence(number // 8 + 1, 80), number % 5)
        )
        write(folder / f"{number:03}.txt", f"{text} {'' if number % 4 else number}", number)
    write(folder / "cut.txt", sentence(400, 900), 1)
    write(folder / "empty.txt", "", 2)
    write(folder / "short.txt", "short", 3)
    write(folder / "page.html", f"<html><body><p>{sentence(401, 60)}</p></body></html>", 4)
    write(folder / "noise.bin", bytes(range(256)) * 20, 5)
    write(folder / "noise2.bin", bytes(range(255, -1, -1)) * 20, 6)
    os.mkfifo(folder / "fifo")
    return folder


def library(folder: Path, count: int, seed: int) -> Path:
    """Write texts of random words, a tenth of them near duplicates of earlier ones."""
    chance = random.Random(seed)
    folder.mkdir()
    words = [f"{sentence(number, 1)}{number}" for number in range(5_000)]
    before: list[str] = []
    for number in range(count):
        text = " ".join(chance.choices(words, k=100))
        if before and number % 10 == 0:
            text = edited(chance.choice(before), 4, f"new{number}")
        before.append(text)
        write(folder / f"{number:05}.txt", text, number)
    return folder


def revise(folder: Path) -> None:
    """Change some papers, principals and members among them, add some, remove the noise from a
    file.
    """
    for number in (1, 4, 8, 9, 16, 17, 24, 33):
        write(
            folder / f"{number:03}.txt",
            edited((folder / f"{number:03}.txt").read_text(encoding="utf-8"), 20, "new"),
            1000 + number,
        )
    for number in range(500, 520):
        text = sentence(number, 80) if number % 2 else edited(sentence(number // 8 + 1, 80), 2)
        write(folder / f"{number:03}.txt", text, number)
    write(folder / "noise.bin", "it is a text after all, and says so in some words", 2000)
    write(folder / "010.txt", bytes(range(256)) * 30, 2001)


def copy_store(store: Path, to: Path) -> Path:
    """Copy a store's files, its journal and logs too, to another name."""
    for old in store.parent.glob(f"{store.name}*"):
        shutil.copy(old, to.parent / old.name.replace(store.name, to.name, 1))
    return to


def index_names(server: str, beginning: str) -> list[str]:
    """Return the indices whose names begin so."""
    with urllib.request.urlopen(f"{server}/{beginning}*", timeout=30) as answer:
        return sorted(json.load(answer))


def delete_index(server: str, index: str) -> None:
    """Delete an index that a test made."""
    with urllib.request.urlopen(
        urllib.request.Request(f"{server}/{index}", method="DELETE"), timeout=30
    ) as answer:
        assert answer.status == 200


def select_cases(all_cases: Sequence[T], gate_cases: Sequence[T]) -> Sequence[T]:
    """Return the cases of the gate, or all where NEARFOLD_FAULT_TESTS is `all`."""
    return all_cases if os.environ.get("NEARFOLD_FAULT_TESTS") == "all" else gate_cases


def index_command(folder: Path, store: str, more: Sequence[str] = ()) -> list[str]:
    """Return the words of the command that indexes a folder."""
    return ["index", str(folder), "--store", store, *OPTIONS, *more]
