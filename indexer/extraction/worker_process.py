"""One worker process, seen from the program that started it."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import subprocess
import sys
import threading
from typing import IO

import psutil

from indexer.errors import (
    ExtractionCrash,
    ExtractionError,
    ExtractionMemory,
    ExtractionTimeout,
    NearfoldError,
)
from indexer.extraction.base import Limits, TryAlone
from indexer.model import Document

_START = """
import json, sys
sys.path[:] = json.loads(sys.argv[2])
from indexer.extraction.worker_main import main
main(int(sys.argv[1]))
"""
_START_SECONDS = 60.0
_ENDING_SECONDS, _KILL_SECONDS = 1.0, 5.0
_MEGABYTE = 1 << 20


class WorkerLost(Exception):
    """Raised when the process ended without an answer; `code` is its exit code if it is known."""

    def __init__(self, code: int | None) -> None:
        super().__init__(f"exit code {code}")
        self.code = code


class Worker:
    """A process that extracts one document at a time.

    One thread exchanges messages with it; `kill` and `check` are for other threads. The memory of a
    document is the growth of resident memory since the process was ready.
    """

    def __init__(self, limits: Limits, seconds: float) -> None:
        self._limits = limits
        self._seconds = seconds
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, str(os.getpid()), json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._memory = psutil.Process(self._process.pid)
        self._lock = threading.Lock()
        self._left: float | None = None
        self._base: int | None = None
        self._verdict: ExtractionError | None = None

    def greet(self, greeting: bytes) -> None:
        """Send the pickled factory of the extractor, and wait until the extractor is made.

        Raises the `NearfoldError` that prevented it, and `WorkerLost` when the process ends or does
        not get ready.
        """
        answer = self._exchange(greeting, _START_SECONDS)
        if isinstance(answer, NearfoldError):
            raise answer
        try:
            self._base = self._memory.memory_info().rss
        except psutil.Error as error:
            raise WorkerLost(self._exit_code()) from error

    def extract(self, data: bytes, name: str) -> Document | ExtractionError | TryAlone:
        """Return the result of one document; a loss of the process is an error of that document."""
        try:
            answer = self._exchange((data, name), self._seconds)
        except WorkerLost as lost:
            return self._verdict or ExtractionCrash(code=lost.code)
        if isinstance(answer, (Document, ExtractionError, TryAlone)):
            return answer
        self.kill()
        return ExtractionCrash(code=self._process.poll())

    @property
    def is_spent(self) -> bool:
        """True if it has ended, or takes so much memory that the next document needs a new one."""
        if self._verdict or self._process.poll() is not None:
            return True
        try:
            return self._growth() > self._limits.megabytes * _MEGABYTE / 4
        except psutil.Error:
            return True

    def check(self, seconds: float) -> None:
        """Count time, and end the process when its document is over a limit; an idle process is
        left alone.
        """
        with self._lock:
            if self._left is None or self._verdict:
                return
            self._left -= seconds
            if self._left < 0:
                self._verdict = ExtractionTimeout(seconds=self._limits.seconds)
            elif self._is_over_memory():
                self._verdict = ExtractionMemory(megabytes=self._limits.megabytes)
            if self._verdict:
                self._process.kill()

    def kill(self) -> None:
        """End the process; the thread that waits for its answer gets `WorkerLost`."""
        self._process.kill()

    def close(self) -> None:
        """End the process, and close its pipes."""
        self.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_KILL_SECONDS)
        for pipe in self._pipes():
            with contextlib.suppress(OSError):
                pipe.close()

    def _exchange(self, message: object, seconds: float) -> object:
        """Send a message and return the answer, within so many seconds."""
        inbox, outbox = self._pipes()
        with self._lock:
            self._left = seconds
        try:
            if isinstance(message, bytes):
                inbox.write(message)
            else:
                pickle.dump(message, inbox, protocol=5)
            inbox.flush()
            return pickle.load(outbox)
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            raise WorkerLost(self._exit_code()) from error
        finally:
            with self._lock:
                self._left = None

    def _exit_code(self) -> int | None:
        """Return the exit code of a process that ends, and kill it if it does not; None when even
        that takes too long.
        """
        for seconds in (_ENDING_SECONDS, _KILL_SECONDS):
            with contextlib.suppress(subprocess.TimeoutExpired):
                return self._process.wait(seconds)
            self.kill()
        return None

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        inbox, outbox = self._process.stdin, self._process.stdout
        if inbox is None or outbox is None:
            raise OSError("the worker has no pipes")
        return inbox, outbox

    def _is_over_memory(self) -> bool:
        try:
            return self._base is not None and self._growth() > self._limits.megabytes * _MEGABYTE
        except psutil.Error:
            return False

    def _growth(self) -> int:
        """Return the bytes of resident memory beyond those it had when it was ready."""
        return int(self._memory.memory_info().rss) - (self._base or 0)
