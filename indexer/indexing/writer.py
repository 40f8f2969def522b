"""Rows on their way into a store: several writes under way at once, in bounded memory, while the
caller makes more rows.
"""

from __future__ import annotations

import queue
import sys
import threading
import time
from collections.abc import Iterator, Sequence
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
    """What rows are written to: a store, or something before it. `writers` and `write` are as a
    store's.
    """

    writers: int

    def write(self, rows: Sequence[Row]) -> list[str | None]:
        """Insert or replace rows."""
        ...


class Writer:
    """Writes rows from as many threads as the store has use for; in the caller's thread where that
    is one.

    A context manager. At most `most_bytes` of rows are under way, by `weight`, or else one batch
    that is larger alone: `write` waits until there is room. Two batches with a row of the same id
    are never under way together, so the later one wins.
    """

    def __init__(self, store: Target, most_bytes: int = MOST_BYTES) -> None:
        self._store, self._most = store, most_bytes
        self._waiting: queue.SimpleQueue[_Batch | None] = queue.SimpleQueue()
        self._finished: queue.SimpleQueue[_Batch] = queue.SimpleQueue()
        self._under_way: set[str] = set()
        self._bytes = 0
        self._closed = False
        count = store.writers if store.writers > 1 else 0
        self._threads = [
            threading.Thread(
                target=copy_context().run, args=(self._work,), name="nearfold-writer", daemon=True
            )
            for _ in range(count)
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
            yield WriteResult(batch.rows, batch.written_to(self._store))
            return
        while self._under_way and (
            self._bytes + batch.bytes > self._most or not self._under_way.isdisjoint(batch.ids)
        ):
            yield self._next()
        self._bytes += batch.bytes
        self._under_way |= batch.ids
        self._waiting.put(batch)
        while not self._finished.empty():
            yield self._next()

    def finish(self) -> Iterator[WriteResult]:
        """Yield what the store decides on all that is under way."""
        while self._under_way:
            yield self._next()

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
            reason = f"no answer was complete for {STALLED_SECONDS:,.0f} s"
            raise StoreStopped(
                reason=reason, remedy="check the cluster and the way to it"
            ) from None
        self._bytes -= batch.bytes
        self._under_way -= batch.ids
        if isinstance(batch.result, BaseException):
            raise batch.result
        return WriteResult(batch.rows, batch.result)

    def _work(self) -> None:
        while (batch := self._waiting.get()) is not None and not self._closed:
            try:
                batch.result = batch.written_to(self._store)
            except BaseException as error:
                batch.result = error
            self._finished.put(batch)


class _Batch:
    """Rows of one write, and what came of it."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self.ids = frozenset(row.id for row in rows)
        self.bytes = sum(map(weight, (one for row in rows for one in (row, *(row.parts or ())))))
        self.result: list[str | None] | BaseException = []

    def written_to(self, store: Target) -> list[str | None]:
        reached("before_write")
        refusals = store.write(self.rows)
        reached("after_write")
        return refusals


def weight(row: Row) -> int:
    """About how many bytes of memory a row takes: those of its text and metadata, and 4,096 for
    everything else.
    """
    return sys.getsizeof(row.text) + sum(map(sys.getsizeof, row.metadata.values())) + _ROW_BYTES
