"""The callback by which a long job reports its progress."""

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[str, int, int], None]
"""Takes the name of the stage, how much of it is done, and the total (0 when not known)."""


def no_progress(_stage: str, _done: int, _total: int) -> None:
    """Report nothing: the default of every `progress` parameter."""
