"""Removal of what a run shows to be gone: rows without their document, outdated failures."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from indexer.grouping.delete import delete_and_repair
from indexer.grouping.family_options import FamilyOptions
from indexer.jobs.journal import Failure, Journal
from indexer.model import Blob, FailedBlob, Outcome
from indexer.sources.base import Source
from indexer.sources.members import INSIDE
from indexer.stores.abilities import FullStore


def note_ids(blobs: Iterable[Blob | Outcome], ids: set[str]) -> Iterator[Blob | Outcome]:
    """Pass everything on, and add the ids of blobs to `ids`."""
    for item in blobs:
        if isinstance(item, Blob):
            ids.add(item.id)
        yield item


def prune(
    sources: Sequence[Source],
    store: FullStore,
    ids: set[str],
    failed: Sequence[FailedBlob],
    families: FamilyOptions,
) -> int:
    """Delete rows of these sources whose document is gone: not yielded in this run, and not there
    under its path either.

    What lies under a folder or in a container that could not be read is left alone.
    """
    unread = tuple(f"{failure.path}{end}" for failure in failed for end in (os.sep, INSIDE))
    absent = [
        row.id
        for source in sources
        for scope in source.scopes()
        for row in store.scan(under=scope)
        if row.id not in ids and not row.path.startswith(unread) and not source.holds(row.path)
    ]
    return len(delete_and_repair(store, absent, families).deleted)


def settle_failures(
    journal: Journal, sources: Sequence[Source], failed: Sequence[FailedBlob]
) -> None:
    """Make the journal agree, about these sources, with the account of this run, which read them to
    their end.

    What failed without being read is remembered, and an earlier failure forgotten when its file is
    gone, or fails no more or otherwise now; those in containers that were not opened this time are
    kept.
    """
    current = {(failure.path, failure.error) for failure in failed}
    paths = {path for path, _ in current}
    outdated = [
        failure.id
        for failure in journal
        if (failure.path, failure.error) not in current and _is_settled(failure, sources, paths)
    ]
    journal.forget(outdated)
    recorded = {(failure.path, failure.error) for failure in journal}
    journal.record(Failure.unread_at(path, error) for path, error in current - recorded)


def _is_settled(failure: Failure, sources: Sequence[Source], failed: set[str]) -> bool:
    """Return whether this run decides on a recorded failure: its path belongs to one of the
    sources, and failed otherwise, was never read, or is gone.
    """
    return any(
        _is_within(failure.path, source)
        and (failure.unread or failure.path in failed or not source.holds(failure.path))
        for source in sources
    )


def _is_within(path: str, source: Source) -> bool:
    return any(
        path == scope or path.startswith(f"{scope.rstrip('/')}/") for scope in source.scopes()
    )
