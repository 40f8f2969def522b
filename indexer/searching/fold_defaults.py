"""The threshold and the measure of a folding that names none, and what a folding may name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from indexer.defaults import FOLD, MEASURE, OVERLAP, DefaultName, DefaultNumber
from indexer.errors import UsageError
from indexer.jobs.history import known_group_settings
from indexer.model import Scope
from indexer.recipe import Recipe
from indexer.similarity.criteria import Criteria
from indexer.sketch.sketch_options import has_sketch_alone, resolve_sketch
from indexer.stores.base import Store

Fold: TypeAlias = Literal["live", "family", "threads", "types", "none"]
WITH_THRESHOLD: tuple[Fold, ...] = ("live", "types")


def fold_threshold(fold: Fold, threshold: float | None) -> float:
    """Return the threshold, or that of a way of folding where it is None.

    For `types` it is the least terminology that fuzzy duplicates share, else the least similarity.
    Raises `UsageError` for the threshold of a way that takes none.

    >>> fold_threshold("types", None) == OVERLAP, fold_threshold("live", None) == FOLD
    (True, True)
    """
    if threshold is not None:
        if fold not in WITH_THRESHOLD:
            raise UsageError(
                "a threshold belongs to folding by similarity (--fold live) or by type "
                "(--fold types); stored families have that of `nearfold group`"
            )
        return threshold
    return OVERLAP if fold == "types" else FOLD


def check_criteria(fold: Fold, criteria: Criteria) -> None:
    """Raise `UsageError` for criteria of a folding that has none."""
    if criteria and fold != "live":
        raise UsageError(
            "criteria belong to folding by similarity (--fold live); "
            "families are made by the criteria that `nearfold group` is given"
        )


def fold_measure(fold: Fold, measure: str | None, families: Mapping[str, Any]) -> str:
    """Return the measure, or that of a way of folding where it is None.

    `families`: the settings of the `group` that made the stored families, as `family_settings`
    returns them.
    """
    if measure is not None:
        return measure
    return str(families.get("measure", MEASURE)) if fold == "family" else MEASURE


def live_settings(
    recipe: Recipe, measure: str | None, threshold: float | None
) -> tuple[str | None, float | None]:
    """Return the measure and threshold of live folding under a recipe, None for the usual ones.

    For a recipe of bits alone they are `hamming` and 3 bits (`simhash-doc-loose`: 6) where they are
    None, for one of rare terms `estimate` and .9. Raises `UsageError` for another measure there.
    """
    if not has_sketch_alone(recipe):
        return measure, threshold
    return resolve_sketch(
        recipe,
        DefaultName(MEASURE) if measure is None else measure,
        DefaultNumber(FOLD) if threshold is None else threshold,
        by_keys=False,
    )


def family_settings(store: Store, fold: Fold, of: Scope = "documents") -> Mapping[str, Any]:
    """Return by what `group` made the stored families of these rows.

    Empty where that is not known here, and for another way of folding.
    """
    if fold != "family":
        return {}
    return known_group_settings(store.address, of)
