"""Copies of a store and its journal in files, and the way back."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from indexer.errors import SourceNotFound, StoreBusy, Unsupported, UsageError
from indexer.jobhistory import working
from indexer.jobs import Journal, copy_journal, journal_path
from indexer.lookup import recipe_of
from indexer.stores import open_store
from indexer.stores.base import Store
from indexer.stores.keeping import Copied

_SNAPSHOT = "take a snapshot in its cluster, as docs/operating.md shows"


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of a store: where, how many documents, and whether its journal is in it too (None: there was none)."""

    path: str
    documents: int
    journal: bool | None


def backup(store: Store, path: str) -> Copy:
    """Copy a store into a file, as it is at one moment, while searches and a job go on; the copy is a store itself.

    Its journal goes into `path`.jobs, unless a job holds it. A copy that was there is replaced when the new one is whole.
    Raises `Unsupported` for what is no file, `UsageError` for the store's own file, and `StoreError` when nothing was indexed
    yet.
    """
    recipe_of(store)
    if not isinstance(store, Copied) or (journal := journal_path(store.url)) is None:
        raise Unsupported(store=store.url, what="be copied into a file", instead=_SNAPSHOT)
    if Path(path).resolve() == journal.with_suffix("").resolve():
        raise UsageError(f"{path} is the store itself; name another file")
    store.backup(path)
    kept: bool | None = None
    if journal.exists():
        try:
            copy_journal(journal, Path(f"{path}.jobs"))
            kept = True
        except StoreBusy:
            kept = False
    return Copy(path, _documents(path), kept)


def restore(store: Store, path: str, *, replace: bool = False) -> Copy:
    """Put a copy in place of a store, in one step; searches under way see the old documents or the new ones.

    Without `replace` only where there is no store yet. The journal is replaced by that of the copy where it has one. Raises
    `SourceNotFound`, `UsageError`, `Unsupported`, `StoreBusy` while a job works on the store, and `StoreError` for a file that
    is no copy of a store.
    """
    if not isinstance(store, Copied) or (journal := journal_path(store.url)) is None:
        raise Unsupported(store=store.url, what="be restored from a file", instead=_SNAPSHOT)
    if not Path(path).is_file():
        raise SourceNotFound(path=path)
    if not replace and journal.with_suffix("").exists():
        raise UsageError(f"there is a store at {store.url} already; --replace puts the copy in its place")
    jobs = Path(f"{path}.jobs")
    with Journal(journal) as held:
        if jobs.exists():
            held.replace(jobs)
        with working(held, "restore") as job:
            store.restore(path)
            recipe_of(store)
            job.counts["documents"] = store.counts().documents
    return Copy(path, job.counts["documents"], True if jobs.exists() else None)


def _documents(path: str) -> int:
    with closing(open_store(f"sqlite:///{path}")) as copy:
        return copy.counts().documents
