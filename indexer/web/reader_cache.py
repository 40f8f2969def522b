"""Results that take long, computed beside the request for them, one at a time, and kept."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

from indexer.errors import NearfoldError
from indexer.system.progress_callback import Progress
from indexer.web.survey_cache import ReadingProgress, SurveyReader

T = TypeVar("T")


class _UnwantedResult(NearfoldError):
    """Ends the computation of a result that nobody has asked for any more."""


class ReaderCache:
    """Results by key, those used last: at most `most`, and `weight` of them together.

    The last one stays whatever it weighs. They are computed one after the other, so that memory
    is that of one computation beside the results that are kept. One that nobody has asked for in
    `lease` seconds ends when it next reports its progress. Safe to share by threads.
    """

    def __init__(self, weight: int, most: int, lease: float = math.inf) -> None:
        self._weight, self._most, self._lease = weight, most, lease
        self._asked: dict[object, float] = {}
        self._readers: OrderedDict[object, tuple[SurveyReader[Any], int]] = OrderedDict()
        self._lock = threading.Lock()
        self._computing = threading.Lock()

    def get(
        self, key: object, read: Callable[[Progress], T], weight: int, timeout: float
    ) -> T | None:
        """Return the result under a key, None if it is not ready within `timeout` seconds.

        The first call starts `read`; its errors are raised, once.
        """

        def read_alone(progress: Progress) -> T:
            def report(stage: str, done: int, total: int) -> None:
                if time.monotonic() - self._asked.get(key, -math.inf) > self._lease:
                    raise _UnwantedResult
                progress(stage, done, total)

            try:
                with self._computing:
                    return read(report)
            except _UnwantedResult:
                with self._lock:
                    self._readers.pop(key, None)
                raise

        with self._lock:
            self._asked[key] = time.monotonic()
            entry = self._readers.get(key)
            if entry is None:
                entry = SurveyReader(read_alone), weight
                self._readers[key] = entry
            self._readers.move_to_end(key)
            self._trim()
        reader: SurveyReader[T] = entry[0]
        return reader.get(timeout)

    def progress(self, key: object) -> ReadingProgress:
        """Return how far the computation of a result is."""
        with self._lock:
            entry = self._readers.get(key)
        return entry[0].progress if entry else ReadingProgress()

    def clear(self) -> None:
        """Discard the results that are ready."""
        with self._lock:
            for key, (reader, _) in list(self._readers.items()):
                if reader.result is not None:
                    del self._readers[key], self._asked[key]

    def _trim(self) -> None:
        while len(self._readers) > 1 and (
            len(self._readers) > self._most
            or sum(weight for _, weight in self._readers.values()) > self._weight
        ):
            key, _ = self._readers.popitem(last=False)
            self._asked.pop(key, None)
