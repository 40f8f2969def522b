"""What a request asks: parameters with a type, a range and a description, the same for a page and
for the API.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from indexer.errors import UnknownNumber, UsageError

Kind: TypeAlias = Literal["string", "number", "integer"]
MOST_CHARS = 2000


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a question. `default` None: it must be given. `many`: it may be given
    several times.
    """

    name: str
    description: str
    default: Any = None
    kind: Kind = "string"
    choices: tuple[str, ...] = ()
    low: float = 0
    high: float = 0
    many: bool = False

    def value(self, given: Sequence[str]) -> Any:
        """What was given, checked. Raises `UsageError`, also where several were given for what may
        be one.
        """
        if self.many:
            return tuple(self._one(one) for one in given if one)
        if len(given) > 1:
            raise UsageError(f"{self.name} is given {len(given)} times; give it once")
        if not given or (not given[-1] and self.default is not None):
            if self.default is None:
                raise UsageError(f"{self.name} is missing: {self.description}")
            return self.default
        return self._one(given[-1])

    def _one(self, spelled: str) -> Any:
        if len(spelled) > MOST_CHARS:
            raise UsageError(f"{self.name} is longer than {MOST_CHARS:,} characters; ask for less")
        if self.kind != "string":
            return self._number(spelled)
        if self.choices and spelled not in self.choices:
            raise UsageError(
                f"{self.name} must be one of {', '.join(self.choices)}, not {spelled!r}"
            )
        return spelled

    def _number(self, spelled: str) -> float | int:
        try:
            number = int(spelled) if self.kind == "integer" else float(spelled)
        except ValueError:
            number = math.nan
        if not self.low <= number <= self.high:
            raise UsageError(
                f"{self.name} must be a number from {self.low:g} to {self.high:g}, not {spelled!r}"
            )
        return number


class ParameterValues(dict[str, Any]):
    """The values of all parameters of a question by name."""


def parameter_values(
    parameters: Sequence[Parameter], given: Mapping[str, Sequence[str]]
) -> ParameterValues:
    """The values of these parameters. Raises `UsageError`, also for whatever else was given."""
    names = {one.name for one in parameters}
    if unknown := [name for name in given if name not in names]:
        known = f"it may be {', '.join(sorted(names))}" if names else "nothing can be given here"
        raise UsageError(f"unknown: {', '.join(map(repr, unknown))}; {known}")
    return ParameterValues({one.name: one.value(given.get(one.name, ())) for one in parameters})


def part_of(asked: ParameterValues, parts: int) -> int:
    """Which of so many parts was asked for, from 1. Raises `UnknownNumber`."""
    part: int = asked["part"]
    if part > parts:
        raise UnknownNumber(what="part", number=part, remedy=f"it ends with part {parts:,}")
    return part
