"""Folding the hits of any query: by stored slots, by texts, by family, or by duplicate type."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.band_plan import has_sketch_alone, min_equal, resolve_sketch
from indexer.comparing.criteria import NO_CRITERIA, Criteria, for_folding, policy_threshold
from indexer.defaults import FOLD, MEASURE, OVERLAP, DefaultName, DefaultNumber
from indexer.errors import UsageError
from indexer.grouping.group_options import parse_order
from indexer.grouping.words_in_common import max_words, min_in_common
from indexer.model import FoldedHit, Hit, Progress, RankedRow, Row, Scope, no_progress
from indexer.recipe import Recipe
from indexer.searching.folding import (
    ByFamily,
    Folding,
    Group,
    NoFolding,
    Rule,
    fold_ranking,
    ids_of,
    show_by_order,
    show_changed_apart,
)
from indexer.searching.folding_rules import (
    BySketch,
    ByThread,
    LookAhead,
    Nearness,
    SketchRule,
)
from indexer.searching.stored_texts import Heading, StoredTexts, ranked_row
from indexer.stores.abilities import FullStore
from indexer.stores.base import Store
from indexer.stores.journal import known_group_settings
from indexer.stores.requirements import require_recipe
from indexer.wording import count_of, visible

if TYPE_CHECKING:
    from indexer.comparing.clauses.duplicates import Clause, Duplicate


# The threshold and the measure of a folding that names none, and what a folding may name.

Fold: TypeAlias = Literal["live", "family", "threads", "types", "none"]
WITH_THRESHOLD: tuple[Fold, ...] = ("live", "types")


def fold_threshold(fold: Fold, threshold: float | None, criteria: Criteria = NO_CRITERIA) -> float:
    """Return the threshold; where it is None, the default of a way of folding.

    For `types` it is the minimum terminology that fuzzy duplicates share, else the minimum
    similarity, which the policy of the criteria sets.
    Raises `UsageError` for the threshold of a way that takes none.

    >>> fold_threshold("types", None) == OVERLAP, fold_threshold("live", None) == FOLD
    (True, True)
    """
    if threshold is not None:
        if fold not in WITH_THRESHOLD:
            raise UsageError(
                "a threshold belongs to folding by similarity (--fold live) or by type (--fold "
                "types); stored groups have the threshold of `nearfold group`"
            )
        return threshold
    return OVERLAP if fold == "types" else policy_threshold(criteria)


def check_criteria(fold: Fold, criteria: Criteria) -> None:
    """Raise `UsageError` for criteria of a folding that has none."""
    if criteria and fold != "live":
        raise UsageError(
            "criteria belong to folding by similarity (--fold live); groups are made by the "
            "criteria of `nearfold group`"
        )


def fold_measure(fold: Fold, measure: str | None, families: Mapping[str, Any]) -> str:
    """Return the measure; where it is None, the default of a way of folding.

    `families`: the settings of the `group` that made the stored families, as `family_settings`
    returns them.
    """
    if measure is not None:
        return measure
    return str(families.get("measure", MEASURE)) if fold == "family" else MEASURE


def live_settings(
    recipe: Recipe, measure: str | None, threshold: float | None
) -> tuple[str | None, float | None]:
    """Return the measure and threshold of live folding under a recipe, None for the usual ones.

    For a recipe of bits alone they are `hamming` and 3 bits (`simhash-doc-loose`: 6) where they are
    None, for one of rare terms `estimate` and .9. Raises `UsageError` for another measure there.
    """
    if not has_sketch_alone(recipe):
        return measure, threshold
    return resolve_sketch(
        recipe,
        DefaultName(MEASURE) if measure is None else measure,
        DefaultNumber(FOLD) if threshold is None else threshold,
        by_keys=False,
    )


def family_settings(store: Store, fold: Fold, of: Scope = "documents") -> Mapping[str, Any]:
    """Return the settings by which `group` made the stored families of these rows.

    Empty where that is not known here, and for another way of folding.
    """
    if fold != "family":
        return {}
    return known_group_settings(store.address, of)


# Bounds on the equal slots of two texts of which one is short.

_Z = 5.0  # standard deviations: one pair in three million has fewer equal slots by chance
_MIN_EQUAL = 3  # slots that texts without a common feature hardly ever have in common


@lru_cache(maxsize=256)
def slots_of_short_pairs(threshold: float, recipe: Recipe) -> NDArray[np.int64]:
    """Return the minimum number of equal slots of a short and any text at an `lcs` threshold.

    By the words of the longer text, from none to `max_words`. No numbers where the features are
    not word pairs. A word that the other text lacks breaks two pairs of its own and one of the
    other at most. That holds for texts in which no pair of words comes twice; from .8 on they have
    a pair in common, below that some have none and are left out.

    >>> from indexer.recipe import DEFAULT_V2
    >>> slots_of_short_pairs(0.9, DEFAULT_V2)[[9, 10, 15, 20]].tolist()
    [128, 35, 55, 38]
    """
    if not recipe.minhash or recipe.features != "word_pairs_v1" or not 0 < threshold <= 1:
        return np.zeros(0, dtype=np.int64)
    slots = recipe.slots or 0
    lengths = range(max_words(threshold) + 1)
    return np.array([_min_equal(words, threshold, slots) for words in lengths])


def _min_equal(words: int, threshold: float, slots: int) -> int:
    pairs, broken = words - 1, 3 * (words - min_in_common(words, threshold))
    if pairs <= max(broken, 0):
        return _MIN_EQUAL
    fraction = (pairs - broken) / (pairs + broken)
    return max(
        _MIN_EQUAL, math.floor(slots * fraction - _Z * math.sqrt(slots * fraction * (1 - fraction)))
    )


# Folding hits by duplicate type, which is decided on the texts of the best of them.

_AT_ONCE = 10  # documents that are read together
_MAX_EXCHANGED = 5  # pairs that are named
_UNTYPED = (
    "duplicate types are of English, German, French, Dutch, Spanish, Italian, Portuguese, Chinese "
    "and Japanese; {} in another language can be identical only"
)


@dataclass(slots=True)
class ByType:
    """Folds hits under the representative that they duplicate; others stay representatives.

    `representatives`: the hit that each duplicate folds under, by id; `duplicates`: the type of
    each. `passed_over`: hits whose texts did not fit into what may be compared; `untyped`: those in
    languages in which clauses are identical or have no type; `exchanged`: pairs of representatives
    that exchange parties, by their names.
    """

    representatives: Mapping[str, str]
    duplicates: Mapping[str, Duplicate]
    passed_over: int = 0
    untyped: int = 0
    exchanged: Sequence[tuple[str, str]] = ()
    _positions: dict[str, int] = field(default_factory=dict)

    def notes(self) -> Iterator[str]:
        """Yield sentences on hits in languages without duplicate types, and on pairs that exchange
        parties.
        """
        if self.untyped:
            yield _UNTYPED.format(count_of(self.untyped, "hit"))
        for a, b in self.exchanged[:_MAX_EXCHANGED]:
            yield f"{visible(a)} and {visible(b)} exchange parties, and are not folded"
        more = len(self.exchanged) - _MAX_EXCHANGED
        if more > 0:
            yield f"{count_of(more, 'more pair')} of hits exchange parties"

    def expect(self, hits: Sequence[RankedRow]) -> None:
        """Do nothing: all were compared before."""

    def find_group(self, hit: RankedRow) -> int | None:
        """Return the group of the hit that it duplicates."""
        representative = self.representatives.get(hit.id)
        if representative is None:
            self.add_representatives([hit])
            return None
        return self._positions[representative]

    def add_representatives(self, hits: Sequence[RankedRow]) -> None:
        """Remember the position of each group."""
        for hit in hits:
            self._positions[hit.id] = len(self._positions)


def by_type(
    ids: Sequence[str],
    texts: StoredTexts,
    overlap: float,
    synonyms: str,
    max_chars: int | None = None,
    progress: Progress = no_progress,
) -> ByType:
    """Return the rule for hits of these ids, best first; a clause's heading is not compared.

    `max_chars`: characters that the compared texts have together at most, None for any number. A
    text that exceeds the rest of them is passed over, and shown. `progress` is called
    with the number of texts read. Raises as `duplicate_sets` does.
    """
    from indexer.comparing.clauses.duplicates import has_types, sets_and_exchanged

    rows: list[Clause] = []
    names: dict[str, str] = {}
    left = math.inf if max_chars is None else max_chars
    passed_over = 0
    for start in range(0, len(ids), _AT_ONCE):
        for row in texts.rows(ids[start : start + _AT_ONCE]):
            if len(row.text) > left:
                passed_over += 1
                continue
            left -= len(row.text)
            rows.append(_clause(row))
            names[row.id] = row.path if row.parent is None else f"{row.path} ({row.title})"
    representatives: dict[str, str] = {}
    duplicates: dict[str, Duplicate] = {}
    clauses = _with_progress(rows, progress)
    sets, exchanged = sets_and_exchanged(clauses, overlap, synonyms)
    for duplicate_set in sets:
        for member in duplicate_set.members:
            representatives[member.id] = duplicate_set.principal
            duplicates[member.id] = member
    untyped = sum(not has_types(row[1]) for row in rows)
    named = [(names[pair.a], names[pair.b]) for pair in exchanged]
    return ByType(representatives, duplicates, passed_over, untyped, named)


def _with_progress(clauses: Sequence[Clause], progress: Progress) -> Iterator[Clause]:
    """Yield clauses, and report before each how many were taken."""
    for done, clause in enumerate(clauses):
        progress("comparing clauses", done, len(clauses))
        yield clause


def _clause(row: Row) -> Clause:
    return (row.id, row.text, row.title) if row.parent else (row.id, row.text)


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
    folds by in addition, and `show` chooses the hit that is shown for a group, as there.
    Raises `UsageError` for an unknown order and for criteria or a threshold of another folding,
    `StoreError` when nothing was indexed yet.
    """
    check_criteria(fold, criteria)
    recipe = require_recipe(store)
    if fold == "live":
        measure, threshold = live_settings(recipe, measure, threshold)
    threshold = fold_threshold(fold, threshold, criteria)
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
    groups = fold_unless_misled(
        lambda rule: fold_ranking(hits, rule, len(hits), len(hits)), rule, texts, threshold
    ).groups
    if fold == "family":
        groups = show_changed_apart(groups, texts)
    if show is not None:
        minimum = threshold if fold == "live" else None
        groups = show_by_order(groups, parse_order(show), texts, minimum)
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


def fold_unless_misled(
    fold_by: Callable[[Rule], Folding],
    rule: Rule,
    texts: StoredTexts,
    threshold: float,
    groups: int | None = None,
) -> Folding:
    """Return the folding by a rule; by texts alone if slots mislead the rule.

    `fold_by` folds the same hits by any rule. Of `groups` the first are checked; None: all.
    """
    folding = fold_by(rule)
    if isinstance(rule, BySketch) and _has_misled(folding.groups[:groups], texts, threshold):
        return fold_by(_sketch_rule(threshold, texts, trusts_slots=False))
    return folding


def _trusts_slots(texts: StoredTexts) -> bool:
    """Return whether slots alone fold: they estimate `jaccard`."""
    return texts.measure == "jaccard" and not texts.criteria


def _sketch_rule(threshold: float, texts: StoredTexts, trusts_slots: bool) -> BySketch:
    recipe, min_slots = texts.recipe, None
    if recipe.minhash and texts.measure != "jaccard":
        min_slots = min_equal(texts.measure, threshold, recipe)
    is_bound = texts.measure == "lcs" and recipe.counts_normal_words
    min_words = threshold if is_bound else 0.0
    short = slots_of_short_pairs(threshold, recipe) if is_bound else None
    similar = partial(texts.similarity, minimum=threshold)
    statuses = texts.criteria.folded
    return BySketch(
        threshold,
        similar,
        trusts_slots,
        recipe.slot_bytes,
        Nearness(min_slots, min_words, short),
        statuses,
        LookAhead(texts.read_ahead, partial(texts.may_be_similar, minimum=threshold)),
    )


def _has_misled(groups: Sequence[Group], texts: StoredTexts, threshold: float) -> bool:
    """Return whether slots folded a hit whose text shows it to be another document.

    Texts that were made to deceive sketches do so.
    """
    if not _trusts_slots(texts):
        return False
    folded = [group for group in groups if group.members]
    texts.read_ahead(ids_of(folded))
    for group in folded:
        values = texts.similarities(group.representative.id, [hit.id for hit in group.members])
        if any(value < threshold - SURPRISING for value in values):
            return True
    return False


_GROUPS_AT_ONCE = 100  # groups whose documents are read together, few enough to be remembered


def hits_of_groups(
    groups: Sequence[Group],
    texts: StoredTexts,
    rule: Rule,
    facts: int = 0,
    query: str | None = None,
) -> Iterator[Hit]:
    """Yield a hit for each group, with what was folded under it: by duplicate type, the strictest
    first, then by similarity, ties in rank order.

    The first `facts` folded hits of each have the facts in which they differ from it. With a
    `query` hits have a snippet.
    """
    for start in range(0, len(groups), _GROUPS_AT_ONCE):
        together = groups[start : start + _GROUPS_AT_ONCE]
        yield from _hits_read_together(together, texts, rule, facts, query)


def _hits_read_together(
    groups: Sequence[Group], texts: StoredTexts, rule: Rule, facts: int, query: str | None
) -> Iterator[Hit]:
    stored = {group.representative.id: _stored_similarities(group, texts) for group in groups}
    known = frozenset(chain.from_iterable(stored.values()))
    texts.read_ahead([id for id in ids_of(groups) if id not in known])
    headings = texts.headings([group.representative.id for group in groups], query)
    for group in groups:
        representative = group.representative
        folded_hits = _folded_hits(group, texts, rule, stored[representative.id])
        members = tuple(sorted(folded_hits, key=_by_similarity))
        folded = _with_differences(representative.id, members, texts, facts)
        heading = headings.get(representative.id, Heading())
        yield Hit(
            representative.id,
            representative.path,
            heading.title,
            representative.score,
            folded,
            texts.parts.get(representative.id),
            heading.snippet,
        )


def _stored_similarities(group: Group, texts: StoredTexts) -> dict[str, float]:
    """Return the similarities of members to their principal that hits have, by id."""
    principal = group.representative
    if principal.id != principal.family or texts.stored_measure != texts.measure:
        return {}
    return {
        hit.id: hit.similarity
        for hit in group.members
        if hit.similarity is not None and hit.family == principal.id
    }


def _folded_hits(
    group: Group, texts: StoredTexts, rule: Rule, stored: Mapping[str, float]
) -> tuple[FoldedHit, ...]:
    if isinstance(rule, ByType):
        kinds = [rule.duplicates[hit.id] for hit in group.members]
        return tuple(
            FoldedHit(hit.id, hit.path, kind.terminology, kind.type, texts.parts.get(hit.id))
            for hit, kind in zip(group.members, kinds, strict=True)
        )
    others = [hit.id for hit in group.members if hit.id not in stored]
    computed = texts.similarities(group.representative.id, others)
    values = {**stored, **dict(zip(others, computed, strict=True))}
    return tuple(
        FoldedHit(
            hit.id,
            hit.path,
            values[hit.id],
            part=texts.parts.get(hit.id),
            as_read="truncated" in (group.representative.status, hit.status),
        )
        for hit in group.members
    )


def _by_similarity(hit: FoldedHit) -> tuple[int, float]:
    if hit.type is None:
        return 0, -hit.similarity
    from indexer.comparing.clauses.duplicates import TYPES

    return TYPES.index(hit.type), -hit.similarity


def _with_differences(
    representative: str, folded: tuple[FoldedHit, ...], texts: StoredTexts, facts: int
) -> tuple[FoldedHit, ...]:
    """Return the folded hits, the first `facts` with their differences and marks."""
    all_differences = texts.differences(representative, [hit.id for hit in folded[:facts]])
    first = [
        replace(hit, differences=differences.facts, marks=differences.marks)
        for hit, differences in zip(folded, all_differences, strict=False)
    ]
    return (*first, *folded[facts:])
