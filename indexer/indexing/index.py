"""Indexing: the stages put together, one account at the end."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import Literal

from indexer.errors import StoreStopped, StoreUnreachable, UsageError
from indexer.extraction.base import DEFAULT_LIMITS, Limits
from indexer.extraction.extractors import extractor_named
from indexer.extraction.worker_pool import Pool
from indexer.grouping.delete import DEFAULTS, delete_and_repair
from indexer.grouping.group import Settings
from indexer.indexing.open_sources import blobs_of, open_sources, target
from indexer.indexing.parts import part_divider
from indexer.indexing.stages import Job, outcomes
from indexer.jobs.history import record_job
from indexer.jobs.journal import Failure, Journal, journal_path
from indexer.model import Blob, FailedBlob, Outcome, SkippedBlob
from indexer.recipe import DEFAULT, Recipe
from indexer.sketch.fingerprint import fingerprints
from indexer.sources.base import Reading, Source
from indexer.sources.members import INSIDE
from indexer.stores.address import StoreAddress
from indexer.stores.base import Store

DEFAULT_READING = Reading()
_PROBE = "A recipe that cannot be kept, or lacks a library, is refused before anything is created."


@dataclass(frozen=True, slots=True)
class Account:
    """What became of every blob of a job: `seen` = `indexed` + `unchanged` + all of `skipped` + the
    number of `failed`.

    `removed` counts rows that were pruned, `seconds` wall-clock time. `stopped`: it was asked to
    end before all was read.
    """

    seen: int
    indexed: int
    unchanged: int
    skipped: dict[str, int]
    failed: tuple[FailedBlob, ...]
    removed: int
    seconds: float
    stopped: bool = False


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
    family_threshold: float | None = DEFAULTS.threshold,
    parts: Literal["clauses"] | None = None,
    reading: Reading = DEFAULT_READING,
    progress: Callable[[Outcome], None] = lambda _: None,
    stopping: Callable[[], bool] = lambda: False,
) -> Account:
    """Extract, fingerprint and store every document under `paths`; skip what has not changed;
    resume what was cut short.

    `paths` are files, folders, archives, mailboxes, tables and URLs, read as `reading` says (its
    namespace and limits are those of this call). `recipe` None means the store's own, or the
    default for a new store. `labels` are added to every document under `paths`, unchanged ones
    included. `prune` removes rows under `paths` whose document is gone. `retry` reads documents
    again that failed before. `progress` is called with each outcome as it is known. Once `stopping`
    says so, nothing more is read or pruned, and what was read is finished.

    A new or changed document joins the family of the most similar principal at `family_threshold`
    or above, looked up as it arrives, else it leads its own (None: always); `group` makes families
    final.

    `parts` clauses: the clauses of each document become rows of their own beside it, which
    `search`, `similar`, `match` and `group` are asked about by `of`. A store keeps to it from then
    on: None means as the store does.

    Raises `SourceNotFound` and other kinds of `UsageError` before anything is written, `StoreError`
    and `ExtractorUnavailable`; what was acknowledged by then is in the store, and the same call
    goes on from there.
    """
    started = time.monotonic()
    families = _families(family_threshold)
    reading = replace(reading, namespace=namespace, max_bytes=limits.bytes, max_chars=limits.chars)
    own = store
    store = target(paths, store, reading, labels)
    wanted = recipe or store.stored_recipe() or DEFAULT
    fingerprints([_PROBE], wanted)
    if reading.own_ids:
        reading = replace(
            reading, parted=bool(parts or (store.stored_recipe() and store.stored_parts()))
        )
    sources = open_sources(paths, reading, store, own_files(store.address))
    _check(sources, prune)
    store.prepare(wanted)
    job_recipe = store.stored_recipe() or DEFAULT
    tally = _Tally()
    ids: set[str] = set()
    headings = bool(parts or (store is own and store.stored_parts()))
    pool = Pool(extractor_named(extractor, headings), workers, limits)
    with (
        _resumable(),
        Journal(journal_path(store.address)) as journal,
        record_job(journal, "index") as told,
        pool,
    ):
        told.counts = tally.counts
        divides = part_divider(store, parts, job_recipe, in_place=store is not own)
        job = Job(
            store,
            job_recipe,
            journal,
            pool.identity,
            limits,
            tuple(labels),
            retry,
            families,
            stopping,
            divides,
        )
        blobs = blobs_of(sources, reading)
        with closing(outcomes(_noted(blobs, ids) if prune else blobs, job, pool)) as known:
            for outcome in known:
                tally.add(outcome)
                progress(outcome)
        removed = 0
        if not stopping():
            removed = _prune(sources, store, ids, tally.failed) if prune else 0
            _settle(journal, sources, tally.failed)
        store.refresh()
        told.stopped = stopping()
    return tally.account(removed, time.monotonic() - started, stopping())


@contextmanager
def _resumable() -> Iterator[None]:
    """A store that answers no more in the middle of a job has stopped."""
    try:
        yield
    except StoreUnreachable as error:
        raise StoreStopped(
            reason=f"no answer ({error.reason})", remedy="wait until it answers again"
        ) from error


def _families(threshold: float | None) -> Settings | None:
    """How families are made on arrival, None when they are not; raises `UsageError` for a threshold
    out of range.
    """
    if threshold is not None and not 0 < threshold <= 1:
        raise UsageError(
            f"the threshold of families must lie between 0 (exclusive) and 1, not {threshold}"
        )
    return None if threshold is None else Settings(threshold)


class _Tally:
    """Outcomes counted as `indexed`, `failed`, or by the reason for which they were skipped."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.failed: list[FailedBlob] = []

    def add(self, outcome: Outcome) -> None:
        if isinstance(outcome, SkippedBlob):
            self.counts[outcome.reason] += 1
        elif isinstance(outcome, FailedBlob):
            self.counts["failed"] += 1
            self.failed.append(outcome)
        else:
            self.counts["indexed"] += 1

    def account(self, removed: int, seconds: float, stopped: bool) -> Account:
        others = self.counts.keys() - {"indexed", "failed", "unchanged"}
        return Account(
            seen=self.counts.total(),
            indexed=self.counts["indexed"],
            unchanged=self.counts["unchanged"],
            skipped={reason: self.counts[reason] for reason in sorted(others)},
            failed=tuple(self.failed),
            removed=removed,
            seconds=seconds,
            stopped=stopped,
        )


def own_files(address: StoreAddress) -> tuple[str, ...]:
    """The files that nearfold itself keeps for a store: they are never indexed."""
    journal = journal_path(address)
    if journal is None:
        return ()
    if address.file is None:
        return (str(journal),)
    return (str(journal), address.file, f"{address.file}.reindex")


def _check(sources: Sequence[Source], prune: bool) -> None:
    if prune and not all(source.scopes() for source in sources):
        raise UsageError(
            "--prune cannot tell what is gone from an index that is signed in place, or from the answer to a query"
        )


def _noted(blobs: Iterable[Blob | Outcome], ids: set[str]) -> Iterator[Blob | Outcome]:
    for item in blobs:
        if isinstance(item, Blob):
            ids.add(item.id)
        yield item


def _prune(
    sources: Sequence[Source], store: Store, ids: set[str], failed: Sequence[FailedBlob]
) -> int:
    """Delete rows of these sources whose document is gone: not yielded in this run, and not there
    under its path either.

    What lies under a folder or in a container that could not be read is left alone.
    """
    unread = tuple(f"{failure.path}{end}" for failure in failed for end in (os.sep, INSIDE))
    gone = [
        row.id
        for source in sources
        for scope in source.scopes()
        for row in store.scan(under=scope)
        if row.id not in ids and not row.path.startswith(unread) and not source.holds(row.path)
    ]
    return len(delete_and_repair(store, gone).deleted)


def _settle(journal: Journal, sources: Sequence[Source], failed: Sequence[FailedBlob]) -> None:
    """Let the journal say of these sources what the account of this run says, which read them to
    their end.

    What failed without being read is remembered, and an earlier failure forgotten when its file is
    gone, or fails no more or otherwise now; those in containers that were not opened this time are
    kept.
    """
    now = {(one.path, one.error) for one in failed}
    paths = {path for path, _ in now}
    journal.forget(
        [
            one.id
            for one in journal
            if (one.path, one.error) not in now
            for source in sources
            if any(_within(one.path, scope) for scope in source.scopes())
            and (one.unread or one.path in paths or not source.holds(one.path))
        ]
    )
    known = {(one.path, one.error) for one in journal}
    journal.record(Failure.unread_at(path, error) for path, error in now - known)


def _within(path: str, scope: str) -> bool:
    return path == scope or path.startswith(f"{scope.rstrip('/')}/")
