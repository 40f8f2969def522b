"""Installing into a cluster: templates and pipelines, so that documents of any client get keys and
any client may fold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from indexer.errors import UnsupportedOperation, UsageError
from indexer.recipe import DEFAULT, Recipe
from indexer.stores.base import Change, Installable, Store
from indexer.stores.engine import saved_objects
from indexer.stores.engine.dashboards import Product


@dataclass(frozen=True, slots=True)
class Installation:
    """What was done, or would be: one change a piece, in the order of the work."""

    store: str
    recipe: Recipe
    changes: tuple[Change, ...]

    @property
    def complete(self) -> bool:
        """False when the engine lacks what signing, scoring or roles need; what is left out is not
        counted.
        """
        return all(change.action != "impossible" for change in self.changes)

    def plus(self, *changes: Change) -> Installation:
        """The same with more changes at the end."""
        return replace(self, changes=(*self.changes, *changes))


def install(
    store: Store,
    recipe: Recipe = DEFAULT,
    *,
    text_field: str | None = None,
    dry_run: bool = False,
    create: bool = False,
    roles: bool = False,
) -> Installation:
    """Install what makes the engine sign documents sent to the store's index by any client, and
    fold searches.

    Doing it twice changes nothing. `text_field` is where documents have their text, a dot leads
    into an object; None means the field that is signed there already, else `text`. `create` makes
    the index too, for indexers who may only write. `roles` puts the roles for it into the cluster,
    first of all: who may not is refused before anything else changes.

    Raises `UnsupportedOperation` for a store without an engine, `UsageError` for a recipe that no pipeline
    computes and for `create` with another field than `text`, `RecipeMismatch` and
    `TextFieldMismatch` when another one is installed or indexed, `StoreRefused` naming a missing
    right.
    """
    engine = _engine(store)
    if create and text_field not in (None, "text"):
        raise UsageError(
            "--create makes an index of nearfold's own, with its texts in `text`; leave it out, or --text-field"
        )
    changes = (
        *(engine.put_roles(dry_run) if roles else ()),
        *engine.install(recipe, dry_run, text_field),
    )
    if create and not dry_run and store.stored_recipe() is None:
        store.prepare(recipe)
        changes = (*changes, *engine.install(recipe, dry_run)[-1:])
    return Installation(store.url, recipe, changes)


def uninstall(
    store: Store, recipe: Recipe = DEFAULT, *, dry_run: bool = False, roles: bool = False
) -> Installation:
    """Remove what `install` put there. Documents stay, with their fields; pieces that other indices
    use are kept and named.

    `recipe` matters only when the index template is gone already: it tells the names of what is
    left. `roles` removes the roles that are there too, first of all.
    """
    engine = _engine(store)
    changes = (*(engine.remove_roles(dry_run) if roles else ()), *engine.uninstall(recipe, dry_run))
    return Installation(store.url, recipe, changes)


def install_dashboards(store: Store, place: str, *, dry_run: bool = False) -> Change:
    """Put the dashboard of the store's index into a file, or into the OpenSearch Dashboards or
    Kibana at an address.

    Which of the two is meant is told by the kind of the store. Doing it twice changes nothing.
    Raises `UnsupportedOperation` for a store without an engine, `UsageError` for the other product or a file
    that cannot be written, `StoreError` when the product does not take it.
    """
    return saved_objects.put(place, _index(store), _product(store), dry_run)


def uninstall_dashboards(store: Store, place: str, *, dry_run: bool = False) -> tuple[Change, ...]:
    """Remove from the product at an address what `install_dashboards` put there. Raises as that
    does.
    """
    return tuple(saved_objects.remove(place, _index(store), _product(store), dry_run))


def _index(store: Store) -> str:
    _engine(store)
    return urlsplit(store.url).path.rpartition("/")[2]


def _product(store: Store) -> Product:
    return "opensearch-dashboards" if store.url.startswith("opensearch") else "kibana"


def roles(store: Store) -> dict[str, dict[str, Any]]:
    """The roles of a secured cluster by name: `nearfold-INDEX-searcher`, `-indexer`, `-admin`;
    nothing is asked or changed.

    Raises `UnsupportedOperation` for a store without an engine.
    """
    return _engine(store).roles()


def _engine(store: Store) -> Installable:
    if isinstance(store, Installable):
        return store
    raise UnsupportedOperation(
        store=store.url,
        what="take an installation",
        instead="give --store opensearch://host:9200/index or elasticsearch://host:9200/index",
    )
