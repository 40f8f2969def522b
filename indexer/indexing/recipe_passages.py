"""The list of approved passages that a recipe leaves out of texts."""

from __future__ import annotations

from dataclasses import replace

from indexer.recipe import DEFAULT, Recipe
from indexer.similarity.approved_passages import ApprovedPassages
from indexer.system.kept_passages import keep_passages


def with_passages(
    requested: Recipe | None, leave_out: ApprovedPassages, stored: Recipe | None
) -> Recipe:
    """Return the recipe to sign with: the requested one, else that of the store, else the default.

    A list that is given is kept on this machine and left out. Without one a requested recipe that
    is the stored one but for its list has that list.
    """
    recipe = requested or stored or DEFAULT
    if leave_out:
        return keep_passages(recipe, leave_out)
    if requested and stored and replace(requested, left_out=stored.left_out) == stored:
        return stored
    return recipe
