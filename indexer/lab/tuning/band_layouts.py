"""The layouts of bands that a tuning compares."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from indexer.lab.evaluation.decider import usual_measure
from indexer.recipe import DEFAULT_V1, Recipe
from indexer.sketch.plan import plan

THRESHOLDS = tuple(step / 20 for step in range(2, 20))
RECALLS = (0.8, 0.9, 0.95, 0.99)  # that `match --recall` plans for


def layout(threshold: float, recipe: Recipe, recall: float) -> tuple[int, int]:
    """Return bands and rows for a threshold of the recipe's measure and a planned recall."""
    measure = usual_measure(recipe)
    if measure == "jaccard":
        recipe = replace(DEFAULT_V1, slots=recipe.slots)
    return _layout(threshold, recall, measure, recipe)


def layouts(recipe: Recipe) -> list[tuple[int, int]]:
    """Return the bands and rows of every threshold and recall, each once, sorted."""
    pairs = {layout(threshold, recipe, recall) for threshold in THRESHOLDS for recall in RECALLS}
    return sorted(pairs)


@cache
def _layout(threshold: float, recall: float, measure: str, recipe: Recipe) -> tuple[int, int]:
    best = plan(threshold, recall, measure, recipe)
    return best.bands, best.rows
