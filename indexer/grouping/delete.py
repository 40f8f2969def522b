"""Deleting documents, and mending what depends on documents that go or change: families they led,
clusters with their name.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from indexer.clustering.families import Principal
from indexer.grouping.group import Settings, assign_families
from indexer.jobs.history import record_job
from indexer.jobs.journal import Journal, journal_path
from indexer.matching.collection import gather
from indexer.matching.verification import Verifier
from indexer.model import Assignment, Row
from indexer.recipe import Recipe
from indexer.similarity.measures import jaccard
from indexer.similarity.sides import feature_set
from indexer.stores.base import Store
from indexer.stores.requirements import require_recipe
from indexer.stores.row_limits import rows_of

DEFAULTS = Settings()


@dataclass(frozen=True, slots=True)
class FamilyRepair:
    """A family whose principal went or changed, and the families its other members are in now, each
    with their number.
    """

    family: str
    into: dict[str, int]


@dataclass(frozen=True, slots=True)
class DeleteResult:
    """`deleted` ids were in the store, `absent` ones were not; both in the order given."""

    deleted: tuple[str, ...]
    absent: tuple[str, ...]
    mended: tuple[FamilyRepair, ...]


def delete(
    store: Store,
    ids: Sequence[str],
    *,
    threshold: float = 0.8,
    measure: str = "jaccard",
    principal: Principal = "longest",
) -> DeleteResult:
    """Remove documents, their parts and whatever is remembered of them; a family that loses its
    principal is grouped anew.

    The members that stay are grouped among themselves by the settings given, which should be those
    of the last `group`, and are provisional until the next one. A cluster that was called after a
    document that goes is called after another one, and is none when a single document is left. All
    this comes first, so that a run cut short leaves no member without a principal; run again it
    does the rest.

    Raises `UsageError`, `UnknownMeasure`, `StoreBusy` while another job works on the store, and
    `StoreError` when nothing was indexed yet.
    """
    require_recipe(store)
    settings = Settings(threshold, measure, principal)
    settings.check_values()
    with Journal(journal_path(store.address)) as journal, record_job(journal, "delete") as job:
        done = delete_and_repair(store, ids, settings)
        journal.forget(ids)
        job.counts.update(deleted=len(done.deleted), absent=len(done.absent))
    return done


def delete_and_repair(
    store: Store, ids: Sequence[str], settings: Settings = DEFAULTS
) -> DeleteResult:
    """`delete` for a job that holds the journal already."""
    recipe = require_recipe(store)
    wanted = list(dict.fromkeys(ids))
    rows = {row.id: _without_text(row) for row in rows_of(store, wanted)}
    going = {id: rows[id] for id in wanted if id in rows}
    mended = repair_families(store, recipe, going, settings)
    if divided := [id for id, _ in store.members("parent", list(going))]:
        repair_families(
            store, recipe, {row.id: _without_text(row) for row in rows_of(store, divided)}, settings
        )
    store.delete(list(going))
    store.refresh()
    if store.shared:
        repair_strays(store, recipe, list(going), settings)
    return DeleteResult(tuple(going), tuple(id for id in wanted if id not in going), mended)


def leads_family(row: Row) -> bool:
    """Whether others may join this document. Rows that were never grouped say nothing about being
    principals.
    """
    return row.family == row.id and row.principal is not False and row.status == "complete"


def repair_families(
    store: Store, recipe: Recipe, going: Mapping[str, Row], settings: Settings = DEFAULTS
) -> tuple[FamilyRepair, ...]:
    """Before these stored rows go or change: nobody else is in their families any more, and no
    cluster has their name.

    Members that stay are grouped among themselves, those that go too are alone from now on.
    """
    store.refresh()
    rename_clusters(
        store, sorted({row.cluster for row in going.values() if row.cluster is not None}), going
    )
    led = [id for id, row in going.items() if row.principal is not False]
    members = _members(store, led)
    leaving = [member for ids in members.values() for member in ids if member in going]
    done = [
        _regrouped(
            store,
            recipe,
            family,
            [member for member in members[family] if member not in going],
            settings,
        )
        for family in led
        if family in members
    ]
    store.assign(_on_its_own(going[member]) for member in leaving)
    store.refresh()
    return tuple(one for one in done if one.into)


def repair_strays(
    store: Store, recipe: Recipe, ids: Collection[str], settings: Settings = DEFAULTS
) -> None:
    """After rows went or changed: group anew who joined them meanwhile, unless they resemble what
    is there now.
    """
    store.refresh()
    members = _members(store, list(ids))
    heads = {row.id: row for row in rows_of(store, list(members)) if leads_family(row)}
    for family, joined in members.items():
        head = heads.get(family)
        strays = [
            row.id
            for row in rows_of(store, joined)
            if head is None or not _near(row, head, recipe, settings.threshold)
        ]
        _regrouped(store, recipe, family, strays, settings)


def _members(store: Store, families: Sequence[str]) -> dict[str, list[str]]:
    """Who is in each of these families beside the principal, by id."""
    found: dict[str, list[str]] = defaultdict(list)
    for id, family in sorted(store.members("family", families)):
        if id != family:
            found[family].append(id)
    return found


def _near(row: Row, head: Row, recipe: Recipe, threshold: float) -> bool:
    return (
        row.exact == head.exact
        or jaccard(feature_set(row.text, recipe), feature_set(head.text, recipe)) >= threshold
    )


def _regrouped(
    store: Store, recipe: Recipe, family: str, ids: Sequence[str], settings: Settings
) -> FamilyRepair:
    """Group these documents among themselves, and write it."""
    if not ids:
        return FamilyRepair(family, {})
    settings.check(recipe)
    collection = gather(rows_of(store, sorted(ids)), recipe, len(ids))
    made = assign_families(
        collection, Verifier(store, collection, settings.measure), settings
    ).assignments
    clusters = [entry.cluster for entry in collection.entries]
    mended = [
        replace(one, cluster=name, provisional=True)
        for one, name in zip(made, clusters, strict=True)
    ]
    store.assign(sorted(mended, key=lambda one: not one.principal))
    return FamilyRepair(family, dict(sorted(Counter(one.family for one in mended).items())))


def rename_clusters(store: Store, names: Sequence[str], going: Collection[str]) -> None:
    """Call these clusters after their longest document that stays; a single document is no
    cluster.
    """
    staying: dict[str, list[str]] = defaultdict(list)
    for id, name in store.members("cluster", names):
        if id not in going:
            staying[name].append(id)
    for name, ids in staying.items():
        if name not in going and len(ids) > 1:
            continue
        rows = sorted(
            map(_without_text, rows_of(store, ids)),
            key=lambda row: (row.status != "complete", -row.words, row.id),
        )
        renamed = rows[0].id if len(rows) > 1 else None
        store.assign(replace(_assignment(row), cluster=renamed) for row in rows)


def _without_text(row: Row) -> Row:
    return replace(row, text="")


def _assignment(row: Row) -> Assignment:
    """The family fields as they are."""
    return Assignment(
        row.id, row.family, bool(row.principal), row.similarity, row.cluster, row.provisional
    )


def _on_its_own(row: Row) -> Assignment:
    return Assignment(row.id, row.id, row.status == "complete", None, None, provisional=True)
