"""Copies of a store and its journal in files, and the way back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from indexer.errors import SourceNotFound, StoreBusy, UnsupportedOperation, UsageError
from indexer.jobs.history import record_job
from indexer.jobs.journal import Journal, check_journal, copy_journal, journal_path
from indexer.stores import open_store
from indexer.stores.base import Store
from indexer.stores.maintenance import CopyableStore
from indexer.stores.requirements import require_recipe
from indexer.system.durable_files import make_private

_SNAPSHOT = "take a snapshot in its cluster, as docs/operating.md shows"


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of a store: where, how many documents, and whether its journal is in it too (None:
    there was none).
    """

    path: str
    documents: int
    journal: bool | None


def backup(store: Store, path: str) -> Copy:
    """Copy a store into a file, as it is at one moment, while searches and a job go on; the copy is
    a store itself.

    Its journal goes into `path`.jobs, unless a job holds it. A copy that was there is replaced when
    the new one is whole. Nobody may read the copies who may not read the originals. Raises
    `UnsupportedOperation` for what is no file, `UsageError` for the store's own files and for any other file
    that is no copy, and `StoreError` when nothing was indexed yet.
    """
    require_recipe(store)
    if not isinstance(store, CopyableStore) or (journal := journal_path(store.url)) is None:
        raise UnsupportedOperation(store=store.url, what="be copied into a file", instead=_SNAPSHOT)
    _check_other(Path(path), journal)
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
    """Put a copy in place of a store, in one step; searches under way see the old documents or the
    new ones.

    Without `replace` only where there is no store yet. The journal is replaced, once the store is,
    by that of the copy where it has one. Raises `SourceNotFound`, `UsageError`, `UnsupportedOperation`,
    `StoreBusy` while a job works on the store, and `StoreError` for a file that is no sound copy of
    a store, and for the file of another program in its place: then nothing is changed.
    """
    if not isinstance(store, CopyableStore) or (journal := journal_path(store.url)) is None:
        raise UnsupportedOperation(
            store=store.url, what="be restored from a file", instead=_SNAPSHOT
        )
    if not Path(path).is_file():
        raise SourceNotFound(path=path)
    _check_other(Path(path), journal)
    place, jobs = journal.with_suffix(""), Path(f"{path}.jobs")
    if not replace and place.exists():
        raise UsageError(
            f"there is a store at {store.url} already; --replace puts the copy in its place"
        )
    if jobs.exists():
        check_journal(jobs)
    with (
        _as_private(journal, jobs),
        _as_private(place, Path(path)),
        Journal(journal) as held,
        record_job(held, "restore") as job,
    ):
        store.restore(path)
        if jobs.exists():
            held.replace(jobs)
        require_recipe(store)
        job.counts["documents"] = store.counts().documents
    return Copy(path, job.counts["documents"], True if jobs.exists() else None)


def _check_other(path: Path, journal: Path) -> None:
    """Raise `UsageError` for a file of the store itself, under whatever name."""
    store = journal.with_suffix("")
    own = (
        store,
        journal,
        *(Path(f"{one}{end}") for one in (store, journal) for end in ("-wal", "-shm", "-journal")),
    )
    if path.resolve() in [one.resolve() for one in own] or any(
        path.exists() and one.exists() and path.samefile(one) for one in own
    ):
        raise UsageError(f"{path} belongs to the store itself; name another file")


@contextmanager
def _as_private(new: Path, like: Path) -> Iterator[None]:
    """Have a file that is made inside be for nobody who may not read the other one; when nothing
    comes of it, it is gone.
    """
    made = like.exists() and not new.exists() and new.parent.is_dir()
    if made:
        make_private(new, like)
    try:
        yield
    finally:
        if made and not new.stat().st_size:
            new.unlink()


def _documents(path: str) -> int:
    with closing(open_store(f"sqlite:///{path}")) as copy:
        return copy.counts().documents
