"""Checks of what a use-case needs of a store: a recipe, parts, other writers."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import islice

from indexer.errors import IndexMissing, RecipeMismatch, StoreStopped, UsageError
from indexer.model import Query, Row, Scope
from indexer.recipe import DEFAULT, Recipe
from indexer.stores.abilities import FullStore, MaintainedStore, PartStore
from indexer.stores.address import MEMORY, parse_address
from indexer.stores.base import Store
from indexer.stores.maintenance import Shareable


def require_recipe(store: Store) -> Recipe:
    """Return the recipe of a store; raise `IndexMissing` when nothing was indexed yet.

    A new store in memory is empty rather than missing: it gets the default recipe.
    """
    recipe = store.stored_recipe()
    if recipe is None and parse_address(store.url).file == MEMORY:
        store.prepare(DEFAULT)
        return DEFAULT
    if recipe is None:
        raise IndexMissing(url=store.url)
    return recipe


def require_same_recipe(stored: Recipe | None, requested: Recipe) -> None:
    """Raise `RecipeMismatch` when another recipe is stored; numbered statistics may be others."""
    if stored and stored.settings_id != requested.settings_id:
        raise RecipeMismatch(
            stored=stored.name,
            requested=requested.name,
            difference=stored.difference(requested),
        )


def require_updatable(store: MaintainedStore) -> Recipe:
    """Return the recipe of a store whose documents may be changed.

    Raises `IndexMissing` when nothing was indexed yet, and `PartialSource` or `LimitedView` when a
    change would lose a part of a document.
    """
    recipe = require_recipe(store)
    if isinstance(store.maintenance, Shareable):
        store.maintenance.check_updatable()
    return recipe


def require_writable(store: MaintainedStore) -> Recipe:
    """Return the recipe of a store whose documents are about to be changed.

    Raises what `require_updatable` does, and `StoreStopped` where an index, one of several behind a
    name perhaps, refuses changes: the others would be changed without it.
    """
    recipe = require_updatable(store)
    if isinstance(store.maintenance, Shareable) and (blocks := store.maintenance.write_blocks()):
        raise StoreStopped(
            reason=f"{blocks_in_words(blocks)}, so nothing was changed",
            remedy="lift the block (free disk space first, if the engine set it), or give --store "
            "a name without that index",
        )
    return recipe


def blocks_in_words(blocks: Mapping[str, Sequence[str]]) -> str:
    """Return which indices refuse changes, and by which settings.

    >>> blocks_in_words({"papers-000001": ["index.blocks.write"]})
    'papers-000001 refuses changes (index.blocks.write)'
    """
    return "; ".join(
        f"{index} refuses changes ({', '.join(names)})" for index, names in blocks.items()
    )


ALIAS = "alias_"  # begins the name of metadata under which a document keeps a former id
MERGED = "merged"  # the value of such metadata


def stored_ids(store: Store, names: Sequence[str]) -> list[str]:
    """Return the ids of the documents that ids, former ids or paths name; others unchanged.

    Raises `UsageError` for a path that several documents have.
    """
    if store.stored_recipe() is None:
        return list(names)
    known = store.get(names)
    return [name if name in known else _id_at(store, name) for name in names]


def _id_at(store: Store, name: str) -> str:
    for path in dict.fromkeys((name, os.path.realpath(name))):
        hits = islice(store.search(Query("", (("path", path),))).hits, 3)
        ids = [hit.id for hit in hits]
        if len(ids) > 1:
            raise UsageError(
                f"several documents have the path {path}, such as {ids[0]} and {ids[1]}; name one "
                "by its id"
            )
        if ids:
            return ids[0]
    if name.isalnum():  # as former ids are; a path would be no name of metadata
        former = Query("", ((f"metadata.{ALIAS}{name}", MERGED),))
        return next((hit.id for hit in store.search(former).hits), name)
    return name


def former_ids(row: Row) -> dict[str, str]:
    """Return the metadata of a document that hold its former ids."""
    return {name: value for name, value in row.metadata.items() if name.startswith(ALIAS)}


def scope_view(store: PartStore, of: Scope) -> FullStore:
    """Return the store limited to documents, to parts, or to both.

    Raises `UsageError` when `of` needs parts and the store has none.
    """
    if of != "documents" and not store.parts.kind():
        raise UsageError(
            f"{store.url} has no parts; `nearfold index PATH --parts clauses` makes them"
        )
    return store.parts.view(of)


def is_shared(store: MaintainedStore) -> bool:
    """Return whether other programs write documents of a store, perhaps a text without its keys."""
    return isinstance(store.maintenance, Shareable) and store.maintenance.is_shared()


def fingerprint_command(url: str) -> str:
    """Return the command that fingerprints the documents of other programs in an index."""
    return f"nearfold index {url} --text-field FIELD --store {url}"
