"""Deletion of documents, and repair of the families and clusters that depended on them.

A document that goes, or whose text changes, may be the principal of a family, and may have given a
cluster its name.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from indexer.comparing.reasons import Rarity
from indexer.fingerprinting.fingerprint import PROVISIONAL, current_rows
from indexer.grouping.checked_rows import of_texts, stored_digests
from indexer.grouping.collection import gather
from indexer.grouping.group import Grouping, assign_families
from indexer.grouping.group_options import (
    DEFAULT_FAMILIES,
    DEFAULT_OPTIONS,
    FamilyOptions,
    GroupOptions,
    PrincipalFinder,
    last_options,
)
from indexer.grouping.verification import Verifier
from indexer.model import Assignment, Row
from indexer.recipe import Recipe
from indexer.stores.abilities import FullStore
from indexer.stores.fields import rows_of
from indexer.stores.journal import Journal, journal_path, record_job
from indexer.stores.requirements import require_updatable, require_writable


@dataclass(frozen=True, slots=True)
class FamilyRepair:
    """A family whose principal was deleted or changed.

    `into`: how many of its other members are in which family now.
    """

    family: str
    into: dict[str, int]


@dataclass(frozen=True, slots=True)
class DeleteResult:
    """The result of `delete`.

    `deleted` ids were in the store, `absent` ones were not; both in the order of the call.
    `repaired` are the families that lost their principal.
    """

    deleted: tuple[str, ...]
    absent: tuple[str, ...]
    repaired: tuple[FamilyRepair, ...]


def delete(
    store: FullStore,
    ids: Sequence[str],
    *,
    threshold: float | None = None,
    measure: str | None = None,
    principal: str | None = None,
) -> DeleteResult:
    """Remove documents and their parts, and repair the families that lose their principal.

    The remaining members of such a family are grouped among themselves, by the options of the last
    `group` on this machine, or the defaults, and are provisional until the next `group`.
    `threshold`, `measure` and `principal`, as in `GroupOptions`, replace the settings of families
    of documents where given. A cluster that a removed document gave its name is renamed; a cluster
    of which a single document remains is dissolved.

    Families are repaired before documents are removed, so that an interrupted run leaves no member
    without a principal; run again it does the rest.

    Raises `UsageError`, `UnknownMeasure`, `StoreBusy` while another job works on the store, and
    `StoreError` when nothing was indexed yet.
    """
    require_writable(store)
    changes: dict[str, Any] = {"threshold": threshold, "measure": measure, "principal": principal}
    changes = {name: value for name, value in changes.items() if value is not None}
    last = last_options(store)
    options = replace(last, documents=replace(last.documents, **changes))
    with Journal(journal_path(store.address)) as journal, record_job(journal, "delete") as job:
        result = delete_and_repair(store, ids, options)
        journal.forget(ids)
        job.counts.update(deleted=len(result.deleted), absent=len(result.absent))
    return result


def delete_and_repair(
    store: FullStore, ids: Sequence[str], options: FamilyOptions = DEFAULT_FAMILIES
) -> DeleteResult:
    """Do the work of `delete` for a job that holds the journal already."""
    recipe = require_updatable(store)
    distinct = list(dict.fromkeys(ids))
    rows = {row.id: _without_text(row) for row in rows_of(store, distinct)}
    leaving = {id: rows[id] for id in distinct if id in rows}
    repaired = repair_families(store, recipe, leaving, options.documents)
    part_ids = [id for id, _ in store.families.members("parent", list(leaving))]
    if part_ids:
        parts = {row.id: _without_text(row) for row in rows_of(store, part_ids)}
        repair_families(store, recipe, parts, options.parts)
    store.delete(list(leaving))
    store.refresh()
    if store.shared:
        repair_strays(store, recipe, list(leaving), options.documents)
    absent = tuple(id for id in distinct if id not in leaving)
    return DeleteResult(tuple(leaving), absent, repaired)


def is_principal(row: Row) -> bool:
    """Return whether others may join this document.

    They may join a row that was never grouped, which does not say whether it is a principal.
    """
    return row.family == row.id and row.principal is not False and row.status == "complete"


def repair_families(
    store: FullStore,
    recipe: Recipe,
    leaving: Mapping[str, Row],
    options: GroupOptions = DEFAULT_OPTIONS,
) -> tuple[FamilyRepair, ...]:
    """Prepare families and clusters for stored rows that are about to go or change.

    Members that stay are grouped among themselves, those that go too become singletons, and
    clusters lose the names of these rows.
    """
    store.refresh()
    clusters = {row.cluster for row in leaving.values() if row.cluster is not None}
    rename_clusters(store, sorted(clusters | leaving.keys()), leaving)
    representatives = [id for id, row in leaving.items() if row.principal is not False]
    members = _members(store, representatives)
    repairs = []
    for family in representatives:
        staying = [member for member in members.get(family, ()) if member not in leaving]
        if staying:
            repairs.append(_regroup(store, recipe, family, staying, options))
    alone = [member for ids in members.values() for member in ids if member in leaving]
    store.families.assign(_singleton(leaving[member]) for member in alone)
    store.refresh()
    return tuple(repairs)


def regroup_members_of(
    store: FullStore,
    recipe: Recipe,
    ids: Collection[str],
    options: GroupOptions = DEFAULT_OPTIONS,
) -> bool:
    """Group again, among themselves, the members of groups whose principal, one of `ids`, is not in
    the store; return whether there were any.
    """
    members = _members(store, list(ids))
    gone = members.keys() - {row.id for row in rows_of(store, list(members))}
    for family in sorted(gone):
        _regroup(store, recipe, family, members[family], options)
    return bool(gone)


def repair_strays(
    store: FullStore,
    recipe: Recipe,
    ids: Collection[str],
    options: GroupOptions = DEFAULT_OPTIONS,
    placed: Mapping[str, Row] | None = None,
) -> None:
    """Group again the members that joined rows while these went or changed.

    Members that are similar enough to the row as it is now stay. `placed`: rows by id that were
    compared before they were written; where a member and its principal are as they were written,
    they are not compared again.
    """
    store.refresh()
    members = _members(store, list(ids))
    representatives = {row.id: row for row in rows_of(store, list(members)) if is_principal(row)}
    rarity = Rarity(store.vocabulary.frequencies)

    def is_similar(row: Row, representative: Row) -> bool:
        rows = row, representative
        if placed and all(placed.get(each.id) == each for each in rows):
            return True
        finder = PrincipalFinder(recipe, options, rarity)
        return finder.most_similar(row, [representative])[0] is not None

    family_of = {id: family for family, joined in members.items() for id in joined}
    strays: dict[str, list[str]] = defaultdict(list)
    for row in rows_of(store, list(family_of)):
        representative = representatives.get(family_of[row.id])
        if representative is None or not is_similar(row, representative):
            strays[family_of[row.id]].append(row.id)
    # Copies of one text wait for a group. Before one of them gives its name to one, those that were
    # in the group of that name have left it.
    for family in sorted(strays, key=lambda name: name.startswith(PROVISIONAL)):
        _regroup(store, recipe, family, strays[family], options)


def rename_clusters(store: FullStore, names: Sequence[str], leaving: Collection[str]) -> None:
    """Name these clusters after their longest document that stays.

    A cluster of which a single document stays is dissolved. A document whose text a client changed
    may have left the cluster that is stored with it, and stays as it is.
    """
    staying: dict[str, list[str]] = defaultdict(list)
    for id, name in store.families.members("cluster", names):
        if id not in leaving:
            staying[name].append(id)
    for name, ids in staying.items():
        members = (_without_text(row) for row in rows_of(store, ids) if row.cluster == name)
        first = list(islice(members, 2))
        if name not in leaving and len(first) > 1:
            continue
        rows = sorted(
            (*first, *members),
            key=lambda row: (row.status != "complete", -row.words, row.id),
        )
        new_name = rows[0].id if len(rows) > 1 else None
        store.families.assign(replace(_assignment(row), cluster=new_name) for row in rows)


def _members(store: FullStore, families: Sequence[str]) -> dict[str, list[str]]:
    """Return the documents of each of these families except the principal, by id."""
    members: dict[str, list[str]] = defaultdict(list)
    for id, family in sorted(store.families.members("family", families)):
        if id != family:
            members[family].append(id)
    return members


def _regroup(
    store: FullStore, recipe: Recipe, family: str, ids: Sequence[str], options: GroupOptions
) -> FamilyRepair:
    """Group these documents, one or more, among themselves, and write their families."""
    options.check_recipe(recipe)
    rarity = Rarity(store.vocabulary.frequencies)
    assignments: list[Assignment] = []
    for members in _compartments(store, sorted(ids), options):
        collection = gather(
            current_rows(rows_of(store, members), recipe),
            recipe,
            len(members),
            order_value=options.order_value,
            criteria=options.folding,
            statuses=options.folding.folded,
        )
        verifier = Verifier(store, collection, options.measure, rarity)
        families = assign_families(Grouping(collection, verifier, options)).assignments
        digests = stored_digests(store, collection.entries)
        assignments += (
            of_texts(replace(assignment, cluster=entry.cluster, provisional=True), digests)
            for assignment, entry in zip(families, collection.entries, strict=True)
        )
    store.families.assign(sorted(assignments, key=lambda assignment: not assignment.principal))
    sizes = Counter(assignment.family for assignment in assignments)
    return FamilyRepair(family, dict(sorted(sizes.items())))


def _compartments(
    store: FullStore, ids: Sequence[str], options: GroupOptions
) -> Sequence[Sequence[str]]:
    """Divide documents into sets that may share a family, each by id."""
    if options.within is None:
        return [ids]
    members: dict[frozenset[str], list[str]] = defaultdict(list)
    for row in rows_of(store, ids):
        members[frozenset(row.labels)].append(row.id)
    return list(members.values())


def _without_text(row: Row) -> Row:
    return replace(row, text="")


def _assignment(row: Row) -> Assignment:
    """Return the family fields as they are."""
    return Assignment(
        row.id,
        row.family,
        bool(row.principal),
        row.similarity,
        row.cluster,
        row.provisional,
        exact=row.exact,
    )


def _singleton(row: Row) -> Assignment:
    return Assignment(
        row.id, row.id, row.status == "complete", None, None, provisional=True, exact=row.exact
    )
