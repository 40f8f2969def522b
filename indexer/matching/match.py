"""Matching: the near-duplicate pairs of a whole store, at any threshold.

Bands are made anew from the stored slots. Slots decide where the 95 % interval of their estimate
lies on one side of the threshold, texts decide inside it. The complete mode does without chance: it
reads all texts and finds every pair.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from indexer.errors import UsageError
from indexer.joins.bands import Places
from indexer.joins.copies import DocumentPairs, PairFilter
from indexer.joins.external_sort import Codes, Column, Sorter, parts
from indexer.joins.pair_codes import decode_pair, encode_pair
from indexer.matching.audit import audit_of
from indexer.matching.collection import Collection, collect
from indexer.matching.containment import containing
from indexer.matching.limits import (
    ALMOST_ONE,
    CAP,
    check_cap,
    check_measure,
    check_threshold,
    memory_budget,
    require_slots,
    unknown_label,
)
from indexer.matching.pairs import MatchResult
from indexer.matching.text_pairs import TextPairs, complete, likely
from indexer.matching.verification import Verifier
from indexer.sketch.plan import Plan, plan, plan_for_recall
from indexer.stores.base import Store
from indexer.stores.requirements import require_recipe, scope_view
from indexer.system.progress_callback import Progress, no_progress
from indexer.system.spill_files import DEFAULT_MEGABYTES


def match(
    store: Store,
    *,
    threshold: float = 0.5,
    false_negative_weight: float = 0.75,
    recall: float | None = None,
    measure: str = "jaccard",
    against: str | None = None,
    new: bool = False,
    exact: bool = False,
    all_pairs: bool = False,
    contained: bool = False,
    cap: int = CAP,
    memory: int = DEFAULT_MEGABYTES,
    audit: int = 0,
    seed: int = 0,
    of: Literal["documents", "parts"] = "documents",
    progress: Progress = no_progress,
) -> MatchResult:
    """Find the pairs of documents whose `measure` is `threshold` or more.

    `recall`: bands that so large a share of the pairs at the threshold share, as `group` has them,
    instead of bands by `false_negative_weight`. `against`: only pairs of a document without this
    label and one that carries it. `new`: only pairs that touch a document that came after the last
    `group`. `exact`: measure every pair on its texts, not only those that the slots leave open,
    which `all_pairs` and `contained` do in any case. `all_pairs`: find every pair by `jaccard`,
    without chance and caps, at the price of reading all texts. `contained`: find excerpts, quoting
    replies and documents inside longer ones, by the passages that texts share; reads all texts; the
    larger share of one text in the other counts, and both are told. `cap`: a band that more
    distinct texts share gives pairs with the first of them only; copies of a text that make more
    pairs, likewise. `memory`: megabytes that may be used; what does not fit is written to temporary
    files. The result is the same. `audit`: verify so many pairs, drawn by `seed`, for an estimate
    of what was missed; takes longer than matching itself. `of` parts: the pairs of clauses, those
    within one document included.

    Documents without keys (empty, too short, numbers only) are in no pair. Raises `UsageError` for
    a value out of range, for a label that no document carries, and for a recipe without MinHash
    slots unless `all_pairs`, `UnknownMeasure`, and `StoreError` when nothing was indexed yet.
    """
    recipe = require_recipe(store)
    check_measure(measure)
    check_threshold(threshold)
    check_cap(cap)
    if (all_pairs or contained) and measure != "jaccard":
        raise UsageError(
            f"--complete and --contained have a measure of their own, not {measure}; "
            "leave --measure out"
        )
    if not (all_pairs or contained):
        require_slots(recipe)
    if all_pairs and contained:
        raise UsageError(
            "--complete finds all pairs by features, --contained by passages; leave one of them out"
        )
    if audit and (all_pairs or contained or against is not None or new or measure != "jaccard"):
        raise UsageError(
            "--audit is of all pairs by features, and goes with no other choice of pairs and no --measure"
        )
    store = scope_view(store, of)
    collection = collect(store, recipe, progress, memory_budget(memory))
    wanted = _wanted(collection, against, new)
    verifier = Verifier(store, collection, measure)
    chosen = None
    if contained:
        found, measure = (
            containing(collection, verifier, threshold, wanted, cap, progress),
            "passages",
        )
    elif all_pairs:
        found = complete(collection, verifier, threshold, wanted, progress)
    else:
        at, slots = min(threshold, ALMOST_ONE), collection.slots.shape[1]
        chosen = (
            plan(at, slots, false_negative_weight)
            if recall is None
            else plan_for_recall(at, recall, slots)
        )
        found = likely(collection, verifier, threshold, chosen, wanted, exact, cap, progress)
    made = _listed(
        collection, found, wanted, (threshold, chosen, None if all_pairs else cap, against, measure)
    )
    return (
        replace(
            made, audit=audit_of(collection, verifier, found, threshold, audit, seed, cap, progress)
        )
        if audit
        else made
    )


def _wanted(collection: Collection, against: str | None, new: bool) -> PairFilter:
    if against is None and not new:
        return PairFilter(collection.documents, None, None)
    flags = np.array(
        [(against in one.labels, one.provisional) for one in collection.entries], dtype=bool
    ).reshape(-1, 2)
    if against is not None and not flags[:, 0].any():
        raise unknown_label(against, {label for one in collection.entries for label in one.labels})
    return PairFilter(
        collection.documents, None if against is None else flags[:, 0], flags[:, 1] if new else None
    )


def _listed(
    collection: Collection,
    found: TextPairs,
    wanted: PairFilter,
    asked: tuple[float, Plan | None, int | None, str | None, str],
) -> MatchResult:
    """The pairs of documents, sorted, that the pairs of texts stand for."""
    threshold, chosen, cap, against, measure = asked
    spelling = DocumentPairs(collection.documents, cap)
    left, right, places = _spelled(collection, found, wanted, spelling)
    similarity, exact, within = _columns(collection, found, left, right, places)
    return MatchResult(
        documents=len(collection.entries),
        threshold=threshold,
        plan=chosen,
        candidates=found.candidates,
        capped=found.capped,
        copies_left_out=spelling.left_out,
        against=against,
        measure=measure,
        slots=collection.slots.shape[1],
        ids=collection.entries.ids,
        paths=collection.entries.paths,
        left=left,
        right=right,
        similarity=similarity,
        exact=exact,
        budget=collection.budget,
        within=within,
    )


def _spelled(
    collection: Collection, found: TextPairs, wanted: PairFilter, spelling: DocumentPairs
) -> tuple[Places, Places, NDArray[np.int64]]:
    """The wanted pairs of documents in order, with the place of the pair of their texts; -1 for
    copies of one text.
    """
    documents, texts = Sorter(collection.budget), Column(collection.budget, np.uint64)
    for part in parts(len(found.left), collection.budget.block):
        texts.add(encode_pair(found.left[part], found.right[part]))
        for a, b in spelling.between(found.left[part], found.right[part]):
            documents.add(_turned(a, b, wanted))
    for a, b in spelling.among():
        documents.add(_turned(a, b, wanted))
    known, codes = texts.whole(), documents.sorted()
    columns = [Column(collection.budget, dtype) for dtype in (np.int32, np.int32, np.int64)]
    for part in parts(len(codes), collection.budget.block):
        a, b = decode_pair(codes[part])
        one, other = collection.documents.texts[a], collection.documents.texts[b]
        places = np.searchsorted(known, encode_pair(np.minimum(one, other), np.maximum(one, other)))
        for column, values in zip(columns, (a, b, np.where(one == other, -1, places)), strict=True):
            column.add(values)
    left, right, origin = (column.whole() for column in columns)
    return left, right, origin


def _columns(
    collection: Collection, found: TextPairs, left: Places, right: Places, origin: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64] | None]:
    """Similarity, whether it is exact, and containment as far as it was asked for; copies are 1 to
    each other.
    """
    similarity: NDArray[np.float64] = collection.budget.array(len(left), np.float64)
    exact: NDArray[np.bool_] = collection.budget.array(len(left), np.bool_)
    within = None if found.within is None else collection.budget.array((len(left), 2), np.float64)
    for part in parts(len(left), collection.budget.block):
        places, apart = origin[part], origin[part] >= 0
        similarity[part], exact[part] = 1.0, True
        similarity[part][apart], exact[part][apart] = (
            found.similarity[places[apart]],
            found.exact[places[apart]],
        )
        if within is not None and found.within is not None:
            within[part] = 1.0
            sides = found.within[places[apart]]
            turned = (
                collection.documents.texts[left[part][apart]]
                > collection.documents.texts[right[part][apart]]
            )
            within[part][apart] = np.where(turned[:, None], sides[:, ::-1], sides)
    return similarity, exact, within


def _turned(a: Places, b: Places, wanted: PairFilter) -> Codes:
    one, other, kept = wanted.turned(a, b)
    return encode_pair(one[kept], other[kept])
