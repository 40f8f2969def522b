"""The outlines of a store, from whichever read it has for them."""

from __future__ import annotations

from collections.abc import Iterator

from indexer.stores.abilities import Outline, OutlineStore
from indexer.stores.base import Store


def outlines(store: Store) -> Iterator[Outline]:
    """Yield the outline of each row of a store, in any order."""
    if isinstance(store, OutlineStore):
        yield from store.outlines()
        return
    for row in store.scan():
        yield Outline(
            row.id,
            row.path,
            row.status,
            row.raw,
            row.exact,
            row.labels,
            row.family,
            row.similarity,
            row.provisional,
        )
