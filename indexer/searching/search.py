"""Search results with near duplicates folded: one hit a group, the others counted under it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from indexer.clustering.field_order import parse_order
from indexer.defaults import MEASURE
from indexer.errors import SnapshotExpired
from indexer.model import Facet, Hit, Query, Scope
from indexer.recipe import Recipe
from indexer.searching.changed_members import show_changed_apart
from indexer.searching.cursor import Cursor, parse_token, search_digest
from indexer.searching.fold import Group
from indexer.searching.fold_defaults import Fold, family_settings, fold_measure, live_settings
from indexer.searching.fold_hits import hits_of_groups
from indexer.searching.folded_ranking import WINDOW, FoldedRanking, fold_search
from indexer.searching.search_notes import notes_on_changed, notes_on_folding, notes_on_order
from indexer.searching.search_options import DEFAULT_OPTIONS, SearchOptions
from indexer.searching.shown_hits import show_by_order
from indexer.searching.stored_texts import StoredTexts
from indexer.searching.suggestions import suggest
from indexer.similarity.criteria import Criteria, for_folding
from indexer.stores.abilities import FullStore
from indexer.stores.base import Ranking
from indexer.stores.requirements import require_recipe, scope_view
from indexer.system.progress_callback import Progress, no_progress

FIRST = 22  # hits that are read with ids beside two for each one shown
_SNAPSHOT_EXPIRED = (
    "the snapshot of the first page has expired: "
    "documents that changed since then are read as they are now"
)


@dataclass(frozen=True, slots=True)
class Page:
    """One page of folded hits.

    `total`: documents that match. `families`: by fold `family` the stored families of all of them;
    by `live` the groups among the hits that were read: the relation is `eq` when all were read.
    Else it is `gte`, and of hits that may be near duplicates only those count on which the page
    depends. `more`: there is a next page, and `next` is the token that `search` takes to go on
    after this one. `notes` say what may be missing. `measure`: what the similarity of folded hits
    to the shown one is, computed on the texts. `threshold`: the least value of it by which hits
    were folded; by fold `family` the least of a member to its principal. None without folding, and
    for families of which that is not known here. `passed_over`: by fold `types`, hits whose texts
    did not fit into what is compared. `unranked`: matches that were not ranked yet, and come last.
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
    measure: str = MEASURE
    threshold: float | None = None
    passed_over: int = 0
    unranked: int = 0


def search(
    store: FullStore,
    query: str,
    options: SearchOptions = DEFAULT_OPTIONS,
    progress: Progress = no_progress,
) -> Page:
    """Search title and text, and fold near duplicates under the best hit of each group.

    Any word of the query may match; `+word` is required, `-word` excluded, `a|b` are alternatives,
    `"words in quotes"` stand together, and `word*` is a beginning. A query is never malformed. The
    notes of a page without hits say what to try.

    Hits are read until the page is full, and at least the first 1,000, so that the counts of folded
    hits are nearly always whole; by fold `family` in a search engine, the first 1,000 of those in
    the families of the page.

    Raises `StoreError` when nothing was indexed yet, `UsageError` for a token of another search,
    and for a store without parts.
    """
    try:
        return _search(store, query, options, progress)
    except SnapshotExpired:  # `reindex` has replaced the index after the first hits were read
        return _search(store, query, options, progress)


def _search(store: FullStore, query: str, options: SearchOptions, progress: Progress) -> Page:
    start = _start(query, options)
    recipe = require_recipe(store)
    if options.fold == "live":
        options = _live_options(options, recipe)
    view = scope_view(store, options.of)
    ranking, notes = _ranking(view, query, options, start, _first_hits(recipe, options, start))
    families_by = family_settings(view, options.fold, options.of)
    measure = fold_measure(options.fold, options.measure, families_by)
    criteria = _criteria(options, measure)
    texts = StoredTexts(view, recipe, ranking.snapshot, criteria, measure, options.least)
    folded = fold_search(ranking, start, texts, options, progress)
    groups = folded.page(options)
    if options.fold == "family":
        groups = show_changed_apart(groups, texts)
        notes += tuple(notes_on_changed(len(groups) - len(folded.page(options))))
    shown = _shown(groups, texts, options)
    families, relation = _families(options.fold, ranking, folded)
    cursor = start.next_page(folded.shown(options), ranking.snapshot)
    has_more = folded.has_more(options)
    if not ranking.total:
        notes += tuple(suggest(view, query, options.filters))
    apart = len(shown) - len(groups)
    notes += tuple(notes_on_order(options, groups, texts))
    notes += tuple(
        notes_on_folding(
            query, options, recipe, ranking.total, families_by, apart, folded.passed_over
        )
    )
    page = Page(
        total=ranking.total,
        families=families,
        relation=relation,
        hits=tuple(hits_of_groups(shown, texts, folded.rule, options.facts)),
        page=cursor.page,
        more=has_more,
        notes=notes,
        facets=ranking.facets,
        next=cursor.token if has_more else None,
        of=options.of,
        measure="terminology" if options.fold == "types" else measure,
        threshold=_threshold(options, families_by),
        passed_over=folded.passed_over,
        unranked=ranking.unranked,
    )
    if ranking.snapshot and not has_more:
        view.snapshots.release(ranking.snapshot)
    return page


def _live_options(options: SearchOptions, recipe: Recipe) -> SearchOptions:
    """Return the options with the measure and threshold by which this recipe's hits are folded.

    Raises `UsageError` where its sketches do not suffice for the measure and the criteria.
    """
    measure, threshold = live_settings(recipe, options.measure, options.threshold)
    options.criteria.check_sketches(recipe, measure or MEASURE)
    return dataclasses.replace(options, measure=measure, threshold=threshold)


def _criteria(options: SearchOptions, measure: str) -> Criteria:
    """Return the criteria of folding: live, by a measure of words in order, one more."""
    return for_folding(options.criteria, measure) if options.fold == "live" else options.criteria


def _start(query: str, options: SearchOptions) -> Cursor:
    """Return where the search goes on: after a token, or before a page without any hit shown."""
    parts: list[object] = [query, options.filters, options.sort, options.fold, options.least]
    if options.measure not in (None, MEASURE):
        parts.append(options.measure)
    if options.fold == "types":
        parts += [options.top, options.synonyms]
        if options.most_chars is not None:
            parts.append(options.most_chars)
    if options.of != "documents":
        parts.append(options.of)
    if options.criteria:
        parts.append(dataclasses.asdict(options.criteria))
    digest = search_digest(*parts)
    if options.after is None:
        return Cursor(digest, options.page - 1, (), None)
    return parse_token(options.after, digest)


def _ranking(
    store: FullStore, query: str, options: SearchOptions, start: Cursor, first: int
) -> tuple[Ranking, tuple[str, ...]]:
    """Return the hits and notes on them.

    They are those of the snapshot of the pages before where there is one; once it has expired, the
    documents as they are now.
    """
    request = Query(
        query,
        tuple(options.filters),
        options.sort,
        tuple(options.facets),
        families=options.fold == "family",
        # unfolded, one hit after the page shows that there is another page
        expected=options.limit * options.page + 1 if options.fold == "none" else WINDOW,
        most_ranked=options.most_ranked,
        first=first,
    )
    keep_alive = options.keep_alive or start.snapshot is not None
    try:
        if not keep_alive:
            return store.search(request), ()
        return store.snapshots.search(request, start.snapshot), ()
    except SnapshotExpired:
        return store.snapshots.search(request), (_SNAPSHOT_EXPIRED,)


def _first_hits(recipe: Recipe, options: SearchOptions, start: Cursor) -> int:
    """Return how many hits are read with ids where sketches or members do for the others; 0 for
    all.
    """
    by_texts = options.fold == "live" and recipe.minhash and options.measure != "jaccard"
    is_enough = by_texts or options.fold == "family"
    return FIRST + 2 * options.limit * options.page if is_enough and not start.shown else 0


def _shown(groups: list[Group], texts: StoredTexts, options: SearchOptions) -> list[Group]:
    """Return the groups of a page under the hits that are to be shown."""
    if options.show is None:
        return groups
    threshold = options.least if options.fold == "live" else None
    return show_by_order(groups, parse_order(options.show), texts, threshold)


def _families(
    fold: Fold, ranking: Ranking, folded: FoldedRanking
) -> tuple[int, Literal["eq", "gte"]]:
    if fold == "none":
        return ranking.total, "eq"
    if ranking.families is not None:
        return ranking.families, "eq"
    return len(folded.groups) + folded.others, "eq" if folded.complete else "gte"


def _threshold(options: SearchOptions, families_by: Mapping[str, Any]) -> float | None:
    if options.fold in ("none", "threads"):
        return None
    return families_by.get("threshold") if options.fold == "family" else options.least
