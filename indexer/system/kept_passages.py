"""Approved passages that indices leave out of texts, kept by their ids on this machine."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

from indexer.errors import UsageError
from indexer.recipe import Recipe
from indexer.similarity.approved_passages import ApprovedPassages, approved_so_far
from indexer.system.state_folder import state_folder
from indexer.system.whole_file import write_whole

FILE = "NEARFOLD_PASSAGES"  # the variable that names a file of approved passages


def keep_passages(recipe: Recipe, passages: ApprovedPassages) -> Recipe:
    """Keep a list, and return a recipe that leaves its passages out of texts.

    Raises `UsageError` for a recipe with corpus weights, and when the list cannot be written.
    """
    if recipe.statistics is not None:
        raise UsageError(
            f"recipe {recipe.name} has corpus weights, which count whole texts; "
            "leave --leave-out out, or choose another recipe"
        )
    place = _place(passages.id)
    if not place.exists():
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"approved passages cannot be kept in {place.parent} ({error.strerror}); "
                "set XDG_STATE_HOME to a folder that can be written"
            ) from error
        with write_whole(place, "approved passages") as part:
            part.write_text(passages.lines(), encoding="utf-8")
    return with_approved(replace(recipe, left_out=passages.id))


def with_approved(recipe: Recipe) -> Recipe:
    """Return a recipe that reads the list that it leaves out; unchanged without any."""
    if recipe.left_out is None:
        return recipe
    return replace(recipe, approved=partial(_passages, recipe.left_out, recipe.name))


@lru_cache(maxsize=4)
def _passages(digest: str, name: str) -> ApprovedPassages:
    """Return the kept list of an id. Raises `UsageError` when it is not here."""
    named = os.environ.get(FILE)
    for place in [_place(digest), *([Path(named)] if named else [])]:
        if place.is_file():
            passages = approved_so_far(place.read_text(encoding="utf-8").splitlines())
            if passages.id == digest:
                return passages
    raise UsageError(
        f"recipe {name} leaves out the approved passages of list {digest}, which is not on this "
        f"machine: name its file by {FILE}, or sign all again by `nearfold reindex`"
    )


def _place(digest: str) -> Path:
    return state_folder() / "passages" / digest
