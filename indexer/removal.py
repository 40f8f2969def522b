"""Deleting documents, with the families mended that they led."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from indexer.collection import gathered
from indexer.families import Principal
from indexer.grouping import Settings, assigned
from indexer.jobs import Journal, journal_path
from indexer.lookup import recipe_of
from indexer.model import Query
from indexer.recipe import Recipe
from indexer.stores.base import Store
from indexer.verifying import Verifier

BATCH = 256
DEFAULTS = Settings()


@dataclass(frozen=True, slots=True)
class Mended:
    """A family whose principal was deleted, and the families its other members are in now, each with their number."""

    family: str
    into: dict[str, int]


@dataclass(frozen=True, slots=True)
class Deleted:
    """`deleted` ids were in the store, `absent` ones were not; both in the order given."""

    deleted: tuple[str, ...]
    absent: tuple[str, ...]
    mended: tuple[Mended, ...]


def delete(
    store: Store, ids: Sequence[str], *, threshold: float = 0.8, measure: str = "features", principal: Principal = "longest"
) -> Deleted:
    """Remove documents and whatever is remembered of them; a family that loses its principal is grouped anew.

    The members that stay are grouped among themselves by the settings given, which should be those of the last `group`, and
    are provisional until the next one. They are mended first, so that a run cut short leaves no member without a principal;
    run again it does the rest. Clusters keep their names until the next `group`.

    Raises `UsageError`, `UnknownMeasure`, `StoreBusy` while another job works on the store, and `StoreError` when nothing was
    indexed yet.
    """
    recipe_of(store)
    settings = Settings(threshold, measure, principal)
    with Journal(journal_path(store.url)) as journal:
        done = delete_mended(store, ids, settings)
        journal.forget(ids)
    return done


def delete_mended(store: Store, ids: Sequence[str], settings: Settings = DEFAULTS) -> Deleted:
    """`delete` for a job that holds the journal already."""
    recipe = recipe_of(store)
    store.refresh()
    wanted = list(dict.fromkeys(ids))
    leading: dict[str, bool] = {}
    for start in range(0, len(wanted), BATCH):
        rows = store.get(wanted[start : start + BATCH])
        leading |= {id: rows[id].principal is not False for id in wanted[start : start + BATCH] if id in rows}
    going = [id for id, leads in leading.items() if leads]
    mended = tuple(one for id in going if (one := _mended(store, recipe, id, leading.keys(), settings)) is not None)
    store.delete(list(leading))
    store.refresh()
    return Deleted(tuple(leading), tuple(id for id in wanted if id not in leading), mended)


def _mended(store: Store, recipe: Recipe, family: str, going: Collection[str], settings: Settings) -> Mended | None:
    """Group anew who stays in the family of this principal; None when nobody does."""
    hits = store.search(Query("", (("family", family),))).hits
    staying = store.get([hit.id for hit in hits if hit.id not in going])
    if not staying:
        return None
    settings.check(recipe)
    collection = gathered([staying[id] for id in sorted(staying)], recipe, len(staying))
    made = assigned(collection, Verifier(store, collection, settings.measure), settings).assignments
    clusters = [entry.cluster for entry in collection.entries]
    mended = [replace(one, cluster=name, provisional=True) for one, name in zip(made, clusters, strict=True)]
    store.assign(mended)
    return Mended(family, dict(sorted(Counter(one.family for one in mended).items())))
