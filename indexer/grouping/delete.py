"""Deletion of documents, and repair of what depends on documents that go or change: families of
which they are principals, clusters with their name.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from indexer.defaults import FOLD, MEASURE
from indexer.grouping.assign_families import DEFAULT_OPTIONS, GroupOptions, assign_families
from indexer.jobs.history import record_job
from indexer.jobs.journal import Journal, journal_path
from indexer.matching.collection import gather
from indexer.matching.verification import Verifier
from indexer.model import Assignment, Row
from indexer.recipe import Recipe
from indexer.similarity.copy_key import copy_key
from indexer.similarity.measures import measure_pair
from indexer.similarity.sides import Side
from indexer.stores.abilities import FamilyStore
from indexer.stores.requirements import require_recipe
from indexer.stores.row_limits import rows_of


@dataclass(frozen=True, slots=True)
class FamilyRepair:
    """A family whose principal went or changed, and the families its other members are in now, each
    with their number.
    """

    family: str
    into: dict[str, int]


@dataclass(frozen=True, slots=True)
class DeleteResult:
    """`deleted` ids were in the store, `absent` ones were not; both in the order of the call.
    `repaired` are the families that lost their principal.
    """

    deleted: tuple[str, ...]
    absent: tuple[str, ...]
    repaired: tuple[FamilyRepair, ...]


def delete(
    store: FamilyStore,
    ids: Sequence[str],
    *,
    threshold: float = FOLD,
    measure: str = MEASURE,
    principal: str = "longest",
) -> DeleteResult:
    """Remove documents, their parts and whatever is remembered of them; a family that loses its
    principal is grouped anew.

    The members that stay are grouped among themselves with `threshold`, `measure` and `principal`
    as in `GroupOptions`, which should be those of the last `group`, and are provisional until the
    next one. A cluster that was called after a document that goes is called after another one, and
    is none when a single document is left. All this comes first, so that a run cut short leaves no
    member without a principal; run again it does the rest.

    Raises `UsageError`, `UnknownMeasure`, `StoreBusy` while another job works on the store, and
    `StoreError` when nothing was indexed yet.
    """
    require_recipe(store)
    options = GroupOptions(threshold, measure, principal)
    with Journal(journal_path(store.address)) as journal, record_job(journal, "delete") as job:
        result = delete_and_repair(store, ids, options)
        journal.forget(ids)
        job.counts.update(deleted=len(result.deleted), absent=len(result.absent))
    return result


def delete_and_repair(
    store: FamilyStore, ids: Sequence[str], options: GroupOptions = DEFAULT_OPTIONS
) -> DeleteResult:
    """Do the work of `delete` for a job that holds the journal already."""
    recipe = require_recipe(store)
    distinct = list(dict.fromkeys(ids))
    rows = {row.id: _without_text(row) for row in rows_of(store, distinct)}
    leaving = {id: rows[id] for id in distinct if id in rows}
    repaired = repair_families(store, recipe, leaving, options)
    part_ids = [id for id, _ in store.families.members("parent", list(leaving))]
    if part_ids:
        parts = {row.id: _without_text(row) for row in rows_of(store, part_ids)}
        repair_families(store, recipe, parts, options)
    store.delete(list(leaving))
    store.refresh()
    if store.shared:
        repair_strays(store, recipe, list(leaving), options)
    absent = tuple(id for id in distinct if id not in leaving)
    return DeleteResult(tuple(leaving), absent, repaired)


def is_principal(row: Row) -> bool:
    """Return whether others may join this document. A row that was never grouped does not say
    whether it is a principal, and may be joined.
    """
    return row.family == row.id and row.principal is not False and row.status == "complete"


def repair_families(
    store: FamilyStore,
    recipe: Recipe,
    leaving: Mapping[str, Row],
    options: GroupOptions = DEFAULT_OPTIONS,
) -> tuple[FamilyRepair, ...]:
    """Before these stored rows go or change, take all others out of their families, and their name
    from clusters.

    Members that stay are grouped among themselves, those that go too are alone from now on.
    """
    store.refresh()
    clusters = {row.cluster for row in leaving.values() if row.cluster is not None}
    rename_clusters(store, sorted(clusters | leaving.keys()), leaving)
    heads = [id for id, row in leaving.items() if row.principal is not False]
    members = _members(store, heads)
    repairs = []
    for family in heads:
        staying = [member for member in members.get(family, ()) if member not in leaving]
        if staying:
            repairs.append(_regroup(store, recipe, family, staying, options))
    alone = [member for ids in members.values() for member in ids if member in leaving]
    store.families.assign(_singleton(leaving[member]) for member in alone)
    store.refresh()
    return tuple(repairs)


def repair_strays(
    store: FamilyStore,
    recipe: Recipe,
    ids: Collection[str],
    options: GroupOptions = DEFAULT_OPTIONS,
) -> None:
    """After rows went or changed, group anew the members that joined them meanwhile, unless they
    resemble what is there now.
    """
    store.refresh()
    members = _members(store, list(ids))
    heads = {row.id: row for row in rows_of(store, list(members)) if is_principal(row)}
    for family, joined in members.items():
        head = heads.get(family)
        strays = [
            row.id
            for row in rows_of(store, joined)
            if head is None or not _is_similar(row, head, recipe, options)
        ]
        if strays:
            _regroup(store, recipe, family, strays, options)


def rename_clusters(store: FamilyStore, names: Sequence[str], leaving: Collection[str]) -> None:
    """Call these clusters after their longest document that stays; a single document is no
    cluster.
    """
    staying: dict[str, list[str]] = defaultdict(list)
    for id, name in store.families.members("cluster", names):
        if id not in leaving:
            staying[name].append(id)
    for name, ids in staying.items():
        if name not in leaving and len(ids) > 1:
            continue
        rows = sorted(
            map(_without_text, rows_of(store, ids)),
            key=lambda row: (row.status != "complete", -row.words, row.id),
        )
        new_name = rows[0].id if len(rows) > 1 else None
        store.families.assign(replace(_assignment(row), cluster=new_name) for row in rows)


def _members(store: FamilyStore, families: Sequence[str]) -> dict[str, list[str]]:
    """Return the documents of each of these families beside the principal, by id."""
    members: dict[str, list[str]] = defaultdict(list)
    for id, family in sorted(store.families.members("family", families)):
        if id != family:
            members[family].append(id)
    return members


def _is_similar(row: Row, head: Row, recipe: Recipe, options: GroupOptions) -> bool:
    if copy_key(row) == copy_key(head):
        return True
    a, b = Side(row.text, recipe), Side(head.text, recipe)
    similarity = measure_pair(options.measure, a, b, least=options.threshold).similarity
    return similarity >= options.threshold


def _regroup(
    store: FamilyStore, recipe: Recipe, family: str, ids: Sequence[str], options: GroupOptions
) -> FamilyRepair:
    """Group these documents among themselves, and write it; there is one at least."""
    options.check_recipe(recipe)
    collection = gather(
        rows_of(store, sorted(ids)), recipe, len(ids), order_value=options.order_value
    )
    verifier = Verifier(store, collection, options.measure)
    assignments = [
        replace(assignment, cluster=entry.cluster, provisional=True)
        for assignment, entry in zip(
            assign_families(collection, verifier, options).assignments,
            collection.entries,
            strict=True,
        )
    ]
    store.families.assign(sorted(assignments, key=lambda assignment: not assignment.principal))
    sizes = Counter(assignment.family for assignment in assignments)
    return FamilyRepair(family, dict(sorted(sizes.items())))


def _without_text(row: Row) -> Row:
    return replace(row, text="")


def _assignment(row: Row) -> Assignment:
    """Return the family fields as they are."""
    return Assignment(
        row.id, row.family, bool(row.principal), row.similarity, row.cluster, row.provisional
    )


def _singleton(row: Row) -> Assignment:
    return Assignment(row.id, row.id, row.status == "complete", None, None, provisional=True)
