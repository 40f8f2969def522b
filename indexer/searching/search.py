"""Search results with near duplicates folded: one hit a group, the others counted under it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, tee
from typing import Any, Literal, TypeAlias

from indexer.clustering.field_order import parse_order
from indexer.defaults import MEASURE
from indexer.errors import SnapshotExpired, UsageError
from indexer.jobs.history import spell_settings
from indexer.model import Facet, Hit, Query, RankedRow, Scope
from indexer.recipe import Recipe
from indexer.searching.cursor import Cursor, parse_token, search_digest
from indexer.searching.fold import Group, NoFolding, Rule, fold_ranking
from indexer.searching.fold_defaults import Fold, family_settings, fold_measure, fold_threshold
from indexer.searching.fold_hits import (
    check_criteria,
    folding_rule,
    has_misled,
    hits_of_groups,
    text_rule,
)
from indexer.searching.fold_types import by_type
from indexer.searching.shown_hits import show_by_order
from indexer.searching.stored_texts import StoredTexts, ranked_row
from indexer.searching.suggestions import suggest
from indexer.similarity.criteria import NO_CRITERIA, Criteria
from indexer.similarity.measures import check_measure
from indexer.stores.abilities import FullStore
from indexer.stores.base import Ranking
from indexer.stores.requirements import require_recipe, scope_view
from indexer.text.query_syntax import ignored_syntax
from indexer.text.wording import count_of, join_names

Sort: TypeAlias = Literal["relevance", "path", "modified"]
WINDOW = 1000
TOP = 100
_NO_SLOTS = (
    "recipe {} keeps no MinHash slots, which live folding needs: only copies are folded; "
    "--fold family may do"
)
_TOP_ONLY = "compared by type: the best {}; those after them are not folded: --top compares more"
_IGNORED = "without meaning in a search here, and ignored: {}"
_APART = "not similar enough to the hit that --show chose, and shown below it: {}"
_FAMILIES = "families were made by `nearfold group {}`; later documents have provisional ones"
_SNAPSHOT_EXPIRED = (
    "the snapshot of the first page has expired: "
    "documents that changed since then are read as they are now"
)


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """The options of `search`: what is found, how it is folded, and which page is returned.

    `fold`: `live` folds hits at `threshold` of `measure` (`jaccard` as far as slots decide, until
    they turn out to mislead; else by texts alone), `family` by the stored family, `types` folds the
    best hits by duplicate type, `none` not at all.
    `threshold`: with `live` the least similarity of folded hits, 0 to 1; with `types` the least
    terminology that fuzzy duplicates share, above 0. None: `FOLD` of `indexer.defaults`
    and `OVERLAP` of `indexer.similarity.duplicate_types`.
    `measure`: name of the similarity by which `live` folds, and which is shown. None: with `family`
    that of the `group` that made the families, as far as the journal knows it, else the default.
    `filters`: (field, value) pairs that must all hold.
    `sort`: `relevance`, `path` or `modified`.
    `limit`: hits a page, 1 or more.
    `page`: number of the page, from 1; another one than the first searches again.
    `after`: the `next` of the page before, to go on instead: what resembles a hit shown before is
    folded under it and not shown, whatever arrives in between, and nothing is left out. None:
    search from the beginning.
    `keep_alive`: on the first page, make a search engine keep a snapshot of the index, so that all
    pages show the same documents; it expires five minutes after the last page. Without it, and in
    an embedded store, each page shows the documents as they are when it is read.
    `facets`: fields whose most frequent values are counted, in documents and in stored families.
    `of`: `documents`; `parts` finds clauses, and folds clauses that are near duplicates of each
    other; `both` finds clauses and documents.
    `show`: the hit that is shown for a group is the first by this order, a field as
    `indexer.clustering.field_order` writes it, such as `modified:desc`; the group stays at its
    rank. Hits less similar to it than the threshold follow it as hits of their own, beyond the
    limit. None: the best hit by rank is shown.
    `top`: with `types`, how many of the best hits are compared.
    `synonyms`: with `types`, lines as `duplicate_sets` takes them.
    `criteria`: with `live`, what folded hits meet with the shown one beside the threshold.

    Raises `UsageError` for an unknown order, `show` with `types`, criteria without `live`, a
    threshold with `family` or `none`, and `after` together with a page.
    """

    fold: Fold = "live"
    threshold: float | None = None
    measure: str | None = None
    filters: Sequence[tuple[str, str]] = ()
    sort: Sort = "relevance"
    limit: int = 10
    page: int = 1
    after: str | None = None
    keep_alive: bool = False
    facets: Sequence[str] = ()
    of: Scope = "documents"
    top: int = TOP
    synonyms: str = ""
    show: str | None = None
    criteria: Criteria = NO_CRITERIA

    def __post_init__(self) -> None:
        check_criteria(self.fold, self.criteria)
        fold_threshold(self.fold, self.threshold)
        if self.measure is not None:
            check_measure(self.measure)
        if self.show is not None:
            parse_order(self.show)
            if self.fold == "types":
                raise UsageError(
                    "duplicate types are those to the best hit; "
                    "leave --show out, or fold another way"
                )
        if self.after is not None and self.page != 1:
            raise UsageError("give either a page or a token to go on after, not both")

    @property
    def least(self) -> float:
        """The threshold, also where none is given."""
        return fold_threshold(self.fold, self.threshold)


@dataclass(frozen=True, slots=True)
class Page:
    """One page of folded hits.

    `total`: documents that match. `families`: by fold `family` the stored families of all of them;
    by `live` the groups among the hits that were read: the relation is `eq` when all were read,
    else `gte`. `more`: there is a next page, and `next` is the token that `search` takes to go on
    after this one. `notes` say what may be missing. `measure`: what the similarity of folded hits
    to the shown one is, computed on the texts. `threshold`: the least value of it by which hits
    were folded; by fold `family` the least of a member to its principal. None without folding, and
    for families of which that is not known here.
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


@dataclass(frozen=True, slots=True)
class _FoldedRanking:
    """The hits that were read, folded by `rule`; `complete`: there are no others.

    `groups[:seeds]` were shown on the pages before.
    """

    groups: list[Group]
    seeds: int
    complete: bool
    rule: Rule

    def page(self, options: SearchOptions) -> list[Group]:
        """Return the groups of the page."""
        end = self.seeds + options.limit * options.page
        return self.groups[end - options.limit : end]

    def shown(self, options: SearchOptions) -> tuple[str, ...]:
        """Return the ids of the heads up to the end of the page, those shown before left out."""
        end = self.seeds + options.limit * options.page
        return tuple(group.head.id for group in self.groups[self.seeds : end])


def search(store: FullStore, query: str, options: SearchOptions = SearchOptions()) -> Page:
    """Search title and text, and fold near duplicates under the best hit of each group.

    Any word of the query may match; `+word` is required, `-word` excluded, `a|b` are alternatives,
    `"words in quotes"` stand together, and `word*` is a beginning. A query is never malformed. The
    notes of a page without hits say what to try.

    Hits are read until the page is full, and at least the first 1,000, so that the counts of folded
    hits are nearly always whole.

    Raises `StoreError` when nothing was indexed yet, `UsageError` for a token of another search,
    and for a store without parts.
    """
    start = _start(query, options)
    recipe = require_recipe(store)
    if options.fold == "live":
        options.criteria.check_sketches(recipe, options.measure or MEASURE)
    view = scope_view(store, options.of)
    ranking, notes = _ranking(view, query, options, start)
    families_by = family_settings(view, options.fold, options.of)
    measure = fold_measure(options.fold, options.measure, families_by)
    texts = StoredTexts(view, recipe, ranking.snapshot, options.criteria, measure, options.least)
    folded = _fold(ranking, start, texts, options)
    groups = folded.page(options)
    shown = _shown(groups, texts, options)
    families, relation = _families(options.fold, ranking, folded)
    cursor = start.next_page(folded.shown(options), ranking.snapshot)
    has_more = len(folded.groups) > folded.seeds + options.limit * options.page
    if not ranking.total:
        notes = (*notes, *suggest(view, query, options.filters))
    page = Page(
        total=ranking.total,
        families=families,
        relation=relation,
        hits=tuple(hits_of_groups(shown, texts, folded.rule)),
        page=cursor.page,
        more=has_more,
        notes=(
            *notes,
            *_notes_on_syntax(query),
            *_notes(options, recipe, ranking.total),
            *_notes_on_families(families_by),
            *_notes_on_shown(len(shown) - len(groups)),
        ),
        facets=ranking.facets,
        next=cursor.token if has_more else None,
        of=options.of,
        measure="terminology" if options.fold == "types" else measure,
        threshold=_threshold(options, families_by),
    )
    if ranking.snapshot and not has_more:
        view.snapshots.release(ranking.snapshot)
    return page


def _start(query: str, options: SearchOptions) -> Cursor:
    """Return where the search goes on: after a token, or before a page without any hit shown."""
    parts: list[object] = [query, options.filters, options.sort, options.fold, options.least]
    if options.measure not in (None, MEASURE):
        parts.append(options.measure)
    if options.fold == "types":
        parts += [options.top, options.synonyms]
    if options.of != "documents":
        parts.append(options.of)
    if options.criteria:
        parts.append(dataclasses.asdict(options.criteria))
    digest = search_digest(*parts)
    if options.after is None:
        return Cursor(digest, options.page - 1, (), None)
    return parse_token(options.after, digest)


def _ranking(
    store: FullStore, query: str, options: SearchOptions, start: Cursor
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
    )
    keep_alive = options.keep_alive or start.snapshot is not None
    try:
        if not keep_alive:
            return store.search(request), ()
        return store.snapshots.search(request, start.snapshot), ()
    except SnapshotExpired:
        return store.snapshots.search(request), (_SNAPSHOT_EXPIRED,)


def _fold(
    ranking: Ranking, start: Cursor, texts: StoredTexts, options: SearchOptions
) -> _FoldedRanking:
    """Fold the hits; those shown before are the heads of the first groups."""
    seeds = [ranked_row(row) for row in texts.rows(start.shown)]
    hits: Iterable[RankedRow] = ranking.hits
    if options.fold == "types":
        rule, hits = _type_rule(hits, start, texts, options)
    else:
        rule = folding_rule(options.fold, options.least, texts)
    shown = frozenset(start.shown)
    new_hits, same_hits = tee(hit for hit in hits if hit.id not in shown)
    folded = _fold_by(rule, new_hits, seeds, options)
    if options.fold != "live":
        return folded
    end = folded.seeds + options.limit * options.page
    if has_misled(folded.groups[:end], texts, options.least):
        return _fold_by(text_rule(options.least, texts), same_hits, seeds, options)
    return folded


def _fold_by(
    rule: Rule, hits: Iterable[RankedRow], seeds: list[RankedRow], options: SearchOptions
) -> _FoldedRanking:
    heads = len(seeds) + options.limit * options.page
    window = 0 if isinstance(rule, NoFolding) else WINDOW
    groups, complete = fold_ranking(hits, rule, heads, window, seeds)
    return _FoldedRanking(groups, len(seeds), complete, rule)


def _type_rule(
    ranking: Iterable[RankedRow], start: Cursor, texts: StoredTexts, options: SearchOptions
) -> tuple[Rule, Iterable[RankedRow]]:
    """Return the rule for the hits shown before and the best others, and all hits again."""
    hits = iter(ranking)
    best = list(islice(hits, options.top + len(start.shown)))
    others = [hit.id for hit in best if hit.id not in start.shown]
    ids = [*start.shown, *others[: options.top]]
    rule = by_type(ids, texts, options.least, options.synonyms)
    return rule, chain(best, hits)


def _shown(groups: list[Group], texts: StoredTexts, options: SearchOptions) -> list[Group]:
    """Return the groups of a page under the hits that are to be shown."""
    if options.show is None:
        return groups
    threshold = options.least if options.fold == "live" else None
    return show_by_order(groups, parse_order(options.show), texts, threshold)


def _families(
    fold: Fold, ranking: Ranking, folded: _FoldedRanking
) -> tuple[int, Literal["eq", "gte"]]:
    if fold == "none":
        return ranking.total, "eq"
    if ranking.families is not None:
        return ranking.families, "eq"
    return len(folded.groups), "eq" if folded.complete else "gte"


def _notes(options: SearchOptions, recipe: Recipe, total: int) -> tuple[str, ...]:
    if options.fold == "types" and total > options.top:
        return (_TOP_ONLY.format(count_of(options.top, "hit")),)
    if options.fold == "live" and not recipe.minhash:
        return (_NO_SLOTS.format(recipe.name),)
    return ()


def _threshold(options: SearchOptions, families_by: Mapping[str, Any]) -> float | None:
    if options.fold == "none":
        return None
    return families_by.get("threshold") if options.fold == "family" else options.least


def _notes_on_syntax(query: str) -> tuple[str, ...]:
    ignored = ignored_syntax(query)
    return (_IGNORED.format(join_names(ignored)),) if ignored else ()


def _notes_on_families(settings: Mapping[str, Any]) -> tuple[str, ...]:
    return (_FAMILIES.format(spell_settings(settings)),) if settings else ()


def _notes_on_shown(apart: int) -> tuple[str, ...]:
    return (_APART.format(count_of(apart, "hit")),) if apart else ()


def parse_filters(texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return `FIELD=VALUE` strings as pairs.

    Raises `UsageError` for one without a field or an equals sign.

    >>> parse_filters(["content_type=text/plain"])
    (('content_type', 'text/plain'),)
    """
    pairs = []
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise UsageError(
                f"a filter is FIELD=VALUE, for example content_type=text/plain, not {text!r}"
            )
        pairs.append((name, value))
    return tuple(pairs)
