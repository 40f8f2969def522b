"""Caches of a site: entries that grow old, and results that are computed in the background."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import Any, Generic, TypeVar

from indexer.model import Progress
from indexer.system.external_memory import LruCache

T = TypeVar("T")


class TimedCache(Generic[T]):
    """The `limit` most recent values, each for `seconds`, which weigh `weight` together; the last
    one stays whatever it weighs. Thread-safe.
    """

    def __init__(self, limit: int, seconds: float = math.inf, weight: int | None = None) -> None:
        self._seconds = seconds
        self._values = LruCache[Hashable, tuple[float, T, int]](
            weight or limit, itemgetter(2), limit
        )
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> T | None:
        """Return the value under a key, None if it is absent or too old."""
        with self._lock:
            stored_at, value, _ = self._values.peek(key) or (-math.inf, None, 0)
            return value if time.monotonic() - stored_at <= self._seconds else None

    def put(self, key: Hashable, value: T, weight: int = 1) -> T:
        """Store a value, remove the oldest ones beyond the bounds, and return the value."""
        with self._lock:
            self._values.put(key, (time.monotonic(), value, weight), min_entries=1)
        return value

    def clear(self) -> None:
        """Remove all values."""
        with self._lock:
            self._values.clear()


# Slow results of which only the last requested one is wanted.

K = TypeVar("K", bound=Hashable)


class LatestReader(Generic[K, T]):
    """Results of `read` by key, computed one at a time in the background; the last `limit` are
    kept.

    Only the newest request is queued while one is computed; earlier slider positions are dropped.
    Thread-safe.
    """

    def __init__(self, read: Callable[[K], T], limit: int) -> None:
        self._read = read
        self._results = LruCache[K, T | Exception](limit)
        self._wanted: list[K] = []
        self._is_busy = False
        self._changed = threading.Condition()

    def get(self, key: K, timeout: float) -> T | None:
        """Return the result, None if it is not ready within `timeout` seconds.

        Raises the error that ended its computation, once.
        """
        with self._changed:
            if key not in self._results:
                self._wanted = [key]
                if not self._is_busy:
                    self._is_busy = True
                    threading.Thread(target=self._run, name="latest", daemon=True).start()
                self._changed.wait_for(lambda: key in self._results, timeout)
            result = self._results.peek(key)
            if isinstance(result, Exception):
                self._results.discard(key)
                raise result
            return result

    def clear(self) -> None:
        """Discard the results; one that is computed now is kept."""
        with self._changed:
            self._results.clear()

    def _run(self) -> None:
        while (key := self._next()) is not None:
            try:
                result: T | Exception = self._read(key)
            except Exception as error:
                result = error
            with self._changed:
                self._results.put(key, result)
                self._changed.notify_all()

    def _next(self) -> K | None:
        with self._changed:
            while self._wanted:
                key = self._wanted.pop()
                if key not in self._results:
                    return key
            self._is_busy = False
            return None


# Results of reading a whole store in the background, kept until they are discarded.

TIMEOUT_SECONDS = 1.5  # for which a caller waits for the result


@dataclass(frozen=True, slots=True)
class ReadProgress:
    """The stage of a computation, and `done` of `total` documents in it."""

    stage: str = "waiting"
    done: int = 0
    total: int = 0


class BackgroundReader(Generic[T]):
    """The shared result of reading a store once; thread-safe.

    `read` receives a callback for its progress, and returns the result. `began`: the time when the
    last computation began, in seconds since 1970 UTC; `seconds`: how long it took.
    """

    def __init__(self, read: Callable[[Progress], T]) -> None:
        self._read = read
        self._lock = threading.Lock()
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None
        self._result: T | None = None
        self._error: Exception | None = None
        self.progress = ReadProgress()
        self.seconds = 0.0
        self.began = 0.0
        self._started = -math.inf

    @property
    def age(self) -> float:
        """Return the seconds since the last computation began, infinite before the first."""
        return time.monotonic() - self._started

    def get(self, timeout: float = TIMEOUT_SECONDS) -> T | None:
        """Return the result, None if it is not ready within `timeout` seconds.

        The first call starts the computation. Raises the error that ended it; the next call starts
        again.
        """
        self.begin()
        self._ready.wait(timeout)
        if self._error is not None:
            self._raise_once()
        return self._result

    def begin(self) -> None:
        """Start the computation, if that has not been done."""
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
        self._thread = threading.Thread(target=self._run, name="reader", daemon=True)
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
        self.progress = ReadProgress(stage, done, total)


# Slow results, computed in the background one at a time, and kept.


class _UnwantedResult(Exception):
    """Ends the computation of a result that nobody has asked for any more."""


class _Entry:
    """A result, or its computation; `used_at` is the last time at which it was asked for."""

    def __init__(
        self, read: Callable[[_Entry, Progress], Any], weight: int, used_at: float
    ) -> None:
        self.reader: BackgroundReader[Any] = BackgroundReader(lambda progress: read(self, progress))
        self.weight = weight
        self.used_at = used_at


class ReaderCache:
    """Results by key, those used last: at most `limit`, which weigh `weight` together.

    The last one stays whatever it weighs. They are computed one after the other, so that memory
    is that of one computation next to the results that are kept. One that nobody has asked for in
    `lease` seconds of `clock` ends when it next reports its progress. Thread-safe.
    """

    def __init__(
        self,
        weight: int,
        limit: int,
        lease: float = math.inf,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._lease, self._clock = lease, clock
        self._entries = LruCache[Hashable, _Entry](weight, attrgetter("weight"), limit)
        self._lock = threading.Lock()
        self._computing = threading.Lock()

    def get(
        self, key: Hashable, read: Callable[[Progress], T], weight: int, timeout: float
    ) -> T | None:
        """Return the result under a key, None if it is not ready within `timeout` seconds.

        The first call starts `read`; its errors are raised, once.
        """
        deadline = time.monotonic() + timeout
        while True:
            reader: BackgroundReader[T] = self._entry(key, read, weight).reader
            try:
                return reader.get(max(0.0, deadline - time.monotonic()))
            except _UnwantedResult:  # it ended when this call came
                continue

    def progress(self, key: Hashable) -> ReadProgress:
        """Return how far the computation of a result is."""
        with self._lock:
            entry = self._entries.peek(key)
        return entry.reader.progress if entry else ReadProgress()

    def clear(self) -> None:
        """Discard the results that are ready."""
        with self._lock:
            for key in list(self._entries):
                entry = self._entries.peek(key)
                if entry is not None and entry.reader.result is not None:
                    self._entries.discard(key)

    def _entry(self, key: Hashable, read: Callable[[Progress], T], weight: int) -> _Entry:
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
            self._entries.put(key, entry, min_entries=1)
        return entry

    def _remove(self, key: Hashable, entry: _Entry) -> None:
        with self._lock:
            if self._entries.peek(key) is entry:
                self._entries.discard(key)
