"""Put a copy of a store, its journal and the notes of its reviewers back in place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from indexer.errors import SourceNotFound, UnsupportedOperation, UsageError
from indexer.jobs.backup import SNAPSHOT_ADVICE, Copy, check_foreign_file
from indexer.jobs.review_file import ReviewFile, check_review, review_path
from indexer.stores.abilities import MaintainedStore
from indexer.stores.journal import Journal, check_journal, journal_path, record_job
from indexer.stores.maintenance import Copyable
from indexer.stores.requirements import require_recipe
from indexer.system.files import make_private


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
