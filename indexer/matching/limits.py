"""Limits that matching and grouping share, and the checks of what they are given."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

from indexer.errors import UsageError
from indexer.recipe import Recipe

if TYPE_CHECKING:
    from indexer.system.spill_files import SpillFiles

CAP = 1000  # texts in a band above which they are paired with the first of them only
NO_CAP = (1 << 31) - 1  # more texts than a store can have
LABELS_NAMED = 20  # labels that an error message lists at most


def check_threshold(threshold: float) -> None:
    """Raise `UsageError` for a threshold outside (0, 1]."""
    if not 0 < threshold <= 1:
        raise UsageError(f"the threshold must lie between 0 (exclusive) and 1, not {threshold}")


def check_cap(cap: int) -> None:
    """Raise `UsageError` for a cap below 2 texts."""
    if cap < 2:
        raise UsageError(f"the cap must be 2 or more, not {cap}")


def require_slots(recipe: Recipe) -> None:
    """Raise `UsageError` for a recipe without MinHash slots, of which bands are made."""
    if not recipe.minhash:
        raise UsageError(
            f"recipe {recipe.name} has no MinHash slots to make bands of; use --complete"
        )


def unknown_label(label: str, known: Set[str]) -> UsageError:
    """Return the error for a label that no document carries.

    It names at most `LABELS_NAMED` of the labels that documents carry.
    """
    names = ", ".join(sorted(known)[:LABELS_NAMED])
    more = ", ..." if len(known) > LABELS_NAMED else ""
    if known:
        advice = f"choose one of: {names}{more}"
    else:
        advice = "no document has labels; give some by `nearfold label` or `nearfold index --label`"
    return UsageError(f"no document carries the label {label!r}; {advice}")


def memory_budget(megabytes: int) -> SpillFiles:
    """Return a budget of so many megabytes of memory, beyond which arrays go to temporary files.

    Raises `UsageError` for less than 1.
    """
    if megabytes < 1:
        raise UsageError(f"at least 1 MB of memory is needed, not {megabytes}")
    from indexer.system.spill_files import SpillFiles

    return SpillFiles(megabytes)
