"""The near-duplicate pairs of a whole store, at any threshold.

Bands are made anew from the stored slots. Slots decide where the 95 % interval of their estimate
lies wholly above or below the threshold, texts decide inside it. The complete mode does without
chance: it reads all texts and finds every pair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.band_plan import (
    ALMOST_ONE,
    Plan,
    describe_plan,
    has_sketch_alone,
    min_equal_slots,
    plan,
    plan_by_weight,
    resolve_sketch,
)
from indexer.comparing.criteria import NO_CRITERIA, Criteria, missing_field
from indexer.comparing.measures import check_measure, rank_phrase
from indexer.comparing.reasons import Rarity
from indexer.defaults import (
    CAP,
    MEASURE,
    MEMORY_MEGABYTES,
    MISREAD,
    REVIEW,
    DefaultName,
    DefaultNumber,
)
from indexer.errors import UsageError
from indexer.fingerprinting.fingerprint import current_rows, fresh_rows, with_datasketch_slots
from indexer.fingerprinting.keys import GUARANTEED_LENGTH
from indexer.fingerprinting.minhash import equal_slots, similarity_intervals
from indexer.grouping.audit import Audit, AuditFrame, check_audited
from indexer.grouping.candidates import CapReport, MissedEstimate, TextPairs, merge_text_pairs
from indexer.grouping.checked_rows import without_passages
from indexer.grouping.collection import (
    Collection,
    PairColumns,
    PairFilter,
    document_pairs,
    gather,
)
from indexer.grouping.group_options import (
    check_cap,
    check_threshold,
    memory_budget,
    require_slots,
    unknown_label,
)
from indexer.grouping.similar_pairs import (
    COMPLETE_MEASURES,
    find_all_pairs,
    find_contained_pairs,
    find_likely_pairs,
    find_sketch_pairs,
)
from indexer.grouping.verification import MatchContext, TextReader, Verifier, ignore_text
from indexer.grouping.words_in_common import PassedOver
from indexer.model import Progress, no_progress
from indexer.recipe import Recipe
from indexer.stores.abilities import FullStore, PartStore
from indexer.stores.requirements import is_shared, require_recipe, scope_view
from indexer.system.approved_passages import (
    NO_PASSAGES,
    ApprovedPassages,
    Omission,
    OmissionLog,
    OmissionSummary,
)
from indexer.system.external_memory import (
    Codes,
    MemoryBudget,
    Sorter,
    StringSequence,
    few_collections,
    parts,
    slices_of_runs,
)
from indexer.wording import count_of, percent

# The near-duplicate pairs of a store, how they were found, and what may be missing.

POSITION_BITS = 36  # of a pair's position, next to the number of a document in 64 bits
_MAX_RANK = (1 << (64 - POSITION_BITS)) - 1  # of a rank from 1 to -1, next to such a position


@dataclass(frozen=True, slots=True)
class Pair:
    """Two near duplicates.

    `measure` names what `similarity` is: `estimate` where the slots alone decided. `low` and
    `high`: the 95 % Wilson interval of an estimate; both equal an exact measure. `containment`, of
    `match` with `contained`: how much of a lies in b, and of b in a. `as_read`: a text was cut, and
    the rest of it is not known. `left_out`: what approved passages took out of both texts; None
    without such a list. `is_copy`: the texts are the same after normalisation; a measure of words
    may be 1 for others, whose signs or symbols differ ("500", "-500"). `rank` orders pairs: the
    similarity less what new words cost.
    """

    a: str
    b: str
    similarity: float
    measure: str
    low: float
    high: float
    containment: tuple[float, float] | None = None
    as_read: bool = False
    left_out: Omission | None = None
    is_copy: bool = False
    rank: float = 0.0


@dataclass(frozen=True, slots=True)
class MatchResult(PairColumns):
    """The pairs of a store, each once, and how they were found.

    Iterating gives them sorted by a, then b; a < b, or with `against` a document without the label
    and then one with it. `slots`: how many a sketch has, 0 for a recipe without, of
    `slot_bits` each. `plan` is None in
    the complete mode. `candidates` counts pairs of distinct texts that were looked at,
    `copies_left_out` the pairs between copies of the same texts that were too many to list.
    `audit`: an estimate of what was missed, or None. `truncated`: the documents whose texts were
    cut, as positions in `ids`. `left_out`: what approved passages took out of the texts, None
    without such a list. `passed_over`: how many of the candidates by `lcs` are rearranged or grown.
    `scans`: (documents,) those whose pairs are measured by `lcs_misread`; None where none is.
    """

    documents: int
    threshold: float
    plan: Plan | None
    candidates: int
    capped: CapReport
    against: str | None
    measure: str
    slots: int
    slot_bits: int
    ids: Sequence[str]
    paths: Sequence[str]
    budget: MemoryBudget
    audit: Audit | None = None
    truncated: frozenset[int] = frozenset()
    left_out: OmissionLog | None = None
    passed_over: PassedOver = field(default_factory=PassedOver)
    scans: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.left)

    @property
    def names(self) -> Sequence[str]:
        """The path of each document, or its id where it has none."""
        return _FirstNames(self.paths, self.ids)

    def __iter__(self) -> Iterator[Pair]:
        for part in parts(len(self), self.budget.block):
            columns = (
                self.left[part],
                self.right[part],
                self.similarity[part],
                self.copy[part],
                self.rank[part],
                *self.intervals(part),
            )
            rows = zip(*(column.tolist() for column in columns), self.measures(part), strict=True)
            for index, (a, b, similarity, is_copy, rank, low, high, measure) in enumerate(
                rows, part.start
            ):
                scores = similarity, measure, low, high, self._containment(index)
                left_out = self._left_out(self.ids[a], self.ids[b])
                others = self._is_cut(a, b), left_out, is_copy, rank
                yield Pair(self.ids[a], self.ids[b], *scores, *others)

    def _left_out(self, a: str, b: str) -> Omission | None:
        return None if self.left_out is None else self.left_out.of_pair(a, b)

    @property
    def omissions(self) -> OmissionSummary | None:
        """The totals of what was left out of all texts; None without a list."""
        return None if self.left_out is None else self.left_out.summary()

    def _is_cut(self, a: int, b: int) -> bool:
        return a in self.truncated or b in self.truncated

    def _containment(self, position: int) -> tuple[float, float] | None:
        if self.within is None:
            return None
        return float(self.within[position, 0]), float(self.within[position, 1])

    def as_read(self, part: slice) -> list[bool]:
        """Return for each of these pairs whether a text was cut."""
        return list(map(self._is_cut, self.left[part].tolist(), self.right[part].tolist()))

    def measures(self, part: slice) -> list[str]:
        """Return the name of the measure of each of these pairs."""
        measures = [self.measure if exact else "estimate" for exact in self.exact[part]]
        if self.scans is not None:
            is_of_scan = self.scans[self.left[part]] | self.scans[self.right[part]]
            for position in np.flatnonzero(is_of_scan):
                measures[position] = MISREAD
        return measures

    def intervals(self, part: slice) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the lower and upper bound of the similarity of each of these pairs.

        The 95 % Wilson interval of estimates; both bounds equal an exact similarity.
        """
        similarity = self.similarity[part]
        exact = self.exact[part] & (self.measure != "estimate")
        equal = equal_slots(similarity, self.slots, self.slot_bits)
        lows, highs = similarity_intervals(self.slots, bits=self.slot_bits)
        return np.where(exact, similarity, lows[equal]), np.where(exact, similarity, highs[equal])

    def best_first(self, limit: int | None = None) -> Iterator[MatchResult]:
        """Yield the pairs in blocks by rank, copies before others of the same words, ties by a,
        then b; at most `limit`.
        """
        sorter = Sorter(self.budget)
        for part in parts(len(self), self.budget.block):
            distance = ((1 - self.rank[part]) / 2 * _MAX_RANK).astype(np.uint64)
            distance = np.where(self.copy[part], distance, np.maximum(distance, 1))
            positions = np.arange(part.start, part.stop, dtype=np.uint64)
            sorter.add(distance << np.uint64(POSITION_BITS) | positions)
        codes = sorter.sorted()[:limit]
        for part in parts(len(codes), self.budget.block):
            chosen = codes[part] & np.uint64((1 << POSITION_BITS) - 1)
            yield self.at(chosen)

    def by_document(self) -> Iterator[tuple[int, list[tuple[int, float]]]]:
        """Yield every document that has matches, by id, with all its matches.

        Documents are positions in `ids`; matches come most similar first, ties by id. With
        `against` those that carry the label are matches only.
        """
        low = np.uint64((1 << POSITION_BITS) - 1)
        codes = self._sorted_codes()
        for part in slices_of_runs(codes, low, self.budget.block):
            documents = codes[part] >> np.uint64(POSITION_BITS)
            positions = codes[part] & low
            others = np.where(
                self.left[positions] == documents, self.right[positions], self.left[positions]
            )
            similarity = self.similarity[positions]
            order = np.lexsort((others, -similarity, documents))
            rows = zip(
                documents[order].tolist(),
                others[order].tolist(),
                similarity[order].tolist(),
                strict=True,
            )
            for document, matches in groupby(rows, key=lambda row: row[0]):
                yield document, [(other, value) for _, other, value in matches]

    def _sorted_codes(self) -> Codes:
        """Return document << POSITION_BITS | index of the pair, ascending."""
        sorter = Sorter(self.budget)
        ends = [self.left, self.right] if self.against is None else [self.left]
        for part in parts(len(self), self.budget.block):
            positions = np.arange(part.start, part.stop, dtype=np.uint64)
            for documents in ends:
                sorter.add(
                    documents[part].astype(np.uint64) << np.uint64(POSITION_BITS) | positions
                )
        return sorter.sorted()

    def _passage_notes(self) -> Iterator[str]:
        yield (
            f"one text holds {percent(self.threshold)} or more of the other in shared passages; "
            f"every such pair with a shared stretch of {GUARANTEED_LENGTH} letters"
        )
        if self.capped.keys:
            yield (
                f"{count_of(self.capped.keys, 'passage')} in many texts "
                f"(up to {self.capped.largest:,}) left out: texts that share no other are not "
                "listed; raise --cap"
            )

    def notes(self) -> Iterator[str]:
        """Yield how pairs were found and what may be missing, in sentences."""
        if self.within is not None:
            yield from self._passage_notes()
        elif self.plan is None:
            yield f"complete: every pair with {self.measure} of {self.threshold:g} or more"
        else:
            yield describe_plan(self.plan)
        if self.scans is not None:
            yield (
                f"{count_of(int(self.scans.sum()), 'scan')} compared by {MISREAD}; "
                f"--measure {self.measure} compares all pairs by {self.measure}"
            )
        if self.capped.keys and self.within is None:
            yield (
                f"in {count_of(self.capped.keys, 'frequent band')} "
                f"(up to {self.capped.largest:,} texts) "
                f"all were paired with the first text only, and "
                f"{count_of(self.capped.pairs, 'pair')} not looked at; "
                "raise --cap, or use --complete"
            )
        if self.capped.missed:
            yield describe_missed(self.capped.missed)
        if self.copies_left_out:
            yield (
                f"{count_of(self.copies_left_out, 'pair')} of copies of the same texts left out; "
                "raise --cap to list them"
            )
        yield from self.passed_over.sentences("lists", "--contained")
        if order := rank_phrase(self.measure):
            yield f"in the order of {order}"
        if self.omissions:
            yield str(self.omissions)
        if self.audit:
            yield from self.audit.sentences()


class _FirstNames(StringSequence):
    """The first of two strings of each document that is not empty."""

    def __init__(self, first: Sequence[str], second: Sequence[str]) -> None:
        self._first, self._second = first, second

    def __len__(self) -> int:
        return len(self._first)

    def at(self, index: int) -> str:
        """Return one of both strings."""
        return self._first[index] or self._second[index]


def describe_missed(missed: MissedEstimate) -> str:
    """Return a sentence on the near duplicates among the pairs that a cap left out."""
    if missed.low == missed.high:
        return (
            f"all {missed.sampled:,} of these were verified: "
            f"{missed.estimate:,.0f} pairs of texts that no other band finds "
            f"reach {missed.threshold:g} and are left out"
        )
    return (
        f"of these pairs a random sample of {missed.sampled:,} was verified: "
        f"{missed.found:,} that no other band finds reach {missed.threshold:g}, "
        f"so about {missed.estimate:,.0f} pairs of texts are left out "
        f"({missed.low:,.0f} to {missed.high:,.0f})"
    )


MIN_AUDIT = 20  # pairs that an audit verifies


@dataclass(frozen=True, slots=True)
class MatchOptions:
    """The options of `match`: which pairs are found, and how.

    `threshold`: minimum similarity of a pair, above 0 and at most 1. For a recipe of bits alone the
    default stands for 3 different bits (`simhash-doc-loose`: 6), and `measure` for `hamming`.
    `recall`: bands are chosen so that at least this fraction of the pairs at the threshold is
    expected to be found, between 0 and 1; of the pairs above it, more are.
    `measure`: name of the similarity; by default pairs with a scan are measured by `lcs_misread`.
    `against`: only pairs of a document without this label and one that carries it.
    `new`: only pairs that touch a document that came after the last `group`.
    `exact`: measure every pair on its texts, not only those that the slots leave open;
    `all_pairs` and `contained` do so in any case.
    `all_pairs`: find every pair by `jaccard` or `lcs`, without chance and caps; reads all texts.
    `contained`: find excerpts, quoting replies and documents inside longer ones, by the passages
    that texts share; reads all texts. The larger fraction of one text in the other is the
    similarity, and both are reported; `measure` is left at its default.
    `false_negative_weight`: bands are planned as datasketch and copietje plan them, by this weight
    of missed pairs, from 0 to 1, instead of by `recall`; and, as there, texts of numbers alone,
    short and empty ones have slots, too. None: by `recall`.
    `cap`: texts, 2 or more. A band that more distinct texts share gives pairs with the first of
    them only; copies of a text that make more pairs, likewise.
    `audit`: verify so many pairs, 20 or more, to estimate how many were missed; takes longer than
    matching itself. 0: no audit.
    `seed`: the seed of the random sample of the audit.
    `of`: `documents`, or `parts` for the pairs of clauses, those within one document included.
    `criteria`: what a pair meets in addition to the threshold.

    Raises `UsageError` for a value out of range and for options that exclude each other, and
    `UnknownMeasure`.
    """

    threshold: float = DefaultNumber(REVIEW)
    recall: float = 0.99
    false_negative_weight: float | None = None
    measure: str = DefaultName(MEASURE)
    against: str | None = None
    new: bool = False
    exact: bool = False
    all_pairs: bool = False
    contained: bool = False
    cap: int = CAP
    audit: int = 0
    seed: int = 0
    of: Literal["documents", "parts"] = "documents"
    criteria: Criteria = NO_CRITERIA

    def __post_init__(self) -> None:
        check_measure(self.measure)
        check_threshold(self.threshold)
        check_cap(self.cap)
        if self.contained and self.measure != MEASURE:
            raise UsageError(
                f"--contained has a measure of its own, not {self.measure}; leave --measure out"
            )
        if self.all_pairs and self.measure not in COMPLETE_MEASURES:
            raise UsageError(
                f"--complete finds all pairs by {' or '.join(COMPLETE_MEASURES)}, "
                f"not by {self.measure}; choose one of them, or leave --complete out"
            )
        if self.all_pairs and self.contained:
            raise UsageError(
                "--complete finds all pairs by features or words, --contained by passages; "
                "leave one of them out"
            )
        if self.audit:
            self._check_audit()

    @property
    def uses_bands(self) -> bool:
        """Return whether pairs are found by bands of MinHash slots."""
        return not (self.all_pairs or self.contained)

    def band_plan(self, recipe: Recipe) -> Plan:
        """Return the bands by which pairs are found in sketches of a recipe."""
        threshold = min(self.threshold, ALMOST_ONE)
        if self.false_negative_weight is None:
            return plan(threshold, self.recall, self.measure, recipe)
        layout = plan_by_weight(threshold, recipe.slots or 0, self.false_negative_weight)
        minimum = min_equal_slots(threshold, self.recall, self.measure, recipe)
        return replace(layout, measure=self.measure, fewest_equal=minimum)

    def for_recipe(self, recipe: Recipe) -> MatchOptions:
        """Return these options; for a recipe of bits or rare terms alone with its own defaults.

        Raises `UsageError` for another measure, an audit, or a `false_negative_weight` of such a
        recipe.
        """
        if not self.uses_bands or not has_sketch_alone(recipe):
            return self
        if self.false_negative_weight is not None:
            raise UsageError(
                "--format copietje and --false-negative-weight need MinHash slots, which recipe "
                f"{recipe.name} does not make; leave them out, or index with a recipe of copietje, "
                "such as ws:norm-html:sha1:128"
            )
        if self.audit:
            raise UsageError(
                "--audit is of pairs by bands; pairs by bits or rare terms are complete without"
            )
        measure, threshold = resolve_sketch(recipe, self.measure, self.threshold)
        return replace(self, measure=measure, threshold=threshold)

    def _check_audit(self) -> None:
        is_partial = self.against is not None or self.new
        if is_partial or not self.uses_bands or self.criteria:
            raise UsageError(
                "--audit is of all pairs by bands, and goes with no other choice of pairs"
            )
        check_audited(self.measure)
        if self.audit < MIN_AUDIT:
            raise UsageError(
                f"an audit needs {MIN_AUDIT} pairs or more, not {self.audit}; "
                "give some hundreds for a narrow interval"
            )


@few_collections()
def match(
    store: PartStore,
    options: MatchOptions = MatchOptions(),
    *,
    memory: int = MEMORY_MEGABYTES,
    progress: Progress = no_progress,
    on_pairs: Callable[[MatchResult], None] | None = None,
    on_estimate: Callable[[str], None] = ignore_text,
    leave_out: ApprovedPassages = NO_PASSAGES,
) -> MatchResult:
    """Find the pairs of documents whose measure reaches the threshold.

    `memory`: megabytes that may be used, 1 or more; what does not fit is written to temporary
    files. The result is the same. `on_pairs` takes each part of the pairs as soon as it is
    verified: first the copies of one text, then the others, each pair once. `on_estimate` takes a
    sentence on how many pairs to expect, before many are verified. Texts are compared as if
    `leave_out` were not in them; the result says what was left out of each.

    Documents without keys (empty, too short, numbers only) are in pairs with their copies alone.
    Raises `UsageError` for a label that no document carries, for a field of the criteria without
    values, for a measure of sketches that the recipe does not make, for bands by
    `false_negative_weight` of a recipe that makes none, and for a recipe without MinHash slots and
    without bits unless `all_pairs` or `contained`, and `StoreError` when nothing was indexed yet.
    """
    recipe = require_recipe(store)
    options = options.for_recipe(recipe)
    uses_bands = options.uses_bands and not has_sketch_alone(recipe)
    if uses_bands:
        require_slots(recipe)
    options.criteria.check_sketches(recipe, options.measure)
    view, left_out = without_passages(scope_view(store, options.of), leave_out, recipe)
    budget = memory_budget(memory)
    collection = _collect(view, options, recipe, progress, budget)
    if len(collection.entries) and (missing := collection.fields_without_values()):
        raise missing_field(missing)
    rarity = Rarity(view.vocabulary.frequencies)
    return match_collection(
        collection,
        view,
        options,
        progress,
        rarity=rarity,
        on_pairs=on_pairs,
        on_estimate=on_estimate,
        left_out=left_out,
    )


def match_collection(
    collection: Collection,
    texts: TextReader,
    options: MatchOptions,
    progress: Progress = no_progress,
    *,
    rarity: Rarity | None = None,
    on_pairs: Callable[[MatchResult], None] | None = None,
    on_estimate: Callable[[str], None] = ignore_text,
    left_out: OmissionLog | None = None,
) -> MatchResult:
    """Find the pairs of documents of a collection, as `match` does in a store.

    `texts` reads them; without `rarity` criteria on novelty are refused.
    """
    recipe = collection.recipe
    uses_bands = options.uses_bands and not has_sketch_alone(recipe)
    scans = _scanned_texts(collection, options) if uses_bands else None
    layout = options.band_plan(recipe) if uses_bands else None
    context = MatchContext(
        collection,
        Verifier(texts, collection, options.measure, rarity),
        _selection(collection, options, scans),
        progress,
        on_estimate=on_estimate,
        left_out=left_out,
    )
    if on_pairs is not None:
        _report_copies(context, layout, options, on_pairs)
        context = _reporting(context, layout, options, on_pairs)
    text_pairs = _text_pairs(context, layout, options)
    if scans is not None:
        of_scans = replace(options, measure=MISREAD)
        plan_of_scans = of_scans.band_plan(recipe)
        verifier = Verifier(texts, collection, MISREAD, rarity)
        selection = _selection(collection, options, scans, of_scans=True)
        other = replace(context, verifier=verifier, selection=selection)
        if on_pairs is not None:
            other = _reporting(other, plan_of_scans, of_scans, on_pairs)
        text_pairs = merge_text_pairs(text_pairs, _text_pairs(other, plan_of_scans, of_scans))
    result = _result(context, text_pairs, layout, options)
    if scans is not None:
        result = replace(result, scans=scans[collection.documents.texts])
    if not options.audit:
        return result
    frame = AuditFrame(context, text_pairs, options.threshold)
    return replace(result, audit=frame.estimate(options.audit, options.seed))


def _collect(
    view: FullStore, options: MatchOptions, recipe: Recipe, progress: Progress, budget: MemoryBudget
) -> Collection:
    """Return the collection of a store; with slots for every text where copietje has them.

    A text that another program changed without its keys has fresh ones in it.
    """
    view.refresh()
    rows = current_rows(view.scan(), recipe)
    if is_shared(view):
        rows = (fresh for _, fresh in fresh_rows(rows, recipe))
    if options.false_negative_weight is not None:
        rows = (with_datasketch_slots(row, recipe) for row in rows)
    total = view.counts().documents
    return gather(rows, recipe, total, progress, budget, criteria=options.criteria)


def _scanned_texts(collection: Collection, options: MatchOptions) -> NDArray[np.bool_] | None:
    """Return which texts are scans; None where none is, or where they are compared as others."""
    is_default = isinstance(options.measure, DefaultName) and options.false_negative_weight is None
    if not collection.scans or options.audit or not is_default:
        return None
    is_scan = np.zeros(len(collection.entries), dtype=bool)
    is_scan[list(collection.scans)] = True
    return collection.documents.texts_of(is_scan)


def _selection(
    collection: Collection,
    options: MatchOptions,
    scans: NDArray[np.bool_] | None = None,
    of_scans: bool = False,
) -> PairFilter:
    """Return the filter by label and by arrival, and of pairs with a scan or without."""
    marked = None
    if options.against is not None:
        carries = [options.against in entry.labels for entry in collection.entries]
        marked = np.array(carries, dtype=bool)
        if not marked.any():
            labels = {label for entry in collection.entries for label in entry.labels}
            raise unknown_label(options.against, labels)
    new = None
    if options.new:
        new = np.array([entry.provisional for entry in collection.entries], dtype=bool)
    return PairFilter(collection.documents, marked, new, scans, of_scans)


def _report_copies(
    context: MatchContext,
    layout: Plan | None,
    options: MatchOptions,
    on_pairs: Callable[[MatchResult], None],
) -> None:
    none = np.zeros(0)
    within = np.zeros((0, 2)) if options.contained else None
    positions = none.astype(np.int32)
    no_pairs = TextPairs(positions, positions, none, none.astype(bool), none, within=within)
    on_pairs(_result(context, no_pairs, layout, options))


def _reporting(
    context: MatchContext,
    layout: Plan | None,
    options: MatchOptions,
    on_pairs: Callable[[MatchResult], None],
) -> MatchContext:
    """Return a context that reports pairs of texts."""

    def report(pairs: TextPairs) -> None:
        if len(pairs.left):
            on_pairs(_result(context, pairs, layout, options, with_copies=False))

    return replace(context, on_pairs=report)


def _text_pairs(context: MatchContext, layout: Plan | None, options: MatchOptions) -> TextPairs:
    if options.contained:
        return find_contained_pairs(context, options.threshold, options.cap)
    if options.uses_bands and has_sketch_alone(context.collection.recipe):
        return find_sketch_pairs(context, options.threshold, options.cap)
    if layout is None:
        return find_all_pairs(context, options.threshold)
    return find_likely_pairs(context, layout, options.threshold, options.cap, options.exact)


def _result(
    context: MatchContext,
    text_pairs: TextPairs,
    layout: Plan | None,
    options: MatchOptions,
    with_copies: bool = True,
) -> MatchResult:
    collection = context.collection
    cap = None if options.all_pairs else options.cap
    columns = document_pairs(collection, text_pairs, context.selection, cap, with_copies)
    return MatchResult(
        documents=len(collection.entries),
        threshold=options.threshold,
        plan=layout,
        candidates=text_pairs.candidates,
        capped=text_pairs.capped,
        copies_left_out=columns.copies_left_out,
        against=options.against,
        measure="passages" if options.contained else options.measure,
        slots=collection.recipe.slots or 0,
        slot_bits=collection.slot_bits,
        ids=collection.entries.ids,
        paths=collection.entries.paths,
        left=columns.left,
        right=columns.right,
        similarity=columns.similarity,
        exact=columns.exact,
        copy=columns.copy,
        rank=columns.rank,
        budget=collection.budget,
        within=columns.within,
        truncated=collection.truncated,
        left_out=context.left_out,
        passed_over=text_pairs.passed_over,
    )
