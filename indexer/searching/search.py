"""Search results with near duplicates folded: one hit a group, the others counted under it."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice, tee
from typing import Any, Literal, TypeAlias

from indexer.comparing.band_plan import has_sketch_alone
from indexer.comparing.criteria import NO_CRITERIA, Criteria, for_folding
from indexer.comparing.measures import check_measure
from indexer.defaults import MEASURE
from indexer.errors import SnapshotExpired, UsageError
from indexer.grouping.group_options import parse_order
from indexer.model import CountRelation, Facet, Hit, Progress, Query, RankedRow, Scope, no_progress
from indexer.recipe import Recipe
from indexer.searching.fold_hits import (
    ByType,
    Fold,
    by_type,
    check_criteria,
    family_settings,
    fold_measure,
    fold_threshold,
    fold_unless_misled,
    folding_rule,
    hits_of_groups,
    live_settings,
)
from indexer.searching.folding import (
    Folding,
    Group,
    NoFolding,
    RestReader,
    Rule,
    SelectiveRule,
    earlier_hits,
    fold_families,
    fold_page,
    fold_ranking,
    rest_reader,
    show_by_order,
    show_changed_apart,
)
from indexer.searching.stored_texts import StoredTexts
from indexer.stores.abilities import FullStore
from indexer.stores.base import Ranking, Store
from indexer.stores.journal import format_settings
from indexer.stores.query_syntax import (
    Join,
    SearchWords,
    Term,
    ignored_syntax,
    lower_case_operators,
    parse_query,
)
from indexer.stores.requirements import require_recipe, scope_view
from indexer.wording import count_of, join_names, visible

# The options of `search`.

Sort: TypeAlias = Literal["relevance", "path", "modified", "newest", "oldest"]
TOP = 100  # hits that are compared by duplicate type
FACTS = 10  # folded hits of a hit


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """The options of `search`: what is found, how it is folded, and which page is returned.

    `fold`: `live` folds hits at `threshold` of `measure` (`jaccard` as far as slots decide, until
    they turn out to mislead; else by texts alone), `family` by the stored family, `threads` mails
    of one thread, `types` the best hits by duplicate type, `none` not at all.
    `threshold`: the minimum similarity of hits that `live` folds, 0 to 1, or the minimum
    terminology that fuzzy duplicates of `types` have in common, above 0. None: `FOLD` of
    `indexer.defaults` and `OVERLAP` there.
    `measure`: name of the similarity by which `live` folds, and which is shown. None: with `family`
    that of the `group` that made the families, as far as the journal knows it, else the default.
    `filters`: (field, value) pairs that must all hold.
    `join`: `any` finds and ranks documents that have one of the words; `all` documents that have
    all of them, and the query has operators (docs/search.md).
    `sort`: `relevance`, `path`, `newest` or `oldest` by the dates of documents, or `modified`, the
    newest file first.
    `limit`: hits a page, 1 or more.
    `page`: number of the page, from 1; another one than the first searches again.
    `after`: the `next` of the page before, to go on instead: what resembles a hit shown before is
    folded under it and not shown, whatever arrives in between, and nothing is left out. None:
    search from the beginning.
    `keep_alive`: makes a search engine keep a snapshot of the index from the first page on, so that
    all pages show the same documents; it expires five minutes after the last page. Without it, and
    in an embedded store, each page shows the documents as they are when it is read.
    `facets`: fields whose most frequent values are counted, in documents and in stored families.
    `of`: `documents`; `parts` finds clauses, and folds clauses that are near duplicates of each
    other; `both` finds clauses and documents.
    `show`: the hit that is shown for a group is the first by this order, a field as
    `indexer.comparing.criteria` writes it, such as `modified:desc`; the group stays at its
    rank. Hits less similar to it than the threshold follow it as hits of their own, beyond the
    limit. None: the best hit by rank is shown.
    `top`: how many of the best hits `types` compares.
    `most_chars`: how many characters the texts that `types` compares have together at most; texts
    that do not fit are shown, and not compared. None: any number.
    `synonyms`: lines for `types` as `duplicate_sets` takes them.
    `criteria`: what hits that `live` folds meet with the representative in addition to the
    threshold.
    `most_ranked`: how many matches a store ranks at least where ranking all takes it long, those
    written last; the others follow. None: all are ranked.
    `facts`: the number of folded hits of each hit whose facts are compared with its own.
    `snippets`: each hit has the text around the first words of the query that it matches.

    Raises `UsageError` for an unknown order, `show` with `types` or `none`, a measure with
    `threads`, `types` or `none`, criteria without `live`, a threshold with another way than `live`
    and `types`, and `after` together with a page.
    """

    fold: Fold = "live"
    threshold: float | None = None
    measure: str | None = None
    filters: Sequence[tuple[str, str]] = ()
    join: Join = "any"
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
    facts: int = FACTS
    snippets: bool = True
    most_chars: int | None = None
    most_ranked: int | None = None

    def __post_init__(self) -> None:
        check_criteria(self.fold, self.criteria)
        fold_threshold(self.fold, self.threshold, self.criteria)
        if self.measure is not None:
            check_measure(self.measure)
            if self.fold in ("none", "threads", "types"):
                raise UsageError(
                    "a measure belongs to folding by similarity (--fold live) or by family; "
                    "leave --measure out, or fold another way"
                )
        if self.show is not None:
            parse_order(self.show)
            if self.fold == "none":
                raise UsageError("without folding every hit is shown; leave --show out, or fold")
            if self.fold == "types":
                raise UsageError(
                    "duplicate types relate to the best hit; leave --show out, or fold another way"
                )
        if self.after is not None and self.page != 1:
            raise UsageError("give either a page or a token to continue after, not both")

    @property
    def least(self) -> float:
        """The threshold, also where none is given."""
        return fold_threshold(self.fold, self.threshold, self.criteria)


DEFAULT_OPTIONS = SearchOptions()


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


# The notes of a search: ignored syntax, hits that are not folded, settings of families.

_METADATA_NAMED = 20  # names of metadata that a note lists at most
_NO_SLOTS = (
    "recipe {} keeps no MinHash slots, which live folding needs: only copies are folded; "
    "folding by family may do"
)
_LOWER_CASE = "searched for as words, because operators are written in capitals: {}"
_TOP_ONLY = "folding by type compares only the best {}; later hits are not folded (raise `top`)"
_PASSED_OVER = (
    "folding by type compares texts of up to {:,} characters in total; {} did not fit and {} not "
    "folded"
)
_IGNORED = "not operators in this search, so searched for as words: {}"
_LEFT_OUT = "similarities are computed without the approved passages of list {}"
_APART = "not similar enough to the hit that `show` chose, so listed separately: {}"
_ABSENT = "no hit has metadata.{}, which `show` orders by; the hits have: {}"
FAMILIES_MADE_BY = "groups were made by"  # begins the note on stored families
_FAMILIES = FAMILIES_MADE_BY + " `nearfold group {}`; later documents have provisional groups"

_CHANGED = (
    "their text has changed since they were grouped, so they are not folded: {}; run `nearfold "
    "group`"
)


def notes_on_changed(apart: int) -> Iterator[str]:
    """Yield a sentence if hits are shown apart because their text was changed."""
    if apart:
        yield _CHANGED.format(count_of(apart, "hit"))


def notes_on_folding(
    query: str,
    options: SearchOptions,
    recipe: Recipe,
    total: int,
    families_by: Mapping[str, Any],
    apart: int,
    passed_over: int,
) -> Iterator[str]:
    """Yield notes in sentences: ignored syntax, hits that are not folded, settings of families.

    `apart`: hits in addition to the groups of the page. `passed_over`: hits whose texts exceeded
    the limit of comparison by type.
    """
    if options.join == "any" and (ignored := ignored_syntax(query)):
        yield _IGNORED.format(join_names(ignored))
    if options.join == "all" and (words := lower_case_operators(query)):
        yield _LOWER_CASE.format(join_names(words))
    if options.fold == "types" and total > options.top:
        yield _TOP_ONLY.format(count_of(options.top, "hit"))
    if options.fold == "live" and not (recipe.minhash or has_sketch_alone(recipe)):
        yield _NO_SLOTS.format(recipe.name)
    if options.fold == "live" and recipe.left_out:
        yield _LEFT_OUT.format(recipe.left_out)
    if families_by:
        yield _FAMILIES.format(format_settings(families_by))
    if apart:
        yield _APART.format(count_of(apart, "hit"))
    if passed_over:
        yield _PASSED_OVER.format(
            options.most_chars, count_of(passed_over, "hit"), "is" if passed_over == 1 else "are"
        )


def notes_on_order(
    options: SearchOptions, groups: list[Group], texts: StoredTexts
) -> Iterator[str]:
    """Yield a sentence if `show` names metadata that no hit of the page has."""
    name = options.show and parse_order(options.show).metadata_name
    if name and name not in texts.metadata and any(group.members for group in groups):
        known = ", ".join(sorted(f"metadata.{known}" for known in texts.metadata)[:_METADATA_NAMED])
        yield _ABSENT.format(visible(name), visible(known) or "none")


# Suggestions for a query that finds nothing, from what its words find one by one.

MAX_TERMS = 5  # terms that are searched one by one
_SHORTEST, _MAX_CUT = 3, 3  # letters of a suggested prefix, and letters cut off for it
_NO_WORDS = "the query holds no letter or digit; an empty query finds every document"


@dataclass(frozen=True, slots=True)
class _Probe:
    """Counts the documents that other queries find."""

    store: Store

    def count(self, text: str, filters: tuple[tuple[str, str], ...] = ()) -> int:
        return self.store.search(Query(text, filters)).total


def suggest(
    store: Store, text: str, filters: Sequence[tuple[str, str]] = (), join: Join = "any"
) -> Iterator[str]:
    """Yield sentences on why a query finds nothing, and what finds something.

    Makes at most about thirty searches.
    """
    words = parse_query(text, join)
    if words.is_empty:
        if text.strip():
            yield _NO_WORDS
        return
    probe = _Probe(store)
    if filters and (count := store.search(Query(text, join=join)).total):
        yield f"{count_of(count, 'document')} would match without the filters"
    terms = words.terms[:MAX_TERMS]
    absent = [term for term in terms if not probe.count(str(term))]
    if absent:
        names = ", ".join(visible(str(term)) for term in absent)
        yield f"in no document: {names}"
        for term in absent:
            yield from _alternatives(probe, term)
    if join == "any" and not words.conditions:
        yield from _without_symbols(probe, words)
    elif len(words.terms) > 1 and (count := probe.count(" ".join(map(str, words.terms)))):
        yield f"any of the words may match, without other conditions: {count_of(count, 'document')}"


def _alternatives(probe: _Probe, term: Term) -> Iterator[str]:
    """Yield terms that find documents instead of a term that is in none."""
    if " " in term.text:
        if count := probe.count(term.text):
            yield f"without quotes any of the words may match: {count_of(count, 'document')}"
        return
    if not term.is_one_word:
        return
    for prefix in _prefixes(term):
        if count := probe.count(prefix):
            yield f"try {visible(prefix)}, which is in {count_of(count, 'document')}"
            return


def _prefixes(term: Term) -> Iterator[str]:
    """Yield shorter and shorter beginnings of a word, as queries."""
    shortest = max(_SHORTEST, len(term.text) - _MAX_CUT)
    start = len(term.text) - term.is_prefix
    for length in range(start, shortest - 1, -1):
        yield f"{term.text[:length]}*"


def _without_symbols(probe: _Probe, words: SearchWords) -> Iterator[str]:
    """Yield what a query would find without its `+`, and without its `-`."""
    anything = " ".join(map(str, words.terms))
    adds_to_rank = len(words.required) > 1 or (words.required and words.optional)
    if adds_to_rank and (count := probe.count(anything)):
        yield f"without + any of the words may match: {count_of(count, 'document')}"
    if not (words.excluded and words.terms):
        return
    required = [f"+{'|'.join(map(str, group))}" for group in words.required]
    if count := probe.count(" ".join(required) or anything):
        yield f"without - the other words are in {count_of(count, 'document')}"


# The state of a paged search as one token: which hits were shown, and at which snapshot.

LONGEST = 4_000_000  # bytes of a decompressed token


@dataclass(frozen=True, slots=True)
class Cursor:
    """The state after `page` pages of a search.

    `search`: digest of the query and its options. `representatives`: ids of the hits shown, in
    order.
    """

    search: str
    page: int
    representatives: tuple[str, ...]
    snapshot: str | None

    @property
    def token(self) -> str:
        """The cursor as letters, digits, `-` and `_`.

        About 25 characters a shown hit of nearfold's own ids.
        """
        state = json.dumps(
            [self.search, self.page, self.snapshot, *self.representatives], ensure_ascii=False
        )
        packed = zlib.compress(state.encode("utf-8", "replace"), 9)
        return base64.urlsafe_b64encode(packed).decode().rstrip("=")

    def next_page(self, representatives: tuple[str, ...], snapshot: str | None) -> Cursor:
        """Return the cursor after one more page."""
        return Cursor(self.search, self.page + 1, self.representatives + representatives, snapshot)


def search_digest(*parts: object) -> str:
    """Return a digest of a query and its options, by which tokens of other searches are refused."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def parse_token(token: str, search: str) -> Cursor:
    """Return the cursor that `Cursor.token` wrote.

    Raises `UsageError` for anything else, and for a token of another search than `search`.

    >>> parse_token(Cursor("0a", 1, ("x", "y"), None).token, "0a")
    Cursor(search='0a', page=1, representatives=('x', 'y'), snapshot=None)
    """
    try:
        cursor = _unpack(token)
    except (binascii.Error, zlib.error, ValueError, TypeError) as error:
        raise UsageError(
            "this is not a page token; copy the whole `next` of the page before"
        ) from error
    if cursor.search != search:
        raise UsageError(
            "this token belongs to another search; "
            "give the same query, filters, order, folding and threshold"
        )
    return cursor


def _unpack(token: str) -> Cursor:
    padding = "=" * (-len(token) % 4)
    packed = base64.b64decode(token + padding, altchars=b"-_", validate=True)
    state = zlib.decompressobj().decompress(packed, LONGEST)
    search, page, snapshot, *ids = json.loads(state)
    representatives = tuple(map(str, ids))
    return Cursor(
        str(search), int(page), representatives, None if snapshot is None else str(snapshot)
    )


# The hits of a search that were read, folded by the rule of its options.

WINDOW = 1000  # hits that are read at least, so that counts of folded hits are whole


@dataclass(frozen=True, slots=True)
class FoldedRanking:
    """The hits that were read, folded by `rule`; `complete`: there are no others.

    `groups[:seeds]` were shown on the pages before; `others` are groups after those listed.
    """

    groups: list[Group]
    seeds: int
    complete: bool
    rule: Rule
    others: int = 0

    def page(self, options: SearchOptions) -> list[Group]:
        """Return the groups of the page."""
        end = self._end(options)
        return self.groups[end - options.limit : end]

    def has_more(self, options: SearchOptions) -> bool:
        """Return whether there are groups after the page."""
        return len(self.groups) > self._end(options)

    @property
    def passed_over(self) -> int:
        """The hits whose texts exceeded the limit of comparison by type."""
        return self.rule.passed_over if isinstance(self.rule, ByType) else 0

    def representatives(self, options: SearchOptions) -> tuple[str, ...]:
        """Return the ids of the representatives of this page."""
        groups = self.groups[self.seeds : self._end(options)]
        return tuple(group.representative.id for group in groups)

    def _end(self, options: SearchOptions) -> int:
        return self.seeds + options.limit * options.page


def fold_search(
    ranking: Ranking,
    start: Cursor,
    texts: StoredTexts,
    options: SearchOptions,
    progress: Progress,
) -> FoldedRanking:
    """Read hits until the page is full, and at least `WINDOW`, and fold them by the options.

    Those that `start` names, shown before, are the representatives of the first groups. `progress`
    is called by fold `types`.
    """
    seeds, hits = earlier_hits(ranking.hits, start.representatives, texts, WINDOW)
    if options.fold == "types":
        rule, hits = _type_rule(hits, start, texts, options, progress)
    else:
        rule = folding_rule(options.fold, options.least, texts)
    seen = frozenset(start.representatives)
    new_hits, same_hits = tee(hit for hit in hits if hit.id not in seen)
    end = len(seeds) + options.limit * options.page
    page = range(end - options.limit, end)
    if ranking.members is not None:
        members = partial(ranking.members, limit=WINDOW)
        folding = fold_families(new_hits, seeds, page, members)
        return FoldedRanking(folding.groups, len(seeds), folding.complete, rule)
    rest = rest_reader(ranking, WINDOW, texts)
    attempts = iter([(new_hits, rest), (same_hits, None)])
    folding = fold_unless_misled(
        lambda rule: _fold_by(rule, *next(attempts), seeds, page), rule, texts, options.least, end
    )
    return FoldedRanking(folding.groups, len(seeds), folding.complete, rule, folding.others)


def _fold_by(
    rule: Rule,
    hits: Iterable[RankedRow],
    rest: RestReader | None,
    seeds: list[RankedRow],
    page: range,
) -> Folding:
    if isinstance(rule, SelectiveRule) and rule.reads_texts:
        return fold_page(hits, rule, page, WINDOW, seeds, rest)
    window = 0 if isinstance(rule, NoFolding) else WINDOW
    return fold_ranking(hits, rule, page.stop, window, seeds)


def _type_rule(
    ranking: Iterable[RankedRow],
    start: Cursor,
    texts: StoredTexts,
    options: SearchOptions,
    progress: Progress,
) -> tuple[Rule, Iterable[RankedRow]]:
    """Return the rule for the hits shown before and the best others, and all hits again."""
    hits = iter(ranking)
    best = list(islice(hits, options.top + len(start.representatives)))
    others = [hit.id for hit in best if hit.id not in start.representatives]
    ids = [*start.representatives, *others[: options.top]]
    rule = by_type(ids, texts, options.least, options.synonyms, options.most_chars, progress)
    return rule, chain(best, hits)


FIRST = 22  # hits that are read with ids, in addition to two for each one shown
_SNAPSHOT_EXPIRED = (
    "the snapshot of the first page has expired: "
    "documents that changed since then are read as they are now"
)


@dataclass(frozen=True, slots=True)
class Page:
    """One page of folded hits.

    `total`: documents that match. `families`: the stored families of all of them with fold
    `family`; with `live` the groups among the hits that were read: the relation is `eq` when all
    were read. A search engine estimates more than 1,000 stored families: the relation is
    `approximate`, and the number within `FAMILIES_ERROR`. Else it is `gte`, and of hits that may be
    near duplicates only those count on which the page depends. `more`: there is a next page, and
    `next` is the token that `search` takes to go on after this one. `notes` say what may be
    missing. `measure`: what the similarity of folded hits to the shown one is, computed on the
    texts. `threshold`: the minimum value of it by which hits were folded; by fold `family` the
    minimum of a member to its principal. None without folding, and for families of which that is
    not known here.
    `passed_over`: hits whose texts exceeded the limit of comparison of fold `types`. `unranked`:
    matches that were not ranked yet, and come last. `policy`: the policy by which hits were folded,
    or families were made; None without one.
    """

    total: int
    families: int
    relation: CountRelation
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
    policy: str | None = None


def search(
    store: FullStore,
    query: str,
    options: SearchOptions = DEFAULT_OPTIONS,
    progress: Progress = no_progress,
) -> Page:
    """Search title and text, and fold near duplicates under the best hit of each group.

    Any word of the query may match; `+word` is required, `-word` excluded, `a|b` are alternatives,
    `"words in quotes"` stand together, `word*` is a beginning, and `from:ann` the value of a field.
    Joined by `all`, every word must match, and the query has operators; `QueryError` says where it
    cannot be parsed. The notes of a page without hits say what to try.

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
    stored_measure = str(families_by.get("measure", "")) if options.of == "documents" else ""
    texts = StoredTexts(
        view, recipe, ranking.snapshot, criteria, measure, options.least, stored_measure
    )
    folded = fold_search(ranking, start, texts, options, progress)
    groups = folded.page(options)
    if options.fold == "family":
        groups = show_changed_apart(groups, texts)
        notes += tuple(notes_on_changed(len(groups) - len(folded.page(options))))
    by_order = _by_order(groups, texts, options)
    families, relation = _families(options.fold, ranking, folded)
    cursor = start.next_page(folded.representatives(options), ranking.snapshot)
    has_more = folded.has_more(options)
    if not ranking.total:
        notes += tuple(suggest(view, query, options.filters, options.join))
    apart = len(by_order) - len(groups)
    snippets_of = query if options.snippets else None
    if isinstance(folded.rule, ByType):
        notes += tuple(folded.rule.notes())
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
        hits=tuple(hits_of_groups(by_order, texts, folded.rule, options.facts, snippets_of)),
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
        policy=families_by.get("policy") if options.fold == "family" else criteria.policy,
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
    if options.join != "any":
        parts.append(options.join)
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

    They come from the snapshot of the pages before where there is one; once it has expired, the
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
        max_ranked=options.most_ranked,
        first=first,
        join=options.join,
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
    return (
        FIRST + 2 * options.limit * options.page if is_enough and not start.representatives else 0
    )


def _by_order(groups: list[Group], texts: StoredTexts, options: SearchOptions) -> list[Group]:
    """Return the groups of a page under the hits that are to be shown."""
    if options.show is None:
        return groups
    threshold = options.least if options.fold == "live" else None
    return show_by_order(groups, parse_order(options.show), texts, threshold)


def _families(fold: Fold, ranking: Ranking, folded: FoldedRanking) -> tuple[int, CountRelation]:
    if fold == "none":
        return ranking.total, "eq"
    if ranking.families is not None:
        return ranking.families, ranking.families_relation
    return len(folded.groups) + folded.others, "eq" if folded.complete else "gte"


def _threshold(options: SearchOptions, families_by: Mapping[str, Any]) -> float | None:
    if options.fold in ("none", "threads"):
        return None
    return families_by.get("threshold") if options.fold == "family" else options.least
