"""The numbered corpus statistics of an online recipe, which grow with the collection.

The first 1,000 documents that are read give statistics 1. `index` makes the next ones of all stored
documents once the store holds twice as many as the current ones counted; `reindex` makes them of
those stored then, and signs every row by them. A number never stands for other statistics.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from itertools import islice

from indexer.indexing.hash import statistics_at
from indexer.recipe import Recipe
from indexer.sketch.corpus_statistics import CorpusStatistics
from indexer.sketch.schemes import count_text_features
from indexer.stores.abilities import MaintainedStore
from indexer.stores.requirements import is_shared
from indexer.system.kept_statistics import keep_statistics

FIRST_DOCUMENTS = 1_000  # that statistics 1 count at most
GROWTH = 2  # the next statistics are made at this many times the documents counted


def with_current_statistics(
    recipe: Recipe,
    store: MaintainedStore,
    source: str | None,
    texts: Callable[[], Generator[str, None, None]],
) -> Recipe:
    """Return an online recipe with the statistics that new documents are signed by.

    They are those of `source`, as `statistics_at` reads it; without one the current ones of the
    store, or the next where it has grown enough, but for a store that other programs write to, too.
    A new store counts the first of the `texts`.
    """
    stored = _stored_or_given(recipe, store)
    if source is not None:
        return _with_next_number(stored, statistics_at(source, stored))
    if stored.corpus is None:
        with closing(texts()) as documents:
            first = islice(documents, FIRST_DOCUMENTS)
            return _with_next_number(stored, count_text_features(first, stored))
    counted: CorpusStatistics = stored.corpus()
    if is_shared(store) or store.counts().documents < GROWTH * max(counted.documents, 1):
        return stored
    return _with_next_number(stored, _count_stored(store, stored))


def with_new_statistics(
    recipe: Recipe, store: MaintainedStore, source: str | None = None
) -> Recipe:
    """Return an online recipe with the statistics of `source`, or of all stored documents, alone.

    They have the number of those that all rows were signed by, if they are the same.
    """
    stored = _stored_or_given(recipe, store)
    statistics = statistics_at(source, stored) if source else _count_stored(store, stored)
    is_mixed = len(stored.by_statistics()) > 1
    renewed = (
        keep_statistics(stored, statistics) if is_mixed else _with_next_number(stored, statistics)
    )
    return replace(renewed.by_statistics()[-1], corpus=renewed.corpus)


def _stored_or_given(recipe: Recipe, store: MaintainedStore) -> Recipe:
    """Return the recipe with the numbered statistics of the store, if it is the store's."""
    stored = store.stored_recipe()
    return stored if stored is not None and stored.settings_id == recipe.settings_id else recipe


def _with_next_number(recipe: Recipe, statistics: CorpusStatistics) -> Recipe:
    """Return the recipe with these statistics, which get the next number unless they are the same
    as the current ones.
    """
    if recipe.statistics_digest == statistics.id:
        return recipe
    return keep_statistics(recipe, statistics)


def _count_stored(store: MaintainedStore, recipe: Recipe) -> CorpusStatistics:
    return count_text_features((row.text for row in store.scan()), recipe)
