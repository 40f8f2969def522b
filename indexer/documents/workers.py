"""Worker processes that extract text, seen from the program that started them."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import queue
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any, Generic, TypeVar

import psutil

from indexer.documents.base import DEFAULT_LIMITS, ExtractorFactory, Limits, Task, TryAlone
from indexer.errors import (
    ExtractionCrash,
    ExtractionError,
    ExtractionMemory,
    ExtractionTimeout,
    ExtractorUnavailable,
    NearfoldError,
)
from indexer.model import Document

_START = """
import json, sys
sys.path[:] = json.loads(sys.argv[2])
from indexer.documents.worker_main import main
main(int(sys.argv[1]))
"""
_START_SECONDS = 60.0
_ENDING_SECONDS, _KILL_SECONDS = 1.0, 5.0
_MEGABYTE = 1 << 20


class WorkerLost(Exception):
    """Raised when the process ended without a response; `code` is its exit code if it is known."""

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
        result = self._exchange(greeting, _START_SECONDS)
        if isinstance(result, NearfoldError):
            raise result
        try:
            self._base = self._memory.memory_info().rss
        except psutil.Error as error:
            raise WorkerLost(self._exit_code()) from error

    def extract(self, data: bytes, name: str) -> Document | ExtractionError | TryAlone:
        """Return the result of one document; a loss of the process is an error of that document."""
        try:
            result = self._exchange((data, name), self._seconds)
        except WorkerLost as lost:
            return self._verdict or ExtractionCrash(code=lost.code)
        if isinstance(result, (Document, ExtractionError, TryAlone)):
            return result
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
        """End the process; the thread that waits for its response gets `WorkerLost`."""
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
        """Send a message and return the response, within so many seconds."""
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


# A pool of worker processes: a document that hangs, crashes or takes too much memory fails alone.

K = TypeVar("K")
T = TypeVar("T")

_TICK = 0.05
_LONGEST_STEP = 4 * _TICK
_STARTS = 3
_MAX_BYTES = 512 << 20
_CLOSING_SECONDS = 5.0


class Pool:
    """A pool that extracts documents in `workers` killable processes (None: one a processor), each
    document within `limits`.

    A context manager. A process starts when there is work, and the others when it has worked for as
    long as it took to start: a run on a few files needs one. A worker whose resident memory
    has grown by a quarter of the limit is replaced between documents, so that the limit counts for
    one document only.
    """

    def __init__(
        self, factory: ExtractorFactory, workers: int | None = None, limits: Limits = DEFAULT_LIMITS
    ) -> None:
        self.identity = factory.identity
        self._jobs: queue.SimpleQueue[_Job[Any] | None] = queue.SimpleQueue()
        first = _Keeper(factory, limits, self._jobs)
        others = range(1, workers or _processors())
        self._keepers = [first, *(_Keeper(factory, limits, self._jobs, first) for _ in others)]
        self._monitor = threading.Thread(target=self._watch, name="nearfold-monitor", daemon=True)
        self._closed = threading.Event()

    def __enter__(self) -> Pool:
        for thread in self._threads():
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all workers at once, with their current documents, and wait a few seconds at most.

        May be called again.
        """
        self._closed.set()
        for keeper in self._keepers:
            self._jobs.put(None)
            keeper.stop()
        for thread in self._threads():
            if thread.is_alive():
                thread.join(_CLOSING_SECONDS)

    def extract_all(
        self, items: Iterable[Task[K] | T]
    ) -> Iterator[tuple[K, Document | ExtractionError] | T]:
        """Yield (key, result) for each `Task`, in the order in which they are ready; other items
        pass through.

        Items are pulled as they are needed: at most twice as many tasks as there are workers, or
        about 512 MB, are under way. A document with the result `TryAlone` is tried once more with
        nothing else under way; the second time, the result is `ExtractionCrash`. Raises
        `ExtractorUnavailable` or `MissingExtra` when the extractor cannot be made.
        """
        run: _Run[K] = _Run(self._jobs, 2 * len(self._keepers))
        try:
            for item in items:
                if not isinstance(item, Task):
                    yield item
                    continue
                run.submit(item)
                while run.is_full:
                    yield from run.wait()
                yield from run.ready()
            while run.is_busy:
                yield from run.wait()
        finally:
            run.is_abandoned = True

    def _threads(self) -> tuple[threading.Thread, ...]:
        return (*(keeper.thread for keeper in self._keepers), self._monitor)

    def _watch(self) -> None:
        """End workers that are over a limit; time during which this process itself was stopped
        counts as one short step.
        """
        before = time.monotonic()
        while not self._closed.wait(_TICK):
            now = time.monotonic()
            for keeper in self._keepers:
                keeper.check(min(now - before, _LONGEST_STEP))
            before = now


@dataclass(slots=True)
class _Job(Generic[K]):
    """A task under way, and its result."""

    task: Task[K]
    run: _Run[K]
    result: object = None


class _Run(Generic[K]):
    """The tasks of one `extract_all` that are under way."""

    def __init__(self, jobs: queue.SimpleQueue[_Job[Any] | None], limit: int) -> None:
        self.is_abandoned = False
        self.results: queue.SimpleQueue[_Job[K]] = queue.SimpleQueue()
        self._jobs = jobs
        self._limit = limit
        self._to_retry: deque[Task[K]] = deque()
        self._is_retrying = False
        self._under_way = 0
        self._bytes = 0

    @property
    def is_busy(self) -> bool:
        """True while results are still to come."""
        return self._under_way > 0 or bool(self._to_retry)

    @property
    def is_full(self) -> bool:
        """True while no further task should be submitted."""
        has_retries = self._is_retrying or bool(self._to_retry)
        return has_retries or self._under_way >= self._limit or self._bytes > _MAX_BYTES

    def submit(self, task: Task[K]) -> None:
        self._under_way += 1
        self._bytes += len(task.data)
        self._jobs.put(_Job(task, self))

    def wait(self) -> Iterator[tuple[K, Document | ExtractionError]]:
        """Wait for the next result and yield it; nothing when its document is to be tried again."""
        if self._to_retry and not self._under_way:
            self._is_retrying = True
            self.submit(self._to_retry.popleft())
        yield from self._settle(self.results.get())

    def ready(self) -> Iterator[tuple[K, Document | ExtractionError]]:
        """Yield the results that are there already."""
        while True:
            try:
                job = self.results.get_nowait()
            except queue.Empty:
                return
            yield from self._settle(job)

    def _settle(self, job: _Job[K]) -> Iterator[tuple[K, Document | ExtractionError]]:
        """Yield the result of a finished job, queue its task for a retry, or raise an error that
        concerns all documents.
        """
        self._under_way -= 1
        self._bytes -= len(job.task.data)
        was_retry = self._is_retrying
        self._is_retrying = False
        if isinstance(job.result, TryAlone):
            if was_retry:
                yield job.task.key, ExtractionCrash(code=None)
            else:
                self._to_retry.append(job.task)
        elif isinstance(job.result, NearfoldError) and not _is_of_one_document(job.result):
            raise job.result
        elif isinstance(job.result, (Document, ExtractionError)):
            yield job.task.key, job.result


class _Keeper:
    """A thread that gives jobs to its worker process, which it starts for the first job, and again
    when it is lost.
    """

    def __init__(
        self,
        factory: ExtractorFactory,
        limits: Limits,
        jobs: queue.SimpleQueue[_Job[Any] | None],
        first: _Keeper | None = None,
    ) -> None:
        self.thread = threading.Thread(target=self._keep, name="nearfold-keeper", daemon=True)
        self._greeting = pickle.dumps((factory, limits), protocol=5)
        self._identity = factory.identity
        self._limits = limits
        self._seconds = limits.seconds + factory.extra_seconds
        self._jobs = jobs
        self._worker: Worker | None = None
        self._first = first
        self._started = threading.Event()
        self._start_seconds = 0.0
        self._stopped = threading.Event()

    def _keep(self) -> None:
        """Do jobs until the pool is closed; each gets a result, or its consumer would wait for
        ever.
        """
        if self._first is not None:
            self._first._started.wait()
            self._stopped.wait(self._first._start_seconds)
        while (job := self._jobs.get()) is not None and not self._stopped.is_set():
            if not job.run.is_abandoned:
                job.result = self._result(job.task)
            job.run.results.put(job)
        if self._worker is not None:
            self._worker.close()

    def stop(self) -> None:
        """End the worker, even in the middle of a document; for other threads."""
        self._started.set()
        self._stopped.set()
        if self._worker is not None:
            self._worker.kill()

    def check(self, seconds: float) -> None:
        """Count so many seconds against the limits; for the monitor."""
        if self._worker is not None:
            self._worker.check(seconds)

    def _result(self, task: Task[Any]) -> object:
        try:
            return self._usable_worker().extract(task.data, task.name)
        except NearfoldError as error:
            return error
        except Exception as error:
            return ExtractorUnavailable(
                extractor=self._identity, reason=f"{type(error).__name__}: {error}"
            )

    def _usable_worker(self) -> Worker:
        if self._worker is not None and self._worker.is_spent:
            self._worker.close()
            self._worker = None
        return self._worker or self._new_worker()

    def _new_worker(self) -> Worker:
        """Start a worker, with a few tries: a process may be killed for reasons outside."""
        code: int | None = None
        start_time = time.monotonic()
        for _ in range(_STARTS):
            self._worker = Worker(self._limits, self._seconds)
            if self._stopped.is_set():
                self._worker.kill()
            try:
                self._worker.greet(self._greeting)
            except WorkerLost as lost:
                code = lost.code
                self._worker.close()
            else:
                return self._worker
            finally:
                self._start_seconds = time.monotonic() - start_time
                self._started.set()
        self._worker = None
        raise ExtractorUnavailable(
            extractor=self._identity, reason=f"its process ends at once, exit code {code}"
        )


def _is_of_one_document(error: NearfoldError) -> bool:
    return isinstance(error, ExtractionError) and not isinstance(error, ExtractorUnavailable)


def _processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
