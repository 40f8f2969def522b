"""Stages of indexing: blobs in, exactly one outcome each out.

    select_new -> extract -> make_rows -> write

Each stage is a generator of one kind of value. An outcome that is decided early (skipped, failed)
passes through the later stages untouched, which is why the account adds up.
"""

from __future__ import annotations

import queue
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from indexer.comparing.clauses.segmentation import locate_headings
from indexer.documents.base import CUSTODIAN, ExtractorPool, Limits, Task
from indexer.documents.blobs import read
from indexer.documents.extractors import document_or_task, is_outdated, name_with_format
from indexer.errors import ExtractionError, ExtractorUnavailable, StoreStopped
from indexer.fingerprinting.fingerprint import fingerprints
from indexer.grouping.delete import delete_and_repair
from indexer.grouping.group_options import DEFAULT_FAMILIES, FamilyOptions
from indexer.jobs.arrival import Arrivals
from indexer.jobs.document_rows import Divide, ExtractedBlob, row_of, with_stored_ids
from indexer.model import (
    Blob,
    Document,
    FailedBlob,
    IndexedBlob,
    Outcome,
    Payload,
    Row,
    SkippedBlob,
)
from indexer.recipe import Recipe
from indexer.stores.abilities import FullStore
from indexer.stores.journal import Failure, Journal
from indexer.system.failpoints import reached
from indexer.system.logs import event

# Concurrent writes of rows into a store, in bounded memory, while the caller makes more rows.

MAX_BYTES = 64 << 20
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

    A context manager. No more than `max_bytes` of rows are being written, by `row_bytes`, or else
    one batch that is larger alone: `write` waits until there is memory. Two batches with a row of
    the same id are never written at the same time, so the later one wins.
    """

    def __init__(self, store: Target, max_bytes: int = MAX_BYTES) -> None:
        self._store = store
        self._limit = max_bytes
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
            self._bytes + batch.bytes > self._limit or not self._pending_ids.isdisjoint(batch.ids)
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
        """Drop rows that are not being written yet, and wait a few seconds for the others."""
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
    reason = f"no response was complete for {STALLED_SECONDS:,.0f} s"
    return StoreStopped(reason=reason, remedy="check the store and the way to it")


def row_bytes(row: Row) -> int:
    """Return about how many bytes of memory a row takes: its text and metadata, and
    4,096 for everything else.
    """
    return sys.getsizeof(row.text) + sum(map(sys.getsizeof, row.metadata.values())) + _ROW_BYTES


LOOKUP_BATCH, LOOKUP_BYTES = 256, 64 << 20
WRITE_DOCUMENTS, WRITE_SHARED, WRITE_DIVIDED = 2_000, 500, 50  # of a batch
WRITE_CHARS = 8_000_000


@dataclass(frozen=True, slots=True)
class Pending:
    """A blob whose bytes were read and are not in the store yet. `replaces`: the store has a row of
    its earlier content.
    """

    blob: Blob
    payload: Payload
    replaces: bool


@dataclass(frozen=True)
class Job:
    """Context that the stages of one job share. Once `stopping` returns True nothing more is read;
    what was read is finished. `families` keeps them; `joins`: documents join them on arrival;
    `provisional`: they wait for `group`. `divide` adds parts to rows; None for documents without
    parts.
    """

    store: FullStore
    recipe: Recipe
    journal: Journal
    extractor: str
    limits: Limits
    labels: tuple[str, ...] = ()
    custodian: str = ""
    retry: bool = False
    refresh: bool = False
    families: FamilyOptions = DEFAULT_FAMILIES
    joins: bool = True
    provisional: bool = False
    stopping: Callable[[], bool] = lambda: False
    divide: Divide | None = None

    @cached_property
    def arrivals(self) -> Arrivals:
        """The object that gives rows their families; one for the whole job."""
        return Arrivals(
            self.store,
            self.recipe,
            self.families.documents,
            joins=self.joins,
            provisional=self.provisional,
        )

    @cached_property
    def writer(self) -> Writer:
        """The writer of rows, whose threads run while rows are made."""
        return Writer(self.arrivals, MAX_BYTES if self.store.shared else MAX_BYTES // 2)

    @cached_property
    def recipe_id(self) -> str:
        """The recipe's id, computed once a job."""
        return self.recipe.id

    @property
    def compares_rows(self) -> bool:
        """True if more of a stored row than its source decides whether its file is read again."""
        return bool(self.refresh or self.custodian or self.labels)


def outcomes(
    blobs: Iterable[Blob | Outcome], job: Job, pool: ExtractorPool
) -> Generator[Outcome, None, None]:
    """Index blobs and yield the outcome of each, in the order in which it is known.

    An `IndexedBlob` is yielded after the store has acknowledged the row, never before. Rows may be
    on their way to the store while others are extracted; closing the generator drops them, and a
    later run sends them again.
    """
    yield from _write(_extract(_select_new(blobs, job), job, pool), job)


def _select_new(blobs: Iterable[Blob | Outcome], job: Job) -> Iterator[Pending | Outcome]:
    """Read blobs; those that the store or the journal already knows become outcomes."""
    for batch, stored in _with_stored_ids(_batches(blobs), job):
        failures = job.journal.failures([item.id for item in batch if isinstance(item, Blob)])
        rows = job.store.get(list(stored)) if job.compares_rows else {}
        stored |= {row.id: "" for row in rows.values() if _is_read_again(row, job)}
        labels = set(job.labels)
        unlabelled = {id: row for id, row in rows.items() if not labels <= set(row.labels)}
        for item in batch:
            if job.stopping():
                return
            if not isinstance(item, Blob):
                yield item
                continue
            failure = None if job.retry else failures.get(item.id)
            outcome = _read(_with_custodian(item, job), job, stored.get(item.id), failure)
            if not isinstance(outcome, SkippedBlob):
                yield outcome
                continue
            if item.id in failures:
                job.journal.forget([item.id])
            row = unlabelled.get(item.id)
            yield _add_labels(row, job) if row else outcome


def _with_stored_ids(
    batches: Iterable[list[Blob | Outcome]], job: Job
) -> Iterator[tuple[list[Blob | Outcome], dict[str, str]]]:
    """Yield the batches with the ids of files that came by another PATH before.

    Each comes with the `source` digests of what is stored of it, by id.
    """
    store = job.store
    was_empty = not store.vocabulary.frequencies(()).documents
    renamed: dict[str, str] = {}
    for batch in batches:
        blobs = [item for item in batch if isinstance(item, Blob)]
        if was_empty:  # nothing has another id
            yield batch, store.sources([blob.id for blob in blobs])
            continue
        named, sources = with_stored_ids(blobs, store, renamed)
        following = iter(named)
        items = [next(following) if isinstance(item, Blob) else item for item in batch]
        yield items, sources


def _is_read_again(row: Row, job: Job) -> bool:
    """Return True for a row without the job's custodian, and, if the job refreshes, for one that an
    older extractor made.
    """
    if job.refresh and is_outdated(row.extractor, job.extractor):
        return True
    return bool(job.custodian) and row.metadata.get(CUSTODIAN) != job.custodian


def _with_custodian(blob: Blob, job: Job) -> Blob:
    if not job.custodian:
        return blob
    return replace(blob, metadata={**blob.metadata, CUSTODIAN: job.custodian})


def _add_labels(row: Row, job: Job) -> Outcome:
    """Add the job's labels to an unchanged document; nothing else of it is written."""
    job.store.labels.relabel({row.id: tuple(dict.fromkeys((*row.labels, *job.labels)))})
    return IndexedBlob(row.path, row.status, row.extractor)


def _read(blob: Blob, job: Job, stored: str | None, failure: Failure | None) -> Pending | Outcome:
    """Read a blob, unless its outcome is known before. `stored`: the source digest of its row."""
    if blob.source:
        outcome = _known_outcome(blob, blob.source, job, stored, failure)
        if outcome:
            return outcome
    try:
        payload = read(blob, job.limits.bytes)
    except ExtractionError as error:
        return FailedBlob(blob.path, str(error))
    outcome = _known_outcome(blob, payload.source, job, stored, failure)
    return outcome or Pending(blob, payload, stored is not None)


def _known_outcome(
    blob: Blob, source: str, job: Job, stored: str | None, failure: Failure | None
) -> Outcome | None:
    """Return the outcome of a blob that is already indexed or known to fail, else None."""
    if source == stored:
        return SkippedBlob(blob.path, "unchanged")
    if failure and (failure.source, failure.extractor) == (source, job.extractor):
        return FailedBlob(blob.path, failure.error)
    return None


def _extract(
    items: Iterable[Pending | Outcome], job: Job, pool: ExtractorPool
) -> Iterator[ExtractedBlob | Outcome]:
    """Extract the text of every blob: plain text in this process, everything else in the worker
    processes.
    """
    results: Iterator[tuple[Pending, Document | ExtractionError] | ExtractedBlob | Outcome] = (
        pool.extract_all(_tasks(items, job))
    )
    for item in results:
        if not isinstance(item, tuple):
            yield item
            continue
        pending, result = item
        if isinstance(result, ExtractorUnavailable):
            raise result
        if isinstance(result, ExtractionError):
            yield _fail(pending, result, job)
        else:
            yield _extracted_blob(pending, result)


def _tasks(
    items: Iterable[Pending | Outcome], job: Job
) -> Iterator[Task[Pending] | ExtractedBlob | Outcome]:
    for item in items:
        if not isinstance(item, Pending):
            yield item
            continue
        try:
            result = _document_or_task(item, job.limits)
        except ExtractionError as error:
            yield _fail(item, error, job)
            continue
        if isinstance(result, Task):
            yield result
        else:
            yield _extracted_blob(item, result)


def _extracted_blob(pending: Pending, document: Document) -> ExtractedBlob:
    reached("after_extract")
    payload = pending.payload
    return ExtractedBlob(pending.blob, payload.raw, payload.source, document, pending.replaces)


def _document_or_task(item: Pending, limits: Limits) -> Document | Task[Pending]:
    """Return the document that the source made, if it gives texts; else its bytes are read or
    become a task.
    """
    reached("before_extract", ExtractionError)
    result = item.payload.document
    if isinstance(result, ExtractionError):
        raise result
    data = item.payload.data
    return result or document_or_task(item, data, name_with_format(item.blob.path, data), limits)


def _fail(pending: Pending, error: ExtractionError, job: Job) -> FailedBlob:
    """Record a failure; the row of what the file held before is deleted, for it is no longer
    true.
    """
    blob = pending.blob
    event("document_failed", id=blob.id, kind=type(error).__name__)
    if pending.replaces:
        job.writer.settle()
        delete_and_repair(job.store, [blob.id], job.families)
    failure = Failure(blob.id, blob.path, pending.payload.source, job.extractor, str(error))
    job.journal.record([failure])
    return FailedBlob(blob.path, str(error))


def _write(items: Iterable[ExtractedBlob | Outcome], job: Job) -> Iterator[Outcome]:
    """Fingerprint in batches and hand them to the store; outcomes that are already decided pass at
    once.
    """
    batch: list[ExtractedBlob] = []
    chars = 0
    limit = min(WRITE_SHARED, WRITE_DOCUMENTS) if job.store.shared else WRITE_DOCUMENTS
    limit = WRITE_DIVIDED if job.divide else limit
    with job.writer as writer:
        for item in items:
            if not isinstance(item, ExtractedBlob):
                yield item
                continue
            batch.append(item)
            chars += len(item.document.text)
            if len(batch) >= limit or chars >= WRITE_CHARS:
                yield from _outcomes_of(writer.write(_make_rows(batch, job)), job)
                batch = []
                chars = 0
        if batch:
            yield from _outcomes_of(writer.write(_make_rows(batch, job)), job)
        yield from _outcomes_of(writer.finish(), job)


def _make_rows(batch: Sequence[ExtractedBlob], job: Job) -> list[Row]:
    """Return the rows of these blobs, with parts and families."""
    reached("before_fingerprint")
    fingerprinted = fingerprints([item.document.text for item in batch], job.recipe)
    reached("after_fingerprint")
    rows = [
        row_of(item, fingerprinted[index], job.recipe_id, job.labels, is_alone=True)
        for index, item in enumerate(batch)
    ]
    replaced = {item.blob.id for item in batch if item.replaces}
    if replaced or job.writer.has_any(row.id for row in rows):
        job.writer.settle()
    if job.divide:
        structure = {
            item.blob.id: locate_headings(item.document.text, item.document.headings)
            for item in batch
        }
        rows = job.divide(rows, replaced, structure)
    return job.arrivals.assign(rows, replaced)


def _outcomes_of(results: Iterable[WriteResult], job: Job) -> Iterator[Outcome]:
    """Yield the outcomes of rows on which the store has decided; refusals are recorded."""
    for result in results:
        reached("before_acknowledge")
        refused = {
            row.id: (row, refusal)
            for row, refusal in zip(result.rows, result.refusals, strict=True)
            if refusal
        }
        job.journal.forget(row.id for row in result.rows if row.id not in refused)
        errors = _record_refusals(refused, job) if refused else {}
        for row in result.rows:
            if row.id in errors:
                yield FailedBlob(row.path, errors[row.id])
            else:
                yield IndexedBlob(row.path, row.status, row.extractor)
            reached("after_acknowledge")


def _record_refusals(refused: Mapping[str, tuple[Row, str]], job: Job) -> dict[str, str]:
    """Record what the store refused, and return the reasons by id; rows of what the files held
    before are deleted, for they are no longer true.
    """
    job.writer.settle()
    replaced = job.store.sources(list(refused))
    if replaced:
        delete_and_repair(job.store, list(replaced), job.families)
    for id in refused:
        event("document_refused", id=id)
    errors = {id: f"the store refused it: {refusal}" for id, (_, refusal) in refused.items()}
    job.journal.record(
        Failure(id, row.path, row.source, job.extractor, errors[id])
        for id, (row, _) in refused.items()
    )
    return errors


def _batches(items: Iterable[Blob | Outcome]) -> Iterator[list[Blob | Outcome]]:
    """Yield blobs to be looked up together; few where they are large, since some sources give them
    with their bytes.
    """
    batch: list[Blob | Outcome] = []
    size = 0
    for item in items:
        batch.append(item)
        size += item.size if isinstance(item, Blob) else 0
        if len(batch) == LOOKUP_BATCH or size >= LOOKUP_BYTES:
            yield batch
            batch = []
            size = 0
    if batch:
        yield batch
