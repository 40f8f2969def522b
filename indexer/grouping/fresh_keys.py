"""Rows of a store that other programs write: their keys are checked against their texts."""

from __future__ import annotations

from collections.abc import Iterator

from indexer.model import Row
from indexer.recipe import Recipe
from indexer.sketch.row_keys import current_rows, fresh_rows
from indexer.stores.abilities import FullStore
from indexer.stores.maintenance import Shareable
from indexer.stores.requirements import is_shared

_AT_ONCE = 256


def read_fresh(store: FullStore, recipe: Recipe, write: bool) -> Iterator[Row]:
    """Yield the rows of a store with the keys of their texts; with `write`, store those that were
    others.

    A partial update by another program changes a text without its keys, which would keep the
    document in the family of what it was.
    """
    maintenance = store.maintenance
    if not isinstance(maintenance, Shareable) or not is_shared(store):
        yield from current_rows(store.scan(), recipe)
        return
    corrected: list[Row] = []
    for stored, fresh in fresh_rows(store.scan(), recipe):
        if fresh is not stored:
            corrected.append(fresh)
        if write and len(corrected) >= _AT_ONCE:
            maintenance.sign_again(corrected)
            corrected = []
        yield from current_rows([fresh], recipe)
    if write and corrected:
        maintenance.sign_again(corrected)
