"""Measure and threshold of comparisons by bits, for recipes that make no slots."""

from __future__ import annotations

from indexer.defaults import DefaultName, DefaultNumber
from indexer.errors import UsageError
from indexer.recipe import Recipe
from indexer.sketch.blocks import DISTANCE, design_for
from indexer.sketch.distance import allowed_distance

HAMMING = "hamming"


def has_bits_alone(recipe: Recipe) -> bool:
    """Return whether a recipe makes bits that an index keeps, and no slots."""
    return recipe.simhash is not None and not recipe.minhash and (recipe.bits or 0) <= 64


def resolve_bits(
    recipe: Recipe, measure: str, threshold: float, by_tables: bool = True
) -> tuple[str, float]:
    """Return the measure and threshold for a recipe of bits alone: `hamming`, within 3 bits.

    These stand for a `DefaultName` and a `DefaultNumber`. Raises `UsageError` for another measure,
    since texts are not read, and `by_tables` for a threshold beyond the distance of any tables.
    """
    if measure != HAMMING and not isinstance(measure, DefaultName):
        raise UsageError(
            f"recipe {recipe.name} keeps bits alone, which are compared by {HAMMING}, "
            f"not by {measure}; leave --measure out (`match --complete` compares texts)"
        )
    bits = recipe.bits or 64
    if isinstance(threshold, DefaultNumber):
        threshold = 1 - DISTANCE / bits
    if by_tables:
        design_for(bits, allowed_distance(threshold, bits))
    return HAMMING, threshold


def equal_bits(bits: int, threshold: float) -> int:
    """Return the least equal bits of sketches whose similarity reaches a threshold.

    >>> equal_bits(64, 1 - 3 / 64), equal_bits(64, 0.9)
    (61, 58)
    """
    return bits - allowed_distance(threshold, bits)
