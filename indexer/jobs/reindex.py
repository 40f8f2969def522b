"""Change the recipe of a store while it stays in service."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from indexer.comparing.band_plan import has_bits_alone
from indexer.fingerprinting.fingerprint import (
    PROVISIONAL,
    fingerprint_rows,
    fingerprints,
    fresh_rows,
    ungrouped,
)
from indexer.fingerprinting.keys import bits_of_row
from indexer.jobs.corpus_statistics import with_new_statistics, with_passages, with_statistics
from indexer.jobs.install import engine_of
from indexer.model import Row
from indexer.recipe import Recipe
from indexer.stores.abilities import MaintainedStore
from indexer.stores.fields import with_date
from indexer.stores.journal import Journal, journal_path, record_job
from indexer.stores.maintenance import (
    BitChanges,
    Change,
    Installable,
    Layout,
    OnProgress,
    ReindexOptions,
    ReindexResult,
)
from indexer.stores.requirements import is_shared, require_updatable
from indexer.system.approved_passages import NO_PASSAGES, ApprovedPassages

_PROBE = "Fingerprinted first, so that a missing library of a recipe fails before anything is read."


def plan_reindex(
    store: MaintainedStore, recipe: Recipe, *, keep: bool = False, layout: Layout | None = None
) -> tuple[Change, ...]:
    """Return what `reindex` would create, change, remove and keep; nothing is written.

    Raises what `reindex` would raise before its first change.
    """
    stored = require_updatable(store)
    if layout or isinstance(store.maintenance, Installable):
        return tuple(engine_of(store).plan_reindex(recipe, keep, layout))
    return (Change("store", store.url, "unchanged" if stored.id == recipe.id else "updated"),)


def reindex(
    store: MaintainedStore,
    recipe: Recipe,
    *,
    keep: bool = False,
    statistics: str | None = None,
    leave_out: ApprovedPassages = NO_PASSAGES,
    on_progress: OnProgress = lambda _: None,
    layout: Layout | None = None,
) -> ReindexResult:
    """Fingerprint the stored texts by another recipe and put the rows in service in one step;
    nothing is extracted again.

    Until that step searches are answered from the old rows, and an interrupted run has changed
    nothing; the next run continues it. Concurrent writes of other programs are included. Families
    stay as they are, and are provisional until the next `group`; a document whose text another
    program changed without its keys leaves its family. In a search engine a new version
    of the index takes over the name; `keep` leaves the old one, read-only. A recipe with weights
    fingerprints with the corpus statistics of `statistics` (a folder, store or file), or with those
    that the stored documents have now; an online recipe gives them the next number, and keeps no
    other. Texts are fingerprinted without the passages of `leave_out`, and by a recipe without a
    list whole. `on_progress` receives the number of rows fingerprinted. `layout` is where an index
    of an engine has its fingerprints from then on; None: where they are.

    Raises `StoreBusy` while a job of this machine works on the store, `UsageError` for a recipe
    that cannot be stored, and `StoreError` when nothing was indexed yet.
    """
    stored = require_updatable(store)
    if layout:
        engine_of(store)
    recipe = with_passages(recipe, leave_out, None)
    if recipe.is_online:
        recipe = with_new_statistics(recipe, store, statistics)
    else:
        recipe = with_statistics(recipe, statistics, lambda: (row.text for row in store.scan()))
    fingerprints([_PROBE], recipe)
    distances: Counter[int] | None = Counter() if _differ_in_statistics(stored, recipe) else None

    has_other_writers = is_shared(store)

    def fingerprint_batch(rows: Sequence[Row]) -> list[Row]:
        if not has_other_writers:
            rows = list(map(with_date, rows))
        fingerprinted = fingerprint_rows(rows, recipe)
        if has_other_writers:
            pairs = zip(fresh_rows(rows, stored), fingerprinted, strict=True)
            fingerprinted = [
                new if before is fresh and _is_grouped(before) else ungrouped(new)
                for (before, fresh), new in pairs
            ]
        if distances is not None:
            distances.update(_distances(rows, fingerprinted))
        return fingerprinted

    with Journal(journal_path(store.address)) as journal, record_job(journal, "reindex") as job:
        options = ReindexOptions(recipe, fingerprint_batch, keep, on_progress, layout)
        result = store.maintenance.reindex(options)
        job.counts.update(signed=result.copied)
    if distances is None or not result.copied:
        return result
    return replace(result, bit_changes=BitChanges(dict(sorted(distances.items()))))


def _is_grouped(row: Row) -> bool:
    """Return whether a row is in a group, not in a provisional one of its digest."""
    return bool(row.recipe) and not row.family.startswith(PROVISIONAL)


def _differ_in_statistics(stored: Recipe, recipe: Recipe) -> bool:
    """Return whether two recipes of bits are the same but for their corpus statistics."""
    return has_bits_alone(recipe) and stored.is_same_but_for_statistics(recipe)


def _distances(before: Sequence[Row], after: Sequence[Row]) -> list[int]:
    """Return by how many bits the signatures of rows moved that had one and have one."""
    pairs = [(bits_of_row(old), bits_of_row(new)) for old, new in zip(before, after, strict=True)]
    return [(old ^ new).bit_count() for old, new in pairs if old is not None and new is not None]
