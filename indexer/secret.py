"""Secrets from the environment, or from files that only their owner can read; and the secret key of a recipe among them."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping

from indexer.errors import UsageError
from indexer.recipe import Recipe, recipe_named


def secret(name: str, environment: Mapping[str, str]) -> str | None:
    """The value of a variable such as NEARFOLD_PASSWORD, or the first line of the file that NEARFOLD_PASSWORD_FILE names.

    None when neither is set. Raises `UsageError` for a file that cannot be read, that anybody but its owner can read, or
    when both are set; the secret is never repeated.
    """
    value, file = environment.get(name), environment.get(f"{name}_FILE")
    if file is None:
        return value
    if value is not None:
        raise UsageError(f"{name} and {name}_FILE are both set; unset one of them")
    return _first_line(f"{name}_FILE", file)


def _first_line(variable: str, file: str) -> str:
    try:
        with open(file, encoding="utf-8") as lines:  # noqa: PTH123 - the mode must be that of the open file
            mode = stat.S_IMODE(os.fstat(lines.fileno()).st_mode)
            if mode & 0o077:
                raise UsageError(f"{variable}: others than its owner may use {file} (mode {mode:o}); run: chmod 600 {file}")
            return lines.readline().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{variable}: {file} cannot be read ({error}); check the path and its owner") from error


def recipe_asked(name: str, environment: Mapping[str, str] | None = None) -> Recipe:
    """`recipe_named`, with its secret key where its name asks for one. Raises `UsageError` also when there is no such key."""
    recipe = with_key(recipe_named(name), environment)
    if recipe.key_variable and recipe.key is None:
        raise UsageError(f"recipe {recipe.name} has a secret key: name the file that holds it by {recipe.key_variable}_FILE")
    return recipe


def with_key(recipe: Recipe, environment: Mapping[str, str] | None = None) -> Recipe:
    """The recipe with its secret key, if it has one and the environment knows it; else as it was: then it cannot sign.

    Raises `UsageError` when the environment knows another key than the one of which the recipe has the fingerprint.
    """
    if recipe.key_variable is None:
        return recipe
    value = secret(recipe.key_variable, os.environ if environment is None else environment)
    return recipe if value is None else recipe.keyed(value)
