"""Queries of candidates in an index of an engine, by their keys or by their words."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import TypeAlias

from indexer.model import Candidates, Prefilter, Scope, WordFrequencies, WordLookup
from indexer.stores.engine import rows, search_bodies
from indexer.stores.engine.queries import MAX_WINDOW, IndexQueries
from indexer.stores.engine.search_bodies import Body, Key


def candidates(
    queries: IndexQueries,
    lookups: Sequence[list[Key]],
    prefilters: Sequence[Prefilter | None],
    recipes: Sequence[str],
    limit: int,
    shared: int,
    cap: Callable[[int], int],
) -> list[Candidates]:
    """Return the candidates of many look-ups by few requests, in order.

    `lookups` holds the keys of each look-up, of which `shared` are shared or frequent; one without
    keys has no candidates. Of `prefilters` the lengths and scans are looked at. `recipes` holds the
    ids of recipes that rows may have. `cap` returns, for a number of rows, the most of them that
    may carry a key before it is frequent and no longer searched.
    """
    frequent = _frequent_keys(queries, lookups, cap)
    searches: dict[int, Body] = {}
    for index, keys in enumerate(lookups):
        cold = [key for key in keys if key not in frequent]
        if cold:
            minimum = max(1, shared - (len(keys) - len(cold)))
            window = min(limit, MAX_WINDOW)
            searches[index] = search_bodies.candidates(
                cold, recipes, window, minimum, prefilters[index]
            )
    hits = dict(zip(searches, _best_hits(queries, list(searches.values()), limit), strict=True))
    responses = []
    for index, keys in enumerate(lookups):
        capped = tuple(key for field, key in keys if (field, key) in frequent)
        responses.append(_candidates_of(hits.get(index), capped))
    return responses


def candidates_by_words(
    queries: IndexQueries, lookups: Sequence[WordLookup], recipes: Sequence[str], limit: int
) -> list[Candidates]:
    """Return the rows that meet each look-up by its words, by few requests."""
    window = min(limit, MAX_WINDOW)
    searches = [search_bodies.candidates_by_words(lookup, recipes, window) for lookup in lookups]
    responses = []
    for hits in queries.hits(searches):
        by_words = _candidates_of(hits, ())
        candidates = tuple(replace(candidate, keys_shared=0) for candidate in by_words.found)
        responses.append(replace(by_words, found=candidates))
    return responses


def _frequent_keys(
    queries: IndexQueries, lookups: Sequence[list[Key]], cap: Callable[[int], int]
) -> set[Key]:
    """Return the keys that more rows carry than the cap allows.

    The rows with any key of a look-up are counted first: where they are few, no key is frequent.
    """
    lookups = [keys for keys in lookups if keys]
    carried = chain.from_iterable(_carried_by_more(queries, lookups, cap(0)))
    distinct = [[key] for key in dict.fromkeys(carried)]
    frequent = _carried_by_more(queries, distinct, cap(0))
    if not frequent:
        return set()
    rows = queries.search(search_bodies.total())["hits"]["total"]["value"]
    return set(chain.from_iterable(_carried_by_more(queries, frequent, cap(rows))))


def _carried_by_more(
    queries: IndexQueries, lookups: Sequence[list[Key]], limit: int
) -> list[list[Key]]:
    """Return the look-ups of whose keys more than `limit` rows carry one.

    A search for each stops there, where an aggregation would visit all rows.
    """
    responses = queries.search_all([search_bodies.carriers(keys, limit) for keys in lookups])
    counts = [response["hits"]["total"]["value"] for response in responses]
    return [keys for keys, count in zip(lookups, counts, strict=True) if count > limit]


def _best_hits(queries: IndexQueries, searches: list[Body], limit: int) -> list[Body]:
    """Return the `hits` of each search, page by page where an engine limits them."""
    if limit <= MAX_WINDOW:
        return queries.hits(searches)
    return [_page_hits(queries, body, limit) for body in searches]


def _page_hits(queries: IndexQueries, body: Body, limit: int) -> Body:
    """Return the `hits` of one search, read page by page, at most `limit`."""
    pages = queries.pages(body)
    first = next(pages)["hits"]
    rest = chain.from_iterable(page["hits"]["hits"] for page in pages)
    return {**first, "hits": [*first["hits"], *islice(rest, limit - len(first["hits"]))]}


def _candidates_of(hits: Body | None, capped: tuple[str, ...]) -> Candidates:
    """Return the candidates of the `hits` of a look-up; none where all its keys were capped."""
    if hits is None:
        return Candidates((), capped)
    candidates = tuple(map(rows.candidate, hits["hits"]))
    return Candidates(candidates, capped, cut=hits["total"]["value"] > len(candidates))


# A cache of the numbers of documents with each word, valid while an index stays as it is.

MAX_WORDS = 1 << 17  # words that are remembered
SECONDS = 60  # and for how long at most: copies of a shard may show a change at different times
_State: TypeAlias = tuple[object, ...]


@dataclass
class _Counts:
    state: _State | None = None
    counts: dict[str, int] = field(default_factory=dict)


class FrequencyCache:
    """Word frequencies by scope. It may be shared by threads.

    A write to a shard gives it a newer sequence number or another number of documents. Of several
    shards, where a number may hide another, nothing is remembered.
    """

    def __init__(self) -> None:
        self._cached: dict[Scope, _Counts] = {}
        self._has_parts = False

    def read(self, queries: IndexQueries, words: Sequence[str]) -> WordFrequencies:
        """Return the frequencies of distinct words; those not remembered by a request for about a
        hundred.
        """
        cached = self._cached.get(queries.scope) or _Counts()
        known = {word: count for word in words if (count := cached.counts.get(word)) is not None}
        missing = [word for word in words if word not in known]
        documents, state, counts = self._count(queries, missing)
        if known and state != cached.state:
            _, _, others = self._count(queries, list(known))
            counts |= others
        if state != cached.state:
            self._cached[queries.scope] = cached = _Counts(state)
        if state is not None:
            if len(cached.counts) + len(counts) > MAX_WORDS:
                cached.counts.clear()
            cached.counts |= counts
        return WordFrequencies(documents, {**known, **counts})

    def _count(
        self, queries: IndexQueries, words: Sequence[str]
    ) -> tuple[int, _State | None, dict[str, int]]:
        """Return the number of documents, the state of their shard and the count of each word."""
        state = search_bodies.within_scope(search_bodies.newest(), queries.scope)
        first, counts = self._totals(queries, state, list(map(search_bodies.containing, words)))
        documents = _total(first)
        newest = [(hit["_index"], hit["sort"]) for hit in first["hits"]["hits"]]
        is_one = first["_shards"]["total"] == 1
        minute = int(time.monotonic() // SECONDS)
        of_shard = (minute, documents, newest) if is_one else None
        return documents, of_shard, dict(zip(words, counts, strict=True))

    def _totals(
        self, queries: IndexQueries, state: Body, searches: list[Body]
    ) -> tuple[Body, list[int]]:
        """Return the response to the first search, and the totals of the others.

        Where there are no parts, which the same request says, documents are counted as all rows
        are, in two thirds of the time.
        """
        everything = replace(queries, scope="both")
        if queries.scope == "documents" and not self._has_parts:
            parts = search_bodies.within_scope(search_bodies.total(), "parts")
            first, parted, *responses = everything.search_all([state, parts, *searches])
            self._has_parts = _total(parted) > 0
            if not self._has_parts:
                return first, list(map(_total, responses))
        first, *responses = everything.search_all(
            [state, *(search_bodies.within_scope(search, queries.scope) for search in searches)]
        )
        return first, list(map(_total, responses))


def _total(response: Body) -> int:
    return int(response["hits"]["total"]["value"])
