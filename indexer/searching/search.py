"""Search results with near duplicates folded: one hit a group, the others counted under it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Literal, TypeAlias

from indexer.errors import SnapshotExpired, UsageError
from indexer.model import Facet, FoldedHit, Hit, Query, RankedRow, Scope
from indexer.recipe import Recipe
from indexer.searching.cursor import Cursor, cursor, fingerprint_of
from indexer.searching.fold import ByFamily, BySketch, Group, NoFolding, Rule, fold_ranking
from indexer.searching.fold_types import ByType, by_type
from indexer.searching.stored_texts import StoredTexts, ranked_row
from indexer.stores.base import Ranking, Store
from indexer.stores.requirements import require_recipe, scope_view

Fold: TypeAlias = Literal["live", "family", "types", "none"]
Sort: TypeAlias = Literal["relevance", "path", "modified"]
WINDOW = 1000
TOP = 100
# below a threshold that the whole interval of 128 slots reaches: by chance one pair in a hundred
# thousand
SURPRISING = 0.1
_NO_SLOTS = "recipe {} keeps no MinHash slots, which live folding needs: nothing is folded; --fold family may do"
_TOP_ONLY = (
    "the best {} hits were compared by type; those after them are not folded: --top compares more"
)
_SNAPSHOT_EXPIRED = "the snapshot of the first page has expired: documents that changed since then are read as they are now"


@dataclass(frozen=True, slots=True)
class Page:
    """One page of folded hits.

    `total`: documents that match. `families`: by fold `family` the stored families of all of them;
    by `live` the groups among the hits that were read: the relation is `eq` when all were read,
    else `gte`. `more`: there is a next page, and `next` is the token that `search` takes to go on
    after this one. `notes` say what an honest answer adds. `measure`: what the similarity of folded
    hits to the shown one is, computed on the texts.
    """

    total: int
    families: int
    relation: Literal["eq", "gte"]
    hits: tuple[Hit, ...]
    page: int
    more: bool
    notes: tuple[str, ...] = ()
    facets: Mapping[str, tuple[Facet, ...]] = field(default_factory=dict)
    next: str | None = None
    of: Scope = "documents"
    measure: str = "jaccard"


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
    after: str | None = None,
    keep_alive: bool = False,
    facets: Sequence[str] = (),
    of: Scope = "documents",
    top: int = TOP,
    synonyms: str = "",
) -> Page:
    """Search title and text, and fold near duplicates under the best hit of each group.

    `live` folds hits at `threshold` of the `jaccard` measure (by texts alone once slots turn out
    to mislead), `family` by the stored family, `none` not at all. Hits are read until the page is
    full, and at least the first 1,000, so that the counts of folded hits are nearly always whole.
    `types` folds the best `top` hits by duplicate type, fuzzy ones at `threshold` of terminology;
    `synonyms` are lines as `duplicate_sets` takes them.

    `page` searches again. `after`, the `next` of the page before, goes on instead: what resembles a
    hit shown before is folded under it and not shown, whatever arrives in between, and nothing is
    left out. With `keep_alive` on the first page a search engine keeps the documents as they are, five
    minutes from page to page; else, and in an embedded store, they are read as they are then.
    `facets` are fields whose most frequent values are counted, in documents and in stored families.

    `of` parts finds clauses, and folds clauses that are near duplicates of each other; `both` finds
    clauses and documents.

    Raises `StoreError` when nothing was indexed yet, `UsageError` for a token of another search,
    and for a store without parts.
    """
    asked = Query(query, tuple(filters), sort, tuple(facets), families=fold == "family")
    typing = (*((top, synonyms) if fold == "types" else ()), *((of,) if of != "documents" else ()))
    begun = _begun(after, page, fingerprint_of(query, filters, sort, fold, threshold, *typing))
    recipe, store = require_recipe(store), scope_view(store, of)
    ranking, notes = _ranking(store, asked, begun, keep_alive)
    readings = StoredTexts(store, recipe, ranking.snapshot)
    seeds = [ranked_row(row) for row in readings.rows(begun.shown)]
    start = len(seeds) + limit * (page - 1)
    rule: Rule = _rule(fold, threshold, readings)
    if fold == "types":
        rule, ranking = _typed(ranking, begun, readings, threshold, top, synonyms)
    read: list[RankedRow] = []
    ranking = replace(ranking, hits=_noted(ranking.hits, read))
    groups, complete = _groups(ranking, begun, seeds, rule, start + limit)
    if fold == "live" and _misled(groups[: start + limit], readings, threshold):
        rule = BySketch(threshold, readings.similarity, trusting=False)
        ranking = replace(ranking, hits=chain(tuple(read), ranking.hits))
        groups, complete = _groups(ranking, begun, seeds, rule, start + limit)
    families, relation = _families(fold, ranking, len(groups), complete)
    later = begun.later(_ids(groups[len(seeds) : start + limit]), ranking.snapshot)
    made = Page(
        total=ranking.total,
        families=families,
        relation=relation,
        hits=tuple(_hits(groups[start : start + limit], readings, rule)),
        page=later.page,
        more=len(groups) > start + limit,
        notes=(*notes, *_notes(fold, recipe, ranking.total, top)),
        facets=ranking.facets,
        next=later.token if len(groups) > start + limit else None,
        of=of,
        measure="terminology" if fold == "types" else "jaccard",
    )
    if ranking.snapshot and not made.more:
        store.release(ranking.snapshot)
    return made


def _begun(after: str | None, page: int, search: str) -> Cursor:
    """Where the search goes on: after a token, or before a page without anything shown."""
    if after is not None and page != 1:
        raise UsageError("give either a page or a token to go on after, not both")
    return Cursor(search, page - 1, (), None) if after is None else cursor(after, search)


def _ranking(
    store: Store, asked: Query, begun: Cursor, keep_alive: bool
) -> tuple[Ranking, tuple[str, ...]]:
    """The hits, at the moment of the pages before where there is one; when it is over, as they are
    now.
    """
    try:
        return store.search(asked, begun.snapshot, keep_alive or begun.snapshot is not None), ()
    except SnapshotExpired:
        return store.search(asked, keep_alive=True), (_SNAPSHOT_EXPIRED,)


def _typed(
    ranking: Ranking, begun: Cursor, readings: StoredTexts, overlap: float, top: int, synonyms: str
) -> tuple[Rule, Ranking]:
    """How the hits shown before and the best `top` others fold by type, and the hits again."""
    hits = iter(ranking.hits)
    best = list(islice(hits, top + len(begun.shown)))
    others = [hit.id for hit in best if hit.id not in begun.shown]
    rule = by_type([*begun.shown, *others[:top]], readings, overlap, synonyms)
    return rule, replace(ranking, hits=chain(best, hits))


def _groups(
    ranking: Ranking, begun: Cursor, seeds: list[RankedRow], rule: Rule, heads: int
) -> tuple[list[Group], bool]:
    """The hits folded, those shown before first."""
    shown = frozenset(begun.shown)
    hits = (hit for hit in ranking.hits if hit.id not in shown)
    return fold_ranking(hits, rule, heads, 0 if isinstance(rule, NoFolding) else WINDOW, seeds)


def _noted(hits: Iterable[RankedRow], read: list[RankedRow]) -> Iterator[RankedRow]:
    for hit in hits:
        read.append(hit)
        yield hit


def _misled(groups: Sequence[Group], readings: StoredTexts, threshold: float) -> bool:
    """Whether slots folded what its text shows to be another document, as they do with texts that
    were made for that.
    """
    folded = [
        (group.head.id, [one.id for one in group.members]) for group in groups if group.members
    ]
    readings.read_ahead([id for head, ids in folded for id in (head, *ids)])
    return any(
        value < threshold - SURPRISING
        for head, ids in folded
        for value in readings.similarities(head, ids)
    )


def _families(
    fold: Fold, ranking: Ranking, groups: int, complete: bool
) -> tuple[int, Literal["eq", "gte"]]:
    if fold == "none":
        return ranking.total, "eq"
    if ranking.families is not None:
        return ranking.families, "eq"
    return groups, "eq" if complete else "gte"


def _notes(fold: Fold, recipe: Recipe, total: int, top: int) -> tuple[str, ...]:
    if fold == "types" and total > top:
        return (_TOP_ONLY.format(top),)
    return (_NO_SLOTS.format(recipe.name),) if fold == "live" and not recipe.minhash else ()


def parse_filters(spelled: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """`FIELD=VALUE` strings as pairs; raises `UsageError` for one without a field or an equals
    sign.

    >>> parse_filters(["content_type=text/plain"])
    (('content_type', 'text/plain'),)
    """
    pairs = [tuple(one.split("=", 1)) for one in spelled]
    for one, pair in zip(spelled, pairs, strict=True):
        if len(pair) != 2 or not pair[0]:
            raise UsageError(
                f"a filter is FIELD=VALUE, for example content_type=text/plain, not {one!r}"
            )
    return tuple((field, value) for field, value in pairs)


def fold_hits(
    store: Store,
    ids: Iterable[str],
    threshold: float = 0.8,
    *,
    fold: Fold = "live",
    synonyms: str = "",
) -> tuple[Hit, ...]:
    """Fold a ranked list of ids that any query gave, such as a k-NN or a hybrid one, best first.

    As `search` folds its own hits: by stored slots, and by texts where the slots leave it open or
    turn out to mislead. An id given twice counts once; one that the store does not have is left
    out. Raises `StoreError` when nothing was indexed yet.
    """
    readings = StoredTexts(store, require_recipe(store))
    listed = list(dict.fromkeys(ids))
    hits = [ranked_row(row) for row in readings.rows(listed)]
    rule = (
        by_type(listed, readings, threshold, synonyms)
        if fold == "types"
        else _rule(fold, threshold, readings)
    )
    groups, _ = fold_ranking(hits, rule, len(hits), 0)
    if fold == "live" and _misled(groups, readings, threshold):
        groups, _ = fold_ranking(
            hits, BySketch(threshold, readings.similarity, trusting=False), len(hits), 0
        )
    return tuple(_hits(groups, readings, rule))


def _rule(fold: Fold, threshold: float, readings: StoredTexts) -> Rule:
    if fold == "live":
        return BySketch(threshold, readings.similarity)
    return ByFamily() if fold == "family" else NoFolding()


def _ids(groups: Sequence[Group]) -> tuple[str, ...]:
    return tuple(group.head.id for group in groups)


def _hits(groups: Sequence[Group], readings: StoredTexts, rule: Rule) -> Iterator[Hit]:
    readings.read_ahead([one.id for group in groups for one in (group.head, *group.members)])
    titles = readings.titles(_ids(groups))
    for group in groups:
        head, members = group.head, group.members
        if isinstance(rule, ByType):
            found = [rule.duplicates[one.id] for one in members]
            under = tuple(
                FoldedHit(one.id, one.path, made.terminology, made.type, readings.parts.get(one.id))
                for one, made in zip(members, found, strict=True)
            )
        else:
            values = readings.similarities(head.id, [one.id for one in members])
            under = tuple(
                FoldedHit(one.id, one.path, value, part=readings.parts.get(one.id))
                for one, value in zip(members, values, strict=True)
            )
        yield Hit(
            head.id,
            head.path,
            titles.get(head.id, ""),
            head.score,
            under,
            readings.parts.get(head.id),
        )
