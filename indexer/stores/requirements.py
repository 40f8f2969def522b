"""Checks of what a use-case needs of a store: a recipe, parts."""

from __future__ import annotations

from indexer.errors import StoreError, UsageError
from indexer.model import Scope
from indexer.recipe import Recipe
from indexer.stores.abilities import FullStore, PartStore
from indexer.stores.base import Store


def require_recipe(store: Store) -> Recipe:
    """Return the recipe of a store; raise `StoreError` when nothing was indexed yet."""
    recipe = store.stored_recipe()
    if recipe is None:
        raise StoreError(
            f"there is no index at {store.url} yet; "
            f"run `nearfold index PATH --store {store.url}` first"
        )
    return recipe


def scope_view(store: PartStore, of: Scope) -> FullStore:
    """Return the store limited to documents, to parts, or to both.

    Raises `UsageError` when `of` needs parts and the store has none.
    """
    if of != "documents" and not store.parts.kind():
        raise UsageError(
            f"{store.url} has no parts; `nearfold index PATH --parts clauses` makes them"
        )
    return store.parts.view(of)
