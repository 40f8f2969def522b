"""Undoing and listing of labellings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from indexer.errors import UnknownNumber, UsageError
from indexer.grouping.label import LabelUpdate
from indexer.grouping.label_journal import (
    LabelChange,
    LabelEvent,
    LabelJob,
    LabelJournal,
    history,
    label_events,
)
from indexer.jobs.history import record_job
from indexer.jobs.journal import journal_path
from indexer.model import Row
from indexer.stores.abilities import FullStore
from indexer.stores.requirements import require_recipe, require_writable
from indexer.stores.row_limits import rows_of


@dataclass(frozen=True, slots=True)
class UndoResult:
    """The result of undoing labelling `job`.

    `restored`: documents with their labels back; `changed_since`: documents whose labels changed
    after the labelling, which keep them; `absent`: documents that are no longer there. `waits`: it
    is done once the job ends that works on the store.
    """

    job: int
    restored: tuple[LabelChange, ...]
    changed_since: tuple[LabelUpdate, ...]
    absent: tuple[str, ...]
    waits: bool = False


def undo_labels(
    store: FullStore, job: int, *, dry_run: bool = False, reviewer: str = ""
) -> UndoResult:
    """Restore the labels that documents had before a labelling, unless these changed since.

    `reviewer`: whose undo it is, for the history.

    A document that has these labels already counts as restored. Raises `UnknownNumber`,
    `UsageError` for a job that was undone, `StoreBusy` while another job works on the store, and
    `StoreError` when nothing was indexed yet.
    """
    require_writable(store)
    with (
        LabelJournal(journal_path(store.address)) as journal,
        record_job(journal, "undo_labels") as record,
    ):
        changes = _changes_of(journal, job)
        ids = [change.id for change in changes]
        rows = {row.id: row for row in rows_of(store, ids)}
        restored: list[LabelChange] = []
        changed_since: list[LabelUpdate] = []
        for change in changes:
            row = rows.get(change.id)
            if row is None:
                continue
            if set(row.labels) in (set(change.after), set(change.before)):
                restored.append(change)
            else:
                update = LabelUpdate(row.id, row.path, row.family, change.after, row.labels)
                changed_since.append(update)
        if not dry_run:
            _restore(store, restored, rows)
            journal.record_restored(job, [change.id for change in restored], reviewer)
            record.counts.update(restored=len(restored))
    absent = tuple(change.id for change in changes if change.id not in rows)
    return UndoResult(job, tuple(restored), tuple(changed_since), absent)


def label_history(store: FullStore) -> tuple[LabelJob, ...]:
    """Return the labellings of a store, the last one first, without locking its journal.

    Raises `StoreBusy` while a job works on the store.
    """
    require_recipe(store)
    return history(journal_path(store.address))


def label_events_of(store: FullStore, id: str | None = None) -> tuple[LabelEvent, ...]:
    """Return every change of a document's labels, or of all documents, the last one first.

    Locks no journal. Raises `StoreBusy` while a job works on the store.
    """
    require_recipe(store)
    return label_events(journal_path(store.address), id)


def _changes_of(journal: LabelJournal, job: int) -> list[LabelChange]:
    """Return the changes of a job that were not undone. Raises `UnknownNumber` and `UsageError`."""
    if not journal.has_job(job):
        raise UnknownNumber(
            what="labelling", number=job, remedy="`nearfold label --history` lists them"
        )
    changes = journal.changes(job)
    if not changes:
        raise UsageError(
            f"labelling {job} was undone already; `nearfold label --history` lists the others"
        )
    return changes


def _restore(store: FullStore, changes: Sequence[LabelChange], rows: dict[str, Row]) -> None:
    """Give these documents their labels back; those that have them already are not written."""
    different = [change for change in changes if rows[change.id].labels != change.before]
    store.labels.relabel({change.id: change.before for change in different})
    store.refresh()
