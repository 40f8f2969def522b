"""Install templates and pipelines into a cluster, so that it fingerprints documents of any client
and folds their searches.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from indexer.errors import UnsupportedOperation, UsageError
from indexer.recipe import DEFAULT, Recipe
from indexer.stores.abilities import MaintainedStore
from indexer.stores.maintenance import Change, Installable, Layout


@dataclass(frozen=True, slots=True)
class Installation:
    """The changes that were made, or would be made: one for each asset, in order."""

    store: str
    recipe: Recipe
    changes: tuple[Change, ...]

    @property
    def complete(self) -> bool:
        """Return False when the engine lacks what fingerprinting, scoring or roles need; assets
        that were left out are ignored.
        """
        return all(change.action != "impossible" for change in self.changes)

    def plus(self, *changes: Change) -> Installation:
        """Return the same installation with more changes at the end."""
        return replace(self, changes=(*self.changes, *changes))


def install(
    store: MaintainedStore,
    recipe: Recipe | None = None,
    *,
    text_field: str | None = None,
    dry_run: bool = False,
    create: bool = False,
    roles: bool = False,
    layout: Layout | None = None,
) -> Installation:
    """Make the engine fingerprint documents that any client sends to the store's index, and fold
    searches.

    Installing twice changes nothing. `recipe` None: that of the index or of what is installed for
    it, else the default. `text_field` is where documents have their text; a dot leads
    into an object, and None means the field that is fingerprinted there already, else `text`.
    `create` also makes the index, for indexers who may only write. `roles` also puts the roles for
    it into the cluster, before anything else, so that a missing right is refused before any other
    change. `layout` `plugin` lets the engine's plugin fingerprint the texts, in a sub-field of
    them, which every node has to know; None is the layout that is there already, else `pipeline`.

    Raises `UnsupportedOperation` for a store without an engine, `UsageError` for a recipe that no
    pipeline computes and for `create` with another field than `text`, `RecipeMismatch` and
    `TextFieldMismatch` when another one is installed or indexed, and `StoreAccessDenied`, which
    names the missing permission.
    """
    engine = engine_of(store)
    if create and text_field not in (None, "text"):
        raise UsageError(
            "--create makes an index whose texts are in the field `text`; "
            "omit --create or --text-field"
        )
    recipe = recipe or engine.installed_recipe() or DEFAULT
    role_changes = engine.put_roles(dry_run) if roles else ()
    changes = (*role_changes, *engine.install(recipe, dry_run, text_field, layout))
    if create and not dry_run and store.stored_recipe() is None:
        store.prepare(recipe)
        changes = (*changes, *engine.install(recipe, dry_run)[-1:])
    return Installation(store.url, recipe, changes)


def install_dashboards(
    store: MaintainedStore,
    path: str,
    *,
    dry_run: bool = False,
    time_field: str | None = None,
    pages: str | None = None,
) -> Change:
    """Put the dashboard of the store's index into a file, or into the OpenSearch Dashboards or
    Kibana at an address.

    The kind of the store decides which of the two products is meant. Installing twice changes
    nothing. `time_field` holds the dates by which the dashboard shows documents; None: a field of
    dates that all documents have, and documents of any time where there is none. `pages` is the
    address of the review pages, to which groups link. Raises `UnsupportedOperation` for a store
    without an engine, `UsageError` for the other product, for one with workspaces at an address of
    none, for a file that cannot be written, a `time_field` that holds no dates or `pages` that are
    no http address, `StoreError` when the product does not accept it.
    """
    if pages is not None and not pages.startswith(("http://", "https://")):
        raise UsageError(f"--pages {pages} is no address; give one like http://review.example:8000")
    return engine_of(store).put_dashboards(path, dry_run, time_field, pages)


def engine_of(store: MaintainedStore) -> Installable:
    """Return what installs into the store's engine. Raises `UnsupportedOperation` without one."""
    if isinstance(store.maintenance, Installable):
        return store.maintenance
    raise UnsupportedOperation(
        store=store.url,
        operation="be installed into",
        alternative="give --store opensearch://host:9200/index or elasticsearch://host:9200/index",
    )


# The roles that a secured cluster needs for an index.


def roles(store: MaintainedStore) -> dict[str, dict[str, Any]]:
    """Return the roles of a secured cluster by name: `nearfold-INDEX-searcher`, `-indexer`,
    `-admin`.

    Sends nothing to the cluster. Raises `UnsupportedOperation` for a store without an engine.
    """
    return engine_of(store).roles()


# Remove from a cluster what `install` put there.


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
    store: MaintainedStore, path: str, *, dry_run: bool = False
) -> tuple[Change, ...]:
    """Remove from the product at an address what `install_dashboards` put there; raises as that
    function does.
    """
    return tuple(engine_of(store).remove_dashboards(path, dry_run))
