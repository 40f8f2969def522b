"""Copy a store, its journal and the notes of its reviewers into files, and put these back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from indexer.errors import SourceNotFound, StoreBusy, UnsupportedOperation, UsageError
from indexer.jobs.review_file import ReviewFile, check_review, review_path
from indexer.stores import open_store
from indexer.stores.abilities import MaintainedStore
from indexer.stores.journal import (
    Journal,
    check_journal,
    copy_journal,
    journal_path,
    record_job,
)
from indexer.stores.maintenance import Copyable
from indexer.stores.requirements import require_recipe
from indexer.system.files import make_private, write_error

SNAPSHOT_ADVICE = "take a snapshot in its cluster, as docs/operating.md shows"


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of a store: its path, its number of documents, and whether it includes the journal.

    `journal` is None when the store had no journal, and False when a job held it. `review`: it
    includes notes and assignments of reviewers.
    """

    path: str
    documents: int
    journal: bool | None
    review: bool = False


def backup(store: MaintainedStore, path: str, *, replace: bool = False) -> Copy:
    """Copy a store into a file as one consistent snapshot, while searches and a job continue.

    The copy is a store itself. The journal is copied to `path`.jobs unless a job holds it, and
    notes and assignments of reviewers, if there are any, to `path`.jobs.review. With `replace`, a
    store at `path` is replaced once the copy is whole. The copies have the permissions of the
    originals. Raises `UnsupportedOperation` for a store that is not a file, `UsageError` for the
    store's own files, for a store that may not be replaced or is in use, for any other file and for
    a path that cannot be written, and `StoreError` when nothing was indexed yet.
    """
    require_recipe(store)
    journal = journal_path(store.address)
    if not isinstance(store.maintenance, Copyable) or journal is None:
        raise UnsupportedOperation(
            store=store.url, operation="be copied into a file", alternative=SNAPSHOT_ADVICE
        )
    try:
        check_foreign_file(Path(path), journal)
        with closing(open_store(f"sqlite:///{path}")) as copy:  # refuses a path no URL can name
            store.maintenance.backup(path, replace=replace)
            has_journal = _copy_journal(journal, path)
            has_review = _copy_review(journal, path)
            return Copy(path, copy.counts().documents, has_journal, has_review)
    except OSError as error:
        raise write_error(Path(path), "FILE", error) from error


def check_foreign_file(path: Path, journal: Path) -> None:
    """Raise `UsageError` for a file of the store itself, under whatever name."""
    store = journal.with_suffix("")
    files = (store, journal, Path(f"{journal}.review"))
    store_files = list(files)
    for file in files:
        store_files += [Path(f"{file}{suffix}") for suffix in ("-wal", "-shm", "-journal")]
    if any(_is_same_file(path, file) for file in store_files):
        raise UsageError(f"{path} belongs to the store itself; name another file")


def _is_same_file(path: Path, store_file: Path) -> bool:
    if path.resolve() == store_file.resolve():
        return True
    return path.exists() and store_file.exists() and path.samefile(store_file)


def _copy_journal(journal: Path, path: str) -> bool | None:
    """Return whether the journal was copied next to `path`; None when there is none."""
    if not journal.exists():
        return None
    try:
        copy_journal(journal, Path(f"{path}.jobs"))
    except StoreBusy:
        return False
    return True


def _copy_review(journal: Path, path: str) -> bool:
    """Return whether there were notes and assignments to copy; remove the ones of a former copy."""
    source, target = Path(f"{journal}.review"), Path(f"{path}.jobs.review")
    if not source.exists():
        target.unlink(missing_ok=True)
        return False
    copy_journal(source, target)
    return True


def restore(store: MaintainedStore, path: str, *, replace: bool = False) -> Copy:
    """Replace a store by a copy in one step; concurrent searches see the old or the new
    documents.

    Without `replace`, only where no store exists yet. If the copy has a journal, it replaces that
    of the store, after the store; so do notes and assignments of reviewers. Raises
    `SourceNotFound`, `UsageError`, `UnsupportedOperation`, `StoreBusy` while a job works on the
    store, and `StoreError` for a file that is not a sound copy of a store, and for the file of
    another program at its path: then nothing is changed.
    """
    journal_file = journal_path(store.address)
    if not isinstance(store.maintenance, Copyable) or journal_file is None:
        raise UnsupportedOperation(
            store=store.url, operation="be restored from a file", alternative=SNAPSHOT_ADVICE
        )
    _require_file(path)
    check_foreign_file(Path(path), journal_file)
    store_file = journal_file.with_suffix("")
    if not replace and store_file.exists():
        raise UsageError(
            f"there is a store at {store.url} already; --replace replaces it by the copy"
        )
    copied_journal = Path(f"{path}.jobs")
    if copied_journal.exists():
        check_journal(copied_journal)
    review_file, copied_review = review_path(journal_file), review_path(copied_journal)
    assert review_file is not None
    assert copied_review is not None
    if has_review := copied_review.exists():
        check_review(copied_review)
    with (
        _same_permissions(review_file, copied_review),
        _same_permissions(journal_file, copied_journal),
        _same_permissions(store_file, Path(path)),
        Journal(journal_file) as journal,
        record_job(journal, "restore") as job,
    ):
        store.maintenance.restore(path)
        if copied_journal.exists():
            journal.replace(copied_journal)
        if has_review:
            ReviewFile(review_file).replace(copied_review)
        require_recipe(store)
        job.counts["documents"] = store.counts().documents
    return Copy(
        path, job.counts["documents"], True if copied_journal.exists() else None, has_review
    )


def _require_file(path: str) -> None:
    if not Path(path).exists():
        raise SourceNotFound(path=path)
    if not Path(path).is_file():
        raise UsageError(f"{path} is not a regular file; give a file that `nearfold backup` wrote")


@contextmanager
def _same_permissions(new: Path, like: Path) -> Iterator[None]:
    """Give a file that is created inside the block the permissions of another file.

    A file that is still empty at the end is removed.
    """
    is_created = like.exists() and not new.exists() and new.parent.is_dir()
    if is_created:
        make_private(new, like)
    try:
        yield
    finally:
        if is_created and not new.stat().st_size:
            new.unlink()
