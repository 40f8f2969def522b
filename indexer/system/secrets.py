"""Secrets, such as the key of a recipe, from the environment or from files that only their owner
can read.
"""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Mapping
from pathlib import Path

from indexer.errors import UsageError
from indexer.recipe import Recipe, recipe_named


def secret(name: str, environment: Mapping[str, str]) -> str | None:
    """Return the value of a variable such as NEARFOLD_PASSWORD, or the first line of the file that
    NEARFOLD_PASSWORD_FILE names.

    None when neither is set. Raises `UsageError` for a file that cannot be read, that anybody but
    its owner can read, for a secret with control characters, or when both are set; the secret is
    never repeated.
    """
    value = environment.get(name)
    file = environment.get(f"{name}_FILE")
    if file is not None and value is not None:
        raise UsageError(f"{name} and {name}_FILE are both set; unset one of them")
    if file is not None:
        value = _first_line(f"{name}_FILE", file)
    if value is not None and any(unicodedata.category(char) in ("Cc", "Cs") for char in value):
        raise UsageError(
            f"{name} holds a control character, such as the end of a line, or is no UTF-8; "
            "set it without"
        )
    return value


def _first_line(variable: str, file: str) -> str:
    try:
        with Path(file).open(encoding="utf-8-sig") as lines:
            mode = stat.S_IMODE(os.fstat(lines.fileno()).st_mode)
            if mode & 0o077:
                raise UsageError(
                    f"{variable}: others than its owner may use {file} (mode {mode:o}); "
                    f"run: chmod 600 {file}"
                )
            return lines.readline().rstrip("\r\n")
    except UnicodeDecodeError:
        raise UsageError(
            f"{variable}: {file} is not UTF-8 text; put the secret into its first line"
        ) from None
    except OSError as error:
        raise UsageError(
            f"{variable}: {file} cannot be read ({error}); check the path and its owner"
        ) from error


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
    """Return the recipe with its secret key from the environment; unchanged when it has none or
    none is set: then it cannot sign.

    Raises `UsageError` for a key that does not have the fingerprint in the recipe, or has white
    space around it.
    """
    if recipe.key_variable is None:
        return recipe
    value = secret(recipe.key_variable, os.environ if environment is None else environment)
    if value is None:
        return recipe
    if value != value.strip():
        raise UsageError(
            f"the key in {recipe.key_variable} has white space around it, which is easily lost; "
            "leave it out"
        )
    return recipe.with_secret(value)
