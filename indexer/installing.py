"""Installing into a cluster: templates and pipelines, so that documents of any client get keys and any client may fold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from indexer.errors import Unsupported
from indexer.recipe import DEFAULT, Recipe
from indexer.stores.base import Change, Installable, Store


@dataclass(frozen=True, slots=True)
class Installation:
    """What was done, or would be: one change a piece, in the order of the work."""

    store: str
    recipe: Recipe
    changes: tuple[Change, ...]

    @property
    def complete(self) -> bool:
        """False when the engine lacks what a piece needs."""
        return all(change.action != "impossible" for change in self.changes)


def install(store: Store, recipe: Recipe = DEFAULT, *, dry_run: bool = False, create: bool = False) -> Installation:
    """Install what makes the engine sign documents sent to the store's index by any client, and fold searches.

    Doing it twice changes nothing. `create` makes the index too, for indexers who may only write. Raises `Unsupported` for a
    store without an engine, `UsageError` for a recipe that no pipeline computes, `RecipeMismatch` when another one is
    installed or indexed, `StoreRefused` naming a missing right.
    """
    changes = tuple(_engine(store).install(recipe, dry_run))
    if create and not dry_run and store.stored_recipe() is None:
        store.prepare(recipe)
        changes = (*changes, *_engine(store).install(recipe, dry_run)[-1:])
    return Installation(store.url, recipe, changes)


def uninstall(store: Store, recipe: Recipe = DEFAULT, *, dry_run: bool = False) -> Installation:
    """Remove what `install` put there. Documents stay, with their fields; pieces that other indices use are kept and named.

    `recipe` matters only when the index template is gone already: it tells the names of what is left.
    """
    return Installation(store.url, recipe, tuple(_engine(store).uninstall(recipe, dry_run)))


def roles(store: Store) -> dict[str, dict[str, Any]]:
    """The roles of a secured cluster by name: `nearfold-INDEX-searcher`, `-indexer`, `-admin`; nothing is asked or changed.

    Raises `Unsupported` for a store without an engine.
    """
    return _engine(store).roles()


def _engine(store: Store) -> Installable:
    if isinstance(store, Installable):
        return store
    raise Unsupported(
        store=store.url,
        what="take an installation",
        instead="give --store opensearch://host:9200/index or elasticsearch://host:9200/index",
    )
