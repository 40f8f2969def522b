"""A reading of a whole store in the background, kept until it is discarded."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from indexer.system.progress_callback import Progress

TIMEOUT_SECONDS = 1.5  # for which a caller waits for the result
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ReadingProgress:
    """The stage of a reading, and `done` of `total` documents in it."""

    stage: str = "waiting"
    done: int = 0
    total: int = 0


class SurveyReader(Generic[T]):
    """The shared result of reading a store once; safe to share by threads.

    `read` receives a callback for its progress, and returns the result. `began`: when the last
    reading began, in seconds since 1970 UTC; `seconds`: how long it took.
    """

    def __init__(self, read: Callable[[Progress], T]) -> None:
        self._read = read
        self._lock = threading.Lock()
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None
        self._result: T | None = None
        self._error: Exception | None = None
        self.progress = ReadingProgress()
        self.seconds = 0.0
        self.began = 0.0
        self._started = -math.inf

    @property
    def age(self) -> float:
        """Return the seconds since the last reading began, infinite before the first."""
        return time.monotonic() - self._started

    def get(self, timeout: float = TIMEOUT_SECONDS) -> T | None:
        """Return the result, None if it is not ready within `timeout` seconds.

        The first call starts the reading. Raises the error that ended it; the next call starts it
        again.
        """
        self.begin()
        self._ready.wait(timeout)
        if self._error is not None:
            self._raise_once()
        return self._result

    def begin(self) -> None:
        """Start the reading, if that has not been done."""
        with self._lock:
            if self._result is None and self._thread is None:
                self._start()

    @property
    def result(self) -> T | None:
        """Return the result as far as there is one; nothing is started for it."""
        return self._result

    def discard(self) -> None:
        """Discard the result, so that the next `get` reads the store again."""
        with self._lock:
            if self._result is not None:
                self._result = None
                self._thread = None

    def _raise_once(self) -> None:
        with self._lock:
            error = self._error
            self._error = None
            self._thread = None
        if error is not None:
            raise error

    def _start(self) -> None:
        self._ready.clear()
        self.began, self._started = time.time(), time.monotonic()
        self._thread = threading.Thread(target=self._run, name="survey", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        started = time.monotonic()
        try:
            self._result = self._read(self._report)
        except Exception as error:
            self._error = error
        finally:
            self.seconds = time.monotonic() - started
            self._ready.set()

    def _report(self, stage: str, done: int, total: int) -> None:
        self.progress = ReadingProgress(stage, done, total)
