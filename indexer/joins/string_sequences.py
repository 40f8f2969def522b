"""Sequences of strings that are made one by one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, overload


class StringSequence(Sequence[str]):
    """Strings by their places; subclasses return one by `at`, for a place from 0."""

    @abstractmethod
    def at(self, place: int) -> str:
        """Return one string."""
        ...

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self.at(number) for number in range(*place.indices(len(self)))]
        return self.at(range(len(self))[place])
