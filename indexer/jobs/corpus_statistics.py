"""The corpus statistics that a recipe with weights fingerprints with."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import islice

from indexer.errors import UsageError
from indexer.fingerprinting.rare_terms import CorpusStatistics
from indexer.fingerprinting.schemes import count_text_features
from indexer.jobs.hash import statistics_at
from indexer.recipe import DEFAULT, OPEN_STATISTICS, Recipe
from indexer.stores.abilities import MaintainedStore
from indexer.stores.requirements import is_shared
from indexer.system.approved_passages import ApprovedPassages
from indexer.system.recipe_inputs import keep_passages, keep_statistics


def with_statistics(
    recipe: Recipe,
    source: str | None,
    texts: Callable[[], Iterator[str]],
    stored: Recipe | None = None,
) -> Recipe:
    """Return a recipe with the corpus statistics of its weights, which are kept on this machine.

    They come from `source`, as `statistics_at` reads it; without one from the `stored` recipe if it
    is otherwise the same, else from the texts. A recipe that no index can keep
    is returned as it is. Raises `UsageError` for a source and a recipe without weights.
    """
    if recipe.statistics is None and source is not None:
        raise UsageError(f"recipe {recipe.name} has no corpus weights; leave --statistics out")
    if recipe.statistics is None or not (source or recipe.lacks_statistics):
        return recipe
    open_recipe = replace(recipe, statistics=OPEN_STATISTICS)
    if not replace(recipe, statistics="").is_storable:
        return recipe
    if source is not None:
        return keep_statistics(open_recipe, statistics_at(source, open_recipe))
    if stored is not None and replace(stored, statistics=OPEN_STATISTICS) == open_recipe:
        return stored
    return keep_statistics(open_recipe, count_text_features(texts(), open_recipe))


# The list of approved passages that a recipe leaves out of texts.


def with_passages(
    requested: Recipe | None, leave_out: ApprovedPassages, stored: Recipe | None
) -> Recipe:
    """Return the recipe to fingerprint with: the requested one, else the store's, else the default.

    A list that is given is kept on this machine and left out. Without one a requested recipe that
    is the stored one but for its list has that list.
    """
    recipe = requested or stored or DEFAULT
    if leave_out:
        return keep_passages(recipe, leave_out)
    if requested and stored and replace(requested, left_out=stored.left_out) == stored:
        return stored
    return recipe


# The numbered corpus statistics of an online recipe, which grow with the collection.

FIRST_DOCUMENTS = 1_000  # that statistics 1 count at most
GROWTH = 2  # the next statistics are made at this many times the documents counted


def with_current_statistics(
    recipe: Recipe,
    store: MaintainedStore,
    source: str | None,
    texts: Callable[[], Generator[str, None, None]],
) -> Recipe:
    """Return an online recipe with the statistics that new documents are fingerprinted by.

    They come from `source`, as `statistics_at` reads it; without one they are the current ones of
    the store, or the next where it has grown enough, but for a store that other programs write to,
    too. A new store counts the first of the `texts`.
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

    They have the number of those that all rows were fingerprinted by, if they are the same.
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
