"""A cache of the numbers of documents with each word, valid while an index stays as it is."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from indexer.model import Scope, WordFrequencies
from indexer.stores.engine import bodies

if TYPE_CHECKING:
    from indexer.stores.engine.bodies import Body
    from indexer.stores.engine.queries import IndexQueries

MOST = 1 << 17  # words that are remembered
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
            if len(cached.counts) + len(counts) > MOST:
                cached.counts.clear()
            cached.counts |= counts
        return WordFrequencies(documents, {**known, **counts})

    def _count(
        self, queries: IndexQueries, words: Sequence[str]
    ) -> tuple[int, _State | None, dict[str, int]]:
        """Return the number of documents, the state of their shard and the count of each word."""
        state = bodies.within_scope(bodies.newest(), queries.scope)
        first, counts = self._totals(queries, state, list(map(bodies.containing, words)))
        documents = _total(first)
        newest = [(hit["_index"], hit["sort"]) for hit in first["hits"]["hits"]]
        is_one = first["_shards"]["total"] == 1
        minute = int(time.monotonic() // SECONDS)
        of_shard = (minute, documents, newest) if is_one else None
        return documents, of_shard, dict(zip(words, counts, strict=True))

    def _totals(
        self, queries: IndexQueries, state: Body, searches: list[Body]
    ) -> tuple[Body, list[int]]:
        """Return the answer to the first search, and the totals of the others.

        Where there are no parts, which the same request says, documents are counted as all rows
        are, in two thirds of the time.
        """
        everything = replace(queries, scope="both")
        if queries.scope == "documents" and not self._has_parts:
            parts = bodies.within_scope(bodies.total(), "parts")
            first, parted, *answers = everything.search_all([state, parts, *searches])
            self._has_parts = _total(parted) > 0
            if not self._has_parts:
                return first, list(map(_total, answers))
        first, *answers = everything.search_all(
            [state, *(bodies.within_scope(search, queries.scope) for search in searches)]
        )
        return first, list(map(_total, answers))


def _total(answer: Body) -> int:
    return int(answer["hits"]["total"]["value"])
