"""Folding the hits of any query: by stored slots, by texts, by family, or by duplicate type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from indexer.clustering.field_order import parse_order
from indexer.joins.short_sketches import slots_of_short_pairs
from indexer.joins.slot_bounds import fewest_equal
from indexer.model import FoldedHit, Hit
from indexer.searching.by_sketch import BySketch
from indexer.searching.by_thread import ByThread
from indexer.searching.changed_members import show_changed_apart
from indexer.searching.fold import ByFamily, Group, NoFolding, Rule, fold_ranking, ids_of
from indexer.searching.fold_defaults import (
    Fold,
    check_criteria,
    family_settings,
    fold_measure,
    fold_threshold,
    live_settings,
)
from indexer.searching.fold_stored import SketchRule
from indexer.searching.fold_types import ByType, by_type
from indexer.searching.shown_hits import show_by_order
from indexer.searching.sketched_hits import Nearness
from indexer.searching.stored_texts import StoredTexts, ranked_row
from indexer.similarity.criteria import NO_CRITERIA, Criteria, for_folding
from indexer.sketch.sketch_options import has_sketch_alone
from indexer.stores.abilities import FullStore
from indexer.stores.requirements import require_recipe

# A pair whose slots reach the threshold and whose texts are this far below it is no accident: with
# 128 slots that happens by chance to one pair in a hundred thousand.
SURPRISING = 0.1


def fold_hits(
    store: FullStore,
    ids: Iterable[str],
    threshold: float | None = None,
    *,
    measure: str | None = None,
    fold: Fold = "live",
    synonyms: str = "",
    show: str | None = None,
    criteria: Criteria = NO_CRITERIA,
) -> tuple[Hit, ...]:
    """Fold a ranked list of ids that any query gave, such as a k-NN or a hybrid one, best first.

    As `search` folds its own hits: by stored slots, and by texts where the slots leave it open or
    turn out to mislead. An id given twice counts once; one that the store does not have is left
    out. `threshold` and `measure` mean what they do in `SearchOptions`, `criteria` are what `live`
    folds by beside them, and `show` chooses the hit that is shown for a group, as there.
    Raises `UsageError` for an unknown order and for criteria or a threshold of another folding,
    `StoreError` when nothing was indexed yet.
    """
    check_criteria(fold, criteria)
    recipe = require_recipe(store)
    if fold == "live":
        measure, threshold = live_settings(recipe, measure, threshold)
    threshold = fold_threshold(fold, threshold)
    measure = fold_measure(fold, measure, family_settings(store, fold))
    if fold == "live":
        criteria.check_sketches(recipe, measure)
        criteria = for_folding(criteria, measure)
    texts = StoredTexts(store, recipe, None, criteria, measure, threshold)
    distinct = list(dict.fromkeys(ids))
    hits = [ranked_row(row) for row in texts.rows(distinct)]
    if fold == "types":
        rule: Rule = by_type(distinct, texts, threshold, synonyms)
    else:
        rule = folding_rule(fold, threshold, texts)
    groups = fold_ranking(hits, rule, len(hits), len(hits)).groups
    if fold == "live" and has_misled(groups, texts, threshold):
        rule_by_text = text_rule(threshold, texts)
        groups = fold_ranking(hits, rule_by_text, len(hits), len(hits)).groups
    if fold == "family":
        groups = show_changed_apart(groups, texts)
    if show is not None:
        least = threshold if fold == "live" else None
        groups = show_by_order(groups, parse_order(show), texts, least)
    return tuple(hits_of_groups(groups, texts, rule))


def folding_rule(fold: Fold, threshold: float, texts: StoredTexts) -> Rule:
    """Return the rule of every way of folding but `types`, which needs the hits."""
    if fold == "live" and has_sketch_alone(texts.recipe):
        return SketchRule(threshold, texts, texts.criteria.folded)
    if fold == "live":
        return _sketch_rule(threshold, texts, _trusts_slots(texts))
    if fold == "threads":
        return ByThread(texts.rows)
    return ByFamily() if fold == "family" else NoFolding()


def text_rule(threshold: float, texts: StoredTexts) -> Rule:
    """Return the rule of `live` folding for hits whose slots mislead: texts decide."""
    return _sketch_rule(threshold, texts, trusts_slots=False)


def _trusts_slots(texts: StoredTexts) -> bool:
    """Return whether slots alone fold: they estimate `jaccard`."""
    return texts.measure == "jaccard" and not texts.criteria


def _sketch_rule(threshold: float, texts: StoredTexts, trusts_slots: bool) -> BySketch:
    recipe, least_equal = texts.recipe, None
    if recipe.minhash and texts.measure != "jaccard":
        least_equal = fewest_equal(texts.measure, threshold, recipe)
    is_bound = texts.measure == "lcs" and recipe.counts_normal_words
    least_words = threshold if is_bound else 0.0
    short = slots_of_short_pairs(threshold, recipe) if is_bound else None
    similar = partial(texts.similarity, least=threshold)
    statuses = texts.criteria.folded
    return BySketch(
        threshold,
        similar,
        trusts_slots,
        recipe.slot_bytes,
        Nearness(least_equal, least_words, short),
        statuses,
        texts.read_ahead,
    )


def has_misled(groups: Sequence[Group], texts: StoredTexts, threshold: float) -> bool:
    """Return whether slots folded a hit whose text shows it to be another document.

    Texts that were made to deceive sketches do so.
    """
    if not _trusts_slots(texts):
        return False
    folded = [group for group in groups if group.members]
    texts.read_ahead(ids_of(folded))
    for group in folded:
        values = texts.similarities(group.head.id, [hit.id for hit in group.members])
        if any(value < threshold - SURPRISING for value in values):
            return True
    return False


def hits_of_groups(
    groups: Sequence[Group], texts: StoredTexts, rule: Rule, facts: int = 0
) -> Iterator[Hit]:
    """Yield a hit for each group, with what was folded under it: by duplicate type, the strictest
    first, then by similarity, ties in rank order.

    The first `facts` folded hits of each have the facts in which they differ from it.
    """
    texts.read_ahead(ids_of(groups))
    titles = texts.titles([group.head.id for group in groups])
    for group in groups:
        head = group.head
        members = tuple(sorted(_folded_hits(group, texts, rule), key=_by_similarity))
        folded = _with_differences(head.id, members, texts, facts)
        part = texts.parts.get(head.id)
        yield Hit(head.id, head.path, titles.get(head.id, ""), head.score, folded, part)


def _folded_hits(group: Group, texts: StoredTexts, rule: Rule) -> tuple[FoldedHit, ...]:
    if isinstance(rule, ByType):
        kinds = [rule.duplicates[hit.id] for hit in group.members]
        return tuple(
            FoldedHit(hit.id, hit.path, kind.terminology, kind.type, texts.parts.get(hit.id))
            for hit, kind in zip(group.members, kinds, strict=True)
        )
    values = texts.similarities(group.head.id, [hit.id for hit in group.members])
    return tuple(
        FoldedHit(
            hit.id,
            hit.path,
            value,
            part=texts.parts.get(hit.id),
            as_read="truncated" in (group.head.status, hit.status),
        )
        for hit, value in zip(group.members, values, strict=True)
    )


def _by_similarity(hit: FoldedHit) -> tuple[int, float]:
    if hit.type is None:
        return 0, -hit.similarity
    from indexer.similarity.duplicate_types import TYPES

    return TYPES.index(hit.type), -hit.similarity


def _with_differences(
    head: str, folded: tuple[FoldedHit, ...], texts: StoredTexts, facts: int
) -> tuple[FoldedHit, ...]:
    """Return the folded hits, the first `facts` with their differences."""
    all_differences = texts.differences(head, [hit.id for hit in folded[:facts]])
    first = [
        replace(hit, differences=differences)
        for hit, differences in zip(folded, all_differences, strict=False)
    ]
    return (*first, *folded[facts:])
