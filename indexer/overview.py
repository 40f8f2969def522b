"""What is in a store."""

from __future__ import annotations

from dataclasses import dataclass

from indexer.jobs import Journal, journal_path
from indexer.lookup import recipe_of
from indexer.model import Failed
from indexer.recipe import Recipe
from indexer.stores.base import Counts, Store


@dataclass(frozen=True, slots=True)
class Overview:
    """The counts of a store, its recipe, and the files that could not be read (by path)."""

    store: str
    recipe: Recipe
    counts: Counts
    failed: tuple[Failed, ...]


def status(store: Store) -> Overview:
    """Count what is in the store. Raises `StoreError` when nothing was indexed yet, `StoreBusy` while a job is running."""
    recipe = recipe_of(store)
    with Journal(journal_path(store.url)) as journal:
        failed = tuple(Failed(one.path, one.error) for one in journal.all())
    return Overview(store.url, recipe, store.counts(), failed)
