"""Remove from a cluster what `install` put there."""

from __future__ import annotations

from indexer.operations.install import Installation, dashboards_product, engine_of, index_name
from indexer.recipe import DEFAULT, Recipe
from indexer.stores.abilities import MaintainedStore
from indexer.stores.engine import saved_objects
from indexer.stores.maintenance import Change


def uninstall(
    store: MaintainedStore, recipe: Recipe = DEFAULT, *, dry_run: bool = False, roles: bool = False
) -> Installation:
    """Remove what `install` put there. Documents stay, with their fields; assets that other indices
    use stay and are named.

    `recipe` matters only when the index and its template are gone already: it gives the names of
    the remaining assets. `roles` also removes the roles, before anything else.
    """
    engine = engine_of(store)
    role_changes = engine.remove_roles(dry_run) if roles else ()
    return Installation(store.url, recipe, (*role_changes, *engine.uninstall(recipe, dry_run)))


def uninstall_dashboards(
    store: MaintainedStore, place: str, *, dry_run: bool = False
) -> tuple[Change, ...]:
    """Remove from the product at an address what `install_dashboards` put there; raises as that
    function does.
    """
    name = index_name(store)
    return tuple(saved_objects.remove(place, name, dashboards_product(store), dry_run))
