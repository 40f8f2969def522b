"""Indexing: blobs in, exactly one outcome each out.

    walk -> fresh -> extracted -> signed -> written

Each stage is a generator of one kind of value. An outcome that is decided early (skipped, failed) passes through the later
stages untouched, which is why the account adds up.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TypeVar

from indexer.errors import ExtractionError, ExtractorUnavailable
from indexer.extract.base import DEFAULT_LIMITS, Limits
from indexer.extract.choosing import extractor_named
from indexer.extract.plain import plain_document
from indexer.extract.pool import Pool, Task
from indexer.fingerprinting import fingerprints
from indexer.jobs import Failure, Journal, journal_path
from indexer.model import Blob, Document, Failed, Fingerprint, Indexed, Outcome, Row, Skipped
from indexer.recipe import DEFAULT, Recipe
from indexer.sketch.codec import pack_slots
from indexer.sources.folder import walk
from indexer.sources.reading import Payload, read
from indexer.stores.base import Store

LOOKUP_BATCH = 256
WRITE_DOCUMENTS = 500
WRITE_CHARS = 8_000_000

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Account:
    """What became of every blob of a job: `seen` is the sum of the others. `seconds` is wall-clock time."""

    seen: int
    indexed: int
    unchanged: int
    skipped: dict[str, int]
    failed: tuple[Failed, ...]
    removed: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Pending:
    """A blob whose bytes were read and are not in the store yet."""

    blob: Blob
    payload: Payload


@dataclass(frozen=True, slots=True)
class Extracted:
    """A blob with its text; the bytes are gone."""

    blob: Blob
    raw: str
    source: str
    document: Document


@dataclass(frozen=True)
class Job:
    """What the stages of one job share."""

    store: Store
    recipe: Recipe
    journal: Journal
    extractor: str
    limits: Limits
    labels: tuple[str, ...] = ()
    retry: bool = False

    @cached_property
    def recipe_id(self) -> str:
        """The recipe's id, worked out once a job."""
        return self.recipe.id


def outcomes(blobs: Iterable[Blob | Outcome], job: Job, pool: Pool) -> Iterator[Outcome]:
    """Index blobs and yield what became of each, in the order in which it is known.

    An `Indexed` is yielded after the store has acknowledged the row, never before.
    """
    yield from _written(_extracted(_fresh(blobs, job), job, pool), job)


def _fresh(blobs: Iterable[Blob | Outcome], job: Job) -> Iterator[Pending | Outcome]:
    """Read blobs; those that the store or the journal already knows become outcomes."""
    for batch in _batches(blobs, LOOKUP_BATCH):
        ids = [item.id for item in batch if isinstance(item, Blob)]
        stored = job.store.sources(ids)
        failures = {} if job.retry else job.journal.failures(ids)
        for item in batch:
            yield _pending(item, job, stored.get(item.id), failures.get(item.id)) if isinstance(item, Blob) else item


def _pending(blob: Blob, job: Job, stored: str | None, failure: Failure | None) -> Pending | Outcome:
    try:
        payload = read(blob, job.limits.bytes)
    except ExtractionError as error:
        return Failed(blob.path, str(error))
    if payload.source == stored:
        return Skipped(blob.path, "unchanged")
    if failure and (failure.source, failure.extractor) == (payload.source, job.extractor):
        return Failed(blob.path, failure.error)
    return Pending(blob, payload)


def _extracted(items: Iterable[Pending | Outcome], job: Job, pool: Pool) -> Iterator[Extracted | Outcome]:
    """Text of every blob: plain text here and now, everything else in the worker processes."""
    results: Iterator[tuple[Pending, Document | ExtractionError] | Extracted | Outcome] = pool.extract_all(_tasks(items, job))
    for item in results:
        if not isinstance(item, tuple):
            yield item
            continue
        pending, result = item
        if isinstance(result, ExtractorUnavailable):
            raise result
        if isinstance(result, ExtractionError):
            yield _failed(pending, result, job)
        else:
            yield Extracted(pending.blob, pending.payload.raw, pending.payload.source, result)


def _tasks(items: Iterable[Pending | Outcome], job: Job) -> Iterator[Task[Pending] | Extracted | Outcome]:
    for item in items:
        if not isinstance(item, Pending):
            yield item
            continue
        name = _file_name(item.blob.path)
        try:
            document = plain_document(item.payload.data, name, job.limits)
        except ExtractionError as error:
            yield _failed(item, error, job)
            continue
        if document is None:
            yield Task(item, item.payload.data, name)
        else:
            yield Extracted(item.blob, item.payload.raw, item.payload.source, document)


def _failed(pending: Pending, error: ExtractionError, job: Job) -> Failed:
    blob = pending.blob
    job.journal.record([Failure(blob.id, blob.path, pending.payload.source, job.extractor, str(error))])
    return Failed(blob.path, str(error))


def _written(items: Iterable[Extracted | Outcome], job: Job) -> Iterator[Outcome]:
    """Fingerprint and write in batches; outcomes that are already decided pass at once."""
    batch: list[Extracted] = []
    chars = 0
    for item in items:
        if not isinstance(item, Extracted):
            yield item
            continue
        batch.append(item)
        chars += len(item.document.text)
        if len(batch) >= WRITE_DOCUMENTS or chars >= WRITE_CHARS:
            yield from _write(batch, job)
            batch, chars = [], 0
    if batch:
        yield from _write(batch, job)


def _write(batch: Sequence[Extracted], job: Job) -> Iterator[Outcome]:
    signed = fingerprints([item.document.text for item in batch], job.recipe)
    rows = [row_of(item, signed[place], job.recipe_id, job.labels) for place, item in enumerate(batch)]
    refusals = job.store.write(rows)
    job.journal.forget(row.id for row, refusal in zip(rows, refusals, strict=True) if refusal is None)
    for row, refusal in zip(rows, refusals, strict=True):
        yield Indexed(row.path, row.status) if refusal is None else Failed(row.path, refusal)


def row_of(item: Extracted, signed: Fingerprint, recipe_id: str, labels: tuple[str, ...] = ()) -> Row:
    """The row of one document. Cut text is `truncated`, never `complete`; until it is grouped a row is its own family."""
    blob, document = item.blob, item.document
    cut = document.truncated and signed.status == "complete"
    return Row(
        id=blob.id,
        recipe=recipe_id,
        status="truncated" if cut else signed.status,
        title=document.title or _file_name(blob.path),
        text=document.text,
        path=blob.path,
        content_type=document.content_type,
        modified=blob.modified // 1_000_000,
        size=blob.size,
        source=item.source,
        extractor=document.extractor,
        raw=item.raw,
        exact=signed.exact,
        words=signed.words,
        chars=signed.chars,
        family=blob.id,
        labels=labels,
        metadata=document.metadata,
        bands=signed.bands,
        blocks=signed.blocks,
        minhash=None if signed.minhash is None else pack_slots(signed.minhash),
        simhash=signed.simhash,
    )


def index(
    paths: Sequence[str],
    store: Store,
    recipe: Recipe | None = None,
    *,
    workers: int | None = None,
    namespace: str | None = None,
    labels: Sequence[str] = (),
    extractor: str = "native",
    limits: Limits = DEFAULT_LIMITS,
    prune: bool = False,
    retry: bool = False,
    progress: Callable[[Outcome], None] = lambda _: None,
) -> Account:
    """Extract, fingerprint and store every file under `paths`; skip what has not changed; resume what was cut short.

    `recipe` None means the store's own, or the default for a new store. `prune` removes rows under `paths` whose file is
    gone. `retry` reads files again that failed before. `progress` is called with each outcome as it is known.

    Raises `SourceNotFound`, `StoreError` and `ExtractorUnavailable`; what was acknowledged by then is in the store, and the
    same call goes on from there.
    """
    started = time.monotonic()
    store.prepare(recipe or store.stored_recipe() or DEFAULT)
    job_recipe = store.stored_recipe() or DEFAULT
    seen: Counter[str] = Counter()
    failed: list[Failed] = []
    ids: set[str] = set()
    with Journal(journal_path(store.url)) as journal, Pool(extractor_named(extractor), workers, limits) as pool:
        job = Job(store, job_recipe, journal, pool.identity, limits, tuple(labels), retry)
        blobs = walk(paths, namespace, own_files(store.url))
        for outcome in outcomes(_noted(blobs, ids) if prune else blobs, job, pool):
            seen[outcome.reason if isinstance(outcome, Skipped) else type(outcome).__name__] += 1
            if isinstance(outcome, Failed):
                failed.append(outcome)
            progress(outcome)
        removed = _prune(paths, store, ids, failed) if prune else 0
        store.refresh()
    return Account(
        seen=seen.total(),
        indexed=seen["Indexed"],
        unchanged=seen["unchanged"],
        skipped={reason: seen[reason] for reason in ("special_file", "excluded") if seen[reason]},
        failed=tuple(failed),
        removed=removed,
        seconds=time.monotonic() - started,
    )


def own_files(store_url: str) -> tuple[str, ...]:
    """The files that nearfold itself keeps for a store: they are never indexed."""
    journal = journal_path(store_url)
    if journal is None:
        return ()
    return (str(journal), str(journal.with_suffix("")))


def _noted(blobs: Iterable[Blob | Outcome], ids: set[str]) -> Iterator[Blob | Outcome]:
    for item in blobs:
        if isinstance(item, Blob):
            ids.add(item.id)
        yield item


def _prune(paths: Sequence[str], store: Store, ids: set[str], failed: Sequence[Failed]) -> int:
    """Delete rows under `paths` that the walk did not see; what lies under a folder that could not be read is left alone."""
    unread = tuple(f"{failure.path}{os.sep}" for failure in failed)
    gone = [
        row.id
        for path in paths
        for row in store.scan(under=os.path.realpath(path))
        if row.id not in ids and not row.path.startswith(unread)
    ]
    return store.delete(gone)


def _file_name(path: str) -> str:
    """The last part of a path; making a Path of it costs as much as reading a small file."""
    return path.rpartition(os.sep)[2]


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
