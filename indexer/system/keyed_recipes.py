"""Recipes with their secret key, which the environment gives, or their corpus statistics."""

from __future__ import annotations

import os
from collections.abc import Mapping

from indexer.errors import UsageError
from indexer.recipe import Recipe
from indexer.recipe_names import recipe_named
from indexer.system.kept_passages import with_approved
from indexer.system.kept_statistics import with_corpus
from indexer.system.secrets import secret


def recipe_asked(name: str, environment: Mapping[str, str] | None = None) -> Recipe:
    """Return the recipe of a name, with its secret key if it has one.

    Raises `UsageError` as `recipe_named` does, and when the key is not set.
    """
    recipe = with_key(recipe_named(name), environment)
    if recipe.key_variable and recipe.key is None:
        raise UsageError(
            f"recipe {recipe.name} has a secret key: "
            f"name the file that holds it by {recipe.key_variable}_FILE"
        )
    return recipe


def with_key(recipe: Recipe, environment: Mapping[str, str] | None = None) -> Recipe:
    """Return the recipe with its secret key from the environment, or its kept corpus statistics,
    and with the list of approved passages that it leaves out; without a key that is not set, so
    that it cannot sign.

    Raises `UsageError` for a key that does not have the fingerprint in the recipe, or has white
    space around it.
    """
    recipe = with_approved(recipe)
    if recipe.key_variable is None:
        return with_corpus(recipe)
    value = secret(recipe.key_variable, os.environ if environment is None else environment)
    if value is None:
        return recipe
    if value != value.strip():
        raise UsageError(
            f"the key in {recipe.key_variable} has white space around it, which is easily lost; "
            "leave it out"
        )
    return recipe.with_secret(value)
