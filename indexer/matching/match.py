"""The near-duplicate pairs of a whole store, at any threshold.

Bands are made anew from the stored slots. Slots decide where the 95 % interval of their estimate
lies on one side of the threshold, texts decide inside it. The complete mode does without chance: it
reads all texts and finds every pair.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from indexer.defaults import MEASURE, REVIEW, DefaultName, DefaultNumber
from indexer.errors import UsageError
from indexer.joins.copies import PairFilter
from indexer.joins.memory_budget import MemoryBudget
from indexer.matching.audit import AuditFrame, check_audited
from indexer.matching.collection import Collection, gather
from indexer.matching.complete_pairs import MEASURES as COMPLETE_MEASURES
from indexer.matching.complete_pairs import find_all_pairs
from indexer.matching.containment import find_contained_pairs
from indexer.matching.document_pairs import document_pairs
from indexer.matching.likely_pairs import find_likely_pairs
from indexer.matching.limits import (
    CAP,
    check_cap,
    check_threshold,
    memory_budget,
    require_slots,
    unknown_label,
)
from indexer.matching.match_result import MatchResult
from indexer.matching.sketch_pairs import find_sketch_pairs
from indexer.matching.text_pairs import TextPairs
from indexer.matching.verification import MatchContext, Verifier, ignore_text
from indexer.matching.without_passages import without_passages
from indexer.recipe import Recipe
from indexer.similarity.approved_passages import NO_PASSAGES, ApprovedPassages
from indexer.similarity.criteria import NO_CRITERIA, Criteria, missing_field
from indexer.similarity.measures import check_measure
from indexer.similarity.new_words import Rarity
from indexer.sketch.plan import ALMOST_ONE, Plan, fewest_equal_slots, plan, plan_by_weight
from indexer.sketch.row_keys import current_rows, fresh_rows, with_datasketch_slots
from indexer.sketch.sketch_options import has_sketch_alone, resolve_sketch
from indexer.stores.abilities import FullStore, PartStore
from indexer.stores.requirements import is_shared, require_recipe, scope_view
from indexer.system.progress_callback import Progress, no_progress
from indexer.system.spill_files import DEFAULT_MEGABYTES

LEAST_AUDIT = 20  # pairs that an audit verifies


@dataclass(frozen=True, slots=True)
class MatchOptions:
    """The options of `match`: which pairs are found, and how.

    `threshold`: least similarity of a pair, above 0 and at most 1. For a recipe of bits alone the
    default stands for 3 different bits (`simhash-doc-loose`: 6), and `measure` for `hamming`.
    `recall`: bands are chosen so that at least this share of the pairs at the threshold is
    expected to be found, between 0 and 1; of the pairs above it, more are.
    `measure`: name of the similarity.
    `against`: only pairs of a document without this label and one that carries it.
    `new`: only pairs that touch a document that came after the last `group`.
    `exact`: measure every pair on its texts, not only those that the slots leave open;
    `all_pairs` and `contained` do so in any case.
    `all_pairs`: find every pair by `jaccard` or `lcs`, without chance and caps; reads all texts.
    `contained`: find excerpts, quoting replies and documents inside longer ones, by the passages
    that texts share; reads all texts. The larger share of one text in the other is the similarity,
    and both are reported; `measure` is left at its default.
    `false_negative_weight`: bands are planned as datasketch and copietje plan them, by this weight
    of missed pairs, from 0 to 1, instead of by `recall`; and, as there, texts of numbers alone,
    short and empty ones have slots, too. None: by `recall`.
    `cap`: texts, 2 or more. A band that more distinct texts share gives pairs with the first of
    them only; copies of a text that make more pairs, likewise.
    `audit`: verify so many pairs, 20 or more, to estimate how many were missed; takes longer than
    matching itself. 0: no audit.
    `seed`: of the random sample of the audit.
    `of`: `documents`, or `parts` for the pairs of clauses, those within one document included.
    `criteria`: what a pair meets beside the threshold.

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
        fewest = fewest_equal_slots(threshold, self.recall, self.measure, recipe)
        return replace(layout, measure=self.measure, fewest_equal=fewest)

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
        if self.audit < LEAST_AUDIT:
            raise UsageError(
                f"an audit needs {LEAST_AUDIT} pairs or more, not {self.audit}; "
                "give some hundreds for a narrow interval"
            )


def match(
    store: PartStore,
    options: MatchOptions = MatchOptions(),
    *,
    memory: int = DEFAULT_MEGABYTES,
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
    verifier = Verifier(view, collection, options.measure, rarity)
    selection = _selection(collection, options)
    layout = options.band_plan(recipe) if uses_bands else None
    context = MatchContext(
        collection, verifier, selection, progress, on_estimate=on_estimate, left_out=left_out
    )
    if on_pairs is not None:
        context = _reporting(context, layout, options, on_pairs)
    text_pairs = _text_pairs(context, layout, options)
    result = _result(context, text_pairs, layout, options)
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


def _selection(collection: Collection, options: MatchOptions) -> PairFilter:
    """Return the filter by label and by arrival."""
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
    return PairFilter(collection.documents, marked, new)


def _reporting(
    context: MatchContext,
    layout: Plan | None,
    options: MatchOptions,
    on_pairs: Callable[[MatchResult], None],
) -> MatchContext:
    """Report the copies of one text, and return a context that reports pairs of texts."""
    none = np.zeros(0)
    within = np.zeros((0, 2)) if options.contained else None
    places = none.astype(np.int32)
    no_pairs = TextPairs(places, places, none, none.astype(bool), within=within)
    on_pairs(_result(context, no_pairs, layout, options))

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
        budget=collection.budget,
        within=columns.within,
        truncated=collection.truncated,
        left_out=context.left_out,
    )
