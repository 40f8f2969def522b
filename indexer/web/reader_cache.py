"""Results that take long, computed beside the request for them, one at a time, and kept."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

from indexer.system.progress_callback import Progress
from indexer.web.survey_cache import ReadingProgress, SurveyReader

T = TypeVar("T")


class _UnwantedResult(Exception):
    """Ends the computation of a result that nobody has asked for any more."""


class _Entry:
    """A result, or its computation; `used_at` is the last time at which it was asked for."""

    def __init__(
        self, read: Callable[[_Entry, Progress], Any], weight: int, used_at: float
    ) -> None:
        self.reader: SurveyReader[Any] = SurveyReader(lambda progress: read(self, progress))
        self.weight = weight
        self.used_at = used_at


class ReaderCache:
    """Results by key, those used last: at most `most`, and `weight` of them together.

    The last one stays whatever it weighs. They are computed one after the other, so that memory
    is that of one computation beside the results that are kept. One that nobody has asked for in
    `lease` seconds of `clock` ends when it next reports its progress. Safe to share by threads.
    """

    def __init__(
        self,
        weight: int,
        most: int,
        lease: float = math.inf,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._weight, self._most, self._lease = weight, most, lease
        self._clock = clock
        self._entries: OrderedDict[object, _Entry] = OrderedDict()
        self._lock = threading.Lock()
        self._computing = threading.Lock()

    def get(
        self, key: object, read: Callable[[Progress], T], weight: int, timeout: float
    ) -> T | None:
        """Return the result under a key, None if it is not ready within `timeout` seconds.

        The first call starts `read`; its errors are raised, once.
        """
        deadline = time.monotonic() + timeout
        while True:
            reader: SurveyReader[T] = self._entry(key, read, weight).reader
            try:
                return reader.get(max(0.0, deadline - time.monotonic()))
            except _UnwantedResult:  # it ended when this call came
                continue

    def progress(self, key: object) -> ReadingProgress:
        """Return how far the computation of a result is."""
        with self._lock:
            entry = self._entries.get(key)
        return entry.reader.progress if entry else ReadingProgress()

    def clear(self) -> None:
        """Discard the results that are ready."""
        with self._lock:
            for key, entry in list(self._entries.items()):
                if entry.reader.result is not None:
                    del self._entries[key]

    def _entry(self, key: object, read: Callable[[Progress], T], weight: int) -> _Entry:
        """Return the entry of a key, which is asked for now."""

        def read_alone(entry: _Entry, progress: Progress) -> T:
            def report(stage: str, done: int, total: int) -> None:
                if self._clock() - entry.used_at > self._lease:
                    raise _UnwantedResult
                progress(stage, done, total)

            try:
                with self._computing:
                    return read(report)
            except _UnwantedResult:
                self._remove(key, entry)
                raise

        with self._lock:
            entry = self._entries.get(key) or _Entry(read_alone, weight, self._clock())
            entry.used_at = self._clock()
            self._entries[key] = entry
            self._entries.move_to_end(key)
            self._trim()
        return entry

    def _remove(self, key: object, entry: _Entry) -> None:
        with self._lock:
            if self._entries.get(key) is entry:
                del self._entries[key]

    def _trim(self) -> None:
        while len(self._entries) > 1 and (
            len(self._entries) > self._most
            or sum(entry.weight for entry in self._entries.values()) > self._weight
        ):
            self._entries.popitem(last=False)
