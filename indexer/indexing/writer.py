"""Concurrent writes of rows into a store, in bounded memory, while the caller makes more rows."""

from __future__ import annotations

import queue
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from typing import Protocol

from indexer.errors import StoreStopped
from indexer.model import Row
from indexer.system.failpoints import reached

MOST_BYTES = 64 << 20
STALLED_SECONDS = 900.0
_ROW_BYTES = 4096  # sketches, keys and short fields
_CLOSING_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class WriteResult:
    """Rows on which the store has decided: for each in order why it was refused, None when it was
    acknowledged.
    """

    rows: Sequence[Row]
    refusals: Sequence[str | None]


class Target(Protocol):
    """Target of writes: a store, or something before it. `writers` and `write` are as a store's."""

    writers: int

    def write(self, rows: Sequence[Row]) -> list[str | None]:
        """Insert or replace rows."""
        ...


class Writer:
    """A writer of rows from as many threads as the store has use for; in the caller's thread where
    that is none.

    A context manager. At most `most_bytes` of rows are being written, by `row_bytes`, or else one
    batch that is larger alone: `write` waits until there is memory. Two batches with a row of the
    same id are never written at the same time, so the later one wins.
    """

    def __init__(self, store: Target, most_bytes: int = MOST_BYTES) -> None:
        self._store = store
        self._most = most_bytes
        self._waiting: queue.SimpleQueue[_Batch | None] = queue.SimpleQueue()
        self._finished: queue.SimpleQueue[_Batch] = queue.SimpleQueue()
        self._pending_ids: set[str] = set()
        self._bytes = 0
        self._closed = False
        self._error: BaseException | None = None  # after which nothing is written
        self._unwritten = 0
        self._written = threading.Condition()
        self._threads = [
            threading.Thread(
                target=copy_context().run, args=(self._work,), name="nearfold-writer", daemon=True
            )
            for _ in range(store.writers)
        ]

    def __enter__(self) -> Writer:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, rows: Sequence[Row]) -> Iterator[WriteResult]:
        """Hand over rows; yield what the store has decided on earlier ones, or on these. Raises
        what `Store.write` raises.
        """
        batch = _Batch(rows)
        if not self._threads:
            yield WriteResult(batch.rows, batch.write_to(self._store))
            return
        while self._pending_ids and (
            self._bytes + batch.bytes > self._most or not self._pending_ids.isdisjoint(batch.ids)
        ):
            yield self._next()
        self._bytes += batch.bytes
        self._pending_ids |= batch.ids
        with self._written:
            self._unwritten += 1
        self._waiting.put(batch)
        while not self._finished.empty():
            yield self._next()

    def finish(self) -> Iterator[WriteResult]:
        """Yield what the store decides on all that is pending."""
        while self._pending_ids:
            yield self._next()

    def has_any(self, ids: Iterable[str]) -> bool:
        """Return whether a row with one of these ids is pending."""
        return not self._pending_ids.isdisjoint(ids)

    def settle(self) -> None:
        """Wait until all that was handed over is written, if one thread writes, before the caller
        changes rows on which it may depend; `write` and `finish` yield what was decided. Raises
        `StoreStopped` when that is not written within `STALLED_SECONDS`.
        """
        if len(self._threads) == 1:
            with self._written:
                if not self._written.wait_for(lambda: not self._unwritten, STALLED_SECONDS):
                    raise _stopped()

    def close(self) -> None:
        """Drop what is not being written yet, and wait a few seconds for what is."""
        self._closed = True
        for _ in self._threads:
            self._waiting.put(None)
        deadline = time.monotonic() + _CLOSING_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _next(self) -> WriteResult:
        """Wait for a batch. Raises `StoreStopped` when not one was decided on for
        `STALLED_SECONDS`.
        """
        try:
            batch = self._finished.get(timeout=STALLED_SECONDS)
        except queue.Empty:
            raise _stopped() from None
        self._bytes -= batch.bytes
        self._pending_ids -= batch.ids
        if isinstance(batch.result, BaseException):
            raise batch.result
        return WriteResult(batch.rows, batch.result)

    def _work(self) -> None:
        while (batch := self._waiting.get()) is not None and not self._closed:
            try:
                batch.result = self._error or batch.write_to(self._store)
            except BaseException as error:
                batch.result = self._error = error
            self._finished.put(batch)
            with self._written:
                self._unwritten -= 1
                self._written.notify_all()


class _Batch:
    """Rows of one write, and its result."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self.ids = frozenset(row.id for row in rows)
        self.bytes = sum(sum(map(row_bytes, (row, *(row.parts or ())))) for row in rows)
        self.result: list[str | None] | BaseException = []

    def write_to(self, store: Target) -> list[str | None]:
        reached("before_write")
        refusals = store.write(self.rows)
        reached("after_write")
        return refusals


def _stopped() -> StoreStopped:
    reason = f"no answer was complete for {STALLED_SECONDS:,.0f} s"
    return StoreStopped(reason=reason, remedy="check the store and the way to it")


def row_bytes(row: Row) -> int:
    """Return about how many bytes of memory a row takes: those of its text and metadata, and
    4,096 for everything else.
    """
    return sys.getsizeof(row.text) + sum(map(sys.getsizeof, row.metadata.values())) + _ROW_BYTES
