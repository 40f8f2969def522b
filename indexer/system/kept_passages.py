"""Approved passages that indices leave out of texts, kept by their ids on this machine."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial

from indexer.errors import UsageError
from indexer.recipe import Recipe
from indexer.similarity.approved_passages import ApprovedPassages, approved_so_far
from indexer.system.kept_files import KeptFiles


def _read(data: bytes) -> ApprovedPassages:
    return approved_so_far(data.decode("utf-8").splitlines())


_KEPT = KeptFiles("passages", "NEARFOLD_PASSAGES", "approved passages", _read)


def keep_passages(recipe: Recipe, passages: ApprovedPassages) -> Recipe:
    """Keep a list, and return a recipe that leaves its passages out of texts.

    Raises `UsageError` for a recipe with corpus weights, and when the list cannot be written.
    """
    if recipe.statistics is not None:
        raise UsageError(
            f"recipe {recipe.name} has corpus weights, which count whole texts; "
            "leave --leave-out out, or choose another recipe"
        )
    _KEPT.keep(passages.id, passages.lines().encode())
    return with_approved(replace(recipe, left_out=passages.id))


def with_approved(recipe: Recipe) -> Recipe:
    """Return a recipe that reads the list that it leaves out; unchanged without any."""
    if recipe.left_out is None:
        return recipe
    return replace(recipe, approved=partial(_passages, recipe.left_out, recipe.name))


@lru_cache(maxsize=4)
def _passages(digest: str, name: str) -> ApprovedPassages:
    """Return the kept list of an id. Raises `UsageError` when it is not here."""
    passages = _KEPT.find(digest)
    if passages is not None:
        return passages
    raise UsageError(
        f"recipe {name} leaves out the approved passages of list {digest}, which is not on this "
        f"machine: name its file by {_KEPT.variable}, or sign all again by `nearfold reindex`"
    )
