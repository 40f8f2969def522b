"""The families of a store, largest first, as they are stored."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, KeysView, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from indexer.comparing.measures import ComparedText, measure_pair
from indexer.comparing.reasons import Rarity, Reasons, measure_new_words, reasons_of
from indexer.defaults import MEASURE
from indexer.errors import DocumentNotFound, UsageError
from indexer.grouping.checked_rows import of_texts
from indexer.grouping.group_options import (
    DEFAULT_OPTIONS,
    GroupOptions,
    distinct_words,
    member_rank,
    unknown_label,
)
from indexer.model import Assignment, Query, Row, Scope
from indexer.recipe import Recipe
from indexer.stores.abilities import FullStore
from indexer.stores.journal import Journal, journal_path, known_group_settings, record_job
from indexer.stores.requirements import require_recipe, require_writable, scope_view, stored_ids

FAMILIES_AT_ONCE = 500  # whose members are looked up together
ROWS_AT_ONCE = 256  # that are read together


@dataclass(frozen=True, slots=True)
class FamiliesOptions:
    """Options of `families`: which of them are listed.

    `least`: the minimum number of documents of a family, 1 or more.
    `label`: families of which a document carries it; None for any.
    `path`: families of which a document is at this path or below it; None for any.
    `of`: families of `documents` or of `parts`.

    Raises `UsageError` for a `least` below 1.
    """

    least: int = 2
    label: str | None = None
    path: str | None = None
    of: Literal["documents", "parts"] = "documents"

    def __post_init__(self) -> None:
        if self.least < 1:
            raise UsageError(f"a group has at least one document, not {self.least}")


@dataclass(frozen=True, slots=True)
class ListedMember:
    """A document of a family.

    `similarity` is to the principal: 1 for the principal itself, None where it was never computed.
    `is_cut`: its text was cut.
    """

    id: str
    path: str
    similarity: float | None
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class ListedFamily:
    """A family: the id of its principal, and all its documents.

    The principal comes first if it is in the store, then the others by rank (`member_ranks`), path
    and id.
    `provisional` counts the documents that came after the last `group`.
    """

    principal: str
    members: tuple[ListedMember, ...]
    provisional: int

    @property
    def size(self) -> int:
        """Return the number of documents."""
        return len(self.members)


def families(
    store: FullStore, options: FamiliesOptions = FamiliesOptions()
) -> Iterator[ListedFamily]:
    """Yield the families of a store, the largest first, ties by their first path.

    Memory: about 200 bytes a document, and the members of a few hundred families at once; no text
    is kept. Families that change meanwhile are listed as they are when their turn comes. Raises
    `StoreError` when nothing was indexed yet, and `UsageError` when no document carries the label,
    or none is at the path or below it.
    """
    recipe = require_recipe(store)
    view = scope_view(store, options.of)
    view.refresh()
    names = _names(view, options)
    measure = known_group_settings(store.address, options.of).get("measure", MEASURE)
    for start in range(0, len(names), FAMILIES_AT_ONCE):
        yield from _listed(view, names[start : start + FAMILIES_AT_ONCE], recipe, measure)


def _names(store: FullStore, options: FamiliesOptions) -> list[str]:
    """Return the families to list, in order; texts are not read."""
    sizes: Counter[str] = Counter()
    below: set[str] = set()
    for hit in store.search(Query("", sort="path")).hits:
        sizes[hit.family] += 1
        if options.path is not None and _is_below(hit.path, options.path):
            below.add(hit.family)
    names = [name for name, size in sizes.items() if size >= options.least]
    if options.path is not None:
        if not below:
            raise UsageError(
                f"no document is at {options.path!r} or below it; check the spelling, or give the "
                "path as `nearfold search` prints it"
            )
        names = [name for name in names if name in below]
    if options.label is not None:
        labelled = store.search(Query("", (("labels", options.label),), "path")).hits
        carriers = {hit.family for hit in labelled}
        if not carriers:
            raise unknown_label(options.label, _labels(store))
        names = [name for name in names if name in carriers]
    return sorted(names, key=lambda name: -sizes[name])


def _labels(store: FullStore) -> set[str]:
    """Return the most frequent labels of the documents."""
    facets = store.search(Query("", facets=("labels",))).facets
    return {facet.value for facet in facets["labels"]}


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def _listed(
    store: FullStore, names: Sequence[str], recipe: Recipe, measure: str
) -> Iterator[ListedFamily]:
    """Yield these families as they are now; those that are gone are left out."""
    ids = [id for id, _ in store.families.members("family", names)]
    known: dict[str, KeysView[str]] = {}
    for start in range(0, len(names), ROWS_AT_ONCE):
        rows = store.get(names[start : start + ROWS_AT_ONCE])
        known |= {id: distinct_words(row, recipe) for id, row in rows.items()}
    members: dict[str, list[tuple[float, ListedMember]]] = defaultdict(list)
    provisional: Counter[str] = Counter()
    for start in range(0, len(ids), ROWS_AT_ONCE):
        for row in store.get(ids[start : start + ROWS_AT_ONCE]).values():
            rank = member_rank(row, known.get(row.family), recipe, measure)
            members[row.family].append((rank, _member(row)))
            provisional[row.family] += row.provisional
    for name in names:
        if name in members:
            turns = sorted(members[name], key=lambda ranked: _turn(name, *ranked))
            yield ListedFamily(name, tuple(member for _, member in turns), provisional[name])


def _member(row: Row) -> ListedMember:
    similarity = 1.0 if row.id == row.family else row.similarity
    return ListedMember(row.id, row.path, similarity, row.status == "truncated")


def _turn(principal: str, rank: float, member: ListedMember) -> tuple[bool, float, str, str]:
    return member.id != principal, -rank, member.path, member.id


@dataclass(frozen=True, slots=True)
class GroupedDocument:
    """A stored document, and the near-duplicate group that it is in."""

    row: Row
    group: ListedFamily


def show(store: FullStore, name: str) -> GroupedDocument:
    """Return a stored document by its id or path, with its group; alone it is one of one document.

    Raises `DocumentNotFound`, `UsageError` for a path that several documents have, and `StoreError`
    when nothing was indexed yet.
    """
    recipe = require_recipe(store)
    [id] = stored_ids(store, [name])
    row = store.get([id]).get(id)
    if row is None:
        raise DocumentNotFound(id=name)
    of: Scope = "parts" if row.parent else "documents"
    measure = known_group_settings(store.address, of).get("measure", MEASURE)
    groups = list(_listed(scope_view(store, of), [row.family], recipe, measure))
    return GroupedDocument(row, groups[0] if groups else ListedFamily(id, (_member(row),), 0))


# The differences between the documents of many pairs, whose texts are read in batches.

AT_ONCE = 50  # pairs that are read together


def explain_pairs(store: FullStore, pairs: Sequence[tuple[str, str]]) -> Iterator[Reasons | None]:
    """Yield what differs between the documents of each pair of ids; None if one is gone.

    Raises `StoreError` when nothing was indexed yet.
    """
    recipe = require_recipe(store)
    rarity = Rarity(store.vocabulary.frequencies)
    for start in range(0, len(pairs), AT_ONCE):
        batch = pairs[start : start + AT_ONCE]
        rows = store.get(list(dict.fromkeys(id for pair in batch for id in pair)))
        texts = {id: ComparedText(row.text, recipe) for id, row in rows.items()}
        known = [(a, b) for a, b in batch if a in rows and b in rows]
        new_words = measure_new_words([(texts[a], texts[b]) for a, b in known], rarity)
        reasons = {
            (a, b): reasons_of((rows[a], rows[b]), (texts[a], texts[b]), new)
            for (a, b), new in zip(known, new_words, strict=True)
        }
        yield from map(reasons.get, batch)


# Documents that reviewers put into another family, or take out of theirs.


def assign_joined(
    store: FullStore,
    recipe: Recipe,
    options: GroupOptions,
    members: Sequence[Assignment],
    family: str,
) -> Iterator[Assignment]:
    """Yield the members of another family, each with its similarity to the principal."""
    rows = store.get([family, *(member.id for member in members)])
    texts = {id: ComparedText(row.text, recipe) for id, row in rows.items()}
    digests = {id: row.exact for id, row in rows.items()}
    for made in members:
        similarity = None
        if made.id in texts and family in texts:
            similarity = measure_pair(options.measure, texts[family], texts[made.id]).similarity
        joined = replace(made, family=family, principal=False, similarity=similarity)
        yield of_texts(joined, digests)


def join(store: FullStore, id: str, other: str, options: GroupOptions = DEFAULT_OPTIONS) -> int:
    """Put a document into the family of another one, with the members of its own where it is the
    principal; return how many documents that changed.

    Raises `DocumentNotFound`, and `StoreBusy` while another job works on the store.
    """
    recipe = require_writable(store)
    with Journal(journal_path(store.address)) as journal, record_job(journal, "join") as job:
        rows = store.get([id, other])
        for name in (id, other):
            if name not in rows:
                raise DocumentNotFound(id=name)
        if rows[id].family == rows[other].family:
            return 0
        ids = dict.fromkeys([id, *(name for name, _ in store.families.members("family", [id]))])
        members = [
            Assignment(row.id, row.family, False, None, row.cluster)
            for row in store.get(list(ids)).values()
        ]
        store.families.assign(assign_joined(store, recipe, options, members, rows[other].family))
        store.refresh()
        job.counts.update(changed=len(members))
    return len(members)


def separate(store: FullStore, id: str) -> None:
    """Take a document that is no principal out of its family, until the next `group`.

    Raises `DocumentNotFound`, and `StoreBusy` while another job works on the store.
    """
    require_writable(store)
    with Journal(journal_path(store.address)) as journal, record_job(journal, "separate"):
        row = store.get([id]).get(id)
        if row is None:
            raise DocumentNotFound(id=id)
        if row.family != id:
            alone = Assignment(id, id, row.status == "complete", None, row.cluster, True, row.exact)
            store.families.assign([alone])
            store.refresh()
