"""Grouping: the families and clusters of a whole store, written back to it.

The result depends on the documents and the options alone, not on the order in which they came or
on what was grouped before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from indexer.clustering.field_order import FieldOrder
from indexer.clustering.principals import Principal
from indexer.grouping.account import GroupResult, account
from indexer.grouping.assign_families import assign_families
from indexer.grouping.fresh_keys import read_fresh
from indexer.grouping.group_options import DEFAULT_OPTIONS, GroupOptions, missing_order
from indexer.grouping.remembered_pairs import RememberedPairs, RememberingVerifier, TextDigests
from indexer.jobs.history import record_job
from indexer.jobs.journal import Journal, journal_path
from indexer.joins.bands import CapReport
from indexer.matching.collection import Collection, gather
from indexer.matching.entries import Entry
from indexer.matching.limits import memory_budget
from indexer.matching.verification import Verifier
from indexer.matching.without_passages import without_passages
from indexer.model import Assignment, Row
from indexer.recipe import Recipe
from indexer.similarity.approved_passages import NO_PASSAGES, ApprovedPassages
from indexer.similarity.criteria import missing_field
from indexer.similarity.new_words import Rarity
from indexer.sketch.sketch_options import has_sketch_alone
from indexer.stores.abilities import AssignmentResult, FullStore
from indexer.stores.requirements import require_updatable, require_writable, scope_view
from indexer.system.progress_callback import Progress, no_progress
from indexer.system.spill_files import DEFAULT_MEGABYTES

_ASSIGNED = ("family", "principal", "similarity", "cluster", "provisional")


def group(
    store: FullStore,
    options: GroupOptions = DEFAULT_OPTIONS,
    *,
    memory: int = DEFAULT_MEGABYTES,
    write: bool = True,
    progress: Progress = no_progress,
    leave_out: ApprovedPassages = NO_PASSAGES,
) -> GroupResult:
    """Make the families and clusters of a store, and write them back unless `write` is False.

    Complete documents are visited in principal order, then the others; each joins the most similar
    earlier principal that shares a band and whose similarity is the threshold or more, or becomes
    one. Copies are similar to 1, also those without keys. Clusters connect documents through any
    chain of pairs at the threshold of clusters. With `within` of the options the store is read once
    more for each set of labels.

    `memory`: megabytes for slots and pairs, at least 1; what does not fit is written to temporary
    files; the families themselves take about 1 KB a document beside it. `progress` is called with
    a stage, how much of it is done, and its total. Texts are compared as if `leave_out` were not in
    them; the journal keeps the id of the list, and what is stored but for families stays as it is.

    Run again it gives the same families, also when it was cut short before. What it measures is
    kept beside the journal, so that the next run compares only what is new. Raises `UsageError`,
    `StoreBusy` while another job works on the store, and `StoreError` when nothing was indexed
    yet.
    """
    recipe = require_writable(store) if write else require_updatable(store)
    options = options.for_recipe(recipe)
    options.check_recipe(recipe)
    store, left_out = without_passages(scope_view(store, options.of), leave_out, recipe)
    command = "group" if write else "group --dry-run"
    with Journal(journal_path(store.address)) as journal, record_job(journal, command) as job:
        pairs, capped = _assign(store, recipe, options, progress, memory, write)
        check_order(options.principal_kind, (entry for entry, _ in pairs))
        changed = [after for before, after in sorted(pairs, key=_turn) if not _same(before, after)]
        outcome = AssignmentResult(written=len(changed))
        if write:
            job.settings.update(options.settings())
            if left_out:
                job.settings["leave_out"] = left_out.id
            outcome = store.families.assign(changed)
            store.refresh()
        result = account(pairs, outcome.written, capped)
        result = replace(
            result,
            left_out=left_out.summary() if left_out else None,
            never_signed=store.counts().never_signed,
            left_alone=outcome.left_alone,
        )
        job.counts.update(
            documents=result.documents, families=result.families, changed=result.changed
        )
    return result


def _assign(
    store: FullStore,
    recipe: Recipe,
    options: GroupOptions,
    progress: Progress,
    memory: int,
    write: bool,
) -> tuple[list[tuple[Entry, Assignment]], CapReport]:
    """Return each document with its family, and what caps left out.

    With `write`, what was measured is kept for the next run. Raises `UsageError` for a field of the
    criteria of which no document has a value.
    """
    pairs: list[tuple[Entry, Assignment]] = []
    capped = CapReport()
    missing = set(options.criteria.fields)
    digests = TextDigests(memory_budget(memory))
    collections = compartments(store, recipe, options, progress, memory, write, digests.watch)
    for collection in collections:
        missing &= collection.fields_without_values()
        verifier = _verifier(store, collection, options, digests)
        families = assign_families(collection, verifier, options, progress)
        if write and isinstance(verifier, RememberingVerifier):
            verifier.save_pairs()
        pairs += zip(collection.entries, families.assignments, strict=True)
        capped = capped.merge(families.capped)
    if missing and pairs:
        raise missing_field(missing)
    return pairs, capped


def check_order(kind: Principal | FieldOrder, entries: Iterable[Entry]) -> None:
    """Raise `UsageError` for metadata, to order by, that none of these documents has."""
    if isinstance(kind, FieldOrder) and kind.metadata_name is not None:
        values = [entry.order_value for entry in entries]
        if values and not any(value is not None for value in values):
            raise missing_order(kind)


def compartments(
    store: FullStore,
    recipe: Recipe,
    options: GroupOptions,
    progress: Progress = no_progress,
    memory: int = DEFAULT_MEGABYTES,
    write: bool = False,
    watch: Callable[[Iterable[Row]], Iterable[Row]] = iter,
) -> Iterator[Collection]:
    """Yield the collections to group: the whole store, or one for each set of labels.

    Sets of labels come in the order of their names. With `write`, documents whose keys are not of
    their text are signed again. The rows of a whole store pass `watch`.
    """
    settings = options.order_value, options.folding, options.folding.folded
    store.refresh()
    if options.within is None:
        total = store.counts().documents
        rows = watch(read_fresh(store, recipe, write))
        yield gather(rows, recipe, total, progress, memory_budget(memory), *settings)
        return
    sizes = Counter(frozenset(row.labels) for row in store.scan())
    for labels in sorted(sizes, key=sorted):
        rows = (row for row in read_fresh(store, recipe, write) if frozenset(row.labels) == labels)
        budget = memory_budget(memory)
        yield gather(rows, recipe, sizes[labels], progress, budget, *settings)


def _verifier(
    store: FullStore, collection: Collection, options: GroupOptions, digests: TextDigests
) -> Verifier:
    """Return a verifier, one that remembers pairs where their similarity depends on texts alone."""
    journal, criteria = journal_path(store.address), options.folding
    depends_on_more = criteria.fields or criteria.novelty is not None or options.within
    if journal is None or depends_on_more or has_sketch_alone(collection.recipe):
        return Verifier(store, collection, options.measure, Rarity(store.vocabulary.frequencies))
    remembered = RememberedPairs(
        journal,
        {
            "of": options.of,
            "recipe": collection.recipe.id,
            "measure": options.measure,
            "threshold": options.threshold,
            "criteria": criteria.settings(),
        },
        digests.whole()[collection.documents.first],
        collection.budget,
    )
    return RememberingVerifier(store, collection, options.measure, remembered, options.threshold)


def _turn(change: tuple[Entry, Assignment]) -> int:
    """Return the rank of a change in the order of writing.

    Principals are written first, and those that were principals last, so that every member has one
    at any time.
    """
    before, after = change
    if after.principal:
        return 0
    return 2 if before.principal is not False else 1


def _same(before: Entry, after: Assignment) -> bool:
    return all(getattr(before, name) == getattr(after, name) for name in _ASSIGNED)
