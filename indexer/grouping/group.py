"""Grouping: the families and clusters of a whole store, written back to it.

The result depends on the documents and the options alone, not on the order in which they came or
on what was grouped before.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.band_plan import equal_parts, has_sketch_alone, min_equal, sketch_size
from indexer.comparing.criteria import KEYED, RULES_VERSION, Criteria, missing_field
from indexer.comparing.reasons import Rarity
from indexer.defaults import MEMORY_MEGABYTES
from indexer.errors import RestoredIndex
from indexer.fingerprinting.fingerprint import PROVISIONAL
from indexer.grouping.candidates import PAIRS_AT_ONCE, BandPairs, CapReport
from indexer.grouping.checked_rows import of_texts, read_fresh, stored_digests, without_passages
from indexer.grouping.collection import Collection, Entry, PairFilter, gather
from indexer.grouping.families import assign_joined
from indexer.grouping.group_options import (
    DEFAULT_OPTIONS,
    FieldOrder,
    GroupOptions,
    Principal,
    check_order,
    memory_budget,
)
from indexer.grouping.measured_pairs import (
    MeasuredPairs,
    RememberedPairs,
    RememberingVerifier,
    TextDigests,
)
from indexer.grouping.principals import (
    AHEAD,
    Graph,
    SimilarityFunction,
    Visit,
    assign_principals,
    principal_order,
    sum_equal_slots,
    sum_similarities,
)
from indexer.grouping.similar_pairs import collect_sketch_pairs, find_band_pairs
from indexer.grouping.verification import MatchContext, TextReader, Verifier
from indexer.grouping.words_in_common import PassedOver
from indexer.model import Assignment, Progress, Row, Status, no_progress
from indexer.recipe import Recipe
from indexer.stores.abilities import AssignmentResult, FullStore
from indexer.stores.journal import Journal, journal_path, record_job
from indexer.stores.maintenance import Shareable
from indexer.stores.requirements import (
    require_recipe,
    require_updatable,
    require_writable,
    scope_view,
)
from indexer.system.approved_passages import NO_PASSAGES, ApprovedPassages, OmissionSummary
from indexer.system.external_memory import MemoryBudget, few_collections, parts

# Assignment of families and clusters to a collection of documents; nothing is written.

BATCH = 500  # pairs of a cluster that are measured together
SUMMED = ("original", "central")  # orders that go by all pairs of a document


@dataclass(slots=True)
class FamilyAssignments:
    """The family fields of every document of a collection, in its order.

    `capped`: the pairs that caps left out. `passed_over`: the pairs that were measured, and are
    rearranged or grown, where the verifier marks them.
    """

    assignments: list[Assignment]
    capped: CapReport = field(default_factory=CapReport)
    passed_over: PassedOver = field(default_factory=PassedOver)


def assign_families(grouping: Grouping, progress: Progress = no_progress) -> FamilyAssignments:
    """Return the families and clusters of a collection.

    Ignores `within` and `of` of the options: they decide which documents are in the collection.
    """
    collection, verifier, options = grouping.collection, grouping.verifier, grouping.options
    order = grouping.first_order()
    pairs = grouping.pairs(order, progress)
    if options.principal in SUMMED:
        order = grouping.order(options.principal_kind, grouping.sums(pairs))
    measured = MeasuredPairs(verifier, options, collection.budget)
    principals = grouping.principals(pairs, order, progress, measured)
    clusters = grouping.clusters(pairs, order, principals, measured)
    assignments = []
    joined = {principal for position, (principal, _) in principals.items() if principal != position}
    ids = collection.entries.ids
    statuses = (status for status, *_ in collection.entries.order_fields())
    for index, (id, status) in enumerate(zip(ids, statuses, strict=True)):
        principal, similarity = principals[index]
        is_principal = principal == index and (status == "complete" or index in joined)
        family = id if principal == index else ids[principal]
        cluster = clusters.get(index)
        assignments.append(Assignment(id, family, is_principal, similarity, cluster))
    return FamilyAssignments(assignments, pairs.capped, measured.passed_over())


def grouping_of_rows(
    rows: Iterable[Row],
    texts: TextReader,
    recipe: Recipe,
    options: GroupOptions,
    total: int,
    criteria: Criteria,
    budget: MemoryBudget | None = None,
    progress: Progress = no_progress,
) -> Grouping:
    """Return the grouping of rows that are in no store; `texts` reads them again with their texts.

    Rows come ascending by id; `total`: about how many there are, for `progress`. `criteria`: what
    members meet with their principal.
    """
    settings = options.order_value, criteria, criteria.folded
    collection = gather(rows, recipe, total, progress, budget, *settings)
    return Grouping.of(collection, texts, options)


@dataclass(frozen=True, slots=True)
class Grouping:
    """The steps of grouping one collection.

    Documents are positions in `collection.entries`, texts are their numbers in it.
    """

    collection: Collection
    verifier: Verifier
    options: GroupOptions

    @classmethod
    def of(cls, collection: Collection, texts: TextReader, options: GroupOptions) -> Grouping:
        """Return the grouping of a collection; `texts` reads its texts again."""
        return cls(collection, Verifier(texts, collection, options.measure), options)

    def first_order(self) -> list[int]:
        """Return the documents in principal order as it is before pairs are known.

        Without sums `original` goes by words, and `central` is `longest`.
        """
        kind = self.options.principal_kind
        return self.order("longest" if kind == "central" else kind)

    def order(self, kind: Principal | FieldOrder, sums: list[float] | None = None) -> list[int]:
        """Return the documents in principal order, complete ones before all others.

        `sums` has one of each text, for `central` and `original`.
        """
        entries = self.collection.entries
        texts = self.collection.documents.texts
        summed = np.zeros(len(entries))
        if sums:
            summed = np.array(sums)[texts]
        columns = zip(*entries.order_fields(), strict=True)
        statuses, words, modified, values = map(list, columns) if len(entries) else ([],) * 4
        by_id = range(len(entries))
        order = principal_order(kind, words, modified, summed.tolist(), by_id, values)
        return sorted(order, key=lambda position: statuses[position] != "complete")

    def pairs(self, order: list[int], progress: Progress) -> BandPairs:
        """Return the pairs of texts that may be similar enough for a family or a cluster."""
        options = self.options
        everything = PairFilter(self.collection.documents, None, None)
        context = MatchContext(self.collection, self.verifier, everything, progress)
        ranks = self._text_ranks(order)[: len(self.collection.chars)]
        if has_sketch_alone(self.collection.recipe):
            return collect_sketch_pairs(context, ranks, options.min_threshold, options.cap)
        layout = options.band_plan(self.collection.recipe)
        minimum = self.min_equal(options.min_threshold)
        return find_band_pairs(context, layout, ranks, minimum, options.threshold, options.cap)

    def sums(self, pairs: BandPairs) -> list[float]:
        """Return for each text the similarities of its documents to their matches, summed.

        For `original` it is the equal slots of the pairs that may be matches: no text is read.
        """
        sizes = self.collection.documents.sizes
        if self.options.principal == "central":
            return sum_similarities(self._matches(pairs), sizes.tolist())
        blocks = pairs.blocks(self.min_equal(self.options.threshold))
        return sum_equal_slots(blocks, sizes, self._width)

    def principals(
        self,
        pairs: BandPairs,
        order: list[int],
        progress: Progress,
        measured: MeasuredPairs | None = None,
    ) -> dict[int, tuple[int, float | None]]:
        """Return the principal of each document and the similarity to it, by document.

        A document that joins none is its own principal, with similarity None. `measured` takes the
        pairs that are measured.
        """
        assigned = self.assign(pairs, order, progress, measured=measured)
        return {document: (principal, similarity) for document, principal, similarity in assigned}

    def assign(
        self,
        pairs: BandPairs,
        order: list[int],
        progress: Progress,
        known: NDArray[np.int32] | None = None,
        measured: MeasuredPairs | None = None,
    ) -> Iterator[tuple[int, int, float | None]]:
        """Yield each document in order with its principal and the similarity.

        `known`: the principal of each document that was assigned before, -1 of the others; those
        that were are not yielded again.
        """
        threshold = self.options.threshold
        measure = partial(self.verifier.measure_nearest, minimum=threshold)
        similar: SimilarityFunction = measured.measure_with if measured else measure
        blocks = pairs.blocks(self.min_equal(threshold))
        near = ((left, right) for left, right, _ in blocks)
        texts = len(self.collection.documents)
        graph = Graph(near, texts, self.collection.budget)
        visits = self._visits(order, progress)
        return assign_principals(
            visits, graph, texts, similar, threshold, known, self.verifier.read_ahead
        )

    def clusters(
        self,
        pairs: BandPairs,
        order: list[int],
        principals: dict[int, tuple[int, float | None]],
        measured: MeasuredPairs,
    ) -> dict[int, str]:
        """Return the cluster of each document that is in one.

        It is named by the id of its first document in principal order. Pairs that families have
        `measured` are not measured again.
        """
        threshold = self.options.threshold_of_clusters
        chains = ConnectedTexts(len(self.collection.documents))
        if threshold <= self.options.threshold:
            for document, (principal, _) in principals.items():
                chains.join(self._text(document), self._text(principal))
        similar = partial(self.verifier.measure_pairs, minimum=threshold)
        for a, b in zip(*(column.tolist() for column in measured.connected()), strict=True):
            chains.join(a, b)
        for left, right in pairs.nearest_first():
            is_open = ~measured.contains(left, right)
            block = list(zip(left[is_open].tolist(), right[is_open].tolist(), strict=True))
            chains.extend(block, similar, threshold)
        members: dict[int, list[int]] = defaultdict(list)
        for document in order:
            members[chains.root(self._text(document))].append(document)
        clusters: dict[int, str] = {}
        for positions in members.values():
            if len(positions) > 1:
                clusters |= dict.fromkeys(positions, self.collection.entries[positions[0]].id)
        return clusters

    def _visits(self, order: list[int], progress: Progress) -> Iterator[Visit]:
        texts = self.collection.documents.texts
        for part in parts(len(order), AHEAD):
            progress("grouping", part.start, len(order))
            documents = order[part]
            yield from map(Visit, documents, texts[documents].tolist())

    def _matches(self, pairs: BandPairs) -> Iterator[tuple[int, int, float]]:
        """Yield the pairs of texts at the threshold or above with their similarity."""
        threshold = self.options.threshold
        for left, right, _ in pairs.blocks(size=PAIRS_AT_ONCE):
            values = self.verifier.similarities(left, right, threshold)
            similar = values >= threshold
            columns = left[similar], right[similar], values[similar]
            yield from zip(*(column.tolist() for column in columns), strict=True)

    def _text_ranks(self, order: list[int]) -> NDArray[np.int64]:
        """Return for each text the first position in the order of a document that carries it."""
        ranks = np.zeros(len(self.collection.documents), dtype=np.int64)
        for position, document in reversed(list(enumerate(order))):
            ranks[self._text(document)] = position
        return ranks

    def min_equal(self, threshold: float) -> int:
        """Return the minimum number of equal slots, bits or rare terms of a pair at a threshold."""
        if has_sketch_alone(self.collection.recipe):
            return equal_parts(self.collection.recipe, threshold)
        return min_equal(self.options.measure, threshold, self.collection.recipe)

    @property
    def _width(self) -> int:
        """The slots of a sketch, or its bits or rare terms where it has no slots."""
        recipe = self.collection.recipe
        return sketch_size(recipe) if has_sketch_alone(recipe) else self.collection.slots.shape[1]

    def _text(self, document: int) -> int:
        return int(self.collection.documents.texts[document])


# Clusters of connected texts.


class ConnectedTexts:
    """Texts connected through any chain of pairs (union-find).

    The lowest text of a chain is its representative.
    """

    def __init__(self, texts: int) -> None:
        self._parents = list(range(texts))

    def root(self, text: int) -> int:
        """Return the lowest text of the chain."""
        parents = self._parents
        while parents[text] != text:
            parents[text] = parents[parents[text]]
            text = parents[text]
        return text

    def join(self, a: int, b: int) -> None:
        """Connect two texts."""
        a, b = self.root(a), self.root(b)
        self._parents[max(a, b)] = min(a, b)

    def extend(
        self,
        pairs: Sequence[tuple[int, int]],
        similarities: Callable[[Sequence[tuple[int, int]]], Sequence[float]],
        threshold: float,
    ) -> None:
        """Connect pairs at `threshold`, ever more at once; connected ones are not measured."""
        start, size = 0, 1
        while batch := pairs[start : start + size]:
            start, size = start + size, min(2 * size, BATCH)
            apart = [(a, b) for a, b in batch if self.root(a) != self.root(b)]
            for (a, b), value in zip(apart, similarities(apart), strict=True):
                if value >= threshold:
                    self.join(a, b)


@dataclass(frozen=True, slots=True)
class Copies:
    """Documents with the same bytes, or the same normalised text: (id, path) each, by id."""

    digest: str
    documents: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class FamilyMove:
    """Documents that were in the family `before` and are in `after` now, by id.

    Both families are named by their principals. `paths` belong to the documents, `before_path` and
    `after_path` to the principals; empty for one that is not in the store.
    """

    before: str
    after: str
    documents: tuple[str, ...]
    paths: tuple[str, ...]
    before_path: str
    after_path: str


@dataclass(frozen=True, slots=True)
class LabelConflict:
    """A family whose members do not all carry the same labels.

    `labels`: how many documents carry each; `unlabelled`: how many carry none.
    """

    family: str
    documents: int
    labels: dict[str, int]
    unlabelled: int


@dataclass(frozen=True, slots=True)
class GroupResult:
    """The result of `group` in numbers.

    `families`, `clusters`: those of two documents or more.
    `largest`: documents of the largest family, 0 in an empty store.
    `singletons`: documents in no family.
    `changed`: rows whose family fields are new; on a dry run, those that would be.
    `left_alone`: documents of other programs that keep their family fields, since a change would
    harm values of theirs; 0 on a dry run, which does not read these values.
    `outdated`: documents left to the next `group`, since other programs changed their text, or that
    of their principal, since it was compared.
    `provisional`: documents whose family was provisional and is final now.
    `provisional_families`: families of two documents or more that one of these is in.
    `excluded`: documents without keys and without a copy, which no family takes, by status.
    `moved`: the documents that changed family, provisional ones left out.
    `same_bytes`, `same_text`: copies of any status; empty texts are no copies of a text.
    `inconsistent`: families whose labels differ.
    `capped`: the pairs that caps left out.
    `passed_over`: the pairs of a document and a principal that are rearranged or grown, by `lcs`.
    `left_out`: what approved passages took out of the texts; None without such a list.
    `never_signed`: documents of other programs without any signature; each is on its own.
    """

    documents: int
    families: int
    largest: int
    singletons: int
    clusters: int
    changed: int
    provisional: int
    provisional_families: int
    excluded: dict[Status, int]
    moved: tuple[FamilyMove, ...]
    same_bytes: tuple[Copies, ...]
    same_text: tuple[Copies, ...]
    inconsistent: tuple[LabelConflict, ...]
    capped: CapReport
    left_out: OmissionSummary | None = None
    never_signed: int = 0
    left_alone: int = 0
    outdated: int = 0
    passed_over: PassedOver = field(default_factory=PassedOver)


def account(pairs: list[tuple[Entry, Assignment]], changed: int, capped: CapReport) -> GroupResult:
    """Return the account of an assignment of family fields, of which `changed` are written."""
    entries = [entry for entry, _ in pairs]
    sizes = Counter(after.family for _, after in pairs)
    clusters = {after.cluster for _, after in pairs} - {None}
    filled = [entry for entry in entries if entry.status != "empty"]
    excluded = Counter(
        before.status
        for before, after in pairs
        if before.status not in KEYED and sizes[after.family] == 1
    )
    return GroupResult(
        documents=len(pairs),
        families=sum(size > 1 for size in sizes.values()),
        largest=max(sizes.values(), default=0),
        singletons=sum(size == 1 for size in sizes.values()),
        clusters=len(clusters),
        changed=changed,
        provisional=sum(entry.provisional for entry in entries),
        provisional_families=_count_provisional(pairs, sizes),
        excluded=dict(sorted(excluded.items())),
        moved=tuple(_moves(pairs)),
        same_bytes=_copies([(entry.raw, entry) for entry in entries]),
        same_text=_copies([(entry.exact, entry) for entry in filled]),
        inconsistent=tuple(_label_conflicts(pairs, sizes)),
        capped=capped,
    )


def _count_provisional(pairs: list[tuple[Entry, Assignment]], sizes: Counter[str]) -> int:
    """Return the families of two documents or more with one whose family was provisional."""
    families = {after.family for before, after in pairs if before.provisional}
    return sum(sizes[family] > 1 for family in families)


def _moves(pairs: list[tuple[Entry, Assignment]]) -> Iterator[FamilyMove]:
    """Yield the documents that left a family for another, by family.

    One that was provisional was only expected to be in its family.
    """
    moves: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for entry, after in pairs:
        if entry.family != after.family and not entry.provisional:
            moves[entry.family, after.family].append(entry)
    principals = {family for families in moves for family in families}
    paths = {entry.id: entry.path for entry, _ in pairs if entry.id in principals}
    for (old, new), entries in sorted(moves.items()):
        yield FamilyMove(
            before=old,
            after=new,
            documents=tuple(entry.id for entry in entries),
            paths=tuple(entry.path for entry in entries),
            before_path=paths.get(old, ""),
            after_path=paths.get(new, ""),
        )


def _copies(digested: Sequence[tuple[str, Entry]]) -> tuple[Copies, ...]:
    """Return the digests that several documents share, ordered by the first of them."""
    counts = Counter(digest for digest, _ in digested)
    carriers: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for digest, entry in digested:
        if digest and counts[digest] > 1:
            carriers[digest].append((entry.id, entry.path))
    return tuple(Copies(digest, tuple(documents)) for digest, documents in carriers.items())


def _label_conflicts(
    pairs: list[tuple[Entry, Assignment]], sizes: Counter[str]
) -> Iterator[LabelConflict]:
    """Yield the families whose members carry different sets of labels, by family; `sizes` has the
    size of every family.
    """
    members: dict[str, list[frozenset[str]]] = defaultdict(list)
    for entry, after in pairs:
        if sizes[after.family] > 1:
            members[after.family].append(frozenset(entry.labels))
    for family, label_sets in sorted(members.items()):
        if len(set(label_sets)) > 1:
            carried = Counter(label for labels in label_sets for label in labels)
            unlabelled = label_sets.count(frozenset())
            yield LabelConflict(family, len(label_sets), dict(sorted(carried.items())), unlabelled)


MAX_ATTEMPTS = 3  # to group an index that is restored meanwhile
_ASSIGNED = ("family", "principal", "similarity", "cluster", "provisional")


@few_collections()
def group(
    store: FullStore,
    options: GroupOptions = DEFAULT_OPTIONS,
    *,
    memory: int = MEMORY_MEGABYTES,
    write: bool = True,
    progress: Progress = no_progress,
    leave_out: ApprovedPassages = NO_PASSAGES,
    joined: Mapping[str, str] = MappingProxyType({}),
) -> GroupResult:
    """Make the families and clusters of a store, and write them back unless `write` is False.

    Complete documents are visited in principal order, then the others; each joins the most similar
    earlier principal that shares a band and whose similarity is the threshold or more, or becomes
    one. Copies are similar to 1, also those without keys. Clusters connect documents through any
    chain of pairs at the threshold of clusters. With `within` of the options the store is read once
    more for each set of labels.

    `memory`: megabytes for slots and pairs, at least 1; what does not fit is written to temporary
    files; the families themselves take about 1 KB a document in addition. `progress` is called with
    a stage, how much of it is done, and its total. Texts are compared as if `leave_out` were not in
    them; the journal keeps the id of the list, and what is stored but for families stays as it is.
    `joined`: documents that reviewers put into the family of another one, whatever the options say.

    Run again it gives the same families, also when it was cut short before. What it measures is
    kept next to the journal, so that the next run compares only what is new. Raises `UsageError`,
    `StoreBusy` while another job works on the store, and `StoreError` when nothing was indexed
    yet. Where the index was restored from a snapshot or made again meanwhile, it is read again, up
    to three times in all; then raises `RestoredIndex`.
    """
    recipe = require_writable(store) if write else require_updatable(store)
    options = options.for_recipe(recipe)
    options.check_recipe(recipe)
    store, left_out = without_passages(scope_view(store, options.of), leave_out, recipe)
    command = "group" if write else "group --dry-run"
    with Journal(journal_path(store.address)) as journal, record_job(journal, command) as job:
        if write:
            job.settings.update(options.settings(), rules=RULES_VERSION)
            if left_out:
                job.settings["leave_out"] = left_out.id
        for attempt in range(1, MAX_ATTEMPTS + 1):
            try:
                pairs, capped, passed_over = _assign(
                    store, recipe, options, progress, memory, write
                )
                check_order(options.principal_kind, [entry.order_value for entry, _ in pairs])
                if joined:
                    pairs = _with_joined(store, recipe, options, pairs, joined)
                outcome = _write_back(store, pairs, write)
                break
            except RestoredIndex:
                if attempt == MAX_ATTEMPTS or require_recipe(store).id != recipe.id:
                    raise
        result = account(pairs, outcome.written, capped)
        result = replace(
            result,
            left_out=left_out.summary() if left_out else None,
            never_signed=store.counts().not_fingerprinted,
            left_alone=outcome.left_alone,
            outdated=outcome.outdated,
            passed_over=passed_over,
        )
        job.counts.update(
            documents=result.documents, families=result.families, changed=result.changed
        )
    return result


def _write_back(
    store: FullStore, pairs: Sequence[tuple[Entry, Assignment]], write: bool
) -> AssignmentResult:
    """Write what changes in families, or count it; raise `RestoredIndex` for another index."""
    changed = [after for before, after in in_turn(pairs) if not _same(before, after)]
    if not write:
        return AssignmentResult(written=len(changed))
    digests = stored_digests(store, (entry for entry, _ in pairs))
    outcome = store.families.assign(of_texts(after, digests) for after in changed)
    store.refresh()
    if isinstance(store.maintenance, Shareable):
        store.maintenance.check_same()
    return outcome


def _assign(
    store: FullStore,
    recipe: Recipe,
    options: GroupOptions,
    progress: Progress,
    memory: int,
    write: bool,
) -> tuple[list[tuple[Entry, Assignment]], CapReport, PassedOver]:
    """Return each document with its family, what caps left out, and how many pairs are passed over.

    With `write`, what was measured is kept for the next run. Raises `UsageError` for a field of the
    criteria of which no document has a value.
    """
    pairs: list[tuple[Entry, Assignment]] = []
    capped, passed_over = CapReport(), PassedOver()
    missing = set(options.criteria.fields)
    digests = TextDigests(memory_budget(memory))
    collections = compartments(store, recipe, options, progress, memory, write, digests.watch)
    for collection in collections:
        missing &= collection.fields_without_values()
        verifier = _verifier(store, collection, options, digests)
        verifier.marks_passed_over = True
        families = assign_families(Grouping(collection, verifier, options), progress)
        if write and isinstance(verifier, RememberingVerifier):
            verifier.save_pairs()
        pairs += zip(collection.entries, families.assignments, strict=True)
        capped = capped.merge(families.capped)
        passed_over += families.passed_over
    if missing and pairs:
        raise missing_field(missing)
    return pairs, capped, passed_over


def _with_joined(
    store: FullStore,
    recipe: Recipe,
    options: GroupOptions,
    pairs: Sequence[tuple[Entry, Assignment]],
    joined: Mapping[str, str],
) -> list[tuple[Entry, Assignment]]:
    """Return the families with those joined that reviewers joined; documents that are gone do not
    count.
    """
    after = {made.id: made for _, made in pairs}
    members: defaultdict[str, list[str]] = defaultdict(list)
    for made in after.values():
        members[made.family].append(made.id)
    for id, other in joined.items():
        if id not in after or other not in after or after[id].family == after[other].family:
            continue
        family = after[other].family
        moving = members.pop(id, [id])
        changed = [after[id] for id in moving]
        after |= {made.id: made for made in assign_joined(store, recipe, options, changed, family)}
        members[family] += moving
    return [(entry, after[made.id]) for entry, made in pairs]


def compartments(
    store: FullStore,
    recipe: Recipe,
    options: GroupOptions,
    progress: Progress = no_progress,
    memory: int = MEMORY_MEGABYTES,
    write: bool = False,
    watch: Callable[[Iterable[Row]], Iterable[Row]] = iter,
) -> Iterator[Collection]:
    """Yield the collections to group: the whole store, or one for each set of labels.

    Sets of labels come in the order of their names. With `write`, documents whose keys are not of
    their text are fingerprinted again. The rows of a whole store pass `watch`.
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


TURNS = 4


def in_turn(pairs: Sequence[tuple[Entry, Assignment]]) -> list[tuple[Entry, Assignment]]:
    """Return the changes in the order of writing, in which no document is ever, if the job is cut
    short, under one that it does not resemble.

    Members of a principal that is one no more, perhaps since a client replaced its text, leave it
    before it may become one again. Then principals are written, and those that were principals
    last, so that every member has one at any time.
    """
    principals = {before.id for before, _ in pairs if before.family == before.id}

    def turn(change: tuple[Entry, Assignment]) -> int:
        before, after = change
        if before.family not in principals and not before.family.startswith(PROVISIONAL):
            return 0
        if after.principal:
            return 1
        return 3 if before.principal is not False else 2

    return sorted(pairs, key=turn)


def _same(before: Entry, after: Assignment) -> bool:
    return all(getattr(before, name) == getattr(after, name) for name in _ASSIGNED)
