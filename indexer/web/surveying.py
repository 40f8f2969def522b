"""The survey of a store, made in the background and kept until somebody asks for a new one."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from indexer.errors import NearfoldError
from indexer.stores.base import Store
from indexer.survey import Survey, survey

PATIENCE_SECONDS = 1.5


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the reading of a store has come."""

    stage: str = "waiting"
    done: int = 0
    total: int = 0


class Surveyor:
    """Reads a store once for everybody who asks; safe to share by threads."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None
        self._survey: Survey | None = None
        self._error: NearfoldError | None = None
        self.progress = Progress()
        self.seconds = 0.0

    def get(self, patience: float = PATIENCE_SECONDS) -> Survey | None:
        """The survey, begun when nobody has; None when it is not ready within `patience` seconds. Raises what went wrong."""
        with self._lock:
            if self._survey is None and self._thread is None:
                self._begin()
        self._ready.wait(patience)
        if self._error is not None:
            with self._lock:
                error, self._error, self._thread = self._error, None, None
            if error is not None:
                raise error
        return self._survey

    def forget(self) -> None:
        """Read the store anew when somebody asks next."""
        with self._lock:
            if self._survey is not None:
                self._survey = self._thread = None

    def _begin(self) -> None:
        self._ready.clear()
        self._thread = threading.Thread(target=self._read, name="survey", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        started = time.monotonic()
        try:
            self._survey = survey(self._store, self._told)
        except NearfoldError as error:
            self._error = error
        finally:
            self.seconds = time.monotonic() - started
            self._ready.set()

    def _told(self, stage: str, done: int, total: int) -> None:
        self.progress = Progress(stage, done, total)
