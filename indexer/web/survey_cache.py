"""What is read of a whole store in the background, and kept until somebody asks for it anew."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from indexer.errors import NearfoldError
from indexer.system.progress_callback import Progress as Told

PATIENCE_SECONDS = 1.5
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the reading of a store has come."""

    stage: str = "waiting"
    done: int = 0
    total: int = 0


class SurveyReader(Generic[T]):
    """Reads a store once for everybody who asks; safe to share by threads. `read` is told how to
    say how far it has come.
    """

    def __init__(self, read: Callable[[Told], T]) -> None:
        self._read = read
        self._lock = threading.Lock()
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None
        self._made: T | None = None
        self._error: NearfoldError | None = None
        self.progress = Progress()
        self.seconds = 0.0

    def get(self, patience: float = PATIENCE_SECONDS) -> T | None:
        """What was read, begun when nobody has; None when it is not ready within `patience`
        seconds. Raises what went wrong.
        """
        with self._lock:
            if self._made is None and self._thread is None:
                self._begin()
        self._ready.wait(patience)
        if self._error is not None:
            with self._lock:
                error, self._error, self._thread = self._error, None, None
            if error is not None:
                raise error
        return self._made

    def forget(self) -> None:
        """Read the store anew when somebody asks next."""
        with self._lock:
            if self._made is not None:
                self._made = self._thread = None

    def _begin(self) -> None:
        self._ready.clear()
        self._thread = threading.Thread(target=self._run, name="reading", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        started = time.monotonic()
        try:
            self._made = self._read(self._told)
        except NearfoldError as error:
            self._error = error
        finally:
            self.seconds = time.monotonic() - started
            self._ready.set()

    def _told(self, stage: str, done: int, total: int) -> None:
        self.progress = Progress(stage, done, total)
