"""The seam of a store that can be copied into a file while it is in use, put back from one, and
mended.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

_ODD = (
    TypeError,
    ValueError,
    AttributeError,
    LookupError,
)  # what values that no store of ours holds lead to


@runtime_checkable
class CopyableStore(Protocol):
    """A store that can be copied into a file and put back."""

    def backup(self, path: str) -> None:
        """Copy the store, as it is at one moment, into a file; an earlier one is replaced when the
        copy is whole.
        """
        ...

    def restore(self, path: str) -> None:
        """Put the copy in place of what is there, in one step. Raises `MappingMismatch` or
        `StoreError` for no copy of ours.
        """
        ...


@runtime_checkable
class RepairableStore(Protocol):
    """A store that keeps indexes of its own beside its rows, which may fall out of step with
    them.
    """

    def out_of_step(self) -> tuple[str, ...]:
        """What does not agree with the rows, one sentence each."""
        ...

    def check_sound(self) -> None:
        """Raise `StoreDamaged` when the file does not hold together; reads all of it."""
        ...

    def rebuild(self) -> None:
        """Make it anew from the rows, in one step."""
        ...


@contextmanager
def faults_as_damage(store: object) -> Iterator[None]:
    """Raise `StoreDamaged` in place of a fault of ours when the store's file does not hold
    together.
    """
    try:
        yield
    except _ODD:
        if isinstance(store, RepairableStore):
            store.check_sound()
        raise
