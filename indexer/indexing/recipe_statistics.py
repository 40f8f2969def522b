"""The corpus statistics that a recipe with weights signs with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from indexer.errors import UsageError
from indexer.indexing.hash import statistics_at
from indexer.recipe import OPEN_STATISTICS, Recipe
from indexer.sketch.schemes import count_text_features
from indexer.system.kept_statistics import keep_statistics


def with_statistics(
    recipe: Recipe,
    source: str | None,
    texts: Callable[[], Iterator[str]],
    stored: Recipe | None = None,
) -> Recipe:
    """Return a recipe with the corpus statistics of its weights, which are kept on this machine.

    They are those of `source`, as `statistics_at` reads it; without one those of the `stored`
    recipe if it is the same but for them, else those of the texts. A recipe that no index can keep
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
