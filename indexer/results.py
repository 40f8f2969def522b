"""Search results with near duplicates folded: one hit a group, the others counted under it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from indexer.errors import UsageError
from indexer.fold import ByFamily, BySketch, Group, Rule, Unfolded, folded
from indexer.lookup import recipe_of
from indexer.measures import FeatureSet, feature_set, jaccard
from indexer.model import Folded, Hit, Query
from indexer.recipe import Recipe
from indexer.stores.base import Store

Fold: TypeAlias = Literal["live", "family", "none"]
Sort: TypeAlias = Literal["relevance", "path", "modified"]
Similarity: TypeAlias = Callable[[str, str], float]
WINDOW = 1000
TEXTS_KEPT = 512
_NO_SLOTS = "recipe {} keeps no MinHash slots, which live folding needs: nothing is folded; --fold family may do"


@dataclass(frozen=True, slots=True)
class Page:
    """One page of folded hits.

    `total`: documents that match. `families`: groups among the hits that were read; the relation is `eq` when all were
    read, else `gte`. `more`: there is a next page. `notes` say what an honest answer adds.
    """

    total: int
    families: int
    relation: Literal["eq", "gte"]
    hits: tuple[Hit, ...]
    page: int
    more: bool
    notes: tuple[str, ...] = ()


def search(
    store: Store,
    query: str,
    *,
    fold: Fold = "live",
    threshold: float = 0.8,
    filters: Sequence[tuple[str, str]] = (),
    sort: Sort = "relevance",
    limit: int = 10,
    page: int = 1,
) -> Page:
    """Search title and text, and fold near duplicates under the best hit of each group.

    `live` folds hits at `threshold` of the `features` measure, `family` by the stored family, `none` not at all. Hits are
    read until the page is full, and at least the first 1,000, so that the counts of folded hits are nearly always whole.

    Raises `StoreError` when nothing was indexed yet.
    """
    recipe = recipe_of(store)
    similarity = _similarity(store, recipe)
    ranking = store.search(Query(query, tuple(filters), sort))
    groups, complete = folded(ranking.hits, _rule(fold, threshold, similarity), limit * page, 0 if fold == "none" else WINDOW)
    shown = groups[limit * (page - 1) : limit * page]
    return Page(
        total=ranking.total,
        families=ranking.total if fold == "none" else len(groups),
        relation="eq" if complete or fold == "none" else "gte",
        hits=tuple(_hit(group, similarity) for group in shown),
        page=page,
        more=len(groups) > limit * page,
        notes=(_NO_SLOTS.format(recipe.name),) if fold == "live" and not recipe.minhash else (),
    )


def parse_filters(spelled: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """`FIELD=VALUE` strings as pairs; raises `UsageError` for one without a field or an equals sign.

    >>> parse_filters(["content_type=text/plain"])
    (('content_type', 'text/plain'),)
    """
    pairs = [tuple(one.split("=", 1)) for one in spelled]
    for one, pair in zip(spelled, pairs, strict=True):
        if len(pair) != 2 or not pair[0]:
            raise UsageError(f"a filter is FIELD=VALUE, for example content_type=text/plain, not {one!r}")
    return tuple((field, value) for field, value in pairs)


def _rule(fold: Fold, threshold: float, similarity: Similarity) -> Rule:
    if fold == "live":
        return BySketch(threshold, similarity)
    return ByFamily() if fold == "family" else Unfolded()


def _similarity(store: Store, recipe: Recipe) -> Similarity:
    """The exact `features` similarity of two stored documents by id; the texts of the last few hundred are remembered."""

    @lru_cache(maxsize=TEXTS_KEPT)
    def features(id: str) -> FeatureSet:
        row = store.get([id]).get(id)
        return feature_set(row.text if row else "", recipe)

    return lambda a, b: jaccard(features(a), features(b))


def _hit(group: Group, similarity: Similarity) -> Hit:
    head = group.head
    under = tuple(Folded(one.id, one.path, similarity(head.id, one.id)) for one in group.members)
    return Hit(head.id, head.path, head.title, head.score, under)
