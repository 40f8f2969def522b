"""Measure and threshold of comparisons by stored sketches, for recipes that make no slots."""

from __future__ import annotations

from indexer.defaults import DefaultName, DefaultNumber
from indexer.errors import UsageError
from indexer.recipe import LONG_BITS, Recipe
from indexer.sketch.blocks import DISTANCE, check_distance, parse_design
from indexer.sketch.distance import allowed_distance
from indexer.sketch.rare_term_keys import THRESHOLD
from indexer.sketch.term_vectors import fewest_common

HAMMING, ESTIMATE = "hamming", "estimate"


def has_bits_alone(recipe: Recipe) -> bool:
    """Return whether a recipe makes bits that an index keeps, and no slots."""
    return recipe.simhash is not None and not recipe.minhash


def has_sketch_alone(recipe: Recipe) -> bool:
    """Return whether stored bits or rare terms decide what is similar, and no texts."""
    return has_bits_alone(recipe) or recipe.terms is not None


def resolve_sketch(
    recipe: Recipe, measure: str, threshold: float, by_keys: bool = True
) -> tuple[str, float]:
    """Return the measure and threshold for a recipe of bits or rare terms alone.

    `hamming` within `usual_distance`, or `estimate`, the overlap of rare terms, at .9 stand for a
    `DefaultName` and a `DefaultNumber`. Raises `UsageError` for another measure, since texts are
    not read, and `by_keys` for a threshold beyond the distance of any tables.
    """
    own, kept = (ESTIMATE, "rare terms") if recipe.terms else (HAMMING, "bits")
    if measure != own and not isinstance(measure, DefaultName):
        raise UsageError(
            f"recipe {recipe.name} keeps {kept} alone, which are compared by {own}, "
            f"not by {measure}; leave --measure out (`match --complete` compares texts)"
        )
    if recipe.terms:
        is_default = isinstance(threshold, DefaultNumber)
        return own, (recipe.similarity or THRESHOLD) if is_default else threshold
    bits = recipe.bits or 64
    if isinstance(threshold, DefaultNumber):
        threshold = 1 - usual_distance(recipe) / bits
    if by_keys:
        remedy = "give a higher threshold, or compare texts by `match --complete`"
        check_distance(bits, allowed_distance(threshold, bits), remedy)
    return own, threshold


def usual_distance(recipe: Recipe) -> int:
    """Return the different bits of near duplicates by default.

    3, but of 64 bits those within which the recipe's tables find everything.

    >>> from indexer.recipe_names import recipe_named
    >>> names = ("simhash-doc", "simhash-doc-loose", "signature-study:topsig:256")
    >>> [usual_distance(recipe_named(name)) for name in names]
    [3, 6, 3]
    """
    if recipe.tables is None or recipe.bits != LONG_BITS:
        return DISTANCE
    return parse_design(recipe.bits, recipe.tables).distance


def sketch_size(recipe: Recipe) -> int:
    """Return the bits, or the entries of rare terms, that sketches are compared by."""
    return recipe.terms or recipe.bits or 0


def equal_parts(recipe: Recipe, threshold: float) -> int:
    """Return the least equal bits, or common rare terms, whose share reaches a threshold.

    >>> from indexer.recipe_names import recipe_named
    >>> [equal_parts(recipe_named("simhash-doc"), similarity) for similarity in (1 - 3 / 64, 0.9)]
    [61, 58]
    >>> equal_parts(recipe_named("clauses"), 0.9)
    27
    """
    size = sketch_size(recipe)
    if recipe.terms:
        return fewest_common(threshold, size)
    return size - allowed_distance(threshold, size)
