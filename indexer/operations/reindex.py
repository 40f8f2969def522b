"""Change the recipe of a store while it stays in service."""

from __future__ import annotations

from indexer.indexing.recipe_statistics import with_statistics
from indexer.jobs.history import record_job
from indexer.jobs.journal import Journal, journal_path
from indexer.recipe import Recipe
from indexer.sketch.fingerprint import fingerprints
from indexer.sketch.row_keys import sign_rows
from indexer.stores.abilities import MaintainedStore
from indexer.stores.maintenance import OnProgress, ReindexResult
from indexer.stores.requirements import require_updatable

_PROBE = "Signed first, so that a recipe whose library is missing fails before anything is read."


def reindex(
    store: MaintainedStore,
    recipe: Recipe,
    *,
    keep: bool = False,
    statistics: str | None = None,
    on_progress: OnProgress = lambda _: None,
) -> ReindexResult:
    """Sign the stored texts by another recipe and put the rows in service in one step; nothing is
    extracted again.

    Until that step searches are answered from the old rows, and an interrupted run has changed
    nothing; the next run continues it. Concurrent writes of other programs are included. Families
    stay as they are, and are provisional until the next `group`. In a search engine a new version
    of the index takes over the name; `keep` leaves the old one, read-only. A recipe with weights
    signs with the corpus statistics of `statistics` (a folder, store or file), or with those that
    the stored documents have now. `on_progress` receives the number of rows signed.

    Raises `StoreBusy` while a job of this machine works on the store, `UsageError` for a recipe
    that cannot be stored, and `StoreError` when nothing was indexed yet.
    """
    require_updatable(store)
    recipe = with_statistics(recipe, statistics, lambda: (row.text for row in store.scan()))
    fingerprints([_PROBE], recipe)
    with Journal(journal_path(store.address)) as journal, record_job(journal, "reindex") as job:
        result = store.maintenance.reindex(
            recipe, lambda rows: sign_rows(rows, recipe), keep, on_progress
        )
        job.counts.update(signed=result.copied)
    return result
