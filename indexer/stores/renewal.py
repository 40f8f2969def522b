"""The seam of a store that can be given another recipe while it is in service."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

from indexer.model import Row
from indexer.recipe import Recipe

SignRows: TypeAlias = Callable[[Sequence[Row]], list[Row]]
OnProgress: TypeAlias = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class ReindexResult:
    """What came of giving a store another recipe: where its rows are now, how many were signed
    (again, in a run that was resumed), and where the old ones are kept, None when they are not."""

    index: str
    copied: int
    kept: str | None = None


@runtime_checkable
class ReindexableStore(Protocol):
    """A store that can be given another recipe while it is in service."""

    def reindex(
        self, recipe: Recipe, renewing: SignRows, keep: bool, told: OnProgress
    ) -> ReindexResult:
        """Sign every row anew by `renewing`, which keeps their order, and put them in service in
        one step.

        Until then the store answers as before, whatever happens; run again, it goes on. `told`
        hears how many were signed. Raises `StoreError` for a store that does not exist yet.
        """
        ...
